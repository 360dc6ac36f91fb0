"""Candidate pairs of documents: similar, but not too similar, with equal keys and near dates.

Machines choose the documents; people then take paraphrases from them by hand (`alignkit annotate
--task extract`), so that no measure of similarity decides which sentences are in a corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit._support.array_types import F8
from alignkit._support.keywords import options_given, takes_options
from alignkit._support.wording import how_many
from alignkit.errors import FormatError, OptionError
from alignkit.identification import candidates, similarity
from alignkit.identification.candidates import Candidates, TextPair, TextRecord
from alignkit.identification.options import DocumentKeywords, DocumentOptions
from alignkit.identification.similarity import Places, Row
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NO_KEY = (
    "without a key, similarity alone does not tell two texts on one matter from two on different "
    "ones: give a key (film, topic) or dates"
)
_NO_PAIR = "no two documents can be compared: check their number, keys and dates"
_PER_DOCUMENT = 10  # if no key or date divides the documents
_DAY = 86400.0  # seconds
_EXCERPT = 40  # characters


@takes_options(DocumentOptions)
def candidate_documents(
    documents: Sequence[TextRecord],
    others: Sequence[TextRecord] | None = None,
    **options: Unpack[DocumentKeywords],
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
    chosen = options_given(DocumentOptions, candidate_documents, options)
    alone = not chosen.key and chosen.date is None
    if alone and chosen.per_document is None:
        chosen = replace(chosen, per_document=_PER_DOCUMENT)
    every = [*documents, *(others or ())]
    counts = Counter[str]()
    keys = [tuple(document[name] for name in chosen.key) for document in every]
    first_other = None if others is None else len(documents)
    blocks = _blocks(every, keys, first_other, chosen, counts)
    times = _times(every, chosen, counts)
    rows: Iterable[Row] = ()
    texts = [document[chosen.near] for document in every]
    if blocks:
        rows = similarity.compared(texts, blocks, chosen)
    histogram = np.zeros(candidates.BINS, np.int64)
    kept = _similar(rows, texts, times, chosen, counts, histogram)
    if not histogram.any():
        raise OptionError(_NO_PAIR)
    if chosen.farthest:
        # of each key the least similar pair, the first of equal ones
        least: dict[object, tuple[int, int]] = {}
        for pair in sorted(kept, key=lambda pair: (kept[pair], pair)):
            least.setdefault(keys[pair[0]], pair)
        kept = {pair: kept[pair] for pair in sorted(least.values())}
    pairs = candidates.with_matches(_text_pairs(kept, every, chosen), chosen)
    about = how_many(len(documents), "document")
    if others is not None:
        about += f" and {how_many(len(others), 'document')}"
    notes = []
    if alone:
        notes.append(_NO_KEY)
    if any(similarity.words_choose(columns, chosen) for _, columns in blocks):
        notes.append(similarity.BY_WORDS)
    return Candidates(
        pairs=pairs,
        about=about,
        counts=+counts,
        signature=chosen.settings(),
        notes=tuple(notes),
        histogram=histogram,
        more=_examples(pairs, chosen) if chosen.grid else (),
    )


def _examples(pairs: Sequence[TextPair], chosen: DocumentOptions) -> list[Table]:
    """Return a table, in a list, of `show` candidates from each of equal bins of similarity."""
    columns = [Column("from", "decimal", digits=2), Column("similarity", "decimal")]
    columns += [Column("pair"), Column("source"), Column("target")]
    rows: list[list[Cell]] = []
    for turn, bin, place in candidates.drawn_by_bins(pairs, chosen.grid, chosen.seed):
        if turn < (chosen.show or 0):
            pair = pairs[place]
            least = bin / chosen.grid
            texts = (_excerpt(pair.source), _excerpt(pair.target))
            rows.append([least, candidates.similarity_of(pair), pair.id, *texts])
    rows.sort(key=lambda row: row[:2])
    return [Table("Examples", columns, rows, "", "examples")]


def _excerpt(text: str) -> str:
    """Return the beginning of a text in one line."""
    return " ".join(text.split())[:_EXCERPT]


def _blocks(
    every: Sequence[TextRecord],
    keys: Sequence[object],
    first_other: int | None,
    chosen: DocumentOptions,
    counts: Counter[str],
) -> list[tuple[Places, Places]]:
    """Return the places of the documents of each key: rows, and columns to compare them with."""
    members: dict[object, tuple[list[int], list[int]]] = {}
    for place, document in enumerate(every):
        if not document[chosen.near].strip() or not document[chosen.far or chosen.near].strip():
            counts["documents without words"] += 1
            continue
        documents, others = members.setdefault(keys[place], ([], []))
        if first_other is None or place < first_other:
            documents.append(place)
        else:
            others.append(place)
    blocks = []
    for documents, others in members.values():
        columns = documents if first_other is None else others
        if documents and columns:
            blocks.append((np.array(documents), np.array(columns)))
    return blocks


def _times(every: Sequence[TextRecord], chosen: DocumentOptions, counts: Counter[str]) -> F8:
    """Return the date of each document in seconds; NaN is near all dates, infinity near none."""
    times = np.full(len(every), np.inf if chosen.undated == "drop" else np.nan)
    if not chosen.date:
        return times
    for place, document in enumerate(every):
        text = document.values.get(chosen.date, "")
        try:
            time = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            if chosen.undated == "error":
                raise FormatError(
                    f"document {document.id[:80]!r}: its {chosen.date} is {text[:40]!r}; "
                    "expected a date such as 2026-11-28; see `undated`",
                    *document.place,
                ) from None
            kept = "dropped" if chosen.undated == "drop" else "paired with all"
            counts[f"documents without a date, {kept}"] += 1
        else:
            times[place] = time.replace(tzinfo=time.tzinfo or timezone.utc).timestamp()
    return times


def _similar(
    rows: Iterable[Row],
    texts: Sequence[str],
    times: F8,
    chosen: DocumentOptions,
    counts: Counter[str],
    histogram: Places,
) -> dict[tuple[int, int], float]:
    """Return the candidates, by the places of both documents, with their similarity, in order.

    Those left out are added to `counts`, and all compared pairs to `histogram`.
    """
    plain = [" ".join(text.split()) for text in texts]
    low, high = chosen.band
    similar: dict[tuple[int, int], float] = {}
    left_out: dict[tuple[int, int], str] = {}  # why
    for row, columns, values in rows:
        if np.isinf(times[row]):  # without a date, and dropped
            continue
        apart = np.abs(times[columns] - times[row])  # NaN: one has no date, and is near all others
        near = np.isnan(apart) | (apart <= (chosen.days or 0) * _DAY)
        if not near.any():
            counts["documents compared with no other"] += 1
        # each pair once: those within an input come in both orders, those of two in this one alone
        histogram += candidates.histogram_of(values[near & (columns > row)])
        inside = np.flatnonzero(near & (values >= low) & (values <= high))
        kept = 0
        for nearest in similarity.descending(values[inside], chosen.per_document):
            k = inside[nearest]
            first, second = sorted((row, int(columns[k])))
            pair = (first, second)
            if pair not in similar and pair not in left_out:  # within an input, also met in turn
                why = _contained(plain[first], plain[second], equal=chosen.max_similarity == 1)
                if why:
                    left_out[pair] = why
                else:
                    similar[pair] = float(values[k])
            kept += pair in similar
            if kept == chosen.per_document:
                break
    counts.update(left_out.values())
    return dict(sorted(similar.items()))


def _contained(first: str, second: str, *, equal: bool) -> str:
    """Return why two texts are no candidate: one contains the other; empty if they are one."""
    if first == second:
        return "" if equal else "pairs of equal texts"
    shorter, longer = sorted((first, second), key=len)
    if shorter in longer:
        return "pairs in which a text contains the other"
    return ""


def _text_pairs(
    pairs: Mapping[tuple[int, int], float], every: Sequence[TextRecord], chosen: DocumentOptions
) -> list[TextPair]:
    """Return the candidates for these documents (places), the least alike by `far` first."""
    candidate_pairs: list[TextPair] = []
    name = chosen.far or chosen.near
    texts = [document[name] for document in every]
    vectors = None
    if chosen.far is not None:
        vectors = similarity.fit(texts, chosen)(texts)
    for (i, j), value in pairs.items():
        source = every[i]
        target = every[j]
        attributes = {"source_document": source.id, "target_document": target.id}
        attributes["similarity"] = f"{value:.4f}"
        attributes.update((key, source[key]) for key in chosen.key)
        if vectors is not None:
            cosine = (vectors[[i]] @ vectors[[j]].T).sum()
            attributes["far_similarity"] = f"{cosine:.4f}"
        pair = TextPair(f"{source.id}~{target.id}", texts[i], texts[j], attributes)
        candidate_pairs.append(pair)
    return sorted(candidate_pairs, key=lambda pair: float(pair.attributes.get("far_similarity", 0)))
