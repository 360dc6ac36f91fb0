"""IBM 3 and IBM 4 in both directions, trained on top of the HMM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from alignkit.aligner.bitext import Bitext, Side
from alignkit.aligner.classes import word_classes
from alignkit.aligner.cooccurrence import Cooccurrence
from alignkit.aligner.decoding import Decoder
from alignkit.aligner.estimators import FEW
from alignkit.aligner.expectation import Workers, lexical_tables, parts_of
from alignkit.aligner.expectation_kernel import Pairs
from alignkit.aligner.fertility import FertilityText, align_fertility
from alignkit.aligner.fertility_training import FertilityTraining
from alignkit.aligner.parameters import Fertilities, Round, with_unseen
from alignkit.aligner.settings import Settings

F4 = NDArray[np.float32]
F8 = NDArray[np.float64]
I4 = NDArray[np.int32]

CLASSES = 50  # word classes of each language


def train_fertilities(
    settings: Settings,
    bitext: Bitext,
    index: Cooccurrence,
    hmm: Decoder,
    prior: F4,
    workers: Workers,
    report: Callable[[Round], None],
) -> tuple[Fertilities, FertileDecoder]:
    """Train the fertility model of the settings from the HMM's Viterbi alignments."""
    known = hmm.tables
    parts = workers.map(lambda _, begin, end: hmm.paths(begin, end), parts_of(bitext.starts))
    paths = [np.concatenate(side) for side in zip(*parts, strict=True)]
    tables = lexical_tables(known, index)
    texts = _texts(bitext, index)
    classes: list[I4] = []
    if settings.model == "ibm4":
        classes = [
            word_classes(side.ids, side.starts, len(side.words), min(CLASSES, len(side.words)))
            for side in (bitext.source, bitext.target)
        ]
    both = [
        FertilityTraining(
            text,
            model=settings.model,
            lexical=table,
            null=null,
            viterbi=path,
            classes=(classes[::turn][0], classes[::turn][1]) if classes else None,
            prior=prior,
            discount=float(settings.inference == "collapsed" and len(bitext) >= FEW),
            threads=workers.threads,
        )
        for text, table, null, path, turn in zip(
            texts, tables, (known.target_null, known.source_null), paths, (1, -1), strict=True
        )
    ]
    for number in range(1, settings.fertility + 1):
        forward, reverse = (direction.expect() for direction in both)
        report(Round(settings.model, number, forward, reverse))
        if settings.agree:
            one, other = both[0].posteriors, both[1].posteriors
            links = one * other * (one + other) * np.float32(0.5)
        for direction in both:
            direction.maximize(links.copy() if settings.agree else None)
    to, back = (direction.finish() for direction in both)
    learned = Fertilities(
        to.model, back.model, to.lexical, back.lexical, with_unseen(to.null), with_unseen(back.null)
    )
    done = to.posteriors, back.posteriors, to.viterbi, back.viterbi
    return learned, FertileDecoder(hmm, learned, to.lexical, back.lexical, done)


Done = tuple[F4, F4, I4, I4]


@dataclass(frozen=True, eq=False)
class FertileDecoder:
    """Posteriors and Viterbi alignments of a fertility model, as `Decoder` gives by others."""

    hmm: Decoder  # where the climbing begins
    known: Fertilities  # the tables
    forward: F4
    reverse: F4
    done: Done | None = None
    source_numbers: I4 = field(default_factory=lambda: np.empty(0, np.int32))
    target_numbers: I4 = field(default_factory=lambda: np.empty(0, np.int32))

    @property
    def pairs(self) -> Pairs:
        """The pairs."""
        return self.hmm.pairs

    def posteriors(self, begin: int, end: int, likelihoods: F8 | None = None) -> tuple[F4, F4]:
        """Return both directions' posteriors; the log-likelihoods are those of the HMM."""
        if likelihoods is not None:
            self.hmm.posteriors(begin, end, likelihoods)
        return self.viterbi(begin, end)[:2]

    def lexical(self, begin: int, end: int) -> tuple[F4, F4]:
        """Return both directions' posteriors by the words alone, as the HMM knows them."""
        return self.hmm.lexical(begin, end)

    def viterbi(self, begin: int, end: int) -> Done:
        """Return the posteriors, and what each target and each source word is aligned to."""
        pairs = self.hmm.pairs
        cells = slice(int(pairs.starts[begin]), int(pairs.starts[end]))
        targets = slice(int(pairs.target_starts[begin]), int(pairs.target_starts[end]))
        sources = slice(int(pairs.source_starts[begin]), int(pairs.source_starts[end]))
        if self.done is not None:
            forward, reverse, target_path, source_path = self.done
            return forward[cells], reverse[cells], target_path[targets], source_path[sources]
        target_path, source_path = self.hmm.paths(begin, end)
        size = cells.stop - cells.start
        forward, reverse = np.zeros(size, np.float32), np.zeros(size, np.float32)
        for pair in range(begin, end):
            self._align(
                pair,
                forward[pairs.starts[pair] - cells.start :],
                reverse[pairs.starts[pair] - cells.start :],
                target_path[pairs.target_starts[pair] - targets.start :],
                source_path[pairs.source_starts[pair] - sources.start :],
            )
        return forward, reverse, target_path, source_path

    def _align(self, pair: int, forward: F4, reverse: F4, target: I4, source: I4) -> None:
        # climb from the alignments of the HMM, in both directions, and set all four arrays
        pairs, known = self.hmm.pairs, self.known
        sources = self.source_numbers[
            pairs.source[pairs.source_starts[pair] : pairs.source_starts[pair + 1]]
        ]
        targets = self.target_numbers[
            pairs.target[pairs.target_starts[pair] : pairs.target_starts[pair + 1]]
        ]
        n, m = len(sources), len(targets)
        places = pairs.cells[pairs.starts[pair] : pairs.starts[pair + 1]]
        one = align_fertility(
            known.forward, sources, targets, self.forward[places].reshape(n, m),
            known.target_null[targets], target[:m],
        )  # fmt: skip
        other = align_fertility(
            known.reverse, targets, sources, self.reverse[places].reshape(n, m).T,
            known.source_null[sources], source[:n],
        )  # fmt: skip
        forward[: n * m] = one.posteriors.ravel()
        reverse[: n * m] = other.posteriors.T.ravel()
        target[:m], source[:n] = one.alignment, other.alignment


def _texts(bitext: Bitext, index: Cooccurrence) -> tuple[FertilityText, FertilityText]:
    source, target = bitext.source, bitext.target

    def text(mine: Side, other: Side, owners: I4, *, transposed: bool) -> FertilityText:
        return FertilityText(
            sources=mine.ids, source_offsets=mine.starts,
            targets=other.ids, target_offsets=other.starts,
            cells=index.cells, starts=bitext.starts, owners=owners,
            vocabulary=(len(mine.words), len(other.words)), transposed=transposed,
        )  # fmt: skip

    return (
        text(source, target, index.source, transposed=False),
        text(target, source, index.columns, transposed=True),
    )
