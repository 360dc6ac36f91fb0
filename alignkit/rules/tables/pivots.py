"""Make paraphrases from phrase tables: phrases that share translations.

The *pivot* is a translation that several phrases share: if ``under control`` and ``in check`` are
both paired with ``unter kontrolle``, there is a *path* from each over this pivot to the other. Its
probability is p(pivot | phrase) p(other phrase | pivot); a paraphrase adds up its paths.

Entries are records: the pivot, 0, the table (1, or 2 if two tables are joined), the phrase. Sorted,
those with the same pivot stand together and are joined to paths, records of two phrases; sorted
again, paths of the same phrases stand together and are added up. The module `rule_pivots` does the
same with rules.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count as numbering
from tempfile import gettempdir
from typing import TypeVar

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, each
from alignkit._support.array_types import F8, I8
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.model.alignment import SIDES
from alignkit.model.arrays import gather
from alignkit.rules.tables import table_kernel as kernel
from alignkit.rules.tables.phrase_groups import whole_groups
from alignkit.rules.tables.phrase_tables import PhraseEntry
from alignkit.rules.tables.runs import ROOM, Runs, part, places_within
from alignkit.rules.tables.runs_kernel import Records
from alignkit.rules.tables.table_blocks import TableBlock, Words, table_lines
from alignkit.rules.tables.table_file import TableFile
from alignkit.rules.tables.word_pool import WordPool

VALUES = 2 * kernel.LIMBS + 1
"""The columns of a path: both probabilities and 1, which is added up to the number of pivots.

