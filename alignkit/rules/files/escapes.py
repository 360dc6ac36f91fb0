"""Escape what a word or a label of a flat rule cannot hold, reversibly.

A character is written as its number, ``&#91;`` for ``[``; nothing at all as ``&#;``. Text that
already looks so gets an ``amp;`` more, and loses one when it is read: ``&amp;#91;`` stands for the
text ``&#91;``. All else, other entities as the tools of Moses write them included, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_EMPTY = "&#;"


class Escapes:
    """The characters of a kind of text that are escaped."""

    def __init__(self, chars: str, *, bars: bool = False) -> None:
        held = "".join(re.escape(char) for char in chars)
        self._odd = re.compile(rf"[\x00-\x20\ufeff{held}]" + (r"|\|{3,}" if bars else ""))
        codes = "|".join(map(str, _codes(chars + "|" * bars)))
        self._like = re.compile(rf"&((?:amp;)*#(?:{codes})?;)")
        self._written = re.compile(rf"&(?:amp;((?:amp;)*#(?:{codes})?;)|#({codes});)")
        self.escape = lru_cache(maxsize=1 << 16)(self._escape)

    def _escape(self, text: str) -> str:
        if not text:
            return _EMPTY
        if "&" in text:
            text = self._like.sub(r"&amp;\1", text)
        return self._odd.sub(_numbers, text)

    def unescape(self, text: str) -> str:
        """Return the text that was written so."""
        if "&" not in text:
            return text
        return "" if text == _EMPTY else self._written.sub(_meant, text)


def _codes(chars: str) -> Iterable[int]:
    return sorted({*range(33), 0xFEFF, *map(ord, chars)}, reverse=True)


def _numbers(match: re.Match[str]) -> str:
    return "".join(f"&#{ord(char)};" for char in match[0])


def _meant(match: re.Match[str]) -> str:
    return f"&{match[1]}" if match[1] else chr(int(match[2]))


WORD = Escapes("[]|")
LABEL = Escapes("[]|,~")
MOSES_LABEL = Escapes("[]|")
FEATURE = Escapes("=", bars=True)
VALUE = Escapes("", bars=True)
