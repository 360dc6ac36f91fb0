"""How many sentence pairs two annotators need for an interval of a given width."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import ceil, exp, sqrt

import numpy as np
from scipy.special import ndtri

from alignkit._support.arguments import check_kind, check_known
from alignkit._support.array_types import F8
from alignkit._support.options import takes
from alignkit.agreement.chance.corpus import CorpusBeyondChance
from alignkit.agreement.chance.correction import correction_ratios
from alignkit.agreement.chance.result import LEVELS
from alignkit.agreement.intervals import Rows, Statistic
from alignkit.agreement.options import CLOSED, AgreementOptions, PlanOptions
from alignkit.agreement.overlaps import OVERLAP
from alignkit.agreement.pairs import CorpusData, PairData, check_case, whole_part
from alignkit.agreement.sections import OF_TWO
from alignkit.errors import OptionError
from alignkit.model.corpus import Corpus
from alignkit.model.roles import ROLES
from alignkit.tables.columns import Column, Row
from alignkit.tables.result import Result
from alignkit.tables.table import Table
from alignkit.version import __version__

LEAST_PILOT = 30  # pairs: nothing is planned from fewer
SHORT_PILOT = 100  # pairs: a plan from fewer is rough
ASSURANCE = 0.8  # how often the planned number of pairs is enough
_STATISTICS: dict[str, Statistic] = {each.level: each for each in (*OVERLAP, *OF_TWO)}
_Z = float(ndtri(ASSURANCE))

# the k of `planned_variance`, set for 82% in the mean of simulations: GoldAlign, three pairings of
# RTE-2, and the samples, with pilots of 30 to 200 pairs. With one corpus left out, it is 2.5 to 4
# (F1 and kappa), and 0 to 1.25 (C)
_TAILS = 3.0
_TAILS_OF_C = 0.5


@dataclass(frozen=True)
class PairPlan:
    """How many sentence pairs must be annotated twice.

    Part of `PairPlans.plans`.

    Parameters
    ----------
    statistic, level : What the interval is of.
    half_width : The half width of the 95% interval.
    pilot : The number of pairs that two annotators have done.
    rests_on : How many of these have anything that the statistic counts. C leaves out the others;
        for F1 they have no link or phrase pair.
    value : The statistic of the pilot.
    spread : The standard deviation of the influence of a pair, over all pairs of the pilot.
    pairs : The number of pairs in all that is enough with a probability of about 80%.

    Examples
    --------
    >>> import alignkit
    >>> plans = alignkit.plan_pairs(alignkit.read_corpus("samples/paraphrases.jsonl")).plans
    >>> plan = plans["anna", "ben"]
    >>> plan.statistic, plan.level, plan.half_width, plan.pilot, plan.pairs
    ('f1', 'words.possible', 0.03, 64, 48)
    """

    statistic: str
    level: str
    half_width: float
    pilot: int
    rests_on: int
    value: float
    spread: float
    pairs: int

    def __str__(self) -> str:
        width = f"{100 * self.half_width:g} points"
        text = (
            f"to know {self.statistic} ({self.level}) within {width}, about {self.pairs:,} pairs "
            f"in all must be annotated twice (enough with a probability of about {ASSURANCE:.0%}); "
            f"estimated from {self.pilot:,} pairs"
        )
        if self.rests_on < self.pilot:
            text += f", but {self.statistic} rests on {self.rests_on:,} of them"
        if self.rests_on < SHORT_PILOT:
            text += f"; fewer than {SHORT_PILOT}, so this is rough"
        return text


@dataclass(frozen=True)
class PairPlans(Result):
    """The plans of every two annotators.

    Returned by `plan_pairs`.

    Examples
    --------
    >>> import alignkit
    >>> plans = alignkit.plan_pairs(alignkit.read_corpus("samples/paraphrases.jsonl"))
    >>> [(names, plan.pairs) for names, plan in plans.plans.items()]
    [(('anna', 'ben'), 48)]
    """

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
        columns = [
            Column("first"),
            Column("second"),
            Column("pairs", "count", key="pilot"),
            Column("rests on", "count", key="rests_on"),
            Column("value", "decimal", digits=3),
            Column("sd", "decimal", key="spread", digits=3),
            Column(f"needed ({ASSURANCE:.0%})", "count", key="pairs"),
        ]
        rows: list[Row] = [
            [*two, plan.pilot, plan.rests_on, plan.value, plan.spread, plan.pairs]
            for two, plan in self.plans.items()
        ]
        note = (
            "pairs: annotated by both; rests on: those with anything that the statistic counts; "
            "sd: standard deviation of the influence of single pairs on the statistic; needed: "
            f"pairs in all, enough with a probability of about {ASSURANCE:.0%}"
        )
        return [Table("Pairs to annotate twice", columns, rows, note, "plans", stub=2)]


@takes(PlanOptions)
def plan_pairs(corpus: Corpus, options: PlanOptions) -> PairPlans:
    """Estimate how many pairs two annotators must annotate for a 95% interval of a half width.

    The influence of pair p on a statistic T of P pairs is u = (P - 1)(T - T without p). The 95%
    interval of n pairs has the half width 1.96 sd(u) / sqrt(n). The variance of u is uncertain if
    the pilot is small, so the plan uses an upper bound of it, see `planned_variance`. With this
    bound, n pairs are enough with a probability of about 80%.

    Parameters
    ----------
    corpus : The pilot: 30 pairs or more of two annotators. Two with fewer are left out, with a
        note.
    options : The fields of `PlanOptions`.

    Raises
    ------
    OptionError : If there are fewer than two annotators or 30 pairs, or a number is out of its
        range.
    UnknownNameError : If the level or the statistic is not known.

    Examples
    --------
    >>> from alignkit import read_corpus
    >>> corpus = read_corpus("samples/paraphrases.jsonl")
    >>> plan = plan_pairs(corpus).plans["anna", "ben"]
    >>> plan.pilot, plan.rests_on, plan.pairs
    (64, 64, 48)
    """
    check_kind("corpus", corpus, Corpus)
    check_case(options.ignore_identical, options.exact_case)
    names = options.annotators
    if names is None:
        names = [name for name, role in corpus.roles.items() if role == ROLES[0]]
    if len(names) < 2:
        raise OptionError("a plan needs two annotators; name them")
    couples = list(combinations(names, 2))
    both = {two: sum(all(map(pair.aligned_by, two)) for pair in corpus) for two in couples}
    kept = [two for two in couples if both[two] >= LEAST_PILOT] or couples[:1]
    few = (two for two in couples if two not in kept)
    notes = tuple(f"{' and '.join(two)}: {both[two]} pairs of both are too few" for two in few)
    plans = {two: plan_two(corpus, *two, options) for two in kept}
    signature = (
        f"plan:{options.level}.{options.statistic}|half-width:{options.half_width:g}"
        f"|assurance:{ASSURANCE:g}|version:{__version__}"
    )
    return PairPlans(plans, notes, signature)


def plan_two(corpus: Corpus, first: str, second: str, options: PlanOptions) -> PairPlan:
    """Return the plan of two annotators; see `plan_pairs`."""
    level = options.level
    statistic = options.statistic
    data = CorpusData(corpus, exact_case=options.exact_case)
    corpus.require(first, second)
    if options.initial is not None:
        corpus.require(options.initial)
    check_known("level", level, LEVELS if statistic == "C" else _STATISTICS)
    if statistic != "C":
        measures = _STATISTICS[level].measures
        check_known("statistic", statistic, (*measures, "C") if level in LEVELS else measures)
    rows = rows_of(data, (first, second), options)
    m = len(rows)
    if m < LEAST_PILOT:
        raise OptionError(f"{m} pairs have both annotators; a plan needs {LEAST_PILOT} or more")
    value = rows.figures()[statistic]
    influence = influences(rows, statistic)
    spread = float(influence.std(ddof=1))
    if spread == 0:
        raise OptionError(f"all {m} pairs agree alike: they do not show how far others may differ")
    if not np.isfinite(spread):
        raise OptionError(f"{statistic} of {level} is not defined without some of the pairs")
    needed = ceil(1.96**2 * planned_variance(influence, statistic) / options.half_width**2)
    rests_on = sum(int(counts.any(axis=1).sum()) for counts in rows.dense())
    return PairPlan(
        statistic=statistic,
        level=level,
        half_width=options.half_width,
        pilot=m,
        rests_on=rests_on,
        value=value,
        spread=spread,
        pairs=needed,
    )


def planned_variance(influence: F8, statistic: str) -> float:
    """Return a bound that is above the variance of m influences with a probability of about 80%.

    The bound is s^2 exp(z sqrt((g - 1) / (m - 1)) + k max(g - 3, 0) / (m - 1)), with the sample
    variance s^2, its kurtosis g = m4 / m2^2, and z = .8416, the 80% quantile of the normal
    distribution. The first term is the standard error of log s^2.

    The second term is for heavy tails: there, s^2 of a sample is usually below that of the
    population, and g far below. Statistics of pooled counts have such tails, because a few long
    pairs hold many of the differences: k = 3. C is a mean of ratios from 0 to 1, one for each pair:
    k = 0.5.
    """
    m = len(influence)
    centred = influence - influence.mean()
    kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
    wider = _Z * sqrt((kurtosis - 1) / (m - 1))
    tails = _TAILS_OF_C if statistic == "C" else _TAILS
    wider += tails * max(kurtosis - 3, 0.0) / (m - 1)
    return float(influence.var(ddof=1)) * exp(wider)


def influences(rows: Rows, statistic: str) -> F8:
    """Return (P - 1)(T - T without p) of each of P pairs."""
    without = rows.without_each()[statistic]
    influence: F8 = (len(rows) - 1) * (rows.figures()[statistic] - without)
    return influence


def rows_of(data: CorpusData, names: tuple[str, str], options: PlanOptions) -> Rows:
    """Return the counts of each pair of both annotators that a statistic of a level is made of."""
    if options.statistic == "C":
        return _rows_of_c(data, names, options)
    pairs = PairData.of(data, names, ignore_identical=options.ignore_identical)
    return _STATISTICS[options.level].rows(pairs)


def _rows_of_c(data: CorpusData, names: tuple[str, str], options: PlanOptions) -> Rows:
    """Return the terms of C of each pair, 0 if C leaves it out; edit models stay as fitted."""
    plain = AgreementOptions(
        initial=options.initial,
        ignore_identical=options.ignore_identical,
        exact_case=options.exact_case,
        bootstrap="none",
    )
    settled = plain.settled(options.initial)
    beyond = CorpusBeyondChance(data, options.initial, (), settled, [whole_part(data.corpus)])
    reason = beyond.why_no_edits(names)
    model = CLOSED if reason else settled.model
    sentences = beyond.of(names, reason)[model][options.level].sentences
    terms = np.zeros((len(sentences), 4))
    for row, sentence in zip(terms, sentences, strict=True):
        if not sentence.left_out:
            row[:] = sentence.observed, 1, sentence.expected, 1
    return Rows(terms, correction_ratios)
