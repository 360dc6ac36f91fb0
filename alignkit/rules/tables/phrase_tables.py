"""Count the phrase pairs of a corpus, with their probabilities, in bounded memory.

Phrase pairs are counted as records: the numbers of the words of one phrase, 0, those of the other.
Sorted by target phrase, they give the counts of target phrases; swapped and sorted by source
phrase, those of source phrases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice
from tempfile import gettempdir

import numpy as np

from alignkit._support.arguments import check_arguments, each
from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import readonly
from alignkit._support.wording import escaped
from alignkit.errors import MissingTextError, OptionError
from alignkit.io.inputs import Choice
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.phrase_arrays import PhraseArrays, longest_span
from alignkit.model.phrases import extract_phrases
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.files.fields import number_text
from alignkit.rules.tables import table_kernel as kernel
from alignkit.rules.tables.runs import ROOM, Block, Runs, WordPool, offsets_of, ranked

_PAIRS = 4096  # sentence pairs at a time
_PHRASES = 1 << 16  # phrase pairs at a time


@dataclass(frozen=True, eq=False)
class TableBlock:
    """E entries of a table of phrases: pairs of phrases, each with three numbers."""

    symbols: I4
    offsets: I8
    shown: I8  # (E,): which of the records are entries
    values: F8  # (E, 3)

    def rows(self, words: Sequence[str]) -> Iterator[tuple[Words, Words, list[float]]]:
        """Yield both phrases of each entry and its numbers; `words` has the words by symbol."""
        symbols = self.symbols.tolist()
        offsets = self.offsets.tolist()
        for k, values in zip(self.shown.tolist(), self.values.tolist(), strict=True):
            middle = symbols.index(0, offsets[k])
            first = tuple([words[symbol] for symbol in symbols[offsets[k] : middle]])
            second = tuple([words[symbol] for symbol in symbols[middle + 1 : offsets[k + 1]]])
            yield first, second, values


Words = tuple[str, ...]


def entry_lines(
    blocks: Iterable[TableBlock], words: WordPool, number_text: Callable[[float], str]
) -> Iterator[str]:
    """Yield entries as lines, many lines in a text; `words` in order."""
    for block in blocks:
        different, places = np.unique(block.values, return_inverse=True)
        numbers = WordPool.of(map(number_text, different.tolist()))
        text = kernel.write(
            readonly(block.symbols),
            readonly(block.offsets),
            block.shown,
            readonly(words.text),
            words.ends,
            numbers.text,
            numbers.ends,
            places.reshape(-1, 3),
        )
        yield text.tobytes().decode()


table_lines = partial(entry_lines, number_text=number_text)


def with_totals(runs: Runs) -> Iterator[tuple[Block, F8]]:
    """Yield the records of `Runs` with the sum of the first values over the same first phrase."""
    parts: list[F8] = []
    known = 0  # groups before the last one
    open_sum = 0.0  # of the last one so far
    for block, numbers in _grouped(runs):
        sums = np.bincount(numbers - known, block.values[:, 0]).astype(np.float64)
        sums[0] += open_sum
        parts.append(sums[:-1])
        known = int(numbers[-1])
        open_sum = float(sums[-1])
    totals = np.concatenate([*parts, [open_sum]])
    del parts
    for block, numbers in _grouped(runs):
        yield block, totals[numbers]


def whole_groups(runs: Runs) -> Iterator[tuple[Block, I8]]:
    """Yield the records of `Runs` in complete groups by first phrase, with the group of each."""
    held: list[tuple[Block, I8]] = []  # the last group so far
    held_group = -1
    for block, numbers in _grouped(runs):
        group = int(numbers[-1])
        begin = int(np.searchsorted(numbers, group))  # of the last group, which may go on
        if begin == 0 and held and group == held_group:
            held.append((block, numbers))
            continue
        yield _joined([*held, (block.part(0, begin), numbers[:begin])])
        held = [(block.part(begin, len(block)), numbers[begin:])]
        held_group = group
    if held:
        yield _joined(held)


def _joined(parts: Sequence[tuple[Block, I8]]) -> tuple[Block, I8]:
    """Return blocks with the groups of their records as one."""
    blocks, numbers = zip(*parts, strict=True)
    return Block.concatenate(blocks), np.concatenate(numbers)


def _grouped(runs: Runs) -> Iterator[tuple[Block, I8]]:
    """Yield the records of `Runs`, and the number of the first phrase of each."""
    before = readonly(np.empty(0, np.int32))
    last = -1
    for block in runs.merge():
        symbols = readonly(block.symbols)
        numbers = kernel.number_groups(symbols, readonly(block.offsets), before, last)
        yield block, numbers
        tail = symbols[block.offsets[-2] :]
        end = int(tail.argmin()) + 1
        before = readonly(tail[:end])
        last = int(numbers[-1])


@dataclass
class PhraseTally:
    """The numbers of different phrase pairs, and of those that were too rare."""

    different: int = 0
    left_out: int = 0


def turned(
    by_target: Runs, ranks: I4, min_count: int, tally: PhraseTally
) -> Iterator[kernel.Records]:
    """Yield records, source phrase first; values are its count and that of the target phrase."""
    for block, totals in with_totals(by_target):
        kept = block.values[:, 0] >= min_count
        tally.different += len(kept)
        tally.left_out += len(kept) - int(kept.sum())
        symbols, offsets = kernel.exchange(
            readonly(block.symbols), readonly(block.offsets), kept.view(np.uint8), ranks
        )
        yield symbols, offsets, np.stack([block.values[:, 0], totals], axis=1)


def table_blocks(by_source: Runs) -> Iterator[TableBlock]:
    """Yield the entries of a table from the output of `turned`, by source, then target phrase."""
    for block, totals in with_totals(by_source):
        last = block.symbols[block.offsets[1:] - 1]
        shown = np.flatnonzero(last)  # a phrase alone holds the count of what was left out
        counts, of_target = block.values[shown].T
        values = np.stack([counts, counts / totals[shown], counts / of_target], axis=1)
        yield TableBlock(block.symbols, block.offsets, shown, values)


@dataclass(frozen=True, slots=True)
class PhraseEntry:
    """An entry of a phrase table.

    Parameters
    ----------
    source, target : The words of both phrases.
    count : The number of times that they are a phrase pair.
    p_target, p_source : P(target phrase | source phrase), P(source phrase | target phrase).

    Examples
    --------
    >>> print(PhraseEntry(("the", "house"), ("das", "haus"), 2, 1.0, 0.5))
    the house ||| das haus, 2 times: p(target | source) 1, p(source | target) 0.5
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    count: int
    p_target: float
    p_source: float

    def __str__(self) -> str:
        source = " ".join(self.source)
        target = " ".join(self.target)
        return (
            f"{source} ||| {target}, {self.count} times: p(target | source) "
            f"{self.p_target:.4g}, p(source | target) {self.p_source:.4g}"
        )


