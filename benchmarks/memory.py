"""Measure what a sentence pair costs in memory, beside its different words.

    python benchmarks/memory.py                          # a corpus made up here
    python benchmarks/memory.py LINKS [SOURCE TARGET]    # Pharaoh links, and the words beside

`docs/formats/memory.md` explains the numbers.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

from alignkit import Corpus, LinkArrays, SentencePair, read_corpus

PAIRS, WORDS = 20_000, 12


def make_files(folder: Path) -> list[str]:
    """Write links and two texts of `PAIRS` pairs with about `WORDS` words and links a side."""
    rng = random.Random(1)
    counts = [rng.randint(2, 2 * WORDS - 2) for _ in range(PAIRS)]
    lines = {"links": [" ".join(f"{k}-{k}" for k in range(count)) for count in counts]}
    for side in ("source", "target"):
        lines[side] = [
            " ".join(f"w{rng.randrange(9999)}" for _ in range(count)) for count in counts
        ]
    for name, texts in lines.items():
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return [str(folder / name) for name in lines]


def expected(pairs: Iterable[SentencePair]) -> int:
    """Return the bytes by the formula of `docs/formats/memory.md`."""
    total = 0
    for pair in pairs:
        total += 152
        for side in (pair.source, pair.target):
            total += 0 if side is None else 40 + 8 * len(side)
        total += 80 if pair.annotations else 0
        for annotation in pair.annotations.values():
            total += 274 + 9 * len(annotation.alignment)
    return total


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        links, *words = arguments or make_files(Path(folder))
        options = dict(zip(("source", "target"), words, strict=False))
        read_corpus(links, format="pharaoh", partial=True, **options)  # compiles, imports
        gc.collect()
        tracemalloc.start()
        corpus = read_corpus(links, format="pharaoh", partial=True, **options)
        gc.collect()
        whole = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    report(corpus, whole)


def report(corpus: Corpus, whole: int) -> None:
    texts = [pair for pair in corpus if pair.has_text]
    types = {word for pair in texts for word in (*pair.source, *pair.target)}
    shared = sum(map(sys.getsizeof, types))
    made = [annotation.alignment for pair in corpus for annotation in pair.annotations.values()]
    arrays = LinkArrays.pack(made)
    count = len(corpus)
    rows = [
        ("pairs", count),
        ("words a pair", sum(sum(pair.lengths) for pair in texts) / count),
        ("links a pair", sum(map(len, made)) / count),
        ("bytes a pair, measured", (whole - shared) / count),
        ("bytes a pair, by the formula", expected(corpus) / count),
        ("bytes a pair, as arrays", sum(part.nbytes for part in vars(arrays).values()) / count),
        ("different words", len(types)),
        ("bytes a different word", shared / max(1, len(types))),
    ]
    for name, value in rows:
        print(f"{name:30}{value:12,.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
