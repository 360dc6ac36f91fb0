"""Index rules by their source sides, to find those that match at a node of a tree.

Source sides are read from the root down, left to right, into a trie. Its first step is the label of
the root with its *signature*, the labels and words below it: of ``NP(DT("the") x0:NN)`` that is NP
with ``DT NN``. Each further step is one node below: it is a variable, or it is expanded, with a
signature of its own. Here DT is expanded (``("the",)``), and NN is a variable. A tree matches if it
can go the same steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import log
from typing import NamedTuple, TypeAlias, cast
from unicodedata import category

from alignkit._support.arguments import check_arguments, each
from alignkit.errors import OptionError
from alignkit.model.trees import Tree
from alignkit.rules.grammar import Node, Rule, RuleType, Side, Variable, preorder, variables

_PUNCTUATION = {
    ".",
    ",",
    ":",
    "``",
    "''",
    '"',
    "(",
    ")",
    "HYPH",
    "NFP",
    "PU",
    "PUNC",
    "PUNCT",
    "-LRB-",
    "-RRB-",
    "-LSB-",
    "-RSB-",
    "-LCB-",
    "-RCB-",
    "$,",
    "$.",
    "$(",
    "$[",
}
_DETERMINERS = {"DT", "DET", "ART"}
"""Labels of the Penn treebank, of Universal Dependencies and of treebanks of other languages."""

_NO_PUNCTUATION = frozenset("%&#@*/§")
"""Signs that stand for words, though Unicode calls them punctuation."""


class SideWording(NamedTuple):
    """The words and variables of a side, in order."""

    items: tuple[str | int, ...]  # words, and variables as their place on the source side
    labels: tuple[str, ...]  # the label of each variable, and above each word; empty in a string

    def folded(self) -> tuple[str | int, ...]:
        """Return the items with words casefolded."""
        return tuple([item if isinstance(item, int) else item.casefold() for item in self.items])


def wording(side: Side, places: Mapping[tuple[str, int], int]) -> SideWording:
    """Return the words and variables of a side."""
    items: list[str | int] = []
    labels: list[str] = []
    above = [""]
    for item in preorder(side):
        if item is None:
            above.pop()
        elif isinstance(item, Node):
            above.append(item.label)
        elif isinstance(item, Variable):
            items.append(places[item.kind, item.number])
            labels.append(item.label)
        else:
            items.append(item)
            labels.append(above[-1])
    return SideWording(tuple(items), tuple(labels))


def is_minor(source: SideWording, target: SideWording) -> bool:
    """Return whether two sides differ only in punctuation or determiners, ignoring case."""
    determiners: set[str] = set()
    for side in (source, target):
        for item, label in zip(side.items, side.labels, strict=True):
            if isinstance(item, str) and label in _DETERMINERS:
                determiners.add(item.casefold())
    return _weighty(source, determiners) == _weighty(target, determiners)


def _weighty(side: SideWording, determiners: set[str]) -> list[str | int]:
    """Return the items of a side, casefolded, but for punctuation and determiners.

    Words without a label are judged by themselves: `determiners` has those of the other side.
    """
    items = []
    for item, label in zip(side.folded(), side.labels, strict=True):
        if label or isinstance(item, int):
            is_light = label in _PUNCTUATION or label in _DETERMINERS
        else:
            is_light = item in determiners or all(map(_is_punctuation, item))
        if not is_light:
            items.append(item)
    return items


def _is_punctuation(sign: str) -> bool:
    """Return whether a character is punctuation, and stands for no word."""
    if sign in _NO_PUNCTUATION:
        return False
    return category(sign).startswith("P") or category(sign) == "Sk"


Signature: TypeAlias = "tuple[str | tuple[str], ...]"
"""The items below a node: labels of nodes and variables; each word is in a tuple of its own."""

MIN_COUNT = 2
MIN_P = 0.1
"""A count of 1 means that a rule was seen once, like nearly all rules; see `RuleIndex.build`."""


class IndexedRule(NamedTuple):
    """The data needed to apply a rule."""

    type: RuleType  # the rule with its weights
    cost: float  # -log p(target side | source side)
    minor: bool  # it changes punctuation or a determiner alone
    source: SideWording  # what is read off each side, variables as their place on the source side
    target: SideWording


class Match(NamedTuple):
    """A match of a rule's source side at a node, and the nodes of its variables."""

    node: int
    rule: IndexedRule
    variables: tuple[int, ...]


