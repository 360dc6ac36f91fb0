"""Links and alignments: which source words correspond to which target words."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from math import isinf
from numbers import Real
from operator import index, itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union

from alignkit._support.arguments import check_kind, whole_number
from alignkit.errors import AlignmentError, ArgumentError

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray

NULL = -1
"""The index of the empty word: `Link(3, NULL)` means that source word 3 is aligned to nothing."""


class _Positions(NamedTuple):
    i: int
    j: int


class Link(_Positions):
    """A link between source word `i` and target word `j`, both 0-based.

    Examples
    --------
    >>> Link(0, 2).transpose()
    Link(i=2, j=0)
    >>> Link(0, 2) == (0, 2)
    True
    """

    __slots__ = ()

    def __new__(cls, i: int, j: int) -> Link:
        """Make a link from two whole numbers."""
        try:
            return tuple.__new__(cls, (index(i), index(j)))
        except TypeError:  # name the wrong part
            return cls(whole_number("i", i), whole_number("j", j))

    def transpose(self) -> Link:
        """Return the link with source and target exchanged.

        Examples
        --------
        >>> from alignkit import Link
        >>> Link(0, 2).transpose()
        Link(i=2, j=0)
        """
        return Link(self.j, self.i)


_link_of = partial(tuple.__new__, Link)
"""Make a link from two positions that are known to be whole numbers."""

LinkLike = Union[Link, "tuple[int, int]"]

LONGEST = 2**20  # the most words of a sentence; links beyond are errors that would need huge arrays

DRAWN = 40_000  # the most cells of a matrix that a notebook shows

_TOKEN = re.compile(
    r"(\d{0,9})([-?])(\d{0,9})(?::([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))?", re.ASCII
)


class Alignment:
    """The links between the words of a sentence pair; immutable and hashable.

    Every link is *sure* or only *possible*. `sure` is always a subset of `possible`
    (Och & Ney 2003); a link given as both is sure.

    Parameters
    ----------
    sure : The sure links, as `(i, j)` pairs of 0-based source and target positions.
    possible : The possible links; sure links may be left out.
    nulls, possible_nulls : Words that an annotator explicitly aligned to nothing, as links with
        `NULL` on one side. They are stored separately and never count as links.
    weights : A number for a link (a posterior, a confidence); the link must exist.
    labels : A text for a link, for a null, or for a cell without a link (a judged non-link).

    Raises
    ------
    AlignmentError : If an index is negative or not less than `LONGEST`, a null has words on both
        sides, or a weight is given for a link that does not exist.

    Notes
    -----
    Links are stored as sorted 32-bit pairs in one `bytes` object: 9 bytes per link and about
    190 bytes per alignment. `sure` and `possible` build sets on demand; do not call them in a loop.

    Examples
    --------
    >>> a = Alignment(sure=[(0, 0), (1, 2)], possible=[(1, 1)])
    >>> a
    Alignment('0-0 1?1 1-2')
    >>> sorted(a.sure)
    [Link(i=0, j=0), Link(i=1, j=2)]
    >>> len(a), a.targets_of(1)
    (3, (1, 2))
    >>> a == Alignment.parse("0-0 1?1 1-2")
    True
    """

    __slots__ = ("_flags", "_labels", "_nulls", "_points", "_weights")

    _points: bytes
    _flags: bytes
    _nulls: tuple[tuple[Link, bool], ...]
    _weights: dict[Link, float]
    _labels: dict[Link, str]

    def __init__(
        self,
        sure: Iterable[LinkLike] = (),
        possible: Iterable[LinkLike] = (),
        *,
        nulls: Iterable[LinkLike] = (),
        possible_nulls: Iterable[LinkLike] = (),
        weights: Mapping[LinkLike, float] | None = None,
        labels: Mapping[LinkLike, str] | None = None,
    ) -> None:
        links = {**_marked("possible", possible, False), **_marked("sure", sure, True)}
        for i, j in links:
            if not (0 <= i < LONGEST and 0 <= j < LONGEST):
                raise AlignmentError(
                    f"link {i}-{j} has an index out of range; indices are 0-based and less "
                    f"than {LONGEST}"
                )
        ordered = sorted(links)
        self._points = array("i", chain.from_iterable(ordered)).tobytes()
        self._flags = bytes(links[link] for link in ordered)
        empty = _marked("possible_nulls", possible_nulls, False) | _marked("nulls", nulls, True)
        for i, j in empty:
            if (i == NULL) == (j == NULL) or min(i, j) < NULL or max(i, j) >= LONGEST:
                raise AlignmentError(
                    f"null ({i}, {j}) must have the index NULL on one side and a word on the other"
                )
        self._nulls = tuple((Link(*null), empty[null]) for null in sorted(empty))
        self._weights = _NOTHING
        self._labels = _NOTHING
        if weights is not None:
            self._weights = _keyed("weights", weights) or _NOTHING
            for link, weight in self._weights.items():
                if type(weight) in (float, int):
                    continue
                if isinstance(weight, bool) or not isinstance(weight, Real):
                    raise ArgumentError(
                        f"weights[{link.i}, {link.j}] is {str(weight)[:40]!r}; it must be a number"
                    )
                self._weights[link] = float(weight)  # one of NumPy
        if labels is not None:
            self._labels = _keyed("labels", labels) or _NOTHING
            for link, text in self._labels.items():
                check_kind(f"labels[{link.i}, {link.j}]", text, str)
        for link in self._weights:
            if link not in links and link not in empty:
                raise AlignmentError(f"{link.i}-{link.j} has a weight, but is not a link")

    @classmethod
    def parse(cls, text: str) -> Alignment:
        """Make an alignment from Pharaoh notation: `i-j` sure, `i?j` possible, `i-` and `-j` null.

        A link may have a weight, ``0-0:0.93``, as ``alignkit align --probs`` writes it.

        Parameters
        ----------
        text : The links, separated by white space.

        Raises
        ------
        AlignmentError : If a token does not have this form.

        Examples
        --------
        >>> Alignment.parse("0-0 1?1 2-").possible == {(0, 0), (1, 1)}
        True
        """
        check_kind("text", text, str)
        sure: list[Link] = []
        possible: list[Link] = []
        nulls: list[Link] = []
        possible_nulls: list[Link] = []
        weights: dict[LinkLike, float] = {}
        for token in text.split():
            match = _TOKEN.fullmatch(token)
            if match is None or not (match[1] or match[3]):
                raise AlignmentError(
                    f"{token[:40]!r} is not a link; expected i-j, i?j, i-j:0.5, i- or -j"
                )
            source, mark, target, weight = match.groups()
            if source and target:
                kind = sure if mark == "-" else possible
            else:
                kind = nulls if mark == "-" else possible_nulls
            i = int(source) if source else NULL
            j = int(target) if target else NULL
            link = Link(i, j)
            kind.append(link)
            if weight is not None:
                weights[link] = float(weight)
                if isinf(weights[link]):
                    raise AlignmentError(f"the weight of {token[:40]!r} is too large")
        return cls(sure, possible, nulls=nulls, possible_nulls=possible_nulls, weights=weights)

    @classmethod
    def from_bytes(
        cls, points: bytes, flags: bytes, weights: dict[Link, float] | None = None
    ) -> Alignment:
        """Wrap links that are known to be sorted, distinct and non-negative.

        Parameters
        ----------
        points : Native 32-bit `i, j` pairs in ascending order, 8 bytes per link.
        flags : One byte per link: 1 sure, 0 possible.
        weights : The weights of links, in ascending order.

        Examples
        --------
        >>> alignment = Alignment.parse("0-0 1?1")
        >>> Alignment.from_bytes(*alignment.packed()) == alignment
        True
        """
        self = cls.__new__(cls)
        self._points = points
        self._flags = flags
        self._nulls = ()
        self._weights = weights or _NOTHING
        self._labels = _NOTHING
        return self

    @classmethod
    def from_matrix(cls, matrix: NDArray[np.integer]) -> Alignment:
        """Make an alignment from an (N, M) array of 0 (no link), 1 (possible) and 2 (sure).

        Parameters
        ----------
        matrix : (N, M) whole numbers; rows are source words.

        Raises
        ------
        AlignmentError : If the array has another shape or other values.

        Examples
        --------
        >>> import numpy as np
        >>> Alignment.from_matrix(np.array([[2, 0], [0, 1]]))
        Alignment('0-0 1?1')
        """
        if not hasattr(matrix, "ndim"):
            raise ArgumentError(f"matrix is a {type(matrix).__name__}; it must be a NumPy array")
        if matrix.dtype.kind not in "iub":
            raise AlignmentError(f"matrix is an array of {matrix.dtype}; expected whole numbers")
        if matrix.ndim != 2 or not ((matrix == 0) | (matrix == 1) | (matrix == 2)).all():
            raise AlignmentError("expected an (N, M) array of the values 0, 1 and 2")
        sure_rows, sure_columns = (matrix == 2).nonzero()
        rows, columns = (matrix >= 1).nonzero()
        sure = zip(sure_rows.tolist(), sure_columns.tolist(), strict=True)
        possible = zip(rows.tolist(), columns.tolist(), strict=True)
        return cls(sure, possible)

    @property
    def sure(self) -> frozenset[Link]:
        """The sure links S."""
        return frozenset(link for link, flag in self.items() if flag)

    @property
    def possible(self) -> frozenset[Link]:
        """All links P, including the sure ones."""
        return frozenset(self)

    @property
    def nulls(self) -> frozenset[Link]:
        """All words explicitly aligned to nothing, sure or possible."""
        return frozenset(link for link, _ in self._nulls)

    @property
    def sure_nulls(self) -> frozenset[Link]:
        """The words surely aligned to nothing."""
        return frozenset(link for link, flag in self._nulls if flag)

    @property
    def weights(self) -> Mapping[Link, float]:
        """The numbers of links that have one."""
        return MappingProxyType(self._weights)

    @property
    def labels(self) -> Mapping[Link, str]:
        """The texts of links, nulls and judged non-links that have one."""
        return MappingProxyType(self._labels)

    def items(self) -> Iterator[tuple[Link, bool]]:
        """Yield the links in ascending order, each with True if sure, False if only possible.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> [(tuple(link), sure) for link, sure in Alignment.parse("0-0 1?2").items()]
        [((0, 0), True), ((1, 2), False)]
        """
        return zip(self, map(bool, self._flags), strict=True)

    def targets_of(self, i: int) -> tuple[int, ...]:
        """Return the target positions linked to source word `i`, in ascending order.

        Parameters
        ----------
        i : The position of the source word, from 0.

        Examples
        --------
        >>> Alignment.parse("0-0 0-2 1-1").targets_of(0)
        (0, 2)
        """
        source = whole_number("i", i)
        return tuple(j for i, j in self if i == source)

    def sources_of(self, j: int) -> tuple[int, ...]:
        """Return the source positions linked to target word `j`, in ascending order.

        Parameters
        ----------
        j : The position of the target word, from 0.

        Examples
        --------
        >>> Alignment.parse("0-0 2-0 1-1").sources_of(0)
        (0, 2)
        """
        target = whole_number("j", j)
        return tuple(i for i, j in self if j == target)

    def aligned_source(self) -> frozenset[int]:
        """Return the source positions with a link.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> sorted(Alignment.parse("0-0 2?1").aligned_source())
        [0, 2]
        """
        return frozenset(link.i for link in self)

    def aligned_target(self) -> frozenset[int]:
        """Return the target positions with a link.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> sorted(Alignment.parse("0-0 2?1").aligned_target())
        [0, 1]
        """
        return frozenset(link.j for link in self)

    def points(self) -> NDArray[np.int32]:
        """Return the links as a read-only (L, 2) array of positions in ascending order.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> Alignment.parse("0-0 1?2").points().tolist()
        [[0, 0], [1, 2]]
        """
        import numpy as np

        return np.frombuffer(self._points, np.int32).reshape(-1, 2)

    def flags(self) -> NDArray[np.uint8]:
        """Return a read-only (L,) array: 1 if the link of `points` is sure, else 0.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> Alignment.parse("0-0 1?2").flags().tolist()
        [1, 0]
        """
        import numpy as np

        return np.frombuffer(self._flags, np.uint8)

    def packed(self) -> tuple[bytes, bytes]:
        """Return the bytes of `points` and `flags`, for `from_bytes`."""
        return self._points, self._flags

    def extent(self) -> tuple[int, int]:
        """Return the smallest sentence lengths (N, M) that fit every link, null and label.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> Alignment.parse("0-0 1?2").extent()
        (2, 3)
        """
        numbers = array("i", self._points)  # sorted, so the last link has the last source word
        n = 1 + numbers[-2] if numbers else 0
        m = 1 + max(numbers[1::2], default=-1)
        if self._nulls or self._labels:
            for i, j in chain(self.nulls, self._labels):
                n = max(n, i + 1)
                m = max(m, j + 1)
        return n, m

    def matrix(self, n: int, m: int) -> NDArray[np.uint8]:
        """Return the (N, M) array of 0 (no link), 1 (only possible) and 2 (sure).

        Parameters
        ----------
        n, m : The numbers of source and target words, N and M.

        Raises
        ------
        AlignmentError : If a link is outside N x M.

        Examples
        --------
        >>> Alignment.parse("0-0 1?1").matrix(2, 3).tolist()
        [[2, 0, 0], [0, 1, 0]]
        """
        import numpy as np

        n = whole_number("n", n)
        m = whole_number("m", m)
        rows, columns = self.extent()
        if rows > n or columns > m:
            raise AlignmentError(f"links need {rows} x {columns} words, more than {n} x {m}")
        cells = np.zeros((n, m), np.uint8)
        points = self.points()
        cells[points[:, 0], points[:, 1]] = 1 + self.flags()
        return cells

    def to_networkx(self) -> nx.Graph[tuple[Any, ...]]:
        """Return the bipartite graph of words and links.

        Returns
        -------
        networkx.Graph
            A node ``("source", i)`` or ``("target", j)`` for each word that has a link or is
            aligned to nothing, with the side as ``bipartite`` (0 source, 1 target); an edge for
            each link, with its ``status``, ``"sure"`` or ``"possible"``, and its weight and label
            if it has them. The graph of `SentencePair.to_networkx` also has the words and the
            phrase pairs. All attributes: https://alignkit.github.io/alignkit/latest/formats/corpora.html

        Examples
        --------
        >>> graph = Alignment.parse("0-0 1?0").to_networkx()
        >>> graph.edges[("source", 1), ("target", 0)]["status"]
        'possible'
        """
        return word_graph(self)

    def components(self) -> list[frozenset[Link]]:
        """Return the connected components of the bipartite graph of links, by their first link.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> [sorted(map(tuple, links)) for links in Alignment.parse("0-0 0-1 1-2").components()]
        [[(0, 0), (0, 1)], [(1, 2)]]
        """
        import networkx as nx

        graph: nx.Graph[tuple[str, int]] = nx.Graph()
        graph.add_edges_from((("source", i), ("target", j)) for i, j in self)
        component_of = {}
        for number, words in enumerate(nx.connected_components(graph)):
            component_of.update(dict.fromkeys(words, number))
        members: dict[int, list[Link]] = {}
        for link in self:  # in rising order
            members.setdefault(component_of["source", link.i], []).append(link)
        return list(map(frozenset, members.values()))

    def transpose(self) -> Alignment:
        """Return the alignment with source and target exchanged.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> Alignment.parse("0-0 1?2").transpose()
        Alignment('0-0 2?1')
        """
        return Alignment(
            (link.transpose() for link, flag in self.items() if flag),
            (link.transpose() for link in self),
            nulls=(link.transpose() for link in self.sure_nulls),
            possible_nulls=(link.transpose() for link in self.nulls),
            weights={link.transpose(): value for link, value in self._weights.items()},
            labels={link.transpose(): text for link, text in self._labels.items()},
        )

    def union(self, other: Alignment) -> Alignment:
        """Return the links of both alignments; a link is sure if it is sure in either.

        Nulls, weights and labels are dropped, also by `intersection` and `difference`.

        Parameters
        ----------
        other : The other alignment of the same sentence pair.

        Examples
        --------
        >>> Alignment.parse("0-0 1?1").union(Alignment.parse("1-1"))
        Alignment('0-0 1-1')
        """
        check_kind("other", other, Alignment)
        return Alignment(self.sure | other.sure, self.possible | other.possible)

    def intersection(self, other: Alignment) -> Alignment:
        """Return the links that are in both alignments; a link is sure if it is sure in both.

        Parameters
        ----------
        other : The other alignment of the same sentence pair.

        Examples
        --------
        >>> Alignment.parse("0-0 1?1").intersection(Alignment.parse("0?0 1-1"))
        Alignment('0?0 1?1')
        """
        check_kind("other", other, Alignment)
        return Alignment(self.sure & other.sure, self.possible & other.possible)

    def difference(self, other: Alignment) -> Alignment:
        """Return the links that `other` lacks; they stay sure or possible.

        Parameters
        ----------
        other : The other alignment of the same sentence pair.

        Examples
        --------
        >>> Alignment.parse("0-0 1?1").difference(Alignment.parse("0-0"))
        Alignment('1?1')
        """
        check_kind("other", other, Alignment)
        return Alignment(self.sure - other.possible, self.possible - other.possible)

    __or__ = union
    __and__ = intersection
    __sub__ = difference

    def sure_only(self) -> Alignment:
        """Return the alignment with only the sure links.

        Examples
        --------
        >>> from alignkit import Alignment
        >>> Alignment.parse("0-0 1?2").sure_only()
        Alignment('0-0')
        """
        return Alignment(self.sure)

    def __len__(self) -> int:
        return len(self._flags)

    def __iter__(self) -> Iterator[Link]:
        numbers = iter(array("i", self._points))
        return map(_link_of, zip(numbers, numbers, strict=True))

    def __contains__(self, link: object) -> bool:
        return any(link == mine for mine in self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alignment):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash((self._points, self._flags, self._nulls))

    def __str__(self) -> str:
        tokens = [f"{i}-{j}" if flag else f"{i}?{j}" for (i, j), flag in self.items()]
        for (i, j), flag in self._nulls:
            mark = "-" if flag else "?"
            tokens.append(f"{mark}{j}" if i == NULL else f"{i}{mark}")
        return " ".join(tokens)

    def __repr__(self) -> str:
        return f"Alignment({str(self)!r})"

    def __getstate__(self) -> _Kept:
        return self._points, self._flags, self._nulls, self._weights, self._labels

    def __setstate__(self, state: _Kept) -> None:
        self._points, self._flags, self._nulls, weights, labels = state
        self._weights = weights or _NOTHING
        self._labels = labels or _NOTHING

    def _repr_html_(self) -> str:
        n, m = self.extent()
        if n * m > DRAWN:
            return f"<p>{len(self)} links between {n} x {m} words: too many to show here</p>"
        head = "".join(f"<th>{j}</th>" for j in range(m))
        rows = [f"<tr><th></th>{head}</tr>"]
        marks = ("", "□", "■")
        for i, row in enumerate(self.matrix(n, m).tolist()):
            cells = "".join(f"<td>{marks[cell]}</td>" for cell in row)
            rows.append(f"<tr><th>{i}</th>{cells}</tr>")
        table = f"<table>{''.join(rows)}</table>"
        return f'<div style="max-height:80vh;overflow:auto">{table}</div>'


V = TypeVar("V")

_NOTHING: dict[Link, Any] = {}  # weights and labels of nearly all alignments; never changed

_Kept = tuple[bytes, bytes, "tuple[tuple[Link, bool], ...]", "dict[Link, float]", "dict[Link, str]"]


def _marked(name: str, links: Iterable[LinkLike], flag: bool) -> dict[tuple[int, int], bool]:
    """Return the links as whole numbers, each with the flag; `name` is for error messages."""
    try:
        return {(index(i), index(j)): flag for i, j in links}
    except (TypeError, ValueError) as problem:
        raise AlignmentError(
            f"{name} links must be pairs (i, j) of whole numbers (Alignment.parse takes "
            f"text): {problem}"
        ) from None


def _keyed(name: str, values: Mapping[LinkLike, V]) -> dict[Link, V]:
    """Return the values of cells in ascending order; `name` is for error messages."""
    check_kind(name, values, Mapping)
    try:
        keyed = {Link(index(i), index(j)): value for (i, j), value in values.items()}
    except (TypeError, ValueError) as problem:
        raise AlignmentError(f"{name} need pairs (i, j) of whole numbers: {problem}") from None
    for i, j in keyed:
        if min(i, j) < NULL or i == j == NULL or max(i, j) >= LONGEST:
            raise AlignmentError(f"{name} are given for ({i}, {j}), which is not a cell")
    return dict(sorted(keyed.items(), key=itemgetter(0)))


SIDES = ("source", "target")


def word_graph(
    alignment: Alignment, source: Iterable[str] | None = None, target: Iterable[str] | None = None
) -> nx.Graph[tuple[Any, ...]]:
    """Return the bipartite graph of words and links; see `Alignment.to_networkx`."""
    import networkx as nx

    graph: nx.Graph[tuple[Any, ...]] = nx.Graph()
    for side, words in zip(SIDES, (source, target), strict=True):
        for position, word in enumerate(words or ()):
            add_word(graph, side, position, word=word)

    def remarks(link: Link) -> dict[str, Any]:
        """Return the weight and the label of a link or null, if it has them."""
        known: dict[str, Any] = {}
        if link in alignment.weights:
            known["weight"] = alignment.weights[link]
        if link in alignment.labels:
            known["label"] = alignment.labels[link]
        return known

    for link, sure in alignment.items():
        start = add_word(graph, "source", link.i)
        end = add_word(graph, "target", link.j)
        status = "sure" if sure else "possible"
        graph.add_edge(start, end, kind="link", status=status, **remarks(link))
    for null, sure in alignment._nulls:
        side, position = ("source", null.i) if null.j == NULL else ("target", null.j)
        status = "sure" if sure else "possible"
        add_word(graph, side, position, null=status, **remarks(null))
    return graph


def add_word(
    graph: nx.Graph[tuple[Any, ...]], side: str, position: int, **attributes: Any
) -> tuple[str, int]:
    """Add the node of a word or attributes to it, and return the node."""
    node = side, position
    if node not in graph or attributes:
        known = {"side": side, "bipartite": SIDES.index(side), "position": position}
        graph.add_node(node, kind="word", **known, **attributes)
    return node
