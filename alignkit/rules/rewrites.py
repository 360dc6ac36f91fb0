"""Rewrite parsed sentences with learned rules: the k best wordings, computed bottom-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, reduce
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import groupby
from math import prod
from typing import NamedTuple, TypeAlias

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.model.trees import Tree
from alignkit.rules.grammar import RuleType
from alignkit.rules.rule_index import Match, RuleIndex

_MODULUS = 2**127 - 1
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
    """One wording of a part of the sentence."""

    cost: float  # the sum of the costs of the rules applied
    replacements: int  # how many there are
    key: int
    power: int
    what: KeptWords | RuleWords | Match | None = None
    left: RuleReading | None = None  # the parts; left alone is what an applied rule came to
    right: RuleReading | None = None


class Readings(NamedTuple):
    """The best readings of a part, each list by cost, without duplicates in a list."""

    light: list[RuleReading]
    heavy: list[RuleReading]  # those in which at least one rule changed more


_Stream: TypeAlias = "tuple[float, Iterator[RuleReading]]"
"""Readings by cost, and a lower limit of their costs."""


def best_readings(
    tree: Tree, matches: Iterator[list[Match]], most: int
) -> tuple[Readings, Callable[[RuleReading], bool]]:
    """Return the best readings of a tree, and a test whether a reading is the sentence itself."""
    words = _Keys(tree)
    made: dict[int, Readings] = {}  # of nodes below which something matches
    children: dict[int, list[int]] = {}  # those in `made`, from right to left
    parents = tree.parents.tolist()
    for node, node_matches in zip(reversed(range(len(parents))), matches, strict=True):
        below = children.pop(node, [])
        if not node_matches and not below:
            continue
        place, end = words.spans[node]
        parts: list[Readings] = []
        for child in reversed(below):
            start, after = words.spans[child]
            if start != place:
                parts += [_alone(words.kept(place, start))]
            parts.append(made[child])
            place = after
        if not (place == end and parts):
            parts += [_alone(words.kept(place, end))]
        light, heavy = ([(0.0, iter(readings))] for readings in _in_a_row(parts, most))
        for match in node_matches:
            applied = _Applied(match, made, words, most)
            if match.rule.minor:
                light.append((match.rule.cost, applied.readings(heavy=False)))
            heavy.append((match.rule.cost, applied.readings(heavy=True)))
        made[node] = Readings(_merged(light, most), _merged(heavy, most))
        children.setdefault(parents[node], []).append(node)
    unchanged = words.kept(0, len(tree.words))
    return made.get(0) or _alone(unchanged), lambda reading: reading.key == unchanged.key


class _Keys:
    """Make readings of single pieces, with keys: hashes of all words that add up."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.spans = list(zip(tree.starts.tolist(), tree.ends.tolist(), strict=True))
        self._codes: dict[str, int] = {}
        self._before = [0]
        self._powers = [1]
        for word in tree.words:
            self._before.append((self._before[-1] * _BASE + self._code(word)) % _MODULUS)
            self._powers.append(self._powers[-1] * _BASE % _MODULUS)

    def _code(self, word: str) -> int:
        if word not in self._codes:
            text = word.casefold().encode("utf-8", "surrogatepass")
            self._codes[word] = int.from_bytes(blake2b(text, digest_size=15).digest(), "big") + 1
        return self._codes[word]

    def kept(self, start: int, end: int) -> RuleReading:
        """Return the reading of an unchanged span."""
        power = self._powers[end - start]
        key = (self._before[end] - self._before[start] * power) % _MODULUS
        return RuleReading(0.0, 0, key, power, KeptWords(start, end))

    def said(self, match: Match, start: int, end: int) -> RuleReading:
        """Return the reading of words of a rule."""
        key = 0
        power = 1
        for word in match.rule.target.items[start:end]:
            key = (key * _BASE + self._code(str(word))) % _MODULUS
            power = power * _BASE % _MODULUS
        return RuleReading(0.0, 0, key, power, RuleWords(match, start, end))


def _alone(reading: RuleReading) -> Readings:
    return Readings([reading], [])


def _in_a_row(parts: Iterable[Readings], most: int) -> Readings:
    return reduce(lambda first, second: _beside(first, second, most), parts)


def _beside(first: Readings, second: Readings, most: int) -> Readings:
    if len(second.light) == 1 and not second.heavy:
        return Readings(*([_joined(x, second.light[0]) for x in part] for part in first))
    if len(first.light) == 1 and not first.heavy:
        return Readings(*([_joined(first.light[0], x) for x in part] for part in second))
    light = _merged([(0.0, _corner(first.light, second.light))], most)
    if not first.heavy and not second.heavy:
        return Readings(light, [])
    if first.heavy:
        after = _of_either_kind(second, most)
    else:
        after = []
    pairs = (first.light, second.heavy), (first.heavy, after)
    return Readings(light, _merged([(0.0, _corner(*pair)) for pair in pairs], most))


def _of_either_kind(readings: Readings, most: int) -> list[RuleReading]:
    return _merged([(0.0, iter(part)) for part in readings], most)


