"""Turn results into what JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isnan


def jsonable(value: object) -> object:
    """Return a result as dicts, lists, numbers and texts; NaN becomes None."""
    if isinstance(value, float) and isnan(value):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): jsonable(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(part) for part in value]
    return value


def nested(flat: Mapping[str, object]) -> dict[str, object]:
    """Return a mapping with names of parts as mappings within mappings."""
    found: dict[str, object] = {}
    for name, value in flat.items():
        *path, last = name.split(".")
        place = found
        for part in path:
            inner = place.setdefault(part, {})
            if isinstance(inner, dict):
                place = inner
        place[last] = value
    return found
