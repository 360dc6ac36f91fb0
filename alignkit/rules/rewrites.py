"""Rewrite parsed sentences with learned rules: the k best wordings, computed bottom-up.

Each node of the tree at which a rule matches, or above such a node, gets the k best readings of its
words, by cost. They are made from the readings of its parts, which come next to each other
(`_beside`), and from the rules that match at the node (`_Applied`). All this is lazy, as in Huang &
Chiang 2005: a reading is only computed if it can be among the k best (`_merged`, `_sums`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, reduce
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import groupby
from math import prod
from typing import NamedTuple

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.model.trees import Tree
from alignkit.rules.grammar import RuleType
from alignkit.rules.rule_index import Match, RuleIndex, SideWording

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
    key: int  # a hash of the words: equal wordings have equal keys
    power: int  # _BASE to the number of words: to put the key of following words behind this one
    what: KeptWords | RuleWords | Match | None = None
    left: RuleReading | None = None  # the parts; an applied rule has its body on the left alone
    right: RuleReading | None = None


class Readings(NamedTuple):
    """The best readings of a part, each list by cost, without duplicates in a list."""

    light: list[RuleReading]
    heavy: list[RuleReading]  # those in which at least one rule changed more


class _Stream(NamedTuple):
    """Readings by cost, and a lower limit of their costs."""

    readings: Iterator[RuleReading]
    bound: float = 0.0


def best_readings(
    tree: Tree, matches: Iterator[list[Match]], most: int
) -> tuple[Readings, RuleReading]:
    """Return the best readings of a tree, and the reading that is the sentence itself."""
    words = _Keys(tree)
    made: dict[int, Readings] = {}  # of nodes below which something matches
    children: dict[int, list[int]] = {}  # those in `made`, from right to left
    parents = tree.parents.tolist()
    for node, node_matches in zip(reversed(range(len(parents))), matches, strict=True):
        below = children.pop(node, [])
        if not node_matches and not below:
            continue
        around = _in_a_row(_parts(words, made, node, below), most)
        light = [_Stream(iter(around.light))]
        heavy = [_Stream(iter(around.heavy))]
        for match in node_matches:
            cost = match.rule.cost
            applied = _Applied(match, made, words, most)
            if match.rule.minor:
                light.append(_Stream(applied.readings(heavy=False), cost))
            heavy.append(_Stream(applied.readings(heavy=True), cost))
        made[node] = Readings(_merged(light, most), _merged(heavy, most))
        children.setdefault(parents[node], []).append(node)
    unchanged = words.kept(0, len(tree.words))
    return made.get(0, _alone(unchanged)), unchanged


def _parts(words: _Keys, made: dict[int, Readings], node: int, below: list[int]) -> list[Readings]:
    """Return the readings of the parts of a node if no rule is applied at the node itself.

    The parts are the children of `below` (from right to left), and the unchanged words between
    them.
    """
    parts: list[Readings] = []
    place, end = words.spans[node]
    for child in reversed(below):
        start, after = words.spans[child]
        if start != place:
            parts.append(_alone(words.kept(place, start)))
        parts.append(made[child])
        place = after
    if place != end or not parts:
        parts.append(_alone(words.kept(place, end)))
    return parts


class _Keys:
    """Make readings of single pieces, with keys that add up.

    The key of words is a polynomial in _BASE, modulo a prime, with a hash of each word (ignoring
    case) as coefficients (Karp & Rabin 1987). So the key of two parts in a row comes from their
    keys, without their words.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.spans = list(zip(tree.starts.tolist(), tree.ends.tolist(), strict=True))
        self._codes: dict[str, int] = {}
        self._before = [0]  # the key of the first n words
        self._powers = [1]
        for word in tree.words:
            self._before.append((self._before[-1] * _BASE + self._code(word)) % _MODULUS)
            self._powers.append(self._powers[-1] * _BASE % _MODULUS)

    def _code(self, word: str) -> int:
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

    def said(self, match: Match, start: int, end: int) -> RuleReading:
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


