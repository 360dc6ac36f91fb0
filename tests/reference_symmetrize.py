"""Symmetrize as symal's printgrow does, step by step, on sorted sets of (target, source)."""

from bisect import bisect_right, insort
from collections.abc import Iterable

Links = Iterable[tuple[int, int]]
STEPS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def symal(forward, reverse, method):
    """Return the merged links, as (source, target)."""
    inverse, direct = {(j, i) for i, j in forward}, {(j, i) for i, j in reverse}
    union, current = inverse | direct, sorted(inverse & direct)
    if method == "union":
        return {(i, j) for j, i in union}
    if method == "intersection":
        return {(i, j) for j, i in current}
    targets, sources = {j for j, _ in current}, {i for _, i in current}

    def add(point):
        insort(current, point)
        targets.add(point[0])
        sources.add(point[1])

    added = True
    while added:
        added = False
        at = (-1, -1)
        # as an iterator over std::set: the next point is the least one greater than this one
        while (place := bisect_right(current, at)) < len(current):
            at = current[place]
            for step in STEPS:
                point = at[0] + step[0], at[1] + step[1]
                if point in union and not (point[0] in targets and point[1] in sources):
                    add(point)
                    added = True
    if method == "grow-diag":
        return {(i, j) for j, i in current}
    for side, other in ((inverse, direct), (direct, inverse)):
        for point in sorted(side - other):
            if point in current:
                continue
            free = (point[0] not in targets), (point[1] not in sources)
            if all(free) if method == "grow-diag-final-and" else any(free):
                add(point)
    return {(i, j) for j, i in current}
