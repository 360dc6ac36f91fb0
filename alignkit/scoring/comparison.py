"""How one measure of two systems differs."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

from alignkit.scoring.bootstrap import Interval
from alignkit.scoring.measures import none_if_nan


@dataclass(frozen=True)
class Comparison:
    """One measure of a system beside that of another, the baseline."""

    measure: str  # the name of the measure
    system: str  # system, baseline: the names of the two
    baseline: str
    system_value: float  # system_value, baseline_value: the measure of each on the whole corpus
    baseline_value: float
    difference: float  # system minus baseline
    interval: Interval  # the bootstrap interval of the difference
    wins: float  # in which share of the resamples the system is better (AER: lower); Koehn's figure
    bootstrap_p: float  # two-sided p-value of the paired bootstrap
    randomization_p: float  # two-sided p-value of the paired approximate randomization
    # bootstrap_holm, randomization_holm: the same, corrected by `holm` for how many pairs of
    # systems are compared
    bootstrap_holm: float = nan
    randomization_holm: float = nan
    level: str = ""  # which of `LEVELS` was scored; empty where rows of counts were compared

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON takes it: NaN is None."""
        values = {n: none_if_nan(v) if isinstance(v, float) else v for n, v in vars(self).items()}
        return {"level": self.level, **values, "interval": self.interval.to_json()}
