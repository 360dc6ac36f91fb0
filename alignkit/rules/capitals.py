"""Capitalize the words of rewritten sentences: which keep their first letter, and which change it.

Words keep their case, with two exceptions. The first word of a sentence has a capital because it is
first: if another word takes its place, that one gets the capital, and the old one loses it, unless
it is a proper noun. The first word of a rule loses a capital too, as the rule may have been learned
at the beginning of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from alignkit.model.trees import Tree
from alignkit.rules.readings import KeptWords, RuleWords
from alignkit.rules.rule_index import Match, SideWording

_PROPER = ("NNP", "PROPN", "NE")
_NOUN = ("N", "PROPN")
"""The prefixes of labels of proper nouns and nouns; some languages capitalize all nouns."""


@dataclass
class _Word:
    """A word of the rewritten sentence."""

    text: str
    origin: int  # its place in the sentence; -1 for a new word
    label: str  # of the node right above it; empty if the rule has none
    first: bool  # of the sentence, or of a rule's target side


class Capitals:
    """Capitalize rewritten sentences like the original sentence."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._labels = _labels_above(tree)
        self._initial = _initial(tree.words)
        self._capital = self._initial is not None and tree.words[self._initial][0].isupper()

    def words_of(
        self, pieces: Iterable[KeptWords | RuleWords]
    ) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the words of the pieces, and the original position of each; -1 for new words."""
        words: list[_Word] = []
        for piece in pieces:
            if isinstance(piece, KeptWords):
                words += map(self._kept, range(piece.start, piece.end))
            else:
                words += self._of_rule(piece)
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

    def _kept(self, i: int) -> _Word:
        """Return a word of the sentence."""
        return _Word(self._tree.words[i], i, self._labels[i], i == self._initial)

    def _of_rule(self, piece: RuleWords) -> Iterator[_Word]:
        """Yield the words of a rule; those that the sentence has there too are taken from it."""
        target = piece.match.rule.target
        positions = self._positions(piece.match)
        old = [text for text in piece.match.rule.source.items if isinstance(text, str)]
        # the source side began a sentence where the rule was learned, and does not here
        began_a_sentence = False
        if old and old[0][:1].isupper():
            began_a_sentence = self._tree.words[positions[0]][:1].islower()
        # the positions in the sentence of each word of the source side
        places: dict[str, list[int]] = {}
        for text, position in zip(old, positions, strict=True):
            places.setdefault(text.casefold(), []).append(position)
        # the items before the piece use up their words of the sentence
        for place, item in enumerate(target.items[: piece.end]):
            if not isinstance(item, str):
                continue
            unused = places.get(item.casefold())
            if unused:
                word = self._kept(unused.pop(0))
            else:
                word = self._new(target, place, began_a_sentence)
            if place >= piece.start:
                yield word

    def _new(self, target: SideWording, place: int, began_a_sentence: bool) -> _Word:
        """Return a word of a rule that is not in the sentence."""
        text = str(target.items[place])
        word = _Word(text, -1, target.labels[place], place == 0)
        if place == 0 and began_a_sentence and not _is_proper(word):
            word.text = _lowered(text)
        return word

    def _positions(self, match: Match) -> list[int]:
        """Return the positions of the words that a rule matched: those below no variable."""
        positions: list[int] = []
        place, end = self._tree.span(match.node)
        for node in match.variables:
            start, after = self._tree.span(node)
            positions += range(place, start)
            place = max(place, after)
        positions += range(place, end)
        return positions


def _labels_above(tree: Tree) -> list[str]:
    """Return the label of the node right above each word."""
    labels = [""] * len(tree.words)
    ends = tree.ends.tolist()
    place = 0
    path: list[int] = []  # from the root to the last node; all begin at or before `place`
    # the words before a node begins are below the nodes before it; at the end comes no node
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
    """Return whether a word is always capitalized: a proper noun, or "I"."""
    if word.label.startswith(_PROPER):
        return True
    return word.text == "I" or word.text.startswith(("I'", "I’"))


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
