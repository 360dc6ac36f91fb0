"""`convert --rows`: write a row for each pair, for training classifiers or preferences."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import TextIO

from alignkit.cli.common.messages import say
from alignkit.cli.parser import Group, Options, add_options
from alignkit.corpora.training_rows import KINDS, PREFERENCES, preferences, training_rows
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing
from alignkit.model.labels import get_view
from alignkit.model.sentence_pair import SentencePair, origin_of

_COLUMNS = ("id", "label", "source", "target")
_OF_PREFERENCES = ("id", "chosen", "rejected", "original")


def add_rows_arguments(group: Group) -> None:
    """Declare --rows and what goes with it."""
    listing = "; ".join(f"{name}: {about}" for name, about in KINDS.items())
    add_options(
        group,
        f"""
        --rows  write rows for training (columns id, label, source and target, or id, chosen,
            rejected and original, separated by tabs; as CSV or JSON lines if OUT ends in .csv or
            .jsonl). {listing}
        --view V  with --rows, merge labels by this view, such as binary (default: full)
        --no-rewrites  leave out rewrites (pairs that annotators changed into paraphrases)
        """,
        rows=tuple(KINDS),
    )


def write_rows(pairs: Iterable[SentencePair], options: Options) -> None:
    """Write the rows, and report their number and the number of rewrites."""
    if options.to is not None or options.swap:
        raise OptionError("--rows does not work with --to or --swap; leave them out")
    count = Counter[str]()

    def counted() -> Iterator[SentencePair]:
        for pair in pairs:
            count["rewrites"] += origin_of(pair) is not None
            yield pair

    view = get_view(options.scheme, options.view or "full")
    rows: Iterator[tuple[str, ...]]
    if options.rows == PREFERENCES:
        columns = _OF_PREFERENCES
        chosen = preferences(
            counted(), view, annotator=options.annotator, lenient_labels=options.lenient_labels
        )
        rows = map(astuple, chosen)
    else:
        columns = _COLUMNS
        labelled = training_rows(
            counted(),
            view,
            options.rows,
            annotator=options.annotator,
            rewrites=not options.no_rewrites,
            lenient_labels=options.lenient_labels,
        )
        rows = map(astuple, labelled)
    with replacing(options.output) as out:
        write = row_writer(options.output, out, columns)
        for row in rows:
            write(row)
            count["rows"] += 1
    say(f"{options.output}: {count['rows']} rows")
    rewrites = count["rewrites"]
    if rewrites and not options.no_rewrites:
        say(
            f"{options.input}: {rewrites} of the pairs are rewrites; an audit of the Turku "
            "corpus (Kanerva et al. 2023) upheld 78% of its rewrites; to leave them out, "
            "use --no-rewrites"
        )


def row_writer(path: str, out: TextIO, names: Sequence[str]) -> Callable[[Sequence[str]], object]:
    """Return a function that writes a row in the format of the file's ending."""
    if path.endswith(".jsonl"):
        return lambda row: out.write(
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n"
        )
    if path.endswith(".csv"):
        table = csv.writer(out, lineterminator="\n")
        table.writerow(names)
        return table.writerow
    out.write("\t".join(names) + "\n")
    return lambda row: out.write("\t".join(text.replace("\t", " ") for text in row) + "\n")