A probability is held in whole numbers, its limbs (see `table_kernel`). These add up exactly, so
sums do not depend on the order in which runs are merged.
"""

SORTS = ("phrase", "probability")
"""The orders of paraphrases: those of each phrase together, or all by decreasing probability."""

T = TypeVar("T")
V = TypeVar("V")
_Phrases = Iterable[Sequence[str]]
_PATHS = 1 << 15  # that are made at a time
_NUMBERS = 24 * _PATHS  # room for the symbols of these paths; if they need more, fewer are made
_INFINITY_BITS = np.int32(0x7F800000)  # of the float32 infinity, above those of all numbers
_SLACK = 1 - 1e-12  # keeps what equals `min_p` but for rounding


@dataclass(frozen=True)
class PivotSettings:
    """The limits of the paraphrases to keep; see `pivot`."""

    min_p: float = 0.001
    top: int | None = 20
    identity: bool = False
    sort: str = "phrase"

    def __post_init__(self) -> None:
        check_known("order", self.sort, SORTS)
        if not 0 <= self.min_p <= 1:
            raise OptionError(f"`min_p` is {self.min_p}; expected a number from 0 to 1")
        if self.top is not None and self.top < 1:
            raise OptionError(f"`top` is {self.top}; it must be 1 or more")


@dataclass
class PivotTally:
    """The counts of a join."""

    entries: int = 0  # how many different ones there were
    paths: int = 0  # how many ways there were from a phrase over a pivot to another phrase
    joined: int = 0  # how many different pairs of phrases these joined
    rare: int = 0  # how many of these were less probable than `min_p`
    beyond: int = 0  # how many others were not among the `top` of their phrase


def pivot_paths(
    entries: Runs, tables: int, identity: bool, names: kernel.SymbolNames, tally: PivotTally
) -> Iterator[Records]:
    """Yield the paths from phrases over their pivots to other phrases."""
    paths = Records(
        np.empty(_NUMBERS, np.int32),
        np.zeros(_PATHS + 1, np.int64),
        np.empty((_PATHS, VALUES)),
    )
    for block, groups in whole_groups(entries):
        tally.entries += len(groups)
        partners = _partners(block, groups, tables)
        longest_path = 2 * int(np.diff(block.offsets).max(initial=0))
        if longest_path > len(paths.symbols):
            paths = paths._replace(symbols=np.empty(longest_path, np.int32))
        # the record and its partner that the kernel goes on with, when its room was full
        state = np.zeros(2, np.int64)
        while state[0] < len(groups):
            count = kernel.join(block, partners, state, identity, names, paths)
            yield part(paths, 0, count)


def _partners(block: Records, groups: I8, tables: int) -> kernel.Partners:
    """Return the records to join each record with: those with its pivot in the last table.

    The records of a group have the same pivot and are sorted by table. So they can be looked up by
    a key that rises: two times the number of the group, and 1 more in the second table.
    """
    dividers = np.flatnonzero(block.symbols == 0)
    of_second = block.symbols[dividers + 1] == 2  # whether a record is of the second table
    keys = 2 * groups + of_second
    if tables == 1:
        first_key = 2 * groups
    else:  # only records of the second table are partners
        first_key = 2 * groups + 1
    first = np.searchsorted(keys, first_key)
    after = np.searchsorted(keys, 2 * groups + 1, "right")
    after[of_second] = 0  # a record of the second table has no partners
    return kernel.Partners(dividers + 2, first, after)


def kept_paraphrases(
    paths: Runs, settings: PivotSettings, tally: PivotTally
) -> Iterator[TableBlock]:
    """Yield the paraphrases to keep; those of a phrase by decreasing probability."""
    for block, groups in whole_groups(paths):
        p = _from_limbs(block.values[:, : kernel.LIMBS])
        back = _from_limbs(block.values[:, kernel.LIMBS : 2 * kernel.LIMBS])
        pivots = block.values[:, 2 * kernel.LIMBS]
        values = np.column_stack([p, back, pivots])
        kept = np.flatnonzero(p >= settings.min_p * _SLACK)
        tally.joined += len(p)
        tally.rare += len(p) - len(kept)
        # products are rounded, so those that differ in the last digits alone count as equal: they
        # are compared as float32, as in `_with_keys`, and equal ones stay in the order of phrases
        order = kept[np.lexsort((-p[kept].astype(np.float32), groups[kept]))]
        if settings.top is not None:
            sizes = np.unique(groups[order], return_counts=True)[1]
            ranks = places_within(sizes)  # from 0; the paraphrases of a phrase are together
            tally.beyond += int((ranks >= settings.top).sum())
            order = order[ranks < settings.top]
        yield TableBlock(block.symbols, block.offsets, order, values[order])


def by_probability(blocks: Iterable[TableBlock], runs: Runs) -> Iterator[TableBlock]:
    """Yield all entries by decreasing probability, then in the order of their phrases.

    `runs` sorts them on disk, as records whose first number falls as the probability rises.
    """
    for block in blocks:
        runs.add(*_with_keys(block))
    for records in runs.merge():
        yield _without_keys(records)


def _with_keys(block: TableBlock) -> Records:
    """Return the entries as records: a key of the probability, and the phrases."""
    # the bits of positive floats, read as integers, have the order of the floats
    bits = np.ascontiguousarray(block.values[:, 0].astype(np.float32)).view(np.int32)
    places, offsets = gather(block.offsets, block.shown)
    symbols = np.insert(block.symbols[places], offsets[:-1], _INFINITY_BITS - bits)
    # each record is one number longer, so record k begins k numbers later
    return Records(symbols, offsets + np.arange(len(offsets)), block.values)


def _without_keys(records: Records) -> TableBlock:
    """Return records as entries, without the key that is the first number of each."""
    symbols = np.delete(records.symbols, records.offsets[:-1])
    # each record is one number shorter, so record k begins k numbers earlier
    offsets = records.offsets - np.arange(len(records.offsets))
    return TableBlock(symbols, offsets, np.arange(len(records.values)), records.values)


def _from_limbs(limbs: F8) -> F8:
    """Return probabilities from their limbs, (R, LIMBS); see `table_kernel`."""
    total = np.zeros(len(limbs))
    for k in reversed(range(limbs.shape[1])):
        total += np.ldexp(limbs[:, k], -kernel.BITS * (k + 1))
    return total


def pivot_lines(blocks: Iterable[TableBlock], words: WordPool) -> Iterator[str]:
    """Yield paraphrases as lines, many in a text."""
    return table_lines(blocks, words, "{:.6g}".format)


@dataclass(frozen=True, slots=True)
class Paraphrase:
    """A phrase and another phrase that shares translations with it.

    Parameters
    ----------
    source, target : The words of the phrase and of its paraphrase.
    p_target, p_source : P(paraphrase | phrase), P(phrase | paraphrase).
    pivots : The number of shared translations.

    Examples
    --------
    >>> print(Paraphrase(("in", "check"), ("under", "control"), 0.25, 0.5, 2))
    in check -> under control: p 0.25, back 0.5, by 2 pivots
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    p_target: float
    p_source: float
    pivots: int

    def __str__(self) -> str:
        source = " ".join(self.source)
        target = " ".join(self.target)
        by = how_many(self.pivots, "pivot")
        return f"{source} -> {target}: p {self.p_target:.4g}, back {self.p_source:.4g}, by {by}"


def turned_on(on: str, source: T, target: T, p_source: V, p_target: V) -> tuple[T, T, V, V]:
    """Return pivot, phrase, p(pivot | phrase) and p(phrase | pivot); `on` is the pivot's side."""
    if on == "source":
        return source, target, p_source, p_target
    return target, source, p_target, p_source


