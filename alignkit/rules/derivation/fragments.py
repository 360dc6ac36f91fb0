"""Read rules from the sequences of numbers that kernels write."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from alignkit.rules.derivation.fragments_kernel import BITS, CLOSE, DELETED, OPEN, VARIABLE, WORD
from alignkit.rules.derivation.tree_arrays import Names
from alignkit.rules.rule import Item, Node, Rule, Side, Variable

_KINDS = {VARIABLE: "x", DELETED: "d"}
_WHAT = (1 << BITS) - 1
_NODE: Any = tuple.__new__  # what `Node` and `Rule` do, without a call of Python
_RULE: Any = tuple.__new__
_MOST_TEXTS = 2**16
_MOST_SYMBOLS = 2**20


class RuleReader:
    """Number labels and words, and read rules; a side that was read lately is the same object."""

    _shared: ClassVar[RuleReader | None] = None

    def __init__(self) -> None:
        self.labels, self.words = Names(), Names()
        self._sides: dict[bytes, Side] = {}
        self._held = 0  # symbols of these sides
        self._variables: dict[tuple[int, int, bool], Variable] = {}

    @classmethod
    def shared(cls) -> RuleReader:
        """Return the shared reader of single derivations, or a new one when it is full."""
        reader = cls._shared
        if reader is None or len(reader.labels) + len(reader.words) > _MOST_TEXTS:
            reader = cls._shared = RuleReader()
        return reader

    def rule(self, source: bytes, target: bytes) -> Rule:
        """Return the rule whose sides are written so."""
        return Rule(self.side(source), self.side(target))

    def rules(self, symbols: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[Rule]:
        """Return the rules that are written one after the other, source and target in turn."""
        text, ends = symbols.tobytes(), (offsets * 4).tolist()
        known, side = self._sides.get, self.side
        sides = [known(one := text[start:end]) or side(one) for start, end in pairwise(ends)]
        return [_RULE(Rule, both) for both in zip(sides[::2], sides[1::2], strict=True)]

    def side(self, text: bytes) -> Side:
        """Return a side, source or target."""
        known = self._sides.get(text)
        if known is None:
            known = self._read(text)
            self._held += len(text) // 4
            if self._held > _MOST_SYMBOLS:
                self._sides.clear()
                self._held = len(text) // 4
            self._sides[text] = known
        return known

    def _read(self, text: bytes) -> Side:
        labels, words, variables = self.labels.texts, self.words.texts, self._variables
        above: list[tuple[str, list[Item]]] = []
        items: list[Item] = []
        symbols = array("i", text)
        string = not symbols or symbols[0] & _WHAT != OPEN  # a tree begins with its root
        numbers = iter(symbols)
        for symbol in numbers:
            what = symbol & _WHAT
            if what == CLOSE:
                label, outer = above.pop()
                outer.append(_NODE(Node, (label, tuple(items))))
                items = outer
            elif what == OPEN:
                above.append((labels[symbol >> BITS], items))
                items = []
            elif what == WORD:
                items.append(words[symbol >> BITS])
            else:
                key = symbol, next(numbers), string
                if key not in variables:
                    label = "" if string else labels[symbol >> BITS]
                    variables[key] = Variable(key[1], label, _KINDS.get(what, "i"))
                items.append(variables[key])
        return cast("Side", tuple(items) if string else items[0])


def mirrored(target: bytes) -> bytes:
    """Return a target side as it would be numbered if it were the source side."""
    found = array("i", target)
    numbers: dict[int, int] = {}
    at = 0
    while at < len(found):
        if found[at] & _WHAT > WORD:
            at += 1
            if found[at - 1] & _WHAT == VARIABLE:
                found[at] = numbers.setdefault(found[at], len(numbers))
        at += 1
    return found.tobytes()
