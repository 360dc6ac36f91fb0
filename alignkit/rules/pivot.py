"""Make paraphrase rules of translation rules: rules that share a side, by their probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice

import numpy as np

from alignkit.errors import OptionError, UnknownNameError
from alignkit.rules.grammar import Node, Rule, RuleType, Side, Variable, variables
from alignkit.rules.tables.pivots import PIVOTS, Pivot, PivotSettings
from alignkit.rules.tables.runs import ROOM

_RULES = 4096  # at a time


class RulePivot(ExitStack):
    """Joins rules on the side that they share, in bounded memory."""

    def __init__(
        self, tables: int = 1, *, on: str = "source", folder: str | None = None, room: int = ROOM
    ) -> None:
        super().__init__()
        if on not in PIVOTS:
            raise UnknownNameError("side", on, PIVOTS)
        self.pivot = self.enter_context(Pivot(tables, folder=folder, room=room))
        self.left_out: Counter[str] = Counter()
        self._side = PIVOTS.index(on)
        self._labels: set[str] = set()
        self._variables = 0

    def add(self, table: int, rules: Iterable[RuleType], *, min_count: float = 1) -> int:
        """Add the rules of a table, 1 or 2, that were seen so often; return how many there were."""
        seen = 0
        stream = iter(rules)
        while block := list(islice(stream, _RULES)):
            numbered = enumerate(block, start=seen + 1)
            self._add(table, [x for k, x in numbered if self._fits(x, k, min_count)])
            seen += len(block)
        return seen

    def _fits(self, entry: RuleType, number: int, min_count: float) -> bool:
        if entry.p_target is None or entry.p_source is None:
            raise OptionError(
                f"rule {number} has no p(target | source) or no p(source | target); both are needed"
            )
        if min_count > 1:
            if entry.count is None:
                raise OptionError(f"rule {number} has no count; leave out the least count")
            if entry.count < min_count:
                self.left_out[f"seen less than {min_count:g} times"] += 1
                return False
        if any(item.kind != "x" for side in entry.rule for item in variables(side)):
            self.left_out["with deleted or inserted variables"] += 1
            return False
        return True

    def _add(self, table: int, rules: list[RuleType]) -> None:
        shared, others = [], []
        for entry in rules:
            pivot, phrase = entry.rule[self._side], entry.rule[1 - self._side]
            names = {item.number: place for place, item in enumerate(variables(pivot))}
            shared.append(list(_tokens(pivot, names)))
            others.append(list(_tokens(phrase, names)))
            self._labels.update(item.label for item in variables(phrase))
            self._variables = max(self._variables, len(names))
        p = np.array([(x.p_source, x.p_target) for x in rules], np.float64).reshape(-1, 2)
        self.pivot.add(table, shared, others, p[:, self._side], p[:, 1 - self._side])

    def rules(self, settings: PivotSettings | None = None) -> Iterator[RuleType]:
        """Yield the paraphrase rules, those of each source side by falling probability."""
        variables = {
            _token(Variable(number, label)): (number, label)
            for label in self._labels
            for number in range(self._variables)
        }
        for source, target, (p, back, pivots) in self.pivot.pairs(settings, variables=variables):
            rule = Rule(_parsed(source), _parsed(target))
            extra = (("pivots", f"{pivots:.0f}"),)
            yield RuleType(rule, p_target=p, p_source=back, extra=extra)


def _token(variable: Variable) -> str:
    return f"x{variable.number}:{variable.label}"


_END = object()


def _tokens(side: Side, names: dict[int, int]) -> Iterator[str]:
    """Yield a side as texts, of which the first character tells what each is."""
    rest: list[object] = [_END, *reversed(side.children if isinstance(side, Node) else side)]
    yield f"({side.label}" if isinstance(side, Node) else "["
    while rest:
        item = rest.pop()
        if item is _END:
            yield ")"
        elif isinstance(item, Variable):
            yield _token(item._replace(number=names[item.number]))
        elif isinstance(item, Node):
            yield f"({item.label}"
            rest += (_END, *reversed(item.children))
        else:
            yield f'"{item}'


def _parsed(tokens: tuple[str, ...]) -> Side:
    open_labels: list[str] = []
    children: list[list[Node | Variable | str]] = [[]]
    for token in tokens:
        if token[0] in "([":
            open_labels.append(token)
            children.append([])
        elif token == ")":
            label, inner = open_labels.pop(), tuple(children.pop())
            if label == "[":
                return tuple(item for item in inner if not isinstance(item, Node))
            children[-1].append(Node(label[1:], inner))
        elif token[0] == "x":
            number, _, rest = token[1:].partition(":")
            children[-1].append(Variable(int(number), rest))
        else:
            children[-1].append(token[1:])
    return next(item for item in children[0] if isinstance(item, Node))
