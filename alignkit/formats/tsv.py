"""Write texts into the columns of a line, which cannot hold tabs and line ends."""

from __future__ import annotations

from alignkit.formats.reading import BOM
from alignkit.formats.writing import Writing

__all__ = ["column"]


def column(text: str, writing: Writing) -> str:
    """Return a text as one column holds it.

    White space within becomes single spaces, white space around it goes; if that changes more
    than the number of spaces, it is counted among the losses.
    """
    if BOM in text or (text and text.split(" ") != text.split()):
        text = " ".join(text.replace(BOM, "").split())
        writing.lost["white space in texts"] += 1
    return text
