"""Find or make a bitext: the Hansards of ALIGNKIT_DATA, else synthetic sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = ["Bitext", "find_bitext", "read_bitext"]

_WORDS = 20_000


class Bitext(NamedTuple):
    """Hold the sentences of both sides, as lines without their ends, and say what they are."""

    name: str
    source: list[str]
    target: list[str]


def find_bitext(lines: int) -> Bitext:
    """Return the first `lines` sentence pairs of the Hansards, or as many synthetic ones."""
    folder = Path(os.environ.get("ALIGNKIT_DATA", "")) / "hansards"
    source, target = folder / "train.fr", folder / "train.en"
    if not (source.is_file() and target.is_file()):
        return _synthetic(lines)
    return read_bitext("Hansards", source, target, lines)


def read_bitext(name: str, source: Path, target: Path, lines: int | None) -> Bitext:
    """Return the first `lines` sentence pairs of two files; None for all."""
    return Bitext(name, _head(source, lines), _head(target, lines))


def _head(file: Path, lines: int | None) -> list[str]:
    with file.open(encoding="utf-8") as stream:
        return [line.rstrip("\n") for line in islice(stream, lines)]


def _synthetic(lines: int) -> Bitext:
    """Make sentences about as long as those of the Hansards, with a fixed seed."""
    pairs = list(_sentences(lines, np.random.default_rng(0)))
    source, target = ([pair[side] for pair in pairs] for side in (0, 1))
    return Bitext("synthetic text (ALIGNKIT_DATA names no folder with hansards/)", source, target)


def _sentences(lines: int, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    for size in np.clip(rng.gamma(4, 3, lines), 1, 30).astype(int):
        words = rng.zipf(1.3, size) % _WORDS
        moved = np.argsort(np.arange(size) + rng.normal(0, 0.8, size), kind="stable")
        kept = words[moved][rng.random(size) < 0.9]
        added = np.insert(kept, rng.integers(0, len(kept) + 1, size // 10), _WORDS)
        yield " ".join(f"s{word}" for word in words), " ".join(f"t{word}" for word in added)
