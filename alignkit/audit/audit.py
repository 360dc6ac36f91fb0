"""An audit: the items to judge, where each comes from, and what follows from judgments.

What kind of thing is judged makes no difference here, nor to the sheets and to their reading: a
kind of audit is a module that draws an `Audit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from alignkit.audit.scale import Scale
from alignkit.errors import UnknownNameError
from alignkit.frozen import FrozenMap

_LETTERS = "bcdfghklmnprstvwxz"  # no vowels: a spreadsheet finds no month in it, and no number


@dataclass(frozen=True)
class Origin:
    """Where items come from; judges do not know it.

    Parameters
    ----------
    about
        What an item of it is, in words.
    population
        How many there are.
    drawn
        How many of them are judged.
    """

    about: str
    population: int
    drawn: int


@dataclass(frozen=True)
class Rate:
    """A rate that judgments correct: hits / total, where the rest of total are `origin`'s.

    With the share s of these that is judged right, the corrected rate is
    (hits + s (total - hits)) / total.

    Parameters
    ----------
    hits, total
        The counts behind the rate as it was scored.
    origin
        Where the total - hits others come from.
    strict, lenient
        Which judgments say that such a one is right, and which that it may be.
    """

    hits: int
    total: int
    origin: str
    strict: tuple[str, ...]
    lenient: tuple[str, ...]


@dataclass(frozen=True)
class Item:
    """One thing to judge.

    Parameters
    ----------
    id
        Its name on the sheets; tells nothing.
    origin
        A name among `Audit.origins`; stands in the key alone.
    cells
        What a judge sees, a text for each of `Audit.columns`.
    facts
        What else the key tells of it: which sentence pair, which words.
    judges
        Who is given it; empty: everybody.
    """

    id: str
    origin: str
    cells: tuple[str, ...]
    facts: FrozenMap[str, object]
    judges: tuple[str, ...] = ()

    def given_to(self, judge: str) -> bool:
        """Return whether a judge is given it."""
        return not self.judges or judge in self.judges


@dataclass(frozen=True, eq=False)
class Audit:
    """What is to be judged.

    Parameters
    ----------
    kind
        What the items are, ``"phrases"`` or ``"pairs"``.
    items
        In an order that is random, and says nothing of where each comes from.
    columns
        What a judge is shown of each.
    marked
        Those of the columns that are sentences; in the first of them marks stand around the text of
        the first other column, and so on.
    scale
        The judgments.
    origins
        By name.
    rates
        By name, what judgments correct.
    seed
        Of all draws.
    signature
        The settings behind it, in one line.
    judges
        Who is given items, where not everybody is given all.
    upheld
        The judgments that uphold an item, if that can be said: the share upheld of the first origin
        is compared with that of the second.
    by
        The attribute by whose values figures are told too, see `group`; empty: none.
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
        drawn = ", ".join(f"{one.drawn} {name}" for name, one in self.origins.items())
        return f"Audit({self.kind}, {len(self.items)} items: {drawn})"

    def of(self, origin: str) -> tuple[Item, ...]:
        """Return the items of an origin."""
        if origin not in self.origins:
            raise UnknownNameError("origin", origin, self.origins)
        return tuple(item for item in self.items if item.origin == origin)

    def groups(self, by: str) -> dict[str, Audit]:
        """Return the audit of the items of each value of an attribute, in the values' order."""
        texts = [_attributes(item).get(by) for item in self.items]
        if all(text is None for text in texts):
            known = dict.fromkeys(name for item in self.items for name in _attributes(item))
            raise UnknownNameError("attribute in the key", by, known)
        items: dict[str, list[Item]] = {}
        for item, text in zip(self.items, texts, strict=True):
            items.setdefault(text or "", []).append(item)
        return {value: replace(self, items=tuple(items[value])) for value in sorted(items)}


def _attributes(item: Item) -> dict[str, str]:
    attributes = item.facts.get("attributes", {})
    within = attributes if isinstance(attributes, dict) else {}
    told = {**within, **item.facts}
    return {name: text for name, text in told.items() if isinstance(text, str)}


def item_ids(told: Sequence[Mapping[str, object]], signature: str) -> list[str]:
    """Return a name for each item, in order: letters that tell this audit from others, a number."""
    digest = sha256(repr([signature, [sorted(one.items()) for one in told]]).encode()).digest()
    code = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:4])
    width = max(3, len(str(len(told))))
    return [f"{code}{number:0{width}d}" for number in range(1, len(told) + 1)]
