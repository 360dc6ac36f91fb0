"""Measure what a refiner gains from a few gold pairs, beside the same aligner without.

    python -m benchmarks.learning SET ... [--pairs 10 30 100] [--draws N] [--objective O]
        [--prior P] [--load MODEL] [--vectors FILE] [--lines N] [--ignore-identical]

A draw learns from so many pairs at random and aligns the rest. Sets: edinburgh, mtref, rte2,
hansards (the first 10,000 pairs, or as many as --lines says, are the text, 184 of them gold), es,
da, bg (XL-WA); read from ALIGNKIT_DATA. `inside` counts the draws in which the figure lies within
the interval that cross-validation gave. Calibration errors are those of the held-out cells of all
draws together.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from alignkit import Alignment, Corpus, SentencePair, read_corpus
from alignkit.align import Aligner
from alignkit.align.supervised import OBJECTIVES, Refiner
from alignkit.align.supervised.gold import GoldPairs
from alignkit.align.supervised.learned import mean_of_log_odds
from alignkit.align.supervised.measures import calibration_error, measure, rows_of
from alignkit.align.vectors import read_vectors
from alignkit.tables.table import Table

SETS = ("edinburgh", "mtref", "rte2", "hansards", "es", "da", "bg")
_NAME = "alignment"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("sets", nargs="+", choices=SETS, metavar="SET")
    parser.add_argument("--pairs", type=int, nargs="+", default=[10, 30, 100], metavar="N")
    parser.add_argument("--draws", type=int, default=5, metavar="N")
    parser.add_argument("--objective", choices=tuple(OBJECTIVES), default="links")
    parser.add_argument("--prior", default="samples", metavar="P")
    parser.add_argument("--load", metavar="MODEL", help="default: trained on the pairs of the set")
    parser.add_argument("--vectors", metavar="FILE", help="look at these vectors of words too")
    parser.add_argument("--lines", type=int, default=10_000, metavar="N", help="of Hansards")
    parser.add_argument("--ignore-identical", action="store_true")
    options = parser.parse_args()
    records = []
    options.vectors = options.vectors and read_vectors(options.vectors)
    for name in options.sets:
        pairs, text = gold_pairs(name, options.lines)
        if options.load:
            aligner = Aligner.load(options.load)
        else:
            identity = 3.0 if name in ("edinburgh", "mtref", "rte2") else 0.0
            aligner = Aligner.train(text, identity=identity)
        for count in options.pairs:
            if count < len(pairs):
                records.append({"set": name} | draws(aligner, pairs, count, options))
                print(Table.from_records(records), flush=True)


def gold_pairs(name: str, lines: int = 10_000) -> tuple[list[SentencePair], Sequence[object]]:
    """Return the gold pairs of a set, and the text that its aligner is trained on."""
    data = Path(os.environ["ALIGNKIT_DATA"])
    if name == "hansards":
        sides = [
            (data / "hansards" / f"train.{side}").read_text(encoding="utf-8").splitlines()[:lines]
            for side in ("fr", "en")
        ]
        links = (data / "hansards" / "dev.fr-en.align").read_text(encoding="utf-8").splitlines()
        corpus = Corpus.from_texts(*(side[: len(links)] for side in sides), **{_NAME: links})
        return list(corpus), list(zip(*sides, strict=True))
    if name == "edinburgh":
        found = [
            read_corpus(data / "edinburgh" / f"gold.train.{kind}.json")
            for kind in ("sure", "sure+poss")
        ]
        pairs = []
        for pair, other in zip(*found, strict=True):
            sure, possible = pair.alignment(_NAME).sure, other.alignment(_NAME).possible
            pairs.append(pair.with_annotation(_NAME, Alignment(sure, possible)))
        return pairs, pairs
    path = {"mtref": "multimwa/mtref-train.tsv", "rte2": "rte2/RTE2_dev_M.align.json"}.get(name)
    pairs = list(read_corpus(data / (path or f"xl-wa/{name}/dev.tsv")))
    return pairs, pairs


def draws(
    aligner: Aligner, pairs: Sequence[SentencePair], count: int, options: argparse.Namespace
) -> dict[str, object]:
    """Return the means over draws of `count` pairs to learn from."""
    objective, inside, kinds = options.objective, 0, []
    sign = -1 if objective == "aer" else 1
    figures = []
    told_of: list[NDArray[np.float32]] = []
    both = options.vectors and (options.vectors, options.vectors)
    known = GoldPairs(aligner, both).add(pairs, _NAME)
    whole = known.gold(objective, ignore_identical=options.ignore_identical)
    for draw in range(options.draws):
        chosen = np.random.default_rng(draw).permutation(len(pairs))[:count]
        rest = np.setdiff1d(np.arange(len(pairs)), chosen)
        refiner = Refiner.train(
            aligner,
            [pairs[k] for k in chosen],
            _NAME,
            objective,
            options.prior,
            options.vectors,
            ignore_identical=options.ignore_identical,
        )
        report, learned = refiner.report, refiner.learned
        if learned.lexicon is not None:
            learned.lexicon.set_features(whole.cells, learned.lexicon.numbers(whole.bitext))
        means = whole.cells.probabilities
        refined = means
        if learned.rounds is not None:
            rounds = learned.rounds.probabilities(whole.cells)
            refined = mean_of_log_odds(learned.lessons.weight, rounds, means)
        kept = np.isin(whole.cells.pair_of, rest)
        before, after = (
            100 * float(measure(objective, rows_of(whole, one, least)[rest].sum(axis=0)))
            for one, least in (
                (means, aligner.settings.threshold),
                (refined, learned.lessons.threshold),
            )
        )
        goals = whole.goals
        told_of.append(np.stack([goals[kept], means[kept], refined[kept]]))
        figures.append((before, after))
        told = report.outcome.measure if report.used else report.before
        figure = (100 - after if sign < 0 else after) / 100
        inside += told.low <= figure <= told.high
        kinds.append(learned.lessons.kind)
    before, after = np.mean(figures, axis=0)
    goals, *both_told = np.concatenate(told_of, axis=1)
    gains = [one[1] - one[0] for one in figures]
    return {
        "pairs": count,
        "before": 100 - before if sign < 0 else before,
        "learned": 100 - after if sign < 0 else after,
        "gain": float(np.mean(gains)),
        "least gain": min(gains),
        "inside": f"{inside} of {options.draws}",
        "error before": calibration_error(goals, both_told[0]),
        "error learned": calibration_error(goals, both_told[1]),
        "kinds": " ".join(f"{kind}:{kinds.count(kind)}" for kind in dict.fromkeys(kinds)),
    }


if __name__ == "__main__":
    main()
