"""Give the commands that count groups of pairs the same options."""

from __future__ import annotations

import argparse

from alignkit.errors import OptionError


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


def add_separator(group: argparse._ActionsContainer) -> None:
    """Add the option that says what divides the values of attributes that no split may cut."""
    group.add_argument(
        "--separator", metavar="S", help="what divides several values in one such attribute, e.g. ,"
    )


def check_groups(options: argparse.Namespace) -> None:
    """Refuse what divides values where no attribute is named."""
    if options.split is not None and options.by is None:
        raise OptionError("--split is for --by: add it, or leave --split out")
