"""Read one relation of a paraphrase type between words of two sentences, as ETPC writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from alignkit.errors import FormatError
from alignkit.formats.intake import Reading
from alignkit.formats.safe_xml import line_of, local_name
from alignkit.formats.words import split_words

BLANK = "_"
"""What stands for a word that is not known."""

_WHOLE = "whole sentence"
_POSITION = re.compile(r"[0-9]{1,9}")
_SCOPES = ("s1_scope", "s2_scope")
_KEYS = ("key_s1", "key_s2")
_TEXTS = ("s1_text", "s2_text")
_SENSES = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a type between words of two sentences."""

    pair: str  # the id of the pair
    number: str  # the number and the name of the type
    type: str
    preserving: bool  # whether it preserves the sense
    whole: bool  # whether one of its scopes is the whole sentence
    scopes: tuple[tuple[int, ...], tuple[int, ...]]
    texts: tuple[tuple[str, ...], tuple[str, ...]]  # its words, as it quotes them
    key: tuple[str, ...]  # all its texts, to tell one that occurs twice
    path: str  # where it stands
    line: int


def members_of(element: etree._Element) -> dict[str, str]:
    """Return the texts of the elements in an element, by their names."""
    found: dict[str, str] = {}
    for child in element:
        name = local_name(child)
        if name in found:
            raise FormatError(f"<{name[:40]}> occurs twice", line=line_of(child))
        found[name] = child.text or ""
    return found


def read_relation(element: etree._Element, path: str, line: int, reading: Reading) -> Relation:
    """Read a relation, and note what is odd in it."""
    members = members_of(element)
    missing = [name for name in ("pair_id", "type_name", *_SCOPES) if name not in members]
    pair, type = (members.get(name, "").strip() for name in ("pair_id", "type_name"))
    if missing or not (pair and type):
        raise FormatError(f"expected <{(missing or ['pair_id'])[0]}> in <relation>")
    for name in (*_TEXTS, "k1_text", "k2_text"):
        if members.get(name, "").endswith("\n"):
            reading.note("line end in a text", f"{name} ends in a line end", line, path)
    for name in _KEYS:
        _positions(members.get(name, ""), name, path, line, reading)
    scopes = [_positions(members[name], name, path, line, reading) for name in _SCOPES]
    whole = None in scopes
    sense = members.get("sense_preserving", "").strip().casefold()
    if sense not in _SENSES:
        message = f"sense_preserving is {sense[:40]!r}; expected yes or no, and read as no"
        reading.note("sense not said", message, line, path)
    source, target = (scope or () for scope in scopes)
    if not (source or target or whole):
        reading.note("relation without words", f"{type[:80]} of pair {pair[:40]!r}", line, path)
    first, second = (tuple(split_words(members.get(name, ""))) for name in _TEXTS)
    return Relation(
        pair,
        members.get("type_id", "").strip(),
        type,
        _SENSES.get(sense, False),
        whole,
        (source, target),
        (first, second),
        tuple(f"{name}={text}" for name, text in sorted(members.items())),
        path,
        line,
    )


def _positions(
    text: str, name: str, path: str, line: int, reading: Reading
) -> tuple[int, ...] | None:
    """Return a list of positions; None for the whole sentence."""
    text = text.strip()
    if text.casefold() == _WHOLE:
        return None
    parts = [part.strip() for part in text.split(",")] if text else []
    found = [part for part in parts if part]
    if len(found) < len(parts):
        reading.note("stray comma", f"{name} is {text[:40]!r}", line, path)
    for part in found:
        if _POSITION.fullmatch(part) is None:
            raise FormatError(f"{part[:40]!r} in {name} is no position of a word")
    return tuple(map(int, found))
