"""Make paraphrases from rules: sides that are paired with the same other side.

A side is joined like a phrase (see `alignkit.rules.tables.pivots`): its labels, brackets, words and
variables are the words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import cast

import numpy as np

from alignkit.errors import OptionError
from alignkit.rules.grammar import Item, Node, Rule, RuleType, Side, Variable, preorder, variables
from alignkit.rules.tables.pivots import Pivot, PivotSettings, is_frequent, turned_on
from alignkit.rules.tables.runs import ROOM

_RULES = 4096  # that are added at a time


class RulePivot(ExitStack):
    """Join rules on a shared side, in bounded memory."""

    def __init__(
        self, tables: int = 1, *, on: str = "source", folder: str | None = None, room: int = ROOM
    ) -> None:
        super().__init__()
        self.pivot = self.enter_context(Pivot(tables, folder=folder, room=room))
        self.left_out: Counter[str] = Counter()
        self._on = on
        self._labels: set[str] = set()
        self._variables = 0  # how many a rule has at most

    def add(self, table: int, rules: Iterable[RuleType], *, min_count: float = 1) -> int:
        """Add the rules of table 1 or 2; return how many there were.

        Those with a smaller count than `min_count` are left out; 1 or less keeps all.
        """
        seen = 0
        stream = iter(rules)
        while block := list(islice(stream, _RULES)):
            pivots = []
            phrases = []
            values = []
            for number, entry in enumerate(block, start=seen + 1):
                if not self._fits(entry, number, min_count):
                    continue
                source, target = entry.rule
                pivot, phrase, *p = turned_on(
                    self._on, source, target, entry.p_source, entry.p_target
                )
                # the variables of the pivot are numbered from left to right
                numbers = {item.number: place for place, item in enumerate(variables(pivot))}
                pivots.append(list(_tokens(pivot, numbers)))
                phrases.append(list(_tokens(phrase, numbers)))
                values.append(p)
                self._labels.update(item.label for item in variables(phrase))
                self._variables = max(self._variables, len(numbers))
            self.pivot.add(table, pivots, phrases, np.array(values, np.float64).reshape(-1, 2))
            seen += len(block)
        return seen

    def _fits(self, entry: RuleType, number: int, min_count: float) -> bool:
        """Return whether a rule can be joined; if not, count why."""
        if entry.p_target is None or entry.p_source is None:
            raise OptionError(
                f"rule {number} lacks p(target | source) or p(source | target); both are needed"
            )
        if not is_frequent(entry.count, min_count, f"rule {number}"):
            self.left_out[f"seen less than {min_count:g} times"] += 1
            return False
        if any(item.kind != "x" for side in entry.rule for item in variables(side)):
            self.left_out["with deleted or inserted variables"] += 1
            return False
        return True

    def rules(self, settings: PivotSettings | None = None) -> Iterator[RuleType]:
        """Yield the paraphrase rules, in the order of the settings."""
        # variables are renumbered in paraphrases, so every label may get every number
        variable_of: dict[str, tuple[int, str]] = {}
        for label in self._labels:
            for number in range(self._variables):
                variable_of[_token(Variable(number, label))] = (number, label)
        for source, target, (p, back, pivots) in self.pivot.pairs(settings, variable_of):
            rule = Rule(_parsed(source), _parsed(target))
            extra = (("pivots", f"{pivots:.0f}"),)
            yield RuleType(rule, p_target=p, p_source=back, extra=extra)


def _token(variable: Variable) -> str:
    """Return a variable as a text; see `_tokens`."""
    return f"x{variable.number}:{variable.label}"


def _tokens(side: Side, numbers: dict[int, int]) -> Iterator[str]:
    """Yield a side as texts; variables get other numbers.

    The first character of a text gives its kind: ``(`` begins a node and ``[`` a side that is a
    string, ``)`` ends either, ``x`` is a variable and ``"`` a word.
    """
    is_string = not isinstance(side, Node)
    if is_string:
        yield "["
    for item in preorder(side):
        if item is None:
            yield ")"
        elif isinstance(item, Variable):
            yield _token(item._replace(number=numbers[item.number]))
        elif isinstance(item, Node):
            yield f"({item.label}"
        else:
            yield f'"{item}'
    if is_string:
        yield ")"


def _parsed(tokens: tuple[str, ...]) -> Side:
    """Read a side from its texts; the reverse of `_tokens`."""
    above: list[tuple[str, list[Item]]] = []  # open nodes: the label, and the items before it
    items: list[Item] = []  # of the innermost open node
    for token in tokens:
        if token[0] in "([":
            above.append((token, items))
            items = []
        elif token == ")":
            label, outer = above.pop()
            if label == "[":
                return cast("Side", tuple(items))  # a string: it has no nodes
            outer.append(Node(label[1:], tuple(items)))
            items = outer
        elif token[0] == "x":
            number, _, rest = token[1:].partition(":")
            items.append(Variable(int(number), rest))
        else:
            items.append(token[1:])
    return cast("Node", items[0])
