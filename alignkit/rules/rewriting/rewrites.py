"""Rewrite parsed sentences by rules that were learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import prod

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.model.trees import Tree
from alignkit.rules.grammar import RuleType
from alignkit.rules.rewriting.forest import KeptWords, RuleReading, RuleWords, best_readings
from alignkit.rules.rewriting.rule_index import Match, RuleIndex

_PROPER = ("NNP", "PROPN", "NE")
_NOUN = ("N", "PROPN")
"""How labels of proper nouns begin; in some languages all nouns have capitals."""


@dataclass
class _Word:
    text: str
    origin: int  # in the sentence; -1 for a new word
    label: str
    first: bool  # of the sentence, or of a rule's target side


class Capitals:
    """Write rewritten sentences as the sentence was written."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._labels = _labels_above(tree)
        self._initial = _initial(tree.words)
        self._capital = self._initial is not None and tree.words[self._initial][0].isupper()

    def put(
        self, pieces: Iterable[KeptWords | RuleWords]
    ) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the words of what is said, and the position that each had; -1 for new ones."""
        made: list[_Word] = []
        for piece in pieces:
            made += self._kept(piece) if isinstance(piece, KeptWords) else self._said(piece)
        begins = _initial([word.text for word in made]) if self._capital else None
        for place, word in enumerate(made):
            if place == begins:
                if word.text.islower():
                    word.text = word.text[0].upper() + word.text[1:]
            elif word.first and not _has_its_own(word):
                word.text = _lowered(word.text)
        return tuple(word.text for word in made), tuple(word.origin for word in made)

    def _kept(self, piece: KeptWords) -> Iterator[_Word]:
        return map(self._stays, range(piece.start, piece.end))

    def _stays(self, i: int) -> _Word:
        return _Word(self._tree.words[i], i, self._labels[i], i == self._initial)

    def _said(self, piece: RuleWords) -> Iterator[_Word]:
        source, target = piece.match.rule.source, piece.match.rule.target
        positions = self._positions(piece.match)
        old = [word for word in source.items if isinstance(word, str)]
        places: dict[str, list[int]] = {}  # of each word that the fragment has, the first one last
        for word, position in zip(reversed(old), reversed(positions), strict=True):
            places.setdefault(word.casefold(), []).append(position)
        for k, item in enumerate(target.items[: piece.end]):
            if not isinstance(item, str):
                continue
            left = places.get(item.casefold())
            if left:
                made = self._stays(left.pop())
            else:
                label = target.labels[k]
                made = _Word(item, -1, label, k == 0)
                if k == 0 and self._began_a_sentence(old, positions) and not _is_proper(made):
                    made.text = _lowered(item)
            if k >= piece.start:
                yield made

    def _began_a_sentence(self, old: list[str], positions: list[int]) -> bool:
        if not old or not old[0][:1].isupper():
            return False
        return self._tree.words[positions[0]][:1].islower()

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
    ends, place = tree.ends.tolist(), 0
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
    """Where a rule was applied.

    Parameters
    ----------
    rule
        The rule with its weights.
    node
        The node of the tree at which its source side matched.
    start, end
        The span of words below that node.
    """

    rule: RuleType
    node: int
    start: int
    end: int


@dataclass(frozen=True)
class Rewrite:
    """Another way to say a sentence.

    Parameters
    ----------
    words
        The words.
    probability
        The product of p(target side | source side) of the rules applied.
    replacements
        The rules applied, and where; from the root down, left to right.
    minor
        Punctuation or determiners alone are changed.
    origins
        For each word its position in the sentence that was rewritten; -1 for a new one.
    """

    words: tuple[str, ...]
    probability: float
    replacements: tuple[Replacement, ...]
    minor: bool
    origins: tuple[int, ...]

    def marked(self, words: tuple[str, ...], mark: str = "[{} → {}]") -> str:
        """Return the sentence as text, changes of `words` in it written as `mark` has it.

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
    """Rewrite a parsed sentence: match source sides, put target sides, and read off the words.

    Several rules may be applied at once, at nodes that are not within each other's fragments; one
    may be below a variable of another.

    Parameters
    ----------
    tree, rules, nbest
        The parsed sentence, the rules to apply, and the most rewrites to return.

    Returns
    -------
    list
        Different rewrites, none of which is the sentence itself (but for case): the most probable
        ones, and where there is room those in which punctuation or determiners alone change. Of
        equal words the most probable way to come to them is told.

    Raises
    ------
    OptionError
        If `nbest` is less than 1.

    Notes
    -----
    The n best are exact: see `alignkit.rules.rewriting.forest.best_readings`. Words that stay keep
    their case, but for the sentence's first word: what comes first takes its capital, and if it
    moves, it gives it up unless it is a proper noun.

    References
    ----------
    Cohn & Lapata 2007, Large margin synchronous generation and its application to sentence
    compression, EMNLP-CoNLL: 73-82, for the grammar; Huang & Chiang 2005, Better k-best parsing,
    IWPT: 53-64.
    """
    check_arguments(paraphrase, locals())
    if nbest < 1:
        raise OptionError(f"nbest is {nbest}; it must be 1 or more")
    readings, is_itself = best_readings(tree, rules.matches(tree), nbest + 1)
    chosen: dict[int, tuple[RuleReading, bool]] = {}
    for minor, part in ((False, readings.heavy), (True, readings.light)):
        for reading in part:
            if len(chosen) < nbest and not is_itself(reading):
                chosen.setdefault(reading.key, (reading, minor))
    capitals = Capitals(tree)
    return [_rewrite(tree, capitals, *pair) for pair in chosen.values()]


def _rewrite(tree: Tree, capitals: Capitals, reading: RuleReading, minor: bool) -> Rewrite:
    pieces = list(_pieces(reading))
    words, origins = capitals.put(x for x in pieces if not isinstance(x, Match))
    replacements = tuple(
        Replacement(x.rule.type, x.node, int(tree.starts[x.node]), int(tree.ends[x.node]))
        for x in sorted((x for x in pieces if isinstance(x, Match)), key=lambda x: x.node)
    )
    probability = prod(x.rule.p_target or 0.0 for x in replacements)
    return Rewrite(words, probability, replacements, minor, origins)


def _pieces(reading: RuleReading) -> Iterator[KeptWords | RuleWords | Match]:
    left: list[RuleReading | None] = [reading]
    while left:
        if (part := left.pop()) is not None:
            if part.what is not None:
                yield part.what
            left += (part.right, part.left)
