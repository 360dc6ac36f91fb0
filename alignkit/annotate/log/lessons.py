"""Define what is told of learning from done pairs."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["LearnedFrom", "Lesson"]


class LearnedFrom(Struct, omit_defaults=True):
    """Say what a set of suggestions was learned from.

    Parameters
    ----------
    parent
        The set that it follows: pairs that it does not hold show what they showed.
    pairs
        How many done pairs taught it.
    made
        When it was made.
    before, after
        F1 of the links of the aligner alone and of what was learned, by cross-validation.
    """

    parent: str
    pairs: int
    made: str
    before: float = 0.0
    after: float = 0.0


class Lesson(Struct):
    """Say what came of learning.

    Parameters
    ----------
    pairs
        How many taught it.
    used
        Whether links are to be suggested by what was learned.
    told
        What the last cross-validation found, in words.
    before, after
        F1 of the links of the aligner alone and of what was learned, by that.
    revs
        By number of the pairs for which links are suggested now: of which text.
    """

    pairs: int
    used: bool = False
    told: str = ""
    before: float = 0.0
    after: float = 0.0
    revs: dict[int, int] = {}
