"""Declare the option that says of which scheme judgments are."""

from __future__ import annotations

import argparse

from alignkit.labels import SCHEMES


def add_scheme_argument(
    group: argparse._ActionsContainer, about: str, *, required: bool = False
) -> None:
    """Add the option --scheme."""
    group.add_argument(
        "--scheme",
        choices=tuple(SCHEMES),
        metavar="S",
        required=required,
        help=f"scheme {about}: {', '.join(SCHEMES)}",
    )


def add_rewrites_argument(group: argparse._ActionsContainer) -> None:
    """Add the option --rewrites."""
    group.add_argument(
        "--rewrites",
        action="store_true",
        help="count pairs that annotators wrote anew too, as what they meant them to be",
    )
