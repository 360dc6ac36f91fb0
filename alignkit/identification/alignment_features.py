"""Features of how the words of two texts align: see `ALIGN`.

An aligner gives each cell, a word of either text, the posterior probability of a link, in both
directions: forward, where each second word chooses a first one or null, and reverse. A cell is a
*link* if the mean of both is above 1/2. The *best* posterior of a word says how well it is aligned;
if it is below 1/2, the word is *unaligned*. *Content* words are those with letters or digits that
are no function words.

Features of one side are given as the smaller and the larger of both sides, so that exchanging the
texts changes nothing. Those that weigh words by their frequencies in training texts (`by idf`) are
computed elsewhere from sums over words: `AlignedTexts` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import log1p
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import kendalltau

from alignkit._support.array_types import B1, F8, I8
from alignkit.align.aligner import Aligner
from alignkit.align.settings import LONGEST_PIECE
from alignkit.identification.options import Matrix, Texts
from alignkit.identification.overlap_features import share, tokens

_BY_SIDE = (
    "coverage",
    "coverage of content",
    "unaligned content",
    "unaligned digits",
    "unaligned content words",
    "entropy",
    "entropy of content",
    "likelihood",
    "null",
    "coverage by idf",
    "unaligned idf",
)
_BY_PAIR = (
    "agreement of directions",
    "share on unequal words",
    "mass on unequal words",
    "kendall tau",
    "crossing",
    "distance from diagonal",
    "blocks",
    "longest block",
    "largest sum",
)
ALIGN = (*_BY_PAIR, *map(", ".join, product(_BY_SIDE, ("min", "max"))))
"""The features: those of the pair, then those of the sides."""

_BY_IDF = 4  # the last features are computed with the frequencies of words
_LINK = 0.5  # least posterior of a link, and of a word that counts as aligned


def train_aligner(pairs: Iterable[Texts]) -> Aligner:
    """Train the aligner of the features: an HMM on pairs in both orders, whatever their order."""
    words = sorted(map(_ordered, pairs))
    whole = [(first, second) for first, second in words if first]  # the first are the smaller ones
    turned = [(second, first) for first, second in whole]
    return Aligner.train(whole + turned, model="hmm", identity=3)


def _ordered(pair: Texts) -> tuple[list[str], list[str]]:
    """Return the words of both texts in a fixed order: an aligner depends a little on it."""
    first, second = sorted(map(_cut, pair))
    return first, second


def _cut(text: str) -> list[str]:
    """Return the words that are aligned."""
    return tokens(text)[:LONGEST_PIECE]


class WordSums(NamedTuple):
    """Sums over the words of one side of P pairs, (P, words), sparse; the columns are words."""

    best: Matrix  # of the best posterior of a word
    unaligned: Matrix  # how often a word is unaligned


class AlignedTexts(NamedTuple):
    """What the alignment of P pairs of texts gives."""

    values: F8  # (P, F): the features without those by idf
    sums: tuple[WordSums, WordSums]  # of the first and of the second texts, for those by idf


class _SummedWords:
    """Collects `WordSums`."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._best: list[float] = []
        self._unaligned: list[float] = []

    def add(self, pair: int, columns: list[int], best: F8) -> None:
        """Add the words of a pair, each with its best posterior."""
        self._rows += [pair] * len(columns)
        self._columns += columns
        self._best += best.tolist()
        self._unaligned += (best < _LINK).astype(float).tolist()

    def sums(self, shape: tuple[int, int]) -> WordSums:
        """Return the sums as matrices of this shape."""
        places = (np.array(self._rows, int), np.array(self._columns, int))
        best = sparse.csr_matrix((np.array(self._best), places), shape)
        unaligned = sparse.csr_matrix((np.array(self._unaligned), places), shape)
        return WordSums(best, unaligned)


