"""Who is more like the other annotators in each pair: the system, or one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from alignkit._support.array_types import B1, F8, I8
from alignkit.agreement.replacement.similarity import PairSimilarity
from alignkit.model.corpus import Corpus, compared_texts, group_texts

_SAME = 1e-12  # two means that differ by no more than this differ by rounding alone


@dataclass(frozen=True, eq=False)
class Closeness:
    """How alike every two of N names are, in everything.

    Parameters
    ----------
    names : The system, then the annotators.
    means : (N, N) the mean similarity over the pairs that both annotated; NaN for none.
    same, shared : (N, N) the number of pairs in which both are the same, and that both annotated.
    leads : (N, N) at (j, k) how much more like j the system is than k is: the mean difference of
        the pairs of all three, divided by its standard error; NaN for none.
    """

    names: tuple[str, ...]
    means: F8
    same: I8
    shared: I8
    leads: F8

    @classmethod
    def empty(cls, names: Sequence[str]) -> Closeness:
        """Return arrays to fill."""
        shape = len(names), len(names)
        zeros = np.zeros(shape, np.int64)
        unknown = np.full(shape, np.nan)
        return cls(tuple(names), unknown, zeros, zeros.copy(), unknown.copy())

    def fill(self, k: int, j: int, values: F8, most: float) -> None:
        """Fill in two names from the similarity of each pair; `most` is that of equal ones."""
        known = values[~np.isnan(values)]
        for at in ((k, j), (j, k)):
            self.shared[at] = len(known)
            self.same[at] = (known >= most - _SAME).sum()
            if len(known):
                self.means[at] = known.mean()

    def lead(self, j: int, k: int, of_system: F8, of_other: F8) -> None:
        """Fill in how much more like j the system is than k is, from each pair's similarity."""
        differences = of_system - of_other
        known = differences[~np.isnan(differences)]
        if len(known) > 1:
            error = max(float(known.std(ddof=1)) / len(known) ** 0.5, _SAME)
            self.leads[j, k] = known.mean() / error


@dataclass(frozen=True)
class OthersComparison:
    """The comparison of a system with each of A annotators, in R rows and Q pairs.

    Parameters
    ----------
    rows : The names of the rows: everything, and kinds of links.
    annotators : The names of the annotators.
    system_wins, annotator_wins : (R, A, Q) W_f and W_h: 1 if the system (the annotator) is at least
        as much like the others as the annotator (the system) is, else 0. NaN where the two are not
        compared: one of them or all others did not annotate the pair, or nobody has any item.
    likeness : How alike every two are; the system is the first.
    """

    rows: tuple[str, ...]
    annotators: tuple[str, ...]
    system_wins: F8
    annotator_wins: F8
    likeness: Closeness

    @property
    def compared(self) -> B1:
        """(Q,): the pairs in which the system is compared with somebody, a mask."""
        anybody: B1 = ~np.isnan(self.system_wins[0]).all(axis=0)
        return anybody

    @property
    def places(self) -> list[int]:
        """The places of these pairs."""
        return np.flatnonzero(self.compared).tolist()

    def take(self, places: I8) -> OthersComparison:
        """Return the comparison of the pairs at some places."""
        return replace(
            self,
            system_wins=self.system_wins[:, :, places],
            annotator_wins=self.annotator_wins[:, :, places],
        )

    @property
    def differences(self) -> F8:
        """(R, A, Q): d = W_h - W_f; 0 for a tie."""
        return self.annotator_wins - self.system_wins


