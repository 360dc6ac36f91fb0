"""Examine a file: what is odd in it, and which base and direction its links fit."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from alignkit.arrays import TokenArrays, Vocabulary
from alignkit.corpus import Corpus, SentencePair
from alignkit.formats import Finding, Reading, ReadOptions, open_reading, read_pairs
from alignkit.formats.record import RawAnnotation, Record

__all__ = ["Examination", "Fit", "compare_texts", "examine"]

_FEW = 20  # links; with fewer nothing can be said about base and direction
_MOST_KEPT = 10_000  # findings of a kind; more are only counted
_BLOCK = 4096  # sentence pairs whose links are looked at together
_LARGEST = 2**31 - 1


@dataclass
class Fit:
    """Tell how the links of a file look under one base and direction.

    Parameters
    ----------
    base
        The number of the first word.
    transposed
        Whether links are taken as written target first.
    outside
        Links that lie outside their sentence pair.
    equal
        Links that join words equal after casefold (names, numbers, punctuation, cognates): under
        the right base and direction there are clearly more of them than under a wrong one.
    """

    base: int
    transposed: bool
    outside: int = 0
    equal: int = 0


@dataclass
class Examination:
    """Hold what was found in a file.

    Parameters
    ----------
    path, format
        What was examined.
    base, transposed
        What was declared, or is the format's custom.
    records
        Sentence pairs in the file; `refused` of them are broken.
    links, sure
        Links as written, of all annotators; `sure` of them are sure.
    findings
        What is odd, with file and line; of each kind no more than ten thousand are kept.
    counts
        How often each kind of finding occurs.
    fits
        How the links look under each base and direction; `outside` and `equal` need the words.
    has_text
        Whether the words of at least one pair are known.
    corpus
        What could be read, mended: no duplicates, no links out of range. Empty unless kept.
    lines
        File and line of each pair of the corpus, by its id.
    """

    path: str
    format: str
    base: int
    transposed: bool
    records: int = 0
    refused: int = 0
    links: int = 0
    sure: int = 0
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    fits: list[Fit] = field(default_factory=list)
    has_text: bool = False
    corpus: Corpus = field(default_factory=Corpus)
    lines: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        """Whether nothing odd was found."""
        return not self.counts

    def observe(self, finding: Finding) -> None:
        """Count a finding, and keep it while there are not too many of its kind."""
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= _MOST_KEPT:
            self.findings.append(finding)


def examine(
    path: str,
    *,
    format: str,
    options: ReadOptions,
    keep: bool = True,
    most: int | None = None,
) -> Examination:
    """Read a file leniently and tell all that is odd in it.

    Parameters
    ----------
    path, format
        The file or folder, and its format.
    options
        What was declared of it. Broken records are left out and links out of range dropped, each
        a finding.
    keep
        Whether to keep the sentence pairs; without them memory hardly grows with the file.
    most
        How many sentence pairs to look at; None looks at all.

    Raises
    ------
    FormatError
        If the file cannot be read at all.
    """
    lenient = replace(options, lenient=True, drop_out_of_range=True)
    found = Examination(path, format, 0, options.transpose)
    kind, plain = open_reading(path, format=format, options=lenient)
    found.base = plain.base
    found.fits = [Fit(base, turned) for base in (0, 1) for turned in (False, True)]
    watch = _Watch(found)
    reading = _Watched(path, lenient, base=kind.base, observe=found.observe, watch=watch.record)
    # pairs that the kernel of a line format reads are plain: the record need not be looked at
    plainly = kind.blocks is None or most is not None
    pairs = reading.pairs(kind.parse(reading)) if plainly else read_pairs(kind, reading)
    with closing(pairs):
        kept = list(_look_over(islice(pairs, most), reading, watch, keep))
    watch.flush()
    found.corpus = Corpus(kept)
    found.refused = reading.refused
    found.records = reading.read + reading.refused
    if not found.records:
        found.observe(Finding("empty file", "there are no sentence pairs in it", path))
    _judge_fits(found)
    found.findings.sort(key=lambda finding: (finding.path, finding.line or 0))
    return found


class _Watched(Reading):
    """Show each record to the doctor before a sentence pair is made of it."""

    def __init__(self, *words: Any, watch: Callable[[Record], None], **options: Any) -> None:
        super().__init__(*words, **options)
        self._watch = watch
        self.built: SentencePair | None = None
        self.place = ("", 0)

    def build(self, record: Record) -> SentencePair | None:
        """Make a sentence pair of a record, and remember that it was made here."""
        self._watch(record)
        self.built = super().build(record)
        self.place = (record.path or self.path, record.line)
        return self.built


def _look_over(
    pairs: Iterator[SentencePair], reading: _Watched, watch: _Watch, keep: bool
) -> Iterator[SentencePair]:
    """Count repeated ids; yield the pairs if they are to be kept."""
    found = watch.found
    seen: set[str] = set()
    numbered = 0  # ids 1, 2, 3, ... need no memory
    for count, pair in enumerate(pairs, 1):
        if pair is reading.built:
            path, line = reading.place
        else:
            path, line = reading.path, count
            watch.pair(pair, line)
        if numbered == count - 1 and pair.id == str(count):
            numbered = count
        elif pair.id in seen or _is_number(pair.id, numbered):
            message = f"{pair.id!r} names an earlier pair too"
            found.observe(Finding("repeated id", message, path, line))
        else:
            seen.add(pair.id)
        if keep:
            found.lines.setdefault(pair.id, (path, line))
            yield pair


def _is_number(id: str, most: int) -> bool:
    number = int(id) if id.isascii() and id.isdecimal() and len(id) < 19 else 0
    return 0 < number <= most and id == str(number)


class _Watch:
    """Look at all links as written, a block of sentence pairs at a time."""

    def __init__(self, found: Examination) -> None:
        self.found = found
        self._words = Vocabulary()
        self._forget()

    def _forget(self) -> None:
        self._points: list[bytes] = []  # links of each pair, as written or as read
        self._as_read: list[bool] = []
        self._texts: list[tuple[Sequence[str] | None, Sequence[str] | None]] = []

    def record(self, record: Record) -> None:
        """Take the links of a record as written."""
        path = record.path or self.found.path
        numbers: list[int] = []
        for name, raw in record.annotations.items():
            self._take(raw, numbers)
            if raw.aligned and not raw.links:
                self._note_empty(name, record.id, raw.path or path, record.line)
        self._add(_packed(numbers), False, record.source, record.target)
        self._look_at_words(record.id, record.source, record.target, path, record.line)

    def _take(self, raw: RawAnnotation, numbers: list[int]) -> None:
        for link in raw.links:
            if link.status == "none":
                continue
            self.found.links += 1
            self.found.sure += link.status == "sure"
            if link.i is not None and link.j is not None:
                numbers += (link.i, link.j)

    def pair(self, pair: SentencePair, line: int) -> None:
        """Take the links of a pair that came without a record."""
        parts = []
        for name, alignment in pair.alignments.items():
            points, flags = alignment.packed()
            self.found.links += len(flags)
            self.found.sure += flags.count(1)
            parts.append(points)
            if not points:
                self._note_empty(name, pair.id, self.found.path, line)
        self._add(b"".join(parts), True, pair.source, pair.target)
        self._look_at_words(pair.id, pair.source, pair.target, self.found.path, line)

    def _note_empty(self, name: str, id: str, path: str, line: int) -> None:
        message = f"pair {id!r} has no links by {name!r}"
        self.found.observe(Finding("empty alignment", message, path, line))

    def _look_at_words(
        self,
        id: str,
        source: Sequence[str] | None,
        target: Sequence[str] | None,
        path: str,
        line: int,
    ) -> None:
        self.found.has_text |= source is not None
        for side, tokens in (("source", source), ("target", target)):
            if tokens is not None and not tokens:
                message = f"pair {id!r} has no {side} words"
                self.found.observe(Finding("empty sentence", message, path, line))

    def _add(
        self,
        points: bytes,
        as_read: bool,
        source: Sequence[str] | None,
        target: Sequence[str] | None,
    ) -> None:
        if not points:
            return
        self._points.append(points)
        self._as_read.append(as_read)
        self._texts.append((source, target))
        if len(self._points) == _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Count how the links taken so far fit."""
        if not self._points:
            return
        found = self.found
        links = np.frombuffer(b"".join(self._points), np.int32).reshape(-1, 2).astype(np.int64)
        counts = [len(points) // 8 for points in self._points]
        pair = np.repeat(np.arange(len(counts)), counts)
        as_read = np.array(self._as_read)[pair]
        if found.transposed:
            links[as_read] = links[as_read][:, ::-1]
        links[as_read] += found.base
        tokens = [
            TokenArrays.pack((text[side] or () for text in self._texts), self._words)
            for side in (0, 1)
        ]
        ends = np.array(
            [[_LARGEST if side is None else len(side) for side in text] for text in self._texts]
        )[pair]
        known = np.array([None not in text for text in self._texts])[pair]
        for fit in found.fits:
            at = (links[:, ::-1] if fit.transposed else links) - fit.base
            outside = ((at < 0) | (at >= ends)).any(axis=1)
            fit.outside += int(np.count_nonzero(outside))
            both = np.flatnonzero(known & ~outside)
            source, target = (
                side.ids[side.offsets[pair[both]] + at[both, k]] for k, side in enumerate(tokens)
            )
            fit.equal += int((source == target).sum())
        self._forget()


def _packed(numbers: list[int]) -> bytes:
    try:
        return array("i", numbers).tobytes()
    except OverflowError:  # out of every range; it will be a finding
        return array("i", [min(number, _LARGEST) for number in numbers]).tobytes()


def _judge_fits(found: Examination) -> None:
    """Add a finding where another base or direction fits clearly better than the declared one."""
    if found.links < _FEW:
        return
    declared = next(
        fit for fit in found.fits if (fit.base, fit.transposed) == (found.base, found.transposed)
    )
    if not found.has_text:
        from_one = next(fit for fit in found.fits if fit.base == 1 and not fit.transposed)
        if found.base == 0 and from_one.outside == 0:
            message = "no link of the file uses word 0 on either side: are words counted from 1?"
            found.observe(Finding("suspicious base", message, found.path))
        return
    better = [fit for fit in found.fits if _fits_better(fit, declared, found.links)]
    if not better:
        return
    best = min(better, key=lambda fit: (fit.outside, -fit.equal))
    kind = "suspicious base" if best.base != found.base else "suspicious direction"
    turned = {False: ", source first", True: ", target first"}[best.transposed]
    message = (
        f"read from {best.base}{turned if best.transposed != found.transposed else ''}, "
        f"{best.outside} links lie outside and {best.equal} join equal words; as declared, "
        f"{declared.outside} and {declared.equal}"
    )
    found.observe(Finding(kind, message, found.path))


def _fits_better(fit: Fit, declared: Fit, links: int) -> bool:
    """Return whether a fit beats the declared one by more than chance and a stray link would."""
    fewer = declared.outside - fit.outside
    if fewer > max(2, links // 200):
        return True
    if fewer > 0:
        return fit.equal >= declared.equal
    return fewer == 0 and fit.equal > 1.5 * declared.equal + 5


def compare_texts(first: Examination, second: Examination) -> None:
    """Add to the second examination a finding for each token that differs from the first's.

    Pairs are told by their ids.
    """
    known = {pair.id: pair for pair in first.corpus}
    for pair in second.corpus:
        other = known.pop(pair.id, None)
        place = second.lines[pair.id]
        if other is None:
            message = f"pair {pair.id!r} is not in {first.path}"
            second.observe(Finding("pair of one file only", message, *place))
            continue
        for side in ("source", "target"):
            mine, theirs = getattr(pair, side), getattr(other, side)
            if mine is None or theirs is None or mine == theirs:
                continue
            message = f"pair {pair.id!r}: {_difference(side, theirs, mine)}"
            second.observe(Finding("texts differ", message, *place))
    for id in known:
        message = f"pair {id!r} is in {first.path} alone"
        second.observe(Finding("pair of one file only", message, second.path))


def _difference(side: str, first: Sequence[str], second: Sequence[str]) -> str:
    if len(first) != len(second):
        return f"{len(first)} and {len(second)} {side} words"
    k = next(k for k, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
    return f"{side} word {k} is {first[k]!r} in the first file and {second[k]!r} here"
