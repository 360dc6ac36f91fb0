"""Phrase tables and paraphrases from many files; the results are the same as on one machine.

Counting and joining use the same exchange of records; see `alignkit.cluster.phrase_exchange`.
Phrase pairs are sorted by target phrase first, to get the totals of target phrases, then by
source phrase. Table entries are sorted by pivot first, then by the paraphrased phrase.

For both, `_read...`, `_turn...` and `_write...` are the steps of the exchange: what a worker does
with a part, with a bucket of the records of all parts, and with a bucket of the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from alignkit._support.arguments import check_arguments, check_known
from alignkit.cluster import phrase_buckets
from alignkit.cluster.connecting import open_session
from alignkit.cluster.parts import Part, find_parts, largest_of
from alignkit.cluster.phrase_buckets import BucketExchange
from alignkit.cluster.phrase_exchange import (
    ExchangeOptions,
    ExchangeSteps,
    Step,
    TablePart,
    exchange_records,
)
from alignkit.cluster.run import Done
from alignkit.cluster.session import Connection, OnProgress, Session
from alignkit.cluster.shared_words import SharedWords
from alignkit.errors import OptionError
from alignkit.io.detection import find_format
from alignkit.io.inputs import Choice, naming
from alignkit.io.options import ReadOptions
from alignkit.io.reading import open_reading, read_pairs
from alignkit.io.records import Reading
from alignkit.model.alignment import SIDES
from alignkit.rules.tables import phrase_tables as counting
from alignkit.rules.tables import pivots
from alignkit.rules.tables.phrase_tables import PhraseTally, TableSettings
from alignkit.rules.tables.runs import Runs
from alignkit.rules.tables.table_file import TableFile
from alignkit.rules.tables.table_kernel import SymbolNames
from alignkit.rules.tables.word_pool import WordPool

if TYPE_CHECKING:
    from alignkit.model.sentence_pair import SentencePair

_MARKS = 1  # how many stand behind the pivot of a record: one, the number of the table


@dataclass(frozen=True)
class AlignedInput:
    """How to read the files of a part."""

    sides: tuple[str, ...] = ()  # the sides of the files after the first
    format: str | None = None  # of the first one; None detects it, in the largest part
    annotator: str | None = None  # whose alignments; None if there is only one
    reading: ReadOptions = field(default_factory=ReadOptions)


@dataclass(frozen=True)
class Counted:
    """The numbers of what was counted."""

    pairs: int  # sentence pairs
    occurrences: int  # phrase pairs in them
    tally: PhraseTally  # different ones
    counts: Counter[str]  # problems in the files, by kind


def phrases(
    client: Connection,
    aligned: str,
    output: str,
    *,
    source: str | None = None,
    target: str | None = None,
    annotator: str | None = None,
    format: str | None = None,
    links: str = "possible",
    kind: str = "all",
    loose: bool = False,
    max_length: int | None = None,
    ignore_identical: bool = False,
    min_count: int = 1,
    work: str | None = None,
    wait: float | None = None,
    progress: OnProgress | None = None,
) -> Counted:
    """Write the phrase table of the parts of a corpus.

    Parameters
    ----------
    client, work, wait, progress : As in `alignkit.cluster.align`.
    aligned, source, target : Paths with one ``*``: the alignments of the parts, and the words if
        these have none.
    output : The file of the table.
    annotator, format, links, kind, loose, max_length, ignore_identical, min_count : As in
        `alignkit.read_corpus` and `alignkit.rules.tables.phrase_table`.

    Raises
    ------
    AlignkitError : If something cannot be read, written, or computed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = "samples/french-english/"
    >>> texts = {"source": folder + "fr.txt", "target": folder + "en.txt"}
    >>> with TemporaryDirectory() as output:
    ...     table = output + "/table.tsv"
    ...     counted = phrases(None, folder + "gold.align", table, max_length=1, **texts)
    >>> counted.pairs, counted.occurrences
    (52, 403)
    """
    check_arguments(phrases, locals())
    sides = {}
    if source is not None:
        sides["source"] = source
    if target is not None:
        sides["target"] = target
    with open_session(client, wait=wait) as session:
        parts = find_parts(aligned, *sides.values())
        settings = TableSettings(links, kind, loose, max_length, ignore_identical)
        given = AlignedInput(tuple(sides), format, annotator)
        how = ExchangeOptions(work=work, progress=progress)
        return count_parts(session, parts, output, settings, given, how, min_count=min_count)


def count_parts(
    session: Session,
    parts: Sequence[Part],
    output: str,
    settings: TableSettings,
    given: AlignedInput,
    options: ExchangeOptions,
    *,
    min_count: int,
) -> Counted:
    """Write the phrase table of parts in a session; see `phrases`."""
    if given.format is None:
        path = largest_of(parts).paths[0]
        given = replace(given, format=find_format(path, encoding=given.reading.encoding))
    contents = {
        "command": "phrases",
        "settings": asdict(settings),
        "min_count": min_count,
        "input": asdict(given),
    }
    count = partial(_read_pairs, settings=settings, given=given)
    turn = partial(_turn_pairs, min_count=min_count)
    steps = ExchangeSteps(
        Step("parts", "counted", count),
        Step("target phrases", "brought together", turn, rooms=2),
        Step("source phrases", "written", _write_pairs),
    )
    inputs = [TablePart(part.key, part) for part in parts]
    values, tallies = exchange_records(session, inputs, output, steps, options, contents=contents)
    return Counted(
        pairs=sum(part["pairs"] for part in values),
        occurrences=sum(part["occurrences"] for part in values),
        tally=PhraseTally(**_total(tallies)),
        counts=_total(part["counts"] for part in values),
    )


def _total(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Add up counts by name."""
    return sum(map(Counter, counts), Counter())


