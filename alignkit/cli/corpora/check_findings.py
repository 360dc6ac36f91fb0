"""Print findings: the first ones of each kind, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from alignkit._support.wording import visible


def print_some(lines: Iterable[tuple[str, str]], counts: Mapping[str, int], most: int) -> None:
    """Print the first lines of each kind, and the number of all."""
    shown: Counter[str] = Counter()
    for kind, line in lines:
        shown[kind] += 1
        if shown[kind] <= most:
            print(visible(line))
    for kind, count in counts.items():
        if count > most:
            print(f"... {kind}: {count} in all; --show {count} shows them")


def listing(counts: Mapping[str, int]) -> str:
    """Return counts as text: 2 x repeated id, 1 x flat tree."""
    return ", ".join(f"{count} x {kind}" for kind, count in counts.items() if count)
