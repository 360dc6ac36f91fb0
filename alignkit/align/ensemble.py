"""The training of one model, or of one of whole words and some of their beginnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Bitext, Side
from alignkit.align.cooccurrence import Room
from alignkit.align.decoding import Decoding
from alignkit.align.decoding_kernel import best_positions
from alignkit.align.expectation import Workers
from alignkit.align.expectation_kernel import Pairs
from alignkit.align.parameters import Parameters
from alignkit.align.settings import Settings
from alignkit.align.training import Training
from alignkit.align.vectors.prior import VectorPrior
from alignkit.errors import AlignerError

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I4 = NDArray[np.int32]

PREFIXES = (4, 5)  # the letters that words are cut to, where more than one model aligns


def cut_words(words: Sequence[str], letters: int) -> list[str]:
    """Return the beginnings of words."""
    return [word[:letters] for word in words]


def cut_bitext(bitext: Bitext, letters: int) -> Bitext:
    """Return a bitext with all words cut to so many letters."""
    sides = []
    for side in (bitext.source, bitext.target):
        numbers: dict[str, int] = {}
        cut = [numbers.setdefault(word, len(numbers)) for word in cut_words(side.words, letters)]
        ids = np.array(cut, np.int32)[side.ids]
        sides.append(Side.by_frequency(list(numbers), ids, side.starts))
    return Bitext(sides[0], sides[1], bitext.casefold)


def cut_dictionary(
    dictionary: Mapping[tuple[str, str], float], letters: int, *, casefold: bool
) -> dict[tuple[str, str], float]:
    """Return a dictionary of word beginnings; of entries that become one, the greatest count."""
    cut: dict[tuple[str, str], float] = {}
    for words, count in dictionary.items():
        source, target = cut_words([w.casefold() for w in words] if casefold else words, letters)
        cut[source, target] = max(count, cut.get((source, target), 0))
    return cut


@dataclass(frozen=True, eq=False)
class Averaged:
    """The mean of the posteriors of several models of the same pairs."""

    decoders: Sequence[Decoding]  # what aligns by each; the first by whole words

    @property
    def pairs(self) -> Pairs:
        """The pairs, by whole words."""
        return self.decoders[0].pairs

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return the mean posteriors of the cells of the pairs from begin to before end."""
        first, *others = self.decoders
        whole = first.posteriors(begin, end, likelihoods)
        return _mean([whole, *(decoder.posteriors(begin, end) for decoder in others)])

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return the mean posteriors by the words alone, wherever they stand."""
        return _mean([decoder.lexical(begin, end) for decoder in self.decoders])

    def viterbi(self, begin: int, end: int) -> tuple[F4, F4, I4, I4]:
        """Return the posteriors, and the most probable position of each word by them."""
        pairs = self.pairs
        forward, reverse = self.posteriors(begin, end)
        target_path = np.empty(int(pairs.target_starts[end] - pairs.target_starts[begin]), np.int32)
        source_path = np.empty(int(pairs.source_starts[end] - pairs.source_starts[begin]), np.int32)
        best_positions(
            begin, end, pairs.source_starts, pairs.target_starts, forward, reverse,
            target_path, source_path,
        )  # fmt: skip
        return forward, reverse, target_path, source_path


def _mean(posteriors: Sequence[tuple[F4, F4]]) -> tuple[F4, F4]:
    (forward, reverse), *others = posteriors
    for to, back in others:
        forward, reverse = forward + to, reverse + back
    share = np.float32(1 / len(posteriors))
    return forward * share, reverse * share


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
