"""Candidate pairs of sentences in pairs of documents: similar windows of lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alignkit._support.arguments import check_arguments
from alignkit.errors import OptionError
from alignkit.identification.candidates import (
    BINS,
    Candidates,
    candidate_pair,
    check_band,
    in_bins,
)
from alignkit.identification.similarity import Similarity, best, products
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.columns import Column
from alignkit.tables.table import Table
from alignkit.version import __version__

_OVERLAP = 0.3  # shared characters of two windows, of all characters of both
_HIT = 0.5
_RANKS = (1, 5, 10)


class TextPair(NamedTuple):
    """Two documents in which paraphrases are looked for."""

    id: str
    source: str
    target: str
    attributes: Mapping[str, str]


class Window(NamedTuple):
    """Neighbouring lines of a text: half-open characters, and the number of the first line."""

    begin: int
    end: int
    line: int


class TextPlace(NamedTuple):
    """Where a gold pair is: the id of the documents, and the characters of both sides."""

    document: str
    source: tuple[int, int]
    target: tuple[int, int]


class _Found(NamedTuple):
    """A candidate: its windows, their similarity, and its rank for its source window."""

    source: Window
    target: Window
    similarity: float
    rank: int


@dataclass(frozen=True, eq=False)
class SentenceCandidates(Candidates):
    """Candidate pairs of sentences, and how many gold pairs they find."""

    recall: Table | None = None

    def tables(self) -> list[Table]:
        """Return the counts, the histogram, and the recall if gold was given."""
        return [*super().tables(), *([] if self.recall is None else [self.recall])]


def windows(text: str, lines: tuple[int, int] = (1, 3)) -> list[Window]:
    r"""Return all runs of neighbouring lines; blank lines do not count.

    Examples
    --------
    >>> [text[w.begin:w.end] for text in ["a\n\nb\n"] for w in windows(text, (1, 2))]
    ['a', 'a\n\nb', 'b']
    """
    least, most = lines
    spans = [match.span() for match in re.finditer(r"\S[^\n]*(?<=\S)", text)]
    numbers = [1 + text.count("\n", 0, begin) for begin, _ in spans]
    return [
        Window(spans[k][0], spans[k + size - 1][1], numbers[k])
        for k in range(len(spans))
        for size in range(least, most + 1)
        if k + size <= len(spans)
    ]


def candidate_sentences(
    documents: Iterable[TextPair],
    *,
    lines: tuple[int, int] = (1, 3),
    per_window: int = 5,
    least: float | None = 0.1,
    most: float | None = 0.9,
    near_diagonal: float | None = None,
    sample: int | None = None,
    gold: Sequence[TextPlace] = (),
    similarity: Similarity | None = None,
    seed: int = 0,
) -> SentenceCandidates:
    """Return pairs of similar windows of lines, the best ones for each source window.

    A candidate that overlaps a more similar one on both sides (more than 30% of the characters of
    both windows) is dropped.

    Parameters
    ----------
    lines : The least and most lines of a window.
    per_window : How many target windows each source window keeps.
    least, most : The band of similarity.
    near_diagonal : The largest difference between the relative positions of two windows, from 0 to
        1.
    sample : Draw so many candidates, as many from each bin of .05 of similarity.
    gold : Places of known pairs: report how many of them are found.
    """
    check_arguments(
        candidate_sentences, locals(), apart=("documents", "lines", "gold", "similarity")
    )
    if not 1 <= lines[0] <= lines[1]:
        raise OptionError(f"windows of {lines[0]}-{lines[1]} lines: expected 1 or more")
    if per_window < 1:
        raise OptionError("`per_window` is 1 or more")
    low, high = check_band(least, most)
    texts = list(documents)
    similarity = similarity or Similarity()
    units = [
        text[w.begin : w.end] for pair in texts for text in pair[1:3] for w in windows(text, (1, 1))
    ]
    if len(units) < 2:
        raise OptionError("the documents have no two lines with words")
    vectors_of = similarity.fit(units)
    counts: Counter[str] = Counter()
    histogram = np.zeros(BINS, int)
    kept: list[tuple[TextPair, int, _Found]] = []
    recall = _Recall(gold)
    for pair in texts:
        sides = [windows(text, lines) for text in pair[1:3]]
        if not all(sides):
            counts["documents without lines"] += 1
            continue
        every = [
            text[w.begin : w.end] for text, side in zip(pair[1:3], sides, strict=True) for w in side
        ]
        n = len(sides[0])
        rows = products(vectors_of(every), np.arange(n), np.arange(n, len(every)))
        ends = [side[-1].end for side in sides]
        targets = np.array([w.begin for w in sides[1]]) / ends[1]
        ranked: list[_Found] = []
        for row, _, values in rows:
            window = sides[0][row]
            allowed = (values >= low) & (values <= high)
            if near_diagonal is not None:
                allowed &= np.abs(targets - window.begin / ends[0]) <= near_diagonal
            histogram += in_bins(values)
            places = np.nonzero(allowed)[0]
            places = places[best(values[places], max(per_window, _RANKS[-1] if gold else 0))]
            ranked += [
                _Found(window, sides[1][k], float(values[k]), rank)
                for rank, k in enumerate(places.tolist(), 1)
            ]
        recall.count(pair, sides, ranked)
        chosen = _apart([each for each in ranked if each.rank <= per_window], counts)
        kept += [(pair, number, each) for number, each in enumerate(chosen, 1)]
    rng = np.random.default_rng(seed)
    notes = [
        "chosen by letters: pairs worded differently are missed; give gold places to see how many"
    ]
    if sample is not None:
        kept = _sampled(kept, sample, rng, notes)
    pairs = [_pair(*each) for each in kept]
    diagonal = "any" if near_diagonal is None else f"{near_diagonal:g}"
    signature = (
        f"similarity:{similarity}|lines:{lines[0]}-{lines[1]}|per-window:{per_window}"
        f"|band:{low:g}-{high:g}|near-diagonal:{diagonal}|sample:{sample or 'all'}|seed:{seed}"
        f"|version:{__version__}"
    )
    about = (f"{len(pairs)} candidates in {len(texts)} pairs of documents",)
    return SentenceCandidates(
        pairs, about, +counts, histogram, signature, tuple(notes), recall.table() if gold else None
    )


def share_of_characters(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the shared characters of two spans, divided by those of their union."""
    shared = min(first[1], second[1]) - max(first[0], second[0])
    return max(0, shared) / (max(first[1], second[1]) - min(first[0], second[0]))


