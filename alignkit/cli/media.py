"""Give the commands that print tables the same media."""

from __future__ import annotations

import argparse

from alignkit.report.table import MEDIA

__all__ = ["add_media"]


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
