"""Define sentence pairs and corpora: words, and who aligned them how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, overload

from alignkit.alignment import Alignment
from alignkit.annotation import Annotation
from alignkit.arguments import check_callable, check_kind, every, words
from alignkit.errors import (
    AlignmentError,
    MissingTextError,
    NotAlignedError,
    OptionError,
    UnknownNameError,
)
from alignkit.frozen import FrozenMap

__all__ = ["Corpus", "SentencePair", "values_of"]

_NONE: FrozenMap[str, Any] = FrozenMap()


@dataclass(frozen=True, slots=True, init=False)
class SentencePair:
    """Hold a source sentence, a target sentence and any number of named annotations.

    Parameters
    ----------
    id
        The name of the pair; unique in a well-made corpus, though not every corpus is.
    source, target
        The tokens; None where the text is not known (links read without their texts).
        An empty tuple is a known, empty sentence.
    annotations
        For each annotator (``"anna"``, ``"gold"``, ``"initial"``, a system) the annotation. A bare
        `Alignment` is wrapped. A name that is missing has not annotated this pair. All of them are
        here; `alignments` has those of them that hold an alignment.
    attributes
        Texts that describe the pair: its subcorpus, document, genre, score, ...

    Raises
    ------
    AlignmentError
        If a link, a null or a label lies beyond a sentence that is known, or a sentence is one
        string.

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

    def __init__(
        self,
        id: str,
        source: Iterable[str] | None,
        target: Iterable[str] | None,
        annotations: Mapping[str, Annotation] | Mapping[str, Alignment] = _NONE,
        attributes: Mapping[str, str] = _NONE,
    ) -> None:
        place = object.__setattr__
        if not isinstance(id, str):
            check_kind("id", id, str)
        if isinstance(source, str) or isinstance(target, str):
            raise AlignmentError(f"pair {id!r}: a sentence is a sequence of tokens; split the text")
        place(self, "id", id)
        place(self, "source", None if source is None else words("source", source))
        place(self, "target", None if target is None else words("target", target))
        if annotations is not _NONE:
            check_kind("annotations", annotations, Mapping)
        wrapped = [(name, _annotation(name, value)) for name, value in annotations.items()]
        place(self, "annotations", FrozenMap(wrapped) if wrapped else _NONE)
        if attributes is not _NONE:
            attributes = FrozenMap(_texts(attributes)) or _NONE
        place(self, "attributes", attributes)
        if self.source is not None or self.target is not None:
            for name, annotation in self.annotations.items():
                if annotation.alignment is not None:
                    self._check_range(name, annotation.alignment)

    def _check_range(self, name: str, alignment: Alignment) -> None:
        n, m = alignment.extent()
        if (self.source is not None and n > len(self.source)) or (
            self.target is not None and m > len(self.target)
        ):
            raise AlignmentError(
                f"pair {self.id!r}: links of {name!r} reach {n} x {m} words, but the sentences "
                f"have {_count(self.source)} x {_count(self.target)}"
            )

    @property
    def has_text(self) -> bool:
        """Whether both sentences are known."""
        return self.source is not None and self.target is not None

    @property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The source and the target tokens.

        Raises
        ------
        MissingTextError
            If the text is not known.
        """
        if self.source is None or self.target is None:
            raise MissingTextError(
                f"pair {self.id!r} has links but no words; name the texts by --source and --target"
            )
        return self.source, self.target

    @property
    def lengths(self) -> tuple[int, int]:
        """The numbers of tokens (N, M).

        Raises
        ------
        MissingTextError
            If the text is not known.
        """
        source, target = self.words
        return len(source), len(target)

    @property
    def alignments(self) -> Mapping[str, Alignment]:
        """The alignments of those who aligned this pair.

        All that deals with links goes by these: who only judged the pair is not among them.

        Examples
        --------
        >>> pair = SentencePair("1", None, None, {
        ...     "anna": Alignment.parse("0-0"), "ben": Annotation(None, judgment="paraphrase")})
        >>> list(pair.annotations), list(pair.alignments)
        (['anna', 'ben'], ['anna'])
        """
        return {
            name: annotation.alignment
            for name, annotation in self.annotations.items()
            if annotation.alignment is not None
        }

    def aligned_by(self, *names: str) -> bool:
        """Return whether all of these aligned this pair; quicker than asking `alignments`."""
        for name in names:
            annotation = self.annotations.get(name)
            if annotation is None or annotation.alignment is None:
                if not isinstance(name, str):
                    check_kind("names", name, str)
                return False
        return True

    def annotation(self, name: str) -> Annotation:
        """Return the annotation of that name.

        Raises
        ------
        UnknownNameError
            If nobody of that name annotated this pair.
        """
        if name not in self.annotations:
            check_kind("name", name, str)
            raise UnknownNameError(f"annotator (of pair {self.id!r})", name, self.annotations)
        return self.annotations[name]

    def alignment(self, name: str) -> Alignment:
        """Return the alignment of that annotator.

        Raises
        ------
        UnknownNameError
            If nobody of that name annotated this pair; as `NotAlignedError` where somebody did,
            but judged it only.
        """
        alignment = self.annotation(name).alignment
        if alignment is None:
            raise NotAlignedError(f"pair {self.id!r}", name, self.alignments)
        return alignment

    def with_annotation(self, name: str, value: Annotation | Alignment) -> SentencePair:
        """Return the pair with an annotation added or replaced."""
        return replace(self, annotations={**self.annotations, name: _annotation(name, value)})

    def without_annotations(self, *names: str) -> SentencePair:
        """Return the pair without the annotations of those names."""
        kept = {name: value for name, value in self.annotations.items() if name not in names}
        return replace(self, annotations=kept)

    def transpose(self) -> SentencePair:
        """Return the pair with source and target exchanged, in every annotation too."""
        return SentencePair(
            self.id,
            self.target,
            self.source,
            {
                name: replace(value, alignment=value.alignment.transpose())
                if value.alignment is not None
                else value
                for name, value in self.annotations.items()
            },
            self.attributes,
        )

    def __hash__(self) -> int:
        return hash((self.id, self.source, self.target))


class Corpus:
    """Hold sentence pairs in their order.

    Parameters
    ----------
    pairs
        The sentence pairs.

    Notes
    -----
    `docs/memory.md` gives the bytes that a pair costs. Where one pass is enough, do not make a
    corpus at all but iterate over `alignkit.iterate_pairs`.

    Examples
    --------
    >>> pair = SentencePair("1", ("a",), ("b",), {"gold": Alignment.parse("0-0")},
    ...                     {"genre": "news"})
    >>> corpus = Corpus([pair])
    >>> len(corpus), corpus.annotators, corpus.groups("genre")
    (1, ('gold',), {'news': Corpus(1 pairs, annotators: gold)})
    """

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[SentencePair] = ()) -> None:
        self._pairs = tuple(every("pairs", pairs, SentencePair))

    @property
    def annotators(self) -> tuple[str, ...]:
        """The names under which annotations exist, in the order of their first use."""
        return tuple(dict.fromkeys(name for pair in self._pairs for name in pair.annotations))

    @property
    def aligners(self) -> tuple[str, ...]:
        """Those of the `annotators` who aligned at least one pair; others only judged."""
        names = dict.fromkeys(
            name
            for pair in self._pairs
            for name, annotation in pair.annotations.items()
            if annotation.alignment is not None
        )
        return tuple(names)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the pairs' attributes, in the order of their first use."""
        return tuple(dict.fromkeys(name for pair in self._pairs for name in pair.attributes))

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pairs, in order."""
        return tuple(pair.id for pair in self._pairs)

    def groups(self, attribute: str, *, split: str | None = None) -> dict[str, Corpus]:
        """Split the corpus by the value of an attribute; pairs without it come under ``""``.

        Parameters
        ----------
        attribute
            The name of the attribute.
        split
            What stands between several values in one attribute, such as ``","``: a pair is then in
            the group of each of its values, so that groups overlap. None takes the whole text.

        Raises
        ------
        UnknownNameError
            If no pair has the attribute.
        OptionError
            If `split` is empty.
        """
        check_kind("attribute", attribute, str)
        values_of("", split)  # refuses a wrong one
        if self._pairs and attribute not in self.attributes:
            raise UnknownNameError("attribute", attribute, self.attributes)
        found: dict[str, list[SentencePair]] = {}
        for pair in self._pairs:
            for value in values_of(pair.attributes.get(attribute, ""), split):
                found.setdefault(value, []).append(pair)
        return {value: Corpus(pairs) for value, pairs in found.items()}

    def require(self, *annotators: str) -> None:
        """Check that each name aligned at least one pair.

        Raises
        ------
        UnknownNameError
            If one did not; as `NotAlignedError` where it judged pairs.
        """
        known = self.aligners
        for name in annotators:
            check_kind("annotators", name, str)
            if name in known:
                continue
            if name in self.annotators:
                raise NotAlignedError("pairs", name, known)
            raise UnknownNameError("annotator", name, known)

    def annotated_by(self, *annotators: str) -> Corpus:
        """Return the pairs that every one of these annotators aligned; see `require`."""
        self.require(*annotators)
        return self.filter(lambda pair: pair.aligned_by(*annotators))

    def filter(self, keep: Callable[[SentencePair], bool]) -> Corpus:
        """Return the corpus of the pairs for which `keep` is true."""
        check_callable("keep", keep)
        return Corpus(pair for pair in self._pairs if keep(pair))

    def map(self, change: Callable[[SentencePair], SentencePair]) -> Corpus:
        """Return the corpus of the changed pairs."""
        check_callable("change", change)
        return Corpus(map(change, self._pairs))

    def transpose(self) -> Corpus:
        """Return the corpus with source and target exchanged."""
        return self.map(SentencePair.transpose)

    def to_records(self) -> list[dict[str, object]]:
        """Return one flat dict for each link, as `pandas.DataFrame` takes them.

        Keys: id, the attributes, annotator, i, j, sure, source and target (the two words, None
        where unknown), weight, label. An attribute of one of these names gives way.
        """
        return [record for pair in self._pairs for record in _link_records(pair)]

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[SentencePair]:
        return iter(self._pairs)

    @overload
    def __getitem__(self, index: int) -> SentencePair: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: int | slice) -> SentencePair | Corpus:
        return Corpus(self._pairs[index]) if isinstance(index, slice) else self._pairs[index]

    def __add__(self, other: Corpus) -> Corpus:
        return Corpus(self._pairs + other._pairs) if isinstance(other, Corpus) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self._pairs == other._pairs if isinstance(other, Corpus) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._pairs)

    def __repr__(self) -> str:
        names = ", ".join(self.annotators) or "none"
        return f"Corpus({len(self)} pairs, annotators: {names})"


def values_of(text: str, split: str | None) -> tuple[str, ...]:
    """Return the different values in the text of an attribute, without the spaces around them.

    Examples
    --------
    >>> values_of("negation, idiom,", ",")
    ('negation', 'idiom')
    >>> values_of("", ","), values_of("a, b", None)
    (('',), ('a, b',))
    """
    if split is None:
        return (text,)
    check_kind("split", split, str)
    if not split:
        raise OptionError("split is empty; give what stands between values, such as ','")
    parts = (part.strip() for part in text.split(split))
    return tuple(dict.fromkeys(filter(None, parts))) or ("",)


def _annotation(name: str, value: Annotation | Alignment) -> Annotation:
    if not isinstance(name, str):
        check_kind("the name of an annotation", name, str)
    if isinstance(value, Annotation):
        return value
    check_kind(f"annotations[{name!r}]", value, Alignment)
    return Annotation(value)


def _texts(attributes: Mapping[str, str]) -> Mapping[str, str]:
    check_kind("attributes", attributes, Mapping)
    for name, text in attributes.items():
        check_kind("the name of an attribute", name, str)
        check_kind(f"attributes[{name!r}]", text, str)
    return attributes


def _count(tokens: tuple[str, ...] | None) -> str:
    return "?" if tokens is None else str(len(tokens))


def _link_records(pair: SentencePair) -> Iterator[dict[str, object]]:
    attributes = {"id": "", **pair.attributes} | {"id": pair.id}  # the id first, and the pair's own
    for name, alignment in pair.alignments.items():
        for link, sure in alignment.items():
            yield {
                **attributes,
                "annotator": name,
                "i": link.i,
                "j": link.j,
                "sure": sure,
                "source": pair.source[link.i] if pair.source is not None else None,
                "target": pair.target[link.j] if pair.target is not None else None,
                "weight": alignment.weights.get(link),
                "label": alignment.labels.get(link),
            }
