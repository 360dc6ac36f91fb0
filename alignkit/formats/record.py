"""What a parser yields: one sentence pair as its file writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Status = Literal["sure", "possible", "none"]

DIFFERING = "link from a block of texts that differ"
"""The note on links that join each word of one text to each of another, of other words."""


class RawLink(NamedTuple):
    """A link as written: not yet moved to base 0, transposed or checked."""

    i: int | None  # the positions as the file numbers them; None stands for the empty word
    j: int | None
    status: Status = "sure"  # "none" is a cell judged to be no link, which keeps its label
    line: int | None = None  # the line of the file, where it is not the record's own
    weight: float | None = None
    label: str | None = None


@dataclass(slots=True)
class RawAnnotation:
    """One annotator's links as written, and what else the file says about them.

    `aligned` is false where the pair was judged, but not aligned: then there are no links.
    """

    links: list[RawLink] = field(default_factory=list)
    comment: str = ""
    flags: Sequence[str] = ()
    judgment: str = ""
    provenance: str = ""
    when: str = ""
    path: str = ""
    aligned: bool = True


@dataclass(slots=True)
class Record:
    """One sentence pair as its file writes it."""

    id: str  # the pair's id: the file's own, or the 1-based number of the line or record
    line: int  # the line at which the record starts
    source: Sequence[str] | None  # the tokens; None where the file and its companions hold no text
    target: Sequence[str] | None
    annotations: dict[str, RawAnnotation] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    path: str = ""  # the file, where a reading has several
    source_trees: dict[str, str] = field(default_factory=dict)  # penn brackets, by name
    target_trees: dict[str, str] = field(default_factory=dict)
