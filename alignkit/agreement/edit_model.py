"""Fit how many cells an annotator changes: a linear function of the number of words.

METHOD section 5: binomial maximum likelihood under 0 <= p <= 1 on the fitted sentence pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from alignkit.agreement.linear_rate import maximize
from alignkit.agreement.whole_numbers import whole_numbers
from alignkit.arguments import check_arguments
from alignkit.errors import OptionError, UnknownNameError

__all__ = ["READINGS", "EditData", "EditModel", "fit_edit_model"]

READINGS = ("count", "probability")
"""What is linear in N + M: the expected number of edits, or the probability of one."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EditData:
    """Hold how many cells of F sentence pairs an annotator changed.

    Parameters
    ----------
    words
        (F,) N + M.
    trials
        (F,) the cells that could have been changed.
    edits
        (F,) those that were.

    Raises
    ------
    OptionError
        If the three differ in length or there are more edits than trials.
    """

    words: Numbers
    trials: Numbers
    edits: Numbers

    def __post_init__(self) -> None:
        for name in ("words", "trials", "edits"):
            array = whole_numbers(name, getattr(self, name), 1)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not len(self.words) == len(self.trials) == len(self.edits):
            raise OptionError("words, trials and edits must be given for the same sentence pairs")
        if np.any((self.edits < 0) | (self.edits > self.trials)):
            raise OptionError("edits must lie between 0 and the number of trials")

    def __len__(self) -> int:
        return len(self.words)

    def to_json(self) -> dict[str, object]:
        """Return the data as JSON takes it."""
        return {
            "words": self.words.tolist(),
            "trials": self.trials.tolist(),
            "edits": self.edits.tolist(),
        }


@dataclass(frozen=True)
class EditModel:
    """Hold a fitted edit model.

    Parameters
    ----------
    a, b
        The constant and the slope over N + M; NaN where there was nothing to fit.
    reading
        ``"count"``: the expected number of edits is a + b (N + M); ``"probability"``: the
        probability of an edit is.
    log_likelihood
        The log of the binomial probability of the data, with the binomial coefficients.
    pairs
        How many sentence pairs were fitted: those with trials.
    data
        The data of the fitted pairs.
    """

    a: float
    b: float
    reading: str
    log_likelihood: float
    pairs: int
    data: EditData

    def rates(self, words: Sequence[int] | Numbers, trials: Sequence[int] | Numbers) -> Floats:
        """Return the probability of an edit in each of some sentence pairs.

        Clipped to 0 and 1, which matters for pairs that were not fitted alone; 0 without trials,
        and where there was nothing to fit.

        Parameters
        ----------
        words, trials
            (P,): N + M, and the cells that can be changed.
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

    def to_json(self) -> dict[str, object]:
        """Return the model as JSON takes it; NaN is None."""
        return {
            "a": None if np.isnan(self.a) else self.a,
            "b": None if np.isnan(self.b) else self.b,
            "reading": self.reading,
            "log_likelihood": self.log_likelihood,
            "pairs": self.pairs,
            "data": self.data.to_json(),
        }


Floats = NDArray[np.float64]
_ROUNDING = 1e-13


def fit_edit_model(
    data: EditData, *, reading: str = "count", weights: Sequence[float] | Floats | None = None
) -> EditModel:
    """Fit the number of edits by a linear function of N + M.

    The maximum of the binomial likelihood under 0 <= p <= 1 on all fitted pairs; where all have
    the same N + M, b is 0.

    Parameters
    ----------
    data
        The edits; pairs without trials drop out.
    reading
        One of `READINGS`.
    weights
        (F,): how often each pair counts, for a bootstrap; None counts each once. The
        log-likelihood is then that of the weighted data.

    Raises
    ------
    UnknownNameError
        If `reading` names nothing.
    OptionError
        If there are not as many weights as pairs, or one is negative.

    Notes
    -----
    The likelihood is concave in (a, b), and the allowed (a, b) form a polygon, so there is one
    optimum: inside, where Newton's method finds it, or on an edge, of which there are few.

    References
    ----------
    Cohn, Callison-Burch & Lapata 2008, Computational Linguistics 34(4):597-614, fit "the number of
    changes" by a binomial that is linear in N + M. That the expected number of edits is what is
    linear (``"count"``) is decided in METHOD section 5; ``"probability"`` is the other reading.

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
    if reading not in READINGS:
        raise UnknownNameError("reading of the edit model", reading, READINGS)
    counts = np.ones(len(data)) if weights is None else np.asarray(weights, np.float64)
    if counts.shape != (len(data),) or not np.all(counts >= 0):
        raise OptionError("weights must be one number for each pair, none below 0")
    kept = (data.trials > 0) & (counts > 0)
    fitted = data if kept.all() else EditData(*(part[kept] for part in _columns(data)))
    if not len(fitted):
        return EditModel(nan, nan, reading, 0.0, 0, fitted)
    counts = counts[kept]
    words, trials, edits = (part.astype(np.float64) for part in _columns(fitted))
    limits = trials if reading == "count" else np.ones_like(trials)
    a, b = maximize(words, limits, counts * edits, counts * (trials - edits))
    model = EditModel(a, b, reading, nan, len(fitted), fitted)
    rates = model.rates(fitted.words, fitted.trials)
    chosen = gammaln(trials + 1) - gammaln(edits + 1) - gammaln(trials - edits + 1)
    logs = chosen + xlogy(edits, rates) + xlog1py(trials - edits, -rates)
    return EditModel(a, b, reading, float(counts @ logs), len(fitted), fitted)


def _columns(data: EditData) -> tuple[Numbers, Numbers, Numbers]:
    return data.words, data.trials, data.edits