def align_texts(
    aligner: Aligner,
    texts: Sequence[Texts],
    names: Sequence[str],
    is_content: Callable[[str], bool],
) -> AlignedTexts:
    """Align pairs of texts, and return their features; `names` are the columns of the sums."""
    ordered = list(map(_ordered, texts))
    whole = [k for k, pair in enumerate(ordered) if all(pair)]
    values = np.zeros((len(ordered), len(ALIGN) - _BY_IDF))
    column_of = {word: k for k, word in enumerate(names)}
    summed = (_SummedWords(), _SummedWords())
    scores: Iterable[Any] = ()
    if whole:
        scores = aligner.scores([ordered[k] for k in whole])
    for k, score in zip(whole, scores, strict=True):
        pair = ordered[k]
        is_turned = pair[0] != _cut(texts[k][0])
        forward, reverse = (array.astype(float) for array in aligner.posteriors(*pair))
        mean = (forward + reverse) / 2
        of_sides = []
        for side, posterior in enumerate((reverse, forward.T)):
            other = 1 - side
            best = mean.max(axis=other)
            content = np.array([is_content(word) for word in pair[side]])
            of_sides.append(_of_side(pair[side], content, best, posterior, float(score[other])))
            columns = [column_of[word] for word in pair[side]]
            given_side = other if is_turned else side
            summed[given_side].add(k, columns, best)
        least_and_most = []
        for both in zip(*of_sides, strict=True):
            least_and_most += sorted(both)
        values[k] = (*_of_pair(*pair, forward, reverse), *least_and_most)
    shape = (len(ordered), len(names))
    first, second = (side.sums(shape) for side in summed)
    return AlignedTexts(values, (first, second))


def _of_side(
    words: Sequence[str], content: B1, best: F8, posterior: F8, score: float
) -> list[float]:
    """Return the features of a side, in the order of `_BY_SIDE` without the last two.

    `best` is the best mean posterior of each word. `posterior`, (words, other words), has rows that
    add up to 1 with null. `score` is the log-likelihood of this side, given the other one.
    """
    is_unaligned = best < _LINK
    null = np.clip(1 - posterior.sum(1), 0, 1)
    whole = np.column_stack((posterior, null))
    logarithms = np.log(whole, where=whole > 0, out=np.zeros_like(whole))
    entropy = -(whole * logarithms).sum(1)
    unaligned = int((is_unaligned & content).sum())
    digits = np.array([word.isdigit() for word in words])
    return [
        best.mean(),
        _mean(best[content]),
        share(unaligned, int(content.sum())),
        np.count_nonzero(is_unaligned & digits),
        log1p(unaligned),
        entropy.mean(),
        _mean(entropy[content]),
        score / len(words),
        null.mean(),
    ]


def _mean(values: F8) -> float:
    """Return the mean; 0 if there are no values."""
    return float(values.mean()) if len(values) else 0.0


def _of_pair(
    first: Sequence[str], second: Sequence[str], forward: F8, reverse: F8
) -> tuple[float, ...]:
    """Return the features that belong to no side, in the order of `_BY_PAIR`."""
    mean = (forward + reverse) / 2
    are_unequal = np.not_equal.outer(np.array(first), np.array(second))
    unequal = float(mean[are_unequal].sum())
    agreed = share(np.minimum(forward, reverse).sum(), np.maximum(forward, reverse).sum())
    shorter = min(mean.shape)
    shares = (agreed, share(unequal, mean.sum()), unequal / shorter)
    largest_sum = max(mean.sum(axis=0).max(), mean.sum(axis=1).max())
    links = np.argwhere(mean > _LINK)
    if not len(links):
        return *shares, 1.0, 0.0, 1.0, 0.0, 0.0, largest_sum
    i, j = links.T
    distance = float(np.abs(i / mean.shape[0] - j / mean.shape[1]).mean())
    sizes = _block_sizes(links)
    by_column = links[np.lexsort((i, j))]
    other_sizes = _block_sizes(by_column[:, ::-1])
    blocks = (len(sizes) + len(other_sizes)) / 2
    longest = max(sizes.max(), other_sizes.max())
    of_blocks = (blocks / len(links), longest / shorter)
    return *shares, *_order(i, j), distance, *of_blocks, largest_sum


def _order(i: I8, j: I8) -> tuple[float, float]:
    """Return Kendall's tau of the positions of links, and the share of two links that cross."""
    if len(i) == 1:
        return 1.0, 0.0
    tau = float(np.nan_to_num(kendalltau(i, j).statistic, nan=1.0))
    order = np.subtract.outer(i, i) * np.subtract.outer(j, j)
    return tau, float((order < 0).sum()) / (len(i) * (len(i) - 1))


def _block_sizes(links: I8) -> I8:
    """Return the numbers of links in runs that go on by at most one word on both sides.

    The links (L, 2) are sorted by their first column.
    """
    i_steps, j_steps = np.diff(links.T)
    joined = (i_steps <= 1) & (j_steps <= 1) & (j_steps >= 0)
    is_bound = np.concatenate(([True], ~joined, [True]))
    return np.diff(np.flatnonzero(is_bound))
