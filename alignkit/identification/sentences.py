"""Candidate pairs of sentences in pairs of documents: similar windows of lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from alignkit._support.array_types import B1, F8
from alignkit._support.options import takes_options
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.identification import candidates
from alignkit.identification.candidates import BINS, Candidates, TextPair
from alignkit.identification.options import Matrix, SentenceKeywords, SentenceOptions, options_of
from alignkit.identification.similarity import Places, best, fit, products
from alignkit.model.alignment import SIDES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import sentence_spans
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

_OVERLAP = 0.3  # shared characters of two windows, of all characters of both
_HIT = 0.5  # the least shared part of both sides of a candidate that finds a known pair
_RANKS = (1, 5, 10)
_MISSED = 11  # in place of a rank: there is no such candidate
_BEYOND = 12  # or there is not even such a window
_LINE = re.compile(r"\S[^\n]*(?<=\S)")
_PLACES = [f"{side}_{end}" for side in SIDES for end in ("start", "end")]


@takes_options(SentenceOptions)
def candidate_sentences(
    documents: Iterable[TextPair],
    gold: Iterable[SentencePair] = (),
    **options: Unpack[SentenceKeywords],
) -> Candidates:
    r"""Pair similar windows of lines: the best ones for each source window.

    A candidate that overlaps a more similar one on both sides (more than 30% of the characters of
    both windows) is dropped. Pairs that are worded differently are missed: see `gold`.

    Parameters
    ----------
    documents : Pairs of documents, such as those of `candidate_documents`.
    gold : Known pairs with their places: report how many are found.
    **options : The fields of `SentenceOptions`.

    Raises
    ------
    OptionError : If an option is out of range, there are fewer than two lines, or no gold pair has
        a place.

    Examples
    --------
    >>> pair = TextPair("d", "Hello.\nA fire broke out.", "There was a fire. It broke out.", {})
    >>> [(each.id, each.source) for each in candidate_sentences([pair]).pairs]
    [('d/c1', 'A fire broke out.')]
    """
    chosen = options_of(SentenceOptions, candidate_sentences, options)
    texts = list(documents)
    known = _known(gold)
    divide = sentence_spans if chosen.sentences else _lines
    spans_of_pairs = []
    units = []
    for pair in texts:
        spans = (divide(pair.source), divide(pair.target))
        spans_of_pairs.append(spans)
        units += _texts_at(pair, *spans)
    if len(units) < 2:
        raise OptionError("the documents have fewer than two lines with words")
    vectors_of = fit(units, chosen)
    counts = Counter[str]()
    histogram = np.zeros(BINS, np.int64)
    pairs: list[TextPair] = []
    ranks_of_gold: list[int] = []
    for pair, spans in zip(texts, spans_of_pairs, strict=True):
        sides = [_windows(side, chosen.lines) for side in spans]
        if not all(map(len, sides)):
            counts["pairs of documents without words on a side"] += 1
            continue
        vectors = vectors_of(_texts_at(pair, *sides))
        places, values, ranks = _ranked(vectors, sides, chosen, histogram)
        ranks_of_gold += [_rank(place, sides, places, ranks) for place in known.pop(pair.id, ())]
        kept = np.flatnonzero(ranks <= chosen.per_window)
        apart = _apart(places[kept], values[kept])
        counts["candidates that overlap a more similar one"] += int((~apart).sum())
        for number, k in enumerate(kept[apart], 1):
            pairs.append(_candidate(pair, number, places[k], values[k], ranks[k]))
    notes = list[str]()
    if chosen.sample is not None:
        pairs = _sampled(pairs, chosen.sample, chosen, notes)
    return Candidates(
        pairs=candidates.with_matches(pairs, chosen),
        about=how_many(len(texts), "pair of documents", "pairs of documents"),
        counts=+counts,
        signature=chosen.settings(),
        notes=tuple(notes),
        histogram=histogram,
        more=_recall(ranks_of_gold, known),
    )


def _lines(text: str) -> list[tuple[int, int]]:
    """Return the characters of each line with words."""
    return [match.span() for match in _LINE.finditer(text)]


def _texts_at(
    pair: TextPair, source_spans: Iterable[Any], target_spans: Iterable[Any]
) -> list[str]:
    """Return the parts of both texts at these characters, those of the source first."""
    parts = [pair.source[begin:end] for begin, end in source_spans]
    return parts + [pair.target[begin:end] for begin, end in target_spans]


def _windows(spans: Sequence[tuple[int, int]], lines: tuple[int, int]) -> Places:
    """Return the characters (n, 2), half-open, of all runs of lines."""
    fewest, most = lines
    runs = []
    for k, (begin, _) in enumerate(spans):
        last_lines = spans[k + fewest - 1 : k + most]
        runs += [(begin, end) for _, end in last_lines]
    return np.array(runs, np.int64).reshape(-1, 2)


def _ranked(
    vectors: Matrix, sides: Sequence[Places], chosen: SentenceOptions, histogram: Places
) -> tuple[Places, F8, Places]:
    """Return the best windows for each source window: characters (n, 4), similarity, rank."""
    source, target = sides
    source_starts, target_starts = (side[:, 0] / side[-1, 1] for side in sides)
    low, high = chosen.band
    most = max(chosen.per_window, _RANKS[-1])
    farthest = np.inf if chosen.near_diagonal is None else chosen.near_diagonal
    n = len(source)
    ranked = [np.zeros((0, 6))]
    for row, _, values in products(vectors, np.arange(n), np.arange(n, n + len(target))):
        near = np.abs(target_starts - source_starts[row]) <= farthest
        histogram += candidates.histogram_of(values[near])
        inside = np.flatnonzero(near & (values >= low) & (values <= high))
        kept = inside[best(values[inside], most)]
        window = np.broadcast_to(source[row], (len(kept), 2))
        ranks = np.arange(1, len(kept) + 1)
        ranked.append(np.column_stack((window, target[kept], values[kept], ranks)))
    whole = np.concatenate(ranked)
    return whole[:, :4].astype(np.int64), whole[:, 4], whole[:, 5].astype(np.int64)


def _shared(spans: Places, span: Places) -> F8:
    """Return the shared characters of each span (n, 2) and another one, divided by their union."""
    shared = np.minimum(spans[:, 1], span[1]) - np.maximum(spans[:, 0], span[0])
    union = np.maximum(spans[:, 1], span[1]) - np.minimum(spans[:, 0], span[0])
    shares: F8 = np.maximum(shared, 0) / union
    return shares


def _both_share(spans: Places, other: Places) -> F8:
    """Return the smaller one of the shares of both sides (n, 4)."""
    return np.minimum(_shared(spans[:, :2], other[:2]), _shared(spans[:, 2:], other[2:]))


def _apart(spans: Places, values: F8) -> B1:
    """Return which candidates overlap no more similar one, that is kept, on both sides."""
    order = best(values, len(values))
    kept = np.ones(len(order), bool)
    for k, place in enumerate(order):
        if kept[place]:
            rest = order[k + 1 :]
            kept[rest] &= _both_share(spans[rest], spans[place]) <= _OVERLAP
    return kept


def _candidate(
    documents: TextPair, number: int, span: Places, similarity: float, rank: int
) -> TextPair:
    """Return a candidate with the attributes of its documents, its places, similarity and rank."""
    known = documents.attributes.items()
    attributes = {name: text for name, text in known if name not in SIDES}
    attributes["extracted_from"] = documents.id
    attributes["similarity"] = f"{similarity:.4f}"
    attributes["rank"] = str(rank)
    whole = (documents.source, documents.target)
    parts = []
    for side, text, (begin, end) in zip(SIDES, whole, span.reshape(2, 2), strict=True):
        attributes[f"{side}_start"] = str(begin)
        attributes[f"{side}_end"] = str(end)
        attributes[f"{side}_line"] = str(1 + text.count("\n", 0, begin))
        parts.append(text[begin:end])
    source, target = parts
    return TextPair(f"{documents.id}/c{number}", source, target, attributes)


def _sampled(
    pairs: Sequence[TextPair], size: int, chosen: SentenceOptions, notes: list[str]
) -> list[TextPair]:
    """Draw as many pairs from each bin of similarity; note bins that run dry."""
    bins = chosen.bins or BINS
    drawn = candidates.drawn_by_bins(pairs, bins, chosen.seed)
    sizes = Counter(number for _, number, _ in drawn)
    share = -(-size // max(1, len(sizes)))
    first, last = candidates.bin_of(chosen.band, bins)
    dry = sum(count < share for count in sizes.values())
    if dry:
        notes.append(
            f"{min(len(pairs), size)} of {size} drawn: {dry} of {len(sizes)} bins have fewer than "
            f"{share} candidates; {last - first + 1 - len(sizes)} more have none"
        )
    return [pairs[place] for place in sorted(place for *_, place in drawn[:size])]


def _known(gold: Iterable[SentencePair]) -> dict[str, list[Places]]:
    """Return the places (4,) of known pairs, by document; those without places under no name."""
    known: defaultdict[str, list[Places]] = defaultdict(list)
    for pair in gold:
        attributes = pair.attributes
        names = ["beg1", "end1", "beg2", "end2"]
        document = f"{attributes.get('doc1')}~{attributes.get('doc2')}"
        if _PLACES[0] in attributes:
            names = _PLACES
            document = attributes.get("extracted_from", "")
        texts = [attributes.get(name, "") for name in names]
        places = [int(text) for text in texts if text.isdecimal()]
        if len(places) < len(names):
            document = ""
        known[document].append(np.array(places))
    if known.keys() == {""}:
        raise OptionError(
            "no gold pair has its places in the documents (source_start, ... as exported from "
            "extraction, or the context of turku)"
        )
    return dict(known)


def _rank(place: Places, sides: Sequence[Places], spans: Places, ranks: Places) -> int:
    """Return the best rank of a candidate at this place, or why there is none."""
    halves = zip(sides, place.reshape(2, 2), strict=True)
    if not all((_shared(side, half) >= _HIT).any() for side, half in halves):
        return _BEYOND
    return int(ranks[_both_share(spans, place) >= _HIT].min(initial=_MISSED))


def _recall(ranks: Sequence[int], elsewhere: Mapping[str, Sequence[Places]]) -> list[Table]:
    """Return the shares of known pairs that are found; no table if none are known."""
    if not ranks and not elsewhere:
        return []
    rows: list[list[Cell]] = []
    for rank in (*_RANKS, _MISSED):
        what = f"found at rank {rank} or better"
        if rank == _MISSED:
            what = "in reach of some window"
        hits = sum(reached <= rank for reached in ranks)
        share = hits / len(ranks) if ranks else np.nan
        rows.append([what, hits, share])
    columns = [Column("", key="what"), Column("number", "count"), Column("share", "percent")]
    without = len(elsewhere.get("", ()))
    others = sum(map(len, elsewhere.values())) - without
    note = (
        f"{len(ranks)} gold pairs; left out: {others} of other documents, {without} without place"
    )
    return [Table("Gold pairs", columns, rows, note, "recall")]