def open_part(part: Part, given: AlignedInput) -> tuple[Iterator[SentencePair], Reading]:
    """Return the sentence pairs of a part, and their reading."""
    named: dict[str, Any] = dict(zip(given.sides, part.paths[1:], strict=True))
    options = replace(given.reading, **named)
    kind, reading = open_reading(part.paths[0], format=given.format, options=options)
    return read_pairs(kind, reading), reading


def _read_pairs(
    part: TablePart,
    exchange: BucketExchange,
    parts: int,
    *,
    settings: TableSettings,
    given: AlignedInput,
) -> Done:
    """Count the phrase pairs of one of several parts, and write them as records."""
    path = part.files.paths[0]
    with (
        counting.PhraseCounts(settings, folder=exchange.folder, room=exchange.room) as made,
        naming(path),
    ):
        pairs, reading = open_part(part.files, given)
        made.add(Choice(path, given.annotator).annotated(pairs))
        files, sample = phrase_buckets.write_records(
            exchange, part.key, parts, made.records(), made.words
        )
        value = {
            "pairs": reading.read,
            "occurrences": made.occurrences,
            "counts": dict(reading.counts),
            "sample": sample,
        }
    return Done(value, files)


def _turn_pairs(
    bucket: int,
    exchange: BucketExchange,
    words: SharedWords,
    cuts: Sequence[Sequence[int]],
    *,
    min_count: int,
) -> Done:
    """Add up a bucket of the phrase pairs of all parts; write it in buckets by source phrase."""
    # words keep their numbers, which are in order already
    ranks = np.arange(len(WordPool.read(words.pool)), dtype=np.int32)
    tally = PhraseTally()
    with Runs(exchange.folder, room=exchange.room) as runs:
        phrase_buckets.add_records(runs, exchange, bucket, words.places)
        records = counting.turned(runs, ranks, min_count, tally)
        path = phrase_buckets.write_turned(exchange, bucket, records, cuts)
    return Done(asdict(tally), [path])


def _write_pairs(bucket: int, exchange: BucketExchange, pool: str) -> Done:
    """Write the lines of a bucket of the phrase table."""
    words = WordPool.shown(WordPool.read(pool).words())
    with Runs(exchange.folder, sums=2, room=exchange.room) as runs:
        phrase_buckets.add_turned(runs, exchange, bucket)
        lines = counting.phrase_lines(counting.table_blocks(runs), words)
        path = phrase_buckets.write_text(exchange, bucket, lines)
    return Done({}, [path])


# Pivots


@dataclass(frozen=True)
class TableInput:
    """How to read the files of tables."""

    on: str = "source"  # the side of the pivot
    min_count: int = 1  # entries seen less often are left out
    format: str | None = None  # of the files; None finds it out, as `TableFile` does
    reading: ReadOptions = field(default_factory=ReadOptions)

    def __post_init__(self) -> None:
        check_known("side", self.on, SIDES)
        if self.min_count < 1:
            raise OptionError(f"`min_count` is {self.min_count}; it must be at least 1")


@dataclass(frozen=True)
class Joined:
    """The number of joined entries of each table."""

    entries: tuple[int, ...]
    left_out: tuple[int, ...]
    repeated: int  # how many a table holds twice
    tally: pivots.PivotTally


