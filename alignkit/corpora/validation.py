"""Examine a file: find problems in it, and the base and direction that its links fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from alignkit._support.wording import how_many
from alignkit.corpora.join import SeenIds
from alignkit.corpora.labelled import pair_judgments
from alignkit.corpora.leaks import EQUAL, REVERSED
from alignkit.errors import FormatError
from alignkit.io.base_checks import Fit, Fits, Suspicion
from alignkit.io.hints import with_shift
from alignkit.io.options import ReadOptions
from alignkit.io.reading import open_reading, read_pairs
from alignkit.io.records import Reading, Record
from alignkit.io.shifted_texts import shift_of
from alignkit.io.text_files import Finding
from alignkit.model.alignment import SIDES
from alignkit.model.corpus import Corpus, compared_texts
from alignkit.model.labels import SCHEMES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import code_point, spaces_beyond_ascii

if TYPE_CHECKING:
    from alignkit.io.format import Format
    from alignkit.model.trees import Tree

_Texts = tuple[tuple[str, ...], tuple[str, ...]]

_MOST_KEPT = 10_000  # findings of a kind; more are only counted
# a tree over more words than _FLAT_WORDS is flat if it is less deep than this, with preterminals
_FLAT_WORDS = 8
_LEAST_DEPTH = 4

_Place = tuple[str, int]  # a file and a line


@dataclass
class Examination:
    """The findings of a file.

    Parameters
    ----------
    path, format : What was examined.
    base, transposed : The base and direction that were declared, or are the format's custom.
    records, refused : The sentence pairs in the file, and how many of them are broken.
    links, sure : The links as written, of all annotators, and how many of them are sure.
    nulls : The words that are explicitly aligned to nothing.
    findings, counts : The problems, and how often each kind occurs. Of a kind that occurs very
        often, only the first ones are kept.
    fits : For each base and direction, how the links fit the sentences.
    trees : How many trees there are, by side and name.
    tree_counts : What a command that adds trees from other files counts.
    spaces : The white space in words, by code point.
    has_text : Whether the words of at least one pair are known.
    suspicion : Why the base or the direction may be another one.
    at : The number of the pair that is being read or checked.
    pairs : The numbers of pairs with each kind of finding, of those kept.
    corpus : The sentence pairs, if they are kept.
    lines : The file and line of each of them, by its id.
    """

    path: str
    format: str
    base: int
    transposed: bool
    records: int = 0
    refused: int = 0
    links: int = 0
    sure: int = 0
    nulls: int = 0
    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    fits: list[Fit] = field(default_factory=list)
    trees: Counter[tuple[str, str]] = field(default_factory=Counter)
    tree_counts: Counter[str] = field(default_factory=Counter)
    spaces: Counter[str] = field(default_factory=Counter)
    has_text: bool = False
    suspicion: Suspicion | None = None
    at: int = 1
    pairs: dict[str, list[int]] = field(default_factory=dict)
    corpus: Corpus = field(default_factory=Corpus)
    lines: dict[str, _Place] = field(default_factory=dict)

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
            message = (
                f"pair {id!r}: {side} tree {name!r} over {len(tree.words)} words is "
                f"{how_many(tree.depth, 'node')} deep"
            )
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
    kind, first_reading = open_reading(path, format=format, options=lenient)
    report = Examination(path, format, first_reading.base, options.transpose)
    fits = Fits(report.base, options.transpose)
    watch = _Watch(report, fits)
    reading = _WatchedReading(path, lenient, base=kind.base, observe=report.observe, watch=watch)
    kept: list[SentencePair] = []
    with closing(reading.placed_pairs(kind)) as pairs:
        try:
            for count, (pair, place) in enumerate(pairs, 1):
                watch.check_pair(pair, *place)
                report.at = count + 1  # what is observed from now on is about the next pair
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
    report.fits = fits.each
    report.has_text = fits.has_text
    report.links = fits.links
    report.nulls = fits.nulls
    report.suspicion = fits.suspicion()
    _observe_file(report, options)
    report.findings.sort(key=lambda finding: (finding.path, finding.line or 0))
    return report


def _observe_file(report: Examination, options: ReadOptions) -> None:
    """Add the findings about a file as a whole, once it is read."""
    if not report.records:
        report.observe(Finding("empty file", "it has no sentence pairs", report.path))
    suspicion = report.suspicion
    if suspicion is not None:
        report.observe(Finding(suspicion.kind, suspicion.message, report.path))
    if report.counts["link out of range"]:
        shift = shift_of(report.path, report.format, options)
        if shift is not None:
            report.observe(Finding("row shift", str(shift), report.path, shift.line))


class _WatchedReading(Reading):
    """A reading that passes each record to a watch before making a sentence pair."""

    def __init__(
        self,
        path: str,
        options: ReadOptions,
        *,
        base: int,
        observe: Callable[[Finding], None],
        watch: _Watch,
    ) -> None:
        super().__init__(path, options, base=base, observe=observe)
        self._watch = watch
        self._built: SentencePair | None = None

    def build(self, record: Record) -> SentencePair | None:
        """Make a sentence pair from a record, and remember that it was made here."""
        self._watch.count_record(record)
        self._built = super().build(record)
        return self._built

    def placed_pairs(self, kind: Format) -> Generator[tuple[SentencePair, _Place], None, None]:
        """Yield each pair with its file and line; all are counted by the watch."""
        has_kernel = kind.blocks is not None
        if has_kernel:
            pairs = read_pairs(kind, self)
        else:
            pairs = self.pairs(kind.parse(self))
        with closing(pairs):
            for number, pair in enumerate(pairs, 1):
                if pair is self._built:
                    yield pair, self.place
                else:  # a kernel made it from line `number`, without a record
                    self._watch.count_plain_pair(pair, number)
                    yield pair, (self.path, number)


class _Watch:
    """Counts what is in each sentence pair, and adds findings about it.

    Each pair is counted once, as `count_record` or as `count_plain_pair`, and then checked.
    """

    def __init__(self, report: Examination, fits: Fits) -> None:
        self.report = report
        self._fits = fits
        self._seen = SeenIds()
        self._repeats = _Repeats()

    def count_record(self, record: Record) -> None:
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

    def count_plain_pair(self, pair: SentencePair, line: int) -> None:
        """Count a pair that has no record."""
        packed = {name: alignment.packed() for name, alignment in pair.alignments.items()}
        for name, (points, flags) in packed.items():
            self.report.sure += flags.count(1)
            if not points:
                self._note_empty(name, pair.id, self.report.path, line)
        self._fits.read([points for points, _ in packed.values()], pair.source, pair.target)
        self._check_words(pair, self.report.path, line, needed=False)

    def check_pair(self, pair: SentencePair, path: str, line: int) -> None:
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
        # if not `needed`, the words of both sides may be missing, but not those of one
        words_expected = needed or pair.source is not None or pair.target is not None
        for side in SIDES:
            tokens = getattr(pair, side)
            if tokens is None:
                if words_expected:
                    message = f"pair {pair.id!r}: the {side} words are missing"
                    self.report.observe(Finding("words missing", message, path, line))
                continue
            for word in tokens:
                if not word.isascii():
                    self.report.spaces.update(map(code_point, spaces_beyond_ascii(word)))
            if not tokens:
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
            words = getattr(pair, side)
            first_words = getattr(other, side)
            if words is None or first_words is None or words == first_words:
                continue
            if len(words) != len(first_words):
                what = f"{len(first_words)} and {len(words)} {side} words"
            else:
                k = 0
                while first_words[k] == words[k]:
                    k += 1
                what = (
                    f"{side} word {k} is {first_words[k]!r} in the first file and {words[k]!r} here"
                )
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


class _Judged(NamedTuple):
    """An earlier judgment of the same texts."""

    id: str  # of the pair
    judgment: str


class _Repeats:
    """Finds pairs that an annotator judged twice, with different labels."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, _Texts], _Judged] = {}  # by annotator and texts

    def add(self, pair: SentencePair) -> list[tuple[str, str]]:
        """Check a pair; return the kind and the message of each finding."""
        judgments = pair_judgments(pair)
        if not judgments:
            return []
        texts = compared_texts(pair)
        if texts is None:
            return []
        odd = []
        for name, judgment in judgments.items():
            earlier = self._seen.get((name, texts))
            if earlier is not None:
                kind = EQUAL
                expected = earlier.judgment
            else:
                earlier = self._seen.get((name, texts[::-1]))
                self._seen[name, texts] = _Judged(pair.id, judgment)
                if earlier is None:
                    continue
                kind = REVERSED
                expected = _flipped(earlier.judgment)
            if judgment != expected:
                message = (
                    f"pair {pair.id[:40]!r} is {judgment[:40]!r} by {name[:40]!r}, but pair "
                    f"{earlier.id[:40]!r} is {earlier.judgment[:40]!r}"
                )
                odd.append((f"{kind} pairs judged differently", message))
        return odd
