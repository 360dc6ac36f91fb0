"""Run the command line, by `alignkit` or `python -m alignkit`."""

from __future__ import annotations

import sys

from alignkit._support.signals import leave_at_once, stop_at_once


def main() -> int:
    """Run the command that the words of this process name; return its exit code."""
    stop_at_once()  # before anything large is imported
    ended = leave_at_once()
    from alignkit.cli import main as run

    ended.append(run())
    return ended[0]


if __name__ == "__main__":
    sys.exit(main())