def _joined(mine: RuleReading, other: RuleReading) -> RuleReading:
    key = (mine.key * other.power + other.key) % _MODULUS
    power = mine.power * other.power % _MODULUS
    return RuleReading(*_sum(mine, other), key, power, None, mine, other)


def _corner(first: Sequence[RuleReading], second: Sequence[RuleReading]) -> Iterator[RuleReading]:
    if not first or not second:
        return
    heap = [(*_sum(first[0], second[0]), 0, 0)]
    while heap:
        _, _, i, j = heappop(heap)
        mine = first[i]
        other = second[j]
        yield _joined(mine, other)
        if j + 1 < len(second):
            heappush(heap, (*_sum(mine, second[j + 1]), i, j + 1))
        if not j and i + 1 < len(first):  # each place once: down the first column, then along
            heappush(heap, (*_sum(first[i + 1], other), i + 1, 0))


def _sum(mine: RuleReading, other: RuleReading) -> tuple[float, int]:
    return mine.cost + other.cost, mine.replacements + other.replacements


class _Applied:
    """Apply a rule at a node; the readings of its parts are computed on request."""

    def __init__(self, match: Match, made: dict[int, Readings], words: _Keys, most: int) -> None:
        self.match = match
        self._made = made
        self._words = words
        self._most = most

    @cached_property
    def _body(self) -> Readings:
        parts: list[Readings] = []
        place = 0
        for numbered, items in groupby(self.match.rule.target.items, lambda x: isinstance(x, int)):
            run = list(items)
            for item in run if numbered else ():
                node = self.match.variables[int(item)]
                words = self._words.kept(*self._words.spans[node])
                parts.append(self._made.get(node) or _alone(words))
            if not numbered:
                parts.append(_alone(self._words.said(self.match, place, place + len(run))))
            place += len(run)
        return _in_a_row(parts or [_alone(self._words.kept(0, 0))], self._most)

    def readings(self, *, heavy: bool) -> Iterator[RuleReading]:
        """Yield the readings of one kind, by cost."""
        rule = self.match.rule
        if rule.minor:
            bodies = self._body.heavy if heavy else self._body.light
        elif heavy:
            bodies = _of_either_kind(self._body, self._most)
        else:
            bodies = []
        for body in bodies:
            cost = body.cost + rule.cost
            replacements = body.replacements + 1
            yield RuleReading(cost, replacements, body.key, body.power, self.match, body)


def _merged(opened: Sequence[_Stream], most: int) -> list[RuleReading]:
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


_PROPER = ("NNP", "PROPN", "NE")
_NOUN = ("N", "PROPN")
"""The prefixes of labels of proper nouns and nouns; some languages capitalize all nouns."""


@dataclass
class _Word:
    text: str
    origin: int  # in the sentence; -1 for a new word
    label: str
    first: bool  # of the sentence, or of a rule's target side


class Capitals:
    """Capitalize rewritten sentences like the original sentence."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._labels = _labels_above(tree)
        self._initial = _initial(tree.words)
        self._capital = self._initial is not None and tree.words[self._initial][0].isupper()

    def put(
        self, pieces: Iterable[KeptWords | RuleWords]
    ) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the words of the pieces, and the original position of each; -1 for new words."""
        made: list[_Word] = []
        for piece in pieces:
            if isinstance(piece, KeptWords):
                made += map(self._stays, range(piece.start, piece.end))
            else:
                made += self._said(piece)
        if self._capital:
            begins = _initial([word.text for word in made])
        else:
            begins = None
        for place, word in enumerate(made):
            if place == begins:
                if word.text.islower():
                    word.text = word.text[0].upper() + word.text[1:]
            elif word.first and not _has_its_own(word):
                word.text = _lowered(word.text)
        return tuple(word.text for word in made), tuple(word.origin for word in made)

    def _stays(self, i: int) -> _Word:
        return _Word(self._tree.words[i], i, self._labels[i], i == self._initial)

    def _said(self, piece: RuleWords) -> Iterator[_Word]:
        source = piece.match.rule.source
        target = piece.match.rule.target
        positions = self._positions(piece.match)
        old = [word for word in source.items if isinstance(word, str)]
        began_a_sentence = (
            bool(old) and old[0][:1].isupper() and self._tree.words[positions[0]][:1].islower()
        )
        places: dict[str, list[int]] = {}  # of each word that the fragment has, the first one last
        for word, position in zip(reversed(old), reversed(positions), strict=True):
            places.setdefault(word.casefold(), []).append(position)
        for k, item in enumerate(target.items[: piece.end]):
            if not isinstance(item, str):
                continue
            if left := places.get(item.casefold()):
                made = self._stays(left.pop())
            else:
                made = _Word(item, -1, target.labels[k], k == 0)
                if k == 0 and began_a_sentence and not _is_proper(made):
                    made.text = _lowered(item)
            if k >= piece.start:
                yield made

    def _positions(self, match: Match) -> list[int]:
        starts, ends = self._tree.starts, self._tree.ends
        positions: list[int] = []
        place = int(starts[match.node])
        for node in match.variables:
            positions += range(place, int(starts[node]))
            place = max(place, int(ends[node]))
        return [*positions, *range(place, int(ends[match.node]))]


