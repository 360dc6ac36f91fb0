"""Make paraphrases from phrase tables and from rules: phrases that share translations.

Entries are records: the pivot, 0, the table, the phrase. Those with the same pivot are joined to
paths from phrase to phrase, which are sorted by the first phrase and added up. A side of a rule is
a phrase of its labels, brackets, words and variables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count as numbering
from itertools import islice
from tempfile import gettempdir
from typing import cast

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, each
from alignkit._support.array_types import F8, I4, I8
from alignkit._support.jit import readonly
from alignkit._support.wording import escaped, how_many
from alignkit.errors import OptionError
from alignkit.model.alignment import SIDES
from alignkit.model.arrays import gather
from alignkit.rules.grammar import Node, Rule, RuleType, Side, Variable, preorder, variables
from alignkit.rules.tables import phrase_tables as counting
from alignkit.rules.tables import table_kernel as kernel
from alignkit.rules.tables.phrase_tables import PhraseEntry, TableBlock, whole_groups
from alignkit.rules.tables.runs import ROOM, Block, Runs, WordPool, places_within
from alignkit.rules.tables.table_file import TableFile

VALUES = 2 * kernel.LIMBS + 1
"""The columns of a path: limbs of both probabilities, which add up exactly in any order, and 1."""

SORTS = ("phrase", "probability")
"""The orders of paraphrases: those of each phrase together, or all by decreasing probability."""

_Phrases = Iterable[Sequence[str]]
_PATHS = 1 << 15  # at a time
_NUMBERS = 24 * _PATHS
_RULES = 4096  # at a time
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
    entries: Runs, tables: int, identity: bool, names: kernel.Names, tally: PivotTally
) -> Iterator[kernel.Records]:
    """Yield the paths from phrases over their pivots to other phrases."""
    symbols = np.empty(_NUMBERS, np.int32)
    offsets = np.zeros(_PATHS + 1, np.int64)
    values = np.empty((_PATHS, VALUES))
    for block, groups in whole_groups(entries):
        tally.entries += len(block)
        records = readonly(block.symbols), readonly(block.offsets), block.values
        partners = _partners(block, groups, tables)
        longest = 2 * int(np.diff(block.offsets).max(initial=0))
        if longest > len(symbols):
            symbols = np.empty(longest, np.int32)
        state = np.zeros(2, np.int64)
        while state[0] < len(block):
            paths = symbols, offsets, values
            count = kernel.join(records, partners, state, identity, names, paths)
            ends = offsets[: count + 1]
            yield symbols[: ends[-1]], ends, values[:count]


def _partners(block: Block, groups: I8, tables: int) -> I8:
    """Return where each phrase begins, and the range of records to join it with, (R, 3)."""
    middles = np.flatnonzero(block.symbols == 0)
    of_second = block.symbols[middles + 1] != 1  # whether a record is of the second table
    order = 2 * groups + of_second  # rises: the records of a pivot are sorted by table
    if tables == 1:
        first = np.searchsorted(order, 2 * groups)
    else:  # only those of the second table are partners
        first = np.searchsorted(order, 2 * groups + 1)
    last = np.searchsorted(order, 2 * groups + 1, "right")
    last[of_second] = 0  # a record of the second table has no partners
    return np.stack([middles + 2, first, last], axis=1)


def chosen(paths: Runs, settings: PivotSettings, tally: PivotTally) -> Iterator[TableBlock]:
    """Yield the paraphrases to keep; those of a phrase by decreasing probability."""
    for block, groups in whole_groups(paths):
        p = _from_limbs(block.values[:, : kernel.LIMBS])
        back = _from_limbs(block.values[:, kernel.LIMBS : 2 * kernel.LIMBS])
        pivots = block.values[:, 2 * kernel.LIMBS]
        values = np.column_stack([p, back, pivots])
        kept = np.flatnonzero(p >= settings.min_p * _SLACK)
        tally.joined += len(p)
        tally.rare += len(p) - len(kept)
        # what differs in the last digits alone is as probable: products are rounded
        order = kept[np.lexsort((-p[kept].astype(np.float32), groups[kept]))]
        if settings.top is not None:
            sizes = np.unique(groups[order], return_counts=True)[1]
            places = places_within(sizes)
            tally.beyond += int((places >= settings.top).sum())
            order = order[places < settings.top]
        yield TableBlock(block.symbols, block.offsets, order, values[order])


def by_probability(blocks: Iterable[TableBlock], runs: Runs) -> Iterator[TableBlock]:
    """Yield all entries by decreasing probability, then in the order of their phrases.

    `runs` sorts them on disk, as records whose first number falls as the probability rises.
    """
    for block in blocks:
        runs.add(*_with_keys(block))
    for records in runs.merge():
        # without the key, the first number of each record, record k begins k numbers earlier
        symbols = np.delete(records.symbols, records.offsets[:-1])
        offsets = records.offsets - np.arange(len(records.offsets))
        yield TableBlock(symbols, offsets, np.arange(len(records)), records.values)


def _with_keys(block: TableBlock) -> tuple[I4, I8, F8]:
    """Return the entries as records: a key of the probability, and the phrases."""
    # the bits of positive floats, read as integers, have the order of the floats
    bits = np.ascontiguousarray(block.values[:, 0].astype(np.float32)).view(np.int32)
    keys = np.int32(0x7F800000) - bits
    places, offsets = gather(block.offsets, block.shown)
    # with a key in front of each record, record k begins k numbers later
    symbols = np.insert(block.symbols[places], offsets[:-1], keys)
    return symbols, offsets + np.arange(len(offsets)), block.values


def _from_limbs(limbs: F8) -> F8:
    """Return probabilities from their limbs, (R, LIMBS); see `table_kernel`."""
    total = np.zeros(len(limbs))
    for k in reversed(range(limbs.shape[1])):
        total += np.ldexp(limbs[:, k], -kernel.BITS * (k + 1))
    return total


pivot_lines = partial(counting.entry_lines, number_text="{:.6g}".format)


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


class Pivot(ExitStack):
    """Join phrases on shared pivots, in bounded memory."""

    def __init__(self, tables: int = 1, *, folder: str | None = None, room: int = ROOM) -> None:
        super().__init__()
        self._tables = tables
        self._folder = folder or gettempdir()
        self._room = room
        # the numbers of texts; a text that is new gets the next number
        self._symbols: dict[str, int] = defaultdict(numbering(1).__next__)
        self._entries = self.enter_context(Runs(self._folder, sums=0, maxima=2, room=room))
        self._paths: Runs | None = None
        self.variables: Mapping[str, tuple[int, str]] = {}  # number and label, by their texts
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
            if on == "source":
                values = np.stack([kept.p_source, kept.p_target], axis=1)
                self.add(table, sources, targets, values)
            else:
                values = np.stack([kept.p_target, kept.p_source], axis=1)
                self.add(table, targets, sources, values)
        return entries

    @property
    def repeated(self) -> int:
        """The number of repeated entries; of these, the highest probabilities are kept."""
        return self.added - self.tally.entries

    def blocks(self, settings: PivotSettings | None = None) -> Iterator[TableBlock]:
        """Yield the paraphrases, sorted by phrase and probability, or by probability."""
        settings = settings or PivotSettings()
        paths = self.enter_context(Runs(self._folder, sums=VALUES, room=self._room))
        self._paths = paths
        names = self._names()
        tally = PivotTally()
        self.tally = tally
        for records in pivot_paths(self._entries, self._tables, settings.identity, names, tally):
            paths.add(*records)
        tally.paths = paths.added
        self._entries.close()
        blocks = chosen(paths, settings, tally)
        if settings.sort == "phrase":
            yield from blocks
        else:
            with Runs(self._folder, sums=0, maxima=3, room=self._room) as runs:
                yield from by_probability(blocks, runs)
        paths.close()

    def _number_of(self, text: str) -> int:
        """Return the number of a text, which is the next if the text is new."""
        return self._symbols[text]

    def _names(self) -> kernel.Names:
        """Return the order of all symbols, and how variables are named with other numbers.

        ranks (C,): the place of each symbol in the order of the texts; numbers (C,): the number of
        each variable, -1 for other symbols; renamed (C, n): the symbol of each variable with the
        numbers 0, 1, ...
        """
        texts = {variable: text for text, variable in self.variables.items()}
        most = max((number for number, _ in self.variables.values()), default=0) + 1
        for number in range(most):
            for _, label in list(texts):
                self._number_of(texts[number, label])  # now it has one
        count = len(self._symbols) + 1
        ranks = np.zeros(count, np.int32)
        ordered = [self._symbols[text] for text in sorted(self._symbols)]
        ranks[ordered] = np.arange(1, count)
        numbers = np.full(count, -1, np.int32)
        renamed = np.zeros((count, most), np.int32)
        for text, (number, label) in self.variables.items():
            symbol = self._symbols[text]
            numbers[symbol] = number
            renamed[symbol] = [self._symbols[texts[k, label]] for k in range(most)]
        return ranks, numbers, renamed

    def lines(self, settings: PivotSettings | None = None) -> Iterator[str]:
        """Yield the paraphrases as lines, many in a text."""
        words = WordPool.of(map(escaped, sorted(self._symbols)), "strict")
        yield from pivot_lines(self.blocks(settings), words)

    def records(self) -> Iterator[Block]:
        """Yield the added records: pivot, 0, table, phrase, in the numbers of `words`."""
        return self._entries.merge()

    @property
    def words(self) -> Sequence[str]:
        """The words by number."""
        return list(self._symbols)

    def paraphrases(self, settings: PivotSettings | None = None) -> Iterator[Paraphrase]:
        """Yield the paraphrases one at a time; see `blocks`."""
        for source, target, (p, back, pivots) in self.pairs(settings):
            yield Paraphrase(source, target, p, back, int(pivots))

    def pairs(
        self, settings: PivotSettings | None = None
    ) -> Iterator[tuple[counting.Words, counting.Words, list[float]]]:
        """Yield the words of phrase and paraphrase, and their numbers; see `blocks`."""
        words: list[str] = []
        for block in self.blocks(settings):
            words = words or ["", *sorted(self._symbols)]
            yield from block.rows(words)


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
    min_count : Leave out entries with a smaller count, before the sum.
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
    UnknownNameError, OptionError : If `on` or `sort` is unknown, or an option is invalid.

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

    def paraphrases() -> Iterator[Paraphrase]:
        with Pivot(len(tables)) as joined:
            for number, entries in enumerate(tables, start=1):
                for entry in entries:
                    if entry.count < min_count:
                        continue
                    if on == "source":
                        values = np.array([[entry.p_source, entry.p_target]], np.float64)
                        joined.add(number, [entry.source], [entry.target], values)
                    else:
                        values = np.array([[entry.p_target, entry.p_source]], np.float64)
                        joined.add(number, [entry.target], [entry.source], values)
            yield from joined.paraphrases(settings)

    return paraphrases()


class RulePivot(ExitStack):
    """Join rules on a shared side, in bounded memory."""

    def __init__(
        self, tables: int = 1, *, on: str = "source", folder: str | None = None, room: int = ROOM
    ) -> None:
        super().__init__()
        self.pivot = self.enter_context(Pivot(tables, folder=folder, room=room))
        self.left_out: Counter[str] = Counter()
        self._on = on
        self._labels: set[str] = set()
        self._variables = 0  # the most of a rule

    def add(self, table: int, rules: Iterable[RuleType], *, min_count: float = 1) -> int:
        """Add the rules of table 1 or 2 with at least `min_count`; return how many there were."""
        seen = 0
        stream = iter(rules)
        while block := list(islice(stream, _RULES)):
            shared = []
            others = []
            p = []
            for number, entry in enumerate(block, start=seen + 1):
                if not self._fits(entry, number, min_count):
                    continue
                if self._on == "source":
                    pivot, phrase = entry.rule
                    p.append((entry.p_source, entry.p_target))
                else:
                    phrase, pivot = entry.rule
                    p.append((entry.p_target, entry.p_source))
                names = {item.number: place for place, item in enumerate(variables(pivot))}
                shared.append(list(_tokens(pivot, names)))
                others.append(list(_tokens(phrase, names)))
                self._labels.update(item.label for item in variables(phrase))
                self._variables = max(self._variables, len(names))
            self.pivot.add(table, shared, others, np.array(p, np.float64).reshape(-1, 2))
            seen += len(block)
        return seen

    def _fits(self, entry: RuleType, number: int, min_count: float) -> bool:
        """Return whether a rule can be joined; if not, count why."""
        if entry.p_target is None or entry.p_source is None:
            raise OptionError(
                f"rule {number} lacks p(target | source) or p(source | target); both are needed"
            )
        if min_count > 1:
            if entry.count is None:
                raise OptionError(f"rule {number} has no count; leave out the minimum count")
            if entry.count < min_count:
                self.left_out[f"seen less than {min_count:g} times"] += 1
                return False
        if any(item.kind != "x" for side in entry.rule for item in variables(side)):
            self.left_out["with deleted or inserted variables"] += 1
            return False
        return True

    def rules(self, settings: PivotSettings | None = None) -> Iterator[RuleType]:
        """Yield the paraphrase rules, in the order of `Pivot.blocks`."""
        named: dict[str, tuple[int, str]] = {}
        for label in self._labels:
            for number in range(self._variables):
                named[_token(Variable(number, label))] = (number, label)
        self.pivot.variables = named
        for source, target, (p, back, pivots) in self.pivot.pairs(settings):
            rule = Rule(_parsed(source), _parsed(target))
            extra = (("pivots", f"{pivots:.0f}"),)
            yield RuleType(rule, p_target=p, p_source=back, extra=extra)


def _token(variable: Variable) -> str:
    return f"x{variable.number}:{variable.label}"


def _tokens(side: Side, names: dict[int, int]) -> Iterator[str]:
    """Yield a side as texts; the first character of each gives its kind."""
    is_string = not isinstance(side, Node)
    if is_string:
        yield "["
    for item in preorder(side):
        if item is None:
            yield ")"
        elif isinstance(item, Variable):
            yield _token(item._replace(number=names[item.number]))
        elif isinstance(item, Node):
            yield f"({item.label}"
        else:
            yield f'"{item}'
    if is_string:
        yield ")"


def _parsed(tokens: tuple[str, ...]) -> Side:
    """Read a side from its texts; the reverse of `_tokens`."""
    open_labels: list[str] = []
    children: list[list[Node | Variable | str]] = [[]]
    for token in tokens:
        if token[0] in "([":
            open_labels.append(token)
            children.append([])
        elif token == ")":
            label = open_labels.pop()
            inner = tuple(children.pop())
            if label == "[":
                return cast("Side", inner)  # a string: it has no nodes
            children[-1].append(Node(label[1:], inner))
        elif token[0] == "x":
            number, _, rest = token[1:].partition(":")
            children[-1].append(Variable(int(number), rest))
        else:
            children[-1].append(token[1:])
    (root,) = children[0]
    return cast("Node", root)
