"""Compare alignkit with plain Python and with nltk, and print a table with ratios."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from alignkit.tables.table import Table
from benchmarks.clock import LONG, watched
from benchmarks.machine import load, machine
from benchmarks.material import TIMES, Material, make_material
from benchmarks.tasks import TASKS, Row

_LINES = 100_000
_QUICK = 20
_PACKAGES = ("alignkit", "numpy", "numba", "nltk")


def main() -> None:
    """Run the command."""
    options = _options()
    lines = _LINES // _QUICK if options.quick else _LINES
    material = make_material(lines, options.cache)
    print(f"{material.name}: {material.lines:,} lines, x {TIMES} for {TIMES * lines:,}")
    print(f"{machine(_PACKAGES)}\n{_compilation(material)}\n")
    rows = []
    for task in TASKS:
        for row in task(material, options.runs):
            rows.append(_record(row))
            print(f"measured: {row.task}, {row.lines:,} lines", file=sys.stderr, flush=True)
    digits = dict.fromkeys(("plain / alignkit", "nltk / alignkit"), 1)
    table = Table.from_records(rows, digits=digits)
    print(table.show("markdown") if options.markdown else table)
    print(
        f"\nSeconds: medians of {options.runs} runs, taken in turn, kernels compiled; what takes "
        f"over {LONG} s ran once. MB: greatest peak of a whole process."
    )
    print(f"load after: {load()}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"1/{_QUICK} of the lines")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where files are kept")
    return parser.parse_args()


def _compilation(material: Material) -> str:
    """Say how long the first command takes that must compile its kernels, and how long the next."""
    files = [material.spread(name, 100) for name in ("hypothesis", "reference")]
    with TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        first, second = (watched(["alignkit", "score", *files], environment) for _ in range(2))
    return (
        f"alignkit score on 100 lines: {first.seconds:.1f} s when its kernels must be compiled "
        f"(once on a machine), then {second.seconds:.1f} s"
    )


def _record(row: Row) -> dict[str, object]:
    taken = row.taken
    ours = taken["alignkit"]
    record: dict[str, object] = {"task": row.task, "lines": f"{row.lines:,}"}
    for name in ("alignkit", "plain", "nltk"):
        record[f"{name} s"] = taken[name].seconds if name in taken else None
    for name in ("plain", "nltk"):
        ratio = taken[name].seconds / ours.seconds if name in taken else None
        record[f"{name} / alignkit"] = ratio
    record["lines/s"] = f"{row.lines / ours.seconds:,.0f}"
    record["phrase pairs/s"] = f"{row.made / ours.seconds:,.0f}" if row.made else None
    for name in ("alignkit", "plain"):
        peak = taken[name].peak if name in taken else None
        record[f"{name} MB"] = None if peak is None else round(peak / 1e6)
    return record


if __name__ == "__main__":
    main()
