"""How one measure of two systems differs."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

from alignkit.scoring.bootstrap import Interval
from alignkit.scoring.measures import none_if_nan


@dataclass(frozen=True)
class Comparison:
    """One measure of a system beside that of another, the baseline.

    Parameters
    ----------
    measure
        The name of the measure.
    system, baseline
        The names of the two.
    system_value, baseline_value
        The measure of each on the whole corpus.
    difference
        System minus baseline.
    interval
        The bootstrap interval of the difference.
    wins
        In which share of the resamples the system is better (AER: lower); Koehn's figure.
    bootstrap_p
        Two-sided p-value of the paired bootstrap.
    randomization_p
        Two-sided p-value of the paired approximate randomization.
    bootstrap_holm, randomization_holm
        The same, corrected by `holm` for how many pairs of systems are compared.
    level
        Which of `LEVELS` was scored; empty where rows of counts were compared.
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

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON takes it: NaN is None."""
        values = {n: none_if_nan(v) if isinstance(v, float) else v for n, v in vars(self).items()}
        return {"level": self.level, **values, "interval": self.interval.to_json()}
