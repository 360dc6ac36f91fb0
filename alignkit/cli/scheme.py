"""Declare the option that says of which scheme judgments are."""

from __future__ import annotations

import argparse

from alignkit.labels import SCHEMES

__all__ = ["add_scheme_argument"]


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
