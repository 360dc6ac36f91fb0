"""Candidate pairs of documents: alike in a band, within equal keys and near dates.

Machines choose the documents; people then take paraphrases from them by hand (`alignkit annotate
--task extract`), so that no measure of similarity decides which sentences are in a corpus.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many
from alignkit.errors import FormatError, OptionError
from alignkit.identification.candidates import BINS, check_band, in_bins
from alignkit.identification.similarity import Floats, Places, Similarity, best, products
from alignkit.io.options import ReadOptions
from alignkit.io.strict_json import parse_json
from alignkit.io.text_files import TextFile
from alignkit.tables.columns import Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

TEXT = "text"
_PER_DOCUMENT = 10  # where no key divides the documents


@dataclass(frozen=True)
class CandidateDocument:
    """A document: its named texts, usually one called ``text``, and its attributes."""

    id: str
    texts: Mapping[str, str]
    attributes: Mapping[str, str]
    place: str = ""  # the file and line


def read_candidate_documents(
    path: str, *, texts: Sequence[str] = (TEXT,), encoding: str = "utf-8"
) -> list[CandidateDocument]:
    """Return the documents of a folder of files, or of JSON lines.

    A line is an object with an ``id`` (default: the line number), the named `texts` (each a string
    or a list of paragraphs) and attributes.
    """
    options = ReadOptions(encoding=encoding)
    read: list[CandidateDocument] = []
    if os.path.isdir(path):
        if tuple(texts) != (TEXT,):
            raise OptionError(f"{path}: files of a folder have no texts called {', '.join(texts)}")
        for file in sorted(Path(path).iterdir()):
            if file.is_file() and not file.name.startswith("."):
                text = TextFile(str(file), options).text()
                read.append(CandidateDocument(file.stem, {TEXT: text}, {}, str(file)))
    else:
        for number, line in TextFile(path, options).lines(path):
            if line.strip():
                read.append(_document(line, path, number, texts))
    seen: dict[str, str] = {}
    for each in read:
        if each.id in seen:
            raise FormatError(f"id {each.id[:80]!r} is used twice: {seen[each.id]}, {each.place}")
        seen[each.id] = each.place
    return read


def _document(line: str, path: str, number: int, names: Sequence[str]) -> CandidateDocument:
    row = parse_json(line, path, number)
    if type(row) is not dict:
        raise FormatError("expected an object with id and text", path, number)
    texts = {}
    for name in names:
        value = row.pop(name, None)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = "\n\n".join(value)
        if not isinstance(value, str):
            raise FormatError(f"has no text {name!r}: a string or a list of strings", path, number)
        texts[name] = value.replace("\r\n", "\n")
    id = str(row.pop("id", number))
    attributes = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in row.items()
        if isinstance(value, (str, int, float))
    }
    return CandidateDocument(id, texts, attributes, f"{path}:{number}")


@dataclass(frozen=True)
class DocumentPair:
    """Two documents, and the similarity of their texts."""

    source: int  # places in the lists
    target: int
    similarity: float
    far: float = np.nan  # the similarity of the texts that should differ


@dataclass(frozen=True, eq=False)
class CandidateDocuments(Result):
    """Pairs of similar documents, with the histogram of all pairs that were compared.

    Parameters
    ----------
    pairs : The pairs.
    documents : The source and the target documents; the same list twice if there is one input.
    histogram : (20,): the compared pairs by similarity, in bins of .05; the last one includes 1.
    counts : What was left out, by reason.
    examples : Some pairs of each bin of a grid, to choose a band by eye.
    """

    pairs: Sequence[DocumentPair]
    documents: tuple[Sequence[CandidateDocument], Sequence[CandidateDocument]]
    histogram: NDArray[np.int64]
    counts: Mapping[str, int]
    shown: str  # the name of the texts that are written
    keys: tuple[str, ...] = ()
    examples: Sequence[tuple[float, DocumentPair]] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""

    @property
    def head(self) -> Sequence[str]:
        """The number of pairs."""
        sources, targets = self.documents
        other = "" if sources is targets else f" and {how_many(len(targets), 'document')}"
        return (f"{len(self.pairs)} pairs from {how_many(len(sources), 'document')}{other}",)

    def rows(self) -> Iterator[dict[str, str | float]]:
        """Yield the pairs as `alignkit annotate --task extract` reads them."""
        for pair in self.pairs:
            source, target = self.documents[0][pair.source], self.documents[1][pair.target]
            yield {
                "id": f"{source.id}~{target.id}",
                "source": source.texts[self.shown],
                "target": target.texts[self.shown],
                "source_document": source.id,
                "target_document": target.id,
                "similarity": round(pair.similarity, 4),
                **({} if np.isnan(pair.far) else {"far_similarity": round(pair.far, 4)}),
                **{key: source.attributes[key] for key in self.keys},
            }

    def tables(self) -> Sequence[Table]:
        """Return the histogram, what was left out, and the examples of a grid."""
        columns = [Column(name, "decimal", digits=2) for name in ("from", "to")]
        bins = [[k / BINS, (k + 1) / BINS, int(n)] for k, n in enumerate(self.histogram)]
        titled = "Similarity of the pairs compared"
        tables = [
            Table(titled, [*columns, Column("pairs", "count")], bins, "", "similarity", stub=2)
        ]
        if self.counts:
            rows = [[reason, n] for reason, n in self.counts.items()]
            columns = [Column("left out"), Column("number", "count")]
            tables.append(Table("", columns, rows, "", "left_out"))
        if self.examples:
            columns = [Column("from", "decimal", digits=2), Column("similarity", "decimal")]
            columns += [Column("source"), Column("target")]
            ids = [[d.id for d in documents] for documents in self.documents]
            rows = [
                [low, pair.similarity, ids[0][pair.source], ids[1][pair.target]]
                for low, pair in self.examples
            ]
            tables.append(Table("Examples, by similarity", columns, rows, "", "examples"))
        return tables


def candidate_documents(
    documents: Sequence[CandidateDocument],
    others: Sequence[CandidateDocument] | None = None,
    *,
    key: Sequence[str] = (),
    date: str | None = None,
    days: float = 7,
    undated: str = "error",
    least: float | None = None,
    most: float | None = None,
    per_document: int | None = None,
    farthest: bool = False,
    near: str = TEXT,
    far: str | None = None,
    grid: int = 0,
    show: int = 3,
    similarity: Similarity | None = None,
    seed: int = 0,
) -> CandidateDocuments:
    """Return pairs of documents that are similar, but not too similar.

    Parameters
    ----------
    others : Documents to pair with; None: pair the documents with each other.
    key : Attributes that must be equal in both.
    date, days : An attribute with an ISO 8601 date or time; both dates are within so many days,
        inclusive.
    undated : Documents without a date: ``error``, ``drop``, or ``all``: pair them with all of their
        key.
    least, most : The band of similarity; equal texts are kept only if `most` is 1.
    per_document : For each document, only its most similar ones; without key and date, 10 by
        default.
    farthest : Of each key with more than two documents, only the least similar pair in the band.
    near, far : The text to compare; and another text, for which the least similar pairs come first.
    grid, show : Divide 0 to 1 into so many bins, and draw so many examples from each.

    References
    ----------
    Kanerva et al. 2023, Towards diverse and contextually anchored paraphrase modeling, Natural
    Language Engineering, section 3.
    """
    check_arguments(candidate_documents, locals(), apart=("documents", "others", "similarity"))
    low, high = check_band(least, most)
    if undated not in ("error", "drop", "all"):
        raise OptionError(f"undated {undated!r}: expected error, drop or all")
    if per_document is not None and per_document < 1:
        raise OptionError("`per_document` is 1 or more")
    if farthest and not key:
        raise OptionError("`farthest` chooses one pair of each key: give a `key`")
    if per_document is None and not key and date is None:
        per_document = _PER_DOCUMENT
    similarity = similarity or Similarity()
    targets = documents if others is None else others
    every = [*documents, *(others or ())]
    counts: Counter[str] = Counter()
    blocks = _blocks(every, len(documents), others is not None, key, counts)
    times = None if date is None else _times(every, date, undated, counts)
    texts = [document.texts[near] for document in every]
    rows = _compared(texts, blocks, len(documents), others is not None, similarity)
    span = timedelta(days=days).total_seconds()
    flat = [" ".join(text.split()) for text in texts]
    rng = np.random.default_rng(seed)
    histogram = np.zeros(BINS, int)
    kept: dict[tuple[int, int], float] = {}
    drawn = _Grid(grid, show, rng)
    for row, columns, values in rows:
        if times is not None:
            apart = np.abs(times[columns] - times[row])
            near_enough = (apart <= span) | np.isnan(apart)
            columns, values = columns[near_enough], values[near_enough]
        first = columns > row if others is None else np.ones(len(columns), bool)
        histogram += in_bins(values[first])
        drawn.offer(row, columns[first], values[first])
        inside = (values >= low) & (values <= high)
        columns, values = columns[inside], values[inside]
        order = best(values, len(values))
        left = per_document
        for column, value in zip(columns[order].tolist(), values[order].tolist(), strict=True):
            if left == 0:
                break
            pair = (row, column) if row < column else (column, row)
            if reason := _contained(flat[row], flat[column], equal=most == 1):
                counts[reason] += row < column or others is not None
                continue
            kept[pair] = value
            left = None if left is None else left - 1
    if not any(histogram):
        raise OptionError("no two documents can be compared: check keys and dates")
    if farthest:
        kept = _farthest(kept, blocks, len(documents))
    shift = 0 if others is None else len(documents)
    pairs = [DocumentPair(i, j - shift, value) for (i, j), value in sorted(kept.items())]
    if far is not None:
        vectors = similarity.vectors([document.texts[far] for document in every])
        pairs = [
            replace(pair, far=float(_cosine(vectors, pair.source, pair.target + shift)))
            for pair in pairs
        ]
        pairs.sort(key=lambda pair: pair.far)
    examples = [
        (low_end, DocumentPair(i, j - shift, value)) for low_end, i, j, value in drawn.examples()
    ]
    notes = ()
    if not key and date is None:
        notes = (
            "without a key, similarity alone does not tell two texts on one matter from two "
            "on different ones: give a key (film, topic) or dates",
        )
    band = f"{low if least is not None else 'any'}-{high if most is not None else 'any'}"
    signature = (
        f"similarity:{similarity}|near:{near}|far:{far or 'none'}|key:{','.join(key) or 'none'}"
        f"|date:{date or 'none'}|days:{days:g}|band:{band}|per-document:{per_document or 'all'}"
        f"|farthest:{'yes' if farthest else 'no'}|seed:{seed}|version:{__version__}"
    )
    return CandidateDocuments(
        pairs, (documents, targets), histogram, +counts, far or near, tuple(key), examples, notes,
        signature,
    )  # fmt: skip


def _blocks(
    every: Sequence[CandidateDocument], n: int, across: bool, key: Sequence[str],
    counts: Counter[str],
) -> list[tuple[Places, Places]]:  # fmt: skip
    """Return the places of the documents of each key: rows and columns to compare."""
    members: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}
    for place, document in enumerate(every):
        if not any(text.strip() for text in document.texts.values()):
            counts["documents without words"] += 1
            continue
        missing = [name for name in key if name not in document.attributes]
        if missing:
            raise OptionError(f"{document.place or document.id}: has no {missing[0]!r} (key)")
        values = tuple(document.attributes[name] for name in key)
        members.setdefault(values, ([], []))[across and place >= n].append(place)
    return [
        (np.array(rows, int), np.array(columns if across else rows, int))
        for rows, columns in members.values()
        if (rows and columns if across else len(rows) > 1)
    ]


def _compared(
    texts: Sequence[str], blocks: Sequence[tuple[Places, Places]], n: int, across: bool,
    similarity: Similarity,
) -> Iterator[tuple[int, Places, Floats]]:  # fmt: skip
    if len(blocks) == 1:
        rows, columns = blocks[0]
        others = [texts[k] for k in columns] if across else None
        for row, near, values in similarity.neighbours([texts[k] for k in rows], others):
            yield int(rows[row]), columns[near], values
        return
    vectors = similarity.vectors(texts)
    for rows, columns in blocks:
        for row, near, values in products(vectors, rows, columns):
            apart = near != row
            yield row, near[apart], values[apart]


def _times(
    every: Sequence[CandidateDocument], name: str, undated: str, counts: Counter[str]
) -> NDArray[np.float64]:
    """Return the date of each document in seconds; NaN is near all dates, infinity near none."""
    times = np.full(len(every), np.nan)
    for place, document in enumerate(every):
        text = document.attributes.get(name, "")
        try:
            time = datetime.fromisoformat(text.replace("Z", "+00:00"))
            times[place] = (time if time.tzinfo else time.replace(tzinfo=timezone.utc)).timestamp()
        except ValueError:
            if undated == "error":
                where = document.place or f"document {document.id!r}"
                wrong = f"{name} is {text[:40]!r}" if text else f"has no {name}"
                expected = "expected a date such as 2026-11-28, or a choice for undated documents"
                raise OptionError(f"{where}: {wrong}; {expected}") from None
            counts[f"undated documents ({undated})"] += undated == "drop"
            times[place] = np.inf if undated == "drop" else np.nan
    return times


def _contained(first: str, second: str, *, equal: bool) -> str:
    """Return why two texts are hardly two; empty if they are."""
    if first == second:
        return "" if equal else "pairs of equal texts"
    shorter, longer = sorted((first, second), key=len)
    return "pairs in which one text contains the other" if shorter in longer else ""


def _farthest(
    kept: Mapping[tuple[int, int], float], blocks: Sequence[tuple[Places, Places]], n: int
) -> dict[tuple[int, int], float]:
    """Return the least similar pair of each key; keys of two documents have one pair anyway."""
    block_of = {int(k): b for b, sides in enumerate(blocks) for side in sides for k in side}
    least: dict[int, tuple[float, tuple[int, int]]] = {}
    for pair, value in kept.items():
        block = block_of[pair[0]]
        least[block] = min(least.get(block, (np.inf, pair)), (value, pair))
    return {pair: value for value, pair in least.values()}


def _cosine(vectors: Any, i: int, j: int) -> float:
    product = vectors[[i]] @ vectors[[j]].T
    return float(product.sum())


class _Grid:
    """A sample of the compared pairs in each of some equal bins of similarity."""

    def __init__(self, bins: int, size: int, rng: np.random.Generator) -> None:
        self._bins, self._size, self._rng = bins, size, rng
        self._drawn: list[list[tuple[float, int, int, float]]] = [[] for _ in range(bins)]

    def offer(self, row: int, columns: Places, values: Floats) -> None:
        """Offer a row: each pair has a random number, and the smallest of a bin stay."""
        if not self._bins or not len(columns):
            return
        places = np.minimum((np.clip(values, 0, 1) * self._bins).astype(int), self._bins - 1)
        keys = self._rng.random(len(columns))
        for k in np.unique(places):
            inside = np.nonzero(places == k)[0]
            inside = inside[np.argsort(keys[inside])[: self._size]]
            self._drawn[k] += [
                (float(keys[p]), row, int(columns[p]), float(values[p])) for p in inside
            ]
            self._drawn[k] = sorted(self._drawn[k])[: self._size]

    def examples(self) -> Iterator[tuple[float, int, int, float]]:
        """Yield the lower end of a bin, and a pair with its similarity."""
        for k, drawn in enumerate(self._drawn):
            for _, i, j, value in sorted(drawn, key=lambda each: each[3]):
                yield k / self._bins, i, j, value
