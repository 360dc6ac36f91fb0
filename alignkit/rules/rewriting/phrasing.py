"""Read off what a side of a rule says, and judge how little a rule may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from unicodedata import category

from alignkit.rules.rule import Item, Node, Side, Variable

_PUNCTUATION = {
    *(".", ",", ":", "``", "''", '"', "(", ")", "HYPH", "NFP", "PU", "PUNC", "PUNCT"),
    *("-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-", "$,", "$.", "$(", "$["),
}
_DETERMINERS = {"DT", "DET", "ART"}
"""Labels of the Penn treebank, of Universal Dependencies and of treebanks of other languages."""

_NO_PUNCTUATION = frozenset("%&#@*/§")
"""Signs that stand for words."""


class Wording(NamedTuple):
    """The words and variables of a side, in order."""

    items: tuple[str | int, ...]  # words, and variables as their place on the source side
    labels: tuple[str, ...]  # the label of each variable, and above each word; empty in a string


def wording(side: Side, places: Mapping[tuple[str, int], int]) -> Wording:
    """Return the words and variables of a side."""
    items: list[str | int] = []
    labels: list[str] = []
    left: list[tuple[Side | Item, str]] = [(side, "")]
    while left:
        item, label = left.pop()
        if isinstance(item, Variable):
            items.append(places[item.kind, item.number])
            labels.append(item.label)
        elif isinstance(item, str):
            items.append(item)
            labels.append(label)
        elif isinstance(item, Node):
            left += ((child, item.label) for child in reversed(item.children))
        else:
            left += ((child, "") for child in reversed(item))
    return Wording(tuple(items), tuple(labels))


def is_minor(source: Wording, target: Wording) -> bool:
    """Return whether two sides differ in punctuation or determiners alone, but for case."""
    determiners = {
        item.casefold()
        for side in (source, target)
        for item, label in zip(*side, strict=True)
        if isinstance(item, str) and label in _DETERMINERS
    }
    return _weighty(source, determiners) == _weighty(target, determiners)


def _weighty(side: Wording, determiners: set[str]) -> list[str | int]:
    weighty: list[str | int] = []
    for item, label in zip(*side, strict=True):
        word = item if isinstance(item, int) else item.casefold()
        if label:
            light = label in _PUNCTUATION or label in _DETERMINERS
        else:
            light = isinstance(word, str) and (word in determiners or _is_punctuation(word))
        if not light:
            weighty.append(word)
    return weighty


def _is_punctuation(word: str) -> bool:
    return all(
        sign not in _NO_PUNCTUATION and (category(sign)[0] == "P" or category(sign) == "Sk")
        for sign in word
    )
