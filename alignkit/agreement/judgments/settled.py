"""Compare annotators with an adjudicated version of their judgments."""

from __future__ import annotations

from typing import NamedTuple

from alignkit.agreement.judgments.consensus import Labels, label_counts


class Overruled(NamedTuple):
    """Say how often an adjudicated version overrules those who agree."""

    unanimous: int  # how many adjudicated items two annotators or more judged, all alike
    overruled: int  # for how many of these the adjudicated label is another


def overruled(values: Labels, adjudicated: Labels, size: int) -> Overruled:
    """Count how often the adjudicated label is not the one that all annotators gave.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[0, 1, 1, 0], [0, 1, 0, -1]], np.int8)
    >>> overruled(values, np.array([0, 0, 0, 1], np.int8), 2)
    Overruled(unanimous=2, overruled=1)
    """
    counts = label_counts(values, size)
    judged = counts.sum(axis=1)
    alike = (judged >= 2) & (counts.max(axis=1) == judged) & (adjudicated >= 0)
    other = alike & (counts.argmax(axis=1) != adjudicated)
    return Overruled(int(alike.sum()), int(other.sum()))
