"""Convert sentences and links from common types: texts, lists of words, sets of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, replace
from math import isnan
from numbers import Real
from typing import Any, NamedTuple, SupportsIndex, TypeVar, Union

from alignkit._support.arguments import check_kind, kind_of, words
from alignkit.errors import AlignmentError, ArgumentError, JoinError, OptionError, UnknownNameError
from alignkit.model.alignment import SIDES, Alignment, Link, LinkLike
from alignkit.model.annotation import Annotation
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import split_unicode

T = TypeVar("T")
Sentence = tuple[str, ...]

MarkedLink = Union[tuple[SupportsIndex, SupportsIndex], tuple[SupportsIndex, SupportsIndex, str]]
LinksOfPair = Union[Alignment, str, Iterable[MarkedLink]]
"""The links of one sentence pair: an alignment, its text (``0-0 1?1``), or tuples: ``(i, j)``,
``(i, j, "S")`` or ``(i, j, "P")``."""

LinksLike = Union[LinksOfPair, Annotation, None]
"""The links of a sentence pair, an annotation, or None."""


_LONGEST_SHOWN = 60


def alignment_of(name: str, links: LinksOfPair) -> Alignment:
    """Return the alignment for the links of one sentence pair."""
    if isinstance(links, Alignment):
        return links
    if isinstance(links, str):
        try:
            return Alignment.parse(links)
        except AlignmentError as error:
            raise AlignmentError(f"{name}: {error}") from None
    if isinstance(links, (bytes, Mapping)) or not isinstance(links, Iterable):
        raise ArgumentError(
            f"{name} is {kind_of(links)}; it must be the links of a sentence pair, such as "
            f"{{(0, 0), (1, 1)}} or '0-0 1-1'{_if_number(links)}"
        )
    sure: list[tuple[int, int]] = []
    every: list[tuple[int, int]] = []
    unchecked: Iterable[Any] = links
    for link in unchecked:
        plain = hasattr(link, "__len__") and not isinstance(link, (str, bytes, Set, Mapping))
        if not plain or len(link) not in (2, 3):
            shown = repr(link)[:_LONGEST_SHOWN]
            raise ArgumentError(
                f"{name} has {shown}, not a link; give (i, j), (i, j, 'S') or (i, j, "
                f"'P'){_if_number(link)}"
            )
        i, j, *mark = link
        if mark and (not isinstance(mark[0], str) or mark[0] not in ("S", "P")):
            raise ArgumentError(
                f"{name} has {repr(link)[:_LONGEST_SHOWN]}; the third part of a link must be "
                "'S' (sure) or 'P' (possible)"
            )
        if i is not None and j is not None:
            every.append((i, j))
            if mark != ["P"]:
                sure.append((i, j))
    try:
        return Alignment(sure, every)
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{name}: {error}") from None


def _if_number(value: object) -> str:
    """Return a hint for one alignment given instead of a list."""
    if not hasattr(value, "__index__"):
        return ""
    return "; put the links of a single sentence pair into a list: [{(0, 0), (1, 1)}]"


def rows_of(
    source: Iterable[str | Iterable[str]],
    target: Iterable[str | Iterable[str]],
    ids: Iterable[str] | None,
    annotations: Mapping[str, Iterable[LinksLike]],
    attributes: Mapping[str, Iterable[object]],
    judgments: Mapping[str, Iterable[object]],
) -> Iterator[tuple[str, Sentence, Sentence, dict[str, Annotation], dict[str, str]]]:
    """Return id, source, target, annotations and attributes of each pair; see `from_texts`."""
    sources = sentences_of("source", source)
    targets = sentences_of("target", target)
    annotation_columns = {name: _links(name, values) for name, values in annotations.items()}
    attribute_columns = _columns("attributes", attributes)
    judgment_columns = _columns("judgments", judgments)
    names = range(1, len(sources) + 1) if ids is None else words("ids", ids)
    columns: list[tuple[str, Sequence[object]]] = [("target", targets), ("ids", names)]
    columns += annotation_columns.items()
    columns += attribute_columns.items()
    columns += judgment_columns.items()
    for name, column in columns:
        if len(column) != len(sources):
            raise JoinError(
                f"{name} has {len(column)} entries, but source has {len(sources)}; give as "
                "many of each"
            )
    for k, id in enumerate(names):
        annotated = {}
        for name, annotation_column in annotation_columns.items():
            annotation = annotation_column[k]
            if annotation is not None:
                annotated[name] = annotation
        for name, text in _texts_at(k, judgment_columns).items():
            known = annotated.get(name) or Annotation(None, judgment=text)
            annotated[name] = replace(known, judgment=text)
        yield str(id), sources[k], targets[k], annotated, _texts_at(k, attribute_columns)


def _columns(kind: str, given: Mapping[str, Iterable[object]]) -> dict[str, list[object]]:
    """Return the attributes or the judgments of all pairs by name."""
    columns = {}
    for name, values in given.items():
        columns[name] = list(_several(f"{kind}[{name!r}]", values, kind))
    return columns


def _texts_at(k: int, columns: Mapping[str, Sequence[object]]) -> dict[str, str]:
    """Return the values of pair k by name, as texts, without None."""
    values = {name: column[k] for name, column in columns.items()}
    return {name: str(value) for name, value in values.items() if value is not None}


def sentences_of(name: str, values: Iterable[str | Iterable[str]]) -> list[tuple[str, ...]]:
    """Return sentences as words; texts are split at white space."""
    sentences = []
    for k, value in enumerate(_several(name, values, "sentences")):
        if isinstance(value, str):
            sentences.append(tuple(split_unicode(value)))
        else:
            sentences.append(words(f"{name}[{k}]", value))
    return sentences


def _links(name: str, values: Iterable[LinksLike]) -> list[Annotation | None]:
    """Return the annotations of an annotator, one for each pair."""
    annotations: list[Annotation | None] = []
    for k, value in enumerate(_several(name, values, "alignments")):
        if value is None or isinstance(value, Annotation):
            annotations.append(value)
        else:
            annotations.append(Annotation(alignment_of(f"{name}[{k}]", value)))
    return annotations


def _several(name: str, values: Iterable[T], what: str) -> Iterable[T]:
    """Return the values, or raise an error if they are no list."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list of {what}, one a pair")
    return values


