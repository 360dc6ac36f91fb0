"""Tell the time of events."""

from __future__ import annotations

from datetime import datetime, timezone


def now() -> str:
    """Return the time as events hold it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
