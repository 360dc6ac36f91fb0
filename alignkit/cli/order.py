"""Declare the option that joins inputs by position, whatever their ids."""

from __future__ import annotations

import argparse


def add_order_argument(group: argparse._ActionsContainer) -> None:
    """Add the option that declares the order."""
    group.add_argument(
        "--in-order",
        action="store_true",
        help="the n-th pairs of all inputs belong together, whatever their ids, e.g. a system's "
        "lines and a corpus with ids of its own (default: join by id)",
    )
