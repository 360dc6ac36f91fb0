"""Train one model, or a model of whole words and models of word beginnings, by E- and M-steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from alignkit._support.array_types import B1, F4, I4, I8
from alignkit.align import expectation, priors
from alignkit.align.bitext import Bitext
from alignkit.align.calibration import Calibrator, TrainingText, words_of
from alignkit.align.cooccurrence import Cooccurrence, Room
from alignkit.align.decoders import Averaged, Decoder, Decoding
from alignkit.align.expectation import Positions
from alignkit.align.expectation_kernel import EMPTY, LEVELS, Tables
from alignkit.align.maximization_kernel import LIKELIHOOD_UNITS, UNITS, add_chances
from alignkit.align.parameters import Fertilities, Memory, Parameters, Round, with_unseen
from alignkit.align.priors import SharesPrior, VectorPrior
from alignkit.align.settings import PREFIXES, Settings
from alignkit.errors import AlignerError

if TYPE_CHECKING:
    from alignkit.align.fertility.training import FertileDecoder

Progress = Callable[[int, int, str], None]
"""A function called with the number of rounds done, the total, and the current step."""

START_JUMPS = 0.5  # how fast the first jump table falls with the distance from one word further
NO_JUMPS = np.empty((0, 0, 0), np.float32)
BEYOND = 20  # how many jumps beyond the band share the counts of the tail
TRACED = 10_000  # in about how many pairs jumps are counted


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
    dictionary: Mapping[tuple[str, str], float],
    room: Room,
    vectors: VectorPrior | SharesPrior | None,
    progress: Progress | None = None,
) -> Trained:
    """Train on a bitext without long lines; see `Aligner.train`."""
    training = Training(bitext, settings, workers, dictionary, room, vectors)
    if not training.bitext.starts[-1]:
        raise AlignerError("nothing to learn from: no pair has words on both sides")
    training.run(_share(progress, settings, 0))
    text = training.text()
    parameters = replace(training.parameters(), text=text)
    decoders = [training.decoder(text)]
    entries_met = training.entries_met
    if not settings.best:
        return Trained(parameters, decoders[0], entries_met)
    of_one = replace(settings, best=False)
    for number, letters in enumerate(PREFIXES, 1):
        entries = priors.cut_dictionary(dictionary, letters, casefold=bitext.casefold)
        training = Training(bitext.cut(letters), of_one, workers, entries, room)
        training.run(_share(progress, settings, number))
        parameters.prefixes[letters] = training.parameters()
        decoders.append(training.decoder())
    return Trained(parameters, Averaged(decoders), entries_met)


def _share(progress: Progress | None, settings: Settings, number: int) -> Progress | None:
    """Return what reports the progress of one of several models."""
    if progress is None or not settings.best:
        return progress
    models = 1 + len(PREFIXES)

    def report(done: int, total: int, text: str) -> None:
        progress(done + number * total, models * total, f"model {number + 1} of {models}, {text}")

    return report


class Training:
    """The training of the models of word pairs, positions and jumps."""

    def __init__(
        self,
        bitext: Bitext,
        settings: Settings,
        workers: expectation.Workers,
        dictionary: Mapping[tuple[str, str], float] | None = None,
        room: Room | None = None,
        vectors: VectorPrior | SharesPrior | None = None,
    ) -> None:
        room = room or Room()
        self.bitext = bitext
        self._workers = workers
        self._on_disk = room.on_disk
        self.settings = settings = settings.settled(len(bitext))
        if room.on_disk:
            self.index = Cooccurrence.in_blocks(bitext, room)
        else:
            self.index = Cooccurrence.of(bitext, min(workers.threads, 8), workers.map)
        self._part = expectation.BitextPart(bitext, self.index, workers)
        self.pairs = self._part.pairs
        source = bitext.source
        target = bitext.target
        self.lexical = expectation.Lexical(self.index, len(target.words))
        self.source_null = uniform_null(len(source.words))
        self.target_null = uniform_null(len(target.words))
        self.source_kinds = kinds(len(source.words), settings)
        self.target_kinds = kinds(len(target.words), settings)
        self.jumps = np.stack([first_jumps(settings)] * 2)
        self.positions = Positions.uniform()
        self.history: list[Round] = []
        self.null_units = np.zeros(2, np.float32)
        self.own = self._part.own(None)
        self._fertile: tuple[Fertilities, FertileDecoder] | None = None
        known = self.index, source.words, target.words
        self.prior = priors.spelling_prior(*known, settings.spelling, settings.identity)
        entries = {}
        for (word, translation), count in (dictionary or {}).items():
            if bitext.casefold:
                entries[word.casefold(), translation.casefold()] = count
            else:
                entries[word, translation] = count
        self.entries_met = priors.add_dictionary(self.prior, *known, entries)
        self._near = vectors is not None  # whether word pairs have pseudo-counts for their meaning
        self._vectors = None
        if vectors is not None:
            self._vectors = vectors.add(self.prior, self.index, bitext)
        self.estimator = self._new_estimator(room)

    def _new_estimator(self, room: Room) -> expectation.Collapsed | expectation.Soft:
        """Return the M-step; with collapsed inference, the tables are set to chance first."""
        settings = self.settings
        prior = self.prior
        if settings.inference != "em":
            prior += np.float32(settings.floor)
        if not settings.collapsed:
            bayes = settings.inference == "vb"
            return expectation.Soft(self.index, prior, room, agree=settings.agree, bayes=bayes)
        source = self.bitext.source
        target = self.bitext.target
        backing = None
        if settings.stem_weight > 0:
            backing = priors.Backing(
                self.index,
                priors.stems_of_words(source.words, source.frequencies, settings.stem),
                priors.stems_of_words(target.words, target.frequencies, settings.stem),
                strength=settings.stem_weight,
            )
        shard = expectation.Shard(self.index, prior, backing, len(target.words))
        collapsed = expectation.Collapsed(shard, self.index.cells, settings, len(self.bitext), room)
        sums = np.zeros(len(prior), np.int64)
        add_chances(self.bitext.starts, self.index.cells, sums)
        counts = expectation.counts_of(sums, UNITS)
        del sums
        collapsed.take(counts, self.lexical)
        return collapsed

    def run(self, progress: Progress | None = None) -> None:
        """Run all rounds; see `history`."""
        schedule = list(schedule_of(self.settings))
        for done, (model, number) in enumerate(schedule):
            if progress is not None:
                progress(done, len(schedule), f"{model} round {number}")
            if model == self.settings.model and self.settings.fertile:
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
            else:
                self._round(model, number)
        if progress is not None:
            progress(len(schedule), len(schedule), "trained")

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
        jumps = self.jumps if self._jumping else NO_JUMPS
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
        unseen = unseen_total(settings, near=self._near)
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
            jumps=self.jumps if self._jumping else NO_JUMPS,
            positions=self.positions,
            remember=self._remember(),
            fertilities=None if self._fertile is None else self._fertile[0],
            history=tuple(self.history),
            vectors=self._vectors,
        )

    def _remember(self) -> Callable[[], Memory]:
        """Return what makes the memory; from disk it is made now, so that files can go."""
        if not len(self.own.links):
            return Memory.empty
        later = partial(Memory.of, self.pairs, self.own)
        if self._on_disk:
            return partial(replace, later())
        return later

    def _learned_places(self) -> tuple[I8, I4, F4, F4]:
        """Return rows, columns and weights of the word pairs of which anything is known."""
        lexical = self.lexical
        rows = self.index.rows
        columns = self.index.columns
        every = not self.settings.collapsed or self._fertile is not None
        if every or self._near:
            return rows, columns, lexical.forward, lexical.reverse
        kept = is_learned(lexical.forward, self.settings)
        rows = np.concatenate([[0], kept.cumsum()])[rows]
        weights = lexical.forward[kept]
        return rows, columns[kept], weights, weights

    @property
    def _jumping(self) -> bool:
        """Whether the HMM was trained."""
        return any(done.model == "hmm" for done in self.history)

    def _round(self, model: str, number: int) -> None:
        """Run a round of IBM 1, IBM 2 or the HMM: an E-step and an M-step."""
        tables = self.tables()
        part = self._part
        if model == "hmm":
            every = pairs_for_a_jump(len(self.bitext))
            sums = part.hmm_step(tables, self.jumps, every, self.own, self.estimator)
            self.jumps = jumps_of(sums, self.settings)
        else:
            shape = self.jumps.shape
            sums = part.lexical_step(tables, self.positions, shape, self.own, self.estimator)
        likelihoods = sums.likelihoods / LIKELIHOOD_UNITS
        self.history.append(Round(model, number, *likelihoods.tolist()))
        if model == "ibm2":
            self.positions = self.positions.updated(
                self.bitext, self.estimator.expected(), diagonal=self.settings.diagonal
            )
        self.estimator.update(self.lexical, forget=prunes(model, number, self.settings))
        self.source_null, self.target_null, self.null_units = nulls_of(sums)
        if len(self.estimator.own):
            self.own = self._part.own(self.estimator.own)


def kinds(words: int, settings: Settings) -> I4:
    """Return the kinds of this number of words."""
    return expectation.kinds_of(np.arange(words, dtype=np.int32), settings.kinds)


def schedule_of(settings: Settings) -> Iterator[tuple[str, int]]:
    """Yield the model and the number of each round."""
    models = ["ibm1"]
    if settings.model == "ibm2":
        models.append("ibm2")
    elif settings.model != "ibm1":
        models.append("hmm")
    for model in models:
        rounds = getattr(settings, model)
        for number in range(1, rounds + 1):
            yield model, number
    if settings.fertile:
        yield settings.model, 1


def prunes(model: str, number: int, settings: Settings) -> bool:
    """Return whether word pairs are dropped after this round."""
    return settings.prune and model == "ibm1" and number == settings.ibm1


def is_learned(weights: F4, settings: Settings) -> B1:
    """Return for each word pair whether its weight differs from the floor (collapsed inference).

    A word pair without any evidence keeps exactly the floor, and no weight is smaller.
    """
    return np.asarray(weights != np.float32(settings.floor))


def unseen_total(settings: Settings, *, near: bool = False) -> np.float32:
    """Return the divisor of the weights of a word never seen."""
    total = settings.concentration + settings.spelling + settings.identity
    if near:
        total += settings.vector_weight
    return np.float32(max(total, 1e-30))


def pairs_for_a_jump(pairs: int) -> int:
    """Return k if jumps are counted in every k-th of this number of pairs."""
    return max(1, pairs // TRACED)


def uniform_null(words: int) -> F4:
    """Return the lexical table of the empty word before the first round."""
    return np.full(words, 1 / max(words, 1), np.float32)


def nulls_of(sums: expectation.Sums) -> tuple[F4, F4, F4]:
    """Return the lexical tables of the empty word for source and target, and their units."""
    tables = []
    units = []
    for side in (sums.source_nulls, sums.target_nulls):
        counts = side / UNITS + EMPTY
        total = counts.sum()
        tables.append(np.asarray(counts / total, np.float32))
        units.append(1 / (LEVELS * total))
    return tables[0], tables[1], np.array(units, np.float32)


def first_jumps(settings: Settings) -> F4:
    """Return a (kinds + 1, 2 * band + 2) table that favours a jump to the next word."""
    distance = np.abs(np.arange(-settings.band, settings.band + 1) - 1)
    row = np.append(np.exp(-START_JUMPS * distance) + 0.01, 0.001)
    return np.tile(row, (settings.kinds + 1, 1)).astype(np.float32)


def jumps_of(sums: expectation.Sums, settings: Settings) -> F4:
    """Return the jump tables of both directions from expected jumps."""
    smoothing = settings.jump_smoothing
    tables = []
    for counts in sums.jumps / UNITS:  # each kind's own jumps, smoothed with those of all
        counts[:, -1] /= BEYOND
        common = counts[:-1].sum(axis=0)
        common /= max(common.sum(), 1e-30)
        totals = counts.sum(axis=1, keepdims=True) + smoothing
        table = (counts + smoothing * common) / np.maximum(totals, 1e-30)
        tables.append(np.asarray(table + 1e-6, np.float32))
    return np.stack(tables)
