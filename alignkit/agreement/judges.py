"""A model of judges: each gives the right label with a probability of their own (one coin)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from alignkit._support.array_types import F8, I8
from alignkit.errors import OptionError
from alignkit.stats.defaults import CONFIDENCE

LEAST_JUDGES = 3
LEAST_JUDGED = 10  # labels of a judge
_ROUNDS = 300  # at most
_CHANGE = 1e-7  # rounds end when no probability changes by more
_START = 0.01  # added to each label's votes, for the first probabilities


@dataclass(frozen=True, eq=False)
class Judges:
    """A fitted model of A judges, P pairs and K labels.

    Returned by `fit_judges`.

    Parameters
    ----------
    pi : The share of each label, (K,).
    right : The probability that a judge gives the right label, (A,).
    interval : Its interval by Louis' information, (A, 2); NaN if the information is not
        positive.
    posterior : The probability of each label of each pair, (P, K).
    rounds : The number of rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from alignkit.agreement import fit_judges
    >>> judges = fit_judges(np.array([[0, 1] * 10, [0, 1] * 10, [0, 1, 1, 0] * 5]), 2)
    >>> judges.pi.round(2).tolist(), judges.posterior.argmax(axis=1)[:4].tolist()
    ([0.5, 0.5], [0, 1, 0, 1])
    """

    pi: F8
    right: F8
    interval: F8
    posterior: F8
    rounds: int


def fit_judges(
    values: NDArray[np.integer[Any]],
    labels: int,
    gold: NDArray[np.integer[Any]] | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Judges:
    """Fit a model of judges by expectation maximization.

    The right label z of a pair has the probabilities pi. A judge gives z with probability r, and
    each other label with (1 - r)/(K - 1). r has a Beta prior with 2 K right and K wrong answers;
    1 is added to each label's share. Each round has an M step, which takes the probabilities of
    each pair's labels as given, and an E step, which takes pi and r as given. The first
    probabilities are the shares of the votes.

    Parameters
    ----------
    values : The labels that A judges gave P pairs, (A, P), from 0; below 0: none.
    labels : The number of labels, K.
    gold : The right labels, (P,), where known; below 0: unknown.
    confidence : The confidence of the intervals.

    Raises
    ------
    OptionError : If there are fewer than 3 judges, fewer than 2 labels, or a judge gave fewer than
        10 labels.

    References
    ----------
    Dawid & Skene 1979, Applied Statistics 28(1); the intervals: Louis 1982, JRSS B 44(2).

    Examples
    --------
    >>> votes = np.array([[0, 1] * 10, [0, 1] * 10, [0, 1, 1, 0] * 5])
    >>> fit_judges(votes, 2).right.round(2)
    array([0.92, 0.92, 0.54])
    """
    values = np.asarray(values, np.int64)
    if values.ndim != 2 or (gold is not None and np.shape(gold) != values.shape[1:]):
        raise OptionError("expected labels (A, P), and gold (P,)")
    answers: NDArray[np.integer[Any]] = np.full(values.shape[1], -1)
    if gold is not None:
        answers = np.asarray(gold)
    if max(values.max(initial=-1), answers.max(initial=-1)) >= labels:
        raise OptionError(f"a label is {labels} or more; labels are numbered from 0")
    judged = values >= 0
    n = judged.sum(1)
    if len(values) < LEAST_JUDGES or labels < 2:
        raise OptionError(f"a model of judges needs {LEAST_JUDGES} judges and 2 labels, or more")
    if n.min() < LEAST_JUDGED:
        raise OptionError(f"a judge gave {n.min()} labels; the model needs {LEAST_JUDGED}")
    given = np.zeros((*values.shape, labels))  # whether a judge gave a pair a label
    np.put_along_axis(given, np.maximum(values, 0)[..., None], judged[..., None], axis=2)
    known = answers >= 0
    fixed = np.eye(labels)[answers[known]]
    posterior = given.sum(0) + _START
    posterior /= posterior.sum(1, keepdims=True)
    posterior[known] = fixed
    rounds = 0
    change = 1.0
    while rounds < _ROUNDS and change >= _CHANGE:
        rounds += 1
        # M step: the most probable r and pi, by the expected numbers of right answers and of labels
        hits = np.einsum("apk,pk->a", given, posterior)
        right = (hits + 2 * labels) / (n + 3 * labels)
        pi = (posterior.sum(0) + 1) / (len(posterior) + labels)
        # E step: P(z | answers) is proportional to pi(z) times r for each judge who gave z, and
        # (1 - r)/(K - 1) for each other one; divided by the latter, which all labels share
        gain = np.log(right) - np.log((1 - right) / (labels - 1))
        logs = np.log(pi) + np.einsum("a,apk->pk", gain, given)
        before = posterior
        posterior = np.exp(logs - logs.max(1, keepdims=True))
        posterior /= posterior.sum(1, keepdims=True)
        posterior[known] = fixed
        change = np.abs(posterior - before).max()
    spread = ndtri((1 + confidence) / 2) * _errors(given, posterior, n, right)
    bounds = np.clip(np.stack((right - spread, right + spread), axis=1), 0, 1)
    return Judges(pi, right, bounds, posterior, rounds)


def _errors(given: F8, posterior: F8, n: I8, right: F8) -> F8:
    """Return standard errors by Louis' information: that of known labels, less what is unknown."""
    correct = np.einsum("apk,pk->ap", given, posterior)  # how probably each answer is right
    variance = right * (1 - right)
    complete = n / variance
    missing = (correct * (1 - correct)).sum(1) / variance**2
    information = complete - missing
    errors: F8 = np.full(len(right), nan)
    positive = information > 0
    errors[positive] = 1 / np.sqrt(information[positive])
    return errors
