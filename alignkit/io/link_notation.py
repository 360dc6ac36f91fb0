"""Write links as text and read them: `i-j`, and `i-` or `-j` for a word aligned to nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

from alignkit.errors import FormatError, OptionError
from alignkit.io.records import RawAnnotation, RawLink, Reading, Status
from alignkit.model.alignment import NULL, Alignment, Link
from alignkit.model.labels import Scheme

_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_NULL = re.compile(r"([0-9]{1,9})-|-([0-9]{1,9})")


def parse_links(text: str, status: Status = "sure", line: int | None = None) -> list[RawLink]:
    """Read `i-j` links divided by white space."""
    links = []
    for token in text.split():
        match = _LINK.fullmatch(token)
        if match is None:
            raise FormatError(f"{token[:40]!r} is not a link; expected i-j")
        links.append(RawLink(int(match[1]), int(match[2]), status, line))
    return links


def parse_nulls(text: str, status: Status = "sure", line: int | None = None) -> list[RawLink]:
    """Read `i-` and `-j` nulls divided by white space; see `parse_links`."""
    nulls = []
    for token in text.split():
        if _NULL.fullmatch(token) is None:
            raise FormatError(f"{token[:40]!r} is not a null; expected i- or -j")
        nulls.append(RawLink(*parse_cell(token), status, line))
    return nulls


def parse_cell(text: str) -> tuple[int | None, int | None]:
    """Read one link or null; None stands for the empty word."""
    match = _LINK.fullmatch(text) or _NULL.fullmatch(text)
    if match is None:
        raise FormatError(f"{text[:40]!r} is not a link or null; expected i-j, i- or -j")
    i, j = match.groups()
    return (int(i) if i else None), (int(j) if j else None)


def raw_links(
    found: list[RawLink], weights: Mapping[str, float], labels: Mapping[str, str], line: int
) -> list[RawLink]:
    """Give links and nulls their weights and labels, which are keyed by cells as texts.

    A label whose cell bears no link is that of a judged non-link.
    """
    if not weights and not labels:
        return found
    numbers = _by_cell(weights)
    names = _by_cell(labels)
    links = [
        link._replace(weight=numbers.get(link[:2]), label=names.get(link[:2])) for link in found
    ]
    known = {link[:2] for link in found}
    for cell, key in zip(numbers, weights, strict=True):
        if cell not in known:
            raise FormatError(f"a weight is given for {key!r}, which is no link")
    links += [
        RawLink(*cell, "none", line, None, name)
        for cell, name in names.items()
        if cell not in known
    ]
    return links


V = TypeVar("V", str, float)


def _by_cell(values: Mapping[str, V]) -> dict[tuple[int | None, int | None], V]:
    cells = {parse_cell(key): value for key, value in values.items()}
    if len(cells) < len(values):
        raise FormatError("two keys of the weights or labels name the same link")
    return cells


def write_links(links: Iterable[tuple[int, int]], base: int = 0) -> str:
    """Write links and nulls in rising order."""
    return " ".join(
        f"{'' if i == NULL else i + base}-{'' if j == NULL else j + base}" for i, j in sorted(links)
    )


class LinkTexts:
    """The links of an alignment as texts, each kind apart.

    Examples
    --------
    >>> texts = LinkTexts(Alignment([(0, 0)], [(1, 1)], nulls=[(2, NULL)], labels={(0, 0): "x"}))
    >>> texts.sure, texts.possible, texts.null, texts.labels
    ('0-0', '1-1', '2-', {'0-0': 'x'})
    """

    __slots__ = ("labels", "null", "possible", "possible_null", "sure", "weights")

    def __init__(self, alignment: Alignment, base: int = 0) -> None:
        sure: list[Link] = []
        possible: list[Link] = []
        for link, flag in alignment.items():
            (sure if flag else possible).append(link)
        self.sure = write_links(sure, base)
        self.possible = write_links(possible, base)
        self.null = self.possible_null = ""
        if nulls := alignment.nulls:
            self.null = write_links(alignment.sure_nulls, base)
            self.possible_null = write_links(nulls - alignment.sure_nulls, base)
        self.weights = {write_links([k], base): v for k, v in alignment.weights.items()}
        self.labels = {write_links([k], base): v for k, v in alignment.labels.items()}


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


def judged(reading: Reading, scheme: Scheme, label: str, line: int) -> RawAnnotation | None:
    """Return the annotation of a pair that was judged, not aligned; None where nothing is said."""
    try:
        scheme.parse(label)
    except FormatError as problem:
        if not reading.options.lenient_labels:
            raise FormatError(
                f"{problem.message}; keep such labels as they are by `lenient_labels=True`"
            ) from None
        reading.note("label of no scheme", problem.message, line)
    return RawAnnotation(judgment=label, aligned=False) if label else None
