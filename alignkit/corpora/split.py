"""Divide a corpus at random by shares, select pairs, and find leaks between parts.

On request, strata have equal shares in all parts, and groups of pairs are kept together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from math import isfinite
from typing import TYPE_CHECKING

from alignkit._support.arguments import check_arguments, naming_keywords
from alignkit._support.wording import how_many
from alignkit.errors import OptionError, UnknownIdError
from alignkit.model.corpus import TEXTS, Corpus, compared_texts, group_texts, group_values
from alignkit.model.sentence_pair import REWRITE_OF, SentencePair, origin_of
from alignkit.stats.defaults import SEED

if TYPE_CHECKING:
    import numpy as np

GROUPS = ("goeswith", "document", "entity", "original")
"""The attributes that usually name pairs which belong together."""
EQUAL = "equal"
REVERSED = "reversed"
GROUPED = "grouped"
KINDS = (EQUAL, REVERSED, GROUPED)
"""The kinds of leaks."""

_Texts = tuple[tuple[str, ...], tuple[str, ...]]
_COLUMNS = 100  # strata that are looked at where groups stay whole


class Parts(dict[str, Corpus]):
    """The parts of a corpus by name; `meant` are attributes that were divided on purpose."""

    meant: tuple[str | None, ...] = ()
    separator: str | None = None

    @property
    def cautions(self) -> list[str]:
        """Warnings about leaks: groups, rewrites and their pairs, equal pairs in several parts."""
        cautions = []
        for name in GROUPS:
            if name in self.meant:
                continue
            values = partial(group_values, attribute=name, separator=self.separator)
            if count := self._divided(values):
                cautions.append(
                    f"{how_many(count, 'value')} of {name} in several parts; "
                    f"`keep_together={name!r}` prevents this"
                )
        pairs = list(chain.from_iterable(self.values()))
        origins = {origin_of(pair) for pair in pairs} - {None}
        homes = self._divided(lambda pair: {origin_of(pair) or pair.id} & origins)
        if homes and not cautions:
            cautions.append(
                f"{how_many(homes, 'pair')} in another part than their rewrites; "
                f"`keep_together={REWRITE_OF!r}` prevents this"
            )
        return cautions + self._repetitions(pairs)

    def _repetitions(self, pairs: Sequence[SentencePair]) -> list[str]:
        """Return a caution for each part that has equal or reversed pairs of earlier parts."""
        cautions = []
        before = 0
        for number, (name, part) in enumerate(self.items()):
            leaks = find_leaks(Corpus(pairs[:before]), part, ())
            before += len(part)
            if count := sum(leak.kind != GROUPED for leak in leaks):
                where = "an earlier part" if number > 1 else next(iter(self))
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
    numbers: dict[str, int] = {}
    strata = [numbers.setdefault(value, len(numbers)) for value in values]
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
    divided.meant = (*together, stratify)
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
    homes = {pair.id: k for k, pair in enumerate(corpus)}
    holders: dict[tuple[str, str], int] = {}
    for k, pair in enumerate(corpus):
        if (origin := origin_of(pair)) is not None:
            # of rewrites: their pair, or the first of its rewrites without it
            firsts.append(homes.setdefault(origin, k))
            seconds.append(k)
        for name in attributes:
            for value in group_values(pair, name, separator):
                firsts.append(holders.setdefault((name, value), k))
                seconds.append(k)
    size = len(corpus)
    graph = coo_array(([1] * len(firsts), (firsts, seconds)), shape=(size, size))
    _, numbers = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = {}
    for k, number in enumerate(numbers.tolist()):
        groups.setdefault(number, []).append(k)
    return list(groups.values())


def _divided_pairs(strata: list[int], shares: list[float], rng: np.random.Generator) -> list[int]:
    """Return the part of each pair, if every pair can go into any part."""
    from alignkit.corpora.apportioning import divide_evenly

    members: dict[int, list[int]] = {}
    for k, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(k)
    each_stratum = list(members.values())
    mixed = [each_stratum[h] for h in rng.permutation(len(members))]
    sizes = [len(places) for places in mixed]
    parts = [0] * len(strata)
    for places, counts in zip(mixed, divide_evenly(sizes, shares), strict=True):
        order = iter(rng.permutation(places).tolist())
        for part, count in enumerate(counts):
            for k in islice(order, count):
                parts[k] = part
    return parts


def _divided_groups(
    groups: list[list[int]], strata: list[int], shares: list[float], rng: np.random.Generator
) -> list[int]:
    """Return the part of each pair, if groups are kept together."""
    import numpy as np

    from alignkit.corpora.apportioning import divide_groups

    # the largest strata have a column of their own, the others one together
    counts = np.bincount(strata)
    order = np.argsort(-counts, kind="stable")[:_COLUMNS]
    large = order[counts[order] >= len(shares)]
    numbers = np.full(len(counts), len(large))
    numbers[large] = range(len(large))
    columns = numbers[strata]
    sizes = np.zeros((len(groups), columns.max() + 1), np.int64)
    for number, places in enumerate(groups):
        np.add.at(sizes[number], columns[places], 1)
    part_of_group = divide_groups(sizes, shares, rng).tolist()
    parts = [0] * len(strata)
    for places, part in zip(groups, part_of_group, strict=True):
        for k in places:
            parts[k] = part
    return parts


@dataclass(frozen=True, slots=True)
class Leak:
    """A pair of the second part that also occurs in the first."""

    kind: str
    train: str  # the ids of both pairs; of the first part, the first such
    test: str
    group: str = ""  # attribute and value of the group, as goeswith=x
    also: tuple[str, ...] = ()  # the further groups of the pair that the first part has


def find_leaks(
    train: Corpus,
    test: Corpus,
    groups: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    ignore_case: bool = False,
) -> list[Leak]:
    """Return the pairs that the second part shares with the first."""
    check_arguments(find_leaks, locals())
    for name in groups or ():
        group_texts([*train, *test], name)  # refuses one that no pair has
    groups = GROUPS if groups is None else groups
    one_corpus = not {pair.id for pair in train} & {pair.id for pair in test}
    texts: dict[_Texts, str] = {}
    named: dict[str, str] = {}
    for pair in train:
        if (key := compared_texts(pair, ignore_case=ignore_case)) is not None:
            texts.setdefault(key, pair.id)
        for name in _groups(pair, groups, separator, origin=one_corpus):
            named.setdefault(name, pair.id)
    leaks: list[Leak] = []
    for pair in test:
        if (key := compared_texts(pair, ignore_case=ignore_case)) is not None:
            reversed_key = key[::-1]
            if key in texts:
                leaks.append(Leak(EQUAL, texts[key], pair.id))
            elif reversed_key in texts:
                leaks.append(Leak(REVERSED, texts[reversed_key], pair.id))
        names = _groups(pair, groups, separator, origin=one_corpus)
        shared = [name for name in names if name in named]
        if shared:
            group, *also = shared
            leaks.append(Leak(GROUPED, named[group], pair.id, group, tuple(also)))
    return leaks


def shared_texts(train: Corpus, test: Corpus, *, ignore_case: bool = False) -> set[str]:
    """Return the ids of pairs of the second part with a text, on any side, of the first."""
    known: set[tuple[str, ...]] = set()
    for pair in train:
        known.update(compared_texts(pair, ignore_case=ignore_case) or ())
    known.discard(())  # empty texts are not shared
    shared = set()
    for pair in test:
        texts = compared_texts(pair, ignore_case=ignore_case) or ()
        if not known.isdisjoint(texts):
            shared.add(pair.id)
    return shared


def _groups(
    pair: SentencePair, attributes: Iterable[str], separator: str | None, *, origin: bool
) -> list[str]:
    """Return the groups of a pair, as goeswith=x; with `origin`, also that of its rewrites."""
    names = []
    for attribute in attributes:
        names += [f"{attribute}={value}" for value in group_values(pair, attribute, separator)]
    if origin:
        names.append(f"{REWRITE_OF}={origin_of(pair) or pair.id}")
    return list(dict.fromkeys(names))
