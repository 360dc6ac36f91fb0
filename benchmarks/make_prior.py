"""Make the prior that learning from gold starts from, out of the samples of this package.

python -m benchmarks.make_prior

writes alignkit/align/supervised/samples.json: weights of features that tell nothing of words.
The same samples give the same file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from alignkit import Corpus, SentencePair, read_corpus
from alignkit.align import Aligner
from alignkit.align.bitext import Bitext
from alignkit.align.expectation import Workers
from alignkit.align.supervised.cells import CELL, NEIGHBOURS, Cells, names_of
from alignkit.align.supervised.fitting import validate
from alignkit.align.supervised.gold import Gold, GoldPairs
from alignkit.align.supervised.learned import FitKind, SupervisedRound
from alignkit.align.supervised.prior import Prior
from alignkit.model.arrays import LinkArrays

__all__ = ["make_prior"]

_SAMPLES = Path(__file__).parent.parent / "samples"
_RIDGE = 10
_MADE = {
    "maker": "benchmarks/make_prior.py of alignkit",
    "from": "the samples of alignkit, paraphrases.jsonl, structures.jsonl and french-english: "
    "written and aligned by AI assistants",
    "licence": "Apache-2.0",
}


def make_prior() -> Prior:
    """Learn a prior from the samples."""
    english = [
        pair
        for name in ("paraphrases", "structures")
        for pair in read_corpus(_SAMPLES / f"{name}.jsonl")
        if pair.aligned_by("gold")
    ]
    lines = [
        (_SAMPLES / "french-english" / name).read_text("utf-8").splitlines()
        for name in ("fr.txt", "en.txt", "gold.align")
    ]
    french = list(Corpus.from_texts(lines[0], lines[1], gold=lines[2]))
    gold = _joined(
        [
            GoldPairs(Aligner.train(Corpus(pairs), identity=identity), None)
            .add(pairs, "gold")
            .gold()
            for pairs, identity in ((english, 3.0), (french, 0.0))
        ],
        english + french,
    )
    with Workers.opened() as workers:
        found = validate(
            gold,
            Prior.none().rounds(vectors=False),
            workers,
            kinds=[FitKind("prior", "all", _RIDGE)],
            lexical=False,
            before=0.5,
        )
    return Prior(
        _weights(found.rounds.first, CELL),
        _weights(found.rounds.second, (*CELL, *NEIGHBOURS)),
        round(found.after.threshold, 3),
        _MADE,
    )


def _joined(golds: Sequence[Gold], pairs: Sequence[SentencePair]) -> Gold:
    """Return the gold pairs of several aligners as one, one after the other."""
    bitext = Bitext.pack([pair.words for pair in pairs])
    counts = np.concatenate([np.diff(gold.cells.ends) for gold in golds])
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    places = np.concatenate([gold.cells.places for gold in golds])
    features = np.concatenate([gold.cells.features for gold in golds])
    shown = np.concatenate([gold.cells.probabilities for gold in golds])
    shares = np.empty((len(places), 0), np.float32)
    cells = Cells.placed(bitext, 0, len(pairs), ends, places, features, shown, shares)
    return Gold(bitext, LinkArrays.concatenate([gold.links for gold in golds]), cells)


def _weights(learned: SupervisedRound, kept: tuple[str, ...]) -> Mapping[str, float]:
    """Return the weights by name of feature, to four digits."""
    names = names_of(vectors=False)
    found = {
        name: float(f"{weight:.4g}")
        for name, weight in zip(names, learned.weights.tolist(), strict=True)
        if weight and name in kept
    }
    return found | {"bias": float(f"{learned.bias:.4g}")}


if __name__ == "__main__":
    place = _SAMPLES.parent / "alignkit" / "align" / "supervised" / "samples.json"
    make_prior().save(str(place))
    print(place)
