"""Assign pairs to annotators: who gets which pairs, in what order, and who sees suggestions.

Everything is drawn from a seed. The draw for a pair depends only on the seed and its id, or on
counts of earlier draws. So existing rows stay unchanged when pairs or annotators are added.

Definitions
-----------
trial
    Pairs that all annotate first; drawn by strata, and in no arm.
double
    The share of the other pairs that two annotate; the same in each stratum, up to rounding.
each
    How many annotate each of the other pairs, instead of `double`.
control
    A share of the pairs, at least `least` of them (or all), by strata of length and uncertainty,
    first from pairs that several annotate. Of these, two of three are ``split``: a coin decides
    which half of the annotators sees no suggestions; one of three is ``bare``: nobody sees any.
    Pairs that one annotator has are ``coin``: a coin decides. A comparison within pairs needs
    several times fewer pairs than one between pairs: some hundred.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import Connection, func, select

from alignkit._support.wording import how_many
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.appending import append_to_project, enrolled
from alignkit.annotate.project.conversion import project_pair
from alignkit.annotate.project.events import encode
from alignkit.annotate.project.names import ProjectError, check_annotator
from alignkit.annotate.project.project_events import (
    Assign,
    Assigned,
    AssignmentPlan,
    Import,
)
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.training import training_pairs
from alignkit.corpora.apportioning import divide_evenly
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Column
from alignkit.tables.table import Table

MEASURES = ("length", "uncertainty")
CONTROL = MEASURES  # the strata of the control sample

_NAMES = {"length": ("short", "middle", "long"), "uncertainty": ("certain", "middle", "doubtful")}
Cuts = Mapping[str, Sequence[float]]
StratumKey = tuple[str, ...]


class StratifiedPair(NamedTuple):
    """The properties of a pair that matter for its assignment."""

    k: int  # its number and its id
    id: str
    length: int  # how many words both sides have
    doubt: float | None
    attributes: Mapping[str, str]  # its attributes


def doubt_of(n: int, m: int, cells: Iterable[tuple[int, int, float | None, int]]) -> float:
    """Return the doubt that suggestions leave, from 0 to 1: the mean doubt over words."""
    doubts: dict[tuple[int, int], float] = {}
    for i, j, p, _ in cells:
        doubt = 0.0 if p is None else 1 - abs(2 * p - 1)
        for word in ((0, i), (1, j)):
            if word[1] >= 0:
                doubts[word] = max(doubt, doubts.get(word, 0.0))
    if n + m:
        return round(sum(doubts.values()) / (n + m), 9)
    return 0.0


def cuts_of(values: Iterable[float]) -> tuple[float, ...]:
    """Return the values that cut values into thirds; fewer cuts if many are equal."""
    ordered = sorted(values)
    if ordered:
        cuts = {float(ordered[len(ordered) * part // 3]) for part in (1, 2)}
    else:
        cuts = set()
    return tuple(cut for cut in sorted(cuts) if cut > ordered[0])


def stratum_of(item: StratifiedPair, names: Iterable[str], cuts: Cuts) -> StratumKey:
    """Return the stratum of a pair: the part for each measure, the value for each attribute."""
    parts = dict(item.attributes)
    for name, value in (("length", item.length), ("uncertainty", item.doubt)):
        if value is None:
            parts[name] = ""
        else:
            parts[name] = str(bisect_right(cuts.get(name, ()), value))
    return tuple(parts.get(name, "") for name in names)


def named_stratum(stratum: StratumKey, names: Sequence[str], cuts: Cuts) -> str:
    """Return a stratum in words."""
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
    word = _NAMES[name][part if len(cuts) == 2 or part == 0 else 2]
    step = 1 if name == "length" else 0
    if part == 0:
        return f"{word}, below {cuts[0]:.3g}"
    if part == len(cuts):
        return f"{word}, from {cuts[-1]:.3g}"
    return f"{word}, {cuts[part - 1]:.3g} to {cuts[part] - step:.3g}"


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
        self._names: dict[int, str] = {}  # ids; of those that come again, with a number
        times = Counter[str]()
        for item in items:
            times[item.id] += 1
            again = times[item.id]
            if again == 1:
                self._names[item.k] = item.id
            else:
                self._names[item.k] = f"{item.id}\n{again}"
        self.had: dict[int, dict[str, Assigned]] = {}
        for row in assigned:
            self.had.setdefault(row.k, {})[row.annotator] = row
        self.trial = {
            k
            for k, rows in self.had.items()
            if k in self.items and any(row.trial for row in rows.values())
        }
        self.added: defaultdict[int, list[str]] = defaultdict(list)
        self.begun: set[int] = set()
        for k, name in sorted(begun):
            if name in plan.annotators and k in self.items and name not in self.had.get(k, {}):
                self.begun.add(k)
                self.added[k].append(name)
        self.arms: dict[int, str] = {}

    def stratum(self, k: int, names: Sequence[str]) -> StratumKey:
        return stratum_of(self.items[k], names, self.plan.cuts)

    def number(self, purpose: str, k: int, *more: str) -> int:
        """Return a number that depends only on the seed and the id of a pair."""
        return self._hash(purpose, self._names[k], *more)

    def _hash(self, *words: str) -> int:
        text = "\n".join((str(self.plan.seed), *words))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")

    def holders(self, k: int) -> list[str]:
        """Return the annotators who have a pair or will get it."""
        return [*self.had.get(k, ()), *self.added.get(k, ())]

    def by_strata(
        self, numbers: Iterable[int], count: int, names: Sequence[str], purpose: str
    ) -> list[int]:
        """Draw `count` pairs by their hash, the same share of each stratum."""
        own = list(numbers)
        if not count or not own:
            return []
        drawn = []
        for group, wanted in self._shares(own, names, purpose, min(count / len(own), 1.0)):
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
            twice.update(held_twice, sorted(others, key=self._reluctance)[:missing])
        return twice

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

    def _reluctance(self, k: int) -> tuple[bool, bool, int, int]:
        return k in self.had, bool(self._arm_had(k)), self.number("double", k), k

    def choose_arms(self) -> None:
        """Draw the control sample among pairs that nobody had before."""
        arms = Counter(arm for arm in map(self._arm_had, self.had) if arm)
        rest = [k for k in self.items if k not in self.trial and self.holders(k)]
        fresh = [k for k in rest if k not in self.had and k not in self.begun]
        sample = min(len(rest), max(round(self.plan.control * len(rest)), self.plan.least))
        if self.plan.control == 0:
            sample = 0
        several = [k for k in fresh if len(self.holders(k)) > 1]
        once = [k for k in fresh if len(self.holders(k)) == 1]
        wanted = max(0, min(sample - sum(arms.values()), len(fresh)))
        chosen = self.by_strata(several, min(wanted, len(several)), CONTROL, "control")
        before = arms["split"] + arms["bare"]
        chosen.sort(key=lambda k: (self.stratum(k, CONTROL), self.number("arm", k), k))
        for count, k in enumerate(chosen, before):
            self.arms[k] = "bare" if count % 3 == 2 else "split"
        for k in self.by_strata(once, wanted - len(chosen), CONTROL, "control"):
            self.arms[k] = "coin"

    def _arm_had(self, k: int) -> str:
        """Return the arm that a pair has had since it was assigned first."""
        return _arm_of(self.had.get(k, {}).values())

    def _shown(self, k: int, arm: str) -> dict[str, bool]:
        """Return which of its new annotators see the suggestions of a pair."""
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
        new: dict[str, list[Assigned]] = {name: [] for name in self.plan.annotators}
        for k in sorted(self.added, key=lambda k: (k not in self.trial, order[k])):
            arm = self.arms.get(k, "")
            if not arm and k not in self.begun:
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
        places: dict[str, int] = {}
        for item in self.items.values():
            places.setdefault(item.attributes.get(name, ""), len(places))
        return {k: (places[i.attributes.get(name, "")], k, k) for k, i in self.items.items()}


_CHUNK = 2000  # rows in one event
_PAIRS = 256  # pairs in one event
_read_plan = msgspec.json.Decoder(AssignmentPlan).decode


def read_plan(conn: Connection) -> AssignmentPlan | None:
    """Return how new pairs are assigned; None if nothing is assigned yet."""
    text = conn.execute(select(schema.project.c.assigning)).scalar()
    return _read_plan(text) if text else None


def assigned_rows(conn: Connection) -> list[Assigned]:
    """Return all rows of the assignment, by annotator and place."""
    row = schema.assignment.c
    account = schema.account.c
    columns = row.pair, account.name, row.place, row.shown, row.arm, row.trial
    asked = select(*columns).where(account.id == row.account).order_by(row.account, row.place)
    return [Assigned(*row) for row in conn.execute(asked)]


def read_items(conn: Connection) -> list[StratifiedPair]:
    """Return the properties of the pairs that matter for their assignment."""
    name = conn.execute(select(schema.project.c.suggestions)).scalar()
    cells = queries.suggestions_of(conn, str(name))
    items = []
    for pair in queries.pair_rows(conn):
        n = len(pair.source)
        m = len(pair.target)
        if pair.k in cells:
            doubt = doubt_of(n, m, cells[pair.k])
        else:
            doubt = None
        items.append(StratifiedPair(pair.k, pair.id, n + m, doubt, pair.attributes))
    return items


def apart(conn: Connection, names: Collection[str]) -> dict[str, int]:
    """Return who else has worked on pairs, and on how many; imported work does not count."""
    event = schema.event_table.c
    stream = schema.stream.c
    account = schema.account.c
    asked = (
        select(account.name, func.count(stream.pair.distinct()))
        .where(event.stream == stream.id, account.id == stream.account)
        .where(event.actor == account.name, stream.pair > 0, event.kind != "text")
        .where(event.data.not_like('%"how":"import"%'))
        .group_by(account.name)
    )
    return {name: count for name, count in conn.execute(asked) if name not in names}


def revised(
    plan: AssignmentPlan | None, annotators: Sequence[str], options: dict[str, Any]
) -> AssignmentPlan:
    """Return a plan with more annotators and other options; those that are None stay."""
    if len(set(annotators)) < len(annotators):
        raise ProjectError("an annotator is named twice; name each once")
    given = {name: value for name, value in options.items() if value is not None}
    if plan is not None:
        _check_drawn(plan, given)
    if {"double", "each"} <= given.keys():
        raise ProjectError("double and each exclude each other: give one of them")
    old = plan or AssignmentPlan()
    if "each" in given:
        given["double"] = None
    elif "double" in given:
        given["each"] = UNSET
    names = tuple(dict.fromkeys((*old.annotators, *annotators)))
    new = replace(old, annotators=names, **given)
    _check_plan(new)
    return _read_plan(encode(new))  # as it is read again: 0 as 0.0


def _check_drawn(plan: AssignmentPlan, given: Mapping[str, Any]) -> None:
    """Refuse other values of what was drawn once and for all."""
    for name in ("trial", "seed", "stratify"):
        before = getattr(plan, name)
        if name not in given or given[name] == before:
            continue
        if isinstance(before, tuple):
            before = ", ".join(before) or "none"
        raise ProjectError(
            f"{name} is {before} since the first assignment and cannot change; leave it out"
        )


def _check_plan(plan: AssignmentPlan) -> None:
    """Refuse a plan without annotators, or with shares and numbers that they cannot have."""
    names = plan.annotators
    if not names:
        raise ProjectError("there is nobody to assign pairs to; name the annotators")
    for name, value in (("double", plan.double or 0.0), ("control", plan.control)):
        if not 0 <= value <= 1:
            raise ProjectError(f"{name} is {value}; give a share from 0 to 1")
    if plan.each is not UNSET and not 1 <= plan.each <= len(names):
        raise ProjectError(f"each is {plan.each}; give 1 to {len(names)}, the number of annotators")
    if plan.double and len(names) < 2:
        raise ProjectError(
            f"double is {plan.double:g}, but {names[0]!r} is alone; add an annotator"
        )


def draw_rows(conn: Connection, plan: AssignmentPlan) -> DrawnPairs:
    """Draw the rows that a plan adds to the assignment."""
    gold = queries.gold_name(conn)
    sources = queries.sources(conn)
    for name in plan.annotators:
        check_annotator(name, gold, sources)
    items = _without_training(conn, read_items(conn))
    attributes = [name for name in plan.stratify if name not in MEASURES]
    if plan.order not in ("hash", "uncertainty"):
        attributes.append(plan.order)
    _check_attributes(attributes, items)
    if plan.order == "uncertainty" and all(item.doubt is None for item in items):
        raise ProjectError(
            "no links are suggested yet, so the order by uncertainty is unknown; assign when the "
            "page shows suggestions, or choose another order"
        )
    stream = schema.stream.c
    account = schema.account.c
    asked = select(stream.pair, account.name).where(account.id == stream.account)
    rows = conn.execute(asked.where(stream.pair > 0, account.id > 0))
    return draw(items, plan, assigned_rows(conn), {(k, name) for k, name in rows})


def _without_training(conn: Connection, items: list[StratifiedPair]) -> list[StratifiedPair]:
    """Return the pairs that can be assigned: those that are not for training."""
    trained = training_pairs(conn)
    return [item for item in items if item.k not in trained]


def _check_attributes(attributes: Iterable[str], items: Iterable[StratifiedPair]) -> None:
    """Refuse attributes that no pair has; name a similar one, or all."""
    known: set[str] = set()
    for item in items:
        known.update(item.attributes)
    for name in attributes:
        if name in known:
            continue
        near = get_close_matches(name, known, n=1)
        if near:
            hint = f"did you mean {near[0]}?"
        elif known:
            hint = f"there are {', '.join(sorted(known))}"
        else:
            hint = "they have none"
        raise ProjectError(f"no pair has an attribute {name!r}; {hint}")


def write_rows(
    conn: Connection,
    rows: Sequence[Assigned],
    plan: AssignmentPlan | None,
    gone: Sequence[Assigned] = (),
    actor: str = "",
) -> None:
    """Take rows away, add others, some at a time; store the plan, and register its annotators."""
    names: list[str] = []
    if plan is not None:
        names.extend(plan.annotators)
    names.extend(row.annotator for row in (*gone, *rows))
    for name in dict.fromkeys(names):
        enrolled(conn, name)
    for start in range(0, max(len(gone), len(rows), plan is not None), _CHUNK):
        new = list(rows[start : start + _CHUNK])
        taken = [(row.k, row.annotator) for row in gone[start : start + _CHUNK]]
        append_to_project(conn, Assign(new, plan, taken), actor)
        plan = None


def write_drawn(conn: Connection, drawn: DrawnPairs) -> None:
    """Store new rows, and the plan if it has changed."""
    write_rows(conn, drawn.rows, drawn.plan if drawn.plan != read_plan(conn) else None)


def add_pairs(conn: Connection, pairs: Iterable[SentencePair]) -> list[int]:
    """Append pairs, and assign them if there is a plan; return their numbers."""
    last = int(conn.execute(select(func.max(schema.pair.c.k))).scalar() or 0)
    new = []
    for k, pair in enumerate(pairs, last + 1):
        if pair.annotations:
            raise ProjectError(
                f"pair {pair.id!r} has annotations; add it without them, then import these"
            )
        new.append(project_pair(k, pair))
    for start in range(0, len(new), _PAIRS):
        append_to_project(conn, Import(new[start : start + _PAIRS]))
    plan = read_plan(conn)
    if new and plan is not None:
        write_drawn(conn, draw_rows(conn, plan))
    return [pair.k for pair in new]


@dataclass(frozen=True)
class AnnotatorShare:
    """The counts of one annotator's pairs."""

    annotator: str  # whose they are
    pairs: int  # how many there are, and how many of them are new
    new: int
    trial: int  # those of the trial set, and of the others those that somebody else annotates too
    double: int
    split: int  # those of the control sample, by arm
    bare: int
    coin: int
    hidden: int  # those without suggestions


