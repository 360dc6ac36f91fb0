"""Say plainly how trees are rewritten: every combination of rules, one after the other."""

from itertools import product
from math import prod

from hypothesis import strategies as st

from alignkit.rules.grammar import Node, Variable


def nodes_of(labels, words):
    """Random nested nodes over words."""
    return st.recursive(
        st.builds(lambda label, word: Node(label, (word,)), labels, words),
        lambda below: st.builds(
            lambda label, children: Node(label, tuple(children)),
            labels,
            st.lists(below | words, min_size=1, max_size=3),
        ),
        max_leaves=7,
    )


def nested(text):
    """Read one Penn tree, or one side of a rule with variables such as ``x0:NP``."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    stack = [[]]
    for k, token in enumerate(tokens):
        if token == "(":
            stack.append([])
        elif token == ")":
            label, *children = stack.pop()
            stack[-1].append(Node(label, tuple(children)))
        elif tokens[k - 1] != "(" and ":" in token[1:] and token[0] in "xdi":
            name, _, label = token.partition(":")
            stack[-1].append(Variable(int(name[1:]), label, name[0]))
        else:
            stack[-1].append(token)
    ((found,),) = stack
    return found


def fits(fragment, node):
    """Return what the variables of a fragment stand for, or None where it does not match."""
    if fragment.label != node.label or len(fragment.children) != len(node.children):
        return None
    bound = {}
    for item, child in zip(fragment.children, node.children, strict=True):
        if isinstance(item, str) or isinstance(child, str):
            if not (isinstance(item, str) and isinstance(child, str)):
                return None
            if item.casefold() != child.casefold():
                return None
        elif isinstance(item, Variable):
            if item.label != child.label:
                return None
            bound[item.number] = child
        else:
            below = fits(item, child)
            if below is None:
                return None
            bound |= below
    return bound


def read_off(item):
    if isinstance(item, (str, Variable)):
        return [item]
    return [part for child in item.children for part in read_off(child)]


def readings(node, rules):
    """Return all (words, probability, whether a rule changed more than little) of a node.

    `rules` are (source, target, probability, minor).
    """
    if isinstance(node, str):
        return [((node.casefold(),), 1.0, False)]
    found = beside([readings(child, rules) for child in node.children])
    for source, target, p, minor in rules:
        bound = fits(source, node)
        if bound is None:
            continue
        parts = [
            readings(bound[x.number], rules) if isinstance(x, Variable) else readings(x, ())
            for x in read_off(target)
        ]
        found += [(words, p * q, heavy or not minor) for words, q, heavy in beside(parts)]
    return found


def beside(parts):
    found = []
    for chosen in product(*parts):
        words = tuple(word for words, _, _ in chosen for word in words)
        found.append((words, prod(q for _, q, _ in chosen), any(heavy for _, _, heavy in chosen)))
    return found


def best(node, rules, count):
    """Return the probability of each best rewrite, as lists of heavy and of light ones.

    Each is a list of (words, probability), by falling probability.
    """
    made = {False: {}, True: {}}
    for words, p, heavy in readings(node, rules):
        made[heavy][words] = max(p, made[heavy].get(words, 0))
    kinds, known = [], {tuple(word.casefold() for word in read_off(node))}
    for heavy in (True, False):
        ranked = sorted(made[heavy].items(), key=lambda one: -one[1])
        chosen = [one for one in ranked if one[0] not in known]
        kinds.append(chosen)
        known |= {words for words, _ in chosen[:count]}
    return kinds
