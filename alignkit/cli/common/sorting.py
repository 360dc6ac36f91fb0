"""The memory that a command may take to sort what it writes."""

from __future__ import annotations

from alignkit.cli.parser import Group, Options, add_options, number

_MEGABYTES = 128


def add_memory(group: Group, what: str) -> None:
    """Add the option for the memory that sorting takes."""
    table = f"""
        --memory MB  memory for sorting {what}; the rest is sorted on disk, with the same result
            (default: {_MEGABYTES})
        """
    add_options(group, table, memory=number(1, 1 << 20))


def room(options: Options) -> int:
    """Return the maximum number of bytes for sorting."""
    return (options.memory or _MEGABYTES) << 20