def pivot(
    client: Connection,
    table: str,
    output: str,
    *,
    second: str | None = None,
    on: str = "source",
    min_count: int = 1,
    min_p: float = 0.001,
    top: int | None = 20,
    identity: bool = False,
    work: str | None = None,
    wait: float | None = None,
    progress: OnProgress | None = None,
) -> Joined:
    r"""Write the paraphrases from phrase tables.

    Parameters
    ----------
    client, work, wait, progress : As in `alignkit.cluster.align`.
    table, second : The file of a table, or a path with one ``*`` for a table in several files.
    output : The file of the paraphrases.
    on, min_count, min_p, top, identity : As in `alignkit.rules.tables.pivot`.

    Raises
    ------
    AlignkitError : If something cannot be read, written, or computed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> lines = ["unter ||| below ||| 1 1 .4 1", "unter ||| under ||| 1 1 .6 1"]
    >>> with TemporaryDirectory() as folder:
    ...     table, output = Path(folder, "moses.txt"), Path(folder, "paraphrases.tsv")
    ...     _ = table.write_text("\n".join(lines), "utf-8")
    ...     joined = pivot(None, str(table), str(output))
    ...     print(output.read_text("utf-8").split("\t")[:3])
    ['below', 'under', '0.6']
    """
    check_arguments(pivot, locals())
    tables = [find_parts(path) for path in (table, second) if path is not None]
    with open_session(client, wait=wait) as session:
        settings = pivots.PivotSettings(min_p, top, identity)
        given = TableInput(on, min_count)
        how = ExchangeOptions(work=work, progress=progress)
        return join_tables(session, tables, output, settings, given, how)


def join_tables(
    session: Session,
    tables: Sequence[Sequence[Part]],
    output: str,
    settings: pivots.PivotSettings,
    given: TableInput,
    options: ExchangeOptions,
) -> Joined:
    """Write the paraphrases of one or two tables, each in several files; see `pivot`."""
    inputs: list[TablePart] = []
    for number, table in enumerate(tables, start=1):
        inputs += [TablePart(f"{number}-{part.key}", part, number) for part in table]
    contents = {"command": "pivot", "settings": asdict(settings), "input": asdict(given)}
    join = partial(_turn_entries, tables=len(tables), identity=settings.identity)
    steps = ExchangeSteps(
        Step("tables", "read", partial(_read_entries, given=given)),
        Step("pivots", "joined", join),
        Step("paraphrases", "written", partial(_write_paraphrases, settings=settings)),
        marks=_MARKS,
    )

    def by_table(values: Iterable[dict[str, Any]], name: str) -> tuple[int, ...]:
        """Return the sums of a number of the parts, by table."""
        sums = [0] * len(tables)
        for part in values:
            sums[part["table"] - 1] += part[name]
        return tuple(sums)

    def check(values: Iterable[dict[str, Any]]) -> None:
        """Refuse a table without entries."""
        for count, table in zip(by_table(values, "entries"), tables, strict=True):
            if not count:
                more = ""
                if len(table) > 1:
                    more = f" or {len(table) - 1} more"
                raise OptionError(
                    f"{table[0].paths[0]}: no phrase pairs in this file{more}; give a file "
                    "with phrase pairs"
                )

    values, tallies = exchange_records(
        session, inputs, output, steps, options, contents=contents, check=check
    )
    entries = by_table(values, "entries")
    left_out = by_table(values, "left_out")
    tally = pivots.PivotTally(**_total(tallies))
    repeated = sum(entries) - sum(left_out) - tally.entries
    return Joined(entries, left_out, repeated, tally)


def _read_entries(
    part: TablePart, exchange: BucketExchange, parts: int, *, given: TableInput
) -> Done:
    """Read a file of a table, and write its entries as records."""
    file = TableFile(part.files.paths[0], given.format, given.reading)
    with pivots.Pivot(folder=exchange.folder, room=exchange.room) as made:
        entries = made.add_file(part.table, file, on=given.on, min_count=given.min_count)
        files, sample = phrase_buckets.write_records(
            exchange, part.key, parts, made.records(), made.words
        )
        value = {
            "table": part.table,
            "entries": entries,
            "left_out": entries - made.added,
            "sample": sample,
        }
    return Done(value, files)


def _turn_entries(
    bucket: int,
    exchange: BucketExchange,
    words: SharedWords,
    cuts: Sequence[Sequence[int]],
    *,
    tables: int,
    identity: bool,
) -> Done:
    """Join a bucket of the entries of all files at their pivots, and write it in buckets."""
    names = SymbolNames.without_variables(len(WordPool.read(words.pool)) + 1)
    tally = pivots.PivotTally()
    with Runs(exchange.folder, sums=0, maxima=2, room=exchange.room) as runs:
        phrase_buckets.add_records(runs, exchange, bucket, words.places)
        paths = pivots.pivot_paths(runs, tables, identity, names, tally)
        path = phrase_buckets.write_turned(exchange, bucket, paths, cuts)
    return Done(asdict(tally), [path])


def _write_paraphrases(
    bucket: int, exchange: BucketExchange, pool: str, *, settings: pivots.PivotSettings
) -> Done:
    """Write the lines of a bucket of the paraphrases."""
    words = WordPool.shown(WordPool.read(pool).words())
    tally = pivots.PivotTally()
    with Runs(exchange.folder, sums=pivots.VALUES, room=exchange.room) as runs:
        phrase_buckets.add_turned(runs, exchange, bucket)
        tally.paths = runs.added
        lines = pivots.pivot_lines(pivots.kept_paraphrases(runs, settings, tally), words)
        path = phrase_buckets.write_text(exchange, bucket, lines)
    return Done(asdict(tally), [path])
