"""Give each item to some of the judges: none who knows it, and to all about as many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from alignkit.errors import OptionError


def assigned(
    judges: Sequence[str],
    each: int,
    barred: Sequence[Collection[str]],
    familiar: Sequence[Collection[str]],
    origins: Sequence[str],
    rng: np.random.Generator,
) -> list[tuple[str, ...]]:
    """Return for each item the judges who are given it, in their order."""
    left = [[name for name in judges if name not in known] for known in barred]
    short = sum(len(names) < each for names in left)
    if short:
        raise OptionError(
            f"{short} of {len(left)} pairs drawn cannot be given to {each} of "
            f"{', '.join(judges)}, as too many of them judged or wrote the pair before; name "
            "judges who have not"
        )
    own: Counter[tuple[str, str]] = Counter()
    all_: Counter[str] = Counter()
    found: list[tuple[str, ...]] = [()] * len(left)
    for k in sorted(rng.permutation(len(left)).tolist(), key=lambda k: len(left[k])):
        luck = dict(zip(judges, rng.permutation(len(judges)).tolist(), strict=True))
        ranks = {
            name: (name in familiar[k], own[name, origins[k]], all_[name], luck[name])
            for name in left[k]
        }
        chosen = sorted(left[k], key=ranks.__getitem__)[:each]
        for name in chosen:
            own[name, origins[k]] += 1
            all_[name] += 1
        found[k] = tuple(name for name in judges if name in chosen)
    return found
