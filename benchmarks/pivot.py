"""Go from an aligned bitext to a list of paraphrases, with alignkit and in plain dictionaries.

    python -m benchmarks.pivot [--lines N] [--runs N] [--cache FOLDER] [--markdown]

Whole processes, from files to files: the phrase table (at most 7 words a side), then the
paraphrases, with the least memory that the option takes and with the default. The text is that of
`python -m benchmarks`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from alignkit.tables.table import Table
from benchmarks.clock import Measured, in_turn, watched
from benchmarks.machine import machine
from benchmarks.material import make_material

MEMORIES = (16, 128)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pivot", description=__doc__)
    parser.add_argument("--lines", type=int, default=100_000, metavar="N", help="default: 100000")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="where files are kept")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    material = make_material(options.lines, options.cache)
    files = [material.file(name) for name in ("hypothesis", "source", "target")]
    print(f"{material.name}: {material.lines:,} lines\n{machine(('alignkit', 'numpy', 'numba'))}\n")
    rows = []
    with TemporaryDirectory() as folder:
        for memory in MEMORIES:
            table, pivots = commands(files, folder, memory)
            watched(table)  # compiles, and makes what is pivoted
            watched(pivots)
            for task, command in (("phrases --table", table), ("pivot", pivots)):
                taken = in_turn(
                    {"alignkit": lambda command=command: watched(command)}, options.runs
                )
                rows.append(record(f"alignkit {task} --memory {memory}", taken["alignkit"]))
        plain = ["benchmarks.plain_pivot", *files, *(f"{folder}/plain-{k}" for k in "12")]
        taken = in_turn({"plain": lambda: watched(plain)}, options.runs)
        rows.append(record("plain Python, both", taken["plain"]))
        sizes = {name: Path(folder, name).stat().st_size / 1e6 for name in ("table", "pivots")}
    found = Table.from_records(rows)
    print(found.show("markdown") if options.markdown else found)
    print("\n" + ", ".join(f"{name}: {size:.1f} MB" for name, size in sizes.items()))


def commands(files: list[str], folder: str, memory: int) -> tuple[list[str], list[str]]:
    """Return the two commands of alignkit."""
    links, source, target = files
    table, pivots, room = f"{folder}/table", f"{folder}/pivots", ["--memory", str(memory)]
    counting = ["--table", "--max-length", "7", "--format", "pharaoh", "-o", table, *room]
    return (
        ["alignkit", "phrases", links, "--source", source, "--target", target, *counting],
        ["alignkit", "pivot", table, "-o", pivots, *room],
    )


def record(task: str, taken: Measured) -> dict[str, object]:
    """Return a row of the table."""
    return {"task": task, "s": taken.seconds, "MB": round((taken.peak or 0) / 1e6)}


if __name__ == "__main__":
    main()
