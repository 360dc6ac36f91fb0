"""List judged pairs to look at again: those with a label, or judged before a date.

For example, after the guidelines changed. Each line has a pair, its annotator, the judgment, and
when this annotator last changed the pair. The server may be running.

For example:
  alignkit project pairs corpus.jsonl.alignkit --label 3 --before 2026-05-01 --json
"""

from __future__ import annotations

import argparse
from datetime import date

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.messages import json_text, say
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.tables.columns import Column
from alignkit.tables.table import Table


def add_arguments(parser: Parser) -> None:
    add_project_argument(parser)
    add_options(
        parser,
        """
        --label L  only judgments with this label; 4 also finds 4> and 4i, 4i only 4i
        --before DATE  only pairs that were last changed before this day (UTC), such as 2026-05-01
        --annotator A  only judgments by this annotator (default: all)
        --json  print JSON (default: a table)
        """,
        before=_day,
    )


def _day(text: str) -> str:
    """Return a day in ISO 8601; others are errors of arguments."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        expected = f"expected a day such as 2026-05-01, not {text[:40]!r}"
        raise argparse.ArgumentTypeError(expected) from None


def run(options: Options) -> None:
    """Print the judgments to look at again."""
    from alignkit.annotate.exporting import exported
    from alignkit.annotate.project.queries import known_scheme

    with open_project(options, readonly=True) as store:
        scheme = known_scheme(store.project().scheme)
        if options.label is not None and scheme is not None:
            scheme.parse(options.label)
        rows = []
        for pair in exported(store, annotator=options.annotator):
            for name, annotation in pair.annotations.items():
                judgment = annotation.judgment
                when = annotation.when or ""
                label = judgment if scheme is None else scheme.take_apart(judgment).label
                wanted = options.label in (None, judgment, label)
                late = bool(options.before) and when >= options.before
                if judgment and wanted and not late:
                    rows.append([pair.id, name, judgment, when])
    columns = [Column(name) for name in ("pair", "annotator", "judgment", "changed")]
    table = Table(f"judgments to look at again: {len(rows):,}", columns, rows)
    print(json_text(table.to_records()) if options.json else table)
    if options.before and (undated := sum(not when for *_, when in rows)):
        say(f"listed without a time, so perhaps later than --before: {undated}")
