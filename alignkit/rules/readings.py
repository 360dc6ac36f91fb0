"""The k best readings of a sentence that rules rewrite, computed bottom-up.

A *reading* is one wording of a part of the sentence; its cost is the sum of -log p of the rules
that are applied in it. With the rules ``NN("car") ||| NN("auto")`` and ``NN("car") ||| NN("cab")``,
the node NN of ``the car`` has three readings: ``car`` at cost 0, ``auto`` and ``cab``.

Each node of the tree at which a rule matches, or above such a node, gets the k best readings of its
words, by cost. They are made from the readings of its parts, which come next to each other
(`_beside`), and from the rules that match at the node (`_Applied`). Rules that change punctuation
or determiners alone would fill the list, so readings with only such changes, *light* ones, have a
list of their own.

All this is lazy, as in Huang & Chiang 2005: a reading is only computed if it can be among the k
best (`_merged`, `_sums`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import groupby
from typing import NamedTuple

from alignkit.model.trees import Tree
from alignkit.rules.rule_index import Match

_MODULUS = 2**127 - 1  # a prime
_BASE = int.from_bytes(b"words in a line", "big") % _MODULUS


class KeptWords(NamedTuple):
    """The words of a span that stays unchanged."""

    start: int
    end: int


class RuleWords(NamedTuple):
    """Words of a rule: the items ``start .. end - 1`` of its target side."""

    match: Match
    start: int
    end: int


class RuleReading(NamedTuple):
    """One wording of a part of the sentence: a piece, two parts in a row, or an applied rule."""

    cost: float  # the sum of the costs of the rules applied
    replacements: int  # how many rules were applied
    key: int  # a hash of the words, see `_Pieces`: equal wordings have equal keys
    power: int  # _BASE to the number of words: to put the key of following words behind this one
    what: KeptWords | RuleWords | Match | None = None  # the piece or the rule; None: two parts
    left: RuleReading | None = None  # the parts; an applied rule has its body on the left alone
    right: RuleReading | None = None


class Readings(NamedTuple):
    """The best readings of a part, each list by cost, without duplicates in a list."""

    light: list[RuleReading]  # unchanged, or with other punctuation and determiners alone
    heavy: list[RuleReading]  # those in which at least one rule changed more


class _Stream(NamedTuple):
    """Readings by cost, and a lower limit of their costs."""

    readings: Iterator[RuleReading]
    bound: float = 0.0


def best_readings(
    tree: Tree, matches: Iterator[list[Match]], most: int
) -> tuple[Readings, RuleReading]:
    """Return the best readings of a tree, and the reading that is the sentence itself."""
    pieces = _Pieces(tree)
    made: dict[int, Readings] = {}  # of nodes below which something matches
    children: dict[int, list[int]] = {}  # those in `made`, from right to left
    parents = tree.parents.tolist()
    for node, node_matches in zip(reversed(range(len(parents))), matches, strict=True):
        below = children.pop(node, [])
        if not node_matches and not below:
            continue
        around = _in_a_row(_parts(pieces, made, node, below), most)
        light = [_Stream(iter(around.light))]
        heavy = [_Stream(iter(around.heavy))]
        for match in node_matches:
            cost = match.rule.cost
            applied = _Applied(match, made, pieces, most)
            if match.rule.minor:
                light.append(_Stream(applied.readings(heavy=False), cost))
            heavy.append(_Stream(applied.readings(heavy=True), cost))
        made[node] = Readings(_merged(light, most), _merged(heavy, most))
        children.setdefault(parents[node], []).append(node)
    unchanged = pieces.kept(0, len(tree.words))
    return made.get(0, _alone(unchanged)), unchanged


def _parts(
    pieces: _Pieces, made: dict[int, Readings], node: int, below: list[int]
) -> list[Readings]:
    """Return the readings of the parts of a node if no rule is applied at the node itself.

    The parts are the children of `below` (from right to left), and the unchanged words between
    them.
    """
    parts: list[Readings] = []
    place, end = pieces.spans[node]
    for child in reversed(below):
        start, after = pieces.spans[child]
        if start != place:
            parts.append(_alone(pieces.kept(place, start)))
        parts.append(made[child])
        place = after
    if place != end or not parts:
        parts.append(_alone(pieces.kept(place, end)))
    return parts


class _Pieces:
    """Make readings of single pieces: words of the sentence, and words of rules.

    The key of words is a polynomial in _BASE, modulo a prime, with a hash of each word (ignoring
    case) as coefficients (Karp & Rabin 1987). So the key of two parts in a row comes from their
    keys, without their words.
    """

    def __init__(self, tree: Tree) -> None:
        self.spans = list(zip(tree.starts.tolist(), tree.ends.tolist(), strict=True))
        self._codes: dict[str, int] = {}
        self._before = [0]  # the key of the first n words
        self._powers = [1]
        for word in tree.words:
            self._before.append((self._before[-1] * _BASE + self._code(word)) % _MODULUS)
            self._powers.append(self._powers[-1] * _BASE % _MODULUS)

    def _code(self, word: str) -> int:
        """Return the hash of a word, ignoring case; it is not 0."""
        if word not in self._codes:
            text = word.casefold().encode("utf-8", "surrogatepass")
            digest = blake2b(text, digest_size=15).digest()
            self._codes[word] = int.from_bytes(digest, "big") + 1
        return self._codes[word]

    def kept(self, start: int, end: int) -> RuleReading:
        """Return the reading of an unchanged span."""
        power = self._powers[end - start]
        key = (self._before[end] - self._before[start] * power) % _MODULUS
        return RuleReading(0.0, 0, key, power, KeptWords(start, end))

    def of_rule(self, match: Match, start: int, end: int) -> RuleReading:
        """Return the reading of words of a rule."""
        key = 0
        power = 1
        for word in match.rule.target.items[start:end]:
            key = (key * _BASE + self._code(str(word))) % _MODULUS
            power = power * _BASE % _MODULUS
        return RuleReading(0.0, 0, key, power, RuleWords(match, start, end))


def _alone(reading: RuleReading) -> Readings:
    """Return the readings of a part that has only this reading, without a change."""
    return Readings([reading], [])


def _in_a_row(parts: Iterable[Readings], most: int) -> Readings:
    """Return the best readings of parts that follow each other."""
    return reduce(lambda first, second: _beside(first, second, most), parts)


def _beside(first: Readings, second: Readings, most: int) -> Readings:
    """Return the best readings of two parts that follow each other."""
    if len(second.light) == 1 and not second.heavy:
        (only,) = second.light
        light = [_joined(reading, only) for reading in first.light]
        heavy = [_joined(reading, only) for reading in first.heavy]
        return Readings(light, heavy)
    if len(first.light) == 1 and not first.heavy:
        (only,) = first.light
        light = [_joined(only, reading) for reading in second.light]
        heavy = [_joined(only, reading) for reading in second.heavy]
        return Readings(light, heavy)
    light = _merged([_Stream(_sums(first.light, second.light))], most)
    if not first.heavy and not second.heavy:
        return Readings(light, [])
    # two parts are heavy if either is: light + heavy, then heavy + any
    streams = [_Stream(_sums(first.light, second.heavy))]
    if first.heavy:
        of_second = _of_either_kind(second, most)
        streams.append(_Stream(_sums(first.heavy, of_second)))
    return Readings(light, _merged(streams, most))


def _of_either_kind(readings: Readings, most: int) -> list[RuleReading]:
    """Return the best of the light and heavy readings, in one list."""
    streams = [_Stream(iter(readings.light)), _Stream(iter(readings.heavy))]
    return _merged(streams, most)


def _joined(first: RuleReading, second: RuleReading) -> RuleReading:
    """Return the reading of two parts that follow each other."""
    cost, replacements = _sum(first, second)
    key = (first.key * second.power + second.key) % _MODULUS
    power = first.power * second.power % _MODULUS
    return RuleReading(cost, replacements, key, power, None, first, second)


def _sums(first: Sequence[RuleReading], second: Sequence[RuleReading]) -> Iterator[RuleReading]:
    """Yield each reading of one list joined with each of the other, by cost, computed lazily.

    Both lists rise, so in the grid of sums no cell is cheaper than the one above it or to its left.
    The heap holds the cells next to those that were yielded: the cheapest of all others is in it.
    """
    if not first or not second:
        return
    # cost, replacements, and the places in both lists
    heap = [(*_sum(first[0], second[0]), 0, 0)]
    while heap:
        _, _, i, j = heappop(heap)
        yield _joined(first[i], second[j])
        if j + 1 < len(second):
            heappush(heap, (*_sum(first[i], second[j + 1]), i, j + 1))
        # each cell once: down the first column, then along its row
        if j == 0 and i + 1 < len(first):
            heappush(heap, (*_sum(first[i + 1], second[j]), i + 1, 0))


def _sum(first: RuleReading, second: RuleReading) -> tuple[float, int]:
    """Return the cost and the number of replacements of two readings together."""
    return first.cost + second.cost, first.replacements + second.replacements


def _merged(streams: Sequence[_Stream], most: int) -> list[RuleReading]:
    """Return the cheapest readings of several streams, at most one of each wording.

    The heap has one entry a stream: its next reading, or at first its bound without a reading, so
    that nothing of a stream is computed before its turn can have come. The cheapest entry is never
    more expensive than a reading still to come, so the first reading of a wording is its best.
    """
    # cost, replacements, the number of the stream, and the reading
    heap: list[tuple[float, int, int, RuleReading | None]] = []
    for number, stream in enumerate(streams):
        heap.append((stream.bound, 0, number, None))
    heapify(heap)
    best: dict[int, RuleReading] = {}
    while heap and len(best) < most:
        _, _, number, reading = heappop(heap)
        if reading is not None:
            best.setdefault(reading.key, reading)
        following = next(streams[number].readings, None)
        if following is not None:
            heappush(heap, (following.cost, following.replacements, number, following))
    return list(best.values())


@dataclass(eq=False)
class _Applied:
    """Apply a rule at a node; the readings of its parts are computed on request."""

    match: Match
    made: dict[int, Readings]  # of the nodes below
    pieces: _Pieces
    most: int  # how many readings of each kind are kept

    @cached_property
    def _body(self) -> Readings:
        """The best readings of the rule's target side: its words, and those of its variables."""
        parts: list[Readings] = []
        place = 0
        for is_word, group in groupby(self.match.rule.target.items, _is_word):
            items = list(group)
            end = place + len(items)
            if is_word:
                parts.append(_alone(self.pieces.of_rule(self.match, place, end)))
            else:
                parts += [self._variable(int(number)) for number in items]
            place = end
        if not parts:
            parts.append(_alone(self.pieces.kept(0, 0)))  # a rule that deletes all
        return _in_a_row(parts, self.most)

    def _variable(self, number: int) -> Readings:
        """Return the readings of the node that a variable of the rule stands for."""
        node = self.match.variables[number]
        if node in self.made:
            return self.made[node]
        start, end = self.pieces.spans[node]
        return _alone(self.pieces.kept(start, end))

    def readings(self, *, heavy: bool) -> Iterator[RuleReading]:
        """Yield the readings of one kind, by cost.

        A minor rule leaves its body as light or heavy as it is; another rule makes all heavy.
        """
        rule = self.match.rule
        bodies: list[RuleReading] = []
        if rule.minor and heavy:
            bodies = self._body.heavy
        elif rule.minor:
            bodies = self._body.light
        elif heavy:
            bodies = _of_either_kind(self._body, self.most)
        for body in bodies:
            cost = body.cost + rule.cost
            replacements = body.replacements + 1
            yield RuleReading(cost, replacements, body.key, body.power, self.match, body)


def _is_word(item: str | int) -> bool:
    """Return whether an item of a side is a word; a number is a variable."""
    return isinstance(item, str)
