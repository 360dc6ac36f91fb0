"""Fit the calibration of probabilities, and print how well it does on texts that were left out.

    python -m benchmarks.calibration           # the table
    python -m benchmarks.calibration --write   # and alignkit/align/calibration.json

An aligner is trained on parts of the development texts that ALIGNKIT_DATA names, of 20 to 100,000
pairs. For each group of texts, the table shows the links with a probability of .9 or more: how many
there are and how many of them are right (sure or possible), by the posteriors and by a calibration
that was fitted on the other groups; the calibration error of all cells with a probability of .1 or
more (ten bins); and the AER by the threshold for calibrated probabilities, and that of .55 for
posteriors. Below stand the means and the worst text of each size. The links of punctuation are left
out of Greek, whose gold standard has none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from alignkit.align import Aligner, Bitext
from alignkit.align.calibration import FEATURES
from alignkit.align.settings import Settings
from alignkit.align.supervised.cells_kernel import LEAST
from alignkit.align.supervised.measures import calibration_error
from alignkit.tables.table import Table
from benchmarks.texts import TEXTS, Text

Array = NDArray[np.float64]

SIZES = {20: 4, 40: 4, 100: 2, 250: 2, 500: 1, 1000: 1, 2000: 1, 5000: 2, 10_000: 2, 20_000: 1}
"""How many parts of each size are taken of a text; larger ones are taken once."""
LARGER = (50_000, 100_000)
MOST = 4_000  # pairs of a text that is taken whole too
CELLS = 600  # of each text and size that the weights are fitted to
FRENCH = 250  # pairs of French that they are fitted to at most: most of its links are only possible
_RIDGE, _SHOWN = 1e-3, 0.9
_POSTERIOR = 0.55  # links have a higher posterior than this
_FILE = Path(__file__).parent.parent / "alignkit" / "align" / "calibration.json"


class Part(NamedTuple):
    """The candidate cells of a part of a text."""

    group: str
    name: str
    pairs: int
    features: Array  # (K, F)
    means: Array  # (K,) the posteriors
    levels: Array  # (K,) 2 for sure links of the gold standard, 1 for possible ones, else 0
    missed: int  # sure links that are no candidates

    @property
    def right(self) -> Array:
        """1 for cells (K,) that are links of the gold standard, else 0."""
        return (self.levels > 0).astype(float)

    def counts(self, values: Array, threshold: float) -> Array:
        """Return the links and the right ones that AER counts, by the values (K,) of cells."""
        chosen = values > threshold
        sure = self.levels == 2
        links = chosen.sum() + sure.sum() + self.missed
        return np.array([links, (chosen & sure).sum() + (chosen & (self.levels > 0)).sum()])


def parts(names: Sequence[str], **settings: float) -> Iterator[Part]:
    """Train on parts of the texts, and yield their cells."""
    for name in names:
        text = TEXTS[name]()
        whole = len(text.pairs)
        sizes = {size: count for size, count in SIZES.items() if size <= whole}
        sizes |= {size: 1 for size in LARGER if size <= whole}
        if whole <= MOST:
            sizes[whole] = 1
        for pairs, count in sizes.items():
            for k in range(count):
                yield _part(text, name, *_drawn(text, pairs, k), **settings)
        print(name, end=" ", file=sys.stderr, flush=True)


def _drawn(text: Text, pairs: int, k: int) -> tuple[list[int], int]:
    """Return draw k of so many pairs, and how many of them, the first, have gold links.

    Of fewer pairs than have gold links, every second draw is a row of neighbours. Else all with
    gold links are taken, and others at random.
    """
    rng = np.random.default_rng([pairs, k])
    judged = len(text.gold)
    if pairs > judged:
        others = rng.choice(len(text.pairs) - judged, pairs - judged, replace=False)
        return [*range(judged), *(judged + np.sort(others)).tolist()], judged
    if k % 2:
        return np.sort(rng.choice(judged, pairs, replace=False)).tolist(), pairs
    return (np.arange(pairs) + rng.integers(judged - pairs + 1)).tolist(), pairs


def _part(text: Text, name: str, places: Sequence[int], judged: int, **settings: float) -> Part:
    bitext = Bitext.pack([text.pairs[k] for k in places])
    aligner = Aligner.train(bitext, threads=1, **settings)
    decoder = next(aligner._decoders(bitext, None))[1]
    posteriors = decoder.posteriors(0, judged)
    features = np.zeros((len(posteriors[0]), len(FEATURES)), np.float32)
    known = decoder.pairs, decoder.tables, decoder.own
    decoder.calibrator.probabilities(0, judged, *known, posteriors, features)
    means = np.minimum(np.add(*posteriors) / 2, 1)
    levels = np.zeros(len(means))
    starts = bitext.starts
    for k, place in enumerate(places[:judged]):
        width = len(text.pairs[place][1])
        for level, links in enumerate((text.gold[place].possible, text.gold[place].sure), 1):
            for i, j in links:
                levels[starts[k] + i * width + j] = level
    kept = means >= LEAST
    if not text.punctuation:  # neither one word without letters, nor two
        one, agreement = (features[:, FEATURES.index(x)] for x in ("punctuation_one", "agreement"))
        kept &= (one == 0) & (agreement != 0)
    missed = int((levels[means < LEAST] == 2).sum())
    return Part(
        text.group,
        name,
        len(places),
        features[kept].astype(float),
        means[kept],
        levels[kept],
        missed,
    )


def fit(some: Sequence[Part]) -> Array:
    """Return the weights of the features and the bias; each text and size counts as much.

    Of French, only small parts are taken. All of them would be a sixth of the texts of one
    language, and its many possible links, which are right here, make links of others too probable.
    """
    some = [part for part in some if part.group != "fr" or part.pairs <= FRENCH]
    rng = np.random.default_rng(0)
    shares = {(part.name, part.pairs): 0 for part in some}
    draws = Counter((part.name, part.pairs) for part in some)
    rows, goals, weights = [], [], []
    for part in some:
        kept = rng.permutation(len(part.means))[: CELLS // draws[part.name, part.pairs]]
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
    rows = rows_of(every)
    print(Table.from_records(rows, digits={"pairs": 0}))
    print(Table.from_records(list(means_of(rows)), digits={"pairs": 0, "texts": 0}))
    weights = fit(every)
    named = dict(zip((*FEATURES, "bias"), (float(f"{x:.4g}") for x in weights), strict=True))
    print(json.dumps(named, indent=1))
    if options.write:
        content = {"alignkit": "calibration", "version": 1, "weights": named}
        _FILE.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def rows_of(every: Sequence[Part]) -> list[dict[str, object]]:
    """Return the rows of the table."""
    shown: dict[int, Array] = {}
    for group in dict.fromkeys(part.group for part in every):
        weights = fit([part for part in every if part.group != group])
        for k, part in enumerate(every):
            if part.group == group:
                shown[k] = probabilities(weights, part)
    rows = []
    for name, pairs in dict.fromkeys((part.name, part.pairs) for part in every):
        mine = [k for k, part in enumerate(every) if (part.name, part.pairs) == (name, pairs)]
        right = np.concatenate([every[k].right for k in mine])
        row: dict[str, object] = {"text": name, "pairs": pairs}
        for word, by_part, threshold in (
            ("posteriors", {k: every[k].means for k in mine}, _POSTERIOR),
            ("calibrated", {k: shown[k] for k in mine}, Settings().settled(pairs).threshold),
        ):
            values = np.concatenate(list(by_part.values()))
            counts = sum(every[k].counts(of_part, threshold) for k, of_part in by_part.items())
            high = values >= _SHOWN
            row[f"{word}: shown"] = int(high.sum())
            row[f"{word}: right"] = 100 * float(right[high].mean()) if high.any() else None
            row[f"{word}: error"] = 100 * calibration_error(right, values)
            row[f"{word}: AER"] = 100 * float(1 - counts[1] / counts[0])
        rows.append(row)
    return rows


def means_of(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, object]]:
    """Yield the means of the texts of each size, and the least share of right links."""
    for size in sorted({_size(row) for row in rows}):
        some = [row for row in rows if _size(row) == size]
        mean: dict[str, object] = {"pairs": size, "texts": len(some)}
        for word in ("posteriors", "calibrated"):
            shares = [row[f"{word}: right"] for row in some if row[f"{word}: right"] is not None]
            mean[f"{word}: right"] = float(np.mean(shares))
            mean[f"{word}: worst"] = min(shares)
            for figure in (f"{word}: error", f"{word}: AER"):
                mean[figure] = float(np.mean([row[figure] for row in some]))
        yield mean


def _size(row: dict[str, Any]) -> int:
    """Return the greatest size up to that of a row: texts that are taken whole have others."""
    return max(size for size in (*SIZES, *LARGER) if size <= row["pairs"])


if __name__ == "__main__":
    main()
