"""Convert sentences and links from common types: texts, lists of words, sets of pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, replace
from math import isnan
from numbers import Real
from typing import Any, TypeVar, Union

from alignkit._support.arguments import check_kind, kind_of, words
from alignkit.errors import AlignmentError, ArgumentError, JoinError, OptionError, UnknownNameError
from alignkit.model.alignment import SIDES, Alignment, Link, LinkLike
from alignkit.model.annotation import ROLES, Annotation
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import split_unicode

T = TypeVar("T")
Sentence = tuple[str, ...]

LinksOfPair = Union[Alignment, str, Iterable[tuple[Any, ...]]]
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
    for link in links:
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
    sides = sentences_of("source", source), sentences_of("target", target)
    named = {name: _links(name, values) for name, values in annotations.items()}
    said = [
        {name: list(_several(f"{kind}[{name!r}]", values, kind)) for name, values in given.items()}
        for kind, given in (("attributes", attributes), ("judgments", judgments))
    ]
    names = range(1, len(sides[0]) + 1) if ids is None else words("ids", ids)
    columns: list[tuple[str, Sequence[object]]] = [("target", sides[1]), ("ids", names)]
    for name, column in [*columns, *named.items(), *said[0].items(), *said[1].items()]:
        if len(column) != len(sides[0]):
            raise JoinError(
                f"{name} has {len(column)} entries, but source has {len(sides[0])}; give as "
                "many of each"
            )
    for k, id in enumerate(names):
        annotated = {name: value for name, column in named.items() if (value := column[k])}
        given, judged = ({x: str(y[k]) for x, y in of.items() if y[k] is not None} for of in said)
        for name, text in judged.items():
            known = annotated.get(name) or Annotation(None, judgment=text)
            annotated[name] = replace(known, judgment=text)
        yield str(id), sides[0][k], sides[1][k], annotated, given


def sentences_of(name: str, values: Iterable[str | Iterable[str]]) -> list[tuple[str, ...]]:
    """Return sentences as words; texts are split at white space."""
    return [
        tuple(split_unicode(value)) if isinstance(value, str) else words(f"{name}[{k}]", value)
        for k, value in enumerate(_several(name, values, "sentences"))
    ]


def _links(name: str, values: Iterable[LinksLike]) -> list[Annotation | None]:
    return [
        value
        if value is None or isinstance(value, Annotation)
        else Annotation(alignment_of(f"{name}[{k}]", value))
        for k, value in enumerate(_several(name, values, "alignments"))
    ]


def _several(name: str, values: Iterable[T], what: str) -> Iterable[T]:
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
                    **{"annotator": name, "i": link.i, "j": link.j, "sure": sure},
                    "source": None if source is None else source[link.i],
                    "target": None if target is None else target[link.j],
                    "weight": alignment.weights.get(link),
                    "label": alignment.labels.get(link),
                }


def annotation_records(pairs: Iterable[SentencePair]) -> Iterator[dict[str, object]]:
    """Yield a record for each annotation, and for each pair without one."""
    for pair in pairs:
        texts = {side: _text(getattr(pair, side)) for side in SIDES}
        given = {"id": "", **texts, **pair.attributes} | {"id": pair.id, **texts}
        for name, said in pair.annotations.items() or ((None, None),):
            parts = {part.name: getattr(said, part.name, None) for part in fields(Annotation)}
            parts["role"] = said and (said.role or ROLES[0])
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
    pairs: dict[tuple[str, int], tuple[Any, ...]] = {}
    columns: dict[Any, None] = {}
    for k, record in enumerate(records):
        check_kind(where := f"records[{k}]", record, dict)
        columns.update(dict.fromkeys(record))
        given = {name: value for name, value in record.items() if not missing(value)}
        whose = given.pop("annotator", None)
        long = "annotator" in record
        if "links" in given and not (long or "links" in named):
            raise OptionError(
                f"{where} has links but no annotator; add annotator, or name the key in alignments"
            )
        of = () if not long else _OF_LINK if "i" in given else _OF_ANNOTATION
        id = str(given.pop("id", k + 1))
        said = {name: given.pop(name) for name in of if name in given}
        sides = tuple(_sentence_of(f"{where}[{x!r}]", given.pop(x, None)) for x in SIDES)
        wide = {name: given.pop(name) for name in named if name in given}
        attributes = {str(name): str(value) for name, value in given.items()}
        pair = pairs.setdefault((id, -1 if long else k), (sides, attributes, {}, {}))
        if pair[:2] != (sides, attributes):
            raise JoinError(f"{where}: pair {id!r} had other words or attributes before")
        annotations, links = pair[2:]
        for name, value in wide.items():
            annotations[name] = _annotation(
                where, {"links" if name in alignments else "judgment": value}
            )
        if of is _OF_LINK:
            links.setdefault(str(whose), []).append(said)
        elif whose is not None:
            if str(whose) in annotations:
                raise OptionError(f"{where}: {whose!r} already annotated pair {id!r}")
            annotations[str(whose)] = _annotation(where, said)
    if columns and (unknown := [name for name in named if name not in columns]):
        raise UnknownNameError("key of records", unknown[0], map(str, columns))
    for (id, _), (sides, attributes, annotations, links) in pairs.items():
        annotations |= {name: Annotation(_alignment(each)) for name, each in links.items()}
        yield id, sides[0], sides[1], annotations, attributes


def missing(value: object) -> bool:
    """Return whether a value means None, such as NaN and NA in a data frame."""
    absent = value is None or type(value).__name__ in ("NAType", "NaTType")
    return absent or (isinstance(value, Real) and isnan(value))


def _sentence_of(name: str, value: Any) -> Sentence | None:
    if isinstance(value, str):
        return tuple(split_unicode(value))
    return value and words(name, value)


def _annotation(where: str, said: dict[str, Any]) -> Annotation:
    links = said.pop("links", None)
    judgment = str(said.pop("judgment", ""))
    try:
        if links is None:
            alignment = None
        else:
            alignment = alignment_of("links", links)
        return Annotation(alignment, judgment=judgment, **said)
    except (AlignmentError, ArgumentError) as error:
        raise type(error)(f"{where}: {error}") from None


def _alignment(links: Sequence[Mapping[str, Any]]) -> Alignment:
    places: dict[LinkLike, Mapping[str, Any]] = {
        Link(link["i"], link.get("j")): link  # type: ignore[arg-type]
        for link in links
    }
    weights, labels = (
        {place: link[name] for place, link in places.items() if name in link}
        for name in ("weight", "label")
    )
    sure = [place for place, link in places.items() if link.get("sure", True)]
    return Alignment(sure, places, weights=weights, labels=labels)
