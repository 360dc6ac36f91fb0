"""Write the links of the parts that a training was of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Pieces
from alignkit.align.cooccurrence import Cooccurrence
from alignkit.align.decoding import decode, likelihoods_by
from alignkit.align.estimators import FEW
from alignkit.align.model_files import save_parameters
from alignkit.align.numbered_texts import score_lines
from alignkit.align.parameters import Memory, Parameters, Round, with_unseen
from alignkit.align.positions import Positions
from alignkit.align.settings import THRESHOLD
from alignkit.align.training import unseen_total
from alignkit.cluster.parts import Part, one_file, outputs_of, refuse_replacing
from alignkit.cluster.plan import TrainingPlan, opened
from alignkit.cluster.run import FileState, state_of
from alignkit.cluster.shards import NO_CELLS
from alignkit.cluster.steps import decoder_of, workers_of
from alignkit.cluster.vocabulary import SharedVocabulary
from alignkit.io.atomic_files import WriteError, apart, replacing, replacing_bytes
from alignkit.io.formats.pharaoh import format_lines


@dataclass(frozen=True)
class LinkOutput:
    """Which links are written; see `Aligner.align_bitext`."""

    symmetrize: str = "posterior"
    threshold: float | None = None
    sure: float | None = None
    probabilities: bool = False


@dataclass(frozen=True)
class PartOutputs:
    """What is written of each part."""

    links: str | None = None
    scores: str | None = None
    how: LinkOutput = LinkOutput()  # which links

    @property
    def some(self) -> bool:
        """Whether anything is written."""
        return self.links is not None or self.scores is not None

    def called(self, name: Callable[[str], str]) -> PartOutputs:
        """Return them with other names."""
        links, scores = (path and name(path) for path in (self.links, self.scores))
        return replace(self, links=links, scores=scores)

    def files(self, parts: Sequence[Part]) -> list[tuple[str | None, str | None]]:
        """Return where links and scores of each part go."""
        nothing: list[str | None] = [None] * len(parts)
        links = nothing if self.links is None else outputs_of(self.links, parts)
        scores = nothing if self.scores is None else outputs_of(self.scores, parts)
        return list(zip(links, scores, strict=True))

    @contextmanager
    def naming_written(self, parts: Sequence[Part]) -> Iterator[None]:
        """Let an error of writing say which outputs took their places before it."""
        before = {path: _state(path) for pair in self.files(parts) for path in pair if path}
        try:
            yield
        except WriteError as problem:
            paths = [path for path, state in before.items() if _state(path) != state]
            if not paths:
                raise
            more = f" and {len(paths) - 3:,} more" if len(paths) > 3 else ""
            text = f"{problem}; written before it: {', '.join(paths[:3])}{more}"
            raise WriteError(text) from None

    def check(self, parts: Sequence[Part], save: str | None, *read: str) -> None:
        """Refuse what cannot be written, or would be written over."""
        paths = [path for files in self.files(parts) for path in files if path is not None]
        if save is not None:
            paths.append(one_file(save))
        refuse_replacing(paths, [*parts, Part("", read)])


def _state(path: str) -> FileState | None:
    return state_of(path) if os.path.isfile(path) else None


def write_links(
    plan: TrainingPlan,
    number: int,
    done: int,
    jumping: bool,
    files: tuple[str | None, str | None],
    how: LinkOutput,
) -> int:
    """Align a part by what was learned in `done` rounds; return how many links there are."""
    text, decoder = decoder_of(plan, number, done, jumping)
    workers = workers_of(plan.threads)
    pieces = Pieces.of(text)
    decoded = decode(
        decoder,
        workers,
        symmetrization=how.symmetrize,
        threshold=THRESHOLD if how.threshold is None else how.threshold,
        sure=how.sure,
    )
    arrays = decoded.arrays if pieces is None else pieces.joined(decoded.arrays, text)
    links, scores = files
    with apart(), ExitStack() as stack:
        if links is not None:
            out = stack.enter_context(replacing_bytes(links, text=True))
            weights = decoded.probabilities if how.probabilities else None
            out.write(format_lines(arrays, probabilities=weights))
        if scores is not None:
            likelihoods = likelihoods_by(decoder, workers)
            if pieces is not None:
                likelihoods = pieces.added(likelihoods, len(text))
            stack.enter_context(replacing(scores)).write(score_lines(likelihoods))
    return len(arrays.links)


I8 = NDArray[np.int64]


def write_model(
    plan: TrainingPlan, path: str, done: int, history: Sequence[Round], jumping: bool
) -> None:
    """Write what was learned in `done` rounds into a file."""
    words = [SharedVocabulary.read(plan.words_file(side)).words for side in ("source", "target")]
    index, weights = _word_pairs(plan, done, len(words[0]))
    unseen = unseen_total(plan.settings)
    with opened(plan.totals_file(done)) as totals, opened(plan.common_file(done)) as common:
        known = Parameters(
            settings=plan.settings,
            casefold=plan.casefold,
            source=words[0],
            target=words[1],
            rows=index.rows,
            columns=index.columns,
            forward=weights,
            reverse=weights,
            source_totals=np.append(totals["source"], unseen),
            target_totals=np.append(totals["target"], unseen),
            source_null=with_unseen(common["source_null"]),
            target_null=with_unseen(common["target_null"]),
            null_units=common["null_units"],
            jumps=common["jumps"] if jumping else np.empty((0, 0, 0), np.float32),
            positions=Positions.uniform(),
            memory=_memory(plan) if done and plan.pairs >= FEW else Memory.empty(),
            history=tuple(history),
        )
    save_parameters(path, known)


def _word_pairs(
    plan: TrainingPlan, done: int, sources: int
) -> tuple[Cooccurrence, NDArray[np.float32]]:
    keys, weights = [], []
    for shard in range(plan.shards):
        with opened(plan.weights_file(shard, done)) as arrays:
            keys.append(arrays["keys"])
            weights.append(arrays["weights"])
    all_keys = np.concatenate(keys)
    order = np.argsort(all_keys, kind="stable")
    index = Cooccurrence.of_keys(all_keys[order], sources, NO_CELLS)
    return index, np.concatenate(weights)[order]


def _memory(plan: TrainingPlan) -> Memory:
    """Join what is to be remembered of the parts; of equal pairs the first is."""
    parts = []
    for part in range(plan.parts):
        with opened(plan.memory_file(part)) as arrays:
            parts.append([arrays[name] for name in ("keys", "offsets", "cells", "levels")])
    keys, first = np.unique(np.concatenate([part[0] for part in parts]), return_index=True)
    sizes = np.concatenate([np.diff(part[1]) for part in parts])
    begins = np.cumsum(sizes) - sizes
    offsets = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(sizes[first], out=offsets[1:])
    at = np.arange(offsets[-1]) + np.repeat(begins[first] - offsets[:-1], sizes[first])
    cells, levels = (np.concatenate([part[k] for part in parts])[at] for k in (2, 3))
    return Memory(keys, offsets, cells, levels)
