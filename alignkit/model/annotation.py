"""An annotation: the links and remarks of an annotator or system on one sentence pair."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone

from alignkit._support.arguments import check_kind, check_known, words
from alignkit.errors import AlignmentError
from alignkit.model.alignment import Alignment, Link, LinkLike
from alignkit.model.gold_record import GoldRecord
from alignkit.model.roles import ROLES

_NO_FLAGS: frozenset[str] = frozenset()
_NO_LINKS: frozenset[Link] = frozenset()

PERIODS = ("day", "week", "month")  # the periods a time can be rounded to

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:[.,]\d+)?([Zz]|[+-]\d\d:?\d\d)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Annotation:
    """An alignment with remarks and a judgment, or a judgment without an alignment.

    There are three different cases: an empty alignment (nothing corresponds); no alignment (the
    pair was *judged, not aligned*; everything about links skips it); and a pair that was *not
    annotated*, which has no `Annotation` at all.

    Parameters
    ----------
    alignment : The links; None if the pair was not aligned; then another field must be given.
    comment : Free text of the annotator.
    flags : Short marks, e.g. ``{"tokenization"}``.
    judgment : A judgment of the whole pair, e.g. ``"paraphrase"``; empty if there is none.
    provenance : The origin of the annotation: a file, a tool and its version, a date.
    when : The time of the last change, ISO 8601 with seconds and zone; stored in UTC,
        ``2026-11-22T13:06:28Z``, without fractions of a second. None if not known.
    role : One of `ROLES`; ``""`` is an annotator.
    start : What the annotator was shown to begin with: the name of an alignment or of a set of
        suggestions; ``""`` if no links were shown. None if not known. An annotation made from
        others, such as an adjudicated one, has the start that they share.
    learned : What the system that made the annotation learned from, and whether this pair is among
        it: the text of a `GoldRecord`. Empty if it did not learn from links, or if it is not known.
    unseen : The links, as `(i, j)` pairs, that the annotator accepted in bulk, or kept by marking
        the pair as done, and never looked at. Each must be a link of the alignment. Empty if there
        are none, or if this is not known.

    Raises
    ------
    AlignmentError : If there is neither an alignment nor a judgment, comment, flag or provenance;
        if `when`, `role` or `learned` is not valid; or if `unseen` has something that is not a link
        of the alignment.

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
    start: str | None = None
    learned: str = ""
    unseen: frozenset[Link] = _NO_LINKS

    def __post_init__(self) -> None:
        if not (self.alignment is None or isinstance(self.alignment, Alignment)):
            check_kind("alignment", self.alignment, Alignment)
        try:  # a fast way to see that all are texts
            "".join((self.comment, self.judgment, self.provenance, self.learned))
        except TypeError:
            for name in ("comment", "judgment", "provenance", "learned"):
                check_kind(name, getattr(self, name), str)
        if self.flags or type(self.flags) is not frozenset:
            object.__setattr__(self, "flags", frozenset(words("flags", self.flags)))
        if self.start is not None:
            check_kind("start", self.start, str)
        if self.when is not None:
            object.__setattr__(self, "when", read_moment(self.when))
        if self.role:
            if self.role not in ROLES:
                problem = f"unknown role {self.role!r}; expected one of {', '.join(ROLES)}"
                raise AlignmentError(problem)
            object.__setattr__(self, "role", "" if self.role == ROLES[0] else self.role)
        if self.learned:
            GoldRecord.parse(self.learned)  # refuses another text
        if self.alignment is None and not self.remarks:
            raise AlignmentError(
                "an annotation without an alignment needs a judgment, a comment, flags or a "
                "provenance; use Alignment() if nothing corresponds"
            )
        if self.unseen or type(self.unseen) is not frozenset:
            object.__setattr__(self, "unseen", _links_of(self.alignment, self.unseen))

    @classmethod
    def of(cls, alignment: Alignment) -> Annotation:
        """Wrap a valid alignment without remarks; faster than the constructor."""
        self = cls.__new__(cls)
        place = object.__setattr__
        place(self, "alignment", alignment)
        place(self, "comment", "")
        place(self, "flags", _NO_FLAGS)
        place(self, "judgment", "")
        place(self, "provenance", "")
        place(self, "when", None)
        place(self, "role", "")
        place(self, "start", None)
        place(self, "learned", "")
        place(self, "unseen", _NO_LINKS)
        return self

    @property
    def remarks(self) -> bool:
        """Whether there are remarks in addition to the alignment.

        The time, the start, what a system learned from, and unseen links do not count.
        """
        return bool(self.comment or self.flags or self.judgment or self.provenance)


def _links_of(alignment: Alignment | None, unseen: Iterable[LinkLike]) -> frozenset[Link]:
    """Return unseen links; raise an error for one that is not a link of the alignment."""
    try:
        links = frozenset(Link(i, j) for i, j in unseen)
    except (TypeError, ValueError) as problem:
        raise AlignmentError(
            f"unseen links must be pairs (i, j) of whole numbers: {problem}"
        ) from None
    held = _NO_LINKS if alignment is None else alignment.possible
    if not links <= held:
        i, j = min(links - held)
        raise AlignmentError(
            f"{i}-{j} is unseen, but is not a link of the alignment; if you replace the "
            "alignment, replace `unseen` too"
        )
    return links


def shared_start(starts: Iterable[str | None]) -> str | None:
    """Return the start that annotations share; ``""`` if they differ, None if one is not known.

    Who made a version from annotations with different starts was not shown the same links.
    """
    known = set(starts)
    if None in known or not known:
        return None
    return known.pop() if len(known) == 1 else ""


def read_moment(text: str, name: str = "when") -> str:
    """Return a time in UTC, such as ``2026-11-22T13:06:28Z``; these strings sort by time."""
    check_kind(name, text, str)
    match = _MOMENT.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        day, hour, zone = match.groups()
        zone = "+00:00" if zone in "Zz" else f"{zone[:3]}:{zone[-2:]}"
        local = datetime.fromisoformat(f"{day}T{hour}{zone}")
        moment = local.astimezone(timezone.utc).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise AlignmentError(
            f"{name} is {text[:60]!r}; expected a time with seconds and zone, such as "
            "2026-11-22T13:06:28Z"
        ) from None
    return f"{moment.isoformat()}Z"


def period_of(moment: str, period: str) -> str:
    """Return the day, the week (ISO 8601, ``2026-W53``) or the month of a time in UTC."""
    check_known("period", period, PERIODS)
    if period == "week":
        year, week, _ = datetime.fromisoformat(moment[:10]).isocalendar()
        return f"{year:04d}-W{week:02d}"
    return moment[: 10 if period == "day" else 7]
