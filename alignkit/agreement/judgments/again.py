"""Which pairs are judged again and by whom, and which phrases are good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np

from alignkit.agreement.judgments.consensus import Labels
from alignkit.errors import OptionError

GOOD_IN = ("any", "majority", "all")  # in how many of its contexts a phrase has to be good


def judge_again(
    values: Labels,
    kappas: Sequence[float],
    *,
    below: float = 0.4,
    above: float = 0.75,
    most: int = 5,
) -> Mapping[int, tuple[int, ...]]:
    """List the items of annotators who agree too little, and who is to judge them again."""
    if most < 1 or below > above:
        raise OptionError("give most of 1 or more, and below no more than above")
    weak = [k for k, kappa in enumerate(kappas) if kappa < below]
    strong = [k for k, kappa in enumerate(kappas) if not isnan(kappa) and kappa > above]
    given = dict.fromkeys(strong, 0)
    asked = {}
    for item in np.flatnonzero((values[weak] >= 0).any(axis=0)).tolist():
        free = [k for k in strong if values[k, item] < 0]
        chosen = sorted(free, key=lambda k: (-kappas[k], given[k], k))[:most]
        for k in chosen:
            given[k] += 1
        asked[item] = tuple(sorted(chosen))
    return asked


def good_items(values: Labels, good: Sequence[int], kept: Sequence[bool]) -> Labels:
    """Return which items are good by a strict majority of the judgments that are left."""
    left = values[np.asarray(kept, np.bool_)]
    judged = (left >= 0).sum(axis=0)
    votes = np.isin(left, list(good)).sum(axis=0)
    return np.where(judged > 0, 2 * votes > judged, -1).astype(np.int8)


def is_good(contexts: Sequence[int], within: str) -> bool:
    """Return whether a phrase is good in enough of its contexts."""
    if within == "majority":
        return 2 * sum(contexts) > len(contexts)
    return any(contexts) if within == "any" else all(contexts)
