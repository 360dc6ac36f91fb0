"""The width of text in terminal cells and pixels, and the direction of writing."""

from __future__ import annotations

from unicodedata import bidirectional, category, east_asian_width

from alignkit._support.wording import extends, visible

_LEFT_TO_RIGHT = "\u200e"
_NARROW = frozenset("ijlftrI.,:;!|'`\"()[]-/ ")
_BROAD = frozenset("mwMW@%—…")


def char_clusters(text: str) -> list[str]:
    """Split text into clusters: a base character with all that combines with it."""
    clusters: list[str] = []
    for char in text:
        if clusters and (extends(char) or clusters[-1].endswith("\u200d")):
            clusters[-1] += char
        else:
            clusters.append(char)
    return clusters


def char_width(text: str) -> int:
    """Return the width of text in terminal cells; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(map(_cluster_width, char_clusters(text)))


def _cluster_width(cluster: str) -> int:
    """Return the terminal cells of a cluster: 2 if it is wide, 1 or 2 by its characters if not."""
    if any(east_asian_width(char) in "WF" for char in cluster):
        return 2
    spacing = [char for char in cluster if not extends(char) or category(char) == "Mc"]
    return min(2, len(spacing))


def text_length(text: str, size: int) -> int:
    """Estimate the width of text in pixels in a sans-serif font, rather too wide."""
    ems = 0.0
    for cluster in char_clusters(text):
        if is_wide(cluster):
            ems += 1.05
        elif cluster in _NARROW:
            ems += 0.4
        elif cluster in _BROAD:
            ems += 0.95
        elif cluster[0].isupper():
            ems += 0.7
        else:
            ems += 0.62
    return round(ems * size) + 1


def is_wide(text: str) -> bool:
    """Return whether text has East Asian wide characters, which stay upright in a column."""
    return not text.isascii() and any(east_asian_width(char) in "WF" for char in text)


def is_right_to_left(text: str) -> bool:
    """Return whether the first character with a direction runs from right to left."""
    for direction in map(bidirectional, text):
        if direction in {"L", "R", "AL"}:
            return direction != "L"
    return False


def kept_in_place(text: str) -> str:
    """Put direction marks around right-to-left text, so that it does not reorder its neighbours."""
    if text.isascii() or not any(bidirectional(char) in {"R", "AL", "AN"} for char in text):
        return text
    return _LEFT_TO_RIGHT + text + _LEFT_TO_RIGHT


def cut_text(text: str, width: int, *, end: str = "…") -> str:
    """Cut text to at most `width` terminal cells; `end` marks a cut."""
    if char_width(text) <= width:
        return text
    kept = ""
    room = width - char_width(end)
    for cluster in char_clusters(text):
        room -= _cluster_width(cluster)
        if room < 0:
            break
        kept += cluster
    return kept + end


def cut_middle(text: str, width: int) -> str:
    """Cut text in the middle to at most `width` characters."""
    if char_width(text) <= width:
        return text
    return f"{text[: width // 2]}…{text[width // 2 + 1 - width :]}"


def isolated_text(text: str) -> str:
    """Return text as HTML with an isolated direction of writing."""
    return f"<bdi>{safe_text(text)}</bdi>"


def safe_text(text: str) -> str:
    """Return text as HTML with hidden characters escaped."""
    from html import escape

    return escape(visible(text))