RECORDS = ("link", "annotation")  # the kinds of records
_OF_LINK = ("i", "j", "sure", *SIDES, "weight", "label")
_OF_ANNOTATION = ("links", *(part.name for part in fields(Annotation)[1:]))


def link_records(pairs: Iterable[SentencePair]) -> Iterator[dict[str, object]]:
    """Yield a record for each link."""
    for pair in pairs:
        given = {"id": "", **pair.attributes} | {"id": pair.id}  # the id first, and its own
        source, target = pair.source, pair.target
        for name, alignment in pair.alignments.items():
            for link, sure in alignment.items():
                yield {
                    **given,
                    "annotator": name,
                    "i": link.i,
                    "j": link.j,
                    "sure": sure,
                    "source": None if source is None else source[link.i],
                    "target": None if target is None else target[link.j],
                    "weight": alignment.weights.get(link),
                    "label": alignment.labels.get(link),
                }


def annotation_records(pairs: Iterable[SentencePair]) -> Iterator[dict[str, object]]:
    """Yield a record for each annotation, and for each pair without one."""
    for pair in pairs:
        texts = {"source": _text(pair.source), "target": _text(pair.target)}
        given = {"id": "", **texts, **pair.attributes} | {"id": pair.id, **texts}
        if not pair.annotations:
            yield {**given, "annotator": None, **dict.fromkeys(_OF_ANNOTATION)}
        for name, annotation in pair.annotations.items():
            parts = {part.name: getattr(annotation, part.name) for part in fields(Annotation)}
            parts["role"] = annotation.role or ROLES[0]
            yield {**given, "annotator": name, "links": parts.pop("alignment"), **parts}


def _text(tokens: Sentence | None) -> str | Sentence | None:
    """Return a sentence as text if splitting the text gives the same words."""
    text = " ".join(tokens or ())
    if tokens is not None and tuple(split_unicode(text)) == tokens:
        return text
    return tokens


