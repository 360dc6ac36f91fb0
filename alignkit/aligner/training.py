"""Train an aligner: rounds of E-steps and M-steps, model after model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext
from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.decoding import Decoder
from alignkit.aligner.estimators import Collapsed, Estimator, Lexical, Soft
from alignkit.aligner.expectation import Workers, kinds_of, pairs_of, parts_of
from alignkit.aligner.expectation_kernel import Tables, hmm_step, lexical_step
from alignkit.aligner.maximization_kernel import add_chances
from alignkit.aligner.memory import Memory, keys_of
from alignkit.aligner.parameters import Fertilities, Parameters, Round, with_unseen
from alignkit.aligner.positions import Positions
from alignkit.aligner.priors import Backing, add_dictionary, spelling_prior
from alignkit.aligner.room import Room
from alignkit.aligner.settings import Settings

if TYPE_CHECKING:
    from alignkit.aligner.fertile import FertileDecoder

__all__ = ["Training"]

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]

Progress = Callable[[int, int, str], None]

START_JUMPS = 0.5
"""How fast the first jump table falls with the distance from one word further."""
NO_JUMPS = np.empty((0, 0, 0), np.float32)
BEYOND = 20
"""How many jumps beyond the band share the counts of the tail."""
TRACED = 10_000
"""In about how many pairs jumps are counted."""


class Training:
    """Train the models that look at word pairs, positions and jumps.

    Parameters
    ----------
    bitext
        What to train on.
    settings
        How.
    workers
        Where the E-steps run.
    dictionary
        Pseudo-counts of word pairs.
    room
        Where arrays that grow with the cells are kept; None: in memory.
    """

    def __init__(
        self,
        bitext: Bitext,
        settings: Settings,
        workers: Workers,
        dictionary: Mapping[tuple[str, str], float] | None = None,
        room: Room | None = None,
    ) -> None:
        room = room or Room()
        self.bitext, self.settings, self._workers = bitext, settings, workers
        self.index = (
            Cooccurrence.in_blocks(bitext, room) if room.on_disk else Cooccurrence.of(bitext)
        )
        self.pairs = pairs_of(bitext, self.index)
        self.parts = parts_of(bitext.starts)
        source, target = bitext.source, bitext.target
        self.lexical = Lexical(self.index, len(target.words))
        self.source_null = _uniform(len(source.words))
        self.target_null = _uniform(len(target.words))
        self.source_kinds = kinds_of(np.arange(len(source.words), dtype=np.int32), settings.kinds)
        self.target_kinds = kinds_of(np.arange(len(target.words), dtype=np.int32), settings.kinds)
        self.jumps = np.stack([_first_jumps(settings)] * 2)
        self.positions = Positions.uniform(bitext)
        self.history: list[Round] = []
        self._source_nulls = np.zeros(len(source.ids), np.float32)
        self._target_nulls = np.zeros(len(target.ids), np.float32)
        self._likelihoods = np.zeros((len(bitext), 2))
        self._fertile: tuple[Fertilities, FertileDecoder] | None = None
        self.estimator = self._new_estimator(dictionary, room)

    def _new_estimator(
        self, dictionary: Mapping[tuple[str, str], float] | None, room: Room
    ) -> Estimator:
        settings, source, target = self.settings, self.bitext.source, self.bitext.target
        self.prior = prior = spelling_prior(
            self.index, source.words, target.words, settings.spelling, settings.identity
        )
        entries = dictionary or {}
        if self.bitext.casefold:
            entries = {(a.casefold(), b.casefold()): count for (a, b), count in entries.items()}
        self.entries_met = add_dictionary(prior, self.index, source.words, target.words, entries)
        if settings.inference != "collapsed":
            if settings.inference == "vb":
                prior += np.float32(settings.floor)
            return Soft(
                self.index,
                prior,
                room,
                agree=settings.agree,
                bayes=settings.inference == "vb",
            )
        prior += np.float32(settings.floor)
        backing = None
        if settings.stem_weight > 0:
            backing = Backing(
                self.index, source, target, length=settings.stem, strength=settings.stem_weight
            )
        collapsed = Collapsed(
            self.index, prior, backing, settings.concentration, len(self.bitext), room
        )
        counts = np.zeros(len(self.index.columns))
        add_chances(self.bitext.starts, self.index.cells, counts)
        collapsed.take(counts.astype(np.float32), self.lexical)
        return collapsed

    def run(self, progress: Progress | None = None) -> None:
        """Run all rounds; see `history`."""
        schedule = list(self.schedule())
        for done, (model, number) in enumerate(schedule):
            if progress is not None:
                progress(done, len(schedule), f"{model} round {number}")
            if model == "hmm":
                self._hmm_round(number)
            elif model in ("ibm1", "ibm2"):
                self._lexical_round(model, number)
            else:
                self._fertility_rounds()
        if progress is not None:
            progress(len(schedule), len(schedule), "trained")

    def schedule(self) -> Iterator[tuple[str, int]]:
        """Give the model and the number of each round."""
        settings = self.settings
        then = {"ibm1": None, "ibm2": "ibm2"}.get(settings.model, "hmm")
        for model in ("ibm1", then):
            if model is not None:
                for number in range(getattr(settings, model)):
                    yield model, number + 1
        if settings.model in ("ibm3", "ibm4"):
            yield settings.model, 1

    def tables(self) -> Tables:
        """Return what the E-step reads."""
        return Tables(
            self.lexical.forward,
            self.lexical.reverse,
            self.lexical.source_totals,
            self.lexical.target_totals,
            self.source_null,
            self.target_null,
            self.source_kinds,
            self.target_kinds,
            np.float32(self.settings.null),
        )

    def decoder(self) -> Decoder | FertileDecoder:
        """Return what aligns the bitext itself."""
        return self.hmm_decoder() if self._fertile is None else self._fertile[1]

    def hmm_decoder(self) -> Decoder:
        """Return what aligns it by the models before IBM 3 and 4."""
        jumps = self.jumps if self._jumping else NO_JUMPS
        return Decoder(self.pairs, self.tables(), self.estimator.own, jumps, self.positions)

    def parameters(self) -> Parameters:
        """Return what was learned."""
        bitext, settings = self.bitext, self.settings
        lexical = self.lexical
        memory = Memory.empty()
        if len(self.estimator.own):
            keys = keys_of(
                (bitext.source.ids, bitext.source.starts), (bitext.target.ids, bitext.target.starts)
            )
            memory = Memory.of(keys, bitext.starts, self.estimator.own)
        unseen = max(settings.concentration + settings.spelling + settings.identity, 1e-30)
        return Parameters(
            settings,
            bitext.casefold,
            bitext.source.words,
            bitext.target.words,
            self.index.rows,
            self.index.columns,
            lexical.forward,
            lexical.reverse,
            np.append(lexical.source_totals, np.float32(unseen)),
            np.append(lexical.target_totals, np.float32(unseen)),
            with_unseen(self.source_null),
            with_unseen(self.target_null),
            self.jumps if self._jumping else NO_JUMPS,
            self.positions,
            memory,
            None if self._fertile is None else self._fertile[0],
            tuple(self.history),
        )

    @property
    def _jumping(self) -> bool:
        """Whether the HMM was trained."""
        return any(one.model == "hmm" for one in self.history)

    def _lexical_round(self, model: str, number: int) -> None:
        tables, to = self.tables(), self.estimator
        positions = self.positions

        def step(_: int, begin: int, end: int) -> None:
            lexical_step(
                begin, end, self.pairs, tables,
                positions.places, positions.forward, positions.reverse,
                to.own, to.agreement, self._source_nulls, self._target_nulls,
                to.forward, to.reverse, 0, self._likelihoods,
            )  # fmt: skip

        self._workers.map(step, self.parts)
        self._finish(model, number)

    def _hmm_round(self, number: int) -> None:
        tables, to = self.tables(), self.estimator
        counts = np.zeros((len(self.parts), *self.jumps.shape))
        every = max(1, len(self.bitext) // TRACED)

        def step(part: int, begin: int, end: int) -> None:
            hmm_step(
                begin, end, self.pairs, tables, self.jumps[0], self.jumps[1],
                to.own, to.agreement, self._source_nulls, self._target_nulls,
                to.forward, to.reverse, 0, self._likelihoods,
                every, counts[part, 0], counts[part, 1],
            )  # fmt: skip

        self._workers.map(step, self.parts)
        self._finish("hmm", number)
        total = counts.sum(axis=0)
        self.jumps = np.stack(
            [_jumps(total[side], self.settings.jump_smoothing) for side in (0, 1)]
        )

    def _fertility_rounds(self) -> None:
        from alignkit.aligner.fertile import train_fertilities  # IBM 3 and 4 alone need it

        self._fertile = train_fertilities(
            self.settings,
            self.bitext,
            self.index,
            self.hmm_decoder(),
            self.prior,
            self._workers,
            self.history.append,
        )

    def _finish(self, model: str, number: int) -> None:
        forward, reverse = self._likelihoods.sum(axis=0)
        self.history.append(Round(model, number, float(forward), float(reverse)))
        if model == "ibm2":
            self.positions = self.positions.updated(
                self.bitext, self.estimator, diagonal=self.settings.diagonal
            )
        self.estimator.update(self.lexical)
        source, target = self.bitext.source, self.bitext.target
        self.source_null = _nulls(source.ids, self._source_nulls, len(source.words))
        self.target_null = _nulls(target.ids, self._target_nulls, len(target.words))


def _uniform(words: int) -> F4:
    return np.full(words, 1 / max(words, 1), np.float32)


def _nulls(ids: NDArray[np.int32], posteriors: F4, words: int) -> F4:
    counts = np.bincount(ids, posteriors, words) + 1e-4
    return np.asarray(counts / counts.sum(), np.float32)


def _first_jumps(settings: Settings) -> F4:
    """Return a (kinds + 1, 2 * band + 2) table that favours the next word."""
    distance = np.abs(np.arange(-settings.band, settings.band + 1) - 1)
    row = np.append(np.exp(-START_JUMPS * distance) + 0.01, 0.001)
    return np.tile(row, (settings.kinds + 1, 1)).astype(np.float32)


def _jumps(counts: F8, smoothing: float) -> F4:
    """Return a jump table from expected jumps: each kind's own, smoothed with those of all."""
    counts = counts.copy()
    counts[:, -1] /= BEYOND
    common = counts[:-1].sum(axis=0)
    common /= max(common.sum(), 1e-30)
    totals = counts.sum(axis=1, keepdims=True) + smoothing
    table = (counts + smoothing * common) / np.maximum(totals, 1e-30)
    return np.asarray(table + 1e-6, np.float32)
