"""Choose the weight of what was learned from gold, on development sets that were left out.

    python -m benchmarks.weights [SET ...] [--pairs 6 10 20 40] [--draws 2] [--objective aer]
        [--text 250]

A draw learns from so many of the first 150 pairs with gold links of a set, and aligns the others
with what was learned in all weights from 0 to 1. The first table has the error in percent (AER, or
100 less F1), mean over the sets and draws: not learned, learned with full weight, by the rule
before there were weights (all or nothing), by the formula of alignkit, and by the formula that has
the least error on the sets of the other groups. `worst` is the greatest loss of a set by the
formula, against not learning. The second table has all formulas. Aligners are trained on the first
pairs of ALIGNKIT_DATA's sets, 250 or as many as --text says; without SET, these are all sets of two
languages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit import SentencePair
from alignkit.align import Aligner
from alignkit.align.expectation import Workers
from alignkit.align.supervised import OBJECTIVES, Prior
from alignkit.align.supervised.cells import GoldLexicon
from alignkit.align.supervised.fitting import validate
from alignkit.align.supervised.gold import Gold, GoldPairs
from alignkit.align.supervised.learned import LEAST_WEIGHT, mean_of_log_odds, weight_of
from alignkit.align.supervised.measures import measure, resampled, rows_of
from alignkit.tables.table import Table
from benchmarks.texts import TEXTS, Text

JUDGED = 150
LEFT = 20  # the least pairs that are not drawn
WEIGHTS = np.arange(21) / 20
FEW = 30


class Draw(NamedTuple):
    """What cross-validation says of some gold pairs, and the errors on the other pairs."""

    set: str
    group: str
    asked: int  # the number of gold pairs
    objective: str
    pairs: int  # the different ones
    gaining: float
    gain: float
    errors: NDArray[np.float64]  # on other pairs, in percent, by weight

    def error(self, weight: float) -> float:
        """Return the error with a weight, by interpolation."""
        return float(np.interp(weight, WEIGHTS, self.errors))


Rule = Callable[[Draw], float]


def formula(factor: float, power: int, doubt: float) -> Rule:
    """Return a formula of the weight; see `weight_of`."""

    def weight(draw: Draw) -> float:
        whole = min(1.0, factor * draw.gaining)
        return used(whole * max(0.0, 1 - (doubt / draw.pairs) ** power))

    return weight


def used(weight: float) -> float:
    """Return the weight that is used."""
    return weight if weight >= LEAST_WEIGHT else 0.0


def all_or_nothing(draw: Draw) -> float:
    """Return 1 if the gain is certain by the rule before there were weights."""
    needed = 0.6
    if draw.pairs < FEW:
        needed = 0.9 if draw.objective == "phrases" else 0.7
    return float(draw.gain > 0 and draw.gaining >= needed)


RULES: dict[str, Rule] = {
    "not learned": lambda draw: 0.0,
    "full weight": lambda draw: 1.0,
    "all or nothing": all_or_nothing,
    "alignkit": lambda draw: used(weight_of(draw.gaining, draw.pairs)),
}
FORMULAS: dict[str, Rule] = {}
for _factor in (1.0, 1.5, 2.0, 3.0):
    FORMULAS[f"{_factor:g}, none"] = formula(_factor, 1, 0.0)
    for _power, _doubts in ((1, (1, 2, 3)), (2, (2.5, 3, 3.5, 4))):
        for _doubt in _doubts:
            name = f"{_factor:g}, {_doubt:g} / P, power {_power}"
            FORMULAS[name] = formula(_factor, _power, _doubt)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weights", description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(TEXTS)}")
    parser.add_argument("--pairs", type=int, nargs="+", default=[6, 10, 20, 40], metavar="N")
    parser.add_argument("--draws", type=int, default=2, metavar="N")
    parser.add_argument("--objective", choices=tuple(OBJECTIVES), default="aer")
    parser.add_argument("--text", type=int, default=250, metavar="N", help="trained on so many")
    options = parser.parse_args()
    draws: list[Draw] = []
    for name in options.sets or TEXTS:
        text = TEXTS[name]()
        if text.monolingual and not options.sets:
            continue
        draws += draws_of(name, text, options)
        print(name, file=sys.stderr, flush=True)
    records = []
    for count in options.pairs:
        some = [draw for draw in draws if draw.asked == count]
        if some:
            records.append(row_of(count, some, draws))
    print(Table.from_records(records))
    rows = []
    for name, rule in {**RULES, **FORMULAS}.items():
        row: dict[str, object] = {"rule": name}
        for count in options.pairs:
            some = [draw for draw in draws if draw.asked == count]
            row[str(count)] = mean_error(some, rule)
            row[f"{count}, worst"] = worst(some, rule)[0]
        rows.append(row)
    print(Table.from_records(rows))


def draws_of(name: str, text: Text, options: argparse.Namespace) -> Iterator[Draw]:
    """Yield the draws of a set."""
    number = min(len(text.gold), JUDGED)
    pairs = []
    for k in range(number):
        source, target = text.pairs[k]
        pairs.append(SentencePair(str(k), source, target, {"gold": text.gold[k]}))
    aligner = Aligner.train(text.pairs[: options.text], identity=3.0 if text.monolingual else 0.0)
    alike = text.monolingual  # then equal words are left out
    whole = (
        GoldPairs(aligner, None).add(pairs, "gold").gold(options.objective, ignore_identical=alike)
    )
    for count in options.pairs:
        if count > number - LEFT:
            continue
        for draw in range(options.draws):
            order = np.random.default_rng(draw).permutation(number)
            taught = GoldPairs(aligner, None).add([pairs[k] for k in order[:count]], "gold")
            gold = taught.gold(options.objective, ignore_identical=alike)
            yield drawn(name, text, count, options.objective, aligner, whole, gold, order[count:])


def drawn(
    name: str,
    text: Text,
    asked: int,
    objective: str,
    aligner: Aligner,
    whole: Gold,
    gold: Gold,
    rest: NDArray[np.int64],
) -> Draw:
    """Learn from the gold pairs, and align the other pairs with each weight."""
    least = float(aligner.settings.threshold)
    start = Prior.samples().rounds(vectors=False)
    with Workers.opened(1) as workers:
        chosen = validate(gold, start, workers, before=least)
    before, after = gold.summed(chosen.before.rows), gold.summed(chosen.after.rows)
    _, _, gain, gaining = resampled(objective, before, after)
    words = gold.bitext.source.words, gold.bitext.target.words
    lexicon = GoldLexicon.of(gold.cells, gold.goals, *words)
    lexicon.set_features(whole.cells, lexicon.numbers(whole.bitext))
    learned = chosen.rounds.probabilities(whole.cells)
    thresholds = np.array([[chosen.after.threshold], [least]])
    errors = np.empty(len(WEIGHTS))
    for k, weight in enumerate(WEIGHTS):
        means = mean_of_log_odds(weight, learned, whole.cells.probabilities)
        threshold = float(mean_of_log_odds(weight, *thresholds)[0])
        rows = rows_of(whole, means, threshold)[rest]
        errors[k] = 100 * (1 - float(measure(objective, rows.sum(axis=0))))
    sign = -1 if objective == "aer" else 1
    return Draw(
        set=name,
        group=text.group,
        asked=asked,
        objective=objective,
        pairs=gold.different,
        gaining=gaining,
        gain=sign * gain.value,
        errors=errors,
    )


def by_set(draws: Sequence[Draw], rule: Rule) -> dict[str, float]:
    """Return the mean error of each set."""
    errors: dict[str, list[float]] = {}
    for draw in draws:
        errors.setdefault(draw.set, []).append(draw.error(rule(draw)))
    return {name: float(np.mean(some)) for name, some in errors.items()}


def mean_error(draws: Sequence[Draw], rule: Rule) -> float:
    """Return the mean over the sets."""
    return float(np.mean(list(by_set(draws, rule).values())))


def worst(draws: Sequence[Draw], rule: Rule) -> tuple[float, str]:
    """Return the greatest loss of a set against not learning, and the set."""
    plain = by_set(draws, RULES["not learned"])
    return max((error - plain[name], name) for name, error in by_set(draws, rule).items())


def row_of(count: int, some: Sequence[Draw], draws: Sequence[Draw]) -> dict[str, object]:
    """Return the row of a number of gold pairs."""
    left_out = []
    for group in dict.fromkeys(draw.group for draw in some):
        others = [draw for draw in draws if draw.group != group]
        best = min(FORMULAS, key=lambda name: mean_error(others or draws, FORMULAS[name]))
        inside = [draw for draw in some if draw.group == group]
        left_out += by_set(inside, FORMULAS[best]).values()
    loss, name = worst(some, RULES["alignkit"])
    row: dict[str, object] = {"pairs": count, "sets": len(left_out)}
    row |= {name: mean_error(some, rule) for name, rule in RULES.items()}
    return row | {"left out": float(np.mean(left_out)), "worst": loss, "of": name}


if __name__ == "__main__":
    main()
