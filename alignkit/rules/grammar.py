"""Grammars: rule types with counts, probabilities and examples."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from alignkit._support.arguments import check_arguments, check_known


class Variable(NamedTuple):
    """A variable: the place of another rule, or (kind "d", "i") of deleted or inserted words.

    Shown as ``x0:NP``; in a string, which has no labels, as ``x0``.

    Examples
    --------
    >>> from alignkit.rules import rule_text
    >>> rule_text(Rule(Node("NP", (Variable(0, "NN"),)), Node("NP", ("a", Variable(0, "NN")))))
    'NP(x0:NN) ||| NP("a" x0:NN)'
    """

    number: int
    label: str = ""
    kind: str = "x"


class Node(NamedTuple):
    """A node of a fragment: its label and its children (nodes, variables and words).

    Examples
    --------
    >>> Node("NP", (Node("DT", ("the",)), Variable(0, "NN"))).label
    'NP'
    """

    label: str
    children: tuple[Item, ...]


Item: TypeAlias = "Node | Variable | str"
Symbols: TypeAlias = "tuple[Variable | str, ...]"
Side: TypeAlias = "Node | Symbols"
"""One side of a rule: a fragment of a tree, or a string in string-to-tree rules."""


class Rule(NamedTuple):
    """A pair of a source and a target side.

    Variables are numbered from 0, left to right on the source side. Each is once on both sides,
    but deleted variables (kind "d") are only on the source side, inserted ones ("i") only on the
    target side.

    Examples
    --------
    >>> rule = Rule(source=Node("NN", ("car",)), target=Node("NN", ("auto",)))
    >>> kind_of(rule)
    'lexical'
    """

    source: Side
    target: Side


KINDS: Mapping[str, str] = {
    "identity": "both sides are equal, including the labels of variables",
    "same-words": "the same words and variables in the same order, below different labels",
    "relabelling": "no words, variables in the same order",
    "lexical": "one word for one word, no variables",
    "phrasal": "words for words, no variables",
    "monotone+words": "variables in the same order, with words",
    "reordering": "variables in another order, no words",
    "reordering+words": "variables in another order, with words",
}
"""The kinds of rules and their meaning; a rule has the first kind that fits."""


def kind_of(rule: Rule) -> str:
    """Return the kind of a rule: the first of `KINDS` that fits.

    Words are compared casefolded, labels exactly. A deleted or inserted variable counts as a
    word that the other side lacks.

    Parameters
    ----------
    rule : The rule.

    Examples
    --------
    >>> kind_of(Rule(Node("NN", ("dog",)), Node("NN", ("hound",))))
    'lexical'
    """
    left, right = map(_symbols, rule)
    words = any(isinstance(item, str) for item in left + right)
    if left == right and _folded(rule.source) == _folded(rule.target):
        return "identity"
    if left == right and words:
        return "same-words"
    source_order = [item for item in left if isinstance(item, int)]
    target_order = [item for item in right if isinstance(item, int)]
    is_monotone = source_order == target_order
    if is_monotone and not words:
        return "relabelling"
    if not source_order:
        if len(left) == len(right) == 1:
            return "lexical"
        return "phrasal"
    order = "monotone" if is_monotone else "reordering"
    return f"{order}+words" if words else order


def leaves(side: Side) -> Symbols:
    """Return the words and variables of a side, in order."""
    items = preorder(side)
    return tuple([item for item in items if item is not None and not isinstance(item, Node)])


def preorder(side: Side) -> Iterator[Item | None]:
    """Yield the nodes, words and variables of a side in preorder, and None after each node."""
    left: list[Item | None]
    if isinstance(side, Node):
        left = [side]
    else:
        left = list(reversed(side))
    while left:
        item = left.pop()
        yield item
        if type(item) is Node:
            left.append(None)
            left.extend(reversed(item.children))


def variables(side: Side) -> list[Variable]:
    """Return the variables of a side, in order."""
    return [item for item in leaves(side) if type(item) is Variable]


def root_labels(rule: Rule) -> tuple[str | None, str | None]:
    """Return the labels of both roots; None for a string."""
    source, target = (side.label if isinstance(side, Node) else None for side in rule)
    return source, target


def _symbols(side: Side) -> list[str | int]:
    """Return words casefolded, paired variables as their numbers, others as texts."""
    symbols: list[str | int] = []
    for item in leaves(side):
        if isinstance(item, str):
            symbols.append(item.casefold())
        elif item.kind == "x":
            symbols.append(item.number)
        else:
            symbols.append(f"{item.kind} {item.number}")
    return symbols


def _folded(side: Side) -> list[Item | tuple[str, str] | None]:
    """Return a side in preorder, None at the end of each node, words casefolded."""
    items: list[Item | tuple[str, str] | None] = []
    for item in preorder(side):
        if isinstance(item, Node):
            items.append(("node", item.label))
        elif isinstance(item, str):
            items.append(item.casefold())
        else:
            items.append(item)
    return items


def check_kinds(kinds: Collection[str] | None) -> None:
    """Refuse unknown kinds of rules."""
    for name in kinds or ():
        check_known("kind of rule", name, KINDS)


@dataclass(frozen=True, slots=True)
class Example:
    """A place where a rule was seen: the pair, and the half-open spans of words of its root.

    Part of `RuleType.examples`.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair, Tree
    >>> from alignkit.rules import learn_grammar
    >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
    >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
    >>> grammar = learn_grammar([pair.with_trees("gold", **trees)], examples=1)
    >>> grammar.types[0].examples[0]
    Example(id='1', source=('car',), target=('auto',), source_span=(0, 1), target_span=(0, 1))
    """

    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    source_span: tuple[int, int]
    target_span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class RuleType:
    """A rule type of a grammar; weights that were not computed are None.

    Parameters
    ----------
    rule : The rule.
    count : How often it was seen; for grammars learned with `all`, a sum of fractions.
    pairs : The number of sentence pairs that have it.
    p_target, p_source : P(target side | source side), P(source side | target side).
    p_rule : P(rule | both root labels).
    lexical_target, lexical_source : The lexical weights of Koehn et al. (2003), p(target words |
        source words) and back.
    alignment : The links between words, as positions of symbols in the leaves of each side
        (variables counted), from the rule's most frequent alignment; None if unknown.
    examples : Some places where it was seen.
    extra : Other data of the rule in a file, as (name, text): other features, and the text of known
        features that alignkit would write differently. A feature without a name has the name "".

    Examples
    --------
    >>> rule = Rule(source=Node("NN", ("car",)), target=Node("NN", ("auto",)))
    >>> RuleType(rule, count=2, p_target=0.5).p_source is None
    True
    """

    rule: Rule
    count: float | None = None
    pairs: int | None = None
    p_target: float | None = None
    p_source: float | None = None
    p_rule: float | None = None
    lexical_target: float | None = None
    lexical_source: float | None = None
    alignment: tuple[tuple[int, int], ...] | None = None
    examples: tuple[Example, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the rule; see `alignkit.rules.kind_of`."""
        return kind_of(self.rule)


