"""Sentence pairs: the words of two sentences, and their annotations; exchange with NLTK."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from alignkit import errors
from alignkit._support.arguments import check_kind, check_known, naming_keywords, words
from alignkit._support.values import FrozenMap
from alignkit._support.wording import brief, brief_annotators
from alignkit.model.alignment import DRAWN, LONGEST, NULL, SIDES, Alignment, add_word, word_graph
from alignkit.model.annotation import Annotation
from alignkit.model.labels import Scheme, get_scheme

if TYPE_CHECKING:
    import networkx as nx
    from nltk.translate import AlignedSent

    from alignkit.model.trees import Tree

_NONE: FrozenMap[str, Any] = FrozenMap()


@dataclass(frozen=True, slots=True, init=False)
class SentencePair:
    """A source sentence, a target sentence and any number of named annotations.

    Parameters
    ----------
    id : The name of the pair; it should be unique in a corpus.
    source, target : The tokens; None if the text is not known (links read without their texts). An
        empty tuple is a known, empty sentence.
    annotations : The annotation of each annotator (``"anna"``, ``"gold"``, ``"initial"``, a
        system). A plain `Alignment` is wrapped. A missing name did not annotate this pair.
        `alignments` has only those with an alignment.
    attributes : Texts that describe the pair: its subcorpus, document, genre, score, ...
    source_trees, target_trees : Constituent trees over the words of a side, by name (``"gold"``, a
        parser).

    Raises
    ------
    AlignmentError : If a link, a null or a label is outside a known sentence, or a sentence is a
        string.
    TreeError : If the leaves of a tree are not the words of its side, or the side has no words.

    Examples
    --------
    >>> pair = SentencePair("1", ("they", "left"), ("they", "went"),
    ...                     {"gold": Alignment.parse("0-0 1?1")})
    >>> pair.alignment("gold")
    Alignment('0-0 1?1')
    """

    id: str
    source: tuple[str, ...] | None
    target: tuple[str, ...] | None
    annotations: Mapping[str, Annotation]
    attributes: Mapping[str, str]
    source_trees: Mapping[str, Tree]
    target_trees: Mapping[str, Tree]

    def __init__(
        self,
        id: str,
        source: Iterable[str] | None,
        target: Iterable[str] | None,
        annotations: Mapping[str, Annotation] | Mapping[str, Alignment] = _NONE,
        attributes: Mapping[str, str] = _NONE,
        source_trees: Mapping[str, Tree] = _NONE,
        target_trees: Mapping[str, Tree] = _NONE,
    ) -> None:
        place = object.__setattr__
        if not isinstance(id, str):
            check_kind("id", id, str)
        if isinstance(source, str) or isinstance(target, str):
            message = f"pair {id!r}: a sentence is a sequence of tokens; split the text"
            raise errors.AlignmentError(message)
        place(self, "id", id)
        place(self, "source", None if source is None else words("source", source))
        place(self, "target", None if target is None else words("target", target))
        if annotations is not _NONE:
            check_kind("annotations", annotations, Mapping)
        wrapped = [(name, _annotation(name, value)) for name, value in annotations.items()]
        place(self, "annotations", FrozenMap(wrapped) if wrapped else _NONE)
        if attributes is not _NONE:
            check_kind("attributes", attributes, Mapping)
            for name, text in attributes.items():
                check_kind("the name of an attribute", name, str)
                check_kind(f"attributes[{name!r}]", text, str)
            attributes = FrozenMap(attributes) or _NONE
        place(self, "attributes", attributes)
        place(self, "source_trees", self._trees("source", source_trees))
        place(self, "target_trees", self._trees("target", target_trees))
        if self.source is not None or self.target is not None:
            most_n = LONGEST if self.source is None else len(self.source)
            most_m = LONGEST if self.target is None else len(self.target)
            for name, alignment in self.alignments.items():
                n, m = alignment.extent()
                if n > most_n or m > most_m:
                    raise errors.AlignmentError(
                        f"pair {self.id!r}: links of {name!r} need {n} x {m} words, but the "
                        f"sentences have {_count(self.source)} x {_count(self.target)}"
                    )

    @classmethod
    def trusted(
        cls,
        id: str,
        source: tuple[str, ...] | None,
        target: tuple[str, ...] | None,
        annotations: FrozenMap[str, Annotation],
    ) -> SentencePair:
        """Make a pair from values that are known to be valid."""
        self = cls.__new__(cls)
        place = object.__setattr__
        place(self, "id", id)
        place(self, "source", source)
        place(self, "target", target)
        place(self, "annotations", annotations)
        for name in ("attributes", "source_trees", "target_trees"):
            place(self, name, _NONE)
        return self

    def _trees(self, side: str, trees: Mapping[str, Tree]) -> FrozenMap[str, Tree]:
        """Return the trees of a side, or raise an error if one does not fit its words."""
        if trees is _NONE:
            return _NONE
        check_kind(f"{side}_trees", trees, Mapping)
        if not trees:
            return _NONE
        from alignkit.model.tree_words import difference
        from alignkit.model.trees import Tree

        words: tuple[str, ...] | None = getattr(self, side)
        for name, tree in trees.items():
            check_kind(f"a name in {side}_trees", name, str)
            check_kind(f"{side}_trees[{name!r}]", tree, Tree)
            if tree.words != words:
                what = f"pair {brief(self.id)!r}: the {side} tree {brief(name)!r}"
                if words is None:
                    raise errors.TreeError(f"{what} needs the words of its side; add them")
                raise errors.TreeError(f"{what} does not fit: {difference(tree.words, words)}")
        return FrozenMap(trees)

    @property
    def has_text(self) -> bool:
        """Whether the words of both sentences are known."""
        return self.source is not None and self.target is not None

    @property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The source and the target tokens.

        Raises
        ------
        MissingTextError : If the text is not known.
        """
        if self.source is None or self.target is None:
            sides = [side for side in SIDES if getattr(self, side) is None]
            if len(sides) == 1:
                raise errors.MissingTextError(f"pair {self.id!r} has no {sides[0]} words; add them")
            links = "links but " if self.alignments else ""
            raise errors.MissingTextError(
                f"pair {self.id!r} has {links}no words; name the texts with `source` and `target`"
            )
        return self.source, self.target

    @property
    def lengths(self) -> tuple[int, int]:
        """The numbers of tokens (N, M).

        Raises
        ------
        MissingTextError : If the text is not known.
        """
        source, target = self.words
        return len(source), len(target)

    @property
    def alignments(self) -> Mapping[str, Alignment]:
        """The alignments of the annotators who aligned this pair.

        Everything about links uses these; annotators who only judged the pair are left out.

        Examples
        --------
        >>> pair = SentencePair("1", None, None, {
        ...     "anna": Alignment.parse("0-0"), "ben": Annotation(None, judgment="paraphrase")})
        >>> list(pair.annotations), list(pair.alignments)
        (['anna', 'ben'], ['anna'])
        """
        annotations = self.annotations.items()
        return {name: x.alignment for name, x in annotations if x.alignment is not None}

    def aligned_by(self, *names: str) -> bool:
        """Return whether all these names aligned the pair; faster than `alignments`.

        Parameters
        ----------
        *names : The names.

        Examples
        --------
        >>> links = {"gold": Alignment.parse("0-0")}
        >>> pair = SentencePair("1", ("he", "left"), ("he", "went"), links)
        >>> pair.aligned_by("gold"), pair.aligned_by("gold", "anna")
        (True, False)
        """
        for name in names:
            annotation = self.annotations.get(name)
            if annotation is None or annotation.alignment is None:
                if not isinstance(name, str):
                    check_kind("names", name, str)
                return False
        return True

    def annotation(self, name: str) -> Annotation:
        """Return the annotation with this name.

        Parameters
        ----------
        name : The name of the annotator.

        Raises
        ------
        UnknownNameError : If nobody with this name annotated this pair.

        Examples
        --------
        >>> links = {"gold": Alignment.parse("0-0")}
        >>> pair = SentencePair("1", ("he", "left"), ("he", "went"), links)
        >>> pair.annotation("gold").alignment
        Alignment('0-0')
        """
        if name not in self.annotations:
            check_kind("name", name, str)
            what = f"annotator (of pair {self.id!r})"
            raise errors.UnknownNameError(what, name, self.annotations)
        return self.annotations[name]

    def alignment(self, name: str) -> Alignment:
        """Return the alignment with this name.

        Parameters
        ----------
        name : The name of the annotator.

        Raises
        ------
        UnknownNameError : If nobody with this name annotated this pair; a `NotAlignedError` if it
            was only judged.

        Examples
        --------
        >>> links = {"gold": Alignment.parse("0-0")}
        >>> pair = SentencePair("1", ("he", "left"), ("he", "went"), links)
        >>> pair.alignment("gold")
        Alignment('0-0')
        """
        alignment = self.annotation(name).alignment
        if alignment is None:
            raise errors.NotAlignedError(f"pair {self.id!r}", name, self.alignments)
        return alignment

    def with_annotation(self, name: str, value: Annotation | Alignment) -> SentencePair:
        """Return the pair with an annotation added or replaced.

        Parameters
        ----------
        name : The name of the annotator.
        value : The annotation, or only its links.

        Examples
        --------
        >>> links = {"gold": Alignment.parse("0-0")}
        >>> pair = SentencePair("1", ("he", "left"), ("he", "went"), links)
        >>> list(pair.with_annotation("anna", Alignment.parse("0-0 1-1")).annotations)
        ['gold', 'anna']
        """
        return replace(self, annotations={**self.annotations, name: _annotation(name, value)})

    def without_annotations(self, *names: str) -> SentencePair:
        """Return the pair without the annotations with these names.

        Parameters
        ----------
        *names : The names; a name that annotated nothing is ignored.

        Examples
        --------
        >>> links = {"gold": Alignment.parse("0-0")}
        >>> pair = SentencePair("1", ("he", "left"), ("he", "went"), links)
        >>> dict(pair.without_annotations("gold").annotations)
        {}
        """
        kept = {name: value for name, value in self.annotations.items() if name not in names}
        return replace(self, annotations=kept)

    def tree(self, side: str, name: str | None = None) -> Tree:
        """Return a tree of a side, ``"source"`` or ``"target"``.

        Parameters
        ----------
        side : The side.
        name : The name of the tree; None for the only one.

        Raises
        ------
        UnknownNameError : If there is no such side or tree, or none at all.
        OptionError : If there are several trees and none is named.

        Examples
        --------
        >>> from alignkit.model.trees import Tree
        >>> pair = SentencePair("1", ["rain"], ["snow"])
        >>> pair.with_trees("gold", source=Tree.parse("(S (NN rain))")).tree("source")
        Tree('(S (NN rain))', 2 nodes)
        """
        check_known("side", side, SIDES)
        trees: Mapping[str, Tree] = getattr(self, f"{side}_trees")
        if name is None and len(trees) == 1:
            return next(iter(trees.values()))
        if name is None and trees:
            names = ", ".join(map(brief, trees))
            pair = f"pair {brief(self.id)!r}"
            raise errors.OptionError(f"{pair} has the {side} trees {names}; choose one by its name")
        if name is None or name not in trees:
            what = f"{side} tree (of pair {brief(self.id)!r})"
            raise errors.UnknownNameError(what, name or "", trees)
        return trees[name]

    def with_trees(
        self, name: str, *, source: Tree | None = None, target: Tree | None = None
    ) -> SentencePair:
        """Return the pair with trees added or replaced under a name; see `tree`.

        Parameters
        ----------
        name : The name of the trees.
        source, target : The trees; None leaves the side as it is.

        Raises
        ------
        TreeError : If the leaves of a tree are not the words of its side.

        Examples
        --------
        >>> from alignkit import Tree
        >>> links = {"gold": Alignment.parse("0-0")}
        >>> pair = SentencePair("1", ("he", "left"), ("he", "went"), links)
        >>> tree = Tree.parse("(S (PRP he) (VBD left))")
        >>> pair.with_trees("gold", source=tree).tree("source").words
        ('he', 'left')
        """
        source_trees = dict(self.source_trees)
        target_trees = dict(self.target_trees)
        if source is not None:
            source_trees[name] = source
        if target is not None:
            target_trees[name] = target
        return replace(self, source_trees=source_trees, target_trees=target_trees)

    def without_trees(self) -> SentencePair:
        """Return the pair without its trees.

        Examples
        --------
        >>> from alignkit import SentencePair, Tree
        >>> tree = Tree.parse("(NN car)")
        >>> pair = SentencePair("1", ["car"], ["auto"]).with_trees("gold", source=tree)
        >>> pair.without_trees() == SentencePair("1", ["car"], ["auto"])
        True
        """
        return replace(self, source_trees=_NONE, target_trees=_NONE)

    def transpose(
        self, scheme: Scheme | str | None = None, *, lenient_labels: bool = False
    ) -> SentencePair:
        """Return the pair with sides exchanged, including its annotations and word columns.

        Parameters
        ----------
        scheme : The scheme of the judgments, or its name: judgments with a direction are flipped,
            see `alignkit.model.labels.Scheme.flip`. None: judgments do not change.
        lenient_labels : Keep judgments that are not in the scheme instead of raising an error.

        Raises
        ------
        JudgmentError : If a judgment is not in the scheme; the message names the annotator.

        Examples
        --------
        >>> pair = SentencePair("1", ["a"], ["b"], {"ann": Annotation(None, judgment="4<")})
        >>> pair.transpose("turku").annotation("ann").judgment
        '4>'
        """
        known = get_scheme(scheme) if isinstance(scheme, str) else scheme
        turned: dict[str, Annotation] = {}
        for name, value in self.annotations.items():
            judgment = value.judgment
            try:
                if known is not None and judgment:
                    judgment = known.flip(judgment)
            except errors.FormatError as error:
                if not lenient_labels:
                    raise errors.JudgmentError.of(error, self.id, name, judgment) from None
            alignment = value.alignment
            if alignment is not None:
                alignment = alignment.transpose()
            unseen = frozenset(link.transpose() for link in value.unseen)
            turned[name] = replace(value, alignment=alignment, judgment=judgment, unseen=unseen)
        return replace(
            self,
            source=self.target,
            target=self.source,
            annotations=turned,
            attributes={_exchanged(name): text for name, text in self.attributes.items()},
            source_trees=self.target_trees,
            target_trees=self.source_trees,
        )

    def to_networkx(
        self,
        annotator: str,
        *,
        phrases: bool = True,
        links: Literal["possible", "sure"] = "possible",
    ) -> nx.Graph[tuple[Any, ...]]:
        """Return the graph of the words, the links of an annotator and the phrase pairs.

        Parameters
        ----------
        annotator : The name of the alignment.
        phrases : Whether phrase pairs are also nodes; without them the graph is bipartite.
        links : The links for phrase pairs, ``"possible"`` or ``"sure"``. All links are edges in any
            case.

        Returns
        -------
        networkx.Graph
            A node ``("source", i)`` or ``("target", j)`` for each word, and
            ``("phrase", source_start, source_end, target_start, target_end)`` for each phrase
            pair, with an edge to each word of its spans. All attributes:
            https://alignkit.github.io/alignkit/latest/formats/corpora.html

        Raises
        ------
        UnknownNameError : If nobody with this name aligned the pair, or `links` has an unknown
            value.

        Examples
        --------
        >>> pair = SentencePair("1", ("they", "left"), ("both", "went"),
        ...                     {"gold": Alignment.parse("0-0 1?1")})
        >>> graph = pair.to_networkx("gold")
        >>> graph.nodes["source", 1]["word"], graph.edges[("source", 1), ("target", 1)]["status"]
        ('left', 'possible')
        >>> sorted(node for node in graph if node[0] == "phrase")
        [('phrase', 0, 1, 0, 1), ('phrase', 0, 2, 0, 2), ('phrase', 1, 2, 1, 2)]
        """
        alignment = self.alignment(annotator)
        graph = word_graph(alignment, self.source, self.target)
        graph.graph.update(self.attributes, id=self.id, annotator=annotator)
        if phrases:
            from alignkit.model.phrase_arrays import phrases_of

            for phrase in phrases_of(alignment, links):
                start, end, target_start, target_end, atomic = phrase
                texts = {}
                if self.source is not None:
                    texts["source"] = " ".join(self.source[start:end])
                if self.target is not None:
                    texts["target"] = " ".join(self.target[target_start:target_end])
                node = ("phrase", start, end, target_start, target_end)
                graph.add_node(node, kind="phrase", atomic=atomic, **texts)
                for i in range(start, end):
                    graph.add_edge(node, add_word(graph, "source", i), kind="part")
                for j in range(target_start, target_end):
                    graph.add_edge(node, add_word(graph, "target", j), kind="part")
        return graph

    def __hash__(self) -> int:
        return hash((self.id, self.source, self.target))

    def __repr__(self) -> str:
        sizes = f"{_count(self.source)} x {_count(self.target)} words"
        return f"SentencePair({brief(self.id)!r}, {sizes}, {brief_annotators(self.annotations)})"

    def _repr_html_(self) -> str:
        n = len(self.source or ())
        m = len(self.target or ())
        if n * m > DRAWN:
            return f"<p>{n} x {m} words: too many to show here; use alignkit.show.draw_html</p>"
        from alignkit.show.html import draw_html_fragment

        return f'<div style="max-height:80vh;overflow:auto">{draw_html_fragment(self)}</div>'


