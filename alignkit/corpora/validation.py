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
from alignkit.io.format import Format, prepare
from alignkit.io.hints import with_shift
from alignkit.io.options import ReadOptions
from alignkit.io.reading import read_pairs
from alignkit.io.records import Reading, Record
from alignkit.io.shifted_texts import shift_of
from alignkit.io.text_files import Finding
from alignkit.model.alignment import SIDES
from alignkit.model.corpus import Corpus, compared_texts
from alignkit.model.labels import SCHEMES
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.texts import code_point, spaces_beyond_ascii

if TYPE_CHECKING:
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
    kind, _ = prepare(path, format, lenient)
    reading = _Examined(path, lenient, kind, format)
    report = reading.report
    fits = reading.fits
    kept: list[SentencePair] = []
    with closing(reading.placed_pairs()) as pairs:
        try:
            for count, (pair, place) in enumerate(pairs, 1):
                reading.check_pair(pair, *place)
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
    suspicion = fits.suspicion()
    report.suspicion = suspicion
    if not report.records:
        reading.note("empty file", "it has no sentence pairs")
    if suspicion is not None:
        reading.note(suspicion.kind, suspicion.message)
    if report.counts["link out of range"]:
        shift = shift_of(path, format, options)
        if shift is not None:
            reading.note("row shift", str(shift), shift.line)
    report.findings.sort(key=lambda finding: (finding.path, finding.line or 0))
    return report


class _Examined(Reading):
    """A reading that counts what is in each sentence pair, and notes what is odd about it.

    Each pair is counted once, as `count_record` or as `count_plain_pair`, and then checked.
    """

    def __init__(self, path: str, options: ReadOptions, kind: Format, format: str) -> None:
        super().__init__(path, options, base=kind.base)
        self.report = Examination(path, format, self.base, options.transpose)
        self._observe = self.report.observe
        self._kind = kind
        self.fits = Fits(self.base, options.transpose)
        self._ids = SeenIds()
        self._built: SentencePair | None = None
        self._judged: dict[tuple[str, _Texts], _Judged] = {}  # by annotator and texts

    def build(self, record: Record) -> SentencePair | None:
        """Make a sentence pair from a record, and remember that it was made here."""
        self.count_record(record)
        self._built = super().build(record)
        return self._built

    def placed_pairs(self) -> Generator[tuple[SentencePair, _Place], None, None]:
        """Yield each pair with its file and line, once it is counted."""
        has_kernel = self._kind.blocks is not None
        if has_kernel:
            pairs = read_pairs(self._kind, self)
        else:
            pairs = self.pairs(self._kind.parse(self))
        with closing(pairs):
            for number, pair in enumerate(pairs, 1):
                if pair is self._built:
                    yield pair, self.place
                else:  # a kernel made it from line `number`, without a record
                    self.count_plain_pair(pair, number)
                    yield pair, (self.path, number)

    def count_record(self, record: Record) -> None:
        """Count a record as written."""
        for name, raw in record.annotations.items():
            self.report.sure += sum(link.status == "sure" for link in raw.links)
            if raw.aligned and not raw.links:
                self._note_empty(name, record.id, record.line, raw.path or record.path)
        self.fits.record(record)
        judged = any(raw.judgment and not raw.aligned for raw in record.annotations.values())
        words_needed = judged and self.report.format != "judgments"  # such tables may lack texts
        self._check_words(record, record.line, record.path, needed=words_needed)

    def count_plain_pair(self, pair: SentencePair, line: int) -> None:
        """Count a pair that has no record."""
        packed = {name: alignment.packed() for name, alignment in pair.alignments.items()}
        for name, (points, flags) in packed.items():
            self.report.sure += flags.count(1)
            if not points:
                self._note_empty(name, pair.id, line)
        self.fits.read([points for points, _ in packed.values()], pair.source, pair.target)
        self._check_words(pair, line)

    def check_pair(self, pair: SentencePair, path: str, line: int) -> None:
        """Check the id, trees and judgments of a pair."""
        if pair.id in self._ids:
            self.note("repeated id", f"{pair.id!r} is also the id of an earlier pair", line, path)
        self._ids.add(pair.id)
        for side in SIDES:
            for name, tree in getattr(pair, f"{side}_trees").items():
                self.report.add_tree(pair.id, side, name, tree, path, line)
        judgments = pair_judgments(pair)
        texts = compared_texts(pair) if judgments else None
        if texts is not None:
            for name, judgment in judgments.items():
                self._check_judgment(name, texts, _Judged(pair.id, judgment), path, line)

    def _check_judgment(
        self, name: str, texts: _Texts, judged: _Judged, path: str, line: int
    ) -> None:
        """Note a judgment that contradicts an earlier one of the same texts."""
        earlier = self._judged.get((name, texts))
        if earlier is not None:
            kind = EQUAL
            expected = earlier.judgment
        else:
            earlier = self._judged.get((name, texts[::-1]))
            self._judged[name, texts] = judged
            if earlier is None:
                return
            kind = REVERSED
            expected = _flipped(earlier.judgment)
        if judged.judgment != expected:
            message = (
                f"pair {judged.id[:40]!r} is {judged.judgment[:40]!r} by {name[:40]!r}, but pair "
                f"{earlier.id[:40]!r} is {earlier.judgment[:40]!r}"
            )
            self.note(f"{kind} pairs judged differently", message, line, path)

    def _note_empty(self, name: str, id: str, line: int, path: str = "") -> None:
        """Note an alignment without links."""
        self.note("empty alignment", f"pair {id!r} has no links by {name!r}", line, path)

    def _check_words(
        self, pair: SentencePair | Record, line: int, path: str = "", *, needed: bool = False
    ) -> None:
        """Note sentences that are missing or empty, and white space in words."""
        # if not `needed`, the words of both sides may be missing, but not those of one
        words_expected = needed or pair.source is not None or pair.target is not None
        for side in SIDES:
            tokens = getattr(pair, side)
            if tokens is None:
                if words_expected:
                    message = f"pair {pair.id!r}: the {side} words are missing"
                    self.note("words missing", message, line, path)
                continue
            for word in tokens:
                if not word.isascii():
                    self.report.spaces.update(map(code_point, spaces_beyond_ascii(word)))
            if not tokens:
                self.note("empty sentence", f"pair {pair.id!r} has no {side} words", line, path)


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
