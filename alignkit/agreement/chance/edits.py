"""Fit how many cells an annotator changes as a linear function of the number of words.

The rate of a pair is p = mu / c, mu = a + b x: x is N + M, and c the cells (so that the number of
edits is linear) or 1 (so that their probability is). `edit_fitting` finds the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from alignkit._support.arguments import check_arguments, check_known
from alignkit._support.array_types import F8, I8
from alignkit._support.values import named_json
from alignkit.agreement.chance.edit_fitting import most_probable_line
from alignkit.errors import OptionError
from alignkit.model.arrays import whole_numbers

READINGS = ("count", "probability")
"""The quantity that is linear in N + M: the expected number or the probability of edits."""


_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class EditData:
    """The cells of F sentence pairs that an annotator changed.

    Parameters
    ----------
    words : (F,) N + M.
    trials : (F,) the cells that could have been changed.
    edits : (F,) the cells that were changed; more edits than trials raise an OptionError.

    Examples
    --------
    >>> data = EditData(words=[4, 6], trials=[4, 9], edits=[1, 2])
    >>> len(data), fit_edit_model(data).pairs
    (2, 2)
    """

    words: I8
    trials: I8
    edits: I8

    def __post_init__(self) -> None:
        for name in ("words", "trials", "edits"):
            array = whole_numbers(name, getattr(self, name), 1)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not len(self.words) == len(self.trials) == len(self.edits):
            raise OptionError("words, trials and edits must have the same length, one per pair")
        if np.any((self.edits < 0) | (self.edits > self.trials)):
            raise OptionError("edits must lie between 0 and the number of trials")

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class EditModel:
    """A fitted edit model.

    Returned by `fit_edit_model`.

    Parameters
    ----------
    a, b : The constant and the slope over N + M; NaN if there were no data.
    reading : ``"count"``: the expected number of edits is a + b (N + M); ``"probability"``: the
        probability of an edit is.
    log_likelihood : The log of the binomial probability of the data.
    pairs : The number of fitted sentence pairs: those with trials.
    data : The data of the fitted pairs.

    Examples
    --------
    >>> from alignkit.agreement import EditData, fit_edit_model
    >>> model = fit_edit_model(EditData([10, 20, 30], [25, 100, 225], [2, 4, 6]))
    >>> model.reading, model.pairs, round(model.b, 6)
    ('count', 3, 0.2)
    """

    a: float
    b: float
    reading: str
    log_likelihood: float
    pairs: int
    data: EditData

    def rates(self, words: Sequence[int] | I8, trials: Sequence[int] | I8) -> F8:
        """Return the probability of an edit in each of P sentence pairs, clipped to 0 and 1.

        `words` are N + M, `trials` the cells that can be changed, both (P,). The probability is 0
        without trials or without data to fit.

        Examples
        --------
        >>> from alignkit.agreement import EditData, fit_edit_model
        >>> model = fit_edit_model(EditData([10, 20, 30], [25, 100, 225], [2, 4, 6]))
        >>> model.rates([20], [100]).round(3).tolist()
        [0.04]
        """
        cells = np.asarray(trials, np.float64)
        value = self.a + self.b * np.asarray(words, np.float64)
        if self.reading == "count":
            value = np.divide(value, cells, out=np.zeros_like(cells), where=cells > 0)
        value = np.clip(np.where((cells > 0) & ~np.isnan(value), value, 0.0), 0.0, 1.0)
        # a constraint that holds with equality is met but for rounding
        value[value < _ROUNDING] = 0.0
        value[value > 1 - _ROUNDING] = 1.0
        return value

    @property
    def dispersion(self) -> float:
        """Pearson's X2 over the degrees of freedom (NaN if 0); near 1 if the model fits.

        X2 is the sum of (edits - trials p)^2 / (trials p (1 - p)) over the fitted pairs. If it is
        above 2, the edits vary far more between pairs than the model allows (McCullagh & Nelder
        1989, Generalized Linear Models, 2nd edition, section 4.5).
        """
        free = self.pairs - min(len(np.unique(self.data.words)), 2)
        if free <= 0:
            return nan
        p = self.rates(self.data.words, self.data.trials)
        spread = self.data.trials * p * (1 - p)
        excess = (self.data.edits - self.data.trials * p) ** 2
        # a rate of 0 or 1 is fitted only where all its pairs have exactly so many edits
        squares = np.divide(excess, spread, out=np.zeros_like(spread), where=spread > 0)
        return float(squares.sum()) / free

    def to_json(self) -> dict[str, object]:
        """Return the model for JSON; NaN becomes None."""
        names = ("a", "b", "reading", "log_likelihood", "dispersion", "pairs", "data")
        return named_json(self, names)


def fit_edit_model(
    data: EditData, *, reading: str = "count", weights: Sequence[float] | F8 | None = None
) -> EditModel:
    """Fit the number of edits as a linear function of N + M.

    Maximizes the binomial likelihood with 0 <= p <= 1 on all fitted pairs. If all pairs have the
    same N + M, b is 0.

    Parameters
    ----------
    data : The edits; pairs without trials are left out.
    reading : One of `READINGS`.
    weights : (F,): how often each pair counts, for a bootstrap; None counts each once.

    Raises
    ------
    UnknownNameError : If `reading` is not a known name.
    OptionError : If the numbers of weights and pairs differ, or a weight is negative.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614, fit "the number of
    changes" by a binomial that is linear in N + M; `READINGS` are the two readings of that.

    Examples
    --------
    >>> data = EditData([10, 20, 30], [25, 100, 225], [2, 4, 6])
    >>> model = fit_edit_model(data)
    >>> round(model.a, 6) + 0.0, round(model.b, 6)
    (0.0, 0.2)
    >>> model.rates([20], [100]).round(6)
    array([0.04])
    """
    check_arguments(fit_edit_model, locals())
    check_known("reading of the edit model", reading, READINGS)
    if weights is None:
        counts = np.ones(len(data))
    else:
        counts = np.asarray(weights, np.float64)
    if counts.shape != (len(data),) or not np.all(counts >= 0):
        raise OptionError("weights must be one number for each pair, 0 or more")
    kept = (data.trials > 0) & (counts > 0)
    fitted = data
    if not kept.all():
        fitted = EditData(data.words[kept], data.trials[kept], data.edits[kept])
    if not len(fitted):
        return EditModel(nan, nan, reading, 0.0, 0, fitted)
    counts = counts[kept]
    words = fitted.words.astype(np.float64)
    trials = fitted.trials.astype(np.float64)
    edits = fitted.edits.astype(np.float64)
    rest = trials - edits
    limits = trials if reading == "count" else np.ones_like(trials)
    a, b = most_probable_line(words, limits, counts * edits, counts * rest)
    model = EditModel(a, b, reading, nan, len(fitted), fitted)
    rates = model.rates(fitted.words, fitted.trials)
    chosen = gammaln(trials + 1) - gammaln(edits + 1) - gammaln(rest + 1)
    logs = chosen + xlogy(edits, rates) + xlog1py(rest, -rates)
    return replace(model, log_likelihood=float(counts @ logs))
