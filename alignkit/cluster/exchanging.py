"""Do the steps of a table over parts: each part's records, buckets of them, and lines in order.

Each part writes its records in buckets by their first phrases. A bucket brings those of all parts
together, and writes them turned round, in buckets by the order of their second phrases; of these
each makes its lines, so that all lines, one bucket after the other, are in order.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from alignkit.cluster.checking import OnProgress, check_parts, file_facts, inputs_of, largest_first
from alignkit.cluster.exchange import Exchange, Numbered, cut_points, number_words
from alignkit.cluster.parts import Part, one_file, refuse_replacing
from alignkit.cluster.run import Done, Run, running
from alignkit.cluster.session import Session, Task, steps
from alignkit.formats.options import ReadOptions
from alignkit.output import apart, replacing_bytes
from alignkit.tables.exchange import WordPool

_PROGRAM = 300_000_000  # bytes of Python, its libraries, the kernels, and the words of a part
_SMALLER = "let tables be sorted in less, by a lower --memory"


def memory_of(room: int) -> int:
    """Return about how many bytes a task takes that sorts in some bytes of memory."""
    return _PROGRAM + room


class Exchanging:
    """The steps of a run, one after the other; `reporters` is made by `steps`."""

    def __init__(
        self,
        session: Session,
        run: Run,
        exchange: Exchange,
        reporters: Callable[[str], Callable[[str], None] | None],
    ) -> None:
        self._session, self._run, self._exchange, self._reporters = (
            session,
            run,
            exchange,
            reporters,
        )

    def records(
        self, text: str, function: Callable[..., Done], parts: Mapping[str, tuple[Any, ...]]
    ) -> dict[str, Any]:
        """Let each part write its records; return what the tasks gave."""
        names, memory = list(parts), memory_of(self._exchange.room)
        self._run.claim(*(self._exchange.path("words", name) for name in names))
        tasks = {}
        for k in largest_first(range(len(parts)), [part for part, *_ in parts.values()]):
            part, *given = parts[names[k]]
            part = part.called(self._session.path)
            arguments = part, *given, self._exchange, len(parts)
            tasks[names[k]] = Task(str(part), arguments, memory, _SMALLER)
        return self._run.do(
            self._session, "records", function, tasks, self._reporters(text), errors=10
        )

    def number(self, values: Mapping[str, Any]) -> tuple[Numbered, list[list[int]]]:
        """Give the words of all parts numbers, and cut their second phrases into buckets."""
        numbered = number_words(self._run, self._session, self._exchange, list(values))
        samples = [phrase for part in values.values() for phrase in part["sample"]]
        pool = WordPool.read(numbered.pool)
        return numbered, cut_points(samples, pool, self._exchange.buckets)

    def turned(
        self, what: tuple[str, str], function: Callable[..., Done], *given: Any, rooms: int = 1
    ) -> list[Any]:
        """Let each bucket of records write them turned round; return what the tasks gave."""
        return self._buckets("turned", self._exchange.buckets, what, function, given, rooms)

    def lines(
        self,
        output: str,
        count: int,
        what: tuple[str, str],
        function: Callable[..., Done],
        *given: Any,
    ) -> list[Any]:
        """Let each bucket of second phrases write its lines, and join them."""
        values = self._buckets("lines", count, what, function, given)
        with apart(), replacing_bytes(output, text=True) as out:
            for bucket in range(count):
                with open(self._exchange.path("lines", bucket), "rb") as lines:
                    shutil.copyfileobj(lines, out, 1 << 20)
        return values

    def _buckets(
        self,
        step: str,
        count: int,
        what: tuple[str, str],
        function: Callable[..., Done],
        given: Sequence[Any],
        rooms: int = 1,
    ) -> list[Any]:
        thing, done = what
        memory = memory_of(rooms * self._exchange.room)
        tasks = {
            f"{k}": Task(f"bucket {k} of {thing}", (k, *given, self._exchange), memory, _SMALLER)
            for k in range(count)
        }
        report = self._reporters(f"{thing} are {done}")
        return list(self._run.do(self._session, step, function, tasks, report).values())


@contextmanager
def exchanging(
    session: Session,
    parts: Sequence[Part],
    output: str,
    what: Mapping[str, Any],
    reading: ReadOptions,
    *,
    room: int,
    buckets: int | None,
    work: str | None,
    progress: OnProgress | None,
) -> Iterator[Exchanging]:
    """Begin a run, or go on with one; see `running` for its folder, `Exchange` for the rest."""
    refuse_replacing([one_file(output)], parts)
    parts = [part.called(session.path) for part in parts]
    with running(work, output) as run:
        run.try_workers(session)
        facts = check_parts(session, parts, file_facts, reading, run=run)
        run.settle({**what, "inputs": inputs_of(parts, facts)})
        begun_with = run.read("buckets.json")
        if begun_with is None:
            begun_with = buckets or 2 * session.workers
            run.write(begun_with, "buckets.json")
        exchange = Exchange(run.folder, begun_with, room)
        reporters = steps(progress, len(parts) + 2 * exchange.buckets)
        yield Exchanging(session, run, exchange, reporters)
