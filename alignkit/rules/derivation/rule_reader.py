"""Read rules from their symbols (see `alignkit.rules.derivation.cuts_kernel`) into objects."""

from __future__ import annotations

from array import array
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, cast

from alignkit.rules.derivation.cuts_kernel import (
    BITS,
    CLOSE,
    DELETED,
    INSERTED,
    OPEN,
    VARIABLE,
    WORD,
    Fragments,
)
from alignkit.rules.derivation.derivations import NameNumbers
from alignkit.rules.grammar import Item, Node, Rule, Side, Variable

_KINDS = {VARIABLE: "x", DELETED: "d", INSERTED: "i"}
_WHAT = (1 << BITS) - 1  # the bits of a symbol that say what it is
# makes a `Rule` or `Node` in 40% of the time of its constructor (0.5 us, not 1.3): there may be
# millions of rules
_NEW: Any = tuple.__new__
_MOST_TEXTS = 2**16  # labels and words of the shared reader; then there is a new one
_MOST_SIDES = 2**14  # that a reader keeps


class RuleReader:
    """Number labels and words, and read rules; sides that were read recently are shared objects."""

    _shared: ClassVar[RuleReader | None] = None

    def __init__(self) -> None:
        self.labels = NameNumbers()
        self.words = NameNumbers()
        self.side = lru_cache(maxsize=_MOST_SIDES)(self._read)
        self._variables: dict[tuple[int, int, bool], Variable] = {}

    @classmethod
    def shared(cls) -> RuleReader:
        """Return the shared reader of single derivations, or a new one when it is full."""
        reader = cls._shared
        if reader is None or len(reader.labels) + len(reader.words) > _MOST_TEXTS:
            reader = cls._shared = RuleReader()
        return reader

    def rules(self, fragments: Fragments) -> list[Rule]:
        """Return rules from their symbols."""
        text = fragments.symbols.tobytes()
        ends = (fragments.offsets * 4).tolist()  # in bytes
        sides = [self.side(text[start:end]) for start, end in pairwise(ends)]
        return [_NEW(Rule, both) for both in zip(sides[::2], sides[1::2], strict=True)]

    def _read(self, text: bytes) -> Side:
        """Return a side, source or target, from its symbols; see `cuts_kernel.write_fragments`."""
        labels = self.labels.texts
        words = self.words.texts
        variables = self._variables
        above: list[tuple[str, list[Item]]] = []  # open nodes: the label, and the items before it
        items: list[Item] = []  # of the innermost open node
        symbols = array("i", text)
        string = not symbols or symbols[0] & _WHAT != OPEN  # a tree begins with its root
        stream = iter(symbols)
        for symbol in stream:
            what = symbol & _WHAT
            if what == CLOSE:
                label, outer = above.pop()
                outer.append(_NEW(Node, (label, tuple(items))))
                items = outer
            elif what == OPEN:
                above.append((labels[symbol >> BITS], items))
                items = []
            elif what == WORD:
                items.append(words[symbol >> BITS])
            else:
                number = next(stream)  # it stands behind the variable
                key = symbol, number, string
                if key not in variables:
                    label = "" if string else labels[symbol >> BITS]
                    variables[key] = Variable(number, label, _KINDS[what])
                items.append(variables[key])
        if string:
            return cast("Side", tuple(items))
        return cast("Side", items[0])


def mirrored(target: bytes) -> bytes:
    """Return a target side with its variables numbered as if it were the source side."""
    symbols = array("i", target)
    numbers: dict[int, int] = {}
    at = 0
    while at < len(symbols):
        what = symbols[at] & _WHAT
        if what > WORD:  # a variable, also a deleted one: its number follows
            at += 1
            if what == VARIABLE:
                symbols[at] = numbers.setdefault(symbols[at], len(numbers))
        at += 1
    return symbols.tobytes()
