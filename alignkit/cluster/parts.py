"""The parts of a corpus, given by patterns such as ``in/*.fr.gz``."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from alignkit._support.arguments import every
from alignkit._support.wording import natural_key
from alignkit.errors import FileError, OptionError
from alignkit.io import atomic_files


@dataclass(frozen=True)
class Part:
    """The files of a part of a corpus; line k of all files is the same pair.

    `name` is the text in the place of ``*``, empty if there is only one part; `paths` are in the
    order of the patterns.

    Returned by `find_parts`.

    Examples
    --------
    >>> from alignkit.cluster import find_parts
    >>> part = find_parts("samples/french-english/*.align")[-1]
    >>> part.name, len(part.paths)
    ('gold', 1)
    """

    name: str
    paths: tuple[str, ...]

    @property
    def key(self) -> str:
        """The name of files that belong to the part."""
        return self.name or "all"

    def called(self, name: Callable[[str], str]) -> Part:
        """Return the part with `name` applied to its paths."""
        return Part(self.name, tuple(map(name, self.paths)))

    def __str__(self) -> str:
        if self.name:
            return f"part {self.name} ({self.paths[0]})"
        return " and ".join(self.paths)


def is_pattern(path: str) -> bool:
    """Return whether a path is a pattern for several files: it has a ``*`` and is not a file."""
    return "*" in path and not os.path.exists(path)


def find_parts(*patterns: str) -> list[Part]:
    """Find the files of all sides; ``*`` connects them.

    Parameters
    ----------
    *patterns : A path per side: each with one ``*``, for the same text without ``/``; or all
        without.

    Returns
    -------
    list of Part
        In natural order: 2 before 10.

    Raises
    ------
    OptionError : If the patterns do not match, a side lacks a part, or one is standard input.
    FileError : If there is no such file.

    Examples
    --------
    >>> [part] = find_parts("samples/french-english/fr.txt", "samples/french-english/en.txt")
    >>> len(part.paths)
    2
    >>> [part.name for part in find_parts("samples/french-english/*.align")]
    ['eflomal', 'fast_align', 'gold']
    """
    every("patterns", patterns, str)
    if "-" in patterns:
        raise OptionError("-: parts may be read more than once; give files")
    for pattern in patterns:
        atomic_files.refuse_address(pattern)
    if not any(map(is_pattern, patterns)):
        return [Part("", patterns)]
    sides: list[dict[str, str]] = []
    for pattern in patterns:
        if pattern.count("*") != 1:
            raise OptionError(f"{pattern}: give each side a pattern with one *, as in 'in/*.fr.gz'")
        sides.append(_files(pattern))
    names = sorted(set().union(*sides), key=natural_key)
    for pattern, files in zip(patterns, sides, strict=True):
        missing = [name for name in names if name not in files]
        if missing:
            first = missing[0]
            other = next(side[first] for side in sides if first in side)
            more = ""
            if len(missing) > 1:
                more = f", and {len(missing) - 1} more"
            raise OptionError(
                f"{other} has no counterpart {named(pattern, first)}{more}; each part needs a "
                "file of each side"
            )
    return [Part(name, tuple(side[name] for side in sides)) for name in names]


def _files(pattern: str) -> dict[str, str]:
    """Return the path of each file of a pattern, by the text in the place of ``*``."""
    before, _, after = pattern.partition("*")
    known = re.compile(f"{re.escape(before)}([^/]+){re.escape(after)}", re.DOTALL)
    files = {}
    for path in glob.glob(f"{glob.escape(before)}*{glob.escape(after)}"):
        match = known.fullmatch(path)
        if match and not os.path.isdir(path):
            files[match[1]] = path
    if not files:
        raise FileError(pattern, None, "no file matches")
    return files


def named(pattern: str, name: str) -> str:
    """Return the path of a part, from a pattern."""
    if pattern == "-":
        raise OptionError("-: the output of parts needs files, as in 'out/*.align.gz'")
    if not name:
        return pattern
    if pattern.count("*") != 1:
        raise OptionError(
            f"{pattern}: there are several parts; give an output with one *, as in 'out/*.align.gz'"
        )
    return pattern.replace("*", name)


def largest_first(places: Sequence[int], parts: Sequence[Part]) -> list[int]:
    """Return part numbers with the largest files first; workers then finish at the same time."""
    return sorted(places, key=lambda k: -_size(parts[k]))


def largest_of(parts: Sequence[Part]) -> Part:
    """Return the part with the largest files; their format is clear, as others may be empty."""
    return max(parts, key=_size)


def _size(part: Part) -> int:
    """Return the bytes of the files of a part; 0 if one cannot be read."""
    try:
        return sum(os.path.getsize(path) for path in part.paths)
    except OSError:
        return 0  # reading it will say why