def pairs_of_records(
    records: Iterable[Mapping[Any, Any]], alignments: Sequence[str], judgments: Sequence[str]
) -> Iterator[tuple[str, Sentence | None, Sentence | None, dict[str, Annotation], dict[str, str]]]:
    """Yield the arguments of `SentencePair` for each pair; see `Corpus.from_records`."""
    named = (*words("alignments", alignments), *words("judgments", judgments))
    pairs: dict[tuple[str, int], _Gathered] = {}
    columns: dict[Any, None] = {}
    for k, record in enumerate(records):
        where = f"records[{k}]"
        check_kind(where, record, dict)
        columns.update(dict.fromkeys(record))
        given = {name: value for name, value in record.items() if not missing(value)}
        annotator = given.pop("annotator", None)
        # a record of one annotation or link, rather than of a pair with all its annotations
        of_annotator = "annotator" in record
        if "links" in given and not (of_annotator or "links" in named):
            raise OptionError(
                f"{where} has links but no annotator; add annotator, or name the key in alignments"
            )
        of_link = of_annotator and "i" in given
        id = str(given.pop("id", k + 1))
        parts = {}
        if of_annotator:
            parts = _taken(_OF_LINK if of_link else _names_of_annotation(record), given)
        source = _sentence_of(f"{where}['source']", given.pop("source", None))
        target = _sentence_of(f"{where}['target']", given.pop("target", None))
        annotated = _taken(named, given)
        attributes = {str(name): str(value) for name, value in given.items()}
        key = (id, -1 if of_annotator else k)  # records of an annotator share their pair
        pair = pairs.setdefault(key, _Gathered(source, target, attributes, {}, {}))
        if pair[:3] != (source, target, attributes):
            raise JoinError(f"{where}: pair {id!r} had other words or attributes before")
        for name, value in annotated.items():
            kind = "links" if name in alignments else "judgment"
            if kind == "links" or _judgment_of(value):
                pair.annotations[name] = _annotation(where, {kind: value})
        if of_link:
            pair.links.setdefault(str(annotator), []).append(parts)
        elif annotator is not None and not _lacks_label(record, parts):
            if str(annotator) in pair.annotations:
                raise OptionError(f"{where}: {annotator!r} already annotated pair {id!r}")
            pair.annotations[str(annotator)] = _annotation(where, parts)
    unknown = [name for name in named if name not in columns]
    if columns and unknown:
        raise UnknownNameError("key of records", unknown[0], map(str, columns))
    for (id, _), pair in pairs.items():
        for name, links in pair.links.items():
            pair.annotations[name] = Annotation(_alignment(links))
        yield id, pair.source, pair.target, pair.annotations, pair.attributes


class _Gathered(NamedTuple):
    """What the records read so far say about a pair; `links` are records by annotator."""

    source: Sentence | None
    target: Sentence | None
    attributes: dict[str, str]
    annotations: dict[str, Annotation]
    links: dict[str, list[dict[str, Any]]]


def _taken(names: Iterable[str], given: dict[Any, Any]) -> dict[str, Any]:
    """Remove the values with some names from a record, and return them."""
    return {name: given.pop(name) for name in names if name in given}


def missing(value: object) -> bool:
    """Return whether a value means None, such as NaN and NA in a data frame."""
    absent = value is None or type(value).__name__ in ("NAType", "NaTType")
    return absent or (isinstance(value, Real) and isnan(value))


def _sentence_of(name: str, value: Any) -> Sentence | None:
    """Return the words of a sentence in a record, None without one; `name` is for errors."""
    if isinstance(value, str):
        return tuple(split_unicode(value))
    return value and words(name, value)


def _annotation(where: str, parts: dict[str, Any]) -> Annotation:
    """Return an annotation from the values of a record; `where` names it in errors."""
    links = parts.pop("links", None)
    judgment = _judgment_of(parts.pop("judgment", parts.pop("label", "")))
    try:
        alignment = None if links is None else alignment_of("links", links)
        return Annotation(alignment, judgment=judgment, **parts)
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{where}: {error}") from None


def _names_of_annotation(record: Mapping[Any, Any]) -> tuple[str, ...]:
    """Return the keys of an annotation in a record; its judgment may be called label."""
    if "judgment" in record:
        return _OF_ANNOTATION
    return (*_OF_ANNOTATION, "label")


def _lacks_label(record: Mapping[Any, Any], parts: Mapping[str, Any]) -> bool:
    """Return whether a record of a judgment has none: a gap in a table."""
    return "label" in record and "judgment" not in record and not parts


def _judgment_of(value: object) -> str:
    """Return a judgment as text; 2.0, as of a column with gaps, is the label 2."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _alignment(records: Sequence[Mapping[str, Any]]) -> Alignment:
    """Return the alignment of the records of links."""
    sure: dict[LinkLike, bool] = {}
    weights: dict[LinkLike, float] = {}
    labels: dict[LinkLike, str] = {}
    by_link = {}
    for record in records:
        link = Link(record["i"], record.get("j"))  # type: ignore[arg-type]
        by_link[link] = record
    for link, record in by_link.items():
        sure[link] = record.get("sure", True)
        if "weight" in record:
            weights[link] = record["weight"]
        if "label" in record:
            labels[link] = record["label"]
    return Alignment([link for link in sure if sure[link]], sure, weights=weights, labels=labels)
