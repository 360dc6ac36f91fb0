"""Have errors of a system, or pairs of a corpus, judged by people who do not know their origin.

`phrases` draws phrase pairs that a system has and the gold standard lacks, and the other way round,
and writes a sheet for each judge, and a key that tells which is which; `pairs` does so with pairs
that annotators wrote anew as paraphrases, and plain ones. `read` takes the filled sheets and the
key, and prints the shares of the judgments, how far the judges agree, and what that makes of the
score, or how the shares upheld differ.

For example:
  alignkit audit phrases giza.xml gold.xml --n 100 --seed 1 --judges anna ben -o audit
  alignkit audit pairs corpus.json --n 500 --mix .5 --seed 1 --judges anna ben -o audit
  alignkit audit read audit/sheet-anna.tsv audit/sheet-ben.tsv --key audit/key.json
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from alignkit.cli.common.messages import say
from alignkit.cli.parser import add_options, annotator_name, number, saved_file

if TYPE_CHECKING:
    from alignkit.audit.audit import Audit


COMMANDS = {
    "pairs": "draw rewrites and plain pairs of a judged corpus",
    "phrases": "draw phrase pairs in which a system and the gold standard differ",
    "read": "read the filled sheets: shares, agreement, what follows",
}
"""The commands of this command; a module each."""


def add_draw_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how many items are drawn, and by which numbers."""
    add_options(group, """
        --n N  how many items; all, if there are fewer
        --seed S  of all draws (default: 12345)
        """, n={"type": number(1), "required": True},
        seed={"type": number(0), "default": 12345})  # fmt: skip


def add_sheet_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say for whom sheets are, and where they go."""
    add_options(parser.add_argument_group("what is written"), """
        --judges NAME...  who will judge; each gets a sheet in an order of its own (default: A B)
        --sheets  tables for a spreadsheet, or a page that shows each item in its sentences, is
            judged by keyboard and saves such a table (default: tsv)
        --bom  begin tables with a byte order mark, by which some spreadsheets know UTF-8
        -o, --output FOLDER  where the sheets go, sheet-NAME.tsv and so on (default: audit)
        --key FILE  where the key goes, which no judge should see (default: key.json in FOLDER)
        """, judges={"type": annotator_name, "default": ["A", "B"]},
        sheets={"nargs": "+", "choices": ("tsv", "csv", "html"), "default": ["tsv"]},
        output={"default": "audit"}, key={"dest": "key_output", "type": saved_file})  # fmt: skip


def check_sheets(options: argparse.Namespace) -> None:
    """Refuse, before the work, names of judges and files that cannot be."""
    from alignkit.audit.sheets import check_places

    check_places(options.output, options.judges, options.sheets, _key(options))


def write_sheets(
    audit: Audit, options: argparse.Namespace, *, silent: Collection[str] = ()
) -> None:
    """Write sheets and key, and report what was drawn; of `silent` origins only if there is any."""
    from alignkit.audit.sheets import write_audit

    if len(audit.items) < options.n:
        say(f"{len(audit.items)} items, not {options.n}: there are no more")
    paths = write_audit(
        audit, options.output, judges=options.judges, sheets=options.sheets, bom=options.bom,
        key=_key(options),
    )  # fmt: skip
    for name, origin in audit.origins.items():
        if origin.drawn or name not in silent:
            say(f"{name}: {origin.drawn} drawn of {origin.population} {origin.about}")
    say(f"sheets: {', '.join(paths[:-1])}")
    say(f"key, which no judge should see: {paths[-1]}")


def _key(options: argparse.Namespace) -> str:
    from alignkit.audit.sheets import KEY

    return options.key_output or os.path.join(options.output, KEY)
