"""Compute agreement in published corpora anew, and compare it with ``published.json``.

The corpora are found in a folder (``--data``, or the environment variable ALIGNKIT_DATA) with
``rte2``, ``goldalign`` and ``formats/transread``. The exit code is 1 if a figure differs. Figures
that were printed elsewhere are only shown.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from math import isnan, nan
from pathlib import Path
from typing import Any

import alignkit
from alignkit import Corpus, agree, merge, read_corpus
from alignkit.agreement import Agreement, Pairing
from alignkit.agreement.numbers import c_of
from alignkit.agreement.published import INCLUDED, LEFT_OUT, published
from alignkit.agreement.scale_page import kinds_table, printed_table, scale_table, sources

FILE = Path(alignkit.__file__).parent / "agreement" / "published.json"
LEVELS = ("words.possible", "words.sure", "phrases.possible", "phrases.sure")
DIGITS = 4


def rte2(folder: Path) -> Corpus:
    """Read the three annotators of RTE-2, development part."""
    annotators = []
    for name in "ABC":
        path = folder / "rte2" / f"RTE2_dev_{name}.align.txt"
        annotators.append(read_corpus(str(path), format="rte", name=name))
    first, second, third = annotators
    return merge(first, {"B": second, "C": third})


def goldalign(folder: Path) -> Corpus:
    """Read the two annotators, the adjudicated version and the initial alignment of GoldAlign."""
    return read_corpus(str(folder / "goldalign"), format="goldalign")


def transread(folder: Path) -> Corpus:
    """Read the two annotators who judged links of Spanish and English."""
    path = folder / "formats" / "transread" / "task_1_es-en"
    return read_corpus(str(path), format="transread")


CORPORA: Mapping[str, Callable[[Path], Corpus]] = {
    "RTE-2": rte2,
    "GoldAlign": goldalign,
    "TransRead es-en": transread,
}
"""The function that reads each computed corpus, by name."""


def figures_of(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the records of a corpus, with equal words left out and included."""
    records: list[dict[str, Any]] = []
    for equal_words in (LEFT_OUT, INCLUDED):
        agreement = agree(corpus, ignore_identical=equal_words == LEFT_OUT)
        for two in (*agreement.of("annotators"), *agreement.of("adjudicated")):
            records += [_record(agreement, two, level, equal_words) for level in LEVELS]
    return records


def _record(agreement: Agreement, two: Pairing, level: str, equal_words: str) -> dict[str, Any]:
    """Return the figures of two annotators at a level."""
    section = two.sections[0]
    interval = section.intervals[f"{level}.f1"]
    record: dict[str, Any] = {
        "level": level,
        "equal_words": equal_words,
        "value": _rounded(section.figures[f"{level}.f1"]),
        "low": _rounded(interval.low),
        "high": _rounded(interval.high),
        "between": two.name,
    }
    if two.kind == "adjudicated":
        record["adjudicated"] = True
        return record
    quoted = agreement.answer.quoted
    if quoted is not None:
        C = c_of(two, level, quoted.model)
        record["C"] = [_rounded(number) for number in (C.value, *C.bounds)]
        record["chance"] = quoted.model
        record["used"] = two.part(level, "all", quoted.model).used
    unit, links = level.split(".")
    if unit == "words":
        name = f"cells.{links}.kappa"
        if equal_words == LEFT_OUT:
            name = f"different.{name}"
        record["kappa"] = _rounded(section.figures.get(name, nan))
    return record


def _rounded(number: float) -> float:
    return round(float(number), DIGITS)


def differences(
    computed: Mapping[str, list[dict[str, Any]]], known: Mapping[str, list[dict[str, Any]]]
) -> Iterator[str]:
    """Yield a line for each record that differs from the file, or is missing there."""
    for name, records in computed.items():
        kept = {_key(record): record for record in known.get(name, [])}
        for record in records:
            before = kept.pop(_key(record), None)
            where = f"{name}: {', '.join(_key(record))}"
            if before is None:
                yield f"{where}: not in the file"
                continue
            for field in {**record, **before}:
                if not _same(record.get(field), before.get(field)):
                    yield f"{where}: {field} is {record.get(field)}, was {before.get(field)}"
        for key in kept:
            yield f"{name}: {', '.join(key)}: in the file, but not computed"


def _key(record: Mapping[str, Any]) -> tuple[str, str, str]:
    return (record["between"], record["level"], f"equal words {record['equal_words']}")


def _same(first: object, second: object) -> bool:
    """Return whether two values are alike: numbers up to one unit of the last digit."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return isnan(first) == isnan(second) and not abs(first - second) > 1.01 * 10**-DIGITS
    return first == second


def main(arguments: list[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    options = _options(arguments)
    corpora: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["corpora"]
    known = {record["name"]: record["figures"] for record in corpora}
    computed = {}
    for name, read in CORPORA.items():
        corpus = read(options.data)
        computed[name] = figures_of(corpus)
        print(f"computed: {name}, {len(corpus)} pairs", file=sys.stderr, flush=True)
    problems = list(differences(computed, known))
    if options.write:
        for record in corpora:
            record["figures"] = computed.get(record["name"], record["figures"])
        FILE.write_text(_as_text(corpora), encoding="utf-8")
        published.cache_clear()
    medium = "markdown" if options.markdown else "text"
    tables = [scale_table(LEFT_OUT), scale_table(INCLUDED), printed_table(), kinds_table()]
    for table in tables:
        print(table.show(medium), end="\n\n")
    for source in sources():
        print(f"- {source}")
    print()
    for problem in problems:
        print(problem)
    same = not problems
    print(f"{sum(map(len, computed.values()))} records computed, {len(problems)} values differ")
    return 0 if same or options.write else 1


def _as_text(corpora: list[dict[str, Any]]) -> str:
    """Return the file: a line for each figure."""
    parts = []
    for record in corpora:
        head = {name: value for name, value in record.items() if name != "figures"}
        lines = [f"   {json.dumps(figure, ensure_ascii=False)}" for figure in record["figures"]]
        shown = (
            json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}").replace("\n", "\n ")
        )
        parts.append(f' {shown},\n  "figures": [\n' + ",\n".join(lines) + "]}")
    return '{"corpora": [\n' + ",\n".join(parts) + "\n]}\n"


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    folder = os.environ.get("ALIGNKIT_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        default=folder,
        required=folder is None,
        help="where the corpora are (default: ALIGNKIT_DATA)",
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--write", action="store_true", help="write the figures to the package")
    options = parser.parse_args(arguments)
    options.data = Path(options.data)
    return options


if __name__ == "__main__":
    sys.exit(main())
