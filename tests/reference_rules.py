"""Learn synchronous rules in plain Python, as defined: what the kernels are compared with."""

from itertools import combinations

from alignkit.rules.grammar import Node, Rule, Variable


def below(tree, u):
    return range(u + 1, tree.afters[u])


def linked(tree, links, side):
    """L(n): the links with an end below each node."""
    return [
        frozenset(link for link in links if start <= link[side] < end)
        for start, end in zip(tree.starts.tolist(), tree.ends.tolist(), strict=True)
    ]


def consistent(source, target, links):
    """All pairs of nodes with the same links, not none."""
    mine, others = linked(source, links, 0), linked(target, links, 1)
    return [(u, v) for u, a in enumerate(mine) for v, b in enumerate(others) if a and a == b]


def classes(source, target, links):
    """The two chains of each class, top first, in the order of their first source nodes."""
    found = {}
    mine, others = linked(source, links, 0), linked(target, links, 1)
    for u, v in consistent(source, target, links):
        assert mine[u] == others[v]
        chains = found.setdefault(mine[u], ({}, {}))
        chains[0][u] = chains[1][v] = None
    return [(list(a), list(b)) for a, b in found.values()]


def choices(chain, other):
    """All monotone matchings of as many pairs as can be, of two chains, top first."""
    if len(chain) <= len(other):
        for taken in combinations(range(len(other)), len(chain)):
            yield [(u, other[k]) for u, k in zip(chain, taken, strict=True)]
    else:
        for taken in combinations(range(len(chain)), len(other)):
            yield [(chain[k], v) for k, v in zip(taken, other, strict=True)]


def matching(source, target, chain, other):
    """Match the roots; else most equal labels; else the lowest nodes, compared from below."""
    if chain[0] == 0 and other[0] == 0:
        return [(0, 0), *matching_free(source, target, chain[1:], other[1:])]
    return matching_free(source, target, chain, other)


def matching_free(source, target, chain, other):
    def quality(matched):
        return sum(source.labels[u] == target.labels[v] for u, v in matched), matched[::-1]

    return max(choices(chain, other), key=quality)


def matched_nodes(source, target, links):
    return sorted(
        pair
        for chain, other in classes(source, target, links)
        for pair in matching(source, target, chain, other)
    )


def fragment(tree, u, cuts, numbers):
    """The fragment from u; `cuts` maps nodes to variables, new ones are numbered as they come."""
    children, at = [], int(tree.starts[u])
    v = u + 1
    while v < tree.afters[u]:
        children += tree.words[at : tree.starts[v]]
        at = int(tree.ends[v])
        if v in cuts:
            children.append(Variable(numbers.setdefault(cuts[v], len(numbers)), tree.labels[v]))
        else:
            children.append(fragment(tree, v, cuts, numbers))
        v = int(tree.afters[v])
    return Node(tree.labels[u], (*children, *tree.words[at : tree.ends[u]]))


def rule_at(source, target, root, variables):
    numbers = {}
    left = fragment(source, root[0], {u: k for k, (u, _) in enumerate(variables)}, numbers)
    right = fragment(target, root[1], {v: k for k, (_, v) in enumerate(variables)}, numbers)
    return Rule(left, right)


def highest(source, pairs, root):
    """The pairs below a root with none of the pairs between."""
    inside = [(u, v) for u, v in pairs if root[0] < u < source.afters[root[0]]]
    return [(u, v) for u, v in inside if not any(a < u < source.afters[a] for a, _ in inside)]


def minimal(source, target, links):
    pairs = matched_nodes(source, target, links)
    return [(root, highest(source, pairs, root)) for root in pairs]


def everywhere(source, target, links):
    """The rules of all consistent nodes: root, variables, count."""
    found = classes(source, target, links)
    tops = [(chain[0], other[0]) for chain, other in found]
    for chain, other in found:
        count = min(len(chain), len(other)) / (len(chain) * len(other))
        for i, u in enumerate(chain):
            for j, v in enumerate(other):
                if i + 1 < len(chain) and j + 1 < len(other):
                    yield (u, v), [(chain[i + 1], other[j + 1])], count
                else:
                    mine = [(a, b) for a, b in tops if a != chain[0]]
                    yield (u, v), highest(source, mine, (u, v)), count