class _State:
    """A state of the trie of source sides: possible next steps, and the rules that end here."""

    __slots__ = ("expanded", "rules", "variable")

    def __init__(self) -> None:
        self.expanded: dict[Signature, _State] = {}  # if the next node is expanded
        self.variable: _State | None = None  # if it is a variable
        self.rules: dict[tuple[str | int, ...], IndexedRule] = {}  # by the words of target sides


@dataclass(frozen=True, eq=False)
class RuleIndex:
    """Rules in a trie of their source sides; matching walks down the trie.

    Examples
    --------
    >>> from alignkit.rules import RuleType, parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
    >>> index = RuleIndex.build([rule])
    >>> index.kept, dict(index.left_out)
    (1, {})
    """

    kept: int  # how many rules can be applied
    left_out: Mapping[str, int]  # how many cannot, by reason
    _roots: Mapping[tuple[str, Signature], _State] = field(repr=False)

    @classmethod
    def build(
        cls,
        rules: Iterable[RuleType],
        *,
        min_count: float = MIN_COUNT,
        min_p: float = MIN_P,
        any_labels: bool = False,
    ) -> RuleIndex:
        """Index the rules of a grammar that can be applied; the others are counted.

        Rules that change no words (ignoring case) are left out. So are rules whose source side is a
        string, and rules that insert a constituent, because its words are unknown.

        Parameters
        ----------
        rules : The rules, with counts and p(target side | source side).
        min_count : The least count; 0 also accepts rules without a count.
        min_p : The least p(target side | source side).
        any_labels : Accept rules whose labels of the roots, or of a variable, differ between the
            sides. By default they are left out, because they would put a constituent in the place
            of another kind. If the target side is a string, it has no labels to compare.

        Raises
        ------
        OptionError : If `min_count` or `min_p` is out of range, or a rule is invalid: its
            probability is not between 0 and 1, or a variable is only on its target side.

        Examples
        --------
        >>> from alignkit.rules import RuleIndex, RuleType, parse_rule
        >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2, p_target=0.5)
        >>> index = RuleIndex.build([rule])
        >>> index
        RuleIndex(kept=1, left_out={})
        """
        check_arguments(RuleIndex.build, {**locals(), "cls": cls}, apart=["rules"])
        if not min_count >= 0:
            raise OptionError(f"`min_count` is {min_count}; it must be 0 or more")
        if not 0 <= min_p <= 1:
            raise OptionError(f"`min_p` is {min_p}; it must be between 0 and 1")
        roots: dict[tuple[str, Signature], _State] = {}
        left_out: Counter[str] = Counter()
        kept = 0
        for number, entry in enumerate(each("rules", rules, RuleType)):
            reason = _unfit(entry.rule, any_labels) or _too_rare(entry, number, min_count, min_p)
            if reason:
                left_out[reason] += 1
                continue
            rule = _indexed(entry, number)
            key = rule.target.folded()
            if rule.source.folded() == key:
                left_out["change no word"] += 1
                continue
            kept += 1
            state = _place(roots, cast(Node, entry.rule.source))
            if key not in state.rules or rule.cost < state.rules[key].cost:
                state.rules[key] = rule
        return cls(kept, dict(left_out), roots)

    def matches(self, tree: Tree) -> Iterator[list[Match]]:
        """Yield the matches at each node of a tree, from the last node to the root.

        Labels are compared exactly, words ignoring case.
        """
        below, signatures = _outline(tree)
        for node in reversed(range(len(tree.labels))):
            matches: list[Match] = []
            root = self._roots.get((tree.labels[node], signatures[node]))
            if root is not None:
                for end, bound in _walk(root, below[node], below, signatures):
                    matches += [Match(node, rule, bound) for rule in end.rules.values()]
            yield matches


_OTHER_LABELS = "have other labels on the target side"


def _unfit(rule: Rule, any_labels: bool) -> str:
    """Return why a rule cannot be applied; empty if it can."""
    source, target = rule
    if not isinstance(source, Node):
        return "have a string as their source side"
    targets = variables(target)
    if any(variable.kind == "i" for variable in targets):
        return "insert a constituent"
    if any_labels or not isinstance(target, Node):
        return ""
    if source.label != target.label:
        return _OTHER_LABELS
    labels: dict[tuple[int, str], str] = {}
    for variable in variables(source):
        labels[variable.number, variable.kind] = variable.label
    for variable in targets:
        label = labels.get((variable.number, variable.kind), variable.label)
        if label != variable.label:
            return _OTHER_LABELS
    return ""