@dataclass(frozen=True)
class Stratum:
    """The counts of a stratum's pairs; `by` is the purpose of the strata."""

    by: str  # double, whose share is kept in the strata, or control, likewise
    name: str  # which pairs they are
    pairs: int  # how many there are; in the trial set; of the others, with several annotators
    trial: int
    double: int
    split: int  # in the control sample, by arm
    bare: int
    coin: int


@dataclass(frozen=True)
class Assignment:
    """The assignment of a project, and the new rows."""

    plan: AssignmentPlan  # how it was done, and how new pairs are assigned
    pairs: int  # how many pairs there are, and how many of them are somebody's
    assigned: int
    new: int  # how many rows were added: a pair and an annotator each; and of how many pairs
    new_pairs: int
    annotators: tuple[AnnotatorShare, ...]  # the counts
    strata: tuple[Stratum, ...]
    suggested: int  # for how many pairs links are suggested
    apart: dict[str, int]
    for_training: int = 0  # how many pairs nobody is given, because they are for training

    def to_dict(self) -> dict[str, Any]:
        """Return the assignment as plain values."""
        return {**asdict(self), "plan": msgspec.to_builtins(self.plan)}

    def warnings(self) -> Iterator[str]:
        """Yield what may not be as expected, in sentences."""
        shares = self.annotators
        arms = sum(share.split + share.bare + share.coin for share in shares)
        if self.new and self.plan.control > 0 and not arms:
            yield (
                "no pair is in the control sample: it only takes pairs outside the trial that "
                "nobody has started"
            )
        if self.new and arms and not self.suggested:
            yield (
                "no links are suggested yet: the control sample was drawn by length only, and "
                "applies to later suggestions"
            )
        for name, count in self.apart.items():
            yield (
                f"{name} has started {count} pairs but is not among the annotators: {name} cannot "
                "open these pairs any more, and the votes on them do not count. To assign them, "
                f"add {name} to the annotators"
            )
        if self.for_training:
            pairs = how_many(self.for_training, "pair")
            yield f"{pairs} for training: not given to anybody to annotate"
        idle = [share.annotator for share in shares if share.pairs == share.trial]
        if idle and (self.plan.double is not None or self.plan.each):
            yield (
                f"{', '.join(idle)}: only trial pairs, because all others have enough annotators; "
                "a larger share for two, more for each pair, or new pairs give them more"
            )

    def tables(self) -> list[Table]:
        """Return a table of the annotators, and one of the strata for each purpose."""
        tables = [
            _counts_table(
                (
                    f"pairs of each annotator: {self.assigned:,} of {self.pairs:,} pairs are "
                    f"assigned; {self.new:,} rows are new"
                ),
                self.annotators,
            )
        ]
        titles = {"double": "by pairs annotated twice", "control": "by the control sample"}
        for by, title in titles.items():
            if rows := [row for row in self.strata if row.by == by]:
                tables.append(_counts_table(f"strata, {title}", rows))
        return tables

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))


