"""Compute agreement by its definitions one item at a time: slow, plain."""

from collections import Counter
from itertools import combinations, permutations, product

from reference_phrases import phrase_pairs

from alignkit.model.alignment import NULL


def proposed(pair, name):
    """Return for each target word (and NULL, -1) what the annotator proposed: index -> mark."""
    alignment, found = pair.alignment(name), {j: {} for j in range(-1, len(pair.target))}
    for i, j in alignment.possible:
        found[j][i] = "sure" if (i, j) in alignment.sure else "possible"
    for i, j in alignment.nulls:
        if j == NULL:
            found[-1][i] = "sure" if (i, j) in alignment.sure_nulls else "possible"
    return {j: marks or {None: "null"} for j, marks in found.items()}


def fleiss_items(corpus, names):
    """Return for each item what each annotator says of it, None where it was not proposed."""
    items = []
    for pair in corpus:
        if all(name in pair.annotations for name in names):
            found = [proposed(pair, name) for name in names]
            for j in range(-1, len(pair.target)):
                indexes = set().union(*(marks[j] for marks in found))
                items += [[marks[j].get(i) for marks in found] for i in indexes]
    return items


def fleiss(judgements):
    """Return kappa, observed and expected; None where undefined."""
    if not judgements:
        return None, None, None
    agreeing = [
        sum(a == b for a, b in permutations(item, 2)) / (len(item) * (len(item) - 1))
        for item in judgements
    ]
    observed = sum(agreeing) / len(judgements)
    marks = Counter(mark for item in judgements for mark in item)
    if len(marks) == 1:
        return None, observed, 1.0
    expected = sum((count / marks.total()) ** 2 for count in marks.values())
    return (observed - expected) / (1 - expected), observed, expected


def equal(pair, i, j, exact_case=False):
    one, other = pair.source[i], pair.target[j]
    return one == other if exact_case else one.casefold() == other.casefold()


def cell_table(corpus, first, second, ignore_identical, exact_case=False, judged=False):
    """Return the 3 x 3 table of none, possible, sure, made cell by cell."""
    table = [[0] * 3 for _ in range(3)]
    for pair in corpus:
        if first in pair.annotations and second in pair.annotations:
            mine, other = (pair.alignment(one).matrix(*pair.lengths) for one in (first, second))
            for i, j in product(*map(range, pair.lengths)):
                if judged and not all(
                    (i, j) in pair.alignment(name).possible | set(pair.alignment(name).labels)
                    for name in (first, second)
                ):
                    continue
                if not (ignore_identical and equal(pair, i, j, exact_case)):
                    table[mine[i, j]][other[i, j]] += 1
    return tuple(map(tuple, table))


def set_distance(name, a, b):
    if not a and not b:
        return 0.0
    if name == "dice":
        return 1 - 2 * len(a & b) / (len(a) + len(b))
    similarity = len(a & b) / len(a | b)
    if name == "masi":
        similarity *= 1 if a == b else 2 / 3 if a < b or b < a else 1 / 3
    return 1 - similarity


def alpha_units(corpus, names, kind, ignore_identical, exact_case=False):
    """Return for each source word the sets of target words of those who annotated the pair."""
    units = []
    for pair in corpus:
        present = [pair.alignment(name) for name in names if name in pair.annotations]
        links = [
            {
                link
                for link in getattr(alignment, kind)
                if not (ignore_identical and equal(pair, *link, exact_case))
            }
            for alignment in present
        ]
        if len(present) > 1:
            units += [
                [frozenset(j for k, j in mine if k == i) for mine in links]
                for i in range(len(pair.source))
            ]
    return units


def alpha(units, distance):
    """Return alpha, observed and expected over every two values; None where undefined."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    if not values:
        return None, None, None
    observed = sum(
        sum(set_distance(distance, a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
    ) / len(values)
    expected = sum(2 * set_distance(distance, a, b) for a, b in combinations(values, 2))
    expected /= len(values) * (len(values) - 1)
    return (1 - observed / expected if expected else None), observed, expected


def overlap_counts(corpus, first, second, ignore_identical, exact_case=False):
    """Return (|A|, |A found|, |B|, |B found|) for words and phrases, by sets."""
    counts = {}
    for pair in corpus:
        if first in pair.annotations and second in pair.annotations:
            for name, row in _overlap_of(pair, first, second, ignore_identical, exact_case).items():
                before = counts.get(name, (0, 0, 0, 0))
                counts[name] = tuple(a + b for a, b in zip(before, row, strict=True))
    return counts


def _overlap_of(pair, first, second, ignore_identical, exact_case):
    a, b = pair.alignment(first), pair.alignment(second)
    words = {
        (side, kind): {
            link
            for link in getattr(alignment, kind)
            if not (ignore_identical and equal(pair, *link, exact_case))
        }
        for side, alignment in (("a", a), ("b", b))
        for kind in ("sure", "possible")
    }
    a_s, a_p, b_s, b_p = (words[key] for key in product("ab", ("sure", "possible")))
    rows = {
        "words.possible": (len(a_p), len(a_p & b_p), len(b_p), len(a_p & b_p)),
        "words.sure": (len(a_s), len(a_s & b_s), len(b_s), len(a_s & b_s)),
        "words.eq2": (len(a_s), len(a_s & b_p), len(b_s), len(a_p & b_s)),
    }
    for kind in ("possible", "sure"):
        mine = _phrases(pair, getattr(a, kind), ignore_identical, exact_case)
        other = _phrases(pair, getattr(b, kind), ignore_identical, exact_case)
        my_atoms = {box for box, atomic in mine.items() if atomic}
        other_atoms = {box for box, atomic in other.items() if atomic}
        rows[f"phrases.{kind}"] = (
            len(my_atoms),
            len(my_atoms & set(other)),
            len(other_atoms),
            len(other_atoms & set(mine)),
        )
    return rows


def _phrases(pair, links, ignore_identical, exact_case):
    folded = [[word if exact_case else word.casefold() for word in side] for side in pair.words]
    return {
        (a, b, c, d): atomic
        for (a, b, c, d), atomic in phrase_pairs(links, *pair.lengths)
        if not (ignore_identical and folded[0][a:b] == folded[1][c:d])
    }
