"""Tell the time of events."""

from __future__ import annotations

from datetime import datetime, timezone

__all__ = ["now"]


def now() -> str:
    """Return the time as events hold it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
