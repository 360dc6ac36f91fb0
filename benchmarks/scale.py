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
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isnan, nan
from pathlib import Path
from typing import Any

import alignkit
from alignkit import Corpus, SentencePair, agree, merge, read_corpus
from alignkit.agreement import Agreement, Pairing
from alignkit.agreement.numbers import c_of
from alignkit.agreement.published import INCLUDED, LEFT_OUT, published
from alignkit.agreement.scale import languages_by, shared_words
from alignkit.agreement.scale_page import (
    adjudicated_table,
    kinds_table,
    printed_table,
    scale_table,
    sources,
)
from alignkit.tables.columns import Column
from alignkit.tables.table import Table

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


def bitexts(folder: Path) -> Iterator[tuple[str, str, Corpus]]:
    """Yield the name of each corpus with known languages, "same" or "two", and its texts."""
    for name, read in CORPORA.items():
        (languages,) = [corpus.languages for corpus in published() if corpus.name == name]
        yield name, languages, read(folder)
    samples = Path(__file__).parents[1] / "samples"
    yield "samples", "same", read_corpus(str(samples / "paraphrases.jsonl"))
    edinburgh = folder / "edinburgh" / "gold.train.sure.json"
    yield "edinburgh", "same", read_corpus(str(edinburgh), format="jacana")
    for path in sorted((folder / "multimwa").glob("*.tsv")):
        yield f"multimwa {path.stem}", "same", read_corpus(str(path), format="multimwa")
    yield "bible", "same", _lines(folder / "bible" / "text.f", folder / "bible" / "text.e")
    hansards = folder / "hansards"
    yield "hansards", "two", _lines(hansards / "train.fr", hansards / "train.en")
    french = samples / "french-english"
    yield "samples fr-en", "two", _lines(french / "fr.txt", french / "en.txt")
    for path in sorted((folder / "xl-wa").glob("*/dev.tsv")):
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        texts = [(row[0].split(), row[1].split()) for row in rows]
        yield f"xl-wa {path.parent.name}", "two", _corpus_of(texts)
    for path in sorted((folder / "align6").glob("*.jsonl")):
        if not path.stem.endswith(".text"):
            records = map(json.loads, path.read_text("utf-8").splitlines())
            texts = [(record["src_words"], record["tgt_words"]) for record in records]
            yield f"align6 {path.stem}", "two", _corpus_of(texts)


def _lines(source: Path, target: Path) -> Corpus:
    """Read two texts with a sentence a line."""
    sides = [path.read_text("utf-8").removesuffix("\n").split("\n") for path in (source, target)]
    texts = [(first.split(), second.split()) for first, second in zip(*sides, strict=True)]
    return _corpus_of(texts)


def _corpus_of(texts: Iterable[tuple[list[str], list[str]]]) -> Corpus:
    pairs = [SentencePair(str(number), *pair) for number, pair in enumerate(texts)]
    return Corpus(pairs)


def languages_table(folder: Path) -> Table:
    """Return the share of words that both sentences have, for corpora with known languages."""
    rows = []
    for name, languages, corpus in bitexts(folder):
        share = shared_words(corpus)
        rows.append((languages, share, name, len(corpus), languages_by(share)))
    columns = [
        Column("languages"),
        Column("shared words", "coefficient"),
        Column("corpus"),
        Column("pairs", "count"),
        Column("taken for"),
    ]
    return Table("Words that both sentences have", columns, sorted(rows))


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
    if unit == "words" and two.given is None:
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
    medium = "markdown" if options.markdown else "text"
    if options.languages:
        print(languages_table(options.data).show(medium))
        return 0
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
    tables = []
    for make in (scale_table, adjudicated_table):
        tables += [make(LEFT_OUT), make(INCLUDED)]
    tables += [printed_table(), kinds_table()]
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
    parser.add_argument(
        "--languages",
        action="store_true",
        help="instead, print how many words both sentences share in corpora of known languages",
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--write", action="store_true", help="write the figures to the package")
    options = parser.parse_args(arguments)
    options.data = Path(options.data)
    return options


if __name__ == "__main__":
    sys.exit(main())
