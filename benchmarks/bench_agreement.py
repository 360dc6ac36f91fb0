"""Time the Monte-Carlo chance beside a plain-Python reference of the same procedure."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from alignkit.agreement.chance.sampling import Items, Sampling, monte_carlo
from alignkit.agreement.pairs import CorpusData
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from reference_chance import sampled

EDITS = 10.0


def made_up(pairs: int, words: int, edits: float = EDITS) -> tuple[list[SentencePair], Sampling]:
    """Return sentence pairs of about that many words, aligned near the diagonal, one in 20 equal.

    Either annotator changes so many cells of each on average.
    """
    rng = np.random.default_rng(0)
    found = []
    for number in range(pairs):
        n, m = (int(rng.integers(words - words // 5, words + words // 5 + 1)) for _ in range(2))
        links = [(i, min(m - 1, max(0, i * m // n + int(rng.integers(-1, 2))))) for i in range(n)]
        initial = Alignment(link for link in links if rng.random() < 0.8)
        source, target = ([str(word) for word in rng.integers(0, 20, k)] for k in (n, m))
        found.append(SentencePair(str(number), source, target, {"initial": initial}))
    items = Items("phrases", False, *CorpusData(Corpus(found)).words)
    rates = edits / items.lengths.prod(axis=1)
    start = LinkArrays.pack([pair.alignment("initial") for pair in found])
    return found, Sampling(start, items, np.repeat(rates[:, None], 4, axis=1), "min")


def seconds(sampling: Sampling, samples: int, workers: int | None = None) -> float:
    """Return the least seconds of three runs."""
    times = []
    for _ in range(3):
        start = perf_counter()
        seeds = np.random.SeedSequence(1)
        monte_carlo(sampling, samples=samples, seeds=seeds, workers=workers)
        times.append(perf_counter() - start)
    return min(times)


def plain(pairs: list[SentencePair], sampling: Sampling, samples: int) -> float:
    """Return the seconds of the reference for the first pairs, a few samples each."""
    draw = random.Random(1).random
    start = perf_counter()
    for k, pair in enumerate(pairs):
        source, target = pair.words
        initial = pair.alignment("initial").sure
        sampled(
            initial,
            *pair.lengths,
            sampling.rates[k].tolist(),
            samples,
            draw,
            unit="phrases",
            source=source,
            target=target,
            normalizer="min",
        )
    return perf_counter() - start


def bench_agreement(pairs: int = 300, samples: int = 1000) -> None:
    """Print a table."""
    seconds(made_up(2, 5)[1], 2)  # compiles
    print(f"{pairs} sentence pairs, {samples} samples of both annotators, {EDITS:.0f} edits each")
    print(f"{'':34}{'seconds':>9}{'us a sample':>13}{'ratio':>8}")

    def row(name: str, time: float, drawn: int, base: float) -> None:
        each = 1e6 * time / drawn
        print(f"{name:34}{time:9.3f}{each:13.2f}{base / each:8.1f}")

    made, sampling = made_up(pairs, 25)
    head, few = made[:10], 20
    slow = plain(head, sampling, few)
    base = 1e6 * slow / (few * len(head))
    row("plain Python, 10 pairs, 20 samples", slow, few * len(head), base)
    for workers in (1, None):
        name = "25 x 25, all cores" if workers is None else "25 x 25, one core"
        row(name, seconds(sampling, samples, workers), pairs * samples, base)
    for words in (50, 100, 200):
        row(
            f"{words} x {words}, all cores",
            seconds(made_up(pairs, words)[1], samples),
            pairs * samples,
            base,
        )


if __name__ == "__main__":
    bench_agreement()
