"""Damage files in many ways, for the promise that no reader breaks on them."""

from __future__ import annotations

import random
from contextlib import suppress

from alignkit.corpus import Corpus
from alignkit.errors import FormatError
from alignkit.formats import ReadOptions, open_reading, read_pairs


def damaged(whole: bytes, count: int, seed: int = 1):
    """Yield damaged variants: cut, bytes flipped, lines dropped or doubled, NULs, a long line."""
    rng = random.Random(seed)
    for k in range(count):
        kind = k % 6
        at = rng.randrange(len(whole) + 1)
        lines = whole.split(b"\n")
        if kind == 0:
            yield whole[:at]
        elif kind == 1:
            changed = bytearray(whole)
            for _ in range(rng.randint(1, 5)):
                changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
            yield bytes(changed)
        elif kind == 2:
            del lines[rng.randrange(len(lines))]
            yield b"\n".join(lines)
        elif kind == 3:
            yield whole[:at] + b"\0" * rng.randint(1, 3) + whole[at:]
        elif kind == 4:
            piece = rng.choice([b"9" * 5000, b"[" * 5000, b"<a>" * 500, b"\t", b'"', b"-", b"\xff"])
            yield whole[:at] + piece + whole[at:]
        else:
            lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
            yield b"\n".join(lines)


def survive(path, format, **options):
    """Read a file: give a corpus or None, but no other error than FormatError; strict and lenient.

    Returns
    -------
    tuple
        The corpus that strict reading gives (None after an error), and how many records lenient
        reading read and refused (None after an error).
    """
    strict = counts = None
    with suppress(FormatError):
        strict = Corpus(read_pairs(*open_reading(str(path), format=format)))
    chosen, reading = open_reading(
        str(path), format=format, options=ReadOptions(lenient=True, **options)
    )
    with suppress(FormatError):
        pairs = list(read_pairs(chosen, reading))
        assert len(pairs) == reading.read
        counts = reading.read, reading.refused
    if strict is not None:
        assert counts == (len(strict), 0)
    return strict, counts
