"""Find the best ways to say a tree with rules applied: k-best wordings, from the leaves up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import NamedTuple, TypeAlias

from alignkit.model.trees import Tree
from alignkit.rules.rewriting.rule_index import Match

_MODULUS = 2**127 - 1
_BASE = int.from_bytes(b"words in a line", "big") % _MODULUS


class KeptWords(NamedTuple):
    """The words of a span, which stay as they are."""

    start: int
    end: int


class RuleWords(NamedTuple):
    """Words of a rule: the items ``start .. end - 1`` of its target side."""

    match: Match
    start: int
    end: int


class RuleReading(NamedTuple):
    """A way to say a part of the sentence."""

    cost: float  # the sum of the costs of the rules applied
    replacements: int  # how many there are
    key: int
    power: int
    what: KeptWords | RuleWords | Match | None = None
    left: RuleReading | None = None  # the parts; left alone is what an applied rule came to
    right: RuleReading | None = None


class Readings(NamedTuple):
    """The best readings of a part, each list by cost, without equal words in one list."""

    light: list[RuleReading]
    heavy: list[RuleReading]  # those in which at least one rule changed more


_Stream: TypeAlias = "tuple[float, Iterator[RuleReading]]"
"""Readings by cost, and a cost that none of them is below."""


def best_readings(
    tree: Tree, matches: Iterator[list[Match]], most: int
) -> tuple[Readings, Callable[[RuleReading], bool]]:
    """Return the best readings of a tree, and what tells a reading that is the sentence itself."""
    words = _Keys(tree)
    made: dict[int, Readings] = {}  # of nodes below which something matches
    children: dict[int, list[int]] = {}  # those in `made`, from right to left
    parents = tree.parents.tolist()
    for node, node_matches in zip(reversed(range(len(parents))), matches, strict=True):
        below = children.pop(node, [])
        if not node_matches and not below:
            continue
        kept = _as_it_was(node, below[::-1], made, words, most)
        made[node] = _chosen(
            kept, [_Applied(match, made, words, most) for match in node_matches], most
        )
        children.setdefault(parents[node], []).append(node)
    unchanged = words.kept(0, len(tree.words))
    readings = made.get(0) or Readings([unchanged], [])
    return readings, lambda reading: reading.key == unchanged.key


class _Keys:
    """Make readings of single pieces, with their keys."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.spans = list(zip(tree.starts.tolist(), tree.ends.tolist(), strict=True))
        self._codes: dict[str, int] = {}
        self._before, self._powers = [0], [1]
        for word in tree.words:
            self._before.append((self._before[-1] * _BASE + self._code(word)) % _MODULUS)
            self._powers.append(self._powers[-1] * _BASE % _MODULUS)

    def _code(self, word: str) -> int:
        if word not in self._codes:
            text = word.casefold().encode("utf-8", "surrogatepass")
            self._codes[word] = int.from_bytes(blake2b(text, digest_size=15).digest(), "big") + 1
        return self._codes[word]

    def kept(self, start: int, end: int) -> RuleReading:
        """Return the reading of a span that stays as it is."""
        power = self._powers[end - start]
        key = (self._before[end] - self._before[start] * power) % _MODULUS
        return RuleReading(0.0, 0, key, power, KeptWords(start, end))

    def said(self, match: Match, start: int, end: int) -> RuleReading:
        """Return the reading of words of a rule."""
        key, power = 0, 1
        for word in match.rule.target.items[start:end]:
            key = (key * _BASE + self._code(str(word))) % _MODULUS
            power = power * _BASE % _MODULUS
        return RuleReading(0.0, 0, key, power, RuleWords(match, start, end))


def _as_it_was(
    node: int, below: list[int], made: dict[int, Readings], words: _Keys, most: int
) -> Readings:
    place, end = words.spans[node]
    readings: Readings | None = None
    for child in below:
        start, after = words.spans[child]
        if start > place:
            readings = _beside(readings, _alone(words.kept(place, start)), most)
        readings = _beside(readings, made[child], most)
        place = after
    if place < end or readings is None:
        readings = _beside(readings, _alone(words.kept(place, end)), most)
    return readings


def _alone(reading: RuleReading) -> Readings:
    return Readings([reading], [])


