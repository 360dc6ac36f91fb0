"""Write judged pairs as rows for training: tab-separated columns, CSV or JSON lines."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple
from typing import TextIO

from alignkit.cli.messages import say
from alignkit.errors import OptionError
from alignkit.labels import get_view
from alignkit.labels.rewrites import origin_of
from alignkit.labels.training_rows import KINDS, training_rows
from alignkit.output import replacing
from alignkit.sentence_pair import SentencePair

_COLUMNS = ("id", "label", "source", "target")


def add_rows_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the options that ask for rows."""
    listing = "; ".join(f"{name}: {about}" for name, about in KINDS.items())
    group.add_argument(
        "--rows",
        choices=tuple(KINDS),
        help="write rows for training, not a corpus: columns id, label, source, target, with tabs "
        f"between; CSV where OUT ends in .csv, JSON lines where it ends in .jsonl. {listing}",
    )
    group.add_argument(
        "--view", metavar="V", help="view of --scheme that the labels of rows are of (full)"
    )
    group.add_argument(
        "--no-rewrites", action="store_true", help="no rows of pairs that annotators wrote anew"
    )


def write_rows(pairs: Iterable[SentencePair], options: argparse.Namespace) -> None:
    """Write the rows, and tell how many there are, and how many pairs were written anew."""
    if options.scheme is None or options.to is not None or options.swap:
        raise OptionError("--rows needs --scheme, and takes neither --to nor --swap")
    anew = written = 0

    def counted() -> Iterator[SentencePair]:
        nonlocal anew
        for pair in pairs:
            anew += origin_of(pair) is not None
            yield pair

    rows = training_rows(
        counted(),
        get_view(options.scheme, options.view or "full"),
        options.rows,
        annotator=options.annotator,
        rewrites=not options.no_rewrites,
        lenient=options.lenient_labels,
    )
    with replacing(options.output) as out:
        write = _writer(options.output, out)
        for row in rows:
            write(astuple(row))
            written += 1
    say(f"{options.output}: {written} rows")
    if anew and not options.no_rewrites:
        say(
            f"{options.input}: {anew} of the pairs are rewrites; an audit by the makers of the "
            "Turku corpus upheld 78% of its rewrites; --no-rewrites leaves them out"
        )


def _writer(path: str, out: TextIO) -> Callable[[tuple[str, ...]], object]:
    """Return what writes a row, as the ending of the file's name asks."""
    if path.endswith(".jsonl"):
        return lambda row: out.write(
            json.dumps(dict(zip(_COLUMNS, row, strict=True)), ensure_ascii=False) + "\n"
        )
    if path.endswith(".csv"):
        table = csv.writer(out, lineterminator="\n")
        table.writerow(_COLUMNS)
        return table.writerow
    out.write("\t".join(_COLUMNS) + "\n")
    return lambda row: out.write("\t".join(text.replace("\t", " ") for text in row) + "\n")
