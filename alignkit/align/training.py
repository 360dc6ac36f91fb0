"""Train the models of word pairs, positions and jumps.

Each round has two steps. The E-step computes by the tables how far each link of the bitext is
expected, and the M-step estimates the tables from the expected links (`expectation` has both for
the word pairs, `rounds` the other tables). IBM 1 comes first, then IBM 2 or the HMM; IBM 3 and 4
begin with what the HMM expects (`fertility`). With the setting `best`, the same models are trained
on words cut to their first letters too, and the aligner averages them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from alignkit._support.array_types import F4, I4, I8
from alignkit.align import expectation, priors, rounds
from alignkit.align.bitext import Bitext
from alignkit.align.calibration import Calibrator, TrainingText, words_of
from alignkit.align.cooccurrence import Cooccurrence, Room
from alignkit.align.decoders import Averaged, Decoder, Decoding
from alignkit.align.expectation import Positions
from alignkit.align.expectation_kernel import Tables
from alignkit.align.maximization_kernel import LIKELIHOOD_UNITS, UNITS, add_chances
from alignkit.align.parameters import Memory, Parameters, Round, with_unseen
from alignkit.align.settings import PREFIXES, Settings
from alignkit.errors import AlignerError

if TYPE_CHECKING:
    from alignkit.align.fertility.models import Fertilities
    from alignkit.align.fertility.training import FertileDecoder

Dictionary = Mapping[tuple[str, str], float]
"""Pseudo-counts of word pairs that are known translations."""

Progress = Callable[[int, int, str], None]
"""A function called with the number of rounds done, the total, and the current step."""

_INDEX_RANGES = 8  # the most ranges of the bitext that are indexed at the same time


class Trained(NamedTuple):
    """The result of a training."""

    parameters: Parameters  # what was learned
    decoder: Decoding  # what aligns the bitext itself
    entries_met: int  # how many entries of the dictionary occurred together


def train(
    bitext: Bitext,
    settings: Settings,
    workers: expectation.Workers,
    *,
    dictionary: Dictionary,
    room: Room,
    progress: Progress | None = None,
) -> Trained:
    """Train on a bitext without long lines; see `Aligner.train`."""
    whole = Training(bitext, settings, workers, dictionary, room)
    if not bitext.starts[-1]:
        raise AlignerError("nothing to learn from: no pair has words on both sides")
    whole.run(_progress_of_model(0, settings, progress))
    text = whole.text()
    parameters = replace(whole.parameters(), text=text)
    if not settings.best:
        return Trained(parameters, whole.decoder(text), whole.entries_met)
    decoders = [whole.decoder(text)]
    for number, letters in enumerate(PREFIXES, 1):
        entries = priors.cut_dictionary(dictionary, letters, casefold=bitext.casefold)
        cut = Training(bitext.cut(letters), replace(settings, best=False), workers, entries, room)
        cut.run(_progress_of_model(number, settings, progress))
        parameters.prefixes[letters] = cut.parameters()
        decoders.append(cut.decoder())
    return Trained(parameters, Averaged(decoders), whole.entries_met)


def _progress_of_model(
    number: int, settings: Settings, progress: Progress | None
) -> Progress | None:
    """Return what reports the progress of a model as a part of that of all models."""
    if progress is None or not settings.best:
        return progress
    models = 1 + len(PREFIXES)

    def report(done: int, total: int, text: str) -> None:
        progress(done + number * total, models * total, f"model {number + 1} of {models}, {text}")

    return report


class PriorCounts(NamedTuple):
    """What is known of the word pairs before training."""

    counts: F4  # (K,) their pseudo-counts
    entries_met: int  # how many entries of the dictionary are among them

    @classmethod
    def of(
        cls,
        bitext: Bitext,
        index: Cooccurrence,
        settings: Settings,
        dictionary: Dictionary,
    ) -> PriorCounts:
        """Add up the pseudo-counts of spelling, dictionary and shares, and the floor."""
        known = index, bitext.source.words, bitext.target.words
        counts = priors.spelling_prior(*known, settings.spelling, settings.identity)
        entries = priors.folded_dictionary(dictionary, casefold=bitext.casefold)
        entries_met = priors.add_dictionary(counts, *known, entries)
        if bitext.shares is not None:
            priors.add_shares(counts, index, bitext.shares, settings.vector_weight)
        if settings.inference != "em":
            counts += np.float32(settings.floor)
        return cls(counts, entries_met)


class Training:
    """The tables of a model while it is trained on a bitext.

    Construction indexes the bitext and sets the tables with which the first round begins.
    """

    def __init__(
        self,
        bitext: Bitext,
        settings: Settings,
        workers: expectation.Workers,
        dictionary: Dictionary | None = None,
        room: Room | None = None,
    ) -> None:
        room = room or Room()
        self._workers = workers
        self._on_disk = room.on_disk
        self.bitext = bitext
        settings = settings.settled(len(bitext))
        self.settings = settings
        self.history: list[Round] = []
        # the word pairs
        if room.on_disk:
            self.index = Cooccurrence.in_blocks(bitext, room)
        else:
            ranges = min(workers.threads, _INDEX_RANGES)
            self.index = Cooccurrence.of(bitext, ranges, workers.map)
        self._part = expectation.BitextPart(bitext, self.index, workers)
        self.pairs = self._part.pairs
        # the tables
        sources = len(bitext.source.words)
        targets = len(bitext.target.words)
        self.lexical = expectation.Lexical(self.index, targets)
        self.source_null = rounds.uniform_null(sources)
        self.target_null = rounds.uniform_null(targets)
        self.null_units = np.zeros(2, np.float32)
        self.source_kinds = rounds.kinds(sources, settings)
        self.target_kinds = rounds.kinds(targets, settings)
        self.jumps = rounds.first_jumps(settings)
        self.positions = Positions.uniform()
        self._fertile: tuple[Fertilities, FertileDecoder] | None = None
        # the expected links of each pair, which are subtracted from the counts to align it
        self.own = self._part.own(None)
        known = PriorCounts.of(bitext, self.index, settings, dictionary or {})
        self.prior = known.counts
        self.entries_met = known.entries_met
        self.estimator = self._new_estimator(room)

    def _new_estimator(self, room: Room) -> expectation.Collapsed | expectation.Soft:
        """Return the M-step of word pairs, by the kind of inference."""
        if self.settings.collapsed:
            return self._collapsed(room)
        return expectation.Soft(
            self.index,
            self.prior,
            room,
            agree=self.settings.agree,
            bayes=self.settings.inference == "vb",
        )

    def _collapsed(self, room: Room) -> expectation.Collapsed:
        """Return the M-step of collapsed inference, after setting the tables to chance.

        By chance, all links of a sentence pair are equally expected.
        """
        settings = self.settings
        cells = self.index.cells
        backing = None
        if settings.stem_weight > 0:
            sides = self.bitext.source, self.bitext.target
            stems = [
                priors.stems_of_words(side.words, side.frequencies, settings.stem) for side in sides
            ]
            backing = priors.Backing(self.index, *stems, strength=settings.stem_weight)
        targets = len(self.bitext.target.words)
        shard = expectation.Shard(self.index, self.prior, backing, targets)
        collapsed = expectation.Collapsed(shard, cells, settings, len(self.bitext), room)
        sums = np.zeros(len(self.prior), np.int64)
        add_chances(self.bitext.starts, cells, sums)
        counts = expectation.counts_of(sums, UNITS)
        del sums
        collapsed.take(counts, self.lexical)
        return collapsed

    # rounds
    def run(self, progress: Progress | None = None) -> None:
        """Run all rounds; see `history`."""
        schedule = list(rounds.schedule_of(self.settings))
        for done, (model, number) in enumerate(schedule):
            if progress is not None:
                progress(done, len(schedule), f"{model} round {number}")
            if model == self.settings.model and self.settings.fertile:
                self._train_fertilities()
            else:
                self._round(model, number)
        if progress is not None:
            progress(len(schedule), len(schedule), "trained")

    def _round(self, model: str, number: int) -> None:
        """Run a round of IBM 1, IBM 2 or the HMM."""
        sums = self._expect(model)
        likelihoods = sums.likelihoods / LIKELIHOOD_UNITS
        self.history.append(Round(model, number, *likelihoods.tolist()))
        self._maximize(model, number, sums)

    def _expect(self, model: str) -> expectation.Sums:
        """Run the E-step: set the expected links of the estimator, and return the other sums."""
        tables = self.tables()
        if model == "hmm":
            every = rounds.pairs_for_a_jump(len(self.bitext))
            return self._part.hmm_step(tables, self.jumps, every, self.own, self.estimator)
        shape = self.jumps.shape
        return self._part.lexical_step(tables, self.positions, shape, self.own, self.estimator)

    def _maximize(self, model: str, number: int, sums: expectation.Sums) -> None:
        """Run the M-step: estimate all tables that the model has."""
        if model == "hmm":
            self.jumps = rounds.jumps_of(sums.jumps, self.settings)
        if model == "ibm2":
            self.positions = self.positions.updated(
                self.bitext, self.estimator.expected(), diagonal=self.settings.diagonal
            )
        forget = rounds.prunes(model, number, self.settings)
        self.estimator.update(self.lexical, forget=forget)
        nulls = rounds.nulls_of(sums.source_nulls, sums.target_nulls)
        self.source_null, self.target_null, self.null_units = nulls
        if len(self.estimator.own):
            self.own = self._part.own(self.estimator.own)

    def _train_fertilities(self) -> None:
        """Run the rounds of IBM 3 or 4."""
        from alignkit.align.fertility import training  # IBM 3 and 4 alone need it

        self._fertile = training.train_fertilities(
            self.settings,
            self.bitext,
            self.index,
            self.hmm_decoder(),
            self.prior,
            self._workers,
            self.history.append,
        )

    # what was trained
    @property
    def _jumping(self) -> bool:
        """Whether the HMM was trained."""
        return any(done.model == "hmm" for done in self.history)

    def tables(self) -> Tables:
        """Return the tables that the E-step reads."""
        lexical = self.lexical
        return Tables(
            lexical.forward,
            lexical.reverse,
            lexical.source_totals,
            lexical.target_totals,
            self.source_null,
            self.target_null,
            self.source_kinds,
            self.target_kinds,
            np.float32(self.settings.null),
            *self.null_units,
        )

    def decoder(self, text: TrainingText | None = None) -> Decoder | FertileDecoder:
        """Return the decoder of the training bitext; `text` calibrates its probabilities.

        IBM 3 and 4 have a decoder of their own, which is not calibrated: they ignore `text`.
        """
        if self._fertile is None:
            return self.hmm_decoder(text)
        return self._fertile[1]

    def hmm_decoder(self, text: TrainingText | None = None) -> Decoder:
        """Return the decoder of the training bitext by the models before IBM 3 and 4."""
        jumps = self.jumps if self._jumping else rounds.NO_JUMPS
        sides = self.bitext.source.words, self.bitext.target.words
        calibrator = Calibrator.of_training(text, sides)
        return Decoder(self.pairs, self.tables(), self.own, jumps, self.positions, calibrator)

    def text(self) -> TrainingText | None:
        """Return what calibration needs to know of the bitext; None if it is not calibrated."""
        if not self.settings.calibrated:
            return None
        levels = int(self.estimator.agreement.sum(dtype=np.int64))
        counts = [side.frequencies for side in (self.bitext.source, self.bitext.target)]
        words = words_of(self.bitext)
        return TrainingText.of(counts, len(self.bitext), words, levels, self.null_units)

    def parameters(self) -> Parameters:
        """Return the trained tables."""
        bitext = self.bitext
        settings = self.settings
        lexical = self.lexical
        unseen = rounds.unseen_total(settings, shares=bitext.shares is not None)
        rows, columns, forward, reverse = self._learned_places()
        return Parameters(
            settings=settings,
            casefold=bitext.casefold,
            source=bitext.source.words,
            target=bitext.target.words,
            rows=rows,
            columns=columns,
            forward=forward,
            reverse=reverse,
            source_totals=np.append(lexical.source_totals, unseen),
            target_totals=np.append(lexical.target_totals, unseen),
            source_null=with_unseen(self.source_null),
            target_null=with_unseen(self.target_null),
            null_units=self.null_units,
            jumps=self.jumps if self._jumping else rounds.NO_JUMPS,
            positions=self.positions,
            remember=self._remember(),
            fertilities=None if self._fertile is None else self._fertile[0],
            history=tuple(self.history),
        )

    def _remember(self) -> Callable[[], Memory]:
        """Return what makes the memory; from disk it is made now, so that files can go."""
        if not len(self.own.links):
            return Memory.empty
        make = partial(Memory.of, self.pairs, self.own)
        if self._on_disk:
            memory = make()
            return partial(replace, memory)  # a copy of it
        return make

    def _learned_places(self) -> tuple[I8, I4, F4, F4]:
        """Return rows, columns and weights of the word pairs of which anything is known."""
        lexical = self.lexical
        rows = self.index.rows
        columns = self.index.columns
        every = not self.settings.collapsed or self._fertile is not None
        if every or self.bitext.shares is not None:
            return rows, columns, lexical.forward, lexical.reverse
        kept = rounds.is_learned(lexical.forward, self.settings)
        rows = np.concatenate([[0], kept.cumsum()])[rows]
        weights = lexical.forward[kept]
        return rows, columns[kept], weights, weights
