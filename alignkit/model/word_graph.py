"""Make graphs of words, links and phrase pairs, as NetworkX has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import networkx as nx


_SIDES = ("source", "target")


class _Cell(Protocol):
    @property
    def i(self) -> int: ...
    @property
    def j(self) -> int: ...


class _Links(Protocol):
    """What is asked of an alignment, which stands above."""

    def items(self) -> Iterator[tuple[Any, bool]]: ...
    @property
    def nulls(self) -> frozenset[Any]: ...
    @property
    def sure_nulls(self) -> frozenset[Any]: ...
    @property
    def weights(self) -> Mapping[Any, float]: ...
    @property
    def labels(self) -> Mapping[Any, str]: ...


class _Phrase(Protocol):
    @property
    def source_start(self) -> int: ...
    @property
    def source_end(self) -> int: ...
    @property
    def target_start(self) -> int: ...
    @property
    def target_end(self) -> int: ...
    @property
    def kind(self) -> str: ...


def word_graph(
    alignment: _Links,
    source: Sequence[str] | None = None,
    target: Sequence[str] | None = None,
) -> nx.Graph[tuple[Any, ...]]:
    """Return the bipartite graph of words and links; `docs/corpora.md` lists the attributes."""
    import networkx as nx

    graph: nx.Graph[tuple[Any, ...]] = nx.Graph()
    for side, words in zip(_SIDES, (source, target), strict=True):
        for position, word in enumerate(words or ()):
            _add_word(graph, side, position, word=word)
    for link, sure in alignment.items():
        ends = [_add_word(graph, *end) for end in zip(_SIDES, link, strict=True)]
        told = _told(link, alignment)
        graph.add_edge(ends[0], ends[1], kind="link", status=_status(sure), **told)
    sure_nulls = alignment.sure_nulls
    for null in sorted(alignment.nulls):
        side, position = ("source", null.i) if null.j < 0 else ("target", null.j)
        told = _told(null, alignment)
        _add_word(graph, side, position, null=_status(null in sure_nulls), **told)
    return graph


def add_phrases(graph: nx.Graph[tuple[Any, ...]], phrases: Iterable[_Phrase]) -> None:
    """Add a node for each phrase pair, joined to each word of its two spans."""
    for phrase in phrases:
        spans = (
            ("source", phrase.source_start, phrase.source_end),
            ("target", phrase.target_start, phrase.target_end),
        )
        node = ("phrase", *spans[0][1:], *spans[1][1:])
        texts = {}
        for side, start, end in spans:
            words = [graph.nodes.get((side, k), {}).get("word") for k in range(start, end)]
            known = [word for word in words if word is not None]
            if len(known) == len(words):
                texts[side] = " ".join(known)
        graph.add_node(node, kind="phrase", atomic=phrase.kind == "atomic", **texts)
        for side, start, end in spans:
            for position in range(start, end):
                graph.add_edge(node, _add_word(graph, side, position), kind="part")


def _add_word(
    graph: nx.Graph[tuple[Any, ...]], side: str, position: int, **told: Any
) -> tuple[str, int]:
    node = side, position
    if node not in graph or told:
        graph.add_node(
            node, kind="word", side=side, bipartite=_SIDES.index(side), position=position, **told
        )
    return node


def _status(sure: bool) -> str:
    return "sure" if sure else "possible"


def _told(link: _Cell, alignment: _Links) -> dict[str, float | str]:
    """Return the weight and the label of a link or a null, where it has them."""
    told: dict[str, float | str] = {}
    if link in alignment.weights:
        told["weight"] = alignment.weights[link]
    if link in alignment.labels:
        told["label"] = alignment.labels[link]
    return told