def _beside(first: Readings | None, second: Readings, most: int) -> Readings:
    if first is None:
        return second
    if _is_single(second):
        return Readings(
            *([_joined(reading, second.light[0]) for reading in part] for part in first)
        )
    if _is_single(first):
        return Readings(
            *([_joined(first.light[0], reading) for reading in part] for part in second)
        )
    light = _merged([(0.0, _corner(first.light, second.light))], most)
    if not first.heavy and not second.heavy:
        return Readings(light, [])
    after = _of_either_kind(second, most) if first.heavy else []
    pairs = (first.light, second.heavy), (first.heavy, after)
    return Readings(light, _merged([(0.0, _corner(*pair)) for pair in pairs], most))


def _of_either_kind(readings: Readings, most: int) -> list[RuleReading]:
    return _merged([(0.0, iter(part)) for part in readings], most)


def _is_single(readings: Readings) -> bool:
    return len(readings.light) == 1 and not readings.heavy


def _joined(mine: RuleReading, other: RuleReading) -> RuleReading:
    cost, replacements = _sum(mine, other)
    key = (mine.key * other.power + other.key) % _MODULUS
    return RuleReading(
        cost, replacements, key, mine.power * other.power % _MODULUS, None, mine, other
    )


def _corner(first: Sequence[RuleReading], second: Sequence[RuleReading]) -> Iterator[RuleReading]:
    if not first or not second:
        return
    heap = [(*_sum(first[0], second[0]), 0, 0)]
    while heap:
        _, _, i, j = heappop(heap)
        mine, other = first[i], second[j]
        yield _joined(mine, other)
        if j + 1 < len(second):
            heappush(heap, (*_sum(mine, second[j + 1]), i, j + 1))
        if not j and i + 1 < len(first):  # each place once: down the first column, then along
            heappush(heap, (*_sum(first[i + 1], other), i + 1, 0))


def _sum(mine: RuleReading, other: RuleReading) -> tuple[float, int]:
    return mine.cost + other.cost, mine.replacements + other.replacements


class _Applied:
    """Apply a rule at a node; its words and what its variables say are made when asked for."""

    def __init__(self, match: Match, made: dict[int, Readings], words: _Keys, most: int) -> None:
        self.match = match
        self._made, self._words, self._most = made, words, most

    @cached_property
    def _body(self) -> Readings:
        items = self.match.rule.target.items
        readings: Readings | None = None
        place = 0
        while place < len(items):
            end = place + 1
            item = items[place]
            if isinstance(item, int):
                node = self.match.variables[item]
                part = self._made.get(node) or _alone(self._words.kept(*self._words.spans[node]))
            else:
                while end < len(items) and not isinstance(items[end], int):
                    end += 1
                part = _alone(self._words.said(self.match, place, end))
            readings = _beside(readings, part, self._most)
            place = end
        return readings or _alone(self._words.kept(0, 0))

    def stream(self, *, heavy: bool) -> _Stream:
        """Return the readings of one kind, by cost."""
        return self.match.rule.cost, self._readings(heavy)

    def _readings(self, heavy: bool) -> Iterator[RuleReading]:
        rule = self.match.rule
        if rule.minor:
            chosen = self._body.heavy if heavy else self._body.light
        elif heavy:
            chosen = _of_either_kind(self._body, self._most)
        else:
            chosen = []
        for body in chosen:
            cost, replacements = body.cost + rule.cost, body.replacements + 1
            yield RuleReading(cost, replacements, body.key, body.power, self.match, body)


def _chosen(kept: Readings, applied: list[_Applied], most: int) -> Readings:
    light, heavy = (
        _merged(
            chain(
                [(0.0, iter(part))],
                (
                    rule.stream(heavy=is_heavy)
                    for rule in applied
                    if is_heavy or rule.match.rule.minor
                ),
            ),
            most,
        )
        for is_heavy, part in zip((False, True), kept, strict=True)
    )
    return Readings(light, heavy)


def _merged(streams: Sequence[_Stream] | chain[_Stream], most: int) -> list[RuleReading]:
    opened = list(streams)
    heap: list[tuple[float, int, int, RuleReading | None]] = [
        (bound, 0, k, None) for k, (bound, _) in enumerate(opened)
    ]
    heapify(heap)
    best: dict[int, RuleReading] = {}
    while heap and len(best) < most:
        _, _, k, reading = heappop(heap)
        if reading is not None:
            best.setdefault(reading.key, reading)
        following = next(opened[k][1], None)
        if following is not None:
            heappush(heap, (following.cost, following.replacements, k, following))
    return list(best.values())
