"""An audit: the items to judge, where each comes from, and which rates judgments correct.

This module, the sheets and their reading do not depend on the kind of items: a kind of audit is a
module that draws an `Audit`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import TypeVar

import numpy as np

from alignkit._support.arguments import check_attributes, check_known
from alignkit._support.array_types import I8
from alignkit._support.values import FrozenMap
from alignkit.errors import FormatError, OptionError, UnknownNameError

T = TypeVar("T")


@dataclass(frozen=True)
class Scale:
    """The judgments of an audit, in their order.

    Parameters
    ----------
    names : Two or more names; they must differ in more than case.
    meanings : The meaning of each name, a word that judges may also write; empty if the name is
        enough.

    Raises
    ------
    OptionError : If there are fewer than two names, two are alike, or the number of meanings
        differs.

    Examples
    --------
    >>> CORRECTNESS.letters
    ('c', 'u', 'i')
    >>> CORRECTNESS.parse(" U "), CORRECTNESS.parse("Correct"), CORRECTNESS.parse("")
    ('uncertain', 'correct', '')
    """

    names: tuple[str, ...]
    meanings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_attributes(self)
        folded = [name.strip().casefold() for name in self.names]
        if len(folded) < 2 or "" in folded or len(set(folded)) < len(folded):
            raise OptionError(f"judgments are {self.names}; give two or more different names")
        meant = [*folded, *(text.strip().casefold() for text in self.meanings if text)]
        if len(set(meant)) < len(meant) or len(self.meanings) not in (0, len(self.names)):
            raise OptionError(f"judgments {self.names} mean {self.meanings}; give one for each")

    @property
    def letters(self) -> tuple[str, ...]:
        """The short form of each name: its first letter if unique, else the name."""
        first = [name[0].casefold() for name in self.names]
        both = zip(self.names, first, strict=True)
        return tuple(name if first.count(letter) > 1 else letter for name, letter in both)

    def parse(self, text: str) -> str:
        """Return the judgment for a text: its name, meaning or letter, in any case.

        Empty text means no judgment and returns empty text.

        Examples
        --------
        >>> from alignkit.audit import Scale
        >>> Scale(("correct", "uncertain", "incorrect")).parse("C")
        'correct'
        """
        wanted = text.strip().casefold()
        if not wanted:
            return ""
        for forms in (self.names, self.meanings or self.names, self.letters):
            for name, form in zip(self.names, forms, strict=True):
                if wanted == form.casefold():
                    return name
        problem = f"unknown judgment {text.strip()[:40]!r}; expected {self.words()}, or nothing"
        raise FormatError(problem)

    def words(self) -> str:
        """Return the names with their letters or meanings, for a message.

        Examples
        --------
        >>> from alignkit.audit import Scale
        >>> Scale(("correct", "uncertain", "incorrect")).words()
        'correct (c), uncertain (u), incorrect (i)'
        """
        meanings = self.meanings or self.letters
        listed = []
        for name, letter, meaning in zip(self.names, self.letters, meanings, strict=True):
            other = meaning or letter
            listed.append(name if other == name else f"{name} ({other})")
        return ", ".join(listed)

    def place(self, name: str) -> int:
        """Return the place of a judgment in the scale.

        Examples
        --------
        >>> from alignkit.audit import Scale
        >>> Scale(("correct", "uncertain", "incorrect")).place("uncertain")
        1
        """
        return self.names.index(name)


CORRECTNESS = Scale(("correct", "uncertain", "incorrect"))
"""The judgments of a phrase pair in the context of its two sentences."""


def allot(wanted: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return how many to take from each group: equal numbers, or all of a smaller group."""
    left = min(wanted, sum(sizes.values()))
    counts = dict.fromkeys(sizes, 0)
    while left:
        open_groups = [name for name, size in sizes.items() if counts[name] < size]
        step = max(1, left // len(open_groups))
        for name in open_groups[:left]:
            more = min(step, sizes[name] - counts[name])
            counts[name] += more
            left -= more
    return counts


def spread(strata: Sequence[object], count: int, rng: np.random.Generator) -> I8:
    """Return the (count,) places of a random sample, spread over strata."""
    total = len(strata)
    if not count:
        return np.zeros(0, np.int64)
    names = {name: k for k, name in enumerate(sorted(set(strata)))}  # type: ignore[type-var]
    codes = np.array([names[name] for name in strata], np.int64)
    shuffled = rng.permutation(total)
    ordered = shuffled[np.argsort(codes[shuffled], kind="stable")]
    # whole numbers: a step of total / count, from a beginning that is one of `total` parts of it
    places = (np.arange(count) * total + int(rng.integers(total))) // count
    chosen: I8 = ordered[places]
    return chosen


def draw(
    pools: Mapping[str, Sequence[T]],
    counts: Mapping[str, int],
    stratum: Callable[[T], object],
    rng: np.random.Generator,
) -> list[tuple[str, T]]:
    """Draw from each origin, spread over its strata; return origins and items in random order."""
    drawn: list[tuple[str, T]] = []
    for origin, pool in pools.items():
        strata = [stratum(item) for item in pool] if counts[origin] else []
        drawn += [(origin, pool[k]) for k in spread(strata, counts[origin], rng).tolist()]
    return [drawn[k] for k in rng.permutation(len(drawn))]


def assigned(
    judges: Sequence[str],
    each: int,
    barred: Sequence[Collection[str]],
    familiar: Sequence[Collection[str]],
    origins: Sequence[str],
    rng: np.random.Generator,
) -> list[tuple[str, ...]]:
    """Return the judges of each item, in their order.

    Items with the fewest possible judges choose first. Each takes those who are not familiar with
    it, then those with the fewest items of its origin, then those with the fewest items; by lot if
    all that is equal.
    """
    possible = [[name for name in judges if name not in known] for known in barred]
    short = sum(len(names) < each for names in possible)
    if short:
        raise OptionError(
            f"{short} of {len(possible)} pairs drawn cannot be given to {each} of "
            f"{', '.join(judges)}: too many of them already judged or wrote the pair; name "
            "other judges"
        )
    of_origin: Counter[tuple[str, str]] = Counter()  # the items of each judge, by origin
    of_all: Counter[str] = Counter()
    given: list[tuple[str, ...]] = [()] * len(possible)
    shuffled = rng.permutation(len(possible)).tolist()
    for k in sorted(shuffled, key=lambda k: len(possible[k])):
        origin = origins[k]
        lots = dict(zip(judges, rng.permutation(len(judges)).tolist(), strict=True))
        ranks = {}
        for name in possible[k]:
            counts = (of_origin[name, origin], of_all[name])
            ranks[name] = (name in familiar[k], *counts, lots[name])
        chosen = sorted(possible[k], key=lambda name: ranks[name])[:each]
        of_origin.update((name, origin) for name in chosen)
        of_all.update(chosen)
        given[k] = tuple(name for name in judges if name in chosen)
    return given


_LETTERS = "bcdfghklmnprstvwxz"  # no vowels: a spreadsheet finds no month in it, and no number


@dataclass(frozen=True)
class Origin:
    """The origin of items, which judges do not know.

    Part of `Audit.origins`.

    Parameters
    ----------
    about : A description of its items.
    population : The number of items that exist.
    drawn : The number of items drawn for judges.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> origin = audit.origins["hypothesis"]
    >>> origin.population, origin.drawn
    (151, 2)
    """

    about: str
    population: int
    drawn: int


@dataclass(frozen=True)
class Rate:
    """A rate that judgments correct: hits / total; the other items are from `origin`.

    If the share s of these is judged right, the corrected rate is
    (hits + s (total - hits)) / total.

    Part of `Audit.rates`.

    Parameters
    ----------
    hits, total : The counts behind the scored rate.
    origin : The origin of the other total - hits items.
    strict, lenient : The judgments that make such an item right, and those that make it possibly
        right.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> rate = audit.rates["precision"]
    >>> rate.hits, rate.total, rate.origin, rate.strict
    (45, 196, 'hypothesis', ('correct',))
    """

    hits: int
    total: int
    origin: str
    strict: tuple[str, ...]
    lenient: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """One thing to judge.

    Part of `Audit.items`.

    Parameters
    ----------
    id : Its name on the sheets; it says nothing about the item.
    origin : A name in `Audit.origins`; only the key has it.
    cells : The texts that a judge sees, one for each of `Audit.columns`.
    facts : Other facts for the key: the sentence pair, the words.
    judges : The judges of the item; empty for everybody.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> item = audit.items[0]
    >>> dict(zip(audit.columns, item.cells))["source"], item.origin
    ('difference between a stoat and', 'reference')
    """

    id: str
    origin: str
    cells: tuple[str, ...]
    facts: FrozenMap[str, object]
    judges: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The sentence pair of the item, of a rewrite its original; items of a unit are alike."""
        facts = self.facts
        return str(facts.get("rewrite_of") or facts.get("pair") or self.id)

    def given_to(self, judge: str) -> bool:
        """Return whether a judge gets the item.

        Examples
        --------
        >>> from alignkit import read_corpus
        >>> from alignkit.audit import draw_phrases
        >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
        >>> audit.items[0].given_to("anna")
        True
        """
        return not self.judges or judge in self.judges


@dataclass(frozen=True, eq=False)
class Audit:
    """The items to judge, and all about them.

    Returned by `draw_phrases` and `draw_pairs`.

    Parameters
    ----------
    kind : The kind of items, ``"phrases"`` or ``"pairs"``.
    items : The items in random order, independent of their origins.
    columns : The columns that a judge sees.
    marked : The columns with sentences. In the first of them, marks surround the text of the first
        other column, and so on.
    scale : The judgments.
    origins : The origins by name.
    rates : The rates that judgments correct, by name.
    seed : The seed of all draws.
    signature : The settings in one line.
    judges : The judges, if not everybody gets all items.
    upheld : The judgments that uphold an item, if there are any: the upheld share of the first
        origin is compared with that of the second.
    by : The attribute for figures by group, see `groups`; empty for none.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> from alignkit.audit import draw_phrases
    >>> audit = draw_phrases(read_corpus("samples/paraphrases.jsonl"), "eflomal", "gold", n=4)
    >>> audit
    Audit(phrases, 4 items: 2 hypothesis, 2 reference, 0 both)
    >>> audit.scale.names, len(audit.of("hypothesis"))
    (('correct', 'uncertain', 'incorrect'), 2)
    """

    kind: str
    items: tuple[Item, ...]
    columns: tuple[str, ...]
    marked: tuple[str, ...]
    scale: Scale
    origins: FrozenMap[str, Origin]
    rates: FrozenMap[str, Rate]
    seed: int
    signature: str
    judges: tuple[str, ...] = ()
    upheld: tuple[str, ...] = ()
    by: str = ""

    def __repr__(self) -> str:
        drawn = ", ".join(f"{origin.drawn} {name}" for name, origin in self.origins.items())
        return f"Audit({self.kind}, {len(self.items)} items: {drawn})"

    def of(self, origin: str) -> tuple[Item, ...]:
        """Return the items from an origin.

        Examples
        --------
        >>> from alignkit import read_corpus
        >>> from alignkit.audit import draw_phrases
        >>> corpus = read_corpus("samples/paraphrases.jsonl")
        >>> [item.origin for item in draw_phrases(corpus, "eflomal", "gold", n=4).of("hypothesis")]
        ['hypothesis', 'hypothesis']
        """
        check_known("origin", origin, self.origins)
        return tuple(item for item in self.items if item.origin == origin)

    def groups(self, by: str) -> dict[str, Audit]:
        """Return an audit for each value of an attribute, in the order of the values."""
        texts = [_attributes(item).get(by) for item in self.items]
        if all(text is None for text in texts):
            known = dict.fromkeys(chain.from_iterable(map(_attributes, self.items)))
            raise UnknownNameError("attribute in the key", by, known)
        items: dict[str, list[Item]] = {}
        for item, text in zip(self.items, texts, strict=True):
            items.setdefault(text or "", []).append(item)
        return {value: replace(self, items=tuple(items[value])) for value in sorted(items)}


def _attributes(item: Item) -> dict[str, str]:
    """Return the facts of an item that are texts, and the attributes of its pair."""
    attributes = item.facts.get("attributes")
    if not isinstance(attributes, dict):
        attributes = {}
    known = {**attributes, **item.facts}
    return {name: text for name, text in known.items() if isinstance(text, str)}


def item_ids(facts: Sequence[Mapping[str, object]], signature: str) -> list[str]:
    """Return a name for each item, in order: letters that identify the audit, and a number."""
    identity = repr([signature, [sorted(fact.items()) for fact in facts]])
    digest = sha256(identity.encode()).digest()
    code = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:4])
    width = max(3, len(str(len(facts))))
    return [f"{code}{number:0{width}d}" for number in range(1, len(facts) + 1)]
