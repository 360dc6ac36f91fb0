"""Extract phrase pairs by their definitions (docs/score/measures.md), over all spans, slowly."""

from collections.abc import Collection

Links = Collection[tuple[int, int]]
Box = tuple[int, int, int, int]


def boxes(n, m):
    """Yield all pairs of a source span and a target span, sorted."""
    for a in range(n):
        for b in range(a + 1, n + 1):
            for c in range(m):
                for d in range(c + 1, m + 1):
                    yield a, b, c, d


def inside(link, box):
    """Say whether the source and the target word of a link lie in the spans."""
    return box[0] <= link[0] < box[1], box[2] <= link[1] < box[3]


def consistent(links, box):
    """At least one link lies in the box, and none joins a word inside to one outside."""
    sides = [inside(link, box) for link in links]
    return (True, True) in sides and all(i == j for i, j in sides)


def tight(links, box):
    """All four boundary words are aligned."""
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    return {box[0], box[1] - 1} <= sources and {box[2], box[3] - 1} <= targets


def core(links, box):
    """Take the unaligned words off the boundaries."""
    within = [link for link in links if inside(link, box) == (True, True)]
    sources, targets = {i for i, _ in within}, {j for _, j in within}
    return min(sources), max(sources) + 1, min(targets), max(targets) + 1


def smaller(one, other):
    """Box `one` lies in `other` and is not the same."""
    return (
        one != other
        and other[0] <= one[0]
        and one[1] <= other[1]
        and other[2] <= one[2]
        and one[3] <= other[3]
    )


def composite(links, box, tight_boxes):
    """Every link in the box lies in some strictly smaller tight pair inside it."""
    parts = [part for part in tight_boxes if smaller(part, box)]
    return all(
        any(inside(link, part) == (True, True) for part in parts)
        for link in links
        if inside(link, box) == (True, True)
    )


def phrase_pairs(links, n, m, loose=False):
    """Return all (loose: or tight) phrase pairs, sorted, each with whether it is atomic."""
    every = [box for box in boxes(n, m) if consistent(links, box)]
    tight_boxes = [box for box in every if tight(links, box)]
    atomic = {box: not composite(links, box, tight_boxes) for box in tight_boxes}
    return [(box, atomic[core(links, box)]) for box in (every if loose else tight_boxes)]
