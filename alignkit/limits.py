"""How much the arrays hold: positions, words and places are numbered in 32 bits."""

from __future__ import annotations

from alignkit.errors import AlignmentError

MOST = 2**31 - 1
"""The most links, words, sentence pairs or places of word pairs; no number of 32 bits is beyond."""


def check_count(what: str, count: int) -> None:
    """Refuse more than the arrays hold, before a number overflows."""
    if count > MOST:
        raise AlignmentError(
            f"{count} {what} are more than arrays hold, {MOST}: split the corpus, and take its "
            "parts one by one"
        )
