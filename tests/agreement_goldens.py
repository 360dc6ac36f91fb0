"""The cases that `test_agreement_goldens` compares, and the figures that they gave.

The figures in ``goldens/agreement`` are alignkit's own, as they were before agreement was rebuilt.
They say that nothing changed, not that it is right: other tests compare with papers, other tools
and plain reference implementations. Those of public corpora, ``real-*``, are figures alone; names,
words and groups of theirs are nowhere in them.

Write them anew where a change is meant, and look at what ``git diff`` says::

    PYTHONPATH=. python tests/agreement_goldens.py [--data FOLDER] [CASE ...]
"""

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import isclose, isnan, nan
from pathlib import Path
from typing import Any

from agreement_figures import figures

from alignkit import Alignment, Corpus, SentencePair, merge, read_corpus

TESTS = Path(__file__).parent
FOLDER = TESTS / "goldens" / "agreement"
SAMPLES = TESTS.parent / "samples"
FRENCH = SAMPLES / "french-english"
RELATIVE, SMALLEST = 1e-9, 1e-12
"""Figures are the same that differ by no more than this: by a share of them, or near 0 at all."""
_TWO, _THREE = "anna ben", "anna ben gold"
_INITIAL = {"initial": "initial"}


# corpora
@cache
def paraphrases():
    corpus = read_corpus(str(SAMPLES / "paraphrases.jsonl"), format="alignkit-jsonl")
    return _without_roles(corpus.rename({"eflomal": "initial"}))


@cache
def with_gaps():
    gaps = {"anna": (7, 2), "ben": (5, 3), "gold": (11, 4), "initial": (6, 1)}
    pairs = []
    for number, pair in enumerate(paraphrases()):
        gone = (name for name, (step, start) in gaps.items() if number % step == start)
        kept = pair.without_annotations(*gone)
        for name in ("anna", "ben"):
            if number % 13 == len(name) and kept.aligned_by(name):
                kept = kept.with_annotation(name, Alignment())
        attributes = {} if number % 9 == 8 else {"genre": pair.attributes["genre"]}
        pairs.append(SentencePair(pair.id, pair.source, pair.target, kept.annotations, attributes))
    return Corpus(pairs)


@cache
def nobody_edits():
    def keep(pair):
        initial = pair.alignment("initial")
        return pair.with_annotation("anna", initial).with_annotation("ben", initial)

    return half().map(keep)


@cache
def french():
    texts = {"source": str(FRENCH / "fr.txt"), "target": str(FRENCH / "en.txt")}
    gold, *systems = (
        read_corpus(str(FRENCH / f"{name}.align"), format="pharaoh", name=name, **texts)
        for name in ("gold", "eflomal", "fast_align")
    )
    lines = (FRENCH / "meta.tsv").read_text(encoding="utf-8").splitlines()
    genres = [line.split("\t")[1] for line in lines]
    joined = merge(gold, dict(zip(("eflomal", "fast_align"), systems, strict=True)))
    return Corpus(
        SentencePair(pair.id, *pair.words, pair.annotations, {"genre": genre})
        for pair, genre in zip(joined, genres, strict=True)
    )


@cache
def goldalign(data):
    names = {"demo-user-1": "A", "demo-user-2": "B", "arbit": "gold", "initial": "initial"}
    return _without_roles(_renamed(read_corpus(str(data / "goldalign"), format="goldalign"), names))


@cache
def rte2(data):
    one, two, three = (
        read_corpus(str(data / "rte2" / f"RTE2_dev_{name}.align.txt"), format="rte", name=name)
        for name in "ABC"
    )
    return merge(one, {"B": two, "C": three}).map(_with_equal_words)


@cache
def transread(data):
    folder = data / "formats" / "transread" / "task_1_es-en"
    return _renamed(read_corpus(str(folder), format="transread"), {"1": "A", "2": "B"})


half, half_with_gaps = cache(lambda: paraphrases()[::2]), cache(lambda: with_gaps()[1::2])
quarter_of_rte2 = cache(lambda data: rte2(data)[::4])
without_words = cache(lambda: french().map(lambda x: SentencePair(x.id, None, None, x.annotations)))


def _without_roles(corpus):
    return corpus.with_roles(dict.fromkeys(corpus.annotators, "annotator"))


def _renamed(corpus, names):
    def rename(pair):
        given = {new: pair.annotation(old) for old, new in names.items() if old in pair.annotations}
        return SentencePair(pair.id, pair.source, pair.target, given)

    return corpus.map(rename)


def _with_equal_words(pair):
    source, target = ([word.casefold() for word in side] for side in pair.words)
    cells = product(range(len(source)), range(len(target)))
    equal = Alignment((i, j) for i, j in cells if source[i] == target[j])
    return pair.with_annotation("equal", equal)


# cases
@dataclass(frozen=True)
class Case:
    corpus: Callable[..., Corpus]  # of public corpora: given the folder that holds them
    annotators: str | None
    options: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False

    def figures(self, *data):
        names = self.annotators.split() if self.annotators else None
        return figures(self.corpus(*data), names, **self.options)


def _chance(corpus, annotators, *, slow=False, **options):
    few = {"samples": 100, "resamples": 100, "chance_alone": True}
    return Case(corpus, annotators, few | options, slow)


