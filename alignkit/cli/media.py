"""Give the commands that print tables the same media."""

from __future__ import annotations

import argparse
from typing import Protocol

from alignkit.cli.messages import json_text
from alignkit.report.table import MEDIA


class Shown(Protocol):
    """A result that can be printed as `add_media` offers it."""

    def to_json(self) -> dict[str, object]:
        """Return it as JSON takes it."""

    def csv(self) -> str:
        """Return it as CSV."""

    def show(self, medium: str) -> str:
        """Return its tables in a medium."""


def add_media(
    group: argparse._ActionsContainer, *, csv: str | None = "print a row for each figure"
) -> None:
    """Add the options that name what tables are printed as: `json`, `csv`, or `medium`."""
    form = group.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (default: tables as text)")
    if csv is not None:
        form.add_argument("--csv", action="store_true", help=csv)
    for name, medium in MEDIA.items():
        if medium.help:
            form.add_argument(
                f"--{name}", action="store_const", const=name, dest="medium", help=medium.help
            )
    group.set_defaults(medium="text")


def print_result(result: Shown, options: argparse.Namespace) -> None:
    """Print a result as the options of `add_media` ask for."""
    if options.json:
        print(json_text(result.to_json()))
    elif options.csv:
        print(result.csv())
    else:
        print(result.show(options.medium))