def _annotation(name: str, value: Annotation | Alignment) -> Annotation:
    """Return an annotation, or one with only an alignment; others are an error."""
    if not isinstance(name, str):
        check_kind("the name of an annotation", name, str)
    if isinstance(value, Annotation):
        return value
    check_kind(f"annotations[{name!r}]", value, Alignment)
    return Annotation(value)


def _count(tokens: tuple[str, ...] | None) -> str:
    """Return the number of words for a message; ? if they are not known."""
    return "?" if tokens is None else str(len(tokens))


REWRITE_OF = "rewrite_of"  # the attribute of a rewrite with the id of the original pair


def origin_of(pair: SentencePair) -> str | None:
    """Return the id of the original of a rewrite, or None."""
    return pair.attributes.get(REWRITE_OF) or None


def word_column(pair: SentencePair, side: str, name: str) -> list[str] | None:
    r"""Return the values of a column of a side, one per word; None if the pair does not have it.

    Columns are facts about words: the attribute ``source.lemma`` holds the lemmas of the source
    words, separated by tabs, with ``_`` for a missing one.

    Parameters
    ----------
    pair : The sentence pair.
    side : ``"source"`` or ``"target"``.
    name : The name of the column: ``"lemma"``, ``"upos"``, ``"head"``, ...

    Raises
    ------
    AlignmentError : If the column does not have one value per word.

    Examples
    --------
    >>> lemmas = {"source.lemma": "they\tleave"}
    >>> pair = SentencePair("1", ["they", "left"], ["left"], attributes=lemmas)
    >>> word_column(pair, "source", "lemma")
    ['they', 'leave']
    """
    check_known("side", side, SIDES)
    text = pair.attributes.get(f"{side}.{name}")
    if text is None:
        return None
    words = getattr(pair, side)
    values = text.split("\t") if text or words else []
    if words is None or len(values) != len(words):
        raise errors.AlignmentError(
            f"pair {brief(pair.id)!r}: column {side}.{name} has {len(values)} values for "
            f"{_count(words)} words"
        )
    return values


