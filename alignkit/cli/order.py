"""Join inputs by position, where the user says that they hold the same pairs in the same order."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import tee, zip_longest

from alignkit.corpus import SentencePair
from alignkit.errors import JoinError

__all__ = ["NOT_ALL", "add_order_argument", "hinting", "in_order"]

NOT_ALL = "; if the rest is not annotated, say so by --partial"
"""What to do where one of two inputs in step is longer."""

_Pairs = Iterator[SentencePair]


def add_order_argument(group: argparse._ActionsContainer) -> None:
    """Add the option that declares the order."""
    group.add_argument(
        "--in-order",
        action="store_true",
        help="the n-th pairs of all inputs belong together, whatever their ids, e.g. a system's "
        "lines and a corpus with ids of its own (default: join by id)",
    )


def in_order(
    first: Iterable[SentencePair], second: Iterable[SentencePair]
) -> tuple[_Pairs, _Pairs]:
    """Return both, the n-th pair of the second under the id of the n-th of the first."""
    pairs, names = tee(first)
    return pairs, _renamed(names, second)


def _renamed(names: _Pairs, pairs: Iterable[SentencePair]) -> _Pairs:
    for one, other in zip_longest(names, pairs):
        if other is None:
            return
        yield other if one is None else replace(other, id=one.id)


def hinting(error: JoinError) -> JoinError:
    """Return the error with a word on --in-order, where no id of one is in the other."""
    if ": 0 pairs are in both" not in f": {error}":
        return error
    return JoinError(
        f"{error}; if both hold the same pairs in the same order, whatever their ids, say so by "
        "--in-order"
    )
