"""Define what a parser yields: one sentence pair as its file writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

__all__ = ["RawAnnotation", "RawLink", "Record", "Status"]

Status = Literal["sure", "possible", "none"]


class RawLink(NamedTuple):
    """A link as written: not yet moved to base 0, transposed or checked.

    Parameters
    ----------
    i, j
        The positions as the file numbers them; None stands for the empty word.
    status
        ``"none"`` is a cell judged to be no link, which keeps its label.
    line
        The line of the file, where it is not the record's own.
    """

    i: int | None
    j: int | None
    status: Status = "sure"
    line: int | None = None
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
    """One sentence pair as its file writes it.

    Parameters
    ----------
    id
        The pair's id: the file's own, or the 1-based number of the line or record.
    line
        The line at which the record starts.
    source, target
        The tokens; None where the file and its companions hold no text.
    annotations
        By annotator; one who is missing has not annotated the pair.
    path
        The file, where a reading has several.
    source_trees, target_trees
        Penn brackets, by name.
    """

    id: str
    line: int
    source: Sequence[str] | None
    target: Sequence[str] | None
    annotations: dict[str, RawAnnotation] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    path: str = ""
    source_trees: dict[str, str] = field(default_factory=dict)
    target_trees: dict[str, str] = field(default_factory=dict)