def _counts_table(title: str, rows: Sequence[AnnotatorShare | Stratum]) -> Table:
    columns = {field.name: Column(field.name, "count") for field in fields(rows[0])}
    columns.pop("by", None)
    texts = {"annotator": Column("annotator", "text"), "name": Column("stratum", "text")}
    columns |= {name: column for name, column in texts.items() if name in columns}
    values = [[getattr(row, name) for name in columns] for row in rows]
    return Table(title, list(columns.values()), values)


def assign_pairs(
    store: Store,
    annotators: Sequence[str] = (),
    *,
    double: float | None = None,
    each: int | None = None,
    trial: int | None = None,
    seed: int | None = None,
    stratify: Sequence[str] | None = None,
    order: str | None = None,
    control: float | None = None,
    control_least: int | None = None,
    dry_run: bool = False,
    everybody: bool = False,
    approve: Callable[[Assignment], None] = lambda _: None,
) -> Assignment:
    """Assign pairs that are not assigned yet; options that are None keep their values.

    `everybody` gives all pairs to all; `approve` is called before anything is stored.
    """
    options = {
        "double": double,
        "each": each,
        "trial": trial,
        "seed": seed,
        "order": order,
        "control": control,
        "least": control_least,
        "stratify": None if stratify is None else tuple(stratify),
    }
    if dry_run:
        opened = store.database.reading()
    else:
        opened = store.database.writing()
    with opened as conn:
        before = read_plan(conn)
        if before is None and control is None and queries.task_of(conn) != "align":
            options["control"] = 0.0  # nothing is suggested
        plan = revised(before, annotators, options)
        drawn = draw_rows(conn, replace(plan, double=None, each=UNSET) if everybody else plan)
        rows = assigned_rows(conn)
        others = apart(conn, drawn.plan.annotators)
        trained = len(training_pairs(conn))
        assignment = _counted(read_items(conn), rows, drawn, others, trained)
        if not dry_run:
            approve(assignment)
            write_drawn(conn, drawn)
    return assignment