@dataclass(frozen=True)
class Grammar:
    """The rule types of a corpus, most frequent first.

    Returned by `learn_grammar`.

    Parameters
    ----------
    types : The rule types, by count, then by their text.
    kind : ``"stsg"`` (trees on both sides) or ``"s2t"`` (string to tree).
    dropped : The rules left out: reason to number of rules.
    pairs : The number of sentence pairs that it was learned from.
    passed_over : The sentence pairs that gave no rules: reason to number of pairs.
    sizes : Rules by size: the number of minimal rules in a rule, to counts.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair, Tree
    >>> from alignkit.rules import learn_grammar, rule_text
    >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
    >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
    >>> grammar = learn_grammar([pair.with_trees("gold", **trees)])
    >>> [rule_text(entry.rule) for entry in grammar.types]
    ['NN("car") ||| NN("auto")', 'NP(x0:NN) ||| NP(x0:NN)']
    """

    types: tuple[RuleType, ...]
    kind: str = "stsg"
    dropped: Mapping[str, int] = field(default_factory=dict)
    pairs: int = 0
    passed_over: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[int, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.types)

    def __iter__(self) -> Iterator[RuleType]:
        return iter(self.types)

    def __repr__(self) -> str:
        return f"Grammar({len(self):,} types of {self.tokens:,.10g} rules, {self.kind})"

    @property
    def tokens(self) -> float:
        """The number of rules seen: the sum of all counts."""
        return _whole(sum(entry.count or 0 for entry in self.types))

    def kinds(self) -> dict[str, tuple[float, int]]:
        """Return the rules and the types of each kind, in the order of `alignkit.rules.KINDS`.

        Examples
        --------
        >>> from alignkit import Alignment, SentencePair, Tree
        >>> from alignkit.rules import learn_grammar
        >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
        >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
        >>> learn_grammar([pair.with_trees("gold", **trees)]).kinds()["lexical"]
        (1, 1)
        """
        counts: dict[str, tuple[float, int]] = dict.fromkeys(KINDS, (0, 0))
        for entry in self.types:
            tokens, types = counts[entry.kind]
            counts[entry.kind] = tokens + (entry.count or 0), types + 1
        return {kind: (_whole(tokens), types) for kind, (tokens, types) in counts.items()}

    def select(
        self, *, kinds: Collection[str] | None = None, min_count: float = 0, identity: bool = True
    ) -> Grammar:
        """Return a grammar with some of the types; their weights are not recomputed.

        Parameters
        ----------
        kinds : The kinds of rules to keep, of `alignkit.rules.KINDS`; None: all.
        min_count : The least count of a type.
        identity : Whether to keep rules with two equal sides; only if `kinds` is None.

        Raises
        ------
        UnknownNameError : If a kind is not in `alignkit.rules.KINDS`.

        Examples
        --------
        >>> from alignkit import Alignment, SentencePair, Tree
        >>> from alignkit.rules import learn_grammar
        >>> trees = {"source": Tree.parse("(NP (NN car))"), "target": Tree.parse("(NP (NN auto))")}
        >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
        >>> grammar = learn_grammar([pair.with_trees("gold", **trees)])
        >>> len(grammar.types), len(grammar.select(kinds=["lexical"]).types)
        (2, 1)
        """
        check_arguments(Grammar.select, locals())
        check_kinds(kinds)
        wanted = set(KINDS if kinds is None else kinds)
        if not identity and kinds is None:
            wanted.remove("identity")
        kept = (entry for entry in self.types if (entry.count or 0) >= min_count)
        if len(wanted) < len(KINDS):
            kept = (entry for entry in kept if entry.kind in wanted)
        return replace(self, types=tuple(kept))


def _whole(total: float) -> float:
    """Return a sum of counts without its rounding error, if it should be a whole number."""
    return round(total) if abs(total - round(total)) < 1e-6 else total
