"""Run the command line, by `alignkit` or `python -m alignkit`."""

import sys

from alignkit.signals import stop_at_once

__all__ = ["main"]


def main() -> int:
    """Run the command that the words of this process name; return its exit code."""
    stop_at_once()  # before anything large is imported
    from alignkit.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
