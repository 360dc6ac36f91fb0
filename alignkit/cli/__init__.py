"""Run alignkit from the command line."""

from __future__ import annotations

from alignkit.cli.main import main

__all__ = ["main"]
