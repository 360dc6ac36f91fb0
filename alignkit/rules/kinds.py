"""Sort rules into kinds by what they do to words and to the order of variables."""

from __future__ import annotations

from collections.abc import Mapping

from alignkit.rules.rule import Item, Node, Rule, Side, Variable

KINDS: Mapping[str, str] = {
    "identity": "both sides are equal, labels of variables too",
    "same-words": "the same words and variables in the same order, below other labels",
    "relabelling": "no words, and the variables in order",
    "lexical": "a word for a word, without variables",
    "phrasal": "words for words, without variables",
    "monotone+words": "variables in order, and words",
    "reordering": "variables in another order, and no words",
    "reordering+words": "variables in another order, and words",
}
"""The kinds of rules and what they mean; the first that fits counts."""


def kind_of(rule: Rule) -> str:
    """Return the kind of a rule: the first of `KINDS` that fits.

    Words are compared casefolded, labels as they are. A deleted or inserted variable counts as a
    word that the other side lacks.

    Examples
    --------
    >>> kind_of(Rule(Node("NN", ("dog",)), Node("NN", ("hound",))))
    'lexical'
    """
    source, target = _flat(rule.source), _flat(rule.target)
    left, right = _yield(source), _yield(target)
    words = [item for item in left + right if isinstance(item, str)]
    if left == right and source == target:
        return "identity"
    if left == right and words:
        return "same-words"
    ours, theirs = _numbers(left), _numbers(right)
    if ours == theirs and not words:
        return "relabelling"
    if not ours:
        alone = len(left) == len(right) == 1
        return "lexical" if alone else "phrasal"
    order = "monotone" if ours == theirs else "reordering"
    return f"{order}+words" if words else order


def _flat(side: Side) -> list[Item | tuple[str, str] | None]:
    items: list[Item | tuple[str, str] | None] = []
    left: list[Item | None] = [side] if isinstance(side, Node) else list(reversed(side))
    while left:
        item = left.pop()
        if isinstance(item, Node):
            items.append(("node", item.label))
            left.append(None)
            left += reversed(item.children)
        else:
            items.append(item.casefold() if isinstance(item, str) else item)
    return items


def _yield(flat: list[Item | tuple[str, str] | None]) -> list[str | int]:
    items: list[str | int] = []
    for item in flat:
        if isinstance(item, str):
            items.append(item)
        elif isinstance(item, Variable):
            items.append(item.number if item.kind == "x" else f"{item.kind} {item.number}")
    return items


def _numbers(items: list[str | int]) -> list[int]:
    return [item for item in items if isinstance(item, int)]
