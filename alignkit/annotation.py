"""Define an annotation: one alignment of one sentence pair by one annotator or system."""

from __future__ import annotations

from dataclasses import dataclass

from alignkit.alignment import Alignment

__all__ = ["Annotation"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """Hold an alignment and what its maker said about it.

    An empty alignment is an annotation too (nothing corresponds); a pair that was *not annotated*
    has no `Annotation` at all.

    Parameters
    ----------
    alignment
        The links.
    comment
        Free text of the annotator.
    flags
        Short marks, e.g. ``{"tokenization"}``.
    judgment
        A judgment of the whole pair, e.g. ``"paraphrase"``; empty where none was given.
    provenance
        Where the annotation comes from: a file, a tool and its version, a date.
    """

    alignment: Alignment
    comment: str = ""
    flags: frozenset[str] = frozenset()
    judgment: str = ""
    provenance: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "flags", frozenset(self.flags))
