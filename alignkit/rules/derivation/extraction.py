"""Learn the synchronous rules of sentence pairs: `extract_rules`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from alignkit._support.arguments import check_arguments, every
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.model.choice import alignment_of_pair
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.trees import Tree
from alignkit.rules.derivation.derivation import Derivation, Derived, RuleReader

SIDES = ("source", "target")

LINKS = ("sure", "possible")
"""The links that rules can be learned from: the sure ones (S), or all of them (P)."""

TREE_GRAMMARS = ("stsg", "s2t")
"""The grammars of trees: trees on both sides, or a string and a tree."""


@overload
def extract_rules(
    pairs: SentencePair,
    *,
    links: str = ...,
    annotator: str | None = ...,
    grammar: str = ...,
    source_tree: Tree | str | None = ...,
    target_tree: Tree | str | None = ...,
    string: str | None = ...,
    deletions: bool = ...,
) -> Derivation: ...
@overload
def extract_rules(
    pairs: Iterable[SentencePair],
    *,
    links: str = ...,
    annotator: str | None = ...,
    grammar: str = ...,
    source_tree: str | None = ...,
    target_tree: str | None = ...,
    string: str | None = ...,
    deletions: bool = ...,
) -> list[Derivation]: ...
def extract_rules(
    pairs: SentencePair | Iterable[SentencePair],
    *,
    links: str = "sure",
    annotator: str | None = None,
    grammar: str = "stsg",
    source_tree: Tree | str | None = None,
    target_tree: Tree | str | None = None,
    string: str | None = None,
    deletions: bool = False,
) -> Derivation | list[Derivation]:
    """Learn the synchronous rules of an aligned, parsed sentence pair, or of many.

    Two nodes are *consistent* when they have the same links, not none: when a link lies in their
    box and none leaves it. Nodes of one tree with the same links form a chain; of the two chains of
    the same links, as many nodes as the shorter one has are *matched*, in order: both roots, then
    most equal labels, then the lowest nodes. A *minimal rule* is what lies between matched nodes:
    the fragments of both trees from a matched pair down to the next ones, which are its variables
    [1]_ [2]_. Words without links stay where they are.

    Parameters
    ----------
    pairs
        The pair; its words must be known. Or several: they are derived together, which is faster.
    links
        ``"sure"``: only the sure links count; ``"possible"``: all do.
    annotator
        Whose alignment; None where one annotator alone aligned it.
    grammar
        ``"stsg"``, trees on both sides; or ``"s2t"``, a string and a tree [2]_: every node of the
        tree whose words are linked to a span of the string, to which no other word is linked, is
        the root of a rule.
    source_tree, target_tree
        The name of one of the pair's trees, or, of a single pair, a tree; None for the only one.
    string
        The side that is a string, ``"source"`` or ``"target"``, of ``"s2t"``; None for the side
        without a tree, or the source if both have one.
    deletions
        Make a highest constituent without links a variable of its own kind, deleted (source) or
        inserted (target), instead of keeping it as words.

    Raises
    ------
    UnknownNameError
        If `links`, `annotator`, `grammar`, `string` or a tree names nothing.
    OptionError
        If there are several annotators or trees and none is named.
    MissingTextError
        If the words or a tree are missing.
    TreeError
        If a tree has other words.

    References
    ----------
    .. [1] Cohn, Callison-Burch & Lapata 2008, Constructing corpora for the development and
       evaluation of paraphrase systems, Computational Linguistics 34(4).
    .. [2] Galley, Hopkins, Knight & Marcu 2004, What's in a translation rule?, HLT-NAACL.

    Examples
    --------
    >>> from alignkit import Alignment
    >>> source = Tree.parse("(NP (NP (NN end)) (PP (IN of) (NP (NN day))))")
    >>> target = Tree.parse("(NP (NP (NN day) (POS 's)) (NN end))")
    >>> pair = SentencePair("1", source.words, target.words, {"gold": Alignment.parse("0-2 2-0")})
    >>> found = extract_rules(pair, source_tree=source, target_tree=target)
    >>> found
    Derivation('1', 4 minimal rules)
    >>> from alignkit.rules import rule_text
    >>> print(rule_text(found.minimal[0]))
    NP(NP(x0:NN) PP(IN("of") x1:NP)) ||| NP(x1:NP x0:NN)
    """
    check_arguments(extract_rules, locals(), apart=["pairs"])
    check_names(links, grammar, string)
    if isinstance(pairs, SentencePair):
        known: tuple[SentencePair, ...] = (pairs,)
        reader = RuleReader.shared()
    else:
        known, reader = every("pairs", pairs, SentencePair), RuleReader()
        for name, tree in (("source_tree", source_tree), ("target_tree", target_tree)):
            if isinstance(tree, Tree):
                raise OptionError(f"`{name}` is one tree for several pairs: give its name")
    alignments = [alignment_of_pair(pair, annotator) for pair in known]
    left = [tree_of(pair, "source", source_tree) for pair in known]
    right = [tree_of(pair, "target", target_tree) for pair in known]
    text = string_side(grammar, string, left, right)
    nothing: list[Tree | None] = [None] * len(known)
    left, right = nothing if text == "source" else left, nothing if text == "target" else right
    for side, trees in (("source", left), ("target", right)):
        for pair, tree in zip(known, trees, strict=True) if side != text else ():
            if tree is None:
                raise MissingTextError(f"pair {pair.id!r} has no {side} tree; give it one")
    derived = Derived(
        known, alignments, (left, right), links=links, string=text, deletions=deletions,
        reader=reader,
    )  # fmt: skip
    found = [Derivation(derived, k) for k in range(len(known))]
    return found[0] if isinstance(pairs, SentencePair) else found


def check_names(links: str, grammar: str, string: str | None) -> None:
    """Refuse unknown links and sides, grammars that are not of trees, and a string without one."""
    if string is not None and string not in SIDES:
        raise UnknownNameError("side", string, SIDES)
    if string is not None and grammar == "stsg":
        raise OptionError("`string` is about `grammar='s2t'`: say so, or leave it out")
    if links not in LINKS:
        raise UnknownNameError("kind of links", links, LINKS)
    if grammar not in TREE_GRAMMARS:
        raise UnknownNameError("grammar of trees", grammar, TREE_GRAMMARS)


def tree_of(pair: SentencePair, side: str, tree: Tree | str | None) -> Tree | None:
    """Return a tree of a pair; None where it has none there and none is named."""
    if tree is None and not getattr(pair, f"{side}_trees"):
        return None
    if isinstance(tree, Tree):
        return pair.with_trees("given", **{side: tree}).tree(side, "given")
    return pair.tree(side, tree)


def string_side(
    grammar: str, string: str | None, source: Sequence[Tree | None], target: Sequence[Tree | None]
) -> str | None:
    """Return the side that is a string, if the grammar has one."""
    if grammar == "stsg" or string is not None:
        return string
    parsed = [any(tree is not None for tree in trees) for trees in (source, target)]
    return "target" if parsed == [True, False] else "source"
