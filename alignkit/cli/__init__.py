"""Run alignkit from the command line."""

from alignkit.cli.main import main

__all__ = ["main"]
