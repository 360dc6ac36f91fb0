"""Print what was found: as tables for people, as CSV or JSON for machines, and as a page."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from alignkit.cli.media import add_media, print_result
from alignkit.cli.parser import saved_file
from alignkit.output import replacing

if TYPE_CHECKING:
    from alignkit.profiles.findings import Findings


def add_forms(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how results are printed, and --html."""
    add_media(group, csv="print a row for each row of a table")
    group.add_argument(
        "--html", metavar="FILE", type=saved_file, help="write a page with the tables as well"
    )


def print_findings(findings: Findings, options: argparse.Namespace, *, title: str) -> None:
    """Print a result as the options ask for, and write its page."""
    if options.html is not None:
        page = findings.page(title)
        with replacing(options.html) as out:
            out.write(page)
    print_result(findings, options)
