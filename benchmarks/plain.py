"""Do what alignkit does in plain Python, with sets and tuples, as one writes it without numpy."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from heapq import heapify, heappop, heappush
from math import nan

Links = set[tuple[int, int]]
Phrase = tuple[int, int, int, int]

_STEPS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def parse(line: str) -> tuple[Links, Links]:
    """Return the sure links and all links of a line of ``i-j`` and ``i?j``."""
    sure, possible = set(), set()
    for token in line.split():
        if "-" in token:
            i, j = token.split("-")
            sure.add((int(i), int(j)))
        else:
            i, j = token.split("?")
            possible.add((int(i), int(j)))
    return sure, possible | sure


def read_links(path: str) -> list[tuple[Links, Links]]:
    """Read a file of Pharaoh lines."""
    with open(path, encoding="utf-8") as lines:
        return [parse(line) for line in lines]


def read_pairs(
    links: str, source: str, target: str
) -> Iterator[tuple[list[str], list[str], Links]]:
    """Yield the words and all links of each sentence pair."""
    with (
        open(links, encoding="utf-8") as rows,
        open(source, encoding="utf-8") as sources,
        open(target, encoding="utf-8") as targets,
    ):
        for row, first, second in zip(rows, sources, targets, strict=True):
            yield first.split(), second.split(), parse(row)[1]


def ratio(above: int, below: int) -> float:
    """Return a quotient, NaN where it is undefined."""
    return above / below if below else nan


def grow_diag_final_and(forward: Links, reverse: Links) -> Links:
    """Merge two directions in the scan order of Moses' symal: by target, then source word."""
    union, found = forward | reverse, forward & reverse
    sources, targets = {i for i, _ in found}, {j for _, j in found}
    grown = True
    while grown:
        grown = False
        ahead = [(j, i) for i, j in found]
        heapify(ahead)
        while ahead:
            at = heappop(ahead)
            for down, right in _STEPS:
                j, i = at[0] + down, at[1] + right
                if (i, j) in union and not (i in sources and j in targets):
                    found.add((i, j))
                    sources.add(i)
                    targets.add(j)
                    grown = True
                    if (j, i) > at:
                        heappush(ahead, (j, i))
    for side in (forward, reverse):
        for i, j in sorted(side, key=lambda link: (link[1], link[0])):
            if i not in sources and j not in targets:
                found.add((i, j))
                sources.add(i)
                targets.add(j)
    return found


def phrases(links: Collection[tuple[int, int]]) -> dict[Phrase, bool]:
    """Return the tight phrase pairs, sorted, with whether each is atomic.

    As in Koehn's book: take each source span, find the target span that its links reach, and see
    that no link leads from there to a source word outside.
    """
    reach: dict[int, list[int]] = {}
    back: dict[int, list[int]] = {}
    for i, j in links:
        reach.setdefault(i, []).append(j)
        back.setdefault(j, []).append(i)
    first, last = ({i: pick(js) for i, js in reach.items()} for pick in (min, max))
    lowest, highest = ({j: pick(sources) for j, sources in back.items()} for pick in (min, max))
    order = sorted(reach)
    found: list[Phrase] = []
    for k, start in enumerate(order):
        low, high = first[start], last[start]
        for end in order[k:]:
            low, high = min(low, first[end]), max(high, last[end])
            inside = [j for j in range(low, high + 1) if j in back]
            if min(lowest[j] for j in inside) < start:
                break  # and so for every longer span
            if max(highest[j] for j in inside) <= end:
                found.append((start, end + 1, low, high + 1))
    atomic = _smallest_around(links, found)
    return {phrase: phrase in atomic for phrase in found}


def _smallest_around(links: Collection[tuple[int, int]], found: list[Phrase]) -> set[Phrase]:
    """Return the phrase pairs that are the smallest around some link: the atomic ones."""
    by_size = sorted(found, key=lambda phrase: phrase[1] - phrase[0] + phrase[3] - phrase[2])
    return {next(p for p in by_size if p[0] <= i < p[1] and p[2] <= j < p[3]) for i, j in links}
