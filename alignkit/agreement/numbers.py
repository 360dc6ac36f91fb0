"""Figures of two annotators, and ranges of them, as sentences and plots show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from alignkit.agreement.figures import Pairing
from alignkit.agreement.intervals import Bounds, weighted_mean
from alignkit.stats.resampling import ALIKE, Interval
from alignkit.tables.columns import Value, decimal, percent

ALL = "words.possible"
SURE = "words.sure"


@dataclass(frozen=True)
class Number:
    """A figure with its interval, as a sentence shows it."""

    value: float
    # or why there is none; None if none was asked for. Of the reasons, only `ALIKE` is shown
    interval: Bounds | None = None
    digits: Callable[[float], str] = percent  # makes a text of the value, or of a bound

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the interval, or the value itself if all resamples are the same."""
        if isinstance(self.interval, Interval):
            return self.interval.low, self.interval.high
        if self.interval == ALIKE:
            return (self.value, self.value)
        return (nan, nan)

    @property
    def cell(self) -> Value:
        """The figure with its bounds."""
        return Value(self.value, *self.bounds)

    def show(self, unit: str = "", *, bounds: bool = True) -> str:
        """Return the figure and its interval as text."""
        if isnan(self.value):
            return "undefined"
        text = self.digits(self.value) + unit
        if bounds and isinstance(self.interval, Interval):
            return f"{text} [{', '.join(map(self.digits, self.bounds))}]"
        if bounds and self.interval == ALIKE:
            return f"{text} (no interval)"
        return text


Numbers = Mapping[Pairing, Number]


def f1_of(two: Pairing, level: str) -> Number:
    """Return F1 of two annotators at a level."""
    section = two.whole
    name = f"{level}.f1"
    return Number(section.figures.get(name, nan), section.intervals.get(name))


def all_f1(pairings: Iterable[Pairing]) -> dict[Pairing, Number]:
    """Return F1 of all links of some pairings."""
    return {two: f1_of(two, ALL) for two in pairings}


def c_of(two: Pairing, level: str, model: str) -> Number:
    """Return C of two annotators at a level, by a model of chance."""
    part = two.part(level, "all", model)
    return Number(part.C, part.interval or part.no_interval, decimal)


def given_kappa(two: Pairing, level: str) -> Number:
    """Return kappa of two annotators over the links that both were given."""
    assert two.given is not None
    _, _, links = level.partition(".")
    value, interval = two.given.kappa(links)
    return Number(value, interval, decimal)


def ends_of(numbers: Numbers) -> tuple[Pairing, Pairing]:
    """Return the pairings with the lowest and the highest figure, of those that have one."""
    known = [two for two, number in numbers.items() if not isnan(number.value)] or list(numbers)
    ranked = sorted(known, key=lambda two: numbers[two].value)
    return ranked[0], ranked[-1]


def span_of(numbers: Numbers, unit: str = "") -> str:
    """Return the only figure with its interval, or the range of the figures."""
    first, last = ends_of(numbers)
    if len(numbers) == 1:
        return numbers[first].show(unit)
    low = numbers[first].show(unit, bounds=False)
    high = numbers[last].show(unit, bounds=False)
    return low if low == high else f"{low} to {high}"


def mean_of(numbers: Numbers) -> Number:
    """Return the mean of figures, weighted by the pairs of sentences as in the tables."""
    weighed = [(two.whole.pairs, number.value) for two, number in numbers.items()]
    return Number(weighted_mean(weighed))


def counts_of(counts: Sequence[int]) -> str:
    """Return the range of some counts as text."""
    least = min(counts)
    most = max(counts)
    return str(least) if least == most else f"{least} to {most}"