def _apart(ranked: Sequence[_Found], counts: Counter[str]) -> list[_Found]:
    """Drop candidates that overlap a more similar one on both sides; return the rest in order."""
    kept: list[_Found] = []
    by_line: defaultdict[int, list[_Found]] = defaultdict(list)  # of source lines, in blocks
    for each in sorted(ranked, key=lambda pair: -pair.similarity):
        near = range(each.source.begin // 256 - 1, each.source.end // 256 + 2)
        if any(
            share_of_characters(each.source[:2], other.source[:2]) > _OVERLAP
            and share_of_characters(each.target[:2], other.target[:2]) > _OVERLAP
            for block in near
            for other in by_line[block]
        ):
            counts["dropped: overlaps a more similar candidate"] += 1
            continue
        kept.append(each)
        for block in range(each.source.begin // 256, each.source.end // 256 + 1):
            by_line[block].append(each)
    return sorted(kept, key=lambda pair: (pair.source, pair.rank))


def _pair(documents: TextPair, number: int, each: _Found) -> SentencePair:
    attributes = dict(documents.attributes)
    places: dict[str, str] = {}
    words = []
    spans = zip(("source", "target"), documents[1:3], each[:2], strict=True)
    for side, text, window in spans:
        places |= {f"{side}_start": str(window.begin), f"{side}_end": str(window.end)}
        places[f"{side}_line"] = str(window.line)
        words.append(text[window.begin : window.end])
    return candidate_pair(
        f"{documents.id}/c{number}", words[0], words[1],
        **(attributes | {"extracted_from": documents.id, "similarity": f"{each.similarity:.4f}", "rank": str(each.rank)}
           | places),
    )  # fmt: skip


def _sampled(
    kept: list[tuple[TextPair, int, _Found]], size: int, rng: np.random.Generator, notes: list[str]
) -> list[tuple[TextPair, int, _Found]]:
    """Draw as many candidates from each bin of similarity; bins that run dry are reported."""
    bins: list[list[int]] = [[] for _ in range(BINS)]
    for k, (_, _, each) in enumerate(kept):
        bins[min(int(max(each.similarity, 0) * BINS + 1e-6), BINS - 1)].append(k)
    used = [places for places in bins if places]
    shuffled = [rng.permutation(places).tolist() for places in used]
    drawn: list[int] = []
    while len(drawn) < size and any(shuffled):
        for places in shuffled:
            if places and len(drawn) < size:
                drawn.append(places.pop())
    share = -(-size // max(1, len(used)))
    dry = sum(len(places) < share for places in used)
    if dry or len(drawn) < size:
        notes.append(
            f"{len(drawn)} of {size} drawn; {dry} of {len(used)} bins have fewer than {share} "
            f"candidates, and {BINS - len(used)} have none"
        )
    return [kept[k] for k in sorted(drawn)]


class _Recall:
    """Counts the gold places that candidates find, by rank."""

    def __init__(self, gold: Sequence[TextPlace]) -> None:
        self._gold: defaultdict[str, list[TextPlace]] = defaultdict(list)
        for place in gold:
            self._gold[place.document].append(place)
        self._known = self._reachable = 0
        self._hits = dict.fromkeys(_RANKS, 0)
        self._total = len(gold)

    def count(self, pair: TextPair, sides: list[list[Window]], ranked: Sequence[_Found]) -> None:
        """Count the gold places of two documents."""
        for place in self._gold.pop(pair.id, ()):
            self._known += 1
            spans = place.source, place.target
            self._reachable += all(
                any(share_of_characters(window[:2], span) >= _HIT for window in side)
                for side, span in zip(sides, spans, strict=True)
            )
            rank = min(
                (
                    each.rank for each in ranked
                    if share_of_characters(each.source[:2], place.source) >= _HIT
                    and share_of_characters(each.target[:2], place.target) >= _HIT
                ),
                default=_RANKS[-1] + 1,
            )  # fmt: skip
            for k in _RANKS:
                self._hits[k] += rank <= k

    def table(self) -> Table:
        """Return the shares of gold places that are found."""
        rows = [
            ["reachable by some window", self._reachable],
            *([f"found at rank {k} or better", n] for k, n in self._hits.items()),
        ]
        known = self._known
        columns = [
            Column("", key="what"),
            Column("number", "count"),
            Column("share", "percent", unit="%"),
        ]
        note = f"{known} gold places; {self._total - known} more are in other documents"
        shares = [[*row, row[1] / known if known else np.nan] for row in rows]
        return Table("Gold places", columns, shares, note, "recall")


def gold_places(pairs: Iterable[SentencePair]) -> Iterator[TextPlace]:
    """Yield the places of pairs: of an export of extraction, or of turku's context."""
    for pair in pairs:
        said = pair.attributes
        try:
            if "source_start" in said:
                spans = [
                    (int(said[f"{s}_start"]), int(said[f"{s}_end"])) for s in ("source", "target")
                ]
                document = said.get("extracted_from", "")
            else:
                spans = [(int(said[f"beg{k}"]), int(said[f"end{k}"])) for k in "12"]
                document = f"{said['doc1']}~{said['doc2']}"
        except (KeyError, ValueError):
            raise OptionError(
                f"pair {pair.id!r} has no places in documents (source_start, ... of an export, or "
                "the context of turku)"
            ) from None
        yield TextPlace(document, spans[0], spans[1])