class _Applied:
    """Apply a rule at a node; the readings of its parts are computed on request."""

    def __init__(self, match: Match, made: dict[int, Readings], words: _Keys, most: int) -> None:
        self.match = match
        self._made = made
        self._words = words
        self._most = most

    @cached_property
    def _body(self) -> Readings:
        """The best readings of the rule's target side: its words, and those of its variables."""
        parts: list[Readings] = []
        place = 0
        for is_word, group in groupby(self.match.rule.target.items, _is_word):
            items = list(group)
            end = place + len(items)
            if is_word:
                parts.append(_alone(self._words.said(self.match, place, end)))
            else:
                parts += [self._variable(int(number)) for number in items]
            place = end
        if not parts:
            parts.append(_alone(self._words.kept(0, 0)))
        return _in_a_row(parts, self._most)

    def _variable(self, number: int) -> Readings:
        """Return the readings of the node that a variable of the rule stands for."""
        node = self.match.variables[number]
        if node in self._made:
            return self._made[node]
        start, end = self._words.spans[node]
        return _alone(self._words.kept(start, end))

    def readings(self, *, heavy: bool) -> Iterator[RuleReading]:
        """Yield the readings of one kind, by cost."""
        rule = self.match.rule
        bodies: list[RuleReading] = []
        if rule.minor and heavy:
            bodies = self._body.heavy
        elif rule.minor:
            bodies = self._body.light
        elif heavy:
            bodies = _of_either_kind(self._body, self._most)
        for body in bodies:
            cost = body.cost + rule.cost
            replacements = body.replacements + 1
            yield RuleReading(cost, replacements, body.key, body.power, self.match, body)


def _is_word(item: str | int) -> bool:
    """Return whether an item of a side is a word; a number is a variable."""
    return isinstance(item, str)


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
        words: list[_Word] = []
        for piece in pieces:
            if isinstance(piece, KeptWords):
                words += map(self._stays, range(piece.start, piece.end))
            else:
                words += self._said(piece)
        initial = None
        if self._capital:
            initial = _initial([word.text for word in words])
        for place, word in enumerate(words):
            if place == initial:
                if word.text.islower():
                    word.text = word.text[0].upper() + word.text[1:]
            elif word.first and not _keeps_its_case(word):
                word.text = _lowered(word.text)
        return tuple(word.text for word in words), tuple(word.origin for word in words)

    def _stays(self, i: int) -> _Word:
        """Return a word of the sentence."""
        return _Word(self._tree.words[i], i, self._labels[i], i == self._initial)

    def _said(self, piece: RuleWords) -> Iterator[_Word]:
        """Yield the words of a rule; those that the sentence has there too are taken from it."""
        target = piece.match.rule.target
        positions = self._positions(piece.match)
        old = [word for word in piece.match.rule.source.items if isinstance(word, str)]
        began_a_sentence = False  # where the rule was learned, and it does not here
        if old and old[0][:1].isupper():
            began_a_sentence = self._tree.words[positions[0]][:1].islower()
        places: dict[str, list[int]] = {}  # of each word of the fragment
        for word, position in zip(old, positions, strict=True):
            places.setdefault(word.casefold(), []).append(position)
        # the items before the piece use up their words of the sentence
        for place, item in enumerate(target.items[: piece.end]):
            if not isinstance(item, str):
                continue
            unused = places.get(item.casefold())
            if unused:
                said = self._stays(unused.pop(0))
            else:
                said = self._new(target, place, began_a_sentence)
            if place >= piece.start:
                yield said

    def _new(self, target: SideWording, place: int, began_a_sentence: bool) -> _Word:
        """Return a word of a rule that is not in the sentence."""
        text = str(target.items[place])
        word = _Word(text, -1, target.labels[place], place == 0)
        if place == 0 and began_a_sentence and not _is_proper(word):
            word.text = _lowered(text)
        return word

    def _positions(self, match: Match) -> list[int]:
        """Return the positions of the words that a rule matched: those below no variable."""
        starts = self._tree.starts
        ends = self._tree.ends
        positions: list[int] = []
        place = int(starts[match.node])
        for node in match.variables:
            positions += range(place, int(starts[node]))
            place = max(place, int(ends[node]))
        positions += range(place, int(ends[match.node]))
        return positions


def _labels_above(tree: Tree) -> list[str]:
    """Return the label of the node right above each word."""
    labels = [""] * len(tree.words)
    ends = tree.ends.tolist()
    place = 0
    path: list[int] = []  # from the root to the last node; all begin at or before `place`
    for node, start in [*enumerate(tree.starts.tolist()), (-1, len(labels))]:
        while place < start:
            while ends[path[-1]] <= place:
                path.pop()
            labels[place] = tree.labels[path[-1]]
            place += 1
        path.append(node)
    return labels


def _initial(words: Sequence[str]) -> int | None:
    """Return the place of the first word that begins with a letter that has a capital."""
    for place, word in enumerate(words):
        if word[:1].upper() != word[:1].lower():
            return place
    return None


