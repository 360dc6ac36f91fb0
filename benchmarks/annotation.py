"""Time the store of annotations: make a project, open pairs, edit, replay a million events."""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from msgspec import Raw

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.creation import create_project
from alignkit.annotate.exporting import exported
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.project.events import LogEvent, Request, Sent, encode
from alignkit.annotate.project.project_events import Account, Import, Pair, Setting
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.store import Store
from alignkit.io.format import EVERYTHING
from alignkit.tables.table import Table
from benchmarks.clock import watched
from benchmarks.machine import load, machine

_PAIRS, _EVENTS, _QUICK = 10_000, 1_000_000, 20
_WORDS = tuple(f"word{k}" for k in range(20))
_PACKAGES = ("alignkit", "sqlalchemy", "msgspec")
_AT = "2020-01-01T00:00:00.000+00:00"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.annotation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"1/{_QUICK} of pairs and events")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    share = _QUICK if options.quick else 1
    print(machine(_PACKAGES))
    with TemporaryDirectory() as folder:
        rows = [*_pairs(Path(folder), _PAIRS // share), *_log(Path(folder), _EVENTS // share)]
    table = Table.from_records(rows, digits={"s": 4})
    print(table.show("markdown" if options.markdown else "text"))
    print(f"load after: {load()}")


def _row(task: str, size: int, seconds: float) -> dict[str, object]:
    return {"task": task, "of": f"{size:,}", "s": seconds}


def _timed(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def _pairs(folder: Path, size: int) -> Iterator[dict[str, object]]:
    links = Alignment([(k, k) for k in range(20)])
    said = dict.fromkeys(("anna", "ben", "gold"), links)
    corpus = Corpus(SentencePair(str(k), _WORDS, _WORDS, said) for k in range(1, size + 1))
    path = str(folder / "pairs")
    yield _row(
        "make a project, three annotators", size, _timed(lambda: create_project(path, corpus))
    )
    with Store.open(path) as store:
        store.enrol("new")
        chosen = random.Random(1).sample(range(1, size), 200)
        for name in ("new", "anna"):
            times = [_timed(lambda k=k, name=name: store.pair(k, name)) for k in chosen]
            yield _row(f"open a pair ({name}), median", size, median(times))
            yield _row(f"open a pair ({name}), slowest", size, max(times))
        yield _row("find words", size, _timed(lambda: store.queue("new", query="word19 word")))
        yield _row("an edit, median", size, median(_edits(store, chosen)))
        yield _row("export", size, _timed(lambda: list(exported(store))))
        fewer = dict.fromkeys(("anna", "ben", "gold"), Alignment([(k, k) for k in range(19)]))
        others = [SentencePair(str(k), _WORDS, _WORDS, fewer) for k in range(1, size + 1)]
        yield _row(
            "import other work of three annotators",
            size,
            _timed(lambda: import_pairs(store, others, holds=frozenset(EVERYTHING))),
        )


def _edits(store: Store, chosen: list[int]) -> Iterator[float]:
    for k in chosen:
        data = Raw(b'{"how": "cell", "cells": [[0, 0, 0, 2]]}')
        sent = Sent(f"event{k}", "edit", data)
        request = Request(base=0, rev=1, events=[sent])
        yield _timed(lambda k=k, request=request: store.append(k, "new", request).result())


def _log(folder: Path, size: int) -> Iterator[dict[str, object]]:
    path = str(folder / "log")
    yield _row("rebuild from its log", size, _timed(lambda: build_project(path, _events(size))))
    for task, option in (
        ("replay and compare", ["--check"]),
        ("print the log", ["-o", os.devnull]),
    ):
        taken = watched(["alignkit", "project", "log", path, *option])
        yield _row(f"{task} (`project log {option[0]}`), the whole process", size, taken.seconds)


def _events(size: int) -> Iterator[LogEvent]:
    """Yield a log: cells of 20 x 20 set in random order, over a thousandth as many pairs."""
    pairs = max(size // 200, 1)
    numbers, seqs, rng = count(1), count(1), random.Random(1)
    words = [Pair(k, str(k), _WORDS, _WORDS) for k in range(1, pairs + 1)]
    for kind, data in (
        ("setting", Setting("key", "log")),
        ("account", Account("anna")),
        ("import", Import(words)),
    ):
        n = next(numbers)
        yield LogEvent(f"p{n}", next(seqs), n, kind, 1, "", _AT, "", 0, Raw(encode(data)))
    states: list[dict[tuple[int, int], int]] = [{} for _ in range(pairs + 1)]
    tops = [0] * (pairs + 1)
    for n in range(next(numbers), next(numbers) + size - 1):
        k, i, j = rng.randint(1, pairs), rng.randrange(20), rng.randrange(20)
        before = states[k].get((i, j), 0)
        after = states[k][i, j] = (before + 1) % 3
        data = b'{"how":"cell","cells":[[%d,%d,%d,%d]]}' % (i, j, before, after)
        yield LogEvent(
            f"{n:032x}", tops[k] + 1, n, "edit", 1, "anna", _AT, "", tops[k], Raw(data), k, "anna"
        )
        tops[k] += 1


if __name__ == "__main__":
    main()
