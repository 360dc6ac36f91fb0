"""An annotation: what one annotator or system said about one sentence pair."""

from __future__ import annotations

from dataclasses import dataclass

from alignkit._support.arguments import check_kind, words
from alignkit._support.timestamps import read_moment
from alignkit.errors import AlignmentError
from alignkit.model.alignment import Alignment

_NO_FLAGS: frozenset[str] = frozenset()

ROLES = ("annotator", "initial", "adjudicated", "system")
"""Who made an alignment: a person; a machine, and the annotators started from it; those who settled
what annotators disagreed on; another machine."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """An alignment and what its maker said about it, or a judgment without an alignment.

    Three things are kept apart: an empty alignment (nothing corresponds); no alignment, where the
    pair was *judged, not aligned*, and all that deals with links passes the annotation over; and
    a pair that was *not annotated*, which has no `Annotation` at all.

    Parameters
    ----------
    alignment
        The links; None where nobody aligned the pair, and then something else must be said.
    comment
        Free text of the annotator.
    flags
        Short marks, e.g. ``{"tokenization"}``.
    judgment
        A judgment of the whole pair, e.g. ``"paraphrase"``; empty where none was given.
    provenance
        Where the annotation comes from: a file, a tool and its version, a date.
    when
        The time of the last change, ISO 8601 with seconds and zone; held in UTC,
        ``2026-11-22T13:06:28Z``, without fractions of a second. None where it is not known.
    role
        One of `ROLES`; ``""`` is an annotator.

    Raises
    ------
    AlignmentError
        If it says nothing at all, neither an alignment nor anything about the pair; or if `when`
        is no such time, or `role` no such role.

    Examples
    --------
    >>> Annotation(None, judgment="paraphrase").alignment is None
    True
    """

    alignment: Alignment | None
    comment: str = ""
    flags: frozenset[str] = frozenset()
    judgment: str = ""
    provenance: str = ""
    when: str | None = None
    role: str = ""

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
        if self.when is not None:
            object.__setattr__(self, "when", read_moment(self.when))
        if self.role:
            if self.role not in ROLES:
                raise AlignmentError(
                    f"there is no role {self.role!r}; roles are {', '.join(ROLES)}"
                )
            object.__setattr__(self, "role", "" if self.role == ROLES[0] else self.role)
        if self.alignment is None and not self.remarks:
            raise AlignmentError(
                "an annotation without an alignment has a judgment, a comment, flags or a "
                "provenance; give Alignment() where nothing corresponds"
            )

    @classmethod
    def of(cls, alignment: Alignment) -> Annotation:
        """Wrap what is known to be an alignment, of which nothing else is said; the quick way."""
        self = cls.__new__(cls)
        place = object.__setattr__
        place(self, "alignment", alignment)
        place(self, "comment", "")
        place(self, "flags", _NO_FLAGS)
        place(self, "judgment", "")
        place(self, "provenance", "")
        place(self, "when", None)
        place(self, "role", "")
        return self

    @property
    def remarks(self) -> bool:
        """Whether anything is said beside the alignment; that it has a time says nothing."""
        return bool(self.comment or self.flags or self.judgment or self.provenance)
