"""Text for people, in which nothing from a file can control a terminal or a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import category

_DIGITS = "0123456789"
_PARTS = re.compile("[0-9]+|.", re.DOTALL)
# characters of a line for names, and of a name
_ROOM = 54
_LONGEST_NAME = 20


def brief(name: str) -> str:
    """Return a name, cut if it is long."""
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 1]}…"


def how_many(number: int, thing: str, things: str = "", *, commas: bool = False) -> str:
    """Return a number and a noun, in the singular or plural."""
    said = f"{number:,}" if commas else f"{number}"
    return f"{said} {thing if number == 1 else things or f'{thing}s'}"


def brief_annotators(annotators: Iterable[str]) -> str:
    """List annotators; if there are many, some of them and the number of the others."""
    names = list(map(brief, annotators))
    shown = 0
    room = _ROOM
    while shown < len(names) and (room := room - len(names[shown]) - 2) > 0:
        shown += 1
    if shown < len(names):
        more = [f"{len(names) - shown} more"]
    else:
        more = []
    return f"annotators: {', '.join([*names[:shown], *more]) or 'none'}"


def overlapping(several: int, pairs: int, name: str) -> str:
    """Return the note that groups by the values of an attribute overlap."""
    of = f"{several} of {how_many(pairs, 'sentence pair')}"
    return f"groups overlap: {of} have several values of {name} and count in each"


def natural_key(name: object) -> list[tuple[int, int, str]]:
    """Return a sort key that compares numbers in names by value: v9 before v10."""
    key = []
    for part in _PARTS.findall(f"{name}\0"):
        if part[0] in _DIGITS:
            # Python refuses to make a number of thousands of digits
            digits = part.lstrip("0")
            key.append((0, len(digits), digits))
        else:
            key.append((1, 0, part))
    return key


_JOINERS = "\u200c\u200d"
_CIRCLE = "\u25cc"
_ENDS = re.compile(r"([\n\t])")


def visible(text: str, *, only_ascii: bool = False) -> str:
    """Replace invisible and control characters by pictures or backslash escapes."""
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(_visible(char, only_ascii) for char in text)
    if extends(shown[:1]) and not only_ascii:
        return _CIRCLE + shown
    return shown


def visible_data(text: str) -> str:
    """Replace invisible and control characters, except line feeds and tabs."""
    return "".join(part if part in "\n\t" else visible(part) for part in _ENDS.split(text))


def _visible(char: str, only_ascii: bool) -> str:
    """Return a character, or its escape if it cannot be seen."""
    code = ord(char)
    kind = category(char)
    if only_ascii:
        hidden = not 32 <= code < 127
    elif kind == "Cc" and code <= 127:
        return chr(0x2421 if code == 127 else 0x2400 + code)
    else:
        odd = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
        hidden = odd or (kind in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char not in _JOINERS)
    if not hidden:
        return char
    if code < 1 << 8:
        return f"\\x{code:02x}"
    if code < 1 << 16:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


def extends(char: str) -> bool:
    """Return whether a character joins the one before it and has no width."""
    if char.isascii():
        return False
    code = ord(char)  # Hangul vowels and finals, and skin tones, join what stands before them
    joins = 0x1160 <= code <= 0x11FF or 0x1F3FB <= code <= 0x1F3FF
    return joins or category(char) in {"Mn", "Me", "Mc", "Cf"}


def escaped(text: str) -> str:
    """Escape tabs, line breaks and backslashes for a line of tab-separated columns."""
    if text.isprintable():
        return text
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
