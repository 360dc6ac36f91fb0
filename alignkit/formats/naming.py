"""Numbers of pairs and names of annotators that a format can write."""

from __future__ import annotations

import re
from collections import Counter

from alignkit.errors import OptionError

_WHOLE = re.compile(r"[0-9]{1,9}")


class Numbering:
    """Numbers of pairs: their own ids if those are whole numbers, else the first free ones.

    Examples
    --------
    >>> lost = Counter()
    >>> numbering = Numbering(lost)
    >>> [numbering.take(id) for id in ("7", "x", "007", "03")], lost
    (['7', '1', '2', '03'], Counter({'ids': 2}))
    """

    def __init__(self, lost: Counter[str], *, own: bool = True, unique: bool = True) -> None:
        self._lost, self._own, self._unique = lost, own, unique
        self._taken: set[int] = set()
        self._free = 1

    def take(self, id: str) -> str:
        """Return the number of the next pair, as it is to be written."""
        if self._own and _WHOLE.fullmatch(id) and int(id) not in self._taken:
            if self._unique:
                self._taken.add(int(id))
            return id
        while self._free in self._taken:
            self._free += 1
        number = str(self._free)
        self._free += 1
        if number != id:
            self._lost["ids"] += 1
        return number


def file_part(name: str) -> str:
    """Return an annotator's name, which is to be a part of the name of a file."""
    if name in ("", ".", "..") or not name.isprintable() or set(name) & set("/\\"):
        raise OptionError(
            f"annotator {name[:40]!r} cannot be the name of a file; rename that annotator"
        )
    return name
