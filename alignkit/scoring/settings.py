"""What a score depends on besides the alignments, checked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from alignkit.arguments import check_attributes
from alignkit.arrays import LinkArrays
from alignkit.errors import OptionError, UnknownNameError
from alignkit.scoring.macro import AGGREGATES
from alignkit.scoring.signature import Signature

LEVEL_CHOICES: Mapping[str, tuple[str, ...]] = {
    "links": ("links",),
    "phrases": ("phrases-possible", "phrases-sure"),
    "both": ("links", "phrases-possible", "phrases-sure"),
}
"""What can be asked for, and the rows that it takes."""

SPLIT_LEVELS = ("links-identical", "links-non-identical")
"""What `split_identical` adds."""


def _all_sure(arrays: LinkArrays) -> LinkArrays:
    return replace(arrays, sure=np.ones_like(arrays.sure))


LINK_POLICIES: Mapping[str, Callable[[LinkArrays], LinkArrays]] = {
    "given": lambda arrays: arrays,
    "sure-only": LinkArrays.sure_only,
    "all-sure": _all_sure,
}
"""What becomes of sure and possible links, on both sides, before anything is counted."""


@dataclass(frozen=True)
class Settings:
    """The options of a score."""

    level: str = "links"  # "links", "phrases" or "both"
    ignore_identical: bool = False
    exact_case: bool = False  # words that differ in case are not identical
    loose: bool = False  # which phrase pairs are extracted, as in alignkit.phrases.extract_phrases
    max_length: int | None = None
    links: str = "given"
    aggregate: str = "micro"
    split_identical: bool = False  # score identical links, and the others, each by themselves too

    def __post_init__(self) -> None:
        check_attributes(self)
        if self.level not in LEVEL_CHOICES:
            raise UnknownNameError("level", self.level, LEVEL_CHOICES)
        if self.links not in LINK_POLICIES:
            raise UnknownNameError("links policy", self.links, LINK_POLICIES)
        if self.max_length is not None and self.max_length < 1:
            raise OptionError(f"max_length is {self.max_length}; a phrase has at least 1 word")
        if self.aggregate not in AGGREGATES:
            raise UnknownNameError("aggregate", self.aggregate, AGGREGATES)
        if self.split_identical and (self.ignore_identical or self.level == "phrases"):
            why = "ignore_identical" if self.ignore_identical else "level='phrases'"
            raise OptionError(
                f"split_identical scores identical links by themselves, but {why} leaves them out; "
                "give one of the two"
            )

    @property
    def levels(self) -> tuple[str, ...]:
        """The rows that are counted."""
        chosen = LEVEL_CHOICES[self.level]
        return (chosen[0], *SPLIT_LEVELS, *chosen[1:]) if self.split_identical else chosen

    @property
    def needs_words(self) -> bool:
        """Whether the words must be known."""
        return self.ignore_identical or self.split_identical or self.loose

    @property
    def phrases(self) -> bool:
        """Whether phrase pairs are scored."""
        return self.level != "links"

    def sign(self, signature: Signature | None = None) -> Signature:
        """Return the signature with these settings filled in."""
        compared = self.ignore_identical or self.split_identical
        return replace(
            signature or Signature(),
            links=self.links,
            identical="left-out" if self.ignore_identical else "kept",
            case=("exact" if self.exact_case else "folded") if compared else None,
            level=self.level,
            aggregate=None if self.aggregate == "micro" else self.aggregate,
            phrases=("loose" if self.loose else "tight") if self.phrases else None,
            max_length=self.max_length if self.phrases else None,
        )
