"""Make the files that are measured, and keep them in the user's cache."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from alignkit import Alignment, LinkArrays, TokenArrays, Vocabulary, symmetrize
from benchmarks.bitext import Bitext, find_bitext
from benchmarks.model1 import align

__all__ = ["TIMES", "Material", "make_material"]

TIMES = 10
"""How many times the bitext is repeated: to a million lines."""

_HERE = Path(__file__).parent


class Material(NamedTuple):
    """Name a folder of files: a bitext, its alignments, and the same repeated."""

    name: str
    lines: int
    folder: Path

    def file(self, name: str) -> str:
        """Return the path of source, target, forward, reverse, hypothesis or reference.

        Hypothesis: grow-diag-final-and. Reference: the forward links sure, what grow-diag has
        beside them possible, so that neither precision nor recall is 1.
        """
        return str(self.folder / name)

    def repeated(self, name: str) -> str:
        """Return the path of a file of `TIMES` the lines; made when first asked for."""
        path = self.folder / f"{name}-x{TIMES}"
        if not path.exists():
            unfinished = path.with_suffix(".new")
            with unfinished.open("wb") as out:
                for _ in range(TIMES):
                    with open(self.file(name), "rb") as lines:
                        shutil.copyfileobj(lines, out)
            unfinished.replace(path)
        return str(path)

    def spread(self, name: str, lines: int) -> str:
        """Return the path of a file of about `lines` lines, taken evenly from the whole one."""
        path = self.folder / f"{name}-{lines}"
        if not path.exists():
            whole = Path(self.file(name)).read_text(encoding="utf-8").splitlines()
            _write(path, whole[:: max(1, self.lines // lines)][:lines])
        return str(path)


def make_material(lines: int, cache: Path | None = None) -> Material:
    """Return the files for the first `lines` lines; made when first asked for.

    The folder's name depends on the text and on the code that aligns it, so stale files are not
    used.
    """
    bitext = find_bitext(lines)
    state = 0
    for name in ("bitext.py", "model1.py", "material.py"):
        state = crc32((_HERE / name).read_bytes(), state)
    for side in (bitext.source, bitext.target):
        state = crc32("\n".join(side).encode(), state)
    folder = (cache or _cache()) / f"{state:08x}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = folder.with_suffix(f".{os.getpid()}")
        unfinished.mkdir()
        _fill(unfinished, bitext)
        unfinished.replace(folder)
    return Material(bitext.name, len(bitext.source), folder)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "alignkit-benchmarks"


def _fill(folder: Path, bitext: Bitext) -> None:
    vocabulary = Vocabulary()
    source, target = (
        TokenArrays.pack([line.split() for line in side], vocabulary)
        for side in (bitext.source, bitext.target)
    )
    forward, reverse = align(source, target)
    _write(folder / "source", bitext.source)
    _write(folder / "target", bitext.target)
    _write(folder / "forward", _each(forward))
    _write(folder / "reverse", _each(reverse))
    _write(folder / "hypothesis", _each(symmetrize(forward, reverse, "grow-diag-final-and")))
    grown = _each(symmetrize(forward, reverse, "grow-diag"))
    both = zip(_each(forward), grown, strict=True)
    _write(folder / "reference", [Alignment(sure, possible) for sure, possible in both])


def _each(arrays: LinkArrays) -> Sequence[Alignment]:
    return [arrays.alignment(k) for k in range(len(arrays))]


def _write(path: Path, lines: Iterable[object]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