def _too_rare(entry: RuleType, number: int, min_count: float, min_p: float) -> str:
    """Return why the count or the probability of a rule is too low; empty if it is not."""
    p = entry.p_target
    if p is not None and not 0 <= p <= 1:
        raise OptionError(f"rules[{number}]: p_target is {p}; it must be between 0 and 1")
    if entry.count is None and min_count > 0:
        return "tell no count"
    if entry.count is not None and entry.count < min_count:
        return f"have a count below {min_count:g}"
    if not p:
        if p is None:
            return "tell no p(target | source)"
        return "have a probability of 0"
    if p < min_p:
        return f"have p(target | source) below {min_p:g}"
    return ""


def _indexed(entry: RuleType, number: int) -> IndexedRule:
    """Return the data to apply a rule; `number` is its place in the grammar, for messages."""
    source, target = entry.rule
    places: dict[tuple[str, int], int] = {}
    for place, variable in enumerate(variables(source)):
        places[variable.kind, variable.number] = place
    for variable in variables(target):
        if (variable.kind, variable.number) not in places:
            name = f"{variable.kind}{variable.number}"
            raise OptionError(f"rules[{number}]: {name} is only on the target side")
    assert entry.p_target is not None
    cost = -log(entry.p_target)
    source_wording = wording(source, places)
    target_wording = wording(target, places)
    minor = is_minor(source_wording, target_wording)
    return IndexedRule(entry, cost, minor, source_wording, target_wording)


def _place(roots: dict[tuple[str, Signature], _State], source: Node) -> _State:
    """Return the state at which a source side ends; states are added to the trie on the way."""
    state = roots.setdefault((source.label, _signature(source)), _State())
    for item in islice(preorder(source), 1, None):
        if isinstance(item, Variable):
            state.variable = state.variable or _State()
            state = state.variable
        elif isinstance(item, Node):
            state = state.expanded.setdefault(_signature(item), _State())
    return state


def _signature(node: Node) -> Signature:
    """Return the signature of a node of a rule."""
    items: list[str | tuple[str]] = []
    for child in node.children:
        if isinstance(child, str):
            items.append((child.casefold(),))
        else:
            items.append(child.label)
    return tuple(items)


def _outline(tree: Tree) -> tuple[list[list[int]], list[Signature]]:
    """Return the children and the signature of each node."""
    below: list[list[int]] = [[] for _ in tree.labels]
    for node, parent in enumerate(tree.parents.tolist()[1:], start=1):
        below[parent].append(node)
    starts = tree.starts.tolist()
    ends = tree.ends.tolist()
    words = [(word.casefold(),) for word in tree.words]
    signatures: list[Signature] = []
    for node, children in enumerate(below):
        items: list[str | tuple[str]] = []
        place = starts[node]
        for child in children:
            items += (*words[place : starts[child]], tree.labels[child])
            place = max(place, ends[child])
        signatures.append((*items, *words[place : ends[node]]))
    return below, signatures


_Linked: TypeAlias = "tuple[int, _Linked] | None"
"""A linked list of nodes: lists that branch share their common part."""


def _walk(
    state: _State, children: list[int], below: list[list[int]], signatures: list[Signature]
) -> Iterator[tuple[_State, tuple[int, ...]]]:
    """Yield the ends of all source sides that match, with the nodes of their variables.

    Each next node of the tree, in preorder, is either bound to a variable or entered, if the trie
    goes on so.
    """
    # a stack: the state reached, the nodes still to come, and those bound, the last one first
    left = [(state, _before(children, None), cast(_Linked, None))]
    while left:
        state, nodes, bound = left.pop()
        if nodes is None:
            yield state, _listed(bound)
            continue
        node, rest = nodes
        if state.variable is not None:
            left.append((state.variable, rest, (node, bound)))
        following = state.expanded.get(signatures[node])
        if following is not None:
            left.append((following, _before(below[node], rest), bound))


def _listed(bound: _Linked) -> tuple[int, ...]:
    """Return the bound nodes, the first one first."""
    nodes = []
    while bound is not None:
        node, bound = bound
        nodes.append(node)
    return tuple(reversed(nodes))


def _before(nodes: list[int], rest: _Linked) -> _Linked:
    """Return a list that begins with some nodes."""
    for node in reversed(nodes):
        rest = node, rest
    return rest
