"""Read vectors as text: that of word2vec and fastText (``.vec``), and that of GloVe.

A line is a word and its d numbers, divided by spaces. In that of word2vec a first line says how
many words there are, and d; GloVe has none. A word may hold spaces, as some of GloVe do: the last d
fields of a line are the numbers. Lines of words that are not wanted are counted, not parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from alignkit.errors import FormatError
from alignkit.vectors.gathering import Gathering

HEADER = re.compile(rb"(?:\xef\xbb\xbf)?\s*(\d{1,18})[ \t]+(\d{1,18})\s*")
"""The first line of word2vec: how many words, and how many dimensions."""

MOST_DIMENSIONS = 1 << 16  # the most dimensions that are believed

_BOM = b"\xef\xbb\xbf"
_WHOLE_NUMBERS = re.compile(rb"[ \t]*[+-]?\d+[ \t]+[+-]?\d+[ \t]*")


def sizes_of(line: bytes, path: str) -> tuple[int, int] | None:
    """Return how many words and dimensions the first line tells; None where it is no such line."""
    header = HEADER.fullmatch(line)
    if header is None:
        return None
    words, dimensions = int(header[1]), int(header[2])
    if not 0 < dimensions <= MOST_DIMENSIONS:
        raise FormatError(
            f"says that vectors have {dimensions} dimensions; expected 1 to {MOST_DIMENSIONS}",
            path,
            1,
        )
    return words, dimensions


def read_text(lines: Iterable[bytes], path: str, gathering: Gathering) -> int:
    """Read vectors; return how many dimensions they have."""
    declared = dimensions = None
    number = 0
    for number, raw in enumerate(lines, start=1):
        line = raw.replace(b"\t", b" ").rstrip(b" \r\n")
        if number == 1:
            line = line.removeprefix(_BOM)
            sizes = sizes_of(line, path)
            if sizes is not None:
                declared, dimensions = sizes
                continue
            if _WHOLE_NUMBERS.fullmatch(line):  # else a word and its only number
                raise FormatError(
                    f"expected how many words and dimensions there are, found {line[:40]!r}",
                    path,
                    number,
                )
        if not line:
            continue
        if dimensions is None:  # GloVe, or any other text, where the first line has no numbers
            dimensions = line.count(b" ")
            numbers_of(line.split()[1:], path, number)
        fields = line.count(b" ")
        if fields < max(dimensions, 1):
            raise FormatError(
                f"expected a word and {dimensions or 'its'} numbers, found {fields} numbers: "
                f"{line[:40]!r}",
                path,
                number,
            )
        end = line.find(b" ") if fields == dimensions else len(line.rsplit(b" ", dimensions)[0])
        word = gathering.wants(line[:end])
        if word is not None:
            gathering.take(word, numbers_of(line[end:].split(), path, number))
    if dimensions is None:
        raise FormatError("holds no vectors; expected lines of a word and its numbers", path)
    if declared is not None and declared != gathering.seen:
        raise FormatError(
            f"says that it holds {declared} words, but holds {gathering.seen}: it is cut off, or "
            "was cut; correct the first line if that is meant",
            path,
            1,
        )
    return dimensions


def numbers_of(fields: list[bytes], path: str, line: int) -> NDArray[np.float32]:
    """Return the numbers of a line."""
    numbers = np.empty(len(fields), np.float32)
    try:
        with np.errstate(over="ignore"):
            numbers[:] = list(map(float, fields))
        if np.isfinite(numbers).all():
            return numbers
    except ValueError:
        pass
    wrong = next(field for field in fields if not _is_number(field))
    raise FormatError(
        f"{wrong[:40].decode(errors='replace')!r} is no number that fits in 32 bits", path, line
    )


def _is_number(field: bytes) -> bool:
    try:
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.float32(float(field))))
    except ValueError:
        return False
