"""Train over parts of a corpus and shards of its word pairs, with the bytes of one machine.

All state is files of the run's folder: after each round the run goes on from there, with whatever
workers there are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from alignkit.aligner.priors import check_dictionary
from alignkit.aligner.settings import Settings
from alignkit.aligner.training import schedule_of
from alignkit.cluster.checking import OnProgress, check_parts, inputs_of
from alignkit.cluster.outputs import Outputs
from alignkit.cluster.parts import Part, find_parts
from alignkit.cluster.run import running
from alignkit.cluster.session import Session, open_session
from alignkit.cluster.stages import Stages, Trained
from alignkit.cluster.vocabulary import Reader
from alignkit.errors import OptionError
from alignkit.formats.options import ReadOptions

if TYPE_CHECKING:
    from distributed import Client

_MODELS = ("ibm1", "hmm")


def train(
    client: Client | str | None,
    source: str,
    target: str,
    *,
    work: str,
    save: str | None = None,
    output: str | None = None,
    settings: Settings | None = None,
    dictionary: Mapping[tuple[str, str], float] | None = None,
    casefold: bool = True,
    shards: int | None = None,
    wait: float | None = None,
    progress: OnProgress | None = None,
) -> Trained:
    """Learn from the parts of a corpus.

    Parameters
    ----------
    client, wait, progress
        As of `alignkit.cluster.align`.
    source, target, output
        Paths with one ``*``, the same text in all: the words, and where the links go.
    work
        A folder that all workers see; the run is kept in its folder ``alignkit-run``. The same call
        goes on where a run was stopped.
    save
        Where the model goes.
    settings, dictionary, casefold
        As of `Aligner.train`; `dictionary` holds the pseudo-counts of word pairs known to be
        translations.
    shards
        Into how many shards word pairs are divided, for the same result; None: as memory has it.

    Raises
    ------
    AlignkitError
        If something cannot be read, written, or done.
    """
    outputs = Outputs() if output is None else Outputs(output)
    with open_session(client, wait=wait) as session:
        return train_parts(
            session,
            find_parts(source, target),
            settings or Settings(),
            work=work,
            save=save,
            outputs=outputs,
            dictionary=dictionary,
            casefold=casefold,
            shards=shards,
            progress=progress,
        )


def train_parts(
    session: Session,
    parts: Sequence[Part],
    settings: Settings,
    *,
    work: str,
    save: str | None = None,
    outputs: Outputs | None = None,
    dictionary: Mapping[tuple[str, str], float] | None = None,
    casefold: bool = True,
    shards: int | None = None,
    reading: ReadOptions | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
) -> Trained:
    """Learn from parts in a session; see `train`."""
    check_settings(settings)
    dictionary = dictionary or {}
    check_dictionary(dictionary)
    if shards is not None and shards < 1:
        raise OptionError(f"{shards} shards: give at least 1")
    reading, outputs = reading or ReadOptions(), outputs or Outputs()
    outputs.check(parts, save)
    parts, outputs = [part.called(session.path) for part in parts], outputs.called(session.path)
    with running(work) as run:
        run.try_workers(session)
        reader = Reader(os.path.join(run.folder, "texts"), casefold)
        texts = [reader.file(part.paths) for part in parts]
        run.claim(*texts)
        facts = check_parts(session, parts, reader, reading, run=run, progress=progress)
        run.settle(
            {
                "command": "align (training)",
                "settings": asdict(settings),
                "casefold": casefold,
                "encoding": reading.encoding,
                "dictionary": sorted([*pair, float(n)] for pair, n in dictionary.items()),
                "parts": [part.name for part in parts],
                "inputs": inputs_of(parts, facts),
            }
        )
        training = Stages(session, run, parts, settings, progress)
        training.stages = 1 + len(list(schedule_of(settings))) + (save is not None) + outputs.some
        training.merge_words(texts)
        training.divide(shards, session.threads or threads, casefold)
        training.make_shards(dictionary)
        training.rounds()
        training.finish(save, outputs)
    return training.summary(
        sum(fact.source_words for fact in facts), sum(fact.target_words for fact in facts)
    )


def check_settings(settings: Settings) -> None:
    """Refuse what is trained on one machine alone."""
    if settings.model not in _MODELS:
        raise OptionError(
            f"{settings.model} is trained on one machine alone; over parts, choose "
            f"{' or '.join(_MODELS)}"
        )
    if settings.best:
        raise OptionError("best is trained on one machine alone; over parts, leave it out")
    if settings.inference != "collapsed":
        raise OptionError(
            f"{settings.inference} is trained on one machine alone; over parts, choose collapsed"
        )
