"""Score rules plainly: as sets of root pairs with their variable pairs."""

from __future__ import annotations

from itertools import combinations

from reference_rules import consistent, minimal, rule_at


def instances(rules, size):
    """Return all rules of up to `size` connected minimal ones, as (root, variables)."""
    variables = dict(rules)
    found = set()
    for count in range(1, size + 1):
        for chosen in combinations(variables, count):
            below = {child for one in chosen for child in variables[one]}
            roots = [one for one in chosen if one not in below]
            if len(roots) == 1:  # connected
                found.add((roots[0], frozenset(below - set(chosen))))
    return found


def is_identity(source, target, root, variables):
    """Return whether both sides are equal: labels as they are, words but for case."""
    sides = rule_at(source, target, root, variables)
    return str(sides.source).casefold() == str(sides.target).casefold()


def half(source, target, links, others):
    """Count what `alignkit.rules.rule_score.COUNTED` names."""
    rules, theirs = minimal(source, target, links), minimal(source, target, others)
    found = instances(theirs, 3)
    nodes = set(consistent(source, target, others))
    counts = [0] * 6
    for root, variables in rules:
        row = [1, (root, frozenset(variables)) in found, root in nodes]
        if not is_identity(source, target, root, variables):
            row += row
        counts = [a + b for a, b in zip(counts, [*row, 0, 0, 0], strict=False)]
    return counts


def row(source, target, hypothesis, reference):
    """Return the counts of a sentence pair, as `alignkit.rules.rule_score.COLUMNS` has them."""
    return [
        *half(source, target, hypothesis, reference),
        *half(source, target, reference, hypothesis),
    ]