def present_assignment(store: Store) -> Assignment | None:
    """Return the assignment as it is; None if nothing is assigned yet."""
    with store.database.reading() as conn:
        plan = read_plan(conn)
        if plan is None:
            return None
        drawn = DrawnPairs(plan, [])
        trained = len(training_pairs(conn))
        return _counted(read_items(conn), assigned_rows(conn), drawn, {}, trained)


def _counted(
    items: list[StratifiedPair],
    had: list[Assigned],
    drawn: DrawnPairs,
    others: dict[str, int],
    trained: int,
) -> Assignment:
    """Return an assignment with the counts of its annotators and strata."""
    plan = drawn.plan
    rows = [*had, *drawn.rows]
    names = dict.fromkeys([*plan.annotators, *(row.annotator for row in had)])
    strata = [
        *_counted_strata("double", plan.stratify, items, rows, plan.cuts),
        *_counted_strata("control", CONTROL, items, rows, plan.cuts),
    ]
    return Assignment(
        plan=plan,
        pairs=len(items),
        assigned=len({row.k for row in rows}),
        new=len(drawn.rows),
        new_pairs=len({row.k for row in drawn.rows}),
        annotators=tuple(_counted_shares(names, rows, drawn.rows)),
        strata=tuple(strata),
        suggested=sum(item.doubt is not None for item in items),
        apart=others,
        for_training=trained,
    )


