"""Divide a corpus at random by shares, or select pairs.

On request, strata have equal shares in all parts, and groups of pairs are kept together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from math import isfinite
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.wording import how_many
from alignkit.corpora.leaks import GROUPED, GROUPS, find_leaks
from alignkit.errors import OptionError, UnknownIdError
from alignkit.model.corpus import TEXTS, Corpus, group_texts, group_values
from alignkit.model.sentence_pair import REWRITE_OF, SentencePair, origin_of
from alignkit.stats.defaults import SEED

if TYPE_CHECKING:
    import numpy as np

_MOST_STRATA = 100  # if groups stay whole, so many strata are divided evenly


class Parts(dict[str, Corpus]):
    """The parts of a corpus by name."""

    considered: tuple[str | None, ...] = ()  # attributes that decided how to divide: no warnings
    separator: str | None = None  # of several values in an attribute

    @property
    def cautions(self) -> list[str]:
        """Warnings about leaks: groups, rewrites and their pairs, equal pairs in several parts."""
        cautions = []
        for name in GROUPS:
            if name in self.considered:
                continue
            values = partial(group_values, attribute=name, separator=self.separator)
            if count := self._divided(values):
                cautions.append(
                    f"{how_many(count, 'value')} of {name} in several parts; "
                    f"`keep_together={name!r}` prevents this"
                )
        pairs = list(chain.from_iterable(self.values()))
        rewritten = {origin_of(pair) for pair in pairs} - {None}
        divided = self._divided(lambda pair: {origin_of(pair) or pair.id} & rewritten)
        if divided and not cautions:
            cautions.append(
                f"{how_many(divided, 'pair')} in another part than their rewrites; "
                f"`keep_together={REWRITE_OF!r}` prevents this"
            )
        return cautions + self._repetitions(pairs)

    def _repetitions(self, pairs: Sequence[SentencePair]) -> list[str]:
        """Return a caution for each part that has equal or reversed pairs of earlier parts."""
        cautions = []
        before = 0  # pairs of earlier parts
        for number, (name, part) in enumerate(self.items()):
            leaks = find_leaks(Corpus(pairs[:before]), part, ())
            before += len(part)
            if count := sum(leak.kind != GROUPED for leak in leaks):
                first_part = next(iter(self))
                where = first_part if number == 1 else "an earlier part"
                cautions.append(
                    f"{count} of {how_many(len(part), 'pair')} of {name} are equal or reversed "
                    f"pairs of {where}; `keep_texts=True` prevents this"
                )
        return cautions

    def _divided(self, values: Callable[[SentencePair], Iterable[str]]) -> int:
        """Return the number of values that are in several parts."""
        parts_with: Counter[str] = Counter()
        for part in self.values():
            parts_with.update(set(chain.from_iterable(map(values, part))))
        return sum(count > 1 for count in parts_with.values())


@naming_keywords
def select_ids(corpus: Corpus, ids: Iterable[str]) -> Corpus:
    """Return the pairs with these ids, in the order of the corpus.

    Parameters
    ----------
    corpus : The sentence pairs.
    ids : The ids of the pairs to return, in any order.

    Raises
    ------
    UnknownIdError : If no pair has one of the ids.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["a", "b", "c"], ["x", "y", "z"])
    >>> select_ids(corpus, ["3", "1"]).ids
    ('1', '3')
    """
    check_arguments(select_ids, locals())
    wanted = dict.fromkeys(ids)
    for id in wanted:
        if id not in corpus:
            raise UnknownIdError(id, corpus.ids)
    return corpus.filter(lambda pair: pair.id in wanted)


@naming_keywords
def sample(
    corpus: Corpus,
    share: float,
    *,
    seed: int = SEED,
    stratify: str | None = None,
    keep_together: str | Sequence[str] = (),
    separator: str | None = None,
    keep_texts: bool = False,
) -> Corpus:
    """Return a share of a corpus, drawn at random; see `split_corpus`.

    Parameters
    ----------
    corpus : The sentence pairs.
    share : The share of the pairs to draw, above 0 and at most 1.
    seed, stratify, keep_together, separator, keep_texts : As in `split_corpus`.

    Raises
    ------
    OptionError, UnknownNameError : As in `split_corpus`.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["a"] * 10, ["b"] * 10)
    >>> len(sample(corpus, 0.3))
    3
    """
    check_arguments(sample, locals())
    return split_corpus(
        corpus,
        {"the sample": share},
        seed=seed,
        stratify=stratify,
        keep_together=keep_together,
        separator=separator,
        keep_texts=keep_texts,
    )["the sample"]


@naming_keywords
def split_corpus(
    corpus: Corpus,
    shares: Mapping[str, float],
    *,
    seed: int = SEED,
    stratify: str | None = None,
    keep_together: str | Sequence[str] = (),
    separator: str | None = None,
    keep_texts: bool = False,
) -> Parts:
    """Divide a corpus at random into parts with given shares.

    Parameters
    ----------
    corpus : The corpus.
    shares : The share of each part, such as ``{"train": 0.8, "dev": 0.1, "test": 0.1}``. If they
        add up to less than 1, the other pairs are left out.
    seed : The same seed gives the same parts.
    stratify : An attribute: each value gets the same share in all parts (with `keep_together`, each
        of the 100 most frequent values). ``"judgment"`` means the judgments of the annotators,
        unless an attribute has that name.
    keep_together : One or several attributes: pairs that share a value go into one part, so no
        document, film or entity is in two parts. Pairs without a value are independent, but
        rewrites of a pair stay with it, see `alignkit.model.sentence_pair`.
    separator : The separator of several values in such an attribute; None: each text is one value.
    keep_texts : Pairs that share a text, on either side, go into one part, so no text is in two
        parts. Case and the Unicode form of characters do not count.

    Returns
    -------
    Parts
        A dict of corpora, with pairs in the order of the corpus. The shares are as close as whole
        pairs allow, or whole groups (see `alignkit.corpora.apportioning`). Its `cautions` warn
        about leaks between parts.

    Raises
    ------
    OptionError : If the shares are not valid, or there are fewer pairs or groups than parts.
    UnknownNameError : If no pair has the attribute.

    Examples
    --------
    >>> corpus = Corpus.from_texts(["a"] * 10, ["b"] * 10)
    >>> {name: len(part) for name, part in split_corpus(corpus, {"train": 0.8, "dev": 0.2}).items()}
    {'train': 8, 'dev': 2}
    """
    import numpy as np

    check_arguments(split_corpus, locals(), apart=["shares"])
    all_shares = _checked(shares, seed)
    together = [keep_together] if isinstance(keep_together, str) else list(keep_together)
    for attribute in together:
        group_texts(corpus, attribute)  # refuses one that no pair has
    if stratify is None:
        values = [""] * len(corpus)
    else:
        values = group_texts(corpus, stratify)
    if separator is not None and not together:
        message = "`separator` separates values of `keep_together`: give `keep_together` too"
        raise OptionError(message)
    rng = np.random.default_rng(seed)
    number_of: dict[str, int] = {}  # values are numbered in the order of their first pairs
    strata = [number_of.setdefault(value, len(number_of)) for value in values]
    if keep_texts:
        together.append(TEXTS)
    if together:
        groups = connected_groups(corpus, together, separator)
    else:
        groups = [[k] for k in range(len(corpus))]
    if 0 < len(groups) < len(shares):
        what = f"{len(groups)} pairs are too few"
        if together:
            names = " or ".join(together)
            what = f"pairs with the same {names} make {len(groups)} groups, too few"
        raise OptionError(f"{what} for {len(shares)} parts")
    if len(groups) == len(corpus):
        parts = _divided_pairs(strata, all_shares, rng)
    else:
        parts = _divided_groups(groups, strata, all_shares, rng)
    divided = Parts()
    for k, name in enumerate(shares):
        divided[name] = Corpus(pair for pair, part in zip(corpus, parts, strict=True) if part == k)
    divided.considered = (*together, stratify)
    divided.separator = separator
    return divided


def _checked(shares: Mapping[str, float], seed: int) -> list[float]:
    """Return the shares, and at the end the share that is left out, if any."""
    if seed < 0:
        raise OptionError(f"the seed is {seed}; it must be 0 or more")
    if not isinstance(shares, Mapping) or not shares:
        example = {"train": 0.8, "dev": 0.1, "test": 0.1}
        raise OptionError(f"shares must name the parts, e.g. {example}")
    for name, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, (int, float)):
            raise OptionError(f"the share of {name} must be a number, not {share!r}")
        if not (isfinite(share) and 0 < share <= 1):
            raise OptionError(f"the share of {name} is {share}; it must be above 0 and at most 1")
    total = sum(shares.values())
    if total > 1 + 1e-9:
        raise OptionError(f"the shares add up to {total:g}; they must add up to at most 1")
    all_shares = list(shares.values())
    left = 1 - total
    if left > 1e-9:
        all_shares.append(left)
    return all_shares


def connected_groups(
    corpus: Corpus, attributes: Sequence[str], separator: str | None = None
) -> list[list[int]]:
    """Return the places of pairs that share a value, directly or through other pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(corpus):
        return []
    # the edges of a graph of pairs: each pair is joined with the first one that shares a value
    firsts: list[int] = []
    seconds: list[int] = []
    # where the pair with an id is, or its first rewrite if it is missing
    place_of = {pair.id: k for k, pair in enumerate(corpus)}
    first_with: dict[tuple[str, str], int] = {}  # by attribute and value
    for k, pair in enumerate(corpus):
        if (origin := origin_of(pair)) is not None:
            firsts.append(place_of.setdefault(origin, k))
            seconds.append(k)
        for name in attributes:
            for value in group_values(pair, name, separator):
                firsts.append(first_with.setdefault((name, value), k))
                seconds.append(k)
    size = len(corpus)
    graph = coo_array(([1] * len(firsts), (firsts, seconds)), shape=(size, size))
    _, group_of = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = {}
    for k, group in enumerate(group_of.tolist()):
        groups.setdefault(group, []).append(k)
    return list(groups.values())


