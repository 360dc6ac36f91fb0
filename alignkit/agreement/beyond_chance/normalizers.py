"""Give pi and C by either normalizer, where chance has a closed form."""

from __future__ import annotations

import numpy as np

from alignkit.agreement.beyond_chance.c_result import BeyondChance
from alignkit.agreement.beyond_chance.correction import NORMALIZERS


def by_both(
    c_result: BeyondChance, normalizer: str, aggregate: str
) -> dict[str, tuple[float, float]]:
    """Return pi and C by each of `NORMALIZERS`, for the closed form of Kupper & Hafner."""
    used = [sentence for sentence in c_result.sentences if not sentence.left_out]
    columns = [(one.first, one.second, one.common, one.expected) for one in used]
    first, second, common, expected = np.array(columns, np.float64).reshape(-1, 4).T
    product = expected * NORMALIZERS[normalizer](first, second)
    result = {}
    for name, norm_of in NORMALIZERS.items():
        norm = norm_of(first, second)
        terms = common, norm, product
        if aggregate == "macro":
            safe = np.where(norm > 0, norm, 1)
            terms = common / safe, np.ones(len(norm)), product / safe
        seen, whole, chance = (part.sum() for part in terms)
        pi, pi0 = (part / whole if whole else np.nan for part in (seen, chance))
        result[name] = float(pi), float((pi - pi0) / (1 - pi0)) if pi0 < 1 else float("nan")
    return result
