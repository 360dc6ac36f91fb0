"""Count the phrase pairs of a corpus, with their probabilities, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from tempfile import gettempdir

import numpy as np
from numpy.typing import NDArray

from alignkit._support.arguments import check_arguments, each
from alignkit._support.jit import readonly
from alignkit._support.wording import escaped
from alignkit.errors import MissingTextError, OptionError
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary
from alignkit.model.coercion import Choice
from alignkit.model.phrases import PhraseArrays, extract_phrases, longest_span
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.tables import table_kernel as kernel
from alignkit.rules.tables.runs import ROOM, Block, Runs
from alignkit.rules.tables.table_kernel import number_groups


def with_totals(runs: Runs) -> Iterator[tuple[Block, NDArray[np.float64]]]:
    """Yield the records of `Runs` with the sum of the first values of all with the same phrase."""
    parts: list[NDArray[np.float64]] = []
    known = 0  # groups before the last one
    open_sum = 0.0  # of the last one so far
    for block, numbers in _grouped(runs):
        sums = np.bincount(numbers - known, block.values[:, 0]).astype(np.float64)
        sums[0] += open_sum
        parts.append(sums[:-1])
        known, open_sum = int(numbers[-1]), float(sums[-1])
    totals = np.concatenate([*parts, [open_sum]])
    del parts
    for block, numbers in _grouped(runs):
        yield block, totals[numbers]


def whole_groups(runs: Runs) -> Iterator[tuple[Block, NDArray[np.int64]]]:
    """Yield the records of `Runs` in whole groups by first phrase, with the group of each."""
    held: list[tuple[Block, NDArray[np.int64]]] = []
    for block, numbers in _grouped(runs):
        last = int(np.searchsorted(numbers, numbers[-1]))
        if last == 0 and held and held[-1][1][-1] == numbers[-1]:
            held.append((block, numbers))
            continue
        yield _joined([*held, (part_of(block, 0, last), numbers[:last])])
        held = [(part_of(block, last, len(block)), numbers[last:])]
    if held:
        yield _joined(held)


def part_of(block: Block, begin: int, end: int) -> Block:
    """Return some records of a block."""
    offsets = block.offsets[begin : end + 1]
    return Block(
        block.symbols[offsets[0] : offsets[-1]], offsets - offsets[0], block.values[begin:end]
    )


def _joined(parts: Sequence[tuple[Block, NDArray[np.int64]]]) -> tuple[Block, NDArray[np.int64]]:
    whole = joined([block for block, _ in parts])
    return whole, np.concatenate([numbers for _, numbers in parts])


def joined(blocks: Sequence[Block]) -> Block:
    """Return the records of some blocks, one after the other."""
    starts = np.cumsum([0, *(len(block.symbols) for block in blocks)])
    tails = [block.offsets[1:] + start for block, start in zip(blocks, starts, strict=False)]
    return Block(
        np.concatenate([block.symbols for block in blocks]),
        np.concatenate([np.zeros(1, np.int64), *tails]),
        np.concatenate([block.values for block in blocks]),
    )


def _grouped(runs: Runs) -> Iterator[tuple[Block, NDArray[np.int64]]]:
    before, last = readonly(np.empty(0, np.int32)), -1
    for block in runs.merge():
        symbols = readonly(block.symbols)
        numbers = number_groups(symbols, readonly(block.offsets), before, last)
        yield block, numbers
        tail = symbols[block.offsets[-2] :]
        before, last = readonly(tail[: int(tail.argmin()) + 1]), int(numbers[-1])


Records = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]
"""Symbols, offsets and values, as `Runs.add` takes them."""


@dataclass
class PhraseTally:
    """How many different phrase pairs there are, and how many were not frequent enough."""

    different: int = 0
    left_out: int = 0


@dataclass(frozen=True, eq=False)
class TableBlock:
    """E entries of a phrase table."""

    symbols: NDArray[np.int32]
    offsets: NDArray[np.int64]
    shown: NDArray[np.int64]  # (E,) int64: which of the records are entries
    counts: NDArray[np.float64]  # (E,) float64
    p_target: NDArray[np.float64]
    p_source: NDArray[np.float64]


def turned(
    by_target: Runs, ranks: NDArray[np.int32], min_count: int, tally: PhraseTally
) -> Iterator[Records]:
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
    """Yield the entries of a table from what `turned` gave, by source phrase, then by target."""
    for block, totals in with_totals(by_source):
        last = block.symbols[block.offsets[1:] - 1]
        shown = np.flatnonzero(last)  # a phrase alone holds the count of what was left out
        counts, of_target = block.values[shown].T
        shares = counts / totals[shown], counts / of_target
        yield TableBlock(block.symbols, block.offsets, shown, counts, *shares)


def table_lines(
    blocks: Iterable[TableBlock], words: tuple[NDArray[np.uint8], NDArray[np.int64]]
) -> Iterator[str]:
    """Yield entries as lines, many in a text; `words` is their `text_pool`, in order."""
    for block in blocks:
        numbers = [block.counts, block.p_target, block.p_source]
        different, places = np.unique(np.stack(numbers, axis=1), return_inverse=True)
        texts = text_pool(map(shortest, different.tolist()))
        text = kernel.write(
            readonly(block.symbols),
            readonly(block.offsets),
            block.shown,
            *words,
            *texts,
            places.reshape(-1, len(numbers)),
        )
        yield text.tobytes().decode()


def text_pool(texts: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return texts one after the other in UTF-8, and where each ends, from 0 on."""
    parts = [text.encode() for text in texts]
    ends = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=ends[1:])
    return np.frombuffer(b"".join(parts), np.uint8), ends


