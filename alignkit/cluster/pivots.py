"""Join phrase tables on their pivots by many workers: paraphrases, with the bytes of one machine.

Each file is read and written in buckets by pivot. A bucket joins all phrases of its pivots, and
writes the paths in buckets by the order of the phrases that they begin with; of these each makes
its lines. The sums of paths are exact, so that it does not matter who adds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from alignkit.arguments import check_arguments
from alignkit.cluster.checking import OnProgress
from alignkit.cluster.exchange import (
    Exchange,
    Sample,
    add_records,
    add_turned,
    write_records,
    write_text,
    write_turned,
)
from alignkit.cluster.exchanging import exchanging
from alignkit.cluster.parts import Part, find_parts
from alignkit.cluster.run import Done
from alignkit.cluster.session import Connection, Session, open_session
from alignkit.errors import OptionError, UnknownNameError
from alignkit.formats.options import ReadOptions
from alignkit.input import MAX_MEGABYTES
from alignkit.tables.exchange import WordPool
from alignkit.tables.paraphrases import PIVOTS, Pivot
from alignkit.tables.pivot_steps import (
    VALUES,
    PivotSettings,
    PivotTally,
    chosen,
    joined,
    pivot_lines,
)
from alignkit.tables.runs import ROOM, Runs
from alignkit.tables.table_file import TableFile

_MARK = 1  # symbol behind the pivot: the number of the table


@dataclass(frozen=True)
class TableInput:
    """How the files of tables are read."""

    on: str = "source"  # the side of the pivot
    min_count: int = 1  # entries that were seen less often are left out
    format: str | None = None  # as of TableFile
    encoding: str = "utf-8"
    max_size: int = MAX_MEGABYTES

    def __post_init__(self) -> None:
        if self.on not in PIVOTS:
            raise UnknownNameError("side", self.on, PIVOTS)
        if self.min_count < 1:
            raise OptionError(f"min_count is {self.min_count}; the least is 1")


@dataclass(frozen=True)
class Joined:
    """What was joined."""

    entries: tuple[int, ...]
    left_out: tuple[int, ...]
    repeated: int  # how many were there before
    tally: PivotTally  # what was joined of them


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
    """Write the paraphrases that phrase tables hold.

    Parameters
    ----------
    client, work, wait, progress
        As of `alignkit.cluster.align`.
    table, second
        The file of a table; or a path with one ``*``, for the files that it is in.
    output
        The file of the paraphrases.
    on, min_count, min_p, top, identity
        As of `alignkit.tables.pivot`.

    Raises
    ------
    AlignkitError
        If something cannot be read, written, or done.
    """
    check_arguments(pivot, locals())
    tables = [find_parts(path) for path in (table, second) if path is not None]
    with open_session(client, wait=wait) as session:
        return join_tables(
            session,
            tables,
            output,
            PivotSettings(min_p, top, identity),
            TableInput(on, min_count),
            work=work,
            progress=progress,
        )


def join_tables(
    session: Session,
    tables: Sequence[Sequence[Part]],
    output: str,
    settings: PivotSettings,
    given: TableInput,
    *,
    room: int = ROOM,
    buckets: int | None = None,
    work: str | None = None,
    progress: OnProgress | None = None,
) -> Joined:
    """Write the paraphrases of one or two tables, each in some files, in a session; see `pivot`."""
    files = [part for table in tables for part in table]
    what = {"command": "pivot", "settings": asdict(settings), "input": asdict(given)}
    with exchanging(
        session,
        files,
        output,
        what,
        ReadOptions(),
        room=room,
        buckets=buckets,
        work=work,
        progress=progress,
    ) as run:
        tasks = {
            f"{side}-{part.key}": (part, side, given)
            for side, table in enumerate(tables, 1)
            for part in table
        }
        values = run.records("tables are read", _read_part, tasks)
        sides = range(1, len(tables) + 1)
        entries, left_out = (
            tuple(sum(part[name] for part in values.values() if part["side"] == k) for k in sides)
            for name in ("entries", "left_out")
        )
        for count, table in zip(entries, tables, strict=True):
            if not count:
                more = f", nor do {len(table) - 1} more" if len(table) > 1 else ""
                raise OptionError(
                    f"{table[0].paths[0]}: holds no phrase pairs{more}; name a file that does"
                )
        numbered, cuts = run.number(values)
        tallies = run.turned(
            ("pivots", "joined"),
            _join,
            *(numbered.places, numbered.pool, len(tables), cuts, settings.identity),
        )
        tallies += run.lines(
            output, len(cuts) + 1, ("paraphrases", "written"), _write, *(numbered.shown, settings)
        )
    names = [field.name for field in fields(PivotTally)]
    tally = PivotTally(*(sum(row[name] for row in tallies) for name in names))
    return Joined(entries, left_out, sum(entries) - sum(left_out) - tally.entries, tally)


def _read_part(part: Part, side: int, given: TableInput, exchange: Exchange, parts: int) -> Done:
    path = part.paths[0]
    file = TableFile(path, format=given.format, encoding=given.encoding, max_size=given.max_size)
    sample = Sample(parts, _MARK)
    with Pivot(folder=exchange.folder, room=exchange.room) as made:
        entries = made.add_file(side, file, on=given.on, min_count=given.min_count)
        words = made.words
        blocks = map(sample.seen, made.records())
        key = f"{side}-{part.key}"
        files = write_records(exchange, key, blocks, words, skip=_MARK)
        value = {
            "side": side,
            "entries": entries,
            "left_out": entries - made.added,
            "sample": sample.phrases(words),
        }
    return Done(value, files)


def _join(
    bucket: int,
    places: Mapping[str, str],
    pool: str,
    tables: int,
    cuts: Sequence[Sequence[int]],
    identity: bool,
    exchange: Exchange,
) -> Done:
    count = len(WordPool.read(pool)) + 1
    names = (
        np.arange(count, dtype=np.int32),
        np.full(count, -1, np.int32),
        np.zeros((count, 1), np.int32),
    )
    tally = PivotTally()
    with Runs(exchange.folder, sums=0, maxima=2, room=exchange.room) as runs:
        add_records(runs, exchange, bucket, places, skip=_MARK)
        paths = joined(runs, tables, identity, names, tally)
        path = write_turned(exchange, bucket, paths, cuts)
    return Done(asdict(tally), [path])


def _write(bucket: int, shown: str, settings: PivotSettings, exchange: Exchange) -> Done:
    words, tally = WordPool.read(shown), PivotTally()
    with Runs(exchange.folder, sums=VALUES, room=exchange.room) as runs:
        add_turned(runs, exchange, bucket)
        tally.paths = runs.added
        lines = pivot_lines(chosen(runs, settings, tally), words)
        path = write_text(exchange, bucket, lines)
    return Done(asdict(tally), [path])
