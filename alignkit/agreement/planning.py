"""How many sentence pairs two annotators need for an interval of a given width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import ndtri

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.array_types import F8
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.correction import correction_ratios
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.intervals import Rows, Statistic
from alignkit.agreement.options import CLOSED, AgreementOptions
from alignkit.agreement.overlaps import OVERLAP
from alignkit.agreement.pairs import CorpusData, CorpusPart, PairData, check_case
from alignkit.agreement.sections import OF_TWO
from alignkit.errors import OptionError
from alignkit.model.annotation import ROLES
from alignkit.model.corpus import Corpus
from alignkit.stats.resampling import SEED
from alignkit.tables.columns import Cell, Column
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

LEAST_PILOT, SHORT_PILOT = 30, 100
_CHUNK = 1 << 22  # weights at a time


@dataclass(frozen=True)
class PairPlan:
    """How many sentence pairs must be annotated twice.

    Parameters
    ----------
    statistic, level : What the interval is of.
    half_width : The half width of the 95% interval.
    pilot : The number of pairs that two annotators have done.
    value : The statistic of the pilot.
    spread : The standard deviation of the pairs' influence.
    pairs : The number that is enough in about half of the cases.
    assured : The number that is enough with the probability `assurance`.
    """

    statistic: str
    level: str
    half_width: float
    assurance: float
    pilot: int
    value: float
    spread: float
    pairs: int
    assured: int

    def __str__(self) -> str:
        width = f"{100 * self.half_width:g} points"
        text = (
            f"to know {self.statistic} ({self.level}) within {width}, annotate about "
            f"{self.pairs:,} pairs twice (enough with a probability of about 50%), or "
            f"{self.assured:,} (about {self.assurance:.0%}); estimated from {self.pilot} pairs"
        )
        short = f", which are fewer than {SHORT_PILOT}, so this is rough"
        return text + (short if self.pilot < SHORT_PILOT else "")


@dataclass(frozen=True)
class PairPlans(Result):
    """The plans of every two annotators."""

    plans: dict[tuple[str, str], PairPlan]
    notes: tuple[str, ...] = ()
    signature: str = ""

    @property
    def head(self) -> list[str]:
        """The plan that needs most pairs, in words."""
        first, second = max(self.plans, key=lambda two: self.plans[two].pairs)
        return [f"{first} and {second}: {self.plans[first, second]}"]

    def tables(self) -> list[Table]:
        """Return a row for every two annotators."""
        likely = f"{next(iter(self.plans.values())).assurance:.0%}"
        columns = [
            Column("first"), Column("second"), Column("pairs", "count", key="pilot"),
            Column("value", "decimal", digits=3), Column("sd", "decimal", key="spread", digits=3),
            Column("needed (50%)", "count", key="pairs"),
            Column(f"needed ({likely})", "count", key="assured"),
        ]  # fmt: skip
        rows: list[list[Cell]] = [[*two, x.pilot, x.value, x.spread, x.pairs, x.assured]
                for two, x in self.plans.items()]  # fmt: skip
        note = "sd: standard deviation of the influence of single pairs on the statistic"
        return [Table("Pairs to annotate twice", columns, rows, note, "plans", stub=2)]


def plan_every_two(corpus: Corpus, annotators: Sequence[str] | None, **options: Any) -> PairPlans:
    """Return the plans of every two annotators (None: all people); see `plan_pairs`."""
    names = annotators
    if names is None:
        names = [name for name, role in corpus.roles.items() if role == ROLES[0]]
    if len(names) < 2:
        raise OptionError("a plan needs two annotators; name them")
    couples = list(combinations(names, 2))
    both = {two: sum(all(map(pair.aligned_by, two)) for pair in corpus) for two in couples}
    kept = [two for two in couples if both[two] >= LEAST_PILOT] or couples[:1]
    few = (two for two in couples if two not in kept)
    notes = tuple(f"{' and '.join(two)}: {both[two]} pairs of both are too few" for two in few)
    plans = {two: plan_pairs(corpus, *two, **options) for two in kept}
    plan = next(iter(plans.values()))
    width = f"half-width:{plan.half_width:g}|assurance:{plan.assurance:g}"
    return PairPlans(
        plans, notes, f"plan:{plan.level}.{plan.statistic}|{width}|version:{__version__}"
    )


def plan_pairs(
    corpus: Corpus,
    first: str,
    second: str,
    *,
    level: str = "words.possible",
    statistic: str = "f1",
    half_width: float = 0.03,
    assurance: float = 0.8,
    ignore_identical: bool = True,
    exact_case: bool = False,
    initial: str | None = None,
) -> PairPlan:
    """Estimate how many pairs must be annotated twice for a 95% interval of a half width.

    The influence of pair p is u = (2 I - F S) / mean S for F1 of links (I shared links, S links of
    both, F the F1 of the corpus), and (P - 1)(T - T without p) for another T of P pairs. Then n =
    (1.96 sd(u) / half width)^2. The second figure has a larger sd: times exp(z sqrt((g - 1)/(4 (m -
    1)))), with m pairs, g = m4/m2^2 of u, and z the normal quantile of `assurance`.

    Parameters
    ----------
    first, second : The two annotators of the pilot: 30 pairs or more.
    level, statistic : A level and a measure of agreement, such as ``words.sure`` and ``f1``, or
        ``cells.possible`` and ``kappa``, or ``words.possible`` and ``C``.
    half_width : Half of the width of the interval.
    assurance : The probability with which the second figure is enough.
    ignore_identical, exact_case : As in `overlap`.
    initial : For C, the alignment that chance edits; None: chance draws sets of links.

    Raises
    ------
    OptionError : If there are fewer than 30 pairs, or a number is out of its range.
    UnknownNameError : If the level or the statistic is not known.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> plan = plan_pairs(corpus, "anna", "ben")
    >>> plan.pilot, plan.pairs <= plan.assured
    (64, True)
    """
    check_arguments(plan_pairs, locals())
    check_case(ignore_identical, exact_case)
    if not (0 < half_width < 1 and 0 < assurance < 1):
        raise OptionError("the half width and the assurance are between 0 and 1")
    data = CorpusData(corpus, exact_case=exact_case)
    corpus.require(*((first, second) if initial is None else (first, second, initial)))
    if statistic == "C":
        check_known("level", level, LEVELS)
        options = AgreementOptions(ignore_identical, exact_case, bootstrap="none")
        value, influence = _of_c(data, (first, second), level, options, initial)
    else:
        known: dict[str, Statistic] = {each.level: each for each in (*OVERLAP, *OF_TWO)}
        check_known("level", level, known)
        check_known("statistic", statistic, (*known[level].measures, *["C"] * (level in LEVELS)))
        pairs = PairData.of(data, (first, second), ignore_identical=ignore_identical)
        rows = known[level].rows(pairs)
        value, influence = rows.figures()[statistic], _influence(rows, statistic)
    m = len(influence)
    if m < LEAST_PILOT:
        raise OptionError(f"{m} pairs have both annotators; a plan needs {LEAST_PILOT} or more")
    spread = float(influence.std(ddof=1))
    if spread == 0:
        raise OptionError(f"all {m} pairs agree alike: they do not show how far others may differ")
    if not np.isfinite(spread):
        raise OptionError(f"{statistic} of {level} is not defined without some of the pairs")
    centred = influence - influence.mean()
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2) if spread else 1.0
    wider = np.exp(ndtri(assurance) * sqrt((kurtosis - 1) / (4 * (m - 1))))
    needed = [round((1.96 * sd / half_width) ** 2) for sd in (spread, spread * wider)]
    return PairPlan(statistic, level, half_width, assurance, m, value, spread, *needed)


def _influence(rows: Rows, statistic: str) -> F8:
    """Return (2 I - F S) / mean S of each pair for F1 of links, else by leaving a pair out."""
    if statistic == "f1" and np.array_equal(*(counts := np.asarray(rows.counts).T)[[1, 3]]):
        first, first_shared, second, second_shared = counts
        size, shared = first + second, first_shared + second_shared
        with np.errstate(invalid="ignore", divide="ignore"):
            closed: F8 = (shared - shared.sum() / size.sum() * size) / size.mean()
        return closed
    m = len(rows)
    without, step = np.empty(m), max(1, _CHUNK // max(m, 1))
    for start in range(0, m, step):
        weights = np.ones((min(step, m - start), m))
        weights[np.arange(len(weights)), start + np.arange(len(weights))] = 0
        without[start : start + step] = rows.measure(rows.sums(weights))[statistic]
    return (m - 1) * (rows.figures()[statistic] - without)


def _of_c(
    data: CorpusData, names: tuple[str, str], level: str, options: AgreementOptions,
    initial: str | None,
) -> tuple[float, F8]:  # fmt: skip
    """Return C, and (P - 1)(C - C without p) of each used pair p; edit models stay as fitted."""
    everything = [CorpusPart("all", np.arange(len(data.corpus)))]
    beyond = CorpusBeyondChance(data, initial, (), options, SEED, None, everything)
    reason = beyond.no_edits(*names)
    sentences = beyond.of(*names, reason)[CLOSED if reason else options.chance][level].sentences
    terms = np.array([(x.observed, 1, x.expected, 1) for x in sentences if not x.left_out])
    terms = terms.reshape(-1, 4)
    whole = terms.sum(axis=0, keepdims=True)
    value, without = (correction_ratios(sums)["C"] for sums in (whole, whole - terms))
    return float(value[0]), (len(terms) - 1) * (value - without)
