"""Fit the calibration of small texts, and print how well it does on texts that were left out.

    python -m benchmarks.calibration           # the table
    python -m benchmarks.calibration --write   # and alignkit/align/calibration.json

An aligner is trained on parts of the development texts that ALIGNKIT_DATA names. For each group of
texts, the table shows the links with a probability of .9 or more: how many there are and how many
of them are right (sure or possible), by the posteriors and by a calibration that was fitted on the
other groups; and the calibration error of all cells with a probability of .1 or more (ten bins).
The links of punctuation are left out of Greek, whose gold standard has none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from alignkit.align import Aligner, Bitext
from alignkit.align.calibration import FEATURES
from alignkit.align.supervised.cells_kernel import LEAST
from alignkit.align.supervised.measures import calibration_error
from alignkit.tables.table import Table
from benchmarks.texts import TEXTS, Text

Array = NDArray[np.float64]

SIZES = {20: 4, 40: 4, 100: 2, 250: 1, 1000: 1}
"""How many parts of each size are taken of a text."""
FITTED = (20, 40, 100, 250)
_CELLS, _RIDGE, _SHOWN = 600, 1e-3, 0.9
_FILE = Path(__file__).parent.parent / "alignkit" / "align" / "calibration.json"


class Part(NamedTuple):
    """The candidate cells of a part of a text."""

    group: str
    name: str
    pairs: int
    features: Array  # (K, F)
    means: Array  # (K,) the posteriors
    right: Array  # (K,) 1 where the cell is a link of the gold standard


def parts(names: Sequence[str], **settings: float) -> Iterator[Part]:
    """Train on parts of the texts, and yield their cells."""
    for name in names:
        text = TEXTS[name]()
        for pairs, count in SIZES.items():
            if pairs > len(text.gold):
                continue
            for k in range(count):
                rng = np.random.default_rng([pairs, k])
                places = np.arange(pairs) + rng.integers(len(text.gold) - pairs + 1)
                if k % 2:
                    places = np.sort(rng.choice(len(text.gold), pairs, replace=False))
                yield _part(text, name, places.tolist(), **settings)
        print(name, end=" ", file=sys.stderr, flush=True)


def _part(text: Text, name: str, places: Sequence[int], **settings: float) -> Part:
    bitext = Bitext.pack([text.pairs[k] for k in places])
    aligner = Aligner.train(bitext, **settings)
    decoder = next(aligner._decoders(bitext, None))[1]
    posteriors = decoder.posteriors(0, len(places))
    features = np.zeros((len(posteriors[0]), len(FEATURES)), np.float32)
    known = decoder.pairs, decoder.tables, decoder.own
    decoder.calibrator.probabilities(0, len(places), *known, posteriors, features)
    means = np.minimum(np.add(*posteriors) / 2, 1)
    right = np.zeros(len(means))
    starts = bitext.starts
    for k, place in enumerate(places):
        width = len(text.pairs[place][1])
        for i, j in {*text.gold[place].sure, *text.gold[place].possible}:
            right[starts[k] + i * width + j] = 1
    kept = means >= LEAST
    if not text.punctuation:  # neither one word without letters, nor two
        one, agreement = (features[:, FEATURES.index(x)] for x in ("punctuation_one", "agreement"))
        kept &= (one == 0) & (agreement != 0)
    return Part(
        text.group, name, len(places), features[kept].astype(float), means[kept], right[kept]
    )


def fit(some: Sequence[Part]) -> Array:
    """Return the weights of the features and the bias; each text and size counts as much."""
    rng = np.random.default_rng(0)
    shares = {(part.name, part.pairs): 0 for part in some}
    rows, goals, weights = [], [], []
    for part in some:
        kept = rng.permutation(len(part.means))[: _CELLS // SIZES[part.pairs]]
        shares[part.name, part.pairs] += len(kept)
        rows.append(part.features[kept])
        goals.append(part.right[kept])
    for part, goal in zip(some, goals, strict=True):
        weights.append(np.full(len(goal), 1 / shares[part.name, part.pairs] / len(shares)))
    cells, right, weight = map(np.concatenate, (rows, goals, weights))
    middle, spread = cells.mean(axis=0), cells.std(axis=0)
    scaled = np.column_stack([(cells - middle) / spread, np.ones(len(cells))])
    sign = 2 * right - 1

    def loss(x: Array) -> tuple[float, Array]:
        margin = -sign * (scaled @ x)
        value = weight @ np.logaddexp(0, margin) + _RIDGE * (x[:-1] @ x[:-1])
        slope = scaled.T @ (-sign * weight / (1 + np.exp(-margin)))
        slope[:-1] += 2 * _RIDGE * x[:-1]
        return value, slope

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    factors = found[:-1] / spread
    return np.append(factors, found[-1] - factors @ middle)


def probabilities(weights: Array, part: Part) -> Array:
    """Return the calibrated probabilities (K,) of the cells of a part."""
    return np.asarray(1 / (1 + np.exp(-(part.features @ weights[:-1] + weights[-1]))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true", help="write the weights to the package")
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=list(TEXTS), metavar="NAME")
    options = parser.parse_args(arguments)
    every = list(parts(options.texts))
    print(file=sys.stderr)
    print(Table.from_records(rows_of(every), digits={"pairs": 0}))
    weights = fit([part for part in every if part.pairs in FITTED])
    named = dict(zip((*FEATURES, "bias"), (float(f"{x:.4g}") for x in weights), strict=True))
    print(json.dumps(named, indent=1))
    if options.write:
        content = {"alignkit": "calibration", "version": 1, "weights": named}
        _FILE.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def rows_of(every: Sequence[Part]) -> list[dict[str, object]]:
    """Return the rows of the table."""
    shown: dict[int, Array] = {}
    for group in dict.fromkeys(part.group for part in every):
        others = [part for part in every if part.group != group and part.pairs in FITTED]
        weights = fit(others)
        for k, part in enumerate(every):
            if part.group == group:
                shown[k] = probabilities(weights, part)
    rows = []
    for name, pairs in dict.fromkeys((part.name, part.pairs) for part in every):
        mine = [k for k, part in enumerate(every) if (part.name, part.pairs) == (name, pairs)]
        right = np.concatenate([every[k].right for k in mine])
        row: dict[str, object] = {"text": name, "pairs": pairs}
        for word, values in (
            ("posteriors", np.concatenate([every[k].means for k in mine])),
            ("calibrated", np.concatenate([shown[k] for k in mine])),
        ):
            high = values >= _SHOWN
            row[f"{word}: shown"] = int(high.sum())
            row[f"{word}: right"] = 100 * float(right[high].mean()) if high.any() else None
            row[f"{word}: error"] = 100 * calibration_error(right, values)
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