def _keeps_its_case(word: _Word) -> bool:
    """Return whether the first letter of a word stays as it is within a sentence."""
    if _is_proper(word):
        return True
    if word.origin < 0 and (not word.label or word.label.startswith(_NOUN)):
        return True
    has_one_capital = len(word.text) == 1 or word.text[1:].islower()
    return not (word.text[:1].isupper() and has_one_capital)


def _is_proper(word: _Word) -> bool:
    if word.label.startswith(_PROPER):
        return True
    return word.text == "I" or word.text.startswith(("I'", "I’"))


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


@dataclass(frozen=True)
class Replacement:
    """A place where a rule was applied.

    Part of `Rewrite.replacements`.

    Parameters
    ----------
    rule : The rule with its weights.
    node : The node of the tree that its source side matched.
    start, end : The span of words below that node.

    Examples
    --------
    >>> from alignkit import Tree
    >>> from alignkit.rules import RuleIndex, RuleType, paraphrase, parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
    >>> tree = Tree.parse("(S (NP (DT The) (NN car)) (VP (VBD stopped)))")
    >>> rewrite = next(iter(paraphrase(tree, RuleIndex.build([rule]))))
    >>> [(each.start, each.end) for each in rewrite.replacements]
    [(1, 2)]
    """

    rule: RuleType
    node: int
    start: int
    end: int


@dataclass(frozen=True)
class Rewrite:
    """A rewritten sentence.

    Returned by `paraphrase`.

    Parameters
    ----------
    words : The words.
    probability : The product of p(target side | source side) of the applied rules.
    replacements : The applied rules and their places, from the root down, left to right.
    minor : Whether only punctuation or determiners changed.
    origins : The position of each word in the original sentence; -1 for a new word.

    Examples
    --------
    >>> from alignkit import Tree
    >>> from alignkit.rules import RuleIndex, RuleType, paraphrase, parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
    >>> tree = Tree.parse("(S (NP (DT The) (NN car)) (VP (VBD stopped)))")
    >>> rewrite = next(iter(paraphrase(tree, RuleIndex.build([rule]))))
    >>> rewrite.words, rewrite.probability, rewrite.marked(tree.words)
    (('The', 'auto', 'stopped'), 0.5, 'The [car → auto] stopped')
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
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        for kind, old_start, old_end, start, end in matcher.get_opcodes():
            if kind == "equal":
                parts += self.words[start:end]
                continue
            before = " ".join(words[old_start:old_end])
            after = " ".join(self.words[start:end])
            change = mark.format(before, after)
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

    Examples
    --------
    >>> from alignkit.rules import RuleType, parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
    >>> tree = Tree.parse("(S (NP (DT The) (NN car)) (VP (VBD stopped)))")
    >>> [rewrite] = paraphrase(tree, RuleIndex.build([rule]))
    >>> rewrite.words, rewrite.probability
    (('The', 'auto', 'stopped'), 0.5)
    """
    check_arguments(paraphrase, locals())
    if nbest < 1:
        raise OptionError(f"`nbest` is {nbest}; it must be 1 or more")
    readings, unchanged = best_readings(tree, rules.matches(tree), nbest + 1)
    chosen: dict[int, tuple[RuleReading, bool]] = {}
    for minor, part in ((False, readings.heavy), (True, readings.light)):
        for reading in part:
            if len(chosen) < nbest and reading.key != unchanged.key:
                chosen.setdefault(reading.key, (reading, minor))
    capitals = Capitals(tree)
    return [_rewrite(tree, capitals, reading, minor) for reading, minor in chosen.values()]


def _rewrite(tree: Tree, capitals: Capitals, reading: RuleReading, minor: bool) -> Rewrite:
    """Read the words and the applied rules off a reading of a tree."""
    pieces: list[KeptWords | RuleWords] = []
    applied: list[Match] = []
    remaining: list[RuleReading | None] = [reading]
    while remaining:
        part = remaining.pop()
        if part is None:
            continue
        if isinstance(part.what, Match):
            applied.append(part.what)
        elif part.what is not None:
            pieces.append(part.what)
        remaining += (part.right, part.left)
    words, origins = capitals.put(pieces)
    replacements: list[Replacement] = []
    for match in sorted(applied, key=lambda match: match.node):
        start = int(tree.starts[match.node])
        end = int(tree.ends[match.node])
        replacements.append(Replacement(match.rule.type, match.node, start, end))
    probability = prod(place.rule.p_target or 0.0 for place in replacements)
    return Rewrite(words, probability, tuple(replacements), minor, origins)
