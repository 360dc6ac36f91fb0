"""Repeat long tests a tenth as often as they are meant, unless ALIGNKIT_FULL is set."""

from __future__ import annotations

import os


def repetitions(full: int) -> int:
    """Return how often to do something."""
    return full if os.environ.get("ALIGNKIT_FULL") else max(1, full // 10)
