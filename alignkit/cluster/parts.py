"""Find the parts of a corpus by patterns: ``in/*.fr.gz`` and ``in/*.en.gz``."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from alignkit.arguments import every
from alignkit.errors import FileError, OptionError
from alignkit.natural_order import natural_key
from alignkit.output import identity, refuse_address, refuse_same, refuse_unwritable

_SHOWN = 3


@dataclass(frozen=True)
class Part:
    """The files of a part of a corpus, line by line the same pairs.

    `name` is what stands in the place of ``*`` in all of them, empty if there is one part alone;
    `paths` are in the order of the patterns.
    """

    name: str
    paths: tuple[str, ...]

    @property
    def key(self) -> str:
        """What files of its own are called."""
        return self.name or "all"

    def called(self, name: Callable[[str], str]) -> Part:
        """Return it with other names of its files."""
        return Part(self.name, tuple(map(name, self.paths)))

    def __str__(self) -> str:
        return f"part {self.name} ({self.paths[0]})" if self.name else " and ".join(self.paths)


def is_pattern(path: str) -> bool:
    """Return whether a path stands for several files: it has a ``*``, and no file is called so."""
    return "*" in path and not os.path.exists(path)


def find_parts(*patterns: str) -> list[Part]:
    """Find the files of all sides; ``*`` joins them.

    Parameters
    ----------
    *patterns
        A path for each side: with one ``*``, the same text in all, without a ``/``; or all without.

    Returns
    -------
    list of Part
        In the order in which people count: 2 before 10.

    Raises
    ------
    OptionError
        If the patterns do not fit, a side lacks a part, or one is standard input.
    FileError
        If there is no such file.
    """
    every("patterns", patterns, str)
    if "-" in patterns:
        raise OptionError("-: parts are files, which may be read again; name them")
    for pattern in patterns:
        refuse_address(pattern)
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
            other = next(side[missing[0]] for side in sides if missing[0] in side)
            more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise OptionError(
                f"{other} has no counterpart {named(pattern, missing[0])}{more}; each part needs "
                "a file of each side"
            )
    return [Part(name, tuple(side[name] for side in sides)) for name in names]


def _files(pattern: str) -> dict[str, str]:
    before, _, after = pattern.partition("*")
    known = re.compile(f"{re.escape(before)}([^/]+){re.escape(after)}", re.DOTALL)
    paths = glob.glob(f"{glob.escape(before)}*{glob.escape(after)}")
    matches = ((path, known.fullmatch(path)) for path in paths if not os.path.isdir(path))
    files = {match[1]: path for path, match in matches if match}
    if not files:
        raise FileError(pattern, None, "no file has such a name")
    return files


def named(pattern: str, name: str) -> str:
    """Return what a pattern is called for a part."""
    if not name:
        return pattern
    if pattern.count("*") != 1:
        raise OptionError(
            f"{pattern}: there are several parts; name what is written with one *, as in "
            "'out/*.align.gz'"
        )
    return pattern.replace("*", name)


def one_file(path: str) -> str:
    """Return the path of what is written as one file, whatever the parts."""
    if is_pattern(path):
        raise OptionError(f"{path}: is one file for all parts; name it without *")
    return path


def refuse_replacing(outputs: Sequence[str], parts: Sequence[Part]) -> None:
    """Refuse outputs that could not be written, are one file, or are read too."""
    refuse_same(outputs)
    refuse_unwritable(outputs)
    read = {identity(path): path for part in parts for path in part.paths}
    for output in outputs:
        if (path := read.get(identity(output))) is not None and output != "-":
            raise OptionError(
                f"{output} would be replaced, but is also read ({path}); name another file for the "
                "output; nothing was changed"
            )


def outputs_of(pattern: str, parts: Sequence[Part]) -> list[str]:
    """Return the output of each part; see `named`."""
    if pattern == "-":
        raise OptionError("-: what is written of parts goes to files, as in 'out/*.align.gz'")
    return [named(pattern, part.name) for part in parts]
