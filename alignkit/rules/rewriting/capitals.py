"""Give rewritten sentences capitals where the sentence had them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from alignkit.rules.rewriting.forest import Kept, Said
from alignkit.rules.rewriting.rule_index import Match
from alignkit.trees import Tree

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

    def put(self, pieces: Iterable[Kept | Said]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the words of what is said, and the position that each had; -1 for new ones."""
        made: list[_Word] = []
        for piece in pieces:
            made += self._kept(piece) if isinstance(piece, Kept) else self._said(piece)
        begins = _initial([word.text for word in made]) if self._capital else None
        for place, word in enumerate(made):
            if place == begins:
                if word.text.islower():
                    word.text = word.text[0].upper() + word.text[1:]
            elif word.first and not _has_its_own(word):
                word.text = _lowered(word.text)
        return tuple(word.text for word in made), tuple(word.origin for word in made)

    def _kept(self, piece: Kept) -> Iterator[_Word]:
        return map(self._stays, range(piece.start, piece.end))

    def _stays(self, i: int) -> _Word:
        return _Word(self._tree.words[i], i, self._labels[i], i == self._initial)

    def _said(self, piece: Said) -> Iterator[_Word]:
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