def compare_with_others(
    similarity: PairSimilarity, system: str, names: Sequence[str]
) -> OthersComparison:
    """Compare the system and each annotator with the other annotators of each pair.

    S(x, i) is the mean, over the annotators of pair i other than annotator j, of the similarity of
    x to them. In pair i, the system wins over j if S(system, i) >= S(j, i).
    """
    likeness = Closeness.empty([system, *names])
    # (R, A, Q): how alike the system and each annotator are, and each annotator and the others
    with_system = np.stack([similarity.between(system, name) for name in names], axis=1)
    for j in range(len(names)):
        likeness.fill(0, 1 + j, with_system[0, j], similarity.most)
    compared = ~np.isnan(with_system)
    with_others = np.zeros_like(with_system)
    for (j, first), (k, second) in combinations(enumerate(names), 2):
        alike = similarity.between(first, second)
        likeness.fill(1 + j, 1 + k, alike[0], similarity.most)
        likeness.lead(1 + j, 1 + k, with_system[0, j], alike[0])
        likeness.lead(1 + k, 1 + j, with_system[0, k], alike[0])
        alike = np.nan_to_num(alike)
        with_others[:, j] += alike
        with_others[:, k] += alike
    of_system = np.where(compared, with_system, 0.0)
    others = compared.sum(axis=1, keepdims=True) - 1
    # S(system, i) - S(j, i), times the number of others by which both are divided
    system_with_others = of_system.sum(axis=1, keepdims=True) - of_system
    margin = system_with_others - with_others
    counts = [similarity.items(name) for name in (system, *names)]
    anybody_has_items = np.sum(counts, axis=0)[:, None] > 0
    valid = compared & (others > 0) & anybody_has_items
    rounding = _SAME * np.maximum(others, 1)
    system_wins = np.where(valid, margin >= -rounding, np.nan)
    annotator_wins = np.where(valid, margin <= rounding, np.nan)
    return OthersComparison(similarity.rows, tuple(names), system_wins, annotator_wins, likeness)


@dataclass(frozen=True)
class Units:
    """The units of the test: pairs, or groups of pairs that depend on each other.

    Parameters
    ----------
    text_of, group_of : (Q,) the number of the text and of the group of each pair. Pairs with the
        same texts are copies: together they count as one pair of their group.
    grouped : Whether pairs are grouped by an attribute.
    """

    text_of: I8
    group_of: I8
    grouped: bool

    @classmethod
    def of(cls, corpus: Corpus, attribute: str | None = None) -> Units:
        """Give a number to each text and group; a pair without the attribute is alone."""
        texts: dict[object, int] = {}
        groups: dict[object, int] = {}
        text_of = np.empty(len(corpus), np.int64)
        group_of = np.empty(len(corpus), np.int64)
        values = [""] * len(corpus) if attribute is None else group_texts(corpus, attribute)
        for place, pair in enumerate(corpus):
            words: object = compared_texts(pair, ignore_case=True)
            text: object = place if words is None else words
            text_of[place] = texts.setdefault(text, len(texts))
            group: object = values[place] or text_of[place]
            group_of[place] = groups.setdefault(group, len(groups))
        return cls(text_of, group_of, attribute is not None)

    def take(self, places: I8) -> Units:
        """Return the units of the pairs at some places."""
        return Units(self.text_of[places], self.group_of[places], self.grouped)

    def means(self, values: F8) -> F8:
        """Return the mean of each unit, (A, U), of the values of pairs (A, Q).

        A unit without values is NaN. Copies are averaged first, and then the texts of a group.
        """
        groups, group = np.unique(self.group_of, return_inverse=True)
        group = group.reshape(-1)
        # a number for each text of each group
        width = int(self.text_of.max(initial=0)) + 1
        texts, first_pair, text = np.unique(
            group * width + self.text_of, return_index=True, return_inverse=True
        )
        of_texts = _means(values, text.reshape(-1), len(texts))
        return _means(of_texts, group[first_pair], len(groups))


def _means(values: F8, unit_of: I8, units: int) -> F8:
    """Return the means (A, U) of the values (A, Q) of each unit, without those that are NaN."""
    means = np.empty((len(values), units))
    for row, of_row in zip(means, values, strict=True):
        known = ~np.isnan(of_row)
        sums = np.bincount(unit_of[known], of_row[known], units)
        counts = np.bincount(unit_of[known], minlength=units)
        row[:] = np.divide(sums, counts, where=counts > 0, out=np.full(units, np.nan))
    return means
