"""Count phrases and pivot them in dictionaries: what one would write without alignkit.

    python -m benchmarks.plain_pivot LINKS SOURCE TARGET TABLE PARAPHRASES [MAX_LENGTH]

TABLE and PARAPHRASES are those of `alignkit phrases --table --max-length 7` and `alignkit pivot`.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict

from benchmarks.plain import phrases, read_pairs

MIN_P, TOP = 0.001, 20


def count_table(
    links: str, source: str, target: str, longest: int
) -> list[tuple[str, str, int, float, float]]:
    """Return source, target, count, p(target | source) and p(source | target), sorted."""
    counts: Counter[tuple[str, str]] = Counter()
    for words, others, found in read_pairs(links, source, target):
        for a, b, c, d in phrases(found):
            if b - a <= longest and d - c <= longest:
                counts[" ".join(words[a:b]), " ".join(others[c:d])] += 1
    of_source: Counter[str] = Counter()
    of_target: Counter[str] = Counter()
    for (one, other), count in counts.items():
        of_source[one] += count
        of_target[other] += count
    return [
        (*pair, count, count / of_source[pair[0]], count / of_target[pair[1]])
        for pair, count in sorted(counts.items())
    ]


def paraphrases(
    table: list[tuple[str, str, int, float, float]],
) -> list[tuple[str, str, float, float, int]]:
    """Return e1, e2, p(e2 | e1), p(e1 | e2) and pivots: the best ones of each target phrase."""
    of_pivot: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    of_phrase: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for f, e, _, p_target, p_source in table:
        of_pivot[f].append((e, p_target, p_source))
        of_phrase[e].append((f, p_target, p_source))
    found = []
    for e1 in sorted(of_phrase):
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
        for f, e1_of_f, f_of_e1 in of_phrase[e1]:
            for e2, e2_of_f, f_of_e2 in of_pivot[f]:
                if e2 != e1:
                    row = sums[e2]
                    row[0] += e2_of_f * f_of_e1
                    row[1] += e1_of_f * f_of_e2
                    row[2] += 1
        best = sorted((-row[0], e2, row) for e2, row in sums.items() if row[0] >= MIN_P)
        found += [(e1, e2, p, back, int(n)) for _, e2, (p, back, n) in best[:TOP]]
    return found


def main(links: str, source: str, target: str, out: str, list_out: str, longest: str = "7") -> None:
    """Write both files."""
    table = count_table(links, source, target, int(longest))
    with open(out, "w", encoding="utf-8") as file:
        for row in table:
            print(*row, sep="\t", file=file)
    with open(list_out, "w", encoding="utf-8") as file:
        for e1, e2, p, back, pivots in paraphrases(table):
            print(e1, e2, f"{p:.6g}", f"{back:.6g}", pivots, sep="\t", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