def _labels_above(tree: Tree) -> list[str]:
    labels = [""] * len(tree.words)
    ends = tree.ends.tolist()
    place = 0
    around: list[int] = []
    for node, start in [*enumerate(tree.starts.tolist()), (-1, len(labels))]:
        while place < start:
            while ends[around[-1]] <= place:
                around.pop()
            labels[place] = tree.labels[around[-1]]
            place += 1
        around.append(node)
    return labels


def _initial(words: Sequence[str]) -> int | None:
    return next((k for k, word in enumerate(words) if word[:1].upper() != word[:1].lower()), None)


def _has_its_own(word: _Word) -> bool:
    if _is_proper(word) or (word.origin < 0 and (not word.label or word.label.startswith(_NOUN))):
        return True
    return not word.text[:1].isupper() or not (len(word.text) == 1 or word.text[1:].islower())


def _is_proper(word: _Word) -> bool:
    return word.label.startswith(_PROPER) or word.text == "I" or word.text.startswith(("I'", "I’"))


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


@dataclass(frozen=True)
class Replacement:
    """A place where a rule was applied.

    Parameters
    ----------
    rule : The rule with its weights.
    node : The node of the tree that its source side matched.
    start, end : The span of words below that node.
    """

    rule: RuleType
    node: int
    start: int
    end: int


@dataclass(frozen=True)
class Rewrite:
    """A rewritten sentence.

    Parameters
    ----------
    words : The words.
    probability : The product of p(target side | source side) of the applied rules.
    replacements : The applied rules and their places, from the root down, left to right.
    minor : Whether only punctuation or determiners changed.
    origins : The position of each word in the original sentence; -1 for a new word.
    """

    words: tuple[str, ...]
    probability: float
    replacements: tuple[Replacement, ...]
    minor: bool
    origins: tuple[int, ...]

    def marked(self, words: tuple[str, ...], mark: str = "[{} → {}]") -> str:
        """Return the sentence as text, with the changes from `words` marked as in `mark`.

        Examples
        --------
        >>> Rewrite(("He", "stood", "up"), 0.5, (), False, (0, -1, -1)).marked(("He", "rose"))
        'He [rose → stood up]'
        """
        old = [word.casefold() for word in words]
        new = [word.casefold() for word in self.words]
        parts: list[str] = []
        for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                parts += self.words[k:m]
            else:
                change = mark.format(" ".join(words[i:j]), " ".join(self.words[k:m]))
                parts.append(change.replace("[ ", "[").replace(" ]", "]"))
        return " ".join(parts)


def paraphrase(tree: Tree, rules: RuleIndex, *, nbest: int = 10) -> list[Rewrite]:
    """Rewrite a parsed sentence: match source sides, insert target sides, and read the words.

    Several rules can apply at once, at nodes outside each other's fragments; a node may be below a
    variable of another rule.

    Parameters
    ----------
    tree, rules, nbest : The parsed sentence, the rules to apply, and the most rewrites to return.

    Returns
    -------
    list
        Different rewrites, none equal to the sentence (ignoring case): the most probable ones,
        then, if there is room, those that change only punctuation or determiners. For equal words,
        the most probable derivation is returned.

    Raises
    ------
    OptionError : If `nbest` is less than 1.

    Notes
    -----
    The n best are exact. Unchanged words keep their case, except the first word of the sentence:
    the new first word gets its capital, and if it moves, it loses it, unless it is a proper noun.

    References
    ----------
    Cohn & Lapata 2007, Large margin synchronous generation and its application to sentence
    compression, EMNLP-CoNLL: 73-82, for the grammar; Huang & Chiang 2005, Better k-best parsing,
    IWPT: 53-64.
    """
    check_arguments(paraphrase, locals())
    if nbest < 1:
        raise OptionError(f"`nbest` is {nbest}; it must be 1 or more")
    readings, is_itself = best_readings(tree, rules.matches(tree), nbest + 1)
    chosen: dict[int, tuple[RuleReading, bool]] = {}
    for minor, part in ((False, readings.heavy), (True, readings.light)):
        for reading in part:
            if len(chosen) < nbest and not is_itself(reading):
                chosen.setdefault(reading.key, (reading, minor))
    capitals = Capitals(tree)
    return [_rewrite(tree, capitals, *pair) for pair in chosen.values()]


def _rewrite(tree: Tree, capitals: Capitals, reading: RuleReading, minor: bool) -> Rewrite:
    pieces: list[KeptWords | RuleWords | Match] = []
    left: list[RuleReading | None] = [reading]
    while left:
        if (part := left.pop()) is not None:
            if part.what is not None:
                pieces += [part.what]
            left += (part.right, part.left)
    words, origins = capitals.put(x for x in pieces if not isinstance(x, Match))
    replacements = tuple(
        Replacement(x.rule.type, x.node, int(tree.starts[x.node]), int(tree.ends[x.node]))
        for x in sorted((x for x in pieces if isinstance(x, Match)), key=lambda x: x.node)
    )
    probability = prod(x.rule.p_target or 0.0 for x in replacements)
    return Rewrite(words, probability, replacements, minor, origins)
