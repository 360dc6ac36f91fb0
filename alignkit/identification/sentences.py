"""Candidate pairs of sentences in pairs of documents: similar windows of lines."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alignkit._support.arguments import each
from alignkit._support.array_types import B1, F8
from alignkit._support.keywords import options_given, takes_options
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.identification import candidates
from alignkit.identification.candidates import BINS, Candidates, TextPair
from alignkit.identification.options import Matrix, SentenceKeywords, SentenceOptions
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
_RANKS = (1, 5, 10)  # of the table of recall
_LINE = re.compile(r"\S[^\n]*(?<=\S)")
_PLACES = [f"{side}_{end}" for side in SIDES for end in ("start", "end")]
_TURKU_PLACES = ["beg1", "end1", "beg2", "end2"]  # the attributes of pairs from the turku format


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
    chosen = options_given(SentenceOptions, candidate_sentences, options)
    recall = _Recall(each("gold", gold, SentencePair))
    texts = list(each("documents", documents, TextPair))
    divide = sentence_spans if chosen.sentences else _lines
    spans_of_pairs = [(divide(pair.source), divide(pair.target)) for pair in texts]
    units: list[str] = []
    for pair, spans in zip(texts, spans_of_pairs, strict=True):
        units += _texts_at(pair, *spans)
    if len(units) < 2:
        raise OptionError("the documents have fewer than two lines with words")
    vectors_of = fit(units, chosen)
    counts = Counter[str]()
    histogram = np.zeros(BINS, np.int64)
    pairs: list[TextPair] = []
    for pair, spans in zip(texts, spans_of_pairs, strict=True):
        source, target = (_windows(side, chosen.lines) for side in spans)
        if len(source) and len(target):
            ranked = _ranked(vectors_of(_texts_at(pair, source, target)), source, target, chosen)
        else:
            counts["pairs of documents with too few lines on a side"] += 1
            ranked = _NOTHING_RANKED
        recall.add(pair.id, source, target, ranked)
        histogram += ranked.histogram
        kept = np.flatnonzero(ranked.ranks <= chosen.per_window)
        apart = _apart(ranked.spans[kept], ranked.similarities[kept])
        counts["candidates that overlap a more similar one"] += int((~apart).sum())
        for number, k in enumerate(kept[apart], 1):
            pairs.append(_candidate(pair, number, ranked, k))
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
        more=recall.tables(),
    )


def _lines(text: str) -> list[tuple[int, int]]:
    """Return the span of characters of each line with words, half-open."""
    return [match.span() for match in _LINE.finditer(text)]


def _texts_at(
    pair: TextPair, source_spans: Iterable[Any], target_spans: Iterable[Any]
) -> list[str]:
    """Return the parts of both texts at these spans, those of the source first."""
    parts = [pair.source[begin:end] for begin, end in source_spans]
    return parts + [pair.target[begin:end] for begin, end in target_spans]


def _windows(spans: Sequence[tuple[int, int]], lines: tuple[int, int]) -> Places:
    """Return the spans (n, 2) of all runs of lines that are neither too short nor too long."""
    fewest, most = lines
    runs = []
    for k, (begin, _) in enumerate(spans):
        last_lines = spans[k + fewest - 1 : k + most]
        runs += [(begin, end) for _, end in last_lines]
    return np.array(runs, np.int64).reshape(-1, 2)


class _Ranked(NamedTuple):
    """The best target windows of each source window of two documents: n pairs of windows."""

    spans: Places  # (n, 4) begin and end of the source window, then of the target window
    similarities: F8
    ranks: Places  # of the target window for its source window, from 1
    histogram: Places  # how many of all windows that were compared are in each bin of similarity


_NOTHING_RANKED = _Ranked(
    np.zeros((0, 4), np.int64), np.zeros(0), np.zeros(0, np.int64), np.zeros(BINS, np.int64)
)


def _ranked(vectors: Matrix, source: Places, target: Places, chosen: SentenceOptions) -> _Ranked:
    """Rank the windows of the target for each window of the source; `vectors` has those of both."""
    # relative positions: where windows begin, by where the last one of their document ends
    source_starts = source[:, 0] / source[-1, 1]
    target_starts = target[:, 0] / target[-1, 1]
    low, high = chosen.band
    most = max(chosen.per_window, _RANKS[-1])  # recall looks at more than are kept
    farthest = np.inf if chosen.near_diagonal is None else chosen.near_diagonal
    n = len(source)
    spans = [_NOTHING_RANKED.spans]
    similarities = [_NOTHING_RANKED.similarities]
    ranks = [_NOTHING_RANKED.ranks]
    histogram = np.zeros(BINS, np.int64)
    for row, _, values in products(vectors, np.arange(n), np.arange(n, n + len(target))):
        near = np.abs(target_starts - source_starts[row]) <= farthest
        histogram += candidates.histogram_of(values[near])
        inside = np.flatnonzero(near & (values >= low) & (values <= high))
        kept = inside[best(values[inside], most)]
        source_span = np.broadcast_to(source[row], (len(kept), 2))
        spans.append(np.hstack((source_span, target[kept])))
        similarities.append(values[kept].astype(np.float64))
        ranks.append(np.arange(1, len(kept) + 1))
    return _Ranked(
        np.concatenate(spans), np.concatenate(similarities), np.concatenate(ranks), histogram
    )


def _shared(spans: Places, span: Places) -> F8:
    """Return the characters that each span (n, 2) shares with another one, as a share, (n,).

    The share is that of the characters from the first to the last of both.
    """
    shared = np.minimum(spans[:, 1], span[1]) - np.maximum(spans[:, 0], span[0])
    hull = np.maximum(spans[:, 1], span[1]) - np.minimum(spans[:, 0], span[0])
    shares: F8 = np.maximum(shared, 0) / hull
    return shares


def _both_share(spans: Places, other: Places) -> F8:
    """Return the smaller share of both sides, (n,), for pairs of spans (n, 4) and another one."""
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


def _candidate(documents: TextPair, number: int, ranked: _Ranked, k: int) -> TextPair:
    """Return a candidate with the attributes of its documents, its places, similarity and rank."""
    known = documents.attributes.items()
    attributes = {name: text for name, text in known if name not in SIDES}
    attributes["extracted_from"] = documents.id
    attributes["similarity"] = f"{ranked.similarities[k]:.4f}"
    attributes["rank"] = str(ranked.ranks[k])
    whole = (documents.source, documents.target)
    parts = []
    for side, text, (begin, end) in zip(SIDES, whole, ranked.spans[k].reshape(2, 2), strict=True):
        attributes[f"{side}_start"] = str(begin)
        attributes[f"{side}_end"] = str(end)
        attributes[f"{side}_line"] = str(1 + text.count("\n", 0, begin))
        parts.append(text[begin:end])
    source, target = parts
    return TextPair(f"{documents.id}/c{number}", source, target, attributes)


def _sampled(
    pairs: Sequence[TextPair], size: int, chosen: SentenceOptions, notes: list[str]
) -> list[TextPair]:
    """Draw the same number of pairs from each bin of similarity; note bins that have fewer."""
    bins = chosen.bins or BINS
    drawn = candidates.drawn_by_bins(pairs, bins, chosen.seed)
    sizes = Counter(number for _, number, _ in drawn)
    share = math.ceil(size / max(1, len(sizes)))
    small_bins = sum(count < share for count in sizes.values())
    if small_bins:
        first, last = candidates.bin_of(chosen.band, bins)
        empty_bins = last - first + 1 - len(sizes)
        notes.append(
            f"{min(len(pairs), size)} of {size} drawn: {small_bins} of {len(sizes)} bins have "
            f"fewer than {share} candidates; {empty_bins} more have none"
        )
    return [pairs[place] for place in sorted(place for *_, place in drawn[:size])]


class _Recall:
    """Known pairs, and how many of them the search finds.

    Raises
    ------
    OptionError : If there are known pairs, but none has its places in the documents.
    """

    def __init__(self, gold: Iterable[SentencePair]) -> None:
        # the spans (4,) of known pairs, by document
        self._known: defaultdict[str, list[Places]] = defaultdict(list)
        self._without_place = 0
        self._in_reach = 0  # how many have windows that cover them on both sides
        self._ranks: list[float] = []  # the best candidate that covers each; infinite if none does
        for pair in gold:
            document, texts = _place_of(pair)
            if document and all(map(str.isdecimal, texts)):
                self._known[document].append(np.array(list(map(int, texts))))
            else:
                self._without_place += 1
        if self._without_place and not self._known:
            raise OptionError(
                "no gold pair has its places in the documents (source_start, ... as exported from "
                "extraction, or the context of turku)"
            )

    def add(self, document: str, source: Places, target: Places, ranked: _Ranked) -> None:
        """Look for the known pairs of two documents among their windows and ranked candidates."""
        for place in self._known.pop(document, ()):
            source_hit = (_shared(source, place[:2]) >= _HIT).any()
            target_hit = (_shared(target, place[2:]) >= _HIT).any()
            self._in_reach += bool(source_hit and target_hit)
            covering = ranked.ranks[_both_share(ranked.spans, place) >= _HIT]
            self._ranks.append(min(covering.tolist(), default=math.inf))

    def tables(self) -> list[Table]:
        """Return the shares of known pairs that are found; no table if none are known."""
        number = len(self._ranks)
        elsewhere = sum(map(len, self._known.values()))
        if not number + elsewhere + self._without_place:
            return []
        hits = {}
        for rank in _RANKS:
            hits[f"found at rank {rank} or better"] = sum(best <= rank for best in self._ranks)
        hits["in reach of some window"] = self._in_reach
        rows: list[list[Cell]] = []
        for what, count in hits.items():
            rows.append([what, count, count / number if number else np.nan])
        columns = [Column("", key="what"), Column("number", "count"), Column("share", "percent")]
        note = (
            f"{number} gold pairs; left out: {elsewhere} of other documents, "
            f"{self._without_place} without place"
        )
        return [Table("Gold pairs", columns, rows, note, "recall")]


def _place_of(pair: SentencePair) -> tuple[str, list[str]]:
    """Return the documents of a known pair, and its four places there as texts."""
    attributes = pair.attributes
    if _PLACES[0] in attributes:
        document = attributes.get("extracted_from", "")
        names = _PLACES
    else:
        document = f"{attributes.get('doc1')}~{attributes.get('doc2')}"
        names = _TURKU_PLACES
    return document, [attributes.get(name, "") for name in names]
