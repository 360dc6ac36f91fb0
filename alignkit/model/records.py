"""Corpora as records, such as the rows of a data frame, and corpora from records.

A record is a dict, of one of three kinds:

    {"id": "1", "source": "he left", "target": "er ging", "gold": "0-0 1-1"}  # a pair
    {"id": "1", "annotator": "gold", "links": "0-0 1-1", "judgment": "yes"}   # an annotation
    {"id": "1", "annotator": "gold", "i": 0, "j": 0}                          # a link

In a record of a pair, the caller says which keys are annotators: here `gold`, with links. Records
of annotations and links also have the words and attributes of their pair, if these are known, and
the records of a pair belong together by its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isnan
from numbers import Real
from typing import Any

from alignkit._support.arguments import check_kind, words
from alignkit.errors import AlignmentError, ArgumentError, JoinError, OptionError, UnknownNameError
from alignkit.model.alignment import SIDES, Alignment, Link, LinkLike
from alignkit.model.annotation import Annotation
from alignkit.model.coercion import Sentence, alignment_of
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import split_unicode

RECORDS = ("link", "annotation")  # the kinds of records that are written
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
) -> list[SentencePair]:
    """Return the pair of each record, or of several with its id; see `Corpus.from_records`."""
    reader = _RecordReader(words("alignments", alignments), words("judgments", judgments))
    for k, record in enumerate(records):
        reader.add(record, k)
    return reader.pairs()


@dataclass
class _PairOfRecords:
    """What the records read so far say about a pair."""

    id: str
    source: Sentence | None
    target: Sentence | None
    attributes: dict[str, str]
    annotations: dict[str, Annotation] = field(default_factory=dict)
    links: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # records, by annotator


class _RecordReader:
    """Reads records one by one; `alignments` and `judgments` are keys of records of pairs."""

    def __init__(self, alignments: Sequence[str], judgments: Sequence[str]) -> None:
        self._alignments = alignments
        self._named = (*alignments, *judgments)
        # by id, and by the number of the record if that is one of a pair: these are not joined
        self._pairs: dict[tuple[str, int | None], _PairOfRecords] = {}
        self._keys: dict[Any, None] = {}  # all keys of records

    def add(self, record: Mapping[Any, Any], k: int) -> None:
        """Read a record, the k-th from 0."""
        where = f"records[{k}]"
        check_kind(where, record, dict)
        self._keys.update(dict.fromkeys(record))
        values = {name: value for name, value in record.items() if not missing(value)}
        annotator = values.pop("annotator", None)
        of_annotator = "annotator" in record
        of_link = of_annotator and "i" in values
        is_labelled = "label" in record and "judgment" not in record  # another name of judgment
        if "links" in values and not (of_annotator or "links" in self._named):
            raise OptionError(
                f"{where} has links but no annotator; add annotator, or name the key in alignments"
            )
        id = str(values.pop("id", k + 1))
        if of_link:
            parts = _taken(_OF_LINK, values)
        elif of_annotator:
            parts = _taken(_OF_ANNOTATION, values)
            if is_labelled and "label" in values:
                parts["judgment"] = values.pop("label")
        else:
            parts = {}
        pair = self._pair(id, None if of_annotator else k, values, where)
        if of_link:
            pair.links.setdefault(str(annotator), []).append(parts)
        elif annotator is not None and (parts or not is_labelled):  # else a gap in a table
            if str(annotator) in pair.annotations:
                raise OptionError(f"{where}: {annotator!r} already annotated pair {id!r}")
            pair.annotations[str(annotator)] = _annotation(where, parts)

    def _pair(
        self, id: str, number: int | None, values: dict[Any, Any], where: str
    ) -> _PairOfRecords:
        """Return the pair of a record, given the values that are not of its annotator.

        Words and attributes must be the same in all its records. Named keys are annotations.
        """
        source = _sentence_of(f"{where}['source']", values.pop("source", None))
        target = _sentence_of(f"{where}['target']", values.pop("target", None))
        annotated = _taken(self._named, values)
        attributes = {str(name): str(value) for name, value in values.items()}
        new = _PairOfRecords(id, source, target, attributes)
        pair = self._pairs.setdefault((id, number), new)
        same_words = pair.source == source and pair.target == target
        if not same_words or pair.attributes != attributes:
            raise JoinError(f"{where}: pair {id!r} had other words or attributes before")
        for name, value in annotated.items():
            kind = "links" if name in self._alignments else "judgment"
            if kind == "links" or _judgment_of(value):
                pair.annotations[name] = _annotation(where, {kind: value})
        return pair

    def pairs(self) -> list[SentencePair]:
        """Return all pairs, after checking that some record has each of the named keys."""
        unknown = [name for name in self._named if name not in self._keys]
        if self._keys and unknown:
            raise UnknownNameError("key of records", unknown[0], map(str, self._keys))
        pairs = []
        for pair in self._pairs.values():
            for name, links in pair.links.items():
                pair.annotations[name] = Annotation(_alignment(links))
            pairs.append(
                SentencePair(pair.id, pair.source, pair.target, pair.annotations, pair.attributes)
            )
        return pairs


def _taken(names: Iterable[str], values: dict[Any, Any]) -> dict[str, Any]:
    """Remove the values with some names from a record, and return them."""
    return {name: values.pop(name) for name in names if name in values}


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
    judgment = _judgment_of(parts.pop("judgment", ""))
    try:
        alignment = None if links is None else alignment_of("links", links)
        return Annotation(alignment, judgment=judgment, **parts)
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{where}: {error}") from None


def _judgment_of(value: object) -> str:
    """Return a judgment as text; 2.0, as of a column with gaps, is the label 2."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _alignment(records: Sequence[Mapping[str, Any]]) -> Alignment:
    """Return the alignment of the records of links; of two for one link, the last counts."""
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
