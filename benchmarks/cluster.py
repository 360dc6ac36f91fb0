"""Compare two workers of a cluster on this machine with one process, and print a table.

    python -m benchmarks.cluster [--lines N ...] [--parts N ...] [--runs N]
        [--tasks train align table pivot] [--markdown]

Files to files: a training with its model and links, links by a saved model (one process: two
threads), the phrase table, paraphrases.
What the workers write is compared, byte for byte, with what the process writes. The text is that of
`python -m benchmarks`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from alignkit import cluster
from alignkit.align import Aligner
from alignkit.align import Bitext as Numbered
from alignkit.cli import main as command
from alignkit.tables.table import Table
from benchmarks.bitext import Bitext, find_bitext
from benchmarks.clock import Measured, in_turn
from benchmarks.machine import load, machine

_LINES = (100_000,)
_PARTS = (2, 7, 20)
_WORKERS = 2
_TASKS = ("train", "align", "table", "pivot")
_PACKAGES = ("alignkit", "numpy", "numba", "dask", "distributed")
_COLUMNS = ("lines", "parts", "task", "process", "workers", "workers / process", "MB a worker")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, default in (("lines", _LINES), ("parts", _PARTS)):
        parser.add_argument(f"--{name}", type=int, nargs="+", default=default, metavar="N")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--tasks", choices=_TASKS, nargs="+", default=_TASKS, metavar="T")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args(arguments)
    print(machine(_PACKAGES))
    rows = [row for lines in options.lines for row in _rows(find_bitext(lines), options)]
    table = Table.from_records(
        rows, columns=list(_COLUMNS), digits={"process": 2, "workers": 2, "workers / process": 2}
    )
    print(table.show("markdown") if options.markdown else table)
    print(
        f"\nSeconds, medians of {options.runs} runs in turn, kernels compiled and the {_WORKERS} "
        "workers there (starting them is not counted). MB: the peak of the largest worker so far."
        f"\nload after: {load()}"
    )


def _rows(bitext: Bitext, options: argparse.Namespace) -> Iterator[dict[str, object]]:
    from distributed import Client, LocalCluster

    with TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, bitext, options.parts)
        for parts in options.parts:
            quiet = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
            with (
                LocalCluster(n_workers=_WORKERS, threads_per_worker=1, **quiet) as started,
                Client(started) as client,
            ):
                for task, (process, workers) in _tasks(folder, parts, client).items():
                    if task not in options.tasks:
                        continue
                    process(), workers()
                    _compare(folder / task, folder / f"{task}-parts", task)
                    taken = in_turn({"process": process, "workers": workers}, options.runs)
                    seconds = {name: one.seconds for name, one in taken.items()}
                    yield {
                        "lines": len(bitext.source),
                        "parts": parts,
                        "task": task,
                        **seconds,
                        "workers / process": seconds["workers"] / seconds["process"],
                        "MB a worker": round(max(client.run(_peak).values()) / 1e6),
                    }


def _write(folder: Path, bitext: Bitext, cuts: Sequence[int]) -> None:
    """Write the text, its parts, and a model that is trained on it."""
    sides = {"fr": bitext.source, "en": bitext.target}
    for side, lines in sides.items():
        (folder / f"whole.{side}").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        for parts in cuts:
            ends = [len(lines) * k // parts for k in range(parts + 1)]
            for k, (begin, end) in enumerate(pairwise(ends)):
                text = "".join(f"{line}\n" for line in lines[begin:end])
                (folder / f"{parts}-{k}.{side}").write_text(text, "utf-8")
    pairs = zip(bitext.source, bitext.target, strict=True)
    Aligner.train(Numbered.pack(list(pairs))).save(folder / "model")


def _tasks(
    folder: Path, parts: int, client: object
) -> dict[str, tuple[Callable[[], Measured], Callable[[], Measured]]]:
    source, target = (f"{folder}/{parts}-*.{side}" for side in ("fr", "en"))
    whole = [f"{folder}/whole.{side}" for side in ("fr", "en")]
    links, model = f"{folder}/{parts}-*.links", f"{folder}/model"
    table, pivots = (f"{folder}/{name}" for name in ("table", "pivot"))
    texts = ["--source", whole[0], "--target", whole[1], "--format", "pharaoh"]
    sides = {"source": source, "target": target, "format": "pharaoh"}

    def train() -> None:
        with TemporaryDirectory() as work:
            cluster.train(
                client, source, target, work=work, output=links, save=f"{folder}/train-parts"
            )
        _join(folder, parts)

    def align() -> None:
        cluster.align(client, source, target, links, model=model)
        _join(folder, parts)

    return {
        "train": (
            _timed(
                "align",
                *whole,
                "--save",
                f"{folder}/train",
                "--threads",
                "2",
                "-o",
                f"{folder}/align",
            ),
            lambda: _clocked(train),
        ),
        "align": (
            _timed("align", *whole, "--load", model, "--threads", "2", "-o", f"{folder}/align"),
            lambda: _clocked(align),
        ),
        "table": (
            _timed(
                "phrases", f"{folder}/align", *texts, "--table", "--max-length", "7", "-o", table
            ),
            lambda: _clocked(
                lambda: cluster.phrases(client, links, f"{table}-parts", max_length=7, **sides)
            ),
        ),
        "pivot": (
            _timed("pivot", table, "-o", pivots),
            lambda: _clocked(lambda: cluster.pivot(client, table, f"{pivots}-parts")),
        ),
    }


def _join(folder: Path, parts: int) -> None:
    files = (folder / f"{parts}-{k}.links" for k in range(parts))
    (folder / "align-parts").write_bytes(b"".join(file.read_bytes() for file in files))


def _timed(*words: str) -> Callable[[], Measured]:
    return lambda: _clocked(lambda: command([*words, "--quiet"]))


def _clocked(call: Callable[[], object]) -> Measured:
    start = perf_counter()
    call()
    return Measured(perf_counter() - start)


def _compare(one: Path, other: Path, task: str) -> None:
    if one.read_bytes() != other.read_bytes():
        sys.exit(f"{task}: the workers wrote something else")


def _peak() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
