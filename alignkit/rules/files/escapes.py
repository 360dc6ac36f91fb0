"""Escape characters that a format of rules uses itself, in words, labels and features."""

from __future__ import annotations

import re
from functools import lru_cache

_EMPTY = "&#;"


class Escapes:
    """The characters to escape in one kind of text: `chars`, white space and control characters.

    They are written by their numbers: ``WORD.escape("a|b")`` is ``a&#124;b``. What looks like such
    a reference gets ``&amp;`` for its ``&``. With `bars`, three and more bars are escaped too. An
    empty text is ``&#;``.
    """

    def __init__(self, chars: str, *, bars: bool = False) -> None:
        odd = rf"[\x00-\x20\ufeff{''.join(map(re.escape, chars))}]"
        numbers = {*range(33), 0xFEFF, *map(ord, chars)}
        if bars:
            odd += r"|\|{3,}"
            numbers.add(ord("|"))
        self._odd = re.compile(odd)
        codes = "|".join(map(str, sorted(numbers, reverse=True)))
        # what looks like a reference, with any number of "amp;" in it; and what `_escape` writes
        self._like = re.compile(rf"&((?:amp;)*#(?:{codes})?;)")
        self._written = re.compile(rf"&(?:amp;((?:amp;)*#(?:{codes})?;)|#({codes});)")
        self.escape = lru_cache(maxsize=1 << 16)(self._escape)

    def _escape(self, text: str) -> str:
        """Return a text without the characters to escape."""
        if not text:
            return _EMPTY
        if "&" in text:
            text = self._like.sub(r"&amp;\1", text)
        return self._odd.sub(_references, text)

    def unescape(self, text: str) -> str:
        """Return the original of an escaped text."""
        if "&" not in text:
            return text
        if text == _EMPTY:
            return ""
        return self._written.sub(_referenced, text)


def _references(match: re.Match[str]) -> str:
    """Escape the characters of a match."""
    return "".join(f"&#{ord(char)};" for char in match[0])


def _referenced(match: re.Match[str]) -> str:
    """Return the original of an escaped character, or of what looks like one."""
    if match[1]:
        return f"&{match[1]}"
    return chr(int(match[2]))


WORD = Escapes("[]|")
LABEL = Escapes("[]|,~")
MOSES_LABEL = Escapes("[]|")
FEATURE = Escapes("=", bars=True)  # the name of a feature
VALUE = Escapes("", bars=True)  # and its value
