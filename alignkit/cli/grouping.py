"""Give the commands that count groups of pairs the same options."""

from __future__ import annotations

import argparse

__all__ = ["add_groups"]


def add_groups(group: argparse._ActionsContainer, *, metavar: str) -> None:
    """Add the options that name the attribute by which pairs are grouped, and what divides it."""
    group.add_argument(
        "--by",
        metavar=metavar,
        help="a row for each value of this attribute (genre, document, ...) too; day, week and "
        "month are known where annotations have times",
    )
    group.add_argument(
        "--split",
        metavar="TEXT",
        help="what stands between several values of that attribute, e.g. a comma; a pair counts "
        "in each (default: one value)",
    )