@dataclass(frozen=True)
class TableSettings:
    """The choice of phrase pairs to count; see `extract_phrases`."""

    links: str = "possible"
    kind: str = "all"
    loose: bool = False
    max_length: int | None = None
    ignore_identical: bool = False


class _Lexicon(Vocabulary):
    @property
    def words(self) -> Sequence[str]:
        """The words by number."""
        return list(self._numbers)


class PhraseCounts(ExitStack):
    """Count phrase pairs, and return them with their probabilities."""

    def __init__(
        self, settings: TableSettings | None = None, *, folder: str | None = None, room: int = ROOM
    ) -> None:
        super().__init__()
        self._settings = settings or TableSettings()
        self._folder = folder or gettempdir()
        self._room = room
        self._lexicon = _Lexicon(casefold=False)
        self._by_target = self.enter_context(Runs(self._folder, room=room))
        self.occurrences = 0
        self.tally = PhraseTally()

    def add(self, aligned: Iterable[tuple[SentencePair, Alignment]]) -> None:
        """Count the phrase pairs of sentence pairs."""
        pairs = iter(aligned)
        while block := list(islice(pairs, _PAIRS)):
            for pair, _ in block:
                if not pair.has_text:
                    raise MissingTextError(f"pair {pair.id!r} has no words; phrases need words")
            words = [pair.words for pair, _ in block]
            exact = pack_words(words, self._lexicon)
            if self._settings.ignore_identical:
                folded = pack_words(words, Vocabulary())
            else:
                folded = exact
            source, target = folded
            links = LinkArrays.pack(alignment for _, alignment in block)
            settings = vars(self._settings)
            phrases = extract_phrases(links, source=source, target=target, **settings)
            self._add(phrases, *exact)

    def _add(self, phrases: PhraseArrays, source: TokenArrays, target: TokenArrays) -> None:
        """Count phrase pairs, given the words of their sentence pairs."""
        pairs = np.repeat(np.arange(len(phrases)), np.diff(phrases.offsets))
        self.occurrences += len(pairs)
        words = readonly(source.ids), readonly(source.offsets)
        others = readonly(target.ids), readonly(target.offsets)
        for start in range(0, len(pairs), _PHRASES):
            spans = phrases.spans[start : start + _PHRASES]
            source_lengths = spans[:, 1] - spans[:, 0]
            target_lengths = spans[:, 3] - spans[:, 2]
            offsets = offsets_of(source_lengths + target_lengths + 1)
            symbols = np.empty(offsets[-1], np.int32)
            kernel.pack(spans, pairs[start : start + _PHRASES], *words, *others, offsets, symbols)
            self._by_target.add(symbols, offsets, np.ones((len(spans), 1)))

    def blocks(self, *, min_count: int = 1) -> Iterator[TableBlock]:
        """Yield the entries, sorted by source phrase, then by target phrase, as bytes in UTF-8."""
        by_source = self.enter_context(Runs(self._folder, sums=2, room=self._room))
        self.tally = PhraseTally()
        _, ranks = ranked(self.words)
        for records in turned(self._by_target, ranks, min_count, self.tally):
            by_source.add(*records)
        self._by_target.close()
        yield from table_blocks(by_source)

    def entries(self, *, min_count: int = 1) -> Iterator[PhraseEntry]:
        """Yield the entries one at a time; see `blocks`."""
        words = ["", *sorted(self.words)]
        for block in self.blocks(min_count=min_count):
            for source, target, (count, p_target, p_source) in block.rows(words):
                yield PhraseEntry(source, target, int(count), p_target, p_source)

    def lines(self, *, min_count: int = 1) -> Iterator[str]:
        """Yield the entries as lines, many in a text: source, target, count, p(t|s), p(s|t)."""
        words = WordPool.of(map(escaped, sorted(self.words)), "strict")
        yield from table_lines(self.blocks(min_count=min_count), words)

    def records(self) -> Iterator[Block]:
        """Yield the counted records, target phrases first; words are numbered as in `words`."""
        return self._by_target.merge()

    @property
    def words(self) -> Sequence[str]:
        """The words by number; the numbers in records are higher by 1."""
        return self._lexicon.words


