"""Candidate pairs of documents: similar, but not too similar, with equal keys and near dates.

Machines choose the documents; people then take paraphrases from them by hand (`alignkit annotate
--task extract`), so that no measure of similarity decides which sentences are in a corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8
from alignkit._support.wording import how_many
from alignkit.errors import FormatError, OptionError
from alignkit.identification import candidates, similarity
from alignkit.identification.candidates import Candidates, TextPair, TextRecord
from alignkit.identification.options import DocumentOptions, options_of
from alignkit.identification.similarity import Places, Row
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

_NO_KEY = (
    "without a key, similarity alone does not tell two texts on one matter from two on different "
    "ones: give a key (film, topic) or dates"
)
_NO_PAIR = "no two documents can be compared: check their number, keys and dates"
_PER_DOCUMENT = 10  # if no key or date divides the documents
_DAY = 86400.0  # seconds
_EXCERPT = 40  # characters


def candidate_documents(
    documents: Sequence[TextRecord], others: Sequence[TextRecord] | None = None, **options: Any
) -> Candidates:
    """Pair documents that are similar, but not too similar.

    Parameters
    ----------
    documents : The documents.
    others : Documents to pair with; None: pair the documents with each other.
    **options : The fields of `DocumentOptions`.

    Raises
    ------
    OptionError : If an option is out of range, or no two documents can be compared.
    FormatError : If a document has no such key, text or date; the message has its file and line.

    References
    ----------
    Kanerva et al. 2023, Towards diverse and contextually anchored paraphrase modeling, Natural
    Language Engineering, section 3.

    Examples
    --------
    >>> texts = {"a": "A fire broke out on Monday.", "b": "On Monday a fire broke out in Lund."}
    >>> documents = [TextRecord(id, {"text": text}) for id, text in texts.items()]
    >>> [pair.id for pair in candidate_documents(documents).pairs]
    ['a~b']
    """
    check_arguments(candidate_documents, locals())
    chosen = options_of(DocumentOptions, candidate_documents, options)
    alone = not chosen.key and chosen.date is None
    if alone and chosen.per_document is None:
        chosen = replace(chosen, per_document=_PER_DOCUMENT)
    every = [*documents, *(others or ())]
    counts = Counter[str]()
    keys = [tuple(document[name] for name in chosen.key) for document in every]
    blocks = _blocks(every, keys, None if others is None else len(documents), chosen, counts)
    times = _times(every, chosen, counts)
    rows = similarity.compared([document[chosen.near] for document in every], blocks, chosen)
    histogram = np.zeros(candidates.BINS, np.int64)
    checked = _checked(rows if blocks else (), every, times, chosen, counts, histogram)
    if not histogram.any():
        raise OptionError(_NO_PAIR)
    counts.update(value for value in checked.values() if isinstance(value, str))
    kept = {pair: value for pair, value in sorted(checked.items()) if isinstance(value, float)}
    if chosen.farthest:
        order = sorted(kept, key=lambda pair: (kept[pair], pair), reverse=True)
        least = {keys[pair[0]]: pair for pair in order}
        kept = {pair: kept[pair] for pair in sorted(least.values())}
    pairs = _text_pairs(kept, every, chosen)
    if others is None:
        second = ""
    else:
        second = f" and {how_many(len(others), 'document')}"
    by_words = any(similarity.words_choose(columns, chosen) for _, columns in blocks)
    notes = [_NO_KEY] * alone + [similarity.BY_WORDS] * by_words
    return Candidates(
        pairs,
        f"{how_many(len(documents), 'document')}{second}",
        +counts,
        chosen.settings(),
        tuple(notes),
        histogram,
        _examples(pairs, chosen) if chosen.grid else (),
    )


def _examples(pairs: Sequence[TextPair], chosen: DocumentOptions) -> list[Table]:
    """Return a table of candidates from equal bins of similarity."""
    columns = [Column("from", "decimal", digits=2), Column("similarity", "decimal")]
    columns += [Column("pair"), Column("source"), Column("target")]
    rows: list[list[Cell]] = []
    for turn, number, place in candidates.drawn_by_bins(pairs, chosen.grid, chosen.seed):
        if turn < (chosen.show or 0):
            pair = pairs[place]
            starts = [" ".join(text.split())[:_EXCERPT] for text in (pair.source, pair.target)]
            rows.append([number / chosen.grid, candidates.similarity_of(pair), pair.id, *starts])
    rows.sort(key=lambda row: row[:2])
    return [Table("Examples", columns, rows, "", "examples")]


def _blocks(
    every: Sequence[TextRecord],
    keys: Sequence[object],
    first: int | None,
    chosen: DocumentOptions,
    counts: Counter[str],
) -> list[tuple[Places, Places]]:
    """Return the places of the documents of each key: rows, and columns to compare them with."""
    members: dict[object, tuple[list[int], list[int]]] = {}
    for place, document in enumerate(every):
        if document[chosen.near].strip() and document[chosen.far or chosen.near].strip():
            sides = members.setdefault(keys[place], ([], []))
            sides[first is not None and place >= first].append(place)
        else:
            counts["documents without words"] += 1
    blocks = [(rows, rows if first is None else columns) for rows, columns in members.values()]
    return [(np.array(rows), np.array(columns)) for rows, columns in blocks if rows and columns]


def _times(every: Sequence[TextRecord], chosen: DocumentOptions, counts: Counter[str]) -> F8:
    """Return the date of each document in seconds; NaN is near all dates, infinity near none."""
    times = np.full(len(every), np.inf if chosen.undated == "drop" else np.nan)
    for place, document in enumerate(every if chosen.date else ()):
        text = document.values.get(str(chosen.date), "")
        try:
            time = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            if chosen.undated == "error":
                raise FormatError(
                    f"document {document.id[:80]!r}: its {chosen.date} is {text[:40]!r}; "
                    "expected a date such as 2026-11-28; see `undated`",
                    *document.place,
                ) from None
            if chosen.undated == "drop":
                kept = "dropped"
            else:
                kept = "paired with all"
            counts[f"documents without a date, {kept}"] += 1
        else:
            times[place] = time.replace(tzinfo=time.tzinfo or timezone.utc).timestamp()
    return times


def _checked(
    rows: Iterable[Row],
    every: Sequence[TextRecord],
    times: F8,
    chosen: DocumentOptions,
    counts: Counter[str],
    histogram: Places,
) -> dict[tuple[int, int], float | str]:
    """Return the similarity of the pairs in the band, or why they are left out."""
    plain = [" ".join(document[chosen.near].split()) for document in every]
    low, high = chosen.band
    checked: dict[tuple[int, int], float | str] = {}
    for row, columns, values in rows:
        if np.isinf(times[row]):
            continue
        apart = np.abs(times[columns] - times[row])
        near = np.isnan(apart) | (apart <= (chosen.days or 0) * _DAY)
        counts["documents compared with no other"] += not near.any()
        histogram += candidates.histogram_of(values[near & (columns > row)])  # all, across inputs
        inside = np.flatnonzero(near & (values >= low) & (values <= high))
        kept = 0
        for nearest in similarity.descending(values[inside], chosen.per_document):
            k = inside[nearest]
            pair = min(row, int(columns[k])), max(row, int(columns[k]))
            if pair not in checked:
                why = _contained(plain[pair[0]], plain[pair[1]], equal=chosen.max_similarity == 1)
                checked[pair] = why or float(values[k])
            kept += isinstance(checked[pair], float)
            if kept == chosen.per_document:
                break
    return checked


def _contained(first: str, second: str, *, equal: bool) -> str:
    """Return why two texts are hardly two; empty if they are."""
    if first == second:
        return "" if equal else "pairs of equal texts"
    shorter, longer = sorted((first, second), key=len)
    if shorter in longer:
        return "pairs in which a text contains the other"
    return ""


def _text_pairs(
    pairs: Mapping[tuple[int, int], float], every: Sequence[TextRecord], chosen: DocumentOptions
) -> list[TextPair]:
    made: list[TextPair] = []
    name = chosen.far or chosen.near
    texts = [document[name] for document in every]
    if chosen.far is None:
        vectors = None
    else:
        vectors = similarity.fit(texts, chosen)(texts)
    for (i, j), value in pairs.items():
        attributes = {"source_document": every[i].id, "target_document": every[j].id}
        attributes |= {"similarity": f"{value:.4f}"} | {key: every[i][key] for key in chosen.key}
        if vectors is not None:
            attributes["far_similarity"] = f"{(vectors[[i]] @ vectors[[j]].T).sum():.4f}"
        made.append(TextPair(f"{every[i].id}~{every[j].id}", texts[i], texts[j], attributes))
    return sorted(made, key=lambda pair: float(pair.attributes.get("far_similarity", 0)))
