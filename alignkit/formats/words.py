"""Divide lines into words: at ASCII white space, as GIZA++, Moses and fast_align do.

A no-break space or an ideographic space is part of a word, or a word of its own: Japanese corpora
have tokens that are nothing else, and dropping one would shift all links behind it.
"""

from __future__ import annotations

import re

_OTHER_SPACE = re.compile(r"[\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_WORD = re.compile(r"[^ \t-\r]+")
_WRITABLE = re.compile(r"[^\x00-\x20]+")


def split_words(text: str) -> list[str]:
    r"""Return the words of a line.

    Examples
    --------
    >>> split_words(" 10\u00a0000  francs\t. ")
    ['10\xa0000', 'francs', '.']
    """
    return _WORD.findall(text) if _OTHER_SPACE.search(text) else text.split()


def is_word(token: str) -> bool:
    """Return whether a token comes back from a line of words as it is."""
    return _WRITABLE.fullmatch(token) is not None
