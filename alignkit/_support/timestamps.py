"""Times of annotations in UTC, and the day, week or month of a time."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from alignkit._support.arguments import check_kind, check_known
from alignkit.errors import AlignmentError

PERIODS = ("day", "week", "month")
"""The periods a time can be rounded to."""

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:[.,]\d+)?([Zz]|[+-]\d\d:?\d\d)", re.ASCII
)


def read_moment(text: str, name: str = "when") -> str:
    """Return a time in UTC, such as ``2026-11-22T13:06:28Z``; these strings sort by time."""
    check_kind(name, text, str)
    match = _MOMENT.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        day, hour, zone = match.groups()
        zone = "+00:00" if zone in "Zz" else f"{zone[:3]}:{zone[-2:]}"
        local = datetime.fromisoformat(f"{day}T{hour}{zone}")
        moment = local.astimezone(timezone.utc).replace(tzinfo=None)
    except (ValueError, OverflowError):
        such = "expected a time with seconds and zone, such as 2026-11-22T13:06:28Z"
        raise AlignmentError(f"{name} is {text[:60]!r}; {such}") from None
    return f"{moment.isoformat()}Z"


def period_of(moment: str, period: str) -> str:
    """Return the day, the week (ISO 8601, ``2026-W53``) or the month of a time in UTC."""
    check_known("period", period, PERIODS)
    if period == "week":
        year, week, _ = datetime.fromisoformat(moment[:10]).isocalendar()
        return f"{year:04d}-W{week:02d}"
    return moment[: 10 if period == "day" else 7]