def _divided_pairs(strata: list[int], shares: list[float], rng: np.random.Generator) -> list[int]:
    """Return the part of each pair, if every pair can go into any part.

    `strata` has the stratum of each pair.
    """
    from alignkit.corpora.apportioning import divide_evenly

    members: dict[int, list[int]] = {}
    for k, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(k)
    # how fractions are rounded depends on the strata before, so their order is random
    in_order = list(members.values())
    shuffled = [in_order[h] for h in rng.permutation(len(members))]
    sizes = [len(places) for places in shuffled]
    parts = [0] * len(strata)
    for places, counts in zip(shuffled, divide_evenly(sizes, shares), strict=True):
        drawn = iter(rng.permutation(places).tolist())
        for part, count in enumerate(counts):
            for k in islice(drawn, count):  # the next ones
                parts[k] = part
    return parts


def _divided_groups(
    groups: list[list[int]], strata: list[int], shares: list[float], rng: np.random.Generator
) -> list[int]:
    """Return the part of each pair, if groups are kept together.

    `groups` has the places of the pairs of each group, `strata` the stratum of each pair.
    """
    import numpy as np

    from alignkit.corpora.apportioning import divide_groups

    # the largest strata have a column of their own, the others one together
    counts = np.bincount(strata)
    largest = np.argsort(-counts, kind="stable")[:_MOST_STRATA]
    large = largest[counts[largest] >= len(shares)]
    column_of_stratum = np.full(len(counts), len(large))
    column_of_stratum[large] = range(len(large))
    column_of_pair = column_of_stratum[strata]
    # sizes[g, c]: how many pairs of group g are in the strata of column c
    sizes = np.zeros((len(groups), column_of_pair.max() + 1), np.int64)
    for group, places in enumerate(groups):
        np.add.at(sizes[group], column_of_pair[places], 1)
    part_of_group = divide_groups(sizes, shares, rng).tolist()
    parts = [0] * len(strata)
    for places, part in zip(groups, part_of_group, strict=True):
        for k in places:
            parts[k] = part
    return parts
