"""Test which of several systems scores better on the same sentence pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from math import nan
from typing import Any, overload

import numpy as np

from alignkit._support.arguments import check_arguments, check_known, kind_of, naming_keywords
from alignkit._support.array_types import F8
from alignkit._support.wording import how_many
from alignkit.errors import ArgumentError, JoinError, OptionError, UnknownNameError
from alignkit.scoring.comparison import Comparison, SystemIntervals
from alignkit.scoring.comparison_tables import comparison_table, system_tables
from alignkit.scoring.counts import LINK_COLUMNS, PHRASE_COLUMNS
from alignkit.scoring.measures import aggregated
from alignkit.scoring.result import Score, left_out_pairs
from alignkit.scoring.settings import Signature
from alignkit.stats import resampling
from alignkit.stats.corrections import holm, holm_bounds
from alignkit.stats.defaults import CONFIDENCE, DRAWS_EACH, SEED
from alignkit.stats.resampling import Counts, Interval, Ratios, of_corpus
from alignkit.stats.tests import (
    bootstrap_floor,
    enough_draws,
    joint_bootstrap,
    joint_randomization,
    randomization_floor,
    wins,
)
from alignkit.tables.media import Report, get_medium
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

TABLES = ("systems", "differences")  # the tables of a comparison, by name

# the columns of counts that the reference alone decides, by the number of all columns
_OF_REFERENCE = {
    len(columns): [k for k, name in enumerate(columns) if name.startswith("ref_")]
    for columns in (LINK_COLUMNS, PHRASE_COLUMNS)
}

_SAME = ("links", "identical", "case", "level", "aggregate", "phrases", "max_length")
"""The parts of a signature that must be equal in all compared scores."""


_TRIALS = 10_000  # of randomization, at least
_STRICT = 0.01  # the level of the mark **: corrected p-values must be able to be smaller


@dataclass(frozen=True, repr=False)
class Comparisons(TableResult, Sequence[Comparison]):
    """The comparison of several systems; it prints as a table, also in a notebook.

    Returned by `compare`.

    Parameters
    ----------
    differences : A `Comparison` for each level, pair of systems and measure.
    pairs : Number of sentence pairs.
    signature : All settings; print it next to the comparison.
    suspicions : What looks wrong in the compared scores.
    scores : The compared scores, by system; empty if rows of counts were compared.
    intervals : The intervals of each system's measures from the same resamples as the p-values, by
        system, level and measure.

    Examples
    --------
    >>> import alignkit
    >>> gold = ["0-0 1-1"] * 20
    >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(["0-0"] * 20, gold)}
    >>> comparisons = alignkit.compare(scores)
    >>> [each.measure for each in comparisons], comparisons[1].difference
    (['precision', 'recall', 'f1', 'aer'], -0.5)
    >>> comparisons.to_records()[0]["system"]
    'poor'
    """

    differences: tuple[Comparison, ...]
    pairs: int
    signature: Signature = field(default_factory=Signature)
    suspicions: tuple[str, ...] = ()
    scores: Mapping[str, Score] = field(default_factory=dict, repr=False, compare=False)
    intervals: Mapping[str, SystemIntervals] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def compared(self) -> int:
        """The number of pairs of systems that were compared, for which Holm's method corrects."""
        return len({(row.system, row.baseline) for row in self})

    @property
    def resamples(self) -> int:
        """The number of resamples of the sentence pairs."""
        return self.signature.resamples or 0

    @property
    def trials(self) -> int:
        """The number of trials of randomization."""
        return self.signature.trials or 0

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about the intervals and p-values."""
        few = resampling.few_pairs(self.pairs)
        return (*self.suspicions, *few, *self._too_few_draws())

    def _too_few_draws(self) -> Iterator[str]:
        """Yield warnings if no corrected p-value could be as small as that of the mark ``**``."""
        for name, given, floor in (
            ("resamples", self.resamples, bootstrap_floor(self.resamples)),
            ("trials", self.trials, randomization_floor(self.trials)),
        ):
            least = min(1.0, floor * self.compared)
            if least < _STRICT or (name == "resamples" and self.pairs < 2):
                continue
            draws = how_many(given, name.removesuffix("s"))
            tests = how_many(self.compared, "comparison")
            yield (
                f"with {draws} and {tests} of systems, no p-value corrected by Holm's method can "
                f"be below {least:.2g}; take {DRAWS_EACH * self.compared:,} {name}"
            )

    def draws(self) -> str:
        """Return how many random draws there were, and for how many comparisons.

        Examples
        --------
        >>> import alignkit
        >>> gold, poor = ["0-0 1-1"] * 20, ["0-0"] * 20
        >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(poor, gold)}
        >>> alignkit.compare(scores).draws()
        '1 comparison of two systems: 1,000 resamples, 10,000 trials of randomization'
        """
        tests = how_many(self.compared, "comparison of two systems", "comparisons of two systems")
        return f"{tests}: {self.resamples:,} resamples, {self.trials:,} trials of randomization"

    def __len__(self) -> int:
        return len(self.differences)

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Comparison, ...]: ...
    def __getitem__(self, index: int | slice) -> Comparison | tuple[Comparison, ...]:
        return self.differences[index]

    def __repr__(self) -> str:
        names = dict.fromkeys(name for row in self for name in (row.baseline, row.system))
        pairs = how_many(self.pairs, "pair")
        return f"Comparisons({', '.join(names)}; {pairs}; {len(self)} differences)"

    def table(self) -> Table:
        """Return the differences as a table.

        Examples
        --------
        >>> import alignkit
        >>> gold, poor = ["0-0 1-1"] * 20, ["0-0"] * 20
        >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(poor, gold)}
        >>> len(alignkit.compare(scores).table().rows)
        4
        """
        note = "\n".join([self.draws(), *self.cautions, str(self.signature)])
        return comparison_table(self.differences, note=note)

    def tables(self) -> Sequence[Table]:
        """Return a table of systems and measures for each level; see `system_tables`.

        Examples
        --------
        >>> import alignkit
        >>> gold, poor = ["0-0 1-1"] * 20, ["0-0"] * 20
        >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(poor, gold)}
        >>> [table.anchor for table in alignkit.compare(scores).tables()]
        ['systems-links']
        """
        if self.scores:
            each_level = system_tables(
                self.differences,
                self.scores,
                self.intervals,
                confidence=self.signature.confidence or CONFIDENCE,
                pairs=self.pairs,
                draws=self.draws(),
            )
            return [*each_level]
        return [self.table()]

    def show(self, medium: str = "text", tables: Sequence[str] | None = None) -> str:
        r"""Return the report in a medium.

        Parameters
        ----------
        medium : ``"text"``, ``"markdown"``, ``"latex"`` or ``"html"``.
        tables : ``"systems"`` (the default), ``"differences"``, or both.

        Examples
        --------
        >>> from alignkit.scoring import score
        >>> gold = ["0-0 1-1", "0-0 1-1 2-2"] * 20
        >>> scores = {"good": score(gold, gold), "poor": score(["0-0", "0-1"] * 20, gold)}
        >>> print(compare(scores).show("markdown").splitlines()[0])
        **Links, 40 sentence pairs, percent \[95% of bootstrap resamples\]**
        """
        names = ["systems"] if tables is None else list(tables)
        for name in names:
            check_known("table", name, TABLES)
        shown = list[Table]()
        if "systems" in names and self.scores:
            shown += self.tables()
        if "differences" in names or not shown:
            shown.append(comparison_table(self, note=self.draws()))
        sheets = [table.sheet() for table in shown]
        report = Report([], sheets, self.cautions, str(self.signature))
        return get_medium(medium).report(report).lstrip("\n")

    def _repr_html_(self) -> str:
        return self.show("html")

    def to_records(self) -> list[dict[str, object]]:
        """Return a dictionary for each difference, for a DataFrame.

        Examples
        --------
        >>> import alignkit
        >>> gold, poor = ["0-0 1-1"] * 20, ["0-0"] * 20
        >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(poor, gold)}
        >>> record = alignkit.compare(scores).to_records()[1]
        >>> record["measure"], record["system"], record["difference"]
        ('recall', 'poor', -0.5)
        """
        records = []
        for row in self:
            record = {**vars(row), "low": row.interval.low, "high": row.interval.high}
            del record["interval"]
            records.append(record)
        return records

    def to_json(self) -> list[dict[str, object]]:  # type: ignore[override]
        """Return the differences as JSON values; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> gold, poor = ["0-0 1-1"] * 20, ["0-0"] * 20
        >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(poor, gold)}
        >>> [each["measure"] for each in alignkit.compare(scores).to_json()]
        ['precision', 'recall', 'f1', 'aer']
        """
        return [row.to_json() for row in self]


@overload
def compare(
    systems: Mapping[str, Score],
    measure: None = ...,
    *,
    baseline: str | None = ...,
    resamples: int | None = ...,
    trials: int | None = ...,
    confidence: float = ...,
    seed: int = ...,
) -> Comparisons: ...
@overload
def compare(
    systems: Mapping[str, Counts],
    measure: Ratios,
    *,
    baseline: str | None = ...,
    resamples: int | None = ...,
    trials: int | None = ...,
    confidence: float = ...,
    seed: int = ...,
) -> Comparisons: ...
@naming_keywords
def compare(
    systems: Mapping[str, Score] | Mapping[str, Counts],
    measure: Ratios | None = None,
    *,
    baseline: str | None = None,
    resamples: int | None = None,
    trials: int | None = None,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> Comparisons:
    """Compare every two systems by paired bootstrap and approximate randomization.

    Parameters
    ----------
    systems : For each system its `Score`, all on the same sentence pairs and reference; or (P, C)
        rows of counts.
    measure : For rows of counts: `link_ratios` or `phrase_ratios`. Scores have their own.
    baseline : The system to compare the others with; None compares every two systems, the later one
        with the earlier one.
    resamples, trials : Number of resamples of the bootstrap, and of trials of randomization. By
        default, 1,000 for each comparison of two systems (at least 10,000 trials), and at most
        100,000: with a fixed number, Holm's correction would leave no difference significant if
        there are many systems.
    confidence : Confidence of the intervals, between 0 and 1.
    seed : Seed of the resamples and trials.

    Returns
    -------
    Comparisons
        Sorted by level, pair of systems, and measure.

    Raises
    ------
    OptionError : If there are fewer than two systems, a score has no rows or other settings, or a
        number is out of range.

    Notes
    -----
    Each p-value is also given with Holm's correction for all pairs of systems compared at that
    level by that measure. There is no correction for several measures or levels. With fewer than
    about 30 sentence pairs, bootstrap p-values and intervals are too small: use the p-value of
    randomization. All systems have the same resamples and trials, so the time hardly grows with the
    number of comparisons.

    References
    ----------
    Koehn 2004, EMNLP, W04-3250. Riezler & Maxwell 2005, ACL workshop, W05-0908. Holm 1979,
    Scandinavian Journal of Statistics 6(2):65-70.

    Examples
    --------
    >>> from alignkit.scoring import score
    >>> gold = ["0-0 1-1", "0-0 1-1 2-2"] * 20
    >>> scores = {"good": score(gold, gold), "poor": score(["0-0", "0-1 1-0 2-2"] * 20, gold)}
    >>> compare(scores)
    Comparisons(good, poor; 40 pairs; 4 differences)
    >>> compare(scores)[3].difference > 0.5    # of AER
    True
    """
    if not isinstance(systems, Mapping):
        raise ArgumentError(
            f"systems is {kind_of(systems)}; expected a Score for each name: "
            'compare({"initial": score(...), "anna": score(...)})'
        )
    check_arguments(compare, locals())
    if len(systems) < 2:
        raise OptionError(f"a comparison needs two or more systems, not {len(systems)}")
    if baseline is not None and baseline not in systems:
        raise UnknownNameError("system", baseline, systems)
    pairs = list(combinations(systems, 2))
    if baseline is not None:
        pairs = [(baseline, name) for name in systems if name != baseline]
    if resamples is None:
        resamples = enough_draws(len(pairs))
    if trials is None:
        trials = enough_draws(len(pairs), _TRIALS)
    resampling.check_drawing(resamples, confidence, seed)
    resampling.check_trials(trials)
    given: Mapping[str, Any] = systems
    compared: list[Comparison] = []
    intervals: dict[str, dict[str, dict[str, Interval]]] = {name: {} for name in systems}
    for level, (rows, ratios) in _levels(systems, measure).items():
        tests = _Tests(rows, ratios, level, resamples, trials, confidence, seed)
        compared += tests.compare(pairs)
        for name in systems:
            intervals[name][level] = tests.intervals(name)
    first = next(iter(given.values()))
    if measure is None:
        scores = dict(given)
        pairs_compared = first.pairs
        signature = first.signature
    else:
        scores = {}
        pairs_compared = len(first)
        signature = Signature()
    suspicions = list[str]()
    for name, score in scores.items():
        texts = (*score.suspicions, *left_out_pairs(score.skipped, score.pairs))
        suspicions += [f"{name}: {text}" for text in texts]
    return Comparisons(
        differences=tuple(_corrected(compared)),
        pairs=pairs_compared,
        signature=signature.drawn(resamples, confidence, seed, trials=trials),
        suspicions=tuple(suspicions),
        scores=scores,
        intervals=intervals,
    )


@dataclass
class _Tests:
    """The tests of several systems at a level, on the same resamples and trials."""

    rows: Mapping[str, Counts]
    ratios: Ratios
    level: str
    resamples: int
    trials: int
    confidence: float
    seed: int

    def __post_init__(self) -> None:
        self._places = {name: k for k, name in enumerate(self.rows)}
        for_bootstrap, self._for_randomization = np.random.default_rng(self.seed).spawn(2)
        self._drawn: dict[str, F8] = {}  # measures on resamples, (S, B); none of a single pair
        every = list(self.rows.values())
        if len(every[0]) > 1:
            self._drawn = joint_bootstrap(
                every, self.ratios, resamples=self.resamples, rng=for_bootstrap
            )

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Comparison]:
        """Yield a comparison for each baseline and system, and each measure."""
        every = list(self.rows.values())
        places = [(self._places[name], self._places[base]) for base, name in pairs]
        chances = joint_randomization(
            every, places, self.ratios, trials=self.trials, rng=self._for_randomization
        )
        values = {name: of_corpus(self.ratios, rows) for name, rows in self.rows.items()}
        for (base, name), p_values in zip(pairs, chances, strict=True):
            for key, p_value in p_values.items():
                yield self._comparison(key, name, base, values, p_value)

    def _comparison(
        self,
        key: str,
        name: str,
        base: str,
        values: Mapping[str, Mapping[str, float]],
        randomization_p: float,
    ) -> Comparison:
        """Return the comparison of a system with a baseline by one measure."""
        value = values[name][key]
        base_value = values[base][key]
        difference = value - base_value
        interval = Interval(nan, nan, nan, nan, 0, resampling.ONE_PAIR)
        share = nan
        bootstrap_p = nan
        if self._drawn:
            of_systems = self._drawn[key]
            drawn = of_systems[self._places[name]] - of_systems[self._places[base]]
            interval = resampling.summarize(drawn, self.confidence)
            share, bootstrap_p = wins(key, difference, drawn)
        return Comparison(
            measure=key,
            system=name,
            baseline=base,
            system_value=value,
            baseline_value=base_value,
            difference=difference,
            interval=interval,
            wins=share,
            bootstrap_p=bootstrap_p,
            randomization_p=randomization_p,
            level=self.level,
            bootstrap_p_bound=bool(1 > bootstrap_p == bootstrap_floor(self.resamples)),
            randomization_p_bound=bool(1 > randomization_p == randomization_floor(self.trials)),
        )

    def intervals(self, name: str) -> dict[str, Interval]:
        """Return the interval of each measure of a system, from the resamples of the tests."""
        if not self._drawn:
            none = Interval(nan, nan, self.confidence, nan, 0, resampling.ONE_PAIR)
            return dict.fromkeys(of_corpus(self.ratios, self.rows[name]), none)
        place = self._places[name]
        return {
            key: resampling.interval_of(drawn[place], self.confidence)
            for key, drawn in self._drawn.items()
        }


def _corrected(rows: list[Comparison]) -> list[Comparison]:
    """Correct the p-values of each measure for all pairs of systems; keep the order."""

    def family(k: int) -> tuple[str, str]:
        return rows[k].level, rows[k].measure

    for _, group in groupby(sorted(range(len(rows)), key=family), key=family):
        places = list(group)
        for test in ("bootstrap", "randomization"):
            p_values = [getattr(rows[k], f"{test}_p") for k in places]
            bounds = [getattr(rows[k], f"{test}_p_bound") for k in places]
            corrected = holm(p_values)
            corrected_bounds = holm_bounds(p_values, bounds)
            for k, p_value, bound in zip(places, corrected, corrected_bounds, strict=True):
                changes: Any = {f"{test}_holm": p_value, f"{test}_holm_bound": bound}
                rows[k] = replace(rows[k], **changes)
    return rows


def _levels(
    systems: Mapping[str, Any], measure: Ratios | None
) -> dict[str, tuple[dict[str, Counts], Ratios]]:
    """Return the counts of each system, and their measure, by level."""
    if not any(isinstance(given, Score) for given in systems.values()):
        if measure is None:
            raise ArgumentError(
                "measure is None; rows of counts need one, such as link_ratios (a Score has "
                "its own)"
            )
        return {"": (_checked(systems), measure)}
    if measure is not None:
        raise OptionError("measure is for rows of counts; leave it out, scores have their own")
    first_name, first = next(iter(systems.items()))
    for name, score in systems.items():
        _check_score(name, score, first_name, first)
    levels: dict[str, tuple[dict[str, Counts], Ratios]] = {}
    for level in first.rows:
        rows = _checked({name: score.rows[level] for name, score in systems.items()})
        terms: dict[str, Counts] = {}
        for name, counts in rows.items():
            terms[name], ratios = aggregated(counts, level, first.aggregate)
        levels[level] = terms, ratios  # the same ones for all
    return levels


def _check_score(name: str, score: Any, first_name: str, first: Any) -> None:
    """Raise an error if a system cannot be compared with the first one."""
    if not isinstance(score, Score):
        raise ArgumentError(
            f"systems[{name!r}] is {kind_of(score)}, but another is a Score; give a Score for "
            "each: score(corpus, hypothesis, reference)"
        )
    if not score.rows:
        raise OptionError(
            f"the score of {name!r} does not have the counts of the sentence pairs, which are "
            "needed to compare; score it again with keep_rows=True"
        )
    for setting in _SAME:
        if setting == "aggregate":
            value = score.aggregate
            first_value = first.aggregate
        else:
            value = getattr(score.signature, setting)
            first_value = getattr(first.signature, setting)
        if value != first_value:
            raise OptionError(
                f"{name!r} was scored with {setting} {value}, but {first_name!r} with "
                f"{first_value}; score both with the same options"
            )
    if score.scored and first.scored and score.scored != first.scored:
        raise JoinError(
            f"{name!r} and {first_name!r} were not scored on the same sentence pairs; score both "
            "on those that both annotated: corpus.annotated_by(...)"
        )
    if list(score.rows) != list(first.rows):
        raise OptionError(
            f"{name!r} was scored at {', '.join(score.rows)}, but {first_name!r} at "
            f"{', '.join(first.rows)}; score both with the same options"
        )


def _checked(systems: Mapping[str, Any]) -> dict[str, Counts]:
    """Return the counts of systems; raise an error if they are not of the same pairs."""
    first_name, first = next(iter(systems.items()))
    for name, rows in systems.items():
        if not isinstance(rows, np.ndarray) or rows.ndim != 2:
            raise ArgumentError(
                f"systems[{name!r}] is {kind_of(rows)}; expected a Score, or (P, C) rows of counts"
            )
        if len(rows) != len(first):
            raise JoinError(
                f"{name!r} was scored on {how_many(len(rows), 'sentence pair')}, but "
                f"{first_name!r} on {len(first)}; score both on the same pairs"
            )
        if rows.shape[1] != first.shape[1]:
            raise JoinError(
                f"{name!r} has {how_many(rows.shape[1], 'count')} for each sentence pair, but "
                f"{first_name!r} {first.shape[1]}; compare systems with rows of the same counts"
            )
        known = _OF_REFERENCE.get(rows.shape[1], [])
        differs = np.flatnonzero((rows[:, known] != first[:, known]).any(axis=1))
        if len(differs):
            raise JoinError(
                f"{name!r} and {first_name!r} were scored against different references (first at "
                f"pair {differs[0]}, counted from 0); a comparison needs one reference"
            )
    return dict(systems)
