"""Examine a file: find problems in it, and the base and direction that its links fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from alignkit._support.wording import how_many
from alignkit.corpora.join import SeenIds
from alignkit.corpora.labelled import pair_judgments
from alignkit.corpora.split import EQUAL, REVERSED
from alignkit.errors import FormatError
from alignkit.io.base_checks import Fit, Fits, Suspicion, shift_of
from alignkit.io.hints import with_shift
from alignkit.io.options import ReadOptions
from alignkit.io.reading import open_reading, read_pairs
from alignkit.io.records import Reading, Record
from alignkit.io.text_files import Finding
from alignkit.model.alignment import SIDES
from alignkit.model.corpus import Corpus, compared_texts
from alignkit.model.labels import SCHEMES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import code_point, spaces_in

if TYPE_CHECKING:
    from alignkit.model.trees import Tree

_Texts = tuple[tuple[str, ...], tuple[str, ...]]

_MOST_KEPT = 10_000  # findings of a kind; more are only counted
# a parse of more words than these is that deep, preterminals too
_FLAT_WORDS = 8
_LEAST_DEPTH = 4


@dataclass
class Examination:
    """The findings of a file."""

    path: str  # what was examined
    format: str
    base: int  # what was declared, or is the format's custom
    transposed: bool
    records: int = 0  # sentence pairs in the file; refused of them are broken
    refused: int = 0
    links: int = 0  # links as written, of all annotators; sure of them are sure
    sure: int = 0
    nulls: int = 0  # of words that are explicitly aligned to nothing
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # how often each kind of finding occurs
    fits: list[Fit] = field(default_factory=list)
    trees: Counter[tuple[str, str]] = field(default_factory=Counter)
    tree_counts: Counter[str] = field(default_factory=Counter)
    spaces: Counter[str] = field(default_factory=Counter)  # in words, by code point; see `texts`
    has_text: bool = False  # whether the words of at least one pair are known
    suspicion: Suspicion | None = None
    at: int = 1  # the number of the pair that is read
    pairs: dict[str, list[int]] = field(default_factory=dict)  # with each kind of finding kept
    corpus: Corpus = field(default_factory=Corpus)
    lines: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def declared(self) -> tuple[int, bool]:
        """The base and direction used for reading the file."""
        return self.base, self.transposed

    @property
    def clean(self) -> bool:
        """Whether there are no findings."""
        return not self.counts

    @property
    def spaces_in_words(self) -> str:
        """What white space the words contain, and how other tools divide at it."""
        counts = ", ".join(f"{n} x {name}" for name, n in sorted(self.spaces.items()))
        return (
            f"{counts}; tools that use Python's split() divide there too: for links of "
            "such tools, use `token_separators=unicode`"
        )

    def add_tree(
        self, id: str, side: str, name: str, tree: Tree, path: str, line: int | None = None
    ) -> None:
        """Count a tree, and note if it is flat."""
        self.trees[side, name] += 1
        if len(tree.words) > _FLAT_WORDS and tree.depth < _LEAST_DEPTH:
            message = f"over {len(tree.words)} words is {how_many(tree.depth, 'node')} deep"
            message = f"pair {id!r}: {side} tree {name!r} {message}"
            self.observe(Finding("flat tree", message, path, line))

    def observe(self, finding: Finding) -> None:
        """Count a finding, and keep it unless there are too many of its kind."""
        self.counts[finding.kind] += finding.times
        if self.counts[finding.kind] <= _MOST_KEPT:
            self.findings.append(finding)
            self.pairs.setdefault(finding.kind, []).append(self.at)


def examine(
    path: str,
    *,
    format: str,
    options: ReadOptions,
    keep: bool = True,
    tell: Callable[[int], None] | None = None,
) -> Examination:
    """Read a file leniently and report all problems.

    Broken records are left out and links out of range are dropped; each is a finding. Without
    `keep`, sentence pairs are not kept, and memory hardly grows with the file. `tell` gets the
    number of each pair.
    """
    lenient = replace(options, lenient=True, drop_out_of_range=True)
    report = Examination(path, format, 0, options.transpose)
    kind, plain = open_reading(path, format=format, options=lenient)
    report.base = plain.base
    fits = Fits(plain.base, options.transpose)
    watch = _Watch(report, fits)
    reading = _Watched(path, lenient, base=kind.base, observe=report.observe, watch=watch.record)
    # pairs that the kernel of a line format reads are plain: the record need not be looked at
    plainly = kind.blocks is None
    if plainly:
        pairs = reading.pairs(kind.parse(reading))
    else:
        pairs = read_pairs(kind, reading)
    kept: list[SentencePair] = []
    with closing(pairs):
        try:
            for count, pair in enumerate(pairs, 1):
                if pair is reading.built:
                    place = reading.place
                else:
                    place = (reading.path, count)
                    watch.pair(pair, count)
                watch.look_over(pair, *place)
                report.at = count + 1
                if tell is not None:
                    tell(count)
                if keep:
                    report.lines.setdefault(pair.id, place)
                    kept.append(pair)
        except FormatError as error:  # texts of several lengths, say
            raise with_shift(error, path, format, options) from None
    report.corpus = Corpus(kept)
    report.refused = reading.refused
    report.records = reading.read + reading.refused
    if not report.records:
        report.observe(Finding("empty file", "it has no sentence pairs", path))
    report.suspicion = fits.suspicion()
    if report.suspicion is not None:
        report.observe(Finding(report.suspicion.kind, report.suspicion.message, path))
    dropped = report.counts["link out of range"]
    if dropped and (shift := shift_of(path, format, options)) is not None:
        report.observe(Finding("row shift", str(shift), path, shift.line))
    report.fits = fits.each
    report.has_text = fits.has_text
    report.links = fits.links
    report.nulls = fits.nulls
    report.findings.sort(key=lambda finding: (finding.path, finding.line or 0))
    return report


class _Watched(Reading):
    """A reading that passes each record to a watch before making a sentence pair."""

    def __init__(self, *words: Any, watch: Callable[[Record], None], **options: Any) -> None:
        super().__init__(*words, **options)
        self._watch = watch
        self.built: SentencePair | None = None

    def build(self, record: Record) -> SentencePair | None:
        """Make a sentence pair from a record, and remember that it was made here."""
        self._watch(record)
        self.built = super().build(record)
        return self.built


class _Watch:
    """Counts of links as written, and of empty parts, for each sentence pair."""

    def __init__(self, report: Examination, fits: Fits) -> None:
        self.report = report
        self._fits = fits
        self._seen, self._repeats = SeenIds(), _Repeats()

    def record(self, record: Record) -> None:
        """Count a record as written."""
        path = record.path or self.report.path
        for name, raw in record.annotations.items():
            self.report.sure += sum(link.status == "sure" for link in raw.links)
            if raw.aligned and not raw.links:
                self._note_empty(name, record.id, raw.path or path, record.line)
        self._fits.record(record)
        judged = any(raw.judgment and not raw.aligned for raw in record.annotations.values())
        words_needed = judged and self.report.format != "judgments"  # such tables may lack texts
        self._check_words(record, path, record.line, words_needed)

    def pair(self, pair: SentencePair, line: int) -> None:
        """Count a pair that has no record."""
        packed = {name: alignment.packed() for name, alignment in pair.alignments.items()}
        for name, (points, flags) in packed.items():
            self.report.sure += flags.count(1)
            if not points:
                self._note_empty(name, pair.id, self.report.path, line)
        self._fits.read([points for points, _ in packed.values()], pair.source, pair.target)
        self._check_words(pair, self.report.path, line, needed=False)

    def look_over(self, pair: SentencePair, path: str, line: int) -> None:
        """Check the id, trees and judgments of a pair."""
        if pair.id in self._seen:
            message = f"{pair.id!r} is also the id of an earlier pair"
            self.report.observe(Finding("repeated id", message, path, line))
        self._seen.add(pair.id)
        for side in SIDES:
            for name, tree in getattr(pair, f"{side}_trees").items():
                self.report.add_tree(pair.id, side, name, tree, path, line)
        for kind, message in self._repeats.add(pair):
            self.report.observe(Finding(kind, message, path, line))

    def _note_empty(self, name: str, id: str, path: str, line: int) -> None:
        """Add a finding about an alignment without links."""
        message = f"pair {id!r} has no links by {name!r}"
        self.report.observe(Finding("empty alignment", message, path, line))

    def _check_words(self, pair: SentencePair | Record, path: str, line: int, needed: bool) -> None:
        """Note sentences that are missing or empty, and white space in words."""
        alone = (pair.source is None) != (pair.target is None)
        for side in SIDES:
            tokens = getattr(pair, side)
            if tokens is None and (alone or needed):  # else there are only links
                message = f"pair {pair.id!r}: the {side} words are missing"
                self.report.observe(Finding("words missing", message, path, line))
            for word in tokens or ():
                if not word.isascii():
                    self.report.spaces.update(map(code_point, spaces_in(word)))
            if tokens is not None and not tokens:
                message = f"pair {pair.id!r} has no {side} words"
                self.report.observe(Finding("empty sentence", message, path, line))


def compare_texts(first: Examination, second: Examination) -> None:
    """Add findings to the second examination for pairs with other tokens in the first."""
    known = {pair.id: pair for pair in first.corpus}
    for pair in second.corpus:
        other = known.pop(pair.id, None)
        place = second.lines[pair.id]
        if other is None:
            message = f"pair {pair.id!r} is not in {first.path}"
            second.observe(Finding("pair of one file only", message, *place))
            continue
        for side in SIDES:
            mine = getattr(pair, side)
            theirs = getattr(other, side)
            if mine is None or theirs is None or mine == theirs:
                continue
            if len(mine) != len(theirs):
                what = f"{len(theirs)} and {len(mine)} {side} words"
            else:
                words = enumerate(zip(theirs, mine, strict=True))
                k = next(k for k, (word, other_word) in words if word != other_word)
                what = f"{side} word {k} is {theirs[k]!r} in the first file and {mine[k]!r} here"
            second.observe(Finding("texts differ", f"pair {pair.id!r}: {what}", *place))
    for id in known:
        message = f"pair {id!r} is only in {first.path}"
        second.observe(Finding("pair of one file only", message, second.path))


def _flipped(judgment: str) -> str:
    """Return a judgment for exchanged texts, by the first scheme that changes it."""
    for scheme in SCHEMES.values():
        if judgment in scheme.judgments and scheme.exchanged:
            flipped = scheme.flip(judgment)
            if flipped != judgment:
                return flipped
    return judgment


class _Repeats:
    """Finds pairs that an annotator judged twice, with different labels."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, _Texts], tuple[str, str]] = {}

    def add(self, pair: SentencePair) -> list[tuple[str, str]]:
        """Check a pair; return the kind and the message of each finding."""
        judged = pair_judgments(pair)
        if not judged or (texts := compared_texts(pair)) is None:
            return []
        odd = []
        for name, judgment in judged.items():
            kind = EQUAL
            earlier = self._seen.get((name, texts))
            if earlier is None:
                kind = REVERSED
                earlier = self._seen.get((name, texts[::-1]))
                self._seen[name, texts] = pair.id, judgment
            if earlier is None:
                continue
            earlier_id, earlier_judgment = earlier
            if kind == EQUAL:
                expected = earlier_judgment
            else:
                expected = _flipped(earlier_judgment)
            if judgment != expected:
                message = (
                    f"pair {pair.id[:40]!r} is {judgment[:40]!r} by {name[:40]!r}, but pair "
                    f"{earlier_id[:40]!r} is {earlier_judgment[:40]!r}"
                )
                odd.append((f"{kind} pairs judged differently", message))
        return odd
