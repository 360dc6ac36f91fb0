"""Print digests of what aligners, learning and samplings compute: `python digests.py`.

Whatever is trained, saved, loaded, split or run by another number of threads is to be equal to the
bit, in the process that compiles the kernels and in all others. Without ALIGNKIT_FULL only the HMM
is tried, since compiling all kernels takes long.
"""

import json
import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np
from repetitions import FULL

from alignkit import Aligner, Alignment, Bitext, Corpus, LinkArrays, SentencePair
from alignkit.agreement.chance.sampling import Items, Sampling, monte_carlo
from alignkit.agreement.pairs import CorpusData
from alignkit.align.supervised import Refiner

MODELS = {
    "hmm": {"model": "hmm"},
    "hmm em": {"model": "hmm", "inference": "em", "agree": False},
    "ibm1 vb": {"model": "ibm1", "inference": "vb"},
    "ibm2": {"model": "ibm2"},
    "ibm3": {"model": "ibm3"},
    "ibm4 em": {"model": "ibm4", "inference": "em", "agree": False},
}


def made_up(pairs=120):
    """Return sentence pairs of made-up words, the frequent ones much more frequent."""
    rng, found = np.random.default_rng(5), []
    for _ in range(pairs):
        words = (rng.pareto(0.9, rng.integers(4, 24)) * 3).astype(int) % 300
        swaps = np.argsort(np.arange(len(words)) + rng.normal(0, 1.5, len(words)))
        kept = words[swaps][rng.random(len(words)) > 0.15]
        found.append(([f"s{word}" for word in words], [f"t{word % 251}" for word in kept]))
    return found


def digest(*arrays):
    return sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def aligned(aligner, bitext, threads):
    by_probability = aligner.align_bitext(bitext, threads=threads, threshold=0.2)
    by_paths = aligner.align_bitext(bitext, threads=threads, symmetrize="grow-diag-final-and")
    return (
        by_probability.arrays.links,
        by_probability.probabilities,
        by_paths.arrays.links,
        by_paths.probabilities,
        aligner.scores(bitext, threads=threads),
    )


def aligners():
    pairs = made_up()
    bitext = Bitext.pack(pairs)
    with tempfile.TemporaryDirectory() as folder:
        for name, options in MODELS.items() if FULL else list(MODELS.items())[:1]:
            for threads in (1, 2):
                trained = Aligner.train(bitext, threads=threads, **options)
                yield f"{name}: {threads} threads", digest(*aligned(trained, bitext, threads))
            path = Path(folder, "model")
            trained.save(path)
            loaded = Aligner.load(path)
            yield f"{name}: loaded", digest(*aligned(loaded, bitext, 2))
            parts = [aligned(loaded, Bitext.pack(pairs[a : a + 40]), 1) for a in (0, 40, 80)]
            whole = [np.concatenate(each) for each in zip(*parts, strict=True)]
            yield f"{name}: in parts", digest(*whole)
            if options.get("inference") in (None, "em"):
                kept = Aligner.train(bitext, threads=2, folder=folder, **options)
                yield f"{name}: from disk", digest(*aligned(kept, bitext, 1))


def learned():
    """Return the digest of what is learned from links and by vectors that are made up.

    Networks make much of the last bit of all that they are taught.
    """
    links = Alignment((k, k) for k in range(3))
    pairs = [
        SentencePair(str(k), *words).with_annotation("gold", links)
        for k, words in enumerate(made_up(40))
    ]
    refiner = Refiner.train(Aligner.train(pairs), pairs, prior="none", vectors=vectors_of)
    losses = refiner.report.losses
    assert {"all-30", "network"} <= set(losses)
    return digest(list(losses.values()), *(refiner.probabilities(pair) for pair in pairs))


def vectors_of(words):
    return np.array([[(k + 3) * int(word[1:]) % 11 - 5.0 for k in range(70)] for word in words])


def sampled(workers):
    pairs = [SentencePair("", source, target) for source, target in made_up(30)]
    links = [Alignment((k, k) for k in range(min(pair.lengths))) for pair in pairs]
    what = Sampling(
        LinkArrays.pack(links, [pair.lengths for pair in pairs]),
        Items("phrases", False, *CorpusData(Corpus(pairs)).words),
        np.tile([0.1, 0.3, 0.2, 0.1], (len(pairs), 1)),
        "min",
    )
    terms = monte_carlo(what, samples=200, seeds=np.random.SeedSequence(1), workers=workers).terms
    return digest(*(np.asarray(value) for value in vars(terms()).values()))


if __name__ == "__main__":
    samples = {f"sampled: {n} workers": sampled(n) for n in (1, 2)} if FULL else {}
    print(json.dumps(dict(aligners()) | {"learned": learned()} | samples))
