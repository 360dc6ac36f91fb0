"""Count the phrase pairs of the parts of a corpus: a phrase table, with the bytes of one machine.

Each part counts its own and writes them in buckets by target phrase. A bucket brings those of all
parts together, so that it knows the totals of its target phrases, and writes them turned round, in
buckets by the order of source phrases; of these each makes its lines of the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from alignkit.arguments import check_arguments
from alignkit.choice import Choice, naming
from alignkit.cluster.checking import OnProgress, largest_of
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
from alignkit.formats import Reading, ReadOptions, find_format, open_reading, read_pairs
from alignkit.tables.exchange import WordPool
from alignkit.tables.phrase_steps import Tally, table_blocks, table_lines, turned
from alignkit.tables.phrase_tables import PhraseCounts, TableSettings
from alignkit.tables.runs import ROOM, Runs

if TYPE_CHECKING:
    from alignkit.sentence_pair import SentencePair


@dataclass(frozen=True)
class AlignedInput:
    """How the files of a part are read."""

    sides: tuple[str, ...] = ()  # what the files behind the first are: some of source and target
    format: str | None = None  # of the first one; None finds it, in the largest part
    annotator: str | None = None  # whose alignments; None where there is one alone
    reading: ReadOptions = field(default_factory=ReadOptions)  # how files are encoded, and the like


@dataclass(frozen=True)
class Counted:
    """What a table holds."""

    pairs: int  # how many sentence pairs were read, and how many phrase pairs found in them
    occurrences: int
    tally: Tally  # how many different ones, and how many of those were not frequent enough
    found: Counter[str]  # what was odd in the files, by kind


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
    client, work, wait, progress
        As of `alignkit.cluster.align`.
    aligned, source, target
        Paths with one ``*``: the alignments of the parts, and the words if these hold none.
    output
        The file of the table.
    annotator, format, links, kind, loose, max_length, ignore_identical, min_count
        As of `alignkit.read_corpus` and `alignkit.tables.phrase_table`.

    Raises
    ------
    AlignkitError
        If something cannot be read, written, or done.
    """
    check_arguments(phrases, locals())
    named = {"source": source, "target": target}
    sides = {side: path for side, path in named.items() if path is not None}
    with open_session(client, wait=wait) as session:
        return count_parts(
            session,
            find_parts(aligned, *sides.values()),
            output,
            TableSettings(links, kind, loose, max_length, ignore_identical),
            AlignedInput(tuple(sides), format, annotator),
            min_count=min_count,
            work=work,
            progress=progress,
        )


def count_parts(
    session: Session,
    parts: Sequence[Part],
    output: str,
    settings: TableSettings,
    given: AlignedInput,
    *,
    min_count: int = 1,
    room: int = ROOM,
    buckets: int | None = None,
    work: str | None = None,
    progress: OnProgress | None = None,
) -> Counted:
    """Write the phrase table of some parts in a session; see `phrases`."""
    if given.format is None:
        path = largest_of(parts).paths[0]
        given = replace(given, format=find_format(path, encoding=given.reading.encoding))
    what = {
        "command": "phrases",
        "settings": asdict(settings),
        "min_count": min_count,
        "input": asdict(given),
    }
    with exchanging(
        session,
        parts,
        output,
        what,
        given.reading,
        room=room,
        buckets=buckets,
        work=work,
        progress=progress,
    ) as run:
        tasks = {part.key: (part, settings, given) for part in parts}
        values = run.records("parts are counted", _count_part, tasks)
        numbered, cuts = run.number(values)
        tallies = run.turned(
            ("target phrases", "brought together"),
            _turn,
            *(numbered.places, numbered.pool, cuts, min_count),
            rooms=2,
        )
        run.lines(output, len(cuts) + 1, ("source phrases", "written"), _write, numbered.shown)
    return Counted(
        sum(part["pairs"] for part in values.values()),
        sum(part["occurrences"] for part in values.values()),
        Tally(*(sum(tally[k] for tally in tallies) for k in range(2))),
        sum((Counter(part["found"]) for part in values.values()), Counter()),
    )


def open_part(part: Part, given: AlignedInput) -> tuple[Iterator[SentencePair], Reading]:
    """Return the sentence pairs of a part, and what reads them."""
    named: dict[str, Any] = dict(zip(given.sides, part.paths[1:], strict=True))
    options = replace(given.reading, **named)
    kind, reading = open_reading(part.paths[0], format=given.format, options=options)
    return read_pairs(kind, reading), reading


def _count_part(
    part: Part, settings: TableSettings, given: AlignedInput, exchange: Exchange, parts: int
) -> Done:
    sample = Sample(parts)
    with (
        PhraseCounts(settings, folder=exchange.folder, room=exchange.room) as counts,
        naming(part.paths[0]),
    ):
        pairs, reading = open_part(part, given)
        counts.add(Choice(part.paths[0], given.annotator).annotated(pairs))
        words = counts.words
        files = write_records(exchange, part.key, map(sample.seen, counts.records()), words)
        value = {
            "pairs": reading.read,
            "occurrences": counts.occurrences,
            "found": dict(reading.counts),
            "sample": sample.phrases(words),
        }
    return Done(value, files)


def _turn(
    bucket: int,
    places: Mapping[str, str],
    pool: str,
    cuts: Sequence[Sequence[int]],
    min_count: int,
    exchange: Exchange,
) -> Done:
    ranks = np.arange(len(WordPool.read(pool)), dtype=np.int32)
    tally = Tally()
    with Runs(exchange.folder, room=exchange.room) as runs:
        add_records(runs, exchange, bucket, places)
        records = turned(runs, ranks, min_count, tally)
        path = write_turned(exchange, bucket, records, cuts)
    return Done([tally.different, tally.left_out], [path])


def _write(bucket: int, shown: str, exchange: Exchange) -> Done:
    words = WordPool.read(shown)
    with Runs(exchange.folder, sums=2, room=exchange.room) as runs:
        add_turned(runs, exchange, bucket)
        path = write_text(exchange, bucket, table_lines(table_blocks(runs), words))
    return Done(None, [path])
