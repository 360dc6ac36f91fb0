"""The languages of a file with texts in several, and which two of them are read.

A language may have several names in a file: ``("eng", "L2")``. Some functions here take such names
for each language of a file, others the name of one.
"""

from __future__ import annotations

from collections.abc import Sequence


def language_places(
    names: Sequence[Sequence[str]], wanted: Sequence[str]
) -> tuple[int, int] | None:
    """Return the places of two languages among the names of several; en is en-GB too."""
    places: list[int] = []
    for name in wanted:
        # without the names of a language that is taken: en and en may be en-GB and en-US
        free = [own if k not in places else () for k, own in enumerate(names)]
        fitting = fitting_places(free, name)
        if not fitting:
            return None
        places.append(fitting[0])
    first, second = places
    return first, second


def fitting_places(names: Sequence[Sequence[str]], wanted: str) -> list[int]:
    """Return the places that have a name, or else those that have it with a region."""
    exact = [k for k, own in enumerate(names) if wanted in own]
    if exact:
        return exact
    start = f"{wanted}-".casefold()
    fitting = []
    for k, own in enumerate(names):
        if any(f"{name}-".casefold().startswith(start) for name in own):
            fitting.append(k)
    return fitting


def listed(names: Sequence[Sequence[str]]) -> str:
    """List languages by their first names, with the others of those that repeat."""
    first = [own[0] for own in names]
    shown = (own[0] if first.count(own[0]) < 2 else " ".join(own) for own in names)
    return ", ".join(shown) or "none"


def only_read(languages: str, others: str) -> str:
    """Return the message that of a file's languages some are not read."""
    return f"only {languages} are read, not {others}; see the option languages"
