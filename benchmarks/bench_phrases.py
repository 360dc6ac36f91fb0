"""Time the extraction of phrase pairs: pairs a second, sentence pairs a second beside nltk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TypeVar

import numpy as np
from nltk.translate.phrase_based import phrase_extraction

from alignkit.alignment import Alignment
from alignkit.arrays import LinkArrays
from alignkit.phrases import extract_phrases

T = TypeVar("T")


def best(run: Callable[[], T], repeats: int) -> tuple[float, T]:
    """Return the least seconds of some runs, and what the last gave."""
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        result = run()
        seconds.append(perf_counter() - start)
    return min(seconds), result


def made_up(pairs: int) -> list[Alignment]:
    """Return random alignments: about 11 words, near the diagonal, some words unaligned."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(pairs):
        n = 1 + int(rng.gamma(2, 5))
        kept = rng.random(n) < 0.7
        steps = rng.choice([0, 0, 0, 0, 1, -1, 2], n)
        found.append(
            Alignment((i, max(0, i + int(step))) for i, step in enumerate(steps) if kept[i])
        )
    return found


def nltk_extraction(alignments: Sequence[Alignment]) -> int:
    """Extract with nltk (loose pairs without kinds: it has no others); return how many."""
    count = 0
    for alignment in alignments:
        if len(alignment):
            source, target = (" ".join("w" * size) for size in alignment.extent())
            count += len(phrase_extraction(source, target, [tuple(link) for link in alignment]))
    return count


def bench_phrases(
    alignments: Sequence[Alignment], *, repeats: int = 5, nltk_pairs: int = 2000
) -> None:
    """Print a table for these alignments; nltk runs over the first `nltk_pairs` of them."""
    arrays = LinkArrays.pack(alignments)
    head = alignments[:nltk_pairs]
    seconds, count = best(lambda: nltk_extraction(head), 1)
    base = len(head) / seconds
    print(f"{len(arrays):,} sentence pairs, {len(arrays.links):,} links, one core")
    print(
        f"{'':24}{'phrase pairs':>14}{'seconds':>9}{'pairs/s':>13}{'sentences/s':>13}{'ratio':>7}"
    )

    def row(name: str, count: int, seconds: float, sentences: int) -> None:
        rate = sentences / seconds
        print(
            f"{name:24}{count:14,}{seconds:9.3f}{count / seconds:13,.0f}{rate:13,.0f}"
            f"{rate / base:7.0f}"
        )

    row("nltk, loose, no kinds", count, seconds, len(head))
    for name, loose, kind in (
        ("loose, with kinds", True, "all"),
        ("tight, with kinds", False, "all"),
        ("tight, atomic", False, "atomic"),
    ):

        def run(loose: bool = loose, kind: str = kind) -> int:
            return len(extract_phrases(arrays, loose=loose, kind=kind).spans)

        run()  # compiles
        seconds, count = best(run, repeats)
        row(name, count, seconds, len(arrays))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as lines:
            bench_phrases([Alignment.parse(line) for line in lines])
    else:
        bench_phrases(made_up(100_000))
