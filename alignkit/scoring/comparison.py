"""One measure of a system next to that of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

from alignkit._support.values import named_json
from alignkit.stats.resampling import Interval
from alignkit.tables.columns import Value

SystemIntervals = Mapping[str, Mapping[str, Interval]]
"""The intervals of a system's measures, by level and measure."""


@dataclass(frozen=True)
class Comparison:
    """One measure of a system next to that of another, the baseline.

    Part of `Comparisons.differences`.

    Parameters
    ----------
    measure : The name of the measure.
    system, baseline : The names of the two.
    system_value, baseline_value : The measure of each on the whole corpus.
    difference : System minus baseline.
    interval : The bootstrap interval of the difference.
    wins : Share of the resamples in which the system is better (AER: lower); Koehn's figure.
    bootstrap_p : Two-sided p-value of the paired bootstrap.
    randomization_p : Two-sided p-value of the paired approximate randomization.
    bootstrap_holm, randomization_holm : The same, corrected by `holm` for the number of compared
        pairs of systems.
    level : One of `LEVELS`; empty if rows of counts were compared.
    bootstrap_p_bound, randomization_p_bound, bootstrap_holm_bound, randomization_holm_bound :
        Whether the p-value is only an upper bound: no resample (or trial) spoke against the
        difference, so more of them would give a smaller p-value. Tables show it with ``<``.

    Examples
    --------
    >>> import alignkit
    >>> gold = ["0-0 1-1"] * 20
    >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(["0-0"] * 20, gold)}
    >>> recall = alignkit.compare(scores)[1]
    >>> recall.measure, recall.system_value, recall.baseline_value, recall.bootstrap_p_bound
    ('recall', 0.5, 1.0, True)
    """

    measure: str
    system: str
    baseline: str
    system_value: float
    baseline_value: float
    difference: float
    interval: Interval
    wins: float
    bootstrap_p: float
    randomization_p: float
    bootstrap_holm: float = nan
    randomization_holm: float = nan
    level: str = ""
    bootstrap_p_bound: bool = False
    randomization_p_bound: bool = False
    bootstrap_holm_bound: bool = False
    randomization_holm_bound: bool = False

    def p_values(self) -> list[Value]:
        """Return the p-values as in tables: of the bootstrap with Holm's, then of randomization."""
        return [
            Value(self.bootstrap_p, bound=self.bootstrap_p_bound),
            Value(self.bootstrap_holm, bound=self.bootstrap_holm_bound),
            Value(self.randomization_p, bound=self.randomization_p_bound),
            Value(self.randomization_holm, bound=self.randomization_holm_bound),
        ]

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON values; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> gold, poor = ["0-0 1-1"] * 20, ["0-0"] * 20
        >>> scores = {"good": alignkit.score(gold, gold), "poor": alignkit.score(poor, gold)}
        >>> alignkit.compare(scores)[1].to_json()["difference"]
        -0.5
        """
        return {"level": self.level, **named_json(self, vars(self))}
