"""Count the rules and nodes of derivations that others have too, and weigh the words of rules."""

from __future__ import annotations

import numpy as np

from alignkit._support.array_types import B1, F8, I4, I8
from alignkit._support.jit import jit
from alignkit.rules.derivation.cuts_kernel import BITS, VARIABLE, WORD


@jit
def count_found(
    matched: I4,
    afters: I4,
    begins: I8,
    changing: B1,
    other_matched: I4,
    other_afters: I4,
    other_begins: I8,
    source_classes: I4,
    source_offsets: I8,
    target_classes: I4,
    target_offsets: I8,
    size: int,
) -> I8:
    """Count the minimal rules of some derivations, and those that are found in others.

    matched: (R, 2) int32: the matched nodes, in preorder of the source nodes.
    afters: (R,) int32: for each the first that is not below it, counted within its pair.
    begins: (P + 1,) int64: where the derivation of each pair begins.
    changing: (R,) Whether the minimal rule at each is no identity.
    other_matched, other_afters, other_begins: Those of the other derivations, of the same P pairs.
    source_classes, target_classes: The class, by the other's links, of each node of all trees; -1
        for none. Nodes of both sides that cover linked words of each other have the same class.
    source_offsets, target_offsets: (P + 1,) int64: where the nodes of each tree begin.
    size: The most nodes of the other's derivation that may make up one rule.
    Returns: (P, 6) int64: the number of rules; how many the others have; how many of their roots
        are matched by the other's links too; and these three of the rules that are no identities.
    """
    rows = np.zeros((len(begins) - 1, 6), np.int64)
    for k in range(len(rows)):
        # both derivations are in preorder of the source: r only goes forward
        r = other_begins[k]
        end = other_begins[k + 1]
        # the afters are counted within the pair
        pair_matched = matched[begins[k] : begins[k + 1]]
        pair_afters = afters[begins[k] : begins[k + 1]]
        pair_other_matched = other_matched[other_begins[k] : end]
        pair_other_afters = other_afters[other_begins[k] : end]
        for i in range(begins[k], begins[k + 1]):
            u, v = matched[i]
            # nodes of one class, by the other's links, cover linked words of each other
            source_class = source_classes[source_offsets[k] + u]
            target_class = target_classes[target_offsets[k] + v]
            is_node = source_class >= 0 and source_class == target_class
            while r < end and other_matched[r, 0] < u:
                r += 1
            is_rule = r < end and other_matched[r, 0] == u and other_matched[r, 1] == v
            if is_rule:
                is_rule = is_composed(
                    pair_matched,
                    pair_afters,
                    i - begins[k],
                    pair_other_matched,
                    pair_other_afters,
                    r - other_begins[k],
                    size,
                )
            # all rules, those found, nodes; then the same of rules that change something
            rows[k, 0] += 1
            rows[k, 1] += is_rule
            rows[k, 2] += is_node
            if changing[i]:
                rows[k, 3] += 1
                rows[k, 4] += is_rule
                rows[k, 5] += is_node
    return rows


@jit
def is_composed(
    matched: I4, afters: I4, i: int, others: I4, other_afters: I4, r: int, size: int
) -> bool:
    """Return whether the minimal rule at i is a union of at most `size` nodes from r down.

    Both have the same root. Where the other's derivation has a variable of the rule, the union
    ends; any node above that is in it.

    Example: the rule at A has the variables C and D. In the other derivation, B and D are below A,
    and C is below B: A and B are in the union, which ends at C and D, so the rule is composed of 2
    nodes. Without D there, it is no union.
    """
    # two preorders side by side: `child` goes over this rule's variables, `node` over the
    # other's nodes below r; a variable that is met is passed with all below it
    child = i + 1
    node = r + 1
    taken = 1
    while node < other_afters[r]:
        if (
            child < afters[i]
            and others[node, 0] == matched[child, 0]
            and others[node, 1] == matched[child, 1]
        ):
            child = afters[child]
            node = other_afters[node]
            continue
        taken += 1
        if taken > size:
            return False
        node += 1
    # all variables were met: the union ends exactly where the rule does
    return bool(child == afters[i])


@jit
def weigh_words(
    symbols: I4,
    offsets: I8,
    links: I4,
    link_offsets: I8,
    keys: I8,
    weights: F8,
    lone: F8,
) -> F8:
    """Return the lexical weights of some rules: of the target words, and of the source words.

    symbols, offsets, links, link_offsets: The rules; see `alignkit.rules.derivation.cuts_kernel`.
    keys, weights, lone: See `alignkit.rules.learning.Weights`.
    """
    products = np.ones((len(link_offsets) - 1, 2), np.float64)
    for r in range(len(products)):
        source = words_of_side(symbols[offsets[2 * r] : offsets[2 * r + 1]])
        target = words_of_side(symbols[offsets[2 * r + 1] : offsets[2 * r + 2]])
        rule_links = links[link_offsets[r] : link_offsets[r + 1]]
        products[r, 0] = weigh(source, target, rule_links, False, keys, weights, lone)
        products[r, 1] = weigh(source, target, rule_links, True, keys, weights, lone)
    return products


@jit
def weigh(
    source: I4, target: I4, links: I4, of_source: bool, keys: I8, weights: F8, lone: F8
) -> float:
    """Return the lexical weight of the source words, or of the target words.

    A word weighs the mean w(word | linked word) over its links, or w(word | NULL) without any; a
    side the product of its words.

    source, target: The words of both sides; -1 is a variable, which weighs 1.
    links: The positions i, j of linked words, one pair after the other.
    keys, weights, lone: See `alignkit.rules.learning.Weights`; column 0 is of target words.
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
                total += weights[np.searchsorted(keys, key), column]
                count += 1
        if count:
            product *= total / count
        else:
            product *= lone[words[k], column]
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
