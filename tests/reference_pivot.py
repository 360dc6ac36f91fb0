"""Count phrase tables and join them by their definitions, in plain dictionaries."""

from collections import Counter, defaultdict

Phrase = tuple[str, ...]


def phrase_table(pairs):
    """Return count, p(target | source) and p(source | target) of each of some phrase pairs."""
    counts = Counter(pairs)
    of_source, of_target = Counter(), Counter()
    for (source, target), count in counts.items():
        of_source[source] += count
        of_target[target] += count
    return {
        (source, target): (count, count / of_source[source], count / of_target[target])
        for (source, target), count in counts.items()
    }


def pivoted(first, second):
    """Return p(e2 | e1), p(e1 | e2) and the number of pivots f of each (e1, e2).

    p(e2 | e1) = sum over f of p(e2 | f) p(f | e1), p(e1 | e2) = sum over f of p(e1 | f) p(f | e2):
    Bannard & Callison-Burch 2005, eq. 2. Entries are (e, f, p(f | e), p(e | f)): e1 of the first
    table, e2 of the second.
    """
    found, by_pivot = defaultdict(lambda: [0.0, 0.0, 0]), defaultdict(list)
    for e2, f, *p in second:
        by_pivot[f].append((e2, *p))
    for e1, f, f_of_e1, e1_of_f in first:
        for e2, f_of_e2, e2_of_f in by_pivot[f]:
            sums = found[e1, e2]
            sums[0] += e2_of_f * f_of_e1
            sums[1] += e1_of_f * f_of_e2
            sums[2] += 1
    return dict(found)
