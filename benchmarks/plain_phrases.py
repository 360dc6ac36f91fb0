"""Write phrase pairs: `python -m benchmarks.plain_phrases LINKS SOURCE TARGET OUT`.

The lines are those of `alignkit phrases LINKS --source SOURCE --target TARGET -o OUT`.
"""

from __future__ import annotations

import sys

from benchmarks.plain import phrases, read_pairs


def write_phrases(links: str, source: str, target: str, out: str) -> None:
    """Write the tight phrase pairs of all sentence pairs, atomic and composite."""
    with open(out, "w", encoding="utf-8") as lines:
        for number, (words, others, found) in enumerate(read_pairs(links, source, target), 1):
            for (a, b, c, d), atomic in phrases(found).items():
                kind = "atomic" if atomic else "composite"
                texts = " ".join(words[a:b]), " ".join(others[c:d])
                print(number, a, b, c, d, kind, *texts, sep="\t", file=lines)


if __name__ == "__main__":
    write_phrases(*sys.argv[1:])
