"""Corpora whose annotators changed an initial alignment at random."""

import numpy as np

from alignkit import Alignment, Corpus, SentencePair

NAMES = ("anna", "ben")


def make_corpus(pairs, *, longest=12, seed=0, names=NAMES):
    rng = np.random.default_rng(seed)
    return Corpus(_pair(k, longest, rng, names) for k in range(pairs))


def _pair(k, longest, rng, names):
    n, m = rng.integers(3, longest + 1, 2)
    words = [f"w{number}" for number in rng.integers(0, 60, n + m)]
    initial = np.zeros((n, m), np.int64)
    initial[np.arange(min(n, m)), np.arange(min(n, m))] = 2
    found = {"initial": Alignment.from_matrix(initial)}
    for name in names:
        mine, changed = initial.copy(), rng.random((n, m)) < 2 / (n + m)
        mine[changed] = rng.integers(0, 3, changed.sum())
        found[name] = Alignment.from_matrix(mine)
    return SentencePair(f"p{k}", words[:n], words[n:], found, {"genre": "ab"[k % 2]})
