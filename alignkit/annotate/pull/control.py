"""What the control sample knows of a pair: who saw suggestions, and what each drew."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from alignkit.alignment import Alignment
from alignkit.arguments import check_attributes
from alignkit.errors import OptionError, UnknownNameError

ARMS = {
    "": "not in the control sample: all see suggestions",
    "split": "a coin says which half of the annotators sees none",
    "bare": "nobody sees suggestions",
    "coin": "annotated once, and a coin says whether with suggestions",
}
"""The arms of the control sample, by the names that assignments have."""

Suggested = tuple[int, int, "float | None", int]
"""A suggested link: source and target word, from 0; its probability, if known; 1 possible, 2 sure.
"""


@dataclass(frozen=True)
class Work:
    """What one annotator did with one pair, which is done."""

    shown: bool  # whether suggestions were shown
    links: Alignment  # the final links
    rejected: Collection[tuple[int, int]] = frozenset()  # the suggestions that were put aside

    def __post_init__(self) -> None:
        check_attributes(self)


@dataclass(frozen=True)
class ControlPair:
    """One pair as the pull of suggestions is estimated from it."""

    id: str  # its id, for messages
    arm: str  # one of ARMS
    works: Mapping[str, Work]  # what the assigned annotators did who are done with it, by name
    suggested: Sequence[Suggested] = ()  # the suggested links, shown or not
    stratum: str = ""  # the stratum in which it was drawn
    open: int = 0  # how many of those to whom it is assigned are not done with it
    cells: frozenset[tuple[int, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise UnknownNameError("arm", self.arm, ARMS)
        object.__setattr__(self, "suggested", tuple(sorted(self.suggested, key=lambda x: x[:2])))
        object.__setattr__(self, "cells", frozenset((i, j) for i, j, *_ in self.suggested))
        if len(self.cells) < len(self.suggested):
            raise OptionError(f"pair {self.id!r}: a link is suggested twice; name each once")
        for i, j, p, _ in self.suggested:
            if p is not None and not 0 <= p <= 1:
                raise OptionError(
                    f"pair {self.id!r}: the suggestion {i}-{j} has the probability {p}; give one "
                    "from 0 to 1, or None where it is not known"
                )
        wrong = self._wrong()
        if wrong:
            raise OptionError(f"pair {self.id!r} of the arm {self.arm!r}: {wrong}")

    def _wrong(self) -> str:
        shown = [work.shown for work in self.works.values()]
        if self.arm == "bare" and any(shown):
            return "an annotator saw suggestions"
        if not self.arm and not all(shown):
            return "an annotator saw no suggestions"
        return ""
