"""What learning from done pairs came to."""

from __future__ import annotations

from msgspec import Struct


class LearnedFrom(Struct, omit_defaults=True):
    """What a set of suggestions was learned from."""

    parent: str  # the set that it follows: pairs that it does not hold show what they showed
    pairs: int  # how many done pairs taught it
    made: str  # when it was made
    before: float = 0.0
    after: float = 0.0


class Lesson(Struct):
    """What came of learning."""

    pairs: int  # how many taught it
    used: bool = False  # whether links are to be suggested by what was learned
    told: str = ""  # what the last cross-validation found, in words
    before: float = 0.0  # F1 of the links of the aligner alone and of what was learned, by that
    after: float = 0.0
    revs: dict[int, int] = {}
