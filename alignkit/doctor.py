"""Examine a file: what is odd in it, and which base and direction its links fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from alignkit.corpus import Corpus, SentencePair
from alignkit.formats import Finding, ReadOptions, open_reading
from alignkit.formats.record import RawLink, Record

__all__ = ["Examination", "Fit", "compare_texts", "examine"]

_FEW = 20  # links; with fewer nothing can be said about base and direction
_MOST_KEPT = 10_000  # findings of a kind; more are only counted


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

    def add(
        self, link: RawLink, source: Sequence[str] | None, target: Sequence[str] | None
    ) -> None:
        """Count one link as written."""
        if link.i is None or link.j is None:
            return
        i, j = link.i - self.base, link.j - self.base
        if self.transposed:
            i, j = j, i
        if (
            min(i, j) < 0
            or (source is not None and i >= len(source))
            or (target is not None and j >= len(target))
        ):
            self.outside += 1
        elif source is not None and target is not None:
            self.equal += source[i].casefold() == target[j].casefold()


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
    links
        Links as written, of all annotators.
    findings
        What is odd, with file and line; of each kind no more than ten thousand are kept.
    counts
        How often each kind of finding occurs.
    fits
        How the links look under each base and direction; `outside` and `equal` need the words.
    has_text
        Whether the words of at least one pair are known.
    corpus
        What could be read, mended: no duplicates, no links out of range.
    """

    path: str
    format: str
    base: int
    transposed: bool
    records: int = 0
    refused: int = 0
    links: int = 0
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    fits: list[Fit] = field(default_factory=list)
    has_text: bool = False
    corpus: Corpus = field(default_factory=Corpus)

    @property
    def clean(self) -> bool:
        """Whether nothing odd was found."""
        return not self.counts

    def observe(self, finding: Finding) -> None:
        """Count a finding, and keep it while there are not too many of its kind."""
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= _MOST_KEPT:
            self.findings.append(finding)


def examine(path: str, *, format: str, options: ReadOptions) -> Examination:
    """Read a file leniently and tell all that is odd in it.

    Parameters
    ----------
    path, format
        The file or folder, and its format.
    options
        What was declared of it. Broken records are left out and links out of range dropped, each
        a finding.

    Raises
    ------
    FormatError
        If the file cannot be read at all.
    """
    lenient = replace(options, lenient=True, drop_out_of_range=True)
    found = Examination(path, format, 0, options.transpose)
    kind, reading = open_reading(path, format=format, options=lenient, observe=found.observe)
    found.base = reading.base
    found.fits = [Fit(base, turned) for base in (0, 1) for turned in (False, True)]
    watched = (_watch(record, found) for record in kind.parse(reading))
    pairs = list(_look_over(reading.pairs(watched), found))
    found.corpus = Corpus(pairs)
    found.refused = reading.refused
    found.records = reading.read + reading.refused
    _judge_fits(found)
    found.findings.sort(key=lambda finding: (finding.path, finding.line or 0))
    return found


def _watch(record: Record, found: Examination) -> Record:
    path = record.path or found.path
    found.has_text |= record.source is not None
    for name, raw in record.annotations.items():
        for link in raw.links:
            if link.status == "none":
                continue
            found.links += 1
            for fit in found.fits:
                fit.add(link, record.source, record.target)
        if not raw.links:
            message = f"pair {record.id!r} has no links by {name!r}"
            found.observe(Finding("empty alignment", message, path, record.line))
    for side, tokens in (("source", record.source), ("target", record.target)):
        if tokens is not None and not tokens:
            message = f"pair {record.id!r} has no {side} words"
            found.observe(Finding("empty sentence", message, path, record.line))
    return record


def _look_over(pairs: Iterator[SentencePair], found: Examination) -> Iterator[SentencePair]:
    seen: set[str] = set()
    for pair in pairs:
        if pair.id in seen:
            found.observe(
                Finding("repeated id", f"{pair.id!r} names an earlier pair too", found.path)
            )
        seen.add(pair.id)
        yield pair


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
    best = min(found.fits, key=lambda fit: (fit.outside, -fit.equal, fit is not declared))
    much = best.equal > 1.5 * declared.equal + 5
    if best is not declared and (best.outside < declared.outside or much):
        kind = "suspicious base" if best.base != found.base else "suspicious direction"
        message = (
            f"read from {best.base}{', target first' if best.transposed else ''}, "
            f"{best.outside} links lie outside and {best.equal} join equal words; as declared, "
            f"{declared.outside} and {declared.equal}"
        )
        found.observe(Finding(kind, message, found.path))


def compare_texts(first: Examination, second: Examination) -> None:
    """Add to the second examination a finding for each token that differs from the first's.

    Pairs are told by their ids.
    """
    known = {pair.id: pair for pair in first.corpus}
    for pair in second.corpus:
        other = known.pop(pair.id, None)
        if other is None:
            message = f"pair {pair.id!r} is not in {first.path}"
            second.observe(Finding("pair of one file only", message, second.path))
            continue
        for side in ("source", "target"):
            mine, theirs = getattr(pair, side), getattr(other, side)
            if mine is None or theirs is None or mine == theirs:
                continue
            message = f"pair {pair.id!r}: {_difference(side, theirs, mine)}"
            second.observe(Finding("texts differ", message, second.path))
    for id in known:
        message = f"pair {id!r} is in {first.path} alone"
        second.observe(Finding("pair of one file only", message, second.path))


def _difference(side: str, first: Sequence[str], second: Sequence[str]) -> str:
    if len(first) != len(second):
        return f"{len(first)} and {len(second)} {side} words"
    k = next(k for k, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
    return f"{side} word {k} is {first[k]!r} in the first file and {second[k]!r} here"
