"""Count the rules and nodes of derivations that others have too, and weigh the words of rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from alignkit._support.array_types import B1, F8, I4, I8
from alignkit._support.jit import jit
from alignkit.rules.derivation.cuts_kernel import BITS, VARIABLE, WORD

RULES = 0
RULES_FOUND = 1
NODES_FOUND = 2
CHANGING = 3
"""The columns of `count_found`: `alignkit.rules.rule_score.COUNTED`. From CHANGING on, they are the
same three, of the rules that are no identities."""


class DerivationNodes(NamedTuple):
    """The nodes of the derivations of P pairs of trees; each has a minimal rule.

    A node is a source node and a target node that cover linked words of each other. Nodes are in
    preorder of the source nodes: each comes right before those below it. So what is below node r is
    the stretch from r + 1 to before `afters[r]`.
    """

    matched: I4  # (R, 2) the source node and the target node
    afters: I4  # (R,) the first node that is not below each, counted within its pair
    begins: I8  # (P + 1,) where the nodes of each pair begin


class PairNodes(NamedTuple):
    """The nodes of the derivation of one pair, as in `DerivationNodes`."""

    matched: I4
    afters: I4


class NodeClasses(NamedTuple):
    """The classes of all nodes of P pairs of trees, by some links.

    A source node and a target node that cover linked words of each other have the same class.
    """

    source: I4  # the class of each source node; -1 for none
    source_offsets: I8  # (P + 1,) where the nodes of each source tree begin
    target: I4
    target_offsets: I8


class WordWeights(NamedTuple):
    """How probable the words of each side are, given a word of the other side.

    Column 0 is of target words, given source words; column 1 the other way round.
    """

    keys: I8  # (W,) the word pairs that have links: source word << 32 | target word, rising
    linked: F8  # (W, 2) w(target | source) and w(source | target)
    lone: F8  # (V, 2) w(target | NULL) and w(source | NULL) of each word


@jit
def nodes_of(k: int, derivations: DerivationNodes) -> PairNodes:
    """Return the nodes of pair k."""
    begin = derivations.begins[k]
    end = derivations.begins[k + 1]
    return PairNodes(derivations.matched[begin:end], derivations.afters[begin:end])


@jit
def count_found(
    own: DerivationNodes, changing: B1, other: DerivationNodes, classes: NodeClasses, size: int
) -> I8:
    """Count the minimal rules of some derivations, and those that are found in others.

    changing: (R,): whether the minimal rule at each of the own nodes is no identity.
    other: Derivations of the same pairs, by other links.
    classes: The classes of the nodes of all trees by the other links.
    size: The most nodes of the other derivation that may make up one rule.
    Returns: (P, 6) int64: the number of rules; how many the others have; how many of their roots
        are matched by the other's links too; and these three of the rules that are no identities.
    """
    rows = np.zeros((len(own.begins) - 1, 6), np.int64)
    for k in range(len(rows)):
        nodes = nodes_of(k, own)
        others = nodes_of(k, other)
        # both derivations are in preorder of the source: r only goes forward
        r = 0
        end = len(others.matched)
        for i in range(len(nodes.matched)):
            u, v = nodes.matched[i]
            # nodes of one class, by the other's links, cover linked words of each other
            source_class = classes.source[classes.source_offsets[k] + u]
            target_class = classes.target[classes.target_offsets[k] + v]
            is_node = source_class >= 0 and source_class == target_class
            while r < end and others.matched[r, 0] < u:
                r += 1
            is_rule = r < end and others.matched[r, 0] == u and others.matched[r, 1] == v
            if is_rule:
                is_rule = is_composed(nodes, i, others, r, size)
            rows[k, RULES] += 1
            rows[k, RULES_FOUND] += is_rule
            rows[k, NODES_FOUND] += is_node
            if changing[own.begins[k] + i]:
                rows[k, CHANGING + RULES] += 1
                rows[k, CHANGING + RULES_FOUND] += is_rule
                rows[k, CHANGING + NODES_FOUND] += is_node
    return rows


@jit
def is_composed(nodes: PairNodes, i: int, others: PairNodes, r: int, size: int) -> bool:
    """Return whether the minimal rule at node i is a union of at most `size` others, from r down.

    Both have the same root. The variables of the rule are the nodes right below i. Where the other
    derivation has one of them, the union ends; any node above that is in it.

    Example: the rule at A has the variables C and D. In the other derivation, B and D are below A,
    and C is below B: A and B are in the union, which ends at C and D, so the rule is composed of 2
    nodes. Without D there, it is no union.
    """
    # two preorders side by side: `child` goes over this rule's variables, `node` over the
    # other's nodes below r; a variable that is met is passed with all below it
    child = i + 1
    node = r + 1
    taken = 1
    while node < others.afters[r]:
        if (
            child < nodes.afters[i]
            and others.matched[node, 0] == nodes.matched[child, 0]
            and others.matched[node, 1] == nodes.matched[child, 1]
        ):
            child = nodes.afters[child]
            node = others.afters[node]
            continue
        taken += 1
        if taken > size:
            return False
        node += 1
    # all variables were met: the union ends exactly where the rule does
    return bool(child == nodes.afters[i])


@jit
def weigh_words(symbols: I4, offsets: I8, links: I4, link_offsets: I8, weights: WordWeights) -> F8:
    """Return the lexical weights of R rules, (R, 2): of the target words, and of the source words.

    symbols, offsets, links, link_offsets: The rules; see `alignkit.rules.derivation.cuts_kernel`.
    """
    products = np.ones((len(link_offsets) - 1, 2), np.float64)
    for r in range(len(products)):
        source = words_of_side(symbols[offsets[2 * r] : offsets[2 * r + 1]])
        target = words_of_side(symbols[offsets[2 * r + 1] : offsets[2 * r + 2]])
        rule_links = links[link_offsets[r] : link_offsets[r + 1]]
        products[r, 0] = weigh(source, target, rule_links, False, weights)
        products[r, 1] = weigh(source, target, rule_links, True, weights)
    return products


@jit
def weigh(source: I4, target: I4, links: I4, of_source: bool, weights: WordWeights) -> float:
    """Return the lexical weight of the source words, or of the target words.

    A word weighs the mean w(word | linked word) over its links, or w(word | NULL) without any; a
    side the product of its words.

    source, target: The words of both sides; -1 is a variable, which weighs 1.
    links: The positions i, j of linked words, one pair after the other.
    """
    words = source if of_source else target
    column = 1 if of_source else 0
    product = 1.0
    for k in range(len(words)):
        if words[k] < 0:
            continue
        total = 0.0
        count = 0
        for link in range(0, len(links), 2):
            i = links[link]
            j = links[link + 1]
            linked = i if of_source else j
            if k == linked:
                # the source word in the upper half, the target word in the lower: every linked
                # pair of words was counted, so its key is there
                key = np.int64(source[i]) << 32 | target[j]
                total += weights.linked[np.searchsorted(weights.keys, key), column]
                count += 1
        if count:
            product *= total / count
        else:
            product *= weights.lone[words[k], column]
    return product


@jit
def words_of_side(symbols: I4) -> I4:
    """Return the words of a side in order, -1 for a variable."""
    words = np.empty(len(symbols), np.int32)
    count = 0
    at = 0
    while at < len(symbols):
        # the low bits say what a symbol is, the high ones which word
        what = symbols[at] & ((1 << BITS) - 1)
        if what == WORD:
            words[count] = symbols[at] >> BITS
            count += 1
        elif what >= VARIABLE:  # also a deleted or an inserted one
            words[count] = -1
            count += 1
            # the symbol behind a variable is its number
            at += 1
        at += 1
    return words[:count]
