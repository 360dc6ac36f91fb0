"""What the JSON formats share: a pair's id, and the members that become attributes."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from difflib import get_close_matches
from functools import lru_cache

from alignkit.errors import FormatError
from alignkit.formats.intake import Reading
from alignkit.formats.json_text import Object, as_text
from alignkit.formats.record import Record
from alignkit.formats.writing import Writing
from alignkit.sentence_pair import SentencePair

_LINKS = re.compile(r"[0-9]+-[0-9]+(\s+[0-9]+-[0-9]+)*")
_ALIKE = 0.8


def read_id(value: Object, number: int) -> str:
    """Return the id of a pair, or its number where it has none."""
    id = as_text(value.get("id", number))
    if id is None:
        raise FormatError("'id' is neither a text nor a number")
    return id


def keep_attributes(
    record: Record, value: Object, own: Container[str], reading: Reading, *, links: Sequence[str]
) -> None:
    """Keep every member but the format's `own` as an attribute; note those that are no text."""
    missing = tuple(name for name in links if name not in value)
    for key in value:
        if missing and key not in own and _holds_links(value[key]):
            meant = _meant(key, missing)
            if meant:
                raise FormatError(f"{key[:40]!r} is no member of a pair; did you mean {meant!r}?")
        attribute = as_text(value[key])
        if key in own:
            continue
        if attribute is None:
            reading.note("member left out", f"{key[:40]!r} is not a text", record.line)
        else:
            record.attributes[key] = attribute


def write_attributes(
    value: Object, pair: SentencePair, own: Container[str], writing: Writing
) -> None:
    """Add the attributes of a pair to its object; those named like an `own` member are lost."""
    for key, attribute in pair.attributes.items():
        if key not in own:
            value[key] = attribute
        else:
            writing.lost["attributes with the name of a member"] += 1


def _holds_links(value: object) -> bool:
    if isinstance(value, str):
        return _LINKS.fullmatch(value.strip()) is not None
    return isinstance(value, list | dict)


@lru_cache(maxsize=1000)
def _meant(key: str, names: tuple[str, ...]) -> str:
    """Return the name that a key is almost, in whatever case; nothing where it is like none."""
    known = {_plain(name): name for name in names}
    near = get_close_matches(_plain(key[:100]), known, n=1, cutoff=_ALIKE)
    return known[near[0]] if near else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