def _counted_shares(
    names: Iterable[str], rows: Sequence[Assigned], new_rows: Iterable[Assigned]
) -> Iterator[AnnotatorShare]:
    """Yield the counts of each annotator's pairs."""
    holders = Counter(row.k for row in rows if not row.trial)
    new = Counter(row.annotator for row in new_rows)
    for name in names:
        own = [row for row in rows if row.annotator == name]
        arms = Counter(row.arm for row in own)
        yield AnnotatorShare(
            annotator=name,
            pairs=len(own),
            new=new[name],
            trial=sum(row.trial for row in own),
            double=sum(holders[row.k] > 1 for row in own if not row.trial),
            split=arms["split"],
            bare=arms["bare"],
            coin=arms["coin"],
            hidden=sum(not row.shown for row in own),
        )


def _counted_strata(
    by: str,
    names: Sequence[str],
    items: Iterable[StratifiedPair],
    rows: Iterable[Assigned],
    cuts: Cuts,
) -> Iterator[Stratum]:
    """Yield the counts of the pairs in each stratum, given the measures that divide them."""
    by_pair: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in rows:
        by_pair[row.k].append(row)
    groups: defaultdict[StratumKey, list[list[Assigned]]] = defaultdict(list)
    for item in items:
        groups[stratum_of(item, names, cuts)].append(by_pair[item.k])
    for key, pairs in sorted(groups.items()):
        arms = Counter(_arm_of(own) for own in pairs)
        trial = 0
        double = 0
        for own in pairs:
            trial += any(row.trial for row in own)
            double += len(own) > 1 and not own[0].trial
        yield Stratum(
            by=by,
            name=named_stratum(key, names, cuts),
            pairs=len(pairs),
            trial=trial,
            double=double,
            split=arms["split"],
            bare=arms["bare"],
            coin=arms["coin"],
        )


def _arm_of(rows: Iterable[Assigned]) -> str:
    """Return the arm of a pair, given its rows; empty if it is not in the control sample."""
    return next((row.arm for row in rows if row.arm), "")
