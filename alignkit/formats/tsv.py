"""Write texts into the columns of a line, which cannot hold tabs and line ends."""

from __future__ import annotations

from alignkit.formats.textfile import BOM
from alignkit.formats.writing import Writing
from alignkit.input import CONTROL


def column(text: str, writing: Writing) -> str:
    """Return a text as one column holds it.

    White space and control characters within become single spaces, those around it go; if that
    changes more than the number of spaces, it is counted among the losses.
    """
    if BOM in text or (text and text.split(" ") != text.split()) or CONTROL.search(text):
        text = " ".join(CONTROL.sub(" ", text.replace(BOM, "")).split())
        writing.lost["white space in texts"] += 1
    return text