def is_frequent(count: float | None, min_count: float, name: str) -> bool:
    """Return whether an entry is seen often enough; a minimum of 1 or less keeps all.

    Raises
    ------
    OptionError : If the minimum is higher, and the count is unknown: None or not a number.
    """
    if min_count <= 1:
        return True
    if count is None or math.isnan(count):
        raise OptionError(f"{name} has no count; leave out the minimum count")
    return count >= min_count


class Pivot(ExitStack):
    """Join phrases on shared pivots, in bounded memory.

    First add all entries; then read the paraphrases once, as `lines`, `pairs` or `paraphrases`.
    """

    def __init__(self, tables: int = 1, *, folder: str | None = None, room: int = ROOM) -> None:
        super().__init__()
        self._tables = tables
        self._folder = folder or gettempdir()
        self._room = room
        self._symbols: dict[str, int] = defaultdict(numbering(1).__next__)  # a new text: the next
        # no columns are summed: of a repeated entry, the maxima of its two probabilities are kept
        self._entries = self.enter_context(Runs(self._folder, sums=0, maxima=2, room=room))
        self.added = 0
        self.tally = PivotTally()

    def add(self, table: int, pivots: _Phrases, phrases: _Phrases, values: F8) -> None:
        """Add R entries of a table; values (R, 2) are p(pivot | phrase) and p(phrase | pivot)."""
        number_of = self._symbols.__getitem__
        symbols: list[int] = []
        ends = [0]
        for pivot, phrase in zip(pivots, phrases, strict=True):
            symbols += map(number_of, pivot)
            symbols += (0, table)
            symbols += map(number_of, phrase)
            ends.append(len(symbols))
        self.added += len(ends) - 1
        self._entries.add(np.array(symbols, np.int32), np.array(ends, np.int64), values)

    def add_file(
        self,
        table: int,
        file: TableFile,
        *,
        on: str,
        min_count: int,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Add the entries of a file; return how many it holds."""
        entries = 0
        for rows in file.rows():
            if progress is not None:
                progress(len(rows.counts))
            entries += len(rows.counts)
            kept = rows.seen(min_count, file.path)
            sources = [text.split(" ") for text in kept.source]
            targets = [text.split(" ") for text in kept.target]
            pivots, phrases, *p = turned_on(on, sources, targets, kept.p_source, kept.p_target)
            self.add(table, pivots, phrases, np.stack(p, axis=1))
        return entries

    @property
    def repeated(self) -> int:
        """The number of repeated entries; of these, the highest probabilities are kept.

        It is known once the paraphrases are read.
        """
        return self.added - self.tally.entries

    def lines(self, settings: PivotSettings | None = None) -> Iterator[str]:
        """Yield the paraphrases as lines, many in a text, in the order of the settings."""
        names = self._names({})
        words = WordPool.shown(sorted(self._symbols))
        yield from pivot_lines(self._blocks(settings or PivotSettings(), names), words)

    def paraphrases(self, settings: PivotSettings | None = None) -> Iterator[Paraphrase]:
        """Yield the paraphrases one at a time, in the order of the settings."""
        for source, target, (p, back, pivots) in self.pairs(settings):
            yield Paraphrase(source, target, p, back, int(pivots))

    def pairs(
        self,
        settings: PivotSettings | None = None,
        variables: Mapping[str, tuple[int, str]] | None = None,
    ) -> Iterator[tuple[Words, Words, list[float]]]:
        """Yield the words of phrase and paraphrase, and their numbers, as the settings order them.

        Parameters
        ----------
        settings : Which paraphrases are kept.
        variables : The number and label of each word that is a variable. Every label must be there
            with every number from 0 on: the variables of a phrase are numbered from left to right,
            and those of its paraphrases get the same numbers.
        """
        names = self._names(variables or {})
        words = ["", *sorted(self._symbols)]
        for block in self._blocks(settings or PivotSettings(), names):
            yield from block.rows(words)

    def records(self) -> Iterator[Records]:
        """Yield the added records: pivot, 0, table, phrase, in the numbers of `words`."""
        return self._entries.merge()

    @property
    def words(self) -> Sequence[str]:
        """The words in the order of their numbers, which begin with 1."""
        return list(self._symbols)

    def _names(self, variables: Mapping[str, tuple[int, str]]) -> kernel.SymbolNames:
        """Return how symbols are named: by their place in the order of all texts, from 1.

        Variables that no entry has get a number too, since others may be renamed to them.
        """
        symbol_of = {variable: self._symbols[text] for text, variable in variables.items()}
        size = len(self._symbols) + 1
        most = max((number for number, _ in symbol_of), default=0) + 1
        ranks = np.zeros(size, np.int32)
        ordered = [self._symbols[text] for text in sorted(self._symbols)]
        ranks[ordered] = np.arange(1, size)
        numbers = np.full(size, -1, np.int32)
        renamed = np.zeros((size, most), np.int32)
        for (number, label), symbol in symbol_of.items():
            numbers[symbol] = number
            renamed[symbol] = [symbol_of[k, label] for k in range(most)]
        return kernel.SymbolNames(ranks, numbers, renamed)

    def _blocks(self, settings: PivotSettings, names: kernel.SymbolNames) -> Iterator[TableBlock]:
        """Join the entries, which are closed then, and yield the paraphrases."""
        paths = self.enter_context(Runs(self._folder, sums=VALUES, room=self._room))
        tally = self.tally
        for records in pivot_paths(self._entries, self._tables, settings.identity, names, tally):
            paths.add(*records)
        tally.paths = paths.added
        self._entries.close()
        blocks = kept_paraphrases(paths, settings, tally)
        if settings.sort == "phrase":
            yield from blocks
        else:
            # records are different, so the maxima of their three numbers are the numbers
            with Runs(self._folder, sums=0, maxima=3, room=self._room) as runs:
                yield from by_probability(blocks, runs)
        paths.close()


def pivot(
    table: Iterable[PhraseEntry],
    second: Iterable[PhraseEntry] | None = None,
    *,
    on: str = "source",
    min_count: float = 1,
    min_p: float = 0.001,
    top: int | None = 20,
    identity: bool = False,
    sort: str = "phrase",
) -> Iterator[Paraphrase]:
    """Yield the paraphrases in a phrase table: phrases with the same translations.

    p(e2 | e1) is the sum of p(e2 | f) p(f | e1) over all phrases f that are paired with both [1]_.

    Parameters
    ----------
    table : The entries with e1 and p(f | e1), e.g. from `phrase_table`.
    second : The entries with e2 and p(e2 | f); None uses `table`.
    on : The side of f, the pivot: ``"source"`` makes paraphrases of target phrases.
    min_count : Leave out entries with a smaller count, before the sum; 1 or less keeps all.
    min_p : Leave out paraphrases with a smaller p(e2 | e1), after the sum.
    top : Keep the most probable paraphrases of each phrase; None keeps all.
    identity : Whether to keep e2 = e1, which has most of the probability.
    sort : ``"phrase"``, or ``"probability"`` for the most probable ones of all phrases first.

    Returns
    -------
    iterator of Paraphrase
        Sorted by phrase, then by decreasing p(e2 | e1), then by paraphrase; or by decreasing
        p(e2 | e1), then by phrase and paraphrase.

    Raises
    ------
    UnknownNameError, OptionError : If `on` or `sort` is unknown, an option is invalid, or an entry
        has no count and `min_count` is above 1.

    Notes
    -----
    Time grows with the number of paths e1 - f - e2: a pivot with n phrases gives n (n - 1).

    References
    ----------
    .. [1] Bannard & Callison-Burch 2005, Paraphrasing with bilingual parallel corpora, ACL, eq. 2.

    Examples
    --------
    >>> table = [PhraseEntry(("unter", "kontrolle"), ("under", "control"), 3, 0.75, 1.0),
    ...          PhraseEntry(("unter", "kontrolle"), ("in", "check"), 1, 0.25, 0.5),
    ...          PhraseEntry(("im", "zaum"), ("in", "check"), 1, 1.0, 0.5)]
    >>> for paraphrase in pivot(table):
    ...     print(paraphrase)
    in check -> under control: p 0.375, back 0.25, by 1 pivot
    under control -> in check: p 0.25, back 0.375, by 1 pivot
    """
    check_arguments(pivot, locals())
    check_known("side", on, SIDES)
    if not min_count >= 0:
        raise OptionError(f"`min_count` is {min_count}; it must be 0 or more")
    settings = PivotSettings(min_p, top, identity, sort)
    tables = [each("table", table, PhraseEntry)]
    if second is not None:
        tables += [each("second", second, PhraseEntry)]

    return _paraphrases(tables, on, min_count, settings)  # a generator: it runs when it is read


def _paraphrases(
    tables: Sequence[Iterator[PhraseEntry]], on: str, min_count: float, settings: PivotSettings
) -> Iterator[Paraphrase]:
    """Yield the paraphrases in one or two tables; see `pivot`."""
    with Pivot(len(tables)) as joined:
        for table, entries in enumerate(tables, start=1):
            for number, entry in enumerate(entries, start=1):
                if not is_frequent(entry.count, min_count, f"entry {number}"):
                    continue
                pivot, phrase, *p = turned_on(
                    on, entry.source, entry.target, entry.p_source, entry.p_target
                )
                joined.add(table, [pivot], [phrase], np.array([p], np.float64))
        yield from joined.paraphrases(settings)
