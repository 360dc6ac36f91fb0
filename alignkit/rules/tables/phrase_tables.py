"""Count the phrase pairs of a corpus, with their probabilities, in bounded memory.

An entry of a phrase table needs the count of a phrase pair and the totals of both phrases. Phrase
pairs are counted as records, two phrases with 0 between them, which are sorted on disk (`Runs`).
Sorted by target phrase, they give the totals of target phrases (`turned`). Then the phrases change
places; sorted by source phrase, records give the totals of source phrases (`table_blocks`).

A pair that is too rare for the table still counts for the totals. When the phrases change places,
its record keeps the source phrase alone. With a minimum count of 2, for example::

    by target phrase                   by source phrase
    the home  0 das haus  1            das haus 0            1
    the house 0 das haus  2            das haus 0 the house  2

The total of ``das haus`` is 3, and the entry ``das haus, the house`` has p(target | source) = 2/3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from tempfile import gettempdir

import numpy as np

from alignkit._support.arguments import check_arguments, each
from alignkit._support.array_types import I4
from alignkit.errors import MissingTextError, OptionError
from alignkit.io.inputs import Choice
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays, TokenArrays, Vocabulary, offsets_of
from alignkit.model.phrase_arrays import PhraseArrays, longest_span, pair_words
from alignkit.model.phrases import extract_phrases
from alignkit.model.sentence_pair import SentencePair
from alignkit.rules.files.fields import number_text
from alignkit.rules.tables import table_kernel as kernel
from alignkit.rules.tables.phrase_groups import with_totals
from alignkit.rules.tables.runs import ROOM, Runs, ranked
from alignkit.rules.tables.runs_kernel import Records
from alignkit.rules.tables.table_blocks import TableBlock, Words, table_lines
from alignkit.rules.tables.word_pool import WordPool

_PAIRS = 4096  # sentence pairs at a time
_PHRASES = 1 << 16  # phrase pairs at a time


@dataclass
class PhraseTally:
    """The numbers of different phrase pairs, and of those that were too rare."""

    different: int = 0
    left_out: int = 0


def turned(by_target: Runs, ranks: I4, min_count: int, tally: PhraseTally) -> Iterator[Records]:
    """Yield records, source phrase first; the values are their count and the target's total.

    by_target : The counted records, target phrase first.
    ranks : The new number of each word.
    min_count : Of rarer pairs, the record keeps the source phrase alone.
    """
    for block, totals in with_totals(by_target):
        kept = block.values[:, 0] >= min_count
        tally.different += len(kept)
        tally.left_out += len(kept) - int(kept.sum())
        symbols, offsets = kernel.exchange(block.symbols, block.offsets, kept.view(np.uint8), ranks)
        yield Records(symbols, offsets, np.stack([block.values[:, 0], totals], axis=1))


def table_blocks(by_source: Runs) -> Iterator[TableBlock]:
    """Yield the entries of a table from the output of `turned`, by source, then target phrase."""
    for block, source_totals in with_totals(by_source):
        last_symbols = block.symbols[block.offsets[1:] - 1]
        shown = np.flatnonzero(last_symbols)  # a record that ends with 0 has no target phrase
        counts, target_totals = block.values[shown].T
        values = np.stack([counts, counts / source_totals[shown], counts / target_totals], axis=1)
        yield TableBlock(block.symbols, block.offsets, shown, values)


def phrase_lines(blocks: Iterable[TableBlock], words: WordPool) -> Iterator[str]:
    """Yield the entries of a phrase table as lines, many in a text."""
    return table_lines(blocks, words, number_text)


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


class PhraseCounts(ExitStack):
    """Count phrase pairs, and return them with their probabilities.

    First `add` all sentence pairs. Then read either the counted `records`, or the table, once: as
    `blocks`, `entries` or `lines`.
    """

    def __init__(
        self, settings: TableSettings | None = None, *, folder: str | None = None, room: int = ROOM
    ) -> None:
        super().__init__()
        self._settings = settings or TableSettings()
        self._folder = folder or gettempdir()
        self._room = room
        self._lexicon = Vocabulary(casefold=False)
        self._by_target = self.enter_context(Runs(self._folder, room=room))
        self.occurrences = 0  # phrase pairs, with repetitions
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
            source, target = exact
            if self._settings.ignore_identical:  # the words but for case
                source, target = pack_words(words, Vocabulary())
            links = LinkArrays.pack(alignment for _, alignment in block)
            settings = vars(self._settings)
            phrases = extract_phrases(links, source=source, target=target, **settings)
            self._add(phrases, *exact)

    def _add(self, phrases: PhraseArrays, source: TokenArrays, target: TokenArrays) -> None:
        """Count phrase pairs, given the words of their sentence pairs."""
        pairs = np.repeat(np.arange(len(phrases)), np.diff(phrases.offsets))
        self.occurrences += len(pairs)
        words = pair_words(source, target)
        for start in range(0, len(pairs), _PHRASES):
            spans = phrases.spans[start : start + _PHRASES]
            source_lengths = spans[:, 1] - spans[:, 0]
            target_lengths = spans[:, 3] - spans[:, 2]
            offsets = offsets_of(source_lengths + target_lengths + 1)
            symbols = np.empty(offsets[-1], np.int32)
            kernel.pack(spans, pairs[start : start + _PHRASES], words, offsets, symbols)
            self._by_target.add(symbols, offsets, np.ones((len(spans), 1)))

    def blocks(self, *, min_count: int = 1) -> Iterator[TableBlock]:
        """Yield the entries, sorted by source phrase, then by target phrase, as bytes in UTF-8.

        The counted records are gone then.
        """
        by_source = self.enter_context(Runs(self._folder, sums=2, room=self._room))
        _, ranks = ranked(self.words)
        for records in turned(self._by_target, ranks, min_count, self.tally):
            by_source.add(*records)
        self._by_target.close()
        yield from table_blocks(by_source)

    def entries(self, *, min_count: int = 1) -> Iterator[PhraseEntry]:
        """Yield the entries one at a time; see `blocks`."""
        words = ["", *sorted(self.words)]  # symbols are from 1 on
        for block in self.blocks(min_count=min_count):
            for source, target, (count, p_target, p_source) in block.rows(words):
                yield PhraseEntry(source, target, int(count), p_target, p_source)

    def lines(self, *, min_count: int = 1) -> Iterator[str]:
        """Yield the entries as lines, many in a text: source, target, count, p(t|s), p(s|t)."""
        words = WordPool.shown(sorted(self.words))
        yield from phrase_lines(self.blocks(min_count=min_count), words)

    def records(self) -> Iterator[Records]:
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