def phrase_table(
    pairs: Iterable[SentencePair],
    annotator: str | None = None,
    *,
    links: str = "possible",
    kind: str = "all",
    loose: bool = False,
    max_length: int | None = None,
    ignore_identical: bool = False,
    min_count: int = 1,
) -> Iterator[PhraseEntry]:
    """Yield the phrase table of a corpus, sorted by source phrase, then by target phrase.

    Parameters
    ----------
    pairs : A corpus, or its sentence pairs one at a time; they are not held in memory.
    annotator : The annotator whose alignments are used; None if only one annotator aligned the
        pairs. Pairs without alignment are ignored.
    links, kind, loose, max_length, ignore_identical : The choice of phrase pairs, as for
        `alignkit.extract_phrases`.
    min_count : The least count of an entry; rarer ones still count for the probabilities.

    Raises
    ------
    OptionError : If an option is invalid, or several annotators aligned a pair and none is named.
    UnknownNameError : If an option or annotator is unknown.
    MissingTextError : If a pair has no words.

    Notes
    -----
    p(t | s) = count(s, t) / sum over t' of count(s, t'), and p(s | t) likewise: relative
    frequencies, each occurrence of a phrase pair counting once [1]_.

    References
    ----------
    .. [1] Koehn, Och & Marcu 2003, Statistical phrase-based translation, NAACL, eq. 4.

    Examples
    --------
    >>> pairs = [SentencePair("1", ["la", "maison"], ["the", "house"],
    ...                       {"A": Alignment.parse("0-0 1-1")}),
    ...          SentencePair("2", ["la"], ["it"], {"A": Alignment.parse("0-0")})]
    >>> for entry in phrase_table(pairs, max_length=1):
    ...     print(entry)
    la ||| it, 1 times: p(target | source) 0.5, p(source | target) 1
    la ||| the, 1 times: p(target | source) 0.5, p(source | target) 1
    maison ||| house, 1 times: p(target | source) 1, p(source | target) 1
    """
    check_arguments(phrase_table, locals())
    settings = TableSettings(links, kind, loose, max_length, ignore_identical)
    longest_span(links, max_length)
    if min_count < 1:
        raise OptionError(f"`min_count` is {min_count}; it must be 1 or more")
    aligned = Choice("pairs", annotator).annotated(each("pairs", pairs, SentencePair))

    def entries() -> Iterator[PhraseEntry]:
        with PhraseCounts(settings) as counts:
            counts.add(aligned)
            yield from counts.entries(min_count=min_count)

    return entries()


def pack_words(
    sentences: Iterable[tuple[Words, Words]], vocabulary: Vocabulary
) -> tuple[TokenArrays, TokenArrays]:
    """Return the arrays of the source and of the target words of sentence pairs."""
    source, target = zip(*sentences, strict=True)
    return TokenArrays.pack(source, vocabulary), TokenArrays.pack(target, vocabulary)
