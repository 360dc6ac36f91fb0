"""Read what the JSON formats share: a pair's id, and the members that become attributes."""

from __future__ import annotations

from collections.abc import Container

from alignkit.errors import FormatError
from alignkit.formats.intake import Reading
from alignkit.formats.json_text import Object, as_text
from alignkit.formats.record import Record

__all__ = ["keep_attributes", "read_id"]


def read_id(value: Object, number: int) -> str:
    """Return the id of a pair, or its number where it has none.

    Raises
    ------
    FormatError
        If it is neither a text nor a number.
    """
    id = as_text(value.get("id", number))
    if id is None:
        raise FormatError("'id' is neither a text nor a number")
    return id


def keep_attributes(record: Record, value: Object, own: Container[str], reading: Reading) -> None:
    """Keep every member but the format's `own` as an attribute; note those that are no text."""
    for key in value:
        attribute = as_text(value[key])
        if key in own:
            continue
        if attribute is None:
            reading.note("member left out", f"{key[:40]!r} is not a text", record.line)
        else:
            record.attributes[key] = attribute
