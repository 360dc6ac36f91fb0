"""Measure what judges uphold: the share of each origin's items, and how far the two differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from alignkit.audit.audit import Audit
from alignkit.audit.figures import ALL, EVERY, Drawing, Figure, bounded
from alignkit.audit.filled import Filled
from alignkit.audit.judges import agreement_figures
from alignkit.audit.shares import NOTHING, Counts
from alignkit.scoring.bootstrap import ALIKE, resample
from alignkit.scoring.measures import ratio
from alignkit.scoring.newcombe import newcombe_interval
from alignkit.scoring.wilson import wilson_interval

ONE_SIDED = "nothing of one of the two was judged"


def upheld_figures(audit: Audit, filled: Filled, drawing: Drawing) -> list[Figure]:
    """Return the shares of items that are upheld, and the difference of the two origins."""
    if not audit.upheld:
        return []
    found: list[Figure] = []
    several = len(filled.judges) > 1
    for who in (*filled.judges, *((EVERY, ALL) if several else ())):
        rows = {origin: _rows(audit, filled, origin, who) for origin in audit.origins}
        found += [_share(rows[origin], origin, who, drawing) for origin in audit.origins]
        found.append(_difference(list(rows.values()), tuple(audit.origins), who, drawing))
    return found


def group_figures(audit: Audit, filled: Filled, by: str, drawing: Drawing) -> list[Figure]:
    """Return what is upheld, and how far judges agree, for each value of an attribute."""
    found: list[Figure] = []
    for value, part in audit.groups(by).items():
        figures = [*upheld_figures(part, filled, drawing)]
        figures += [
            one for one in agreement_figures(part, filled, drawing) if not one.origin and one.items
        ]
        found += [replace(one, group=value or f"(no {by})") for one in figures]
    return found


def _rows(audit: Audit, filled: Filled, origin: str, who: str) -> Counts:
    """Return for each judged item of an origin how often it is upheld, of how often: (Q, 2)."""
    judges = filled.judges if who in (ALL, EVERY) else (who,)
    rows = []
    for item in audit.of(origin):
        said = [filled.judgments[judge].get(item.id) for judge in judges]
        upheld = [one in audit.upheld for one in said if one is not None]
        if not upheld:
            continue
        rows.append([all(upheld), 1] if who == EVERY else [sum(upheld), len(upheld)])
    return np.array(rows, np.float64).reshape(-1, 2)


def _share(rows: Counts, origin: str, who: str, drawing: Drawing) -> Figure:
    count, total = map(int, rows.sum(axis=0))
    value, reason = (count / total, "") if total else (nan, NOTHING)
    low, high = wilson_interval(count, total, drawing.confidence)
    if who == ALL:
        low, high, none = bounded(rows, _pooled, drawing)["upheld"]
        reason = reason or none
    return Figure(
        "upheld", who, "", origin, "upheld", value, low, high,
        "bootstrap" if who == ALL else "wilson", count, total, len(rows), reason,
    )  # fmt: skip


def _pooled(sums: Counts) -> dict[str, Counts]:
    return {"upheld": ratio(sums[:, 0], sums[:, 1])}


def _difference(
    rows: Sequence[Counts], origins: Sequence[str], who: str, drawing: Drawing
) -> Figure:
    (count, total), (other, of) = (map(int, one.sum(axis=0)) for one in rows)
    value, reason = (count / total - other / of, "") if total and of else (nan, ONE_SIDED)
    low, high = newcombe_interval(count, total, other, of, drawing.confidence)
    if who == ALL and not reason:
        low, high = _drawn(rows, drawing)
        if low == high:
            low, high, reason = nan, nan, ALIKE
    return Figure(
        "difference", who, "", " - ".join(origins), "upheld", value, low, high,
        "bootstrap" if who == ALL else "newcombe", items=sum(map(len, rows)), reason=reason,
    )  # fmt: skip


def _drawn(rows: Sequence[Counts], drawing: Drawing) -> tuple[float, float]:
    rng = np.random.default_rng(drawing.seed)
    shares = []
    for one in rows:
        sums = np.concatenate(list(resample(one, drawing.resamples, rng)))
        shares.append(sums[:, 0] / sums[:, 1])
    below = (1 - drawing.confidence) / 2
    low, high = np.quantile(shares[0] - shares[1], [below, 1 - below])
    return float(low), float(high)
