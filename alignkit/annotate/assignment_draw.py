"""Draw who gets which pairs, in what order, and who sees suggestions.

Everything is drawn from a seed. The draw for a pair depends only on the seed and its id, or on
counts of earlier draws. So existing rows stay unchanged when pairs or annotators are added.

Definitions
-----------
row
    A pair that an annotator has: `Assigned`.
trial
    Pairs that all annotate first; drawn by strata, and in no arm.
double
    The share of the other pairs that two annotate; the same in each stratum, up to rounding.
each
    How many annotate each of the other pairs, instead of `double`.
control
    The share of the pairs in the control sample, in which suggestions are hidden from some, to
    measure their influence. It has at least `least` pairs (or all), drawn by strata of length and
    uncertainty, first from pairs that several annotate.
arm
    How suggestions of a pair of the control sample are hidden. Of the pairs that several annotate,
    two of three are ``split``: a coin decides which half of the annotators sees no suggestions; one
    of three is ``bare``: nobody sees any. A pair that one annotator has is ``coin``: a coin
    decides.

A comparison within split pairs needs some hundred pairs. One between coin pairs needs several times
as many.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Assigned, AssignmentPlan
from alignkit.annotate.strata import (
    CONTROL,
    MEASURES,
    StratifiedPair,
    StratumKey,
    cuts_of,
    stratum_of,
)
from alignkit.corpora.apportioning import divide_evenly


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
    """Assign pairs to annotators by a plan.

    `assigned` are the present rows, `begun` all pairs and annotators with work, also without a row.
    """
    lengths = [float(item.length) for item in items]
    doubts = [item.doubt for item in items if item.doubt is not None]
    measured = zip(MEASURES, (lengths, doubts), strict=True)
    cuts = {name: cuts_of(values) for name, values in measured if values}
    plan = replace(plan, cuts=cuts | plan.cuts)
    drawing = _Drawing(items, plan, assigned, begun)
    drawing.choose_trial()
    drawing.choose_annotators()
    drawing.choose_arms()
    return DrawnPairs(plan, drawing.rows())


class _Loads:
    """How many pairs each annotator has, and how many every two have both."""

    def __init__(self) -> None:
        self.pairs = Counter[str]()
        self._together = Counter[frozenset[str]]()

    def add(self, name: str, others: Iterable[str]) -> None:
        """Count a pair of an annotator that some others have, too."""
        self.pairs[name] += 1
        self._together.update(frozenset((name, other)) for other in others)

    def shared(self, name: str, others: Iterable[str]) -> int:
        """Return how many pairs an annotator has together with some others."""
        return sum(self._together[frozenset((name, other))] for other in others)


class _Drawing:
    """The assignment so far, and the rows to add."""

    def __init__(
        self,
        items: Sequence[StratifiedPair],
        plan: AssignmentPlan,
        assigned: Iterable[Assigned],
        begun: Collection[tuple[int, str]],
    ) -> None:
        self.plan = plan
        self.items = {item.k: item for item in items}
        self._unique_ids = _unique_ids(items)
        # the present rows, by pair and annotator
        self.had: dict[int, dict[str, Assigned]] = {}
        for row in assigned:
            self.had.setdefault(row.k, {})[row.annotator] = row
        # the pairs of the trial set
        self.trial: set[int] = set()
        for k, rows in self.had.items():
            if k in self.items and any(row.trial for row in rows.values()):
                self.trial.add(k)
        # who gets each pair now: first those who have begun it without having it
        self.added: defaultdict[int, list[str]] = defaultdict(list)
        self.begun: set[int] = set()
        for k, name in sorted(begun):
            if name in plan.annotators and k in self.items and name not in self.had.get(k, {}):
                self.begun.add(k)
                self.added[k].append(name)
        # the arms of the pairs that are new in the control sample
        self.arms: dict[int, str] = {}

    def stratum(self, k: int, names: Sequence[str]) -> StratumKey:
        return stratum_of(self.items[k], names, self.plan.cuts)

    def number(self, purpose: str, k: int, *more: str) -> int:
        """Return a number that depends only on the seed and the id of a pair."""
        return self._hash(purpose, self._unique_ids[k], *more)

    def _hash(self, *words: str) -> int:
        text = "\n".join((str(self.plan.seed), *words))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")

    def _coin(self, purpose: str, k: int, *more: str) -> bool:
        """Return heads or tails, which depends only on the seed and the id of a pair."""
        return bool(self.number(purpose, k, *more) & 1)

    def holders(self, k: int) -> list[str]:
        """Return the annotators who have a pair or will get it."""
        return [*self.had.get(k, ()), *self.added.get(k, ())]

    def by_strata(
        self, numbers: Iterable[int], count: int, names: Sequence[str], purpose: str
    ) -> list[int]:
        """Draw `count` pairs by their hash, the same share of each stratum."""
        pairs = list(numbers)
        if not count or not pairs:
            return []
        drawn = []
        for group, wanted in self._shares(pairs, names, purpose, min(count / len(pairs), 1.0)):
            drawn += sorted(group, key=lambda k: (self.number(purpose, k), k))[:wanted]
        return drawn

    def _shares(
        self, numbers: Iterable[int], names: Sequence[str], purpose: str, share: float
    ) -> list[tuple[list[int], int]]:
        """Return the pairs of each stratum in a drawn order, with the number to take from it."""
        groups: defaultdict[StratumKey, list[int]] = defaultdict(list)
        for k in numbers:
            groups[self.stratum(k, names)].append(k)
        shuffled = sorted(groups, key=lambda key: (self._hash(purpose, *key), key))
        ordered = [groups[key] for key in shuffled]
        counts = divide_evenly([len(group) for group in ordered], [share, 1 - share])
        return [(group, wanted) for group, (wanted, _) in zip(ordered, counts, strict=True)]

    # The trial set

    def choose_trial(self) -> None:
        """Draw the trial set, unless it exists, and give it to all who lack it."""
        if not self.had:
            free = [k for k in self.items if k not in self.begun]
            if self.plan.trial and self.items and not free:
                raise ProjectError(
                    "all pairs have been started by a named annotator, so none can be a trial that "
                    "all do first; leave out --trial"
                )
            wanted = min(self.plan.trial, len(free))
            self.trial = set(self.by_strata(free, wanted, self.plan.stratify, "trial"))
        for k in sorted(self.trial):
            self._add_all(k)

    def _add_all(self, k: int) -> None:
        """Give a pair to all annotators who lack it."""
        held = self.holders(k)
        self.added[k] += [name for name in self.plan.annotators if name not in held]

    # Who gets the other pairs

    def choose_annotators(self) -> None:
        """Give each pair outside the trial set to as many annotators as the plan requires."""
        rest = [k for k in self.items if k not in self.trial]
        if self.plan.double is None and not self.plan.each:
            for k in rest:
                self._add_all(k)
            return
        twice = self._choose_twice(rest)
        loads = _Loads()
        for k in rest:
            held = self.holders(k)
            for place, name in enumerate(held):
                loads.add(name, held[:place])
        names = self.plan.stratify
        by_stratum = sorted(rest, key=lambda k: (self.stratum(k, names), self.number("who", k), k))
        for k in by_stratum:
            if k in twice:
                self._give(k, 2, loads)
        for k in by_stratum:
            self._give(k, self.plan.each or 1, loads)

    def _choose_twice(self, numbers: Iterable[int]) -> set[int]:
        """Draw the pairs that two annotate: the same share of each stratum."""
        twice: set[int] = set()
        double = self.plan.double or 0.0
        for group, wanted in self._shares(numbers, self.plan.stratify, "double", double):
            held_twice: list[int] = []
            others: list[int] = []
            for k in group:
                chosen = held_twice if len(self.holders(k)) > 1 else others
                chosen.append(k)
            missing = max(wanted - len(held_twice), 0)
            twice.update(held_twice, sorted(others, key=self._order_of_twice)[:missing])
        return twice

    def _order_of_twice(self, k: int) -> tuple[bool, bool, int, int]:
        """Return the key by which pairs get a second annotator.

        First come pairs that nobody had before, last those in the control sample.
        """
        return k in self.had, bool(self._arm_had(k)), self.number("double", k), k

    def _give(self, k: int, wanted: int, loads: _Loads) -> None:
        """Give a pair to the annotators with the fewest, and vary who works with whom."""
        held = self.holders(k)

        def cost(name: str) -> tuple[int, int, int, str]:
            return loads.pairs[name], loads.shared(name, held), self.number("who", k, name), name

        while len(held) < wanted:
            free = [name for name in self.plan.annotators if name not in held]
            if not free:
                return
            name = min(free, key=cost)
            self.added[k].append(name)
            loads.add(name, held)
            held.append(name)

    # The control sample

    def choose_arms(self) -> None:
        """Draw the control sample among pairs that nobody had before."""
        arms_had = Counter(arm for arm in map(self._arm_had, self.had) if arm)
        possible = [k for k in self.items if k not in self.trial and self.holders(k)]
        new = [k for k in possible if k not in self.had and k not in self.begun]
        size = min(len(possible), max(round(self.plan.control * len(possible)), self.plan.least))
        if self.plan.control == 0:
            size = 0
        missing = max(0, min(size - sum(arms_had.values()), len(new)))
        of_several = [k for k in new if len(self.holders(k)) > 1]
        of_one = [k for k in new if len(self.holders(k)) == 1]
        chosen = self.by_strata(of_several, min(missing, len(of_several)), CONTROL, "control")
        chosen.sort(key=lambda k: (self.stratum(k, CONTROL), self.number("arm", k), k))
        # two split, one bare, and so on, from where the draws before ended
        begin = arms_had["split"] + arms_had["bare"]
        for number, k in enumerate(chosen, begin):
            self.arms[k] = "bare" if number % 3 == 2 else "split"
        for k in self.by_strata(of_one, missing - len(chosen), CONTROL, "control"):
            self.arms[k] = "coin"

    def _arm_had(self, k: int) -> str:
        """Return the arm that a pair has had since it was assigned first; empty if it has none."""
        return arm_of(self.had.get(k, {}).values())

    def _shown(self, k: int, arm: str) -> dict[str, bool]:
        """Return which of its new annotators see the suggestions of a pair."""
        names = self.added[k]
        if arm == "":
            return dict.fromkeys(names, True)
        if arm == "bare":
            return dict.fromkeys(names, False)
        if arm == "coin" or k in self.had:  # a split pair that others have has its halves already
            return {name: self._coin("coin", k, name) for name in names}
        shuffled = sorted(names, key=lambda name: (self.number("coin", k, name), name))
        half = len(names) // 2
        if len(names) % 2 and self._coin("half", k):
            half += 1
        return {name: place >= half for place, name in enumerate(shuffled)}

    # The rows

    def rows(self) -> list[Assigned]:
        """Return the new rows, by annotator and place."""
        last = Counter[str]()  # the last place in each list
        for rows in self.had.values():
            for row in rows.values():
                last[row.annotator] = max(last[row.annotator], row.place)
        order = self._order()
        new: dict[str, list[Assigned]] = {name: [] for name in self.plan.annotators}
        for k in sorted(self.added, key=lambda k: (k not in self.trial, order[k])):
            arm = self.arms.get(k, "")
            if not arm and k not in self.begun:  # who has begun a pair has seen its suggestions
                arm = self._arm_had(k)
            for name, shown in self._shown(k, arm).items():
                last[name] += 1
                new[name].append(Assigned(k, name, last[name], shown, arm, k in self.trial))
        return list(chain.from_iterable(new.values()))

    def _order(self) -> Mapping[int, tuple[float, int, int]]:
        """Return the key by which each pair is ordered in the lists."""
        name = self.plan.order
        if name in ("hash", "uncertainty"):
            doubt = {k: item.doubt or 0.0 for k, item in self.items.items()}
            if name == "uncertainty":
                first = doubt
            else:
                first = dict.fromkeys(self.items, 0.0)
            return {k: (-first[k], self.number("order", k), k) for k in self.items}
        places: dict[str, int] = {}  # of the values of an attribute, in the order of the corpus
        for item in self.items.values():
            places.setdefault(item.attributes.get(name, ""), len(places))
        return {k: (places[i.attributes.get(name, "")], k, k) for k, i in self.items.items()}


def _unique_ids(items: Iterable[StratifiedPair]) -> dict[int, str]:
    """Return the id of each pair; if it comes again, with a number."""
    times = Counter[str]()
    ids = {}
    for item in items:
        times[item.id] += 1
        again = times[item.id]
        if again == 1:
            ids[item.k] = item.id
        else:
            ids[item.k] = f"{item.id}\n{again}"
    return ids


def arm_of(rows: Iterable[Assigned]) -> str:
    """Return the arm of a pair, given its rows; empty if it is not in the control sample."""
    for row in rows:
        if row.arm:
            return row.arm
    return ""
