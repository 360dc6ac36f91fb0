"""Compare alignkit's aligner with every other one that is found here, and print a table.

    python -m benchmarks.aligners                                   # the Hansards of ALIGNKIT_DATA
    python -m benchmarks.aligners --source F --target F [--gold F]  # any bitext

The gold links are those of the first sentence pairs, in the Pharaoh format.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import isnan, nan
from pathlib import Path
from tempfile import TemporaryDirectory

from alignkit import LinkArrays, symmetrize
from alignkit.model.symmetrization import METHODS
from alignkit.scoring import count_links, link_ratios
from alignkit.tables.table import Table
from benchmarks.bitext import Bitext, find_bitext, read_bitext
from benchmarks.clock import LONG, CommandError, Measured, in_turn
from benchmarks.machine import load, machine
from benchmarks.peers import ALIGNERS, Aligner, Job
from benchmarks.tasks import link_arrays

_LINES = (10_000, 100_000)
_WARMING = 100
_RATIOS = ("AER", "precision", "recall")
_COLUMNS = ("text", "lines", "aligner", "merged", *_RATIOS, "seconds", "/ alignkit", "MB")
_PACKAGES = ("alignkit", "numpy", "numba", "eflomal", "sil-thot")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    options = _options(arguments)
    print(machine(_PACKAGES))
    aligners = dict(_present(options.aligners))
    rows = [row for bitext in _bitexts(options) for row in _rows(bitext, aligners, options)]
    print()
    table = Table.from_records(
        rows,
        columns=[name for name in _COLUMNS if any(name in row for row in rows)],
        digits={"seconds": 2, "/ alignkit": 2},
        percent=_RATIOS,
    )
    print(table.show("markdown") if options.markdown else table)
    print(
        f"\nSeconds: both directions, from start to exit; medians of {options.runs} runs, taken in "
        f"turn, kernels compiled; what takes over {LONG} s ran once. MB: the peak of the largest "
        "process. Merged: alignkit by its default; the others, untimed, by what has the least AER."
        f"\nload after: {load()}"
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.aligners",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in ("source", "target"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help="sentences, one a line")
    parser.add_argument("--gold", type=Path, metavar="FILE", help="links of the first of them")
    counts = " ".join(map(str, _LINES))
    parser.add_argument(
        "--lines",
        type=int,
        nargs="+",
        metavar="N",
        help=f"how many of the first lines, one table part for each N ({counts}; of files: all)",
    )
    parser.add_argument(
        "--aligners",
        nargs="+",
        choices=ALIGNERS,
        default=list(ALIGNERS),
        metavar="NAME",
        help=f"which of {', '.join(ALIGNERS)} (all)",
    )
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args(arguments)
    if (options.source is None) != (options.target is None):
        parser.error("--source and --target go together")
    if options.gold is not None and options.source is None:
        parser.error("--gold goes with --source and --target")
    return options


def _present(names: Iterable[str]) -> Iterator[tuple[str, Aligner]]:
    """Yield the aligners that are here, and tell how to get the others."""
    for name in names:
        aligner = ALIGNERS[name]
        if aligner.present():
            yield name, aligner
        else:
            print(f"not here: {name}; to compare it: {aligner.install}")


def _bitexts(options: argparse.Namespace) -> Iterator[Bitext]:
    if options.source is None:
        options.gold = _gold()
        yield from map(find_bitext, options.lines or _LINES)
    else:
        files = options.source.stem, options.source, options.target
        for lines in options.lines or [None]:
            yield read_bitext(*files, lines)


def _gold() -> Path | None:
    path = Path(os.environ.get("ALIGNKIT_DATA", "")) / "hansards" / "dev.fr-en.align"
    return path if path.is_file() else None


def _rows(
    bitext: Bitext, aligners: dict[str, Aligner], options: argparse.Namespace
) -> Iterator[dict[str, object]]:
    """Align a bitext with each aligner, and yield the rows of the table."""
    lines = len(bitext.source)
    print(f"{bitext.name}: {lines:,} lines", flush=True)
    gold = None if options.gold is None else link_arrays(str(options.gold)).part(0, lines)
    head = Bitext(bitext.name, bitext.source[:_WARMING], bitext.target[:_WARMING])
    with TemporaryDirectory() as folder:
        few, whole = (
            _jobs(Path(folder, name), text, aligners)
            for name, text in (("few", head), ("whole", bitext))
        )
        if "alignkit" in aligners:  # compiles its kernels
            _attempt("alignkit", aligners["alignkit"], few["alignkit"])
        calls = {
            name: partial(_attempt, name, aligner, whole[name])
            for name, aligner in aligners.items()
        }
        taken = in_turn(calls, options.runs)
        base = taken["alignkit"].seconds if "alignkit" in taken else nan
        for name, measured in taken.items():
            row: dict[str, object] = {
                "text": bitext.name.split(" (")[0],
                "lines": f"{lines:,}",
                "aligner": name,
            }
            if gold is not None and not isnan(measured.seconds):
                row |= _quality(_merged(aligners[name], whole[name]), gold)
            yield row | _costs(measured, base)


def _jobs(folder: Path, bitext: Bitext, names: Iterable[str]) -> dict[str, Job]:
    """Write the files of a bitext, and make a folder for what each aligner writes."""
    folder.mkdir()
    source, target, joined = (folder / name for name in ("source", "target", "joined"))
    both = map(" ||| ".join, zip(bitext.source, bitext.target, strict=True))
    for path, texts in ((source, bitext.source), (target, bitext.target), (joined, both)):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    jobs = {name: Job(folder / name, *map(str, (source, target, joined))) for name in names}
    for job in jobs.values():
        job.folder.mkdir()
    return jobs


def _attempt(name: str, aligner: Aligner, job: Job) -> Measured:
    """Run an aligner; where it fails say so, and give NaN seconds, so that the others go on."""
    try:
        return aligner.run(job)
    except CommandError as error:
        print(f"{name} failed: {error}", file=sys.stderr, flush=True)
        return Measured(nan)


def _merged(aligner: Aligner, job: Job) -> dict[str, LinkArrays]:
    """Return the links merged in each way that is to be tried."""
    if aligner.merges:
        return {"default": link_arrays(job.links)}
    forward, reverse = map(link_arrays, job.directions)
    return {method: symmetrize(forward, reverse, method) for method in METHODS}


def _quality(merged: dict[str, LinkArrays], gold: LinkArrays) -> dict[str, object]:
    """Return the ratios of the way of merging that has the least AER."""
    scored = []
    for method, links in merged.items():
        counts = count_links(links.part(0, len(gold)), gold).sum(axis=0)
        ratios = {name: value.item() for name, value in link_ratios(counts[None]).items()}
        scored.append((ratios["aer"], method, ratios))
    error, method, ratios = min(scored, key=lambda one: one[0])
    quality = {"merged": method, "AER": error}
    return quality | {name: ratios[name] for name in ("precision", "recall")}


def _costs(measured: Measured, base: float) -> dict[str, object]:
    peak = None if measured.peak is None else round(measured.peak / 1e6)
    seconds = measured.seconds
    return {"seconds": seconds, "/ alignkit": seconds / base, "MB": peak}


if __name__ == "__main__":
    main()
