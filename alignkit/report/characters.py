"""Make text safe to draw, and measure it: hidden characters, width, direction."""

from __future__ import annotations

from unicodedata import bidirectional, category, east_asian_width

__all__ = [
    "char_clusters",
    "char_width",
    "cut_text",
    "is_right_to_left",
    "is_wide",
    "kept_in_place",
    "visible",
]

_JOINERS = "\u200c\u200d"
_LEFT_TO_RIGHT = "\u200e"
_CIRCLE = "\u25cc"


def visible(text: str, *, only_ascii: bool = False) -> str:
    r"""Show the characters that have no picture, so that none of them can act.

    Escape sequences, other controls, direction overrides, zero-width and soft characters, lone
    surrogates and noncharacters become pictures or backslash escapes. The result may be put
    in a terminal, and after escaping in HTML and XML.

    Parameters
    ----------
    text
        Anything.
    only_ascii
        Escape everything outside ASCII, too.

    Examples
    --------
    >>> print(visible("a\x1b[31m\u202e"), visible("\x1b\xe9", only_ascii=True))
    a␛[31m\u202e \x1b\xe9
    """
    if text.isascii() and text.isprintable():
        return text
    shown = "".join(_visible(char, only_ascii) for char in text)
    return _CIRCLE + shown if _extends(shown[:1]) and not only_ascii else shown


def _visible(char: str, only_ascii: bool) -> str:
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
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def char_clusters(text: str) -> list[str]:
    """Split text into what takes one place: a base character with all that combines with it.

    Examples
    --------
    >>> [len(cluster) for cluster in char_clusters("e\u0301te\u0301")]
    [2, 1, 2]
    """
    found: list[str] = []
    for char in text:
        if found and (_extends(char) or found[-1].endswith("\u200d")):
            found[-1] += char
        else:
            found.append(char)
    return found


def char_width(text: str) -> int:
    """Count the terminal cells that text takes: East Asian wide characters take two.

    Examples
    --------
    >>> char_width("word"), char_width("漢字"), char_width("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_cluster_width, char_clusters(text)))


def _cluster_width(cluster: str) -> int:
    if any(east_asian_width(char) in "WF" for char in cluster):
        return 2
    return min(2, sum(not _extends(char) or category(char) == "Mc" for char in cluster))


def _extends(char: str) -> bool:
    if char.isascii():
        return False
    code = ord(char)  # Hangul vowels and finals, and skin tones, join what stands before them
    joins = 0x1160 <= code <= 0x11FF or 0x1F3FB <= code <= 0x1F3FF
    return joins or category(char) in {"Mn", "Me", "Mc", "Cf"}


def is_wide(text: str) -> bool:
    """Say whether text holds East Asian wide characters, which stand upright in a column."""
    return not text.isascii() and any(east_asian_width(char) in "WF" for char in text)


def is_right_to_left(text: str) -> bool:
    """Say whether the first character that has a direction runs from right to left."""
    directions = (bidirectional(char) for char in text)
    return next((d != "L" for d in directions if d in {"L", "R", "AL"}), False)


def kept_in_place(text: str) -> str:
    """Put direction marks around right-to-left text, so that it does not reorder its neighbours.

    A terminal that follows the bidirectional algorithm (UAX 9) would else move the marks of a
    row, and the letters of neighbouring columns. The marks take no room.
    """
    if text.isascii() or not any(bidirectional(char) in {"R", "AL", "AN"} for char in text):
        return text
    return _LEFT_TO_RIGHT + text + _LEFT_TO_RIGHT


def cut_text(text: str, width: int, *, end: str = "…") -> str:
    """Cut text to at most so many terminal cells, with `end` as the last where cut.

    Examples
    --------
    >>> cut_text("alignment", 6)
    'align…'
    """
    if char_width(text) <= width:
        return text
    kept, room = "", width - char_width(end)
    for cluster in char_clusters(text):
        room -= _cluster_width(cluster)
        if room < 0:
            break
        kept += cluster
    return kept + end