def composed(source, pairs, size):
    """The connected sets of so many matched pairs: root, variables."""
    parents = {}
    for u, v in pairs:
        above = [pair for pair in pairs if pair[0] < u < source.afters[pair[0]]]
        parents[u, v] = max(above, default=None)
    for chosen in combinations(pairs, size):
        if sum(parents[pair] not in chosen for pair in chosen) == 1:
            yield chosen[0], [p for p in pairs if p not in chosen and parents[p] in chosen]


def covered(tree, node):
    return range(tree.starts[node], tree.ends[node])


def string_rules(tree, words, links):
    """String-to-tree rules as defined: of each frontier node its place and both sides.

    Links are of tree words to words of the string; a variable is (its place in the string, node).
    """
    nodes = range(len(tree.labels))
    mine = {u: {j for i, j in links if i in covered(tree, u)} for u in nodes}
    others = {u: {j for i, j in links if i not in covered(tree, u)} for u in nodes}
    frontier = [
        u for u in nodes if mine[u] and not others[u] & set(range(min(mine[u]), max(mine[u]) + 1))
    ]

    def lowest_above(positions):
        return max(u for u in nodes if positions <= set(covered(tree, u)))

    holder, aligned = {}, sorted({j for _, j in links})
    for j in range(len(words)):
        before, after = [k for k in aligned if k <= j], [k for k in aligned if k >= j]
        node = 0
        if before and after:
            node = lowest_above({i for i, k in links if k in (before[-1], after[0])})
        holder[j] = max((u for u in frontier if u <= node < tree.afters[u]), default=None)
    for u in frontier:
        below_u = [v for v in frontier if u < v < tree.afters[u]]
        cuts = [v for v in below_u if not any(a < v < tree.afters[a] for a in below_u)]
        items = [(j, words[j]) for j in holder if holder[j] == u]
        items += [(min(mine[v]), v) for v in cuts]
        yield u, cuts, [item for _, item in sorted(items, key=lambda item: item[0])]


def deleted(tree, links, side):
    """The highest nodes over words, none of them linked, below a node with links."""
    known = linked(tree, links, side)
    return {
        u
        for u in range(1, len(tree.labels))
        if not known[u] and known[tree.parents[u]] and len(covered(tree, u))
    }


def instances(rules, size):
    """Return all rules of up to `size` connected minimal ones, as (root, variables)."""
    variables, found = dict(rules), set()
    for count in range(1, size + 1):
        for chosen in combinations(variables, count):
            below = {child for root in chosen for child in variables[root]}
            roots = [root for root in chosen if root not in below]
            if len(roots) == 1:  # connected
                found.add((roots[0], frozenset(below - set(chosen))))
    return found


def is_identity(source, target, root, variables):
    sides = rule_at(source, target, root, variables)
    return str(sides.source).casefold() == str(sides.target).casefold()


def half(source, target, links, others):
    """Count what `alignkit.rules.rule_score.COUNTED` names."""
    rules, theirs = minimal(source, target, links), minimal(source, target, others)
    found, nodes = instances(theirs, 3), set(consistent(source, target, others))
    counts = [0] * 6
    for root, variables in rules:
        row = [1, (root, frozenset(variables)) in found, root in nodes]
        if not is_identity(source, target, root, variables):
            row += row
        counts = [a + b for a, b in zip(counts, [*row, 0, 0, 0], strict=False)]
    return counts


def score_row(source, target, hypothesis, reference):
    """Return the counts of a sentence pair, as `alignkit.rules.rule_score.COLUMNS` has them."""
    return [
        *half(source, target, hypothesis, reference),
        *half(source, target, reference, hypothesis),
    ]
