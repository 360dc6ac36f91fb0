"""Give the commands that draw audits the same options of sheets, and write them alike."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from alignkit.cli.messages import say
from alignkit.cli.parser import annotator_name, number, saved_file

if TYPE_CHECKING:
    from alignkit.audit import Audit


def add_draw_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how many items are drawn, and by which numbers."""
    group.add_argument(
        "--n",
        type=number(1),
        required=True,
        metavar="N",
        help="how many items; all, if there are fewer",
    )
    group.add_argument(
        "--seed", type=number(0), default=12345, metavar="S", help="of all draws (default: 12345)"
    )


def add_sheet_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say for whom sheets are, and where they go."""
    group = parser.add_argument_group("what is written")
    group.add_argument(
        "--judges",
        nargs="+",
        default=["A", "B"],
        type=annotator_name,
        metavar="NAME",
        help="who will judge; each gets a sheet in an order of its own (default: A B)",
    )
    group.add_argument(
        "--sheets",
        nargs="+",
        choices=("tsv", "csv", "html"),
        default=["tsv"],
        help="tables for a spreadsheet, or a page that shows each item in its sentences, is judged "
        "by keyboard and saves such a table (default: tsv)",
    )
    group.add_argument(
        "--bom",
        action="store_true",
        help="begin tables with a byte order mark, by which some spreadsheets know UTF-8",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        default="audit",
        help="where the sheets go, sheet-NAME.tsv and so on (default: audit)",
    )
    group.add_argument(
        "--key",
        dest="key_output",
        metavar="FILE",
        type=saved_file,
        help="where the key goes, which no judge should see (default: key.json in FOLDER)",
    )


def check_sheets(options: argparse.Namespace) -> None:
    """Refuse, before the work, names of judges and files that cannot be."""
    from alignkit.audit.writing import check_places

    check_places(options.output, options.judges, options.sheets, _key(options))


def write_sheets(
    audit: Audit, options: argparse.Namespace, *, silent: Collection[str] = ()
) -> None:
    """Write sheets and key, and tell what was drawn; of the origins `silent` only if there is."""
    from alignkit.audit import write_audit

    if len(audit.items) < options.n:
        say(f"{len(audit.items)} items, not {options.n}: there are no more")
    paths = write_audit(
        audit,
        options.output,
        judges=options.judges,
        formats=options.sheets,
        bom=options.bom,
        key=_key(options),
    )
    for name, origin in audit.origins.items():
        if origin.drawn or name not in silent:
            say(f"{name}: {origin.drawn} drawn of {origin.population} {origin.about}")
    say(f"sheets: {', '.join(paths[:-1])}")
    say(f"key, which no judge should see: {paths[-1]}")


def _key(options: argparse.Namespace) -> str:
    from alignkit.audit.writing import KEY

    return options.key_output or os.path.join(options.output, KEY)
