"""The training of one model, or of one of whole words and some of their beginnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from alignkit.aligner.bitext import Bitext
from alignkit.aligner.decoding import Decoding
from alignkit.aligner.expectation import Workers
from alignkit.aligner.parameters import Parameters
from alignkit.aligner.prefixes import PREFIXES, Averaged, cut_bitext, cut_dictionary
from alignkit.aligner.room import Room
from alignkit.aligner.settings import Settings
from alignkit.aligner.training import Training
from alignkit.aligner.vector_prior import VectorPrior
from alignkit.errors import AlignerError

Progress = Callable[[int, int, str], None]


class Trained(NamedTuple):
    """What a training gave."""

    parameters: Parameters  # what was learned
    decoder: Decoding  # what aligns the bitext itself
    entries_met: int  # how many entries of the dictionary occurred together


def train(
    bitext: Bitext,
    settings: Settings,
    workers: Workers,
    *,
    dictionary: Mapping[tuple[str, str], float],
    room: Room,
    vectors: VectorPrior | None,
    progress: Progress | None = None,
) -> Trained:
    """Learn from a bitext without long lines; see `Aligner.train`."""
    training = Training(bitext, settings, workers, dictionary, room, vectors)
    if not training.bitext.starts[-1]:
        raise AlignerError("nothing to learn from: no pair has words on both sides")
    training.run(_share(progress, settings, 0))
    parameters, decoders = training.parameters(), [training.decoder()]
    entries_met = training.entries_met
    if not settings.best:
        return Trained(parameters, decoders[0], entries_met)
    of_one = replace(settings, best=False)
    for number, letters in enumerate(PREFIXES, 1):
        entries = cut_dictionary(dictionary, letters, casefold=bitext.casefold)
        training = Training(cut_bitext(bitext, letters), of_one, workers, entries, room)
        training.run(_share(progress, settings, number))
        parameters.prefixes[letters] = training.parameters()
        decoders.append(training.decoder())
    return Trained(parameters, Averaged(decoders), entries_met)


def _share(progress: Progress | None, settings: Settings, number: int) -> Progress | None:
    if progress is None or not settings.best:
        return progress
    models = 1 + len(PREFIXES)

    def tell(done: int, total: int, text: str) -> None:
        progress(done + number * total, models * total, f"model {number + 1} of {models}, {text}")

    return tell