def _exchanged(name: str) -> str:
    """Return the name of an attribute for exchanged sides: target.lemma for source.lemma."""
    side, dot, rest = name.partition(".")
    if dot and side in SIDES:
        return f"{SIDES[1 - SIDES.index(side)]}.{rest}"
    return name


def alignment_of_pair(pair: SentencePair, annotator: str | None) -> Alignment:
    """Return the alignment of the named annotator, or the only one."""
    if annotator is not None:
        return pair.alignment(annotator)
    alignments = pair.alignments
    if not alignments:
        raise errors.OptionError(f"pair {pair.id!r} was aligned by nobody")
    if len(alignments) > 1:
        names = ", ".join(alignments)
        raise errors.OptionError(f"pair {pair.id!r} was aligned by {names}; name one as annotator")
    return next(iter(alignments.values()))


def tree_of_pair(pair: SentencePair, side: str, name: str | None) -> Tree | None:
    """Return the named tree of a side, or the only one; None if the side has no such tree."""
    trees = getattr(pair, f"{side}_trees")
    if trees and name in {None, *trees}:
        return pair.tree(side, name)
    return None


@naming_keywords
def to_nltk(
    pair: SentencePair, annotator: str, *, links: Literal["possible", "sure"] = "possible"
) -> AlignedSent:
    """Return a sentence pair as an NLTK `AlignedSent`.

    Parameters
    ----------
    pair : The pair; its words must be known. `AlignedSent.words` are the source, `AlignedSent.mots`
        the target words.
    annotator : The name of the alignment.
    links : ``"sure"`` or ``"possible"`` (all): NLTK has only one kind. Nulls are dropped.

    Raises
    ------
    MissingTextError : If the words are not known.
    UnknownNameError : If nobody with this name annotated the pair, or `links` has an unknown value.

    Examples
    --------
    >>> pair = SentencePair("1", ("they", "left"), ("both", "went"),
    ...                     {"gold": Alignment.parse("0-0 1?1")})
    >>> to_nltk(pair, "gold", links="sure")
    AlignedSent(['they', 'left'], ['both', 'went'], Alignment([(0, 0)]))
    """
    from nltk.translate import AlignedSent
    from nltk.translate import Alignment as Links

    check_kind("pair", pair, SentencePair)
    check_kind("annotator", annotator, str)
    check_kind("links", links, str)
    check_known("links", links, ("possible", "sure"))
    source, target = pair.words
    alignment = pair.alignment(annotator)
    chosen = alignment.sure if links == "sure" else alignment.possible
    return AlignedSent(list(source), list(target), Links(map(tuple, chosen)))


