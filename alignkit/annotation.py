"""Define an annotation: one alignment of one sentence pair by one annotator or system."""

from __future__ import annotations

from dataclasses import dataclass

from alignkit.alignment import Alignment
from alignkit.arguments import check_kind, words

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
        if not (self.alignment is None or isinstance(self.alignment, Alignment)):
            check_kind("alignment", self.alignment, Alignment)
        try:  # a fast way to see that all are texts
            "".join((self.comment, self.judgment, self.provenance))
        except TypeError:
            for name in ("comment", "judgment", "provenance"):
                check_kind(name, getattr(self, name), str)
        if self.flags or type(self.flags) is not frozenset:
            object.__setattr__(self, "flags", frozenset(words("flags", self.flags)))
