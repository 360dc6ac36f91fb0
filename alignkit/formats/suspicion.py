"""Suspect a declared base or direction: a wrong one often reads without an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from io import BufferedReader, BytesIO
from itertools import islice
from typing import TYPE_CHECKING, cast

from alignkit.errors import AlignkitError
from alignkit.formats.intake import Reading
from alignkit.formats.options import ReadOptions
from alignkit.formats.registry import prepare
from alignkit.input import bounded_lines

if TYPE_CHECKING:
    from alignkit.alignment import Alignment
    from alignkit.arrays import LinkArrays

_RECORDS = 100
_ENOUGH = 20  # links; fewer may well leave out the first words


def suspicions(path: str, format: str, options: ReadOptions) -> list[str]:
    """Return in words what is suspected of the first records of a file whose format was found.

    Nothing is of alignkit's own formats, which say base and direction themselves, of what can be
    read only once, and where base or direction was declared.
    """
    paths = [one for one in (path, options.source, options.target) if one is not None]
    declared = options.base is not None or options.transpose
    if declared or format.startswith("alignkit-") or "-" in paths:
        return []
    if not (os.path.isdir(path) or all(map(os.path.isfile, paths))):
        return []
    from alignkit.formats.fits import Fits  # NumPy, which most formats do without

    chosen, reading = prepare(path, format, replace(options, lenient=True))
    if chosen.blocks is not None and reading.plain_bytes:
        reading = _Beginning(path, reading.options, base=chosen.base)
    fits = Fits(reading.base, options.transpose)
    with suppress(AlignkitError), closing(reading), closing(chosen.parse(reading)) as records:  # type: ignore[type-var]
        for record in islice(records, _RECORDS):  # reading in earnest will tell what is wrong
            fits.record(record)
    found = fits.suspicion()
    if found is None:
        return []
    advice = f"base {found.base}" if found.base != reading.base else ""
    if found.transposed:
        advice += f"{' and ' if advice else ''}that links are written target first"
    return [
        f"{found.kind} in its first records: {found.message}; if it is so, declare {advice} "
        "('alignkit check' tells more)"
    ]


class _Beginning(Reading):
    """Read the first lines alone of each file, where a line is a pair: more would take time."""

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        """Open the first lines of a file."""
        with super().open(path) as stream:
            lines = bounded_lines(stream, path or self.path, self.options.max_size)
            yield cast("BufferedReader", BytesIO(b"".join(islice(lines, _RECORDS))))


class BaseWatch:
    """Watch whether any link of an input, read from `base`, uses the first word of either side."""

    def __init__(self, base: int = 0) -> None:
        self._base = base
        self._links = 0
        self._first = False

    def add(self, links: LinkArrays) -> None:
        """Look at the links of some pairs; once a first word is seen, at no more."""
        if not self._first and len(links.links):
            self._links += len(links.links)
            self._first = bool((links.links == 0).any())

    def see(self, alignment: Alignment) -> None:
        """Look at the links of one pair likewise."""
        if not self._first:
            self._links += len(alignment)
            self._first = any(0 in link for link in alignment)

    def suspicion(self, typed: str = "`base=1`") -> str:
        """Return in words that no link used a first word, though there are enough of them.

        Nothing is returned where one did. What is to be `typed` declares the other base.
        """
        if self._first or self._links < _ENOUGH or self._base != 0:
            return ""
        return f"no link uses word 0 on either side; if words are counted from 1, say so by {typed}"
