"""Give commands that sort more than memory holds the same options in the same sense."""

from __future__ import annotations

import argparse

from alignkit.cli.parser import number

_MEGABYTES = 128


def add_memory(group: argparse._ActionsContainer, what: str) -> None:
    """Add the option that says how much memory is taken to sort."""
    group.add_argument(
        "--memory",
        type=number(1, 1 << 20),
        metavar="MB",
        help=f"memory to sort {what} in; the rest is on disk, and the result is the same "
        f"(default: {_MEGABYTES})",
    )


def room(options: argparse.Namespace) -> int:
    """Return how many bytes may be taken to sort."""
    return (options.memory or _MEGABYTES) << 20