def shortest(number: float) -> str:
    """Return the shortest text that is read back as the same number."""
    return str(int(number)) if number == int(number) else repr(number)


_Sentences = Sequence[tuple[tuple[str, ...], tuple[str, ...]]]

_PAIRS = 4096  # sentence pairs at a time
_PHRASES = 1 << 16  # phrase pairs at a time


@dataclass(frozen=True, slots=True)
class PhraseEntry:
    """An entry of a phrase table.

    Parameters
    ----------
    source, target
        The words of both phrases.
    count
        How often they are a phrase pair.
    p_target, p_source
        p(target phrase | source phrase), p(source phrase | target phrase).

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
        return (
            f"{' '.join(self.source)} ||| {' '.join(self.target)}, {self.count} times: "
            f"p(target | source) {self.p_target:.4g}, p(source | target) {self.p_source:.4g}"
        )


@dataclass(frozen=True)
class TableSettings:
    """Which phrase pairs are counted; see `extract_phrases`."""

    links: str = "possible"
    kind: str = "all"
    loose: bool = False
    max_length: int | None = None
    ignore_identical: bool = False


class _Lexicon(Vocabulary):
    @property
    def words(self) -> Sequence[str]:
        return list(self._numbers)


class PhraseCounts:
    """Counts phrase pairs, and gives them back with their probabilities."""

    def __init__(
        self, settings: TableSettings | None = None, *, folder: str | None = None, room: int = ROOM
    ) -> None:
        check_arguments(PhraseCounts.__init__, locals())
        self._settings = settings or TableSettings()
        self._folder, self._room = folder or gettempdir(), room
        self._lexicon = _Lexicon(casefold=False)
        self._by_target = Runs(self._folder, room=room)
        self._by_source: Runs | None = None
        self.occurrences = 0
        self.tally = PhraseTally()

    def __enter__(self) -> PhraseCounts:
        return self

    def __exit__(self, *raised: object) -> None:
        self._by_target.close()
        if self._by_source is not None:
            self._by_source.close()

    def add(self, aligned: Iterable[tuple[SentencePair, Alignment]]) -> None:
        """Count the phrase pairs of sentence pairs."""
        pairs = iter(aligned)
        while block := list(islice(pairs, _PAIRS)):
            self._count(block)

    def _count(self, block: list[tuple[SentencePair, Alignment]]) -> None:
        for pair, _ in block:
            if not pair.has_text:
                raise MissingTextError(f"the words of pair {pair.id!r} are not known")
        settings = self._settings
        words = [pair.words for pair, _ in block]
        exact = _packed(words, self._lexicon)
        source, target = _packed(words, Vocabulary()) if settings.ignore_identical else exact
        phrases = extract_phrases(
            LinkArrays.pack(alignment for _, alignment in block),
            links=settings.links,
            kind=settings.kind,
            loose=settings.loose,
            max_length=settings.max_length,
            ignore_identical=settings.ignore_identical,
            source=source,
            target=target,
        )
        self._add(phrases, *exact)

    def _add(self, phrases: PhraseArrays, source: TokenArrays, target: TokenArrays) -> None:
        pairs = np.repeat(np.arange(len(phrases)), np.diff(phrases.offsets))
        self.occurrences += len(pairs)
        words = readonly(source.ids), readonly(target.ids)
        begins = readonly(source.offsets), readonly(target.offsets)
        for start in range(0, len(pairs), _PHRASES):
            spans = phrases.spans[start : start + _PHRASES]
            sizes = spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2] + 1
            offsets = np.zeros(len(spans) + 1, np.int64)
            np.cumsum(sizes, out=offsets[1:])
            symbols = np.empty(offsets[-1], np.int32)
            kernel.pack(
                spans, pairs[start : start + _PHRASES],
                words[0], begins[0], words[1], begins[1], offsets, symbols,
            )  # fmt: skip
            self._by_target.add(symbols, offsets, np.ones((len(spans), 1)))

    def blocks(self, *, min_count: int = 1) -> Iterator[TableBlock]:
        """Yield the entries, sorted by source phrase, then by target phrase, as bytes in UTF-8."""
        _check_least(min_count)
        by_source = Runs(self._folder, sums=2, room=self._room)
        self._by_source = by_source
        self.tally = PhraseTally()
        words = self.words
        ranks = np.empty(len(words), np.int32)
        ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
        for records in turned(self._by_target, ranks, min_count, self.tally):
            by_source.add(*records)
        self._by_target.close()
        yield from table_blocks(by_source)

    def entries(self, *, min_count: int = 1) -> Iterator[PhraseEntry]:
        """Yield the entries one by one; see `blocks`."""
        words = ["", *sorted(self.words)]
        for block in self.blocks(min_count=min_count):
            symbols, offsets = block.symbols.tolist(), block.offsets.tolist()
            numbers = (block.counts, block.p_target, block.p_source)
            rows = zip(block.shown.tolist(), *(part.tolist() for part in numbers), strict=True)
            for k, count, p_target, p_source in rows:
                record = symbols[offsets[k] : offsets[k + 1]]
                middle = record.index(0)
                source, target = record[:middle], record[middle + 1 :]
                yield PhraseEntry(
                    tuple([words[word] for word in source]),
                    tuple([words[word] for word in target]),
                    int(count),
                    p_target,
                    p_source,
                )

    def lines(self, *, min_count: int = 1) -> Iterator[str]:
        """Yield the entries as lines, many in a text: source, target, count, p(t|s), p(s|t)."""
        words = text_pool(map(escaped, sorted(self.words)))
        yield from table_lines(self.blocks(min_count=min_count), words)

    def records(self) -> Iterator[Block]:
        """Yield what was counted, target phrases first; words are numbered as in `words`."""
        return self._by_target.merge()

    @property
    def words(self) -> Sequence[str]:
        """The words by their numbers; those of records are higher by 1."""
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
    pairs
        A corpus, or its sentence pairs one by one; they are not held in memory.
    annotator
        Whose alignments; None where one annotator alone aligned them. Pairs that are not aligned
        count for nothing.
    links, kind, loose, max_length, ignore_identical
        Which phrase pairs, as `alignkit.extract_phrases` has them.
    min_count
        Leave out what was seen less often, once the probabilities are known.

    Raises
    ------
    OptionError
        If an option makes no sense, or several annotators aligned a pair and none is named.
    UnknownNameError
        If one names nothing.
    MissingTextError
        If the words of a pair are not known.

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
    _check_least(min_count)
    aligned = Choice("pairs", annotator).annotated(each("pairs", pairs, SentencePair))
    return _entries(aligned, settings, min_count)


def _entries(
    aligned: Iterable[tuple[SentencePair, Alignment]], settings: TableSettings, min_count: int
) -> Iterator[PhraseEntry]:
    with PhraseCounts(settings) as counts:
        counts.add(aligned)
        yield from counts.entries(min_count=min_count)


def _check_least(min_count: int) -> None:
    if min_count < 1:
        raise OptionError(f"min_count is {min_count}; the least is 1")


def _packed(words: _Sentences, vocabulary: Vocabulary) -> tuple[TokenArrays, TokenArrays]:
    return (
        TokenArrays.pack([source for source, _ in words], vocabulary),
        TokenArrays.pack([target for _, target in words], vocabulary),
    )
