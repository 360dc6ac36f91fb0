"""Errors of projects, and of events that are refused."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from alignkit.errors import AlignkitError, UnknownNameError


class ProjectError(AlignkitError):
    """A project that cannot be made, opened, read or written."""

    path = ""


class DamagedProject(ProjectError):  # noqa: N818
    """A project whose file no longer holds what was written into it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path}: the project file is damaged ({why}); `alignkit events {shlex.quote(path)} "
            "--check` tells what is wrong; to go on, stop the server and put a copy of the file "
            "that was made earlier (a backup) in its place"
        )
        self.path, self.why = path, why

    def __reduce__(self) -> Any:
        return type(self), (self.path, self.why)


class BadEvent(ProjectError):  # noqa: N818 - named after the situation
    """An event that cannot be: unknown kind, impossible index, too much text, an id used twice."""


class UnknownPair(ProjectError, LookupError):  # noqa: N818
    """A pair that the project does not have."""

    def __init__(self, k: int, pairs: int | None) -> None:
        there = (
            "your list shows those there are" if pairs is None else f"the pairs are 1 to {pairs}"
        )
        super().__init__(f"there is no pair {k}{' for you' if pairs is None else ''}; {there}")
        self.k = k


class UnknownAnnotator(UnknownNameError, ProjectError):  # noqa: N818
    """A name that nobody of the project has."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__("annotator", name, known)

    def __reduce__(self) -> Any:
        return type(self), (self.name, self.known)


class NotReady(ProjectError):  # noqa: N818
    """A pair that cannot be adjudicated yet."""

    def __init__(self, id: str, open: Sequence[str]) -> None:
        reason = f"{', '.join(open)} not done" if open else "fewer than two have annotated it"
        super().__init__(f"pair {id!r} is not ready to be adjudicated: {reason}")
        self.id, self.open = id, list(open)

    def __reduce__(self) -> Any:
        return type(self), (self.id, self.open)


class OldText(ProjectError):  # noqa: N818
    """Events for words that have been corrected since."""

    def __init__(self, rev: int) -> None:
        super().__init__("the words of this pair were corrected in the meantime; load it again")
        self.rev = rev


class Conflict(ProjectError):  # noqa: N818
    """Events that meet a state they do not know; none of the request was stored."""

    def __init__(
        self,
        conflicts: Sequence[Mapping[str, Any]],
        seq: int = 0,
        events: Sequence[Any] = (),
        *,
        by: str = "in another tab",
    ) -> None:
        where = f"{len(conflicts)} places" if len(conflicts) > 1 else "one place"
        super().__init__(f"changed {by}: {where}; keep that, or set this again")
        self.conflicts, self.seq, self.events = list(conflicts), seq, list(events)