CASES = {
    # no chance: what needs no initial alignment
    "plain": Case(paraphrases, _TWO, {"by": "genre", "systems": ["initial"], "different": True}),
    "plain-identical": Case(paraphrases, _TWO, {"include_identical": True}),
    "plain-three": Case(paraphrases, _THREE, {"systems": ["initial"], "different": True}),
    "plain-gaps": Case(with_gaps, _THREE, {"by": "genre"}),
    "plain-french": Case(french, None, {"by": "genre"}),
    "plain-no-words": Case(without_words, None, {"include_identical": True}),
    # the article's C
    "initial": _chance(
        paraphrases, _TWO, **_INITIAL, adjudicated="gold", by="genre", chance_alone=False
    ),
    "three": _chance(half, _THREE, **_INITIAL, by="genre", slow=True),
    "gaps-leave-out": _chance(half_with_gaps, _THREE, **_INITIAL, missing_initial="leave-out"),
    "gaps-empty": _chance(
        half_with_gaps, _TWO, **_INITIAL, missing_initial="empty", adjudicated="gold"
    ),
    "no-initial-empty": _chance(paraphrases, _TWO, missing_initial="empty"),
    "nobody-edits": _chance(nobody_edits, _TWO, **_INITIAL),
    "french": _chance(french, "gold eflomal", initial="fast_align", by="genre"),
    # one option changed, or some
    "edit-split": _chance(half, _TWO, **_INITIAL, chance="edit-split", by="genre"),
    "kupper-hafner": _chance(
        half, _THREE, chance="kupper-hafner", normalizer="max", systems=["initial"]
    ),
    "kupper-hafner-micro": _chance(
        half, _TWO, chance="kupper-hafner", aggregate="micro", include_identical=True
    ),
    "probability": _chance(half, _TWO, **_INITIAL, reading="probability"),
    "max": _chance(half, _TWO, **_INITIAL, normalizer="max"),
    "micro": _chance(half, _TWO, **_INITIAL, aggregate="micro", by="genre"),
    "split-probability-max-micro": _chance(
        half,
        _TWO,
        **_INITIAL,
        chance="edit-split",
        reading="probability",
        normalizer="max",
        aggregate="micro",
    ),
    "identical": _chance(half, _TWO, **_INITIAL, include_identical=True),
    "exact-case": _chance(half, _TWO, **_INITIAL, exact_case=True),
    "systems": _chance(half, _TWO, **_INITIAL, systems=["gold", "initial"], bootstrap="none"),
    "tolerance": _chance(half, _TWO, **_INITIAL, samples=1000, tolerance=0.0005),
    "confidence": _chance(
        half, _TWO, **_INITIAL, confidence=0.8, resamples=150, samples=150, seed=7
    ),
    "refit": _chance(half, _TWO, **_INITIAL, bootstrap="refit", resamples=20),
    "refit-split-micro": _chance(
        half_with_gaps,
        _THREE,
        **_INITIAL,
        missing_initial="leave-out",
        bootstrap="refit",
        chance="edit-split",
        aggregate="micro",
        normalizer="max",
        by="genre",
        resamples=30,
        slow=True,
    ),
}
"""By the name of their file."""
REAL_CASES = {
    "real-goldalign": _chance(
        goldalign,
        "A B",
        **_INITIAL,
        adjudicated="gold",
        samples=30,
        chance_alone=False,
        different=True,
    ),
    "real-goldalign-split": _chance(
        goldalign, "A B", **_INITIAL, chance="edit-split", samples=30, systems=[]
    ),
    "real-goldalign-three": _chance(
        goldalign, "A B gold", chance="kupper-hafner", normalizer="max", systems=["initial"]
    ),
    "real-goldalign-refit": _chance(
        goldalign, "A B", **_INITIAL, bootstrap="refit", resamples=50, slow=True
    ),
    "real-rte2": Case(rte2, "A B C", {"systems": ["equal"], "different": True}),
    "real-rte2-equal": _chance(quarter_of_rte2, "A B C", initial="equal", samples=30),
    "real-rte2-empty": _chance(quarter_of_rte2, "A B C", missing_initial="empty", samples=30),
    "real-transread": _chance(
        transread, "A B", missing_initial="empty", samples=10, chance_alone=False, different=True
    ),
    "real-transread-max": _chance(transread, "A B", chance="kupper-hafner", normalizer="max"),
}
"""Those of public corpora."""


# files
def read_golden(name):
    rows = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return {
        f"{row} | {statistic}": nan if value is None else value
        for row, statistics in rows.items()
        for statistic, value in statistics.items()
    }


def write_golden(name, found):
    rows = {}
    for key, value in found.items():
        row, _, statistic = key.rpartition(" | ")
        rows.setdefault(row, {})[statistic] = None if isnan(value) else value
    lines = [f"{json.dumps(row)}: {json.dumps(statistics)}" for row, statistics in rows.items()]
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def differences(found, golden):
    return [
        f"{key}: {found.get(key)!r}, was {golden.get(key)!r}"
        for key in dict.fromkeys((*golden, *found))
        if key not in found or key not in golden or not _same(found[key], golden[key])
    ]


def _same(value, other):
    near = isclose(value, other, rel_tol=RELATIVE, abs_tol=SMALLEST)
    return near or (isnan(value) and isnan(other))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    known = CASES | (REAL_CASES if options.data else {})
    for name in options.cases or known:
        data = [options.data] if name in REAL_CASES else []
        found = known[name].figures(*data)
        write_golden(name, found)
        print(f"{name}: {len(found)} figures")


if __name__ == "__main__":
    main()