@naming_keywords
def from_nltk(sentence: AlignedSent, *, id: str, annotator: str = "alignment") -> SentencePair:
    """Make a sentence pair from an NLTK `AlignedSent`; all links are sure.

    A word that NLTK aligns to None becomes an explicit null.

    Parameters
    ----------
    sentence : The NLTK sentence; `words` become the source, `mots` the target.
    id : The id of the pair.
    annotator : The name of the alignment.

    Examples
    --------
    >>> from nltk.translate import AlignedSent
    >>> from nltk.translate import Alignment as Links
    >>> from_nltk(AlignedSent(["a", "b"], ["c"], Links([(0, 0)])), id="1").alignment("alignment")
    Alignment('0-0')
    """
    from nltk.translate import AlignedSent

    check_kind("sentence", sentence, AlignedSent)
    check_kind("id", id, str)
    check_kind("annotator", annotator, str)
    ends = [(i, j) for i, j, *_ in sentence.alignment]  # NLTK lets more stand behind
    links = [(i, j) for i, j in ends if j is not None]
    nulls = [(i, NULL) for i, j in ends if j is None]
    words = tuple(sentence.words)
    mots = tuple(sentence.mots)
    return SentencePair(id, words, mots, {annotator: Alignment(links, nulls=nulls)})
