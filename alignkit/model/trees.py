"""A constituent tree over the tokens of one side of a sentence pair, as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alignkit._support.arguments import check_arguments, check_kind
from alignkit._support.arguments import words as check_words
from alignkit._support.array_types import I4
from alignkit._support.wording import how_many
from alignkit.errors import FormatError, TreeError
from alignkit.model import brackets
from alignkit.model.tree_words import difference, read_fitting

if TYPE_CHECKING:
    import nltk

_NLTK_DEPTH = 500  # up to which nltk handles trees, unless the user sets another
_SHOWN = 60
_COLUMNS = ("parents", "starts", "ends", "afters")


class Child(NamedTuple):
    """A child of a node: a node, or the word at a position; the other field is None."""

    node: int | None
    word: int | None


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Tree:
    """A constituent tree: nodes in preorder, tokens as its leaves.

    A node is a nonterminal or a preterminal; words are not nodes. The nodes below node u are
    ``u + 1 .. afters[u] - 1``; the words directly below u are the positions of its span that are
    not in a span of its children.

    Parameters
    ----------
    words : The tokens, in order: the leaves.
    labels : The label of each of the n nodes, in preorder; the first is the root.
    parents : (n,) int32: the parent of each node; -1 for the root.
    starts, ends : (n,) int32: the half-open span of tokens below each node; empty for a node
        without words, which comes before the word at that position.
    afters : (n,) int32: the next node in preorder that is not a descendant.

    Raises
    ------
    TreeError : If the columns are not a tree in preorder over these words; the message names the
        node.

    Examples
    --------
    >>> tree = Tree.parse("(S (NP (NN rain)) (VP (VBZ falls)))")
    >>> tree
    Tree('(S (NP (NN rain)) (VP (VBZ falls)))', 5 nodes)
    >>> len(tree), tree.depth, tree.words
    (5, 3, ('rain', 'falls'))
    >>> tree.span(3), tree.children(0)
    ((1, 2), [Child(node=1, word=None), Child(node=3, word=None)])
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    parents: I4
    starts: I4
    ends: I4
    afters: I4

    def __post_init__(self) -> None:
        place = object.__setattr__
        place(self, "words", check_words("words", self.words))
        place(self, "labels", check_words("labels", self.labels))
        if not self.labels:
            raise TreeError("a tree has at least one node")
        for name in _COLUMNS:
            try:
                array = np.asarray(getattr(self, name))
                column = array.astype(np.int32)
                whole = array.dtype.kind in "iu" and np.array_equal(column, array)
            except (TypeError, ValueError, OverflowError):
                whole = False
            if not whole or column.shape != (len(self.labels),):
                raise TreeError(f"{name} must be {len(self.labels)} whole numbers, one per label")
            column.flags.writeable = False
            place(self, name, column)
        _check(len(self.words), self.parents.tolist(), *self._columns())

    @classmethod
    def trusted(
        cls, words: tuple[str, ...], labels: tuple[str, ...], *columns: Sequence[int] | I4
    ) -> Tree:
        """Make a tree from parents, starts, ends and afters that are known to be valid."""
        self = cls.__new__(cls)
        arrays = np.array(columns, dtype=np.int32)
        arrays.flags.writeable = False
        for name, value in zip(cls.__slots__, (words, labels, *arrays), strict=True):
            object.__setattr__(self, name, value)
        return self

    @classmethod
    def of_brackets(cls, got: brackets.Brackets, tokens: Iterable[str] | None = None) -> Tree:
        """Make a tree from brackets; `tokens` are its words, if they are known."""
        if tokens is None:
            words = tuple(map(brackets.unescaped, got.words))
        else:
            words = tuple(tokens)
        return cls.trusted(words, tuple(got.labels), got.parents, got.starts, got.ends, got.afters)

    @classmethod
    def parse(
        cls,
        text: str,
        tokens: Iterable[str] | None = None,
        *,
        strict: bool = False,
        drop_function_tags: bool = False,
        drop_traces: bool = False,
    ) -> Tree:
        r"""Read a tree from Penn brackets, on one or several lines.

        Parameters
        ----------
        text : The brackets, see `alignkit.model.brackets`. Several trees are joined under a node
            ``TOP``.
        tokens : The words of the sentence; the tree takes its words from here. The leaves must be
            the same, except for escapes of parsers (`alignkit.model.tree_words.same_word`). None
            takes the written leaves.
        strict : Reject unescaped brackets as words, ``(JJ ()``, which the tokens can identify.
        drop_function_tags : Read ``NP-SBJ=1`` as ``NP``.
        drop_traces : Leave out ``-NONE-`` and nodes with nothing else.

        Raises
        ------
        FormatError : If the text has no tree, its brackets do not match, or its leaves are not the
            tokens.

        Examples
        --------
        >>> Tree.parse("( (S (NP-SBJ (-LRB- -LRB-) (NN rain))))", ("(", "rain")).words
        ('(', 'rain')
        >>> str(Tree.parse("(S (-LRB- () (NN rain))", ["(", "rain"]))
        '(S (-LRB- \\() (NN rain))'
        """
        check_arguments(Tree.parse, locals())
        known = None if tokens is None else check_words("tokens", tokens)
        read = read_fitting(
            text,
            known,
            strict=strict,
            drop_function_tags=drop_function_tags,
            drop_traces=drop_traces,
        )
        if read is None:
            raise FormatError("no tree; expected Penn brackets, such as (S (NN rain))")
        return cls.of_brackets(read, known)

    @classmethod
    def from_nltk(cls, tree: nltk.Tree, tokens: Iterable[str] | None = None) -> Tree:
        """Make a tree from an nltk tree; its leaves are words and are not changed.

        Parameters
        ----------
        tree : The tree of nltk.
        tokens : The words that its leaves should be; None: any.

        Raises
        ------
        TreeError : If a label or a leaf is not text, or the leaves are not the `tokens`.

        Examples
        --------
        >>> import nltk
        >>> from alignkit import Tree
        >>> Tree.from_nltk(nltk.Tree.fromstring("(NP (DT the) (NN car))")).words
        ('the', 'car')
        """
        import nltk

        check_kind("tree", tree, nltk.Tree)
        read = brackets.Brackets(joined=1)
        # what is still to be read, the next one last: a child with its parent; or None, with the
        # node that ends here
        waiting: list[tuple[Any, int]] = [(tree, -1)]
        while waiting:
            child, parent = waiting.pop()
            if child is None:
                ended = parent
                read.ends[ended] = len(read.words)
                read.afters[ended] = len(read.labels)
            elif isinstance(child, nltk.Tree):
                check_kind("a label", child.label(), str)
                node = len(read.labels)
                waiting.append((None, node))
                waiting += [(below, node) for below in reversed(child)]
                read.open(child.label(), parent, len(read.words))
            else:
                check_kind("a leaf", child, str)
                read.words.append(child)
        if tokens is not None:
            known = check_words("tokens", tokens)
            if known != tuple(read.words):
                raise TreeError(f"the tree does not fit: {difference(read.words, known)}")
        return cls.of_brackets(read, read.words)

    def to_nltk(self) -> nltk.Tree:
        """Return the tree as an nltk tree.

        Raises
        ------
        TreeError : If it is deeper than nltk allows, 500 nodes.

        Examples
        --------
        >>> from alignkit import Tree
        >>> Tree.parse("(NP (DT the) (NN car))").to_nltk().label()
        'NP'
        """
        import nltk.tree.tree

        most = int(getattr(nltk.tree.tree, "MAX_TREE_DEPTH", _NLTK_DEPTH))
        if self.depth > most:
            raise TreeError(
                f"the tree is {self.depth} nodes deep, but nltk allows only {most}; use "
                "alignkit's own tree"
            )
        stack: list[Any] = [[]]
        for kind, at in self.walk():
            if kind == "open":
                node = nltk.Tree(self.labels[at], [])
                stack[-1].append(node)
                stack.append(node)
            elif kind == "word":
                stack[-1].append(self.words[at])
            else:
                stack.pop()
        root: nltk.Tree = stack[0][0]
        return root

    def with_words(self, words: Iterable[str]) -> Tree:
        """Return the same tree over the same number of other words.

        Parameters
        ----------
        words : As many words as the tree has.

        Raises
        ------
        TreeError : If the number of words differs.

        Examples
        --------
        >>> from alignkit import Tree
        >>> print(Tree.parse("(NP (DT the) (NN car))").with_words(["an", "auto"]))
        (NP (DT an) (NN auto))
        """
        known = check_words("words", words)
        if len(known) != len(self.words):
            raise TreeError(f"{how_many(len(known), 'word')} for a tree with {len(self.words)}")
        return Tree.trusted(known, self.labels, self.parents, self.starts, self.ends, self.afters)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def depth(self) -> int:
        """The number of nodes on the longest path from the root down, including the root."""
        depths = [0] * len(self.labels)
        for node, parent in enumerate(self.parents.tolist()):
            depths[node] = 1 if parent < 0 else depths[parent] + 1
        return max(depths)

    def span(self, node: int) -> tuple[int, int]:
        """Return the half-open span of the words below a node.

        Parameters
        ----------
        node : The number of the node.

        Examples
        --------
        >>> from alignkit import Tree
        >>> tree = Tree.parse("(NP (DT the) (NN car))")
        >>> [(tree.labels[k], tree.span(k)) for k in range(3)]
        [('NP', (0, 2)), ('DT', (0, 1)), ('NN', (1, 2))]
        """
        return int(self.starts[node]), int(self.ends[node])

    def children(self, node: int) -> list[Child]:
        """Return the children of a node, in order: nodes and words.

        Parameters
        ----------
        node : The number of the node.

        Examples
        --------
        >>> from alignkit import Tree
        >>> Tree.parse("(NP (DT the) (NN car))").children(0)
        [Child(node=1, word=None), Child(node=2, word=None)]
        """
        place, end = self.span(node)
        below: list[Child] = []
        child = node + 1
        after = int(self.afters[node])
        while child < after:
            start, stop = self.span(child)
            below += (Child(None, k) for k in range(place, start))
            below.append(Child(child, None))
            place = stop
            child = int(self.afters[child])
        below += (Child(None, k) for k in range(place, end))
        return below

    def walk(self) -> Iterator[tuple[str, int]]:
        """Yield ``("open", node)``, ``("word", position)`` and ``("close", node)``, left to right.

        Examples
        --------
        >>> from alignkit import Tree
        >>> list(Tree.parse("(NN car)").walk())
        [('open', 0), ('word', 0), ('close', 0)]
        """
        return brackets.walk(*self._columns())

    def __str__(self) -> str:
        return brackets.write_brackets(self.words, self.labels, *self._columns())

    def _columns(self) -> tuple[list[int], list[int], list[int]]:
        """Return starts, ends and afters, as `brackets.walk` takes them."""
        return self.starts.tolist(), self.ends.tolist(), self.afters.tolist()

    def __repr__(self) -> str:
        text = str(self)
        if len(text) > _SHOWN:
            text = f"{text[: _SHOWN - 1]}…"
        return f"Tree({text!r}, {how_many(len(self), 'node')})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if (self.words, self.labels) != (other.words, other.labels):
            return False
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _COLUMNS)

    def __hash__(self) -> int:
        return hash((self.words, self.labels, self.afters.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        columns = (self.parents, self.starts, self.ends, self.afters)
        return Tree.trusted, (self.words, self.labels, *columns)

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tree:
        return self


def _check(
    words: int, parents: list[int], starts: list[int], ends: list[int], afters: list[int]
) -> None:
    """Raise an error for columns that are not a tree in preorder.

    Nodes are opened one by one. The parent of a node must be open: the nodes that were opened after
    the parent are then complete, so their `afters` is this node.
    """
    count = len(parents)
    if (starts[0], ends[0]) != (0, words):
        raise TreeError(f"the root spans {starts[0]}-{ends[0]}, not all {words} words")
    opened: list[int] = []
    places = [0]  # where the next child of each open node may begin; first, where the root may

    def close_down_to(parent: int, node: int) -> None:
        """Close the open nodes behind a parent, before a node; -1 closes all."""
        while opened and opened[-1] != parent:
            closed = opened.pop()
            places.pop()
            if afters[closed] != node:
                raise TreeError(f"afters[{closed}] is {afters[closed]}, expected {node}")

    for node, parent in enumerate(parents):
        is_before = parent == -1 if node == 0 else 0 <= parent < node
        if is_before:
            close_down_to(parent, node)
        if not is_before or (node and not opened):
            raise TreeError(f"node {node} has the parent {parent}, which is not valid in preorder")
        end_of_parent = ends[parent] if node else words
        if not places[-1] <= starts[node] <= ends[node] <= end_of_parent:
            raise TreeError(
                f"node {node} spans {starts[node]}-{ends[node]}; it must be within its parent "
                "and after the nodes before"
            )
        places[-1] = ends[node]
        opened.append(node)
        places.append(starts[node])
    close_down_to(-1, count)
