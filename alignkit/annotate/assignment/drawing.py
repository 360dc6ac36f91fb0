"""Draw whose pairs are whose, in what order, and who sees suggestions: all of it by a seed.

What is drawn of a pair follows from the seed and its id alone, or from counts of what was drawn
before; so rows that are there stay when pairs or annotators come, and new ones are added.

Definitions
-----------
trial
    Pairs that all annotate first; by strata, and in no arm.
double
    The share of the other pairs that two annotate: in each stratum that share, rounded up or down.
control
    A share of the pairs, and no fewer than a least number (or all), by strata of length and
    uncertainty, of those that several annotate as long as there are some. Two of three of these are
    ``split``: a coin says which half of the annotators sees no suggestions; one of three is
    ``bare``: nobody sees any. Those that one annotates are ``coin``: a coin decides. By comparing
    within a pair, some hundred pairs tell what takes several times as many between pairs.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from alignkit.annotate.project.fold import Assigned, AssignmentPlan
from alignkit.annotate.project.names import ProjectError
from alignkit.corpora.split import divide_evenly

MEASURES = ("length", "uncertainty")
CONTROL = MEASURES
"""What the control sample is stratified by."""

_PARTS = 3
_NAMES = {"length": ("short", "middle", "long"), "uncertainty": ("certain", "middle", "doubtful")}
Cuts = Mapping[str, Sequence[float]]
Stratum = tuple[str, ...]


class StratifiedPair(NamedTuple):
    """What of a pair matters for its assignment."""

    k: int  # its number and its id
    id: str
    length: int  # how many words both sides have
    doubt: float | None
    attributes: Mapping[str, str]  # its attributes


def doubt_of(n: int, m: int, cells: Iterable[tuple[int, int, float | None, int]]) -> float:
    """Return what suggestions leave open, from 0 to 1: the mean over words of their doubt.

    Examples
    --------
    >>> doubt_of(2, 1, [(0, 0, 0.75, 2), (1, 0, 0.9, 2)])  # .5 and .2; .5
    0.4
    """
    doubts: dict[tuple[int, int], float] = {}
    for i, j, p, _ in cells:
        doubt = 0.0 if p is None else 1 - abs(2 * p - 1)
        for word in ((0, i), (1, j)):
            if word[1] >= 0:
                doubts[word] = max(doubt, doubts.get(word, 0.0))
    return round(sum(doubts.values()) / (n + m), 9) if n + m else 0.0


def cuts_of(values: Iterable[float]) -> tuple[float, ...]:
    """Return where values part into thirds; fewer cuts where many are equal.

    Examples
    --------
    >>> cuts_of([1, 2, 3, 4, 5, 6]), cuts_of([2, 2, 2])
    ((3.0, 5.0), ())
    """
    ordered = sorted(values)
    if not ordered:
        return ()
    places = [len(ordered) * part // _PARTS for part in range(1, _PARTS)]
    cuts = sorted({float(ordered[place]) for place in places})
    return tuple(cut for cut in cuts if cut > ordered[0])


def stratum_of(item: StratifiedPair, names: Iterable[str], cuts: Cuts) -> Stratum:
    """Return in which stratum a pair is: for each measure its part, for each attribute its value.

    Examples
    --------
    >>> item = StratifiedPair(1, "a", 12, None, {"genre": "news"})
    >>> stratum_of(item, ("length", "genre"), {"length": (10.0, 20.0)})
    ('1', 'news')
    """
    return tuple(_part(item, name, cuts) for name in names)


def _part(item: StratifiedPair, name: str, cuts: Cuts) -> str:
    if name not in MEASURES:
        return item.attributes.get(name, "")
    value = item.length if name == "length" else item.doubt
    return "" if value is None else str(bisect_right(cuts.get(name, ()), value))


def named_stratum(stratum: Stratum, names: Sequence[str], cuts: Cuts) -> str:
    """Return a stratum in words.

    Examples
    --------
    >>> named_stratum(("1", "news"), ("length", "genre"), {"length": (10.0, 20.0)})
    'middle, 10 to 19; genre news'
    """
    parts = []
    for part, name in zip(stratum, names, strict=True):
        if name not in MEASURES:
            parts.append(f"{name} {part or '-'}")
        elif not part:
            parts.append(f"no {name}")
        else:
            parts.append(_named_part(int(part), name, list(cuts.get(name, ()))))
    return "; ".join(parts) or "all"


def _named_part(part: int, name: str, cuts: list[float]) -> str:
    if not cuts:
        return f"any {name}"
    # two parts are the outer ones
    word = _NAMES[name][part if len(cuts) == _PARTS - 1 or part == 0 else _PARTS - 1]
    step = 1 if name == "length" else 0
    if part == 0:
        return f"{word}, below {cuts[0]:.3g}"
    if part == len(cuts):
        return f"{word}, from {cuts[-1]:.3g}"
    return f"{word}, {cuts[part - 1]:.3g} to {cuts[part] - step:.3g}"


_BARE = 3  # one of so many in the control sample is bare


class DrawnPairs(NamedTuple):
    """The plan with the cuts of its strata, and the rows that are new."""

    plan: AssignmentPlan
    rows: list[Assigned]


def draw(
    items: Sequence[StratifiedPair],
    plan: AssignmentPlan,
    assigned: Iterable[Assigned] = (),
    begun: Collection[tuple[int, str]] = (),
) -> DrawnPairs:
    """Assign pairs to annotators by a plan."""
    cuts = dict(plan.cuts)
    doubts = [item.doubt for item in items if item.doubt is not None]
    for name, values in zip(MEASURES, ([item.length for item in items], doubts), strict=True):
        if name not in cuts and values:
            cuts[name] = cuts_of(values)  # type: ignore[arg-type]
    plan = replace(plan, cuts=cuts)
    drawing = _Drawing(items, plan, assigned, begun)
    drawing.choose_trial()
    drawing.choose_annotators()
    drawing.choose_arms()
    return DrawnPairs(plan, drawing.rows())


class _Drawing:
    """What is assigned, and what is being added to it."""

    def __init__(
        self,
        items: Sequence[StratifiedPair],
        plan: AssignmentPlan,
        assigned: Iterable[Assigned],
        begun: Collection[tuple[int, str]],
    ) -> None:
        self.plan, self.items = plan, {item.k: item for item in items}
        self._names = _unrepeated(items)
        self.had: dict[int, dict[str, Assigned]] = {}
        for row in assigned:
            self.had.setdefault(row.k, {})[row.annotator] = row
        self.trial = {k for k, rows in self.had.items() if any(r.trial for r in rows.values())}
        self.added: defaultdict[int, list[str]] = defaultdict(list)
        self.begun: set[int] = set()
        for k, name in sorted(begun):
            if name in plan.annotators and k in self.items and name not in self.had.get(k, {}):
                self.begun.add(k)
                self.added[k].append(name)
        self.arms: dict[int, str] = {}
        self.strata = {k: self.stratum(k, plan.stratify) for k in self.items}

    def stratum(self, k: int, names: Sequence[str]) -> Stratum:
        return stratum_of(self.items[k], names, self.plan.cuts)

    def number(self, purpose: str, k: int, *more: str) -> int:
        """Return a number that follows from the seed and the id of a pair alone."""
        return self._hash(purpose, self._names[k], *more)

    def _hash(self, *words: str) -> int:
        text = "\n".join((str(self.plan.seed), *words))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")

    def shuffled(self, strata: Iterable[Stratum], purpose: str) -> list[Stratum]:
        """Return strata in an order drawn by the seed, which decides the rounding."""
        return sorted(strata, key=lambda key: (self._hash(purpose, *map(str, key)), key))

    def holders(self, k: int) -> list[str]:
        """Return the annotators who have a pair or are being given it."""
        return [*self.had.get(k, ()), *self.added.get(k, ())]

    def by_strata(
        self, numbers: Iterable[int], count: int, names: Sequence[str], purpose: str
    ) -> list[int]:
        """Draw `count` pairs by their hash, the same share of each stratum."""
        groups: defaultdict[Stratum, list[int]] = defaultdict(list)
        for k in numbers:
            groups[self.stratum(k, names)].append(k)
        total = sum(map(len, groups.values()))
        if not count or not total:
            return []
        drawn = []
        for group, wanted in self._shares(groups, purpose, min(count / total, 1.0)):
            drawn += sorted(group, key=lambda k: (self.number(purpose, k), k))[:wanted]
        return drawn

    def _shares(
        self, groups: Mapping[Stratum, list[int]], purpose: str, share: float
    ) -> list[tuple[list[int], int]]:
        """Return the pairs of each stratum, with how many of them make its share."""
        ordered = [groups[key] for key in self.shuffled(groups, purpose)]
        counts = divide_evenly([len(group) for group in ordered], [share, 1 - share])
        return [(group, wanted) for group, (wanted, _) in zip(ordered, counts, strict=True)]

    def choose_trial(self) -> None:
        """Draw the trial set, unless it was drawn before, and give it to all who lack it."""
        if not self.had:
            free = [k for k in self.items if k not in self.begun]
            if self.plan.trial and self.items and not free:
                raise ProjectError(
                    "somebody who is named has annotated or begun each pair, so that none can be "
                    "a trial that all do first; leave out --trial"
                )
            wanted = min(self.plan.trial, len(free))
            self.trial = set(self.by_strata(free, wanted, self.plan.stratify, "trial"))
        for k in sorted(self.trial):
            self._add_all(k)

    def _add_all(self, k: int) -> None:
        held = self.holders(k)
        self.added[k] += [name for name in self.plan.annotators if name not in held]

    def choose_annotators(self) -> None:
        """Give each pair that is not of the trial set to as many as the plan says."""
        rest = [k for k in self.items if k not in self.trial]
        if self.plan.double is None:
            for k in rest:
                self._add_all(k)
            return
        twice = self._twice(rest)
        deal = _Deal(self, rest)
        by_stratum = sorted(rest, key=lambda k: (self.strata[k], self.number("who", k), k))
        for k in [k for k in by_stratum if k in twice]:
            deal.give(k, 2)
        for k in by_stratum:
            deal.give(k, 1)

    def _twice(self, rest: Sequence[int]) -> set[int]:
        groups: defaultdict[Stratum, list[int]] = defaultdict(list)
        for k in rest:
            groups[self.strata[k]].append(k)

        def reluctance(k: int) -> tuple[bool, bool, int, int]:
            return k in self.had, bool(self._arm_had(k)), self.number("double", k), k

        twice: set[int] = set()
        for group, wanted in self._shares(groups, "double", self.plan.double or 0.0):
            have = [k for k in group if len(self.holders(k)) > 1]
            free = sorted((k for k in group if len(self.holders(k)) < 2), key=reluctance)
            twice.update(have, free[: max(wanted - len(have), 0)])
        return twice

    def choose_arms(self) -> None:
        """Draw the control sample among pairs that nobody had before."""
        arms = Counter(arm for arm in map(self._arm_had, self.had) if arm)
        rest = [k for k in self.items if k not in self.trial and self.holders(k)]
        fresh = [k for k in rest if k not in self.had and k not in self.begun]
        sample = min(len(rest), max(round(self.plan.control * len(rest)), self.plan.least))
        wanted = (sample if self.plan.control > 0 else 0) - sum(arms.values())
        several = [k for k in fresh if len(self.holders(k)) > 1]
        once = [k for k in fresh if len(self.holders(k)) == 1]
        wanted = max(0, min(wanted, len(fresh)))
        chosen = self.by_strata(several, min(wanted, len(several)), CONTROL, "control")
        before = arms["split"] + arms["bare"]
        chosen.sort(key=lambda k: (self.stratum(k, CONTROL), self.number("arm", k), k))
        for count, k in enumerate(chosen, before):
            self.arms[k] = "bare" if count % _BARE == _BARE - 1 else "split"
        for k in self.by_strata(once, wanted - len(chosen), CONTROL, "control"):
            self.arms[k] = "coin"

    def _arm_had(self, k: int) -> str:
        return next((row.arm for row in self.had.get(k, {}).values() if row.arm), "")

    def _shown(self, k: int, arm: str) -> dict[str, bool]:
        names = self.added[k]
        if arm in ("", "bare"):
            return dict.fromkeys(names, not arm)
        if arm == "coin" or k in self.had:
            return {name: bool(self.number("coin", k, name) & 1) for name in names}
        mixed = sorted(names, key=lambda name: (self.number("coin", k, name), name))
        odd = len(names) % 2 and self.number("half", k) & 1
        hidden = set(mixed[: len(names) // 2 + odd])
        return {name: name not in hidden for name in names}

    def rows(self) -> list[Assigned]:
        """Return the new rows, by annotator and place."""
        last = Counter[str]()
        for rows in self.had.values():
            for row in rows.values():
                last[row.annotator] = max(last[row.annotator], row.place)
        order = self._order()
        new: defaultdict[str, list[Assigned]] = defaultdict(list)
        for k in sorted(self.added, key=lambda k: (k not in self.trial, order[k])):
            arm = self.arms.get(k) or ("" if k in self.begun else self._arm_had(k))
            for name, shown in self._shown(k, arm).items():
                last[name] += 1
                new[name].append(Assigned(k, name, last[name], shown, arm, k in self.trial))
        return [row for name in self.plan.annotators for row in new[name]]

    def _order(self) -> Mapping[int, tuple[float, int, int]]:
        name = self.plan.order
        if name in ("hash", "uncertainty"):
            doubt = {k: item.doubt or 0.0 for k, item in self.items.items()}
            first = doubt if name == "uncertainty" else dict.fromkeys(self.items, 0.0)
            return {k: (-first[k], self.number("order", k), k) for k in self.items}
        places: dict[str, int] = {}
        for item in self.items.values():
            places.setdefault(item.attributes.get(name, ""), len(places))
        return {k: (places[i.attributes.get(name, "")], k, k) for k, i in self.items.items()}


class _Deal:
    """Deals pairs to the annotators with the fewest, and mixes who works with whom."""

    def __init__(self, drawing: _Drawing, rest: Sequence[int]) -> None:
        self._drawing = drawing
        self._loads = Counter[str]()
        self._together = Counter[frozenset[str]]()
        for k in rest:
            self._count(drawing.holders(k))

    def _count(self, names: Sequence[str], new: int = 0) -> None:
        for at in range(new, len(names)):
            self._loads[names[at]] += 1
            for other in names[:at]:
                self._together[frozenset((other, names[at]))] += 1

    def give(self, k: int, wanted: int) -> None:
        """Give a pair to annotators until `wanted` have it."""
        drawing = self._drawing
        held = drawing.holders(k)
        while len(held) < wanted and (
            free := [n for n in drawing.plan.annotators if n not in held]
        ):
            name = min(free, key=lambda name: self._rank(k, name, held))
            drawing.added[k].append(name)
            held.append(name)
            self._count(held, len(held) - 1)

    def _rank(self, k: int, name: str, held: Sequence[str]) -> tuple[int, int, int, str]:
        together = sum(self._together[frozenset((name, other))] for other in held)
        return self._loads[name], together, self._drawing.number("who", k, name), name


def _unrepeated(items: Iterable[StratifiedPair]) -> dict[int, str]:
    times = Counter[str]()
    names = {}
    for item in items:
        times[item.id] += 1
        again = times[item.id]
        names[item.k] = item.id if again == 1 else f"{item.id}\n{again}"
    return names
