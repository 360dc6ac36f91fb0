"""Find the pairs of a project that others stand for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import count
from typing import Protocol, TypeVar

from alignkit.errors import JoinError


class _Named(Protocol):
    @property
    def id(self) -> str: ...


P = TypeVar("P", bound=_Named)
Q = TypeVar("Q", bound=_Named)


def joined(
    pairs: Sequence[P], others: Iterable[Q], *, in_order: bool, surplus: list[Q]
) -> Iterator[tuple[P, Q]]:
    """Yield the pairs of a project with those of the same id; where ids repeat, in their order."""
    if in_order:
        rest = list(others)
        if len(rest) != len(pairs):
            raise JoinError(
                f"the project has {len(pairs)} pairs, and this has {len(rest)}: in order there "
                "must be as many"
            )
        yield from zip(pairs, rest, strict=True)
        return
    place: dict[Hashable, P] = {}
    times: defaultdict[str, Iterator[int]] = defaultdict(count)
    for pair in pairs:
        place[pair.id, next(times[pair.id])] = pair
    times = defaultdict(count)
    for other in others:
        number = place.get((other.id, next(times[other.id])))
        if number is None:
            surplus.append(other)
        else:
            yield number, other
