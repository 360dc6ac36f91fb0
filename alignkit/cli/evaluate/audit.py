"""Have people judge errors of a system, or pairs of a corpus, without knowing where they come from.

`phrases` draws phrase pairs that only the system or only the gold standard has. It writes a sheet
for each judge, and a key that says where each item comes from. `pairs` does the same with pairs
that annotators rewrote as paraphrases, and plain pairs. `read` reads the filled sheets and the key.
It prints the shares of the judgments and the agreement of the judges; for phrases, also what this
means for the score; for pairs, how the shares upheld differ.

For example:
  alignkit audit phrases giza.xml gold.xml --n 100 --seed 1 --judges anna ben -o audit
  alignkit audit pairs corpus.json --n 500 --mix .5 --seed 1 --judges anna ben -o audit
  alignkit audit read audit/sheet-anna.tsv audit/sheet-ben.tsv --key audit/key.json
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from alignkit.cli.common.messages import say
from alignkit.cli.parser import (
    Group,
    Options,
    Parser,
    add_options,
    annotator_name,
    number,
    option_values,
    saved_file,
)
from alignkit.stats.defaults import SEED

if TYPE_CHECKING:
    from alignkit.audit.audit import Audit


COMMANDS = {
    "pairs": "draw rewritten and plain pairs of a judged corpus",
    "phrases": "draw phrase pairs of an annotator, or in which a system and the gold differ",
    "read": "read the filled sheets: shares, agreement, corrected score",
}
"""The subcommands; each has a module."""


def add_draw_arguments(group: Group) -> None:
    add_options(
        group,
        f"""
        --n N  number of items; all, if there are fewer
        --seed S  seed of all random draws (default: {SEED})
        """,
        n={"type": number(1), "required": True},
        seed={"type": number(0), "default": SEED},
    )


def add_sheet_arguments(parser: Parser) -> None:
    """Add the options that all sheets share."""
    add_options(
        parser.add_argument_group("sheets"),
        """
        --judges NAME...  names of the judges; each gets a sheet with its own order (default: A B)
        --sheets  type of the sheets: tsv, csv or html (default: tsv). tsv and csv are tables for a
            spreadsheet; html is a page that shows each item in its sentences, for judging by
            keyboard, and saves such a table
        --bom  begin tables with a byte order mark, so that spreadsheets recognise UTF-8
        -o, --output FOLDER  folder for the sheets; sheet-NAME.tsv and so on (default: audit)
        --key FILE  file for the key, which no judge should see (default: key.json in FOLDER)
        """,
        judges={"type": annotator_name, "default": ["A", "B"]},
        sheets={"nargs": "+", "choices": ("tsv", "csv", "html"), "default": ["tsv"]},
        output={"default": "audit"},
        key={"dest": "key_output", "type": saved_file},
    )


def check_sheets(options: Options) -> None:
    """Refuse invalid names of judges and files before any work."""
    from alignkit.audit.sheets import KEY, check_places

    options.key_output = options.key_output or os.path.join(options.output, KEY)
    check_places(options.output, options.judges, options.sheets, options.key_output)


def write_sheets(audit: Audit, options: Options, silent: Collection[str]) -> None:
    """Write sheets and key, and report what was drawn (`silent` origins only if any)."""
    from alignkit.audit.sheets import write_audit

    if len(audit.items) < options.n:
        say(f"only {len(audit.items)} items instead of {options.n}: there are no more")
    paths = write_audit(
        audit,
        options.output,
        key=options.key_output,
        **option_values(options, "judges", "sheets", "bom"),
    )
    for name, origin in audit.origins.items():
        if origin.drawn or name not in silent:
            say(f"{name}: {origin.drawn} drawn of {origin.population} {origin.about}")
    say(f"sheets: {', '.join(paths[:-1])}")
    say(f"key, which no judge should see: {paths[-1]}")
