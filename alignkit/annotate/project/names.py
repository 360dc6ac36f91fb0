"""The errors of projects, their names (roles, tasks, annotators), and the places of files."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from alignkit.errors import AlignkitError, OptionError, UnknownNameError


def is_url(place: str) -> bool:
    """Return whether a place is in PostgreSQL, not a file."""
    return re.match(r"postgresql(\+psycopg)?://", place) is not None


def shown_place(place: str) -> str:
    """Return a place as messages show it: without a password."""
    if not is_url(place):
        return place
    place = re.sub(r"([?&]password=)[^&#]*", r"\1***", place)
    return re.sub(r"(?<=://)([^/@:]*):[^/#]*@", r"\1@", place)


class ProjectError(AlignkitError):
    """A project that cannot be made, opened, read or written."""

    path = ""


class DatabaseAway(ProjectError):  # noqa: N818
    """A database that cannot be used at the moment."""


class DamagedProject(ProjectError):  # noqa: N818
    """A project file that lost or changed its content."""

    def __init__(self, path: str, why: str) -> None:
        path = shown_place(path)
        super().__init__(
            f"{path}: the project file is damaged ({why}); `alignkit project log "
            f"{shlex.quote(path)} --check` shows what is wrong; to go on, stop the server and put "
            "an earlier copy (a backup) in place of the file"
        )
        self.path = path


class OldProject(ProjectError):  # noqa: N818
    """A project that an earlier version made; it is built anew from its log."""

    def __init__(self, path: str) -> None:
        path = shown_place(path)
        name = path.partition("#")[2] if is_url(path) else path
        new = f"{name.removesuffix('.alignkit')}-new.alignkit"
        super().__init__(
            f"{path}: was made by an earlier version of alignkit; build it anew from its log, "
            f"which has all work: alignkit project log {shlex.quote(path)} --rebuild "
            f"{shlex.quote(new)}"
        )
        self.path = path


class BadEvent(ProjectError):  # noqa: N818 - named after the situation
    """An invalid event: unknown kind, impossible index, too much text, an id used twice."""


class UnknownPair(ProjectError, LookupError):  # noqa: N818
    """A pair that the project does not have."""

    def __init__(self, k: int, pairs: int | None) -> None:
        if pairs is None:
            super().__init__(f"there is no pair {k} for you; your list shows your pairs")
        else:
            super().__init__(f"there is no pair {k}; the pairs are 1 to {pairs}")


class MovedPair(UnknownPair):
    """A pair that was an annotator's, until it was given to somebody else or to nobody."""

    def __init__(self, k: int) -> None:
        super(UnknownPair, self).__init__(f"pair {k} is not yours any more; go to the next pair")


class NotTrained(ProjectError):  # noqa: N818
    """An annotator who must pass the training round first."""

    def __init__(self) -> None:
        super().__init__("pass the training round first")


class UnknownAnnotator(UnknownNameError, ProjectError):  # noqa: N818
    """A name that is not an annotator of the project."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__("annotator", name, known)


class NotReady(ProjectError):  # noqa: N818
    """A pair that cannot be adjudicated yet."""

    def __init__(self, id: str, open: Sequence[str]) -> None:
        if open:
            reason = f"{', '.join(open)} not done"
        else:
            reason = "fewer than two have annotated it"
        super().__init__(f"pair {id!r} is not ready to be adjudicated: {reason}")


class OldText(ProjectError):  # noqa: N818
    """Events for words that have been corrected since."""

    def __init__(self, rev: int) -> None:
        super().__init__("the words of this pair were corrected in the meantime; load it again")
        self.rev = rev


class Conflict(ProjectError):  # noqa: N818
    """Events that contradict the present state; no event of the request was stored."""

    def __init__(
        self,
        conflicts: Sequence[Mapping[str, Any]],
        seq: int = 0,
        events: Sequence[Any] = (),
        *,
        by: str = "in another tab",
    ) -> None:
        where = f"{len(conflicts)} places" if len(conflicts) > 1 else "one place"
        super().__init__(f"changed {by}: {where}; keep the change, or set yours again")
        self.conflicts = list(conflicts)
        self.seq = seq
        self.events = list(events)


ANNOTATOR = "annotator"
ADJUDICATOR = "adjudicator"
ROLES = (ANNOTATOR, ADJUDICATOR)
PAGES = ("/", "/adjudicate", "/dashboard")
"""The paths of pages: of annotators, of adjudicators, and for all."""
TASKS = ("align", "judge", "extract")  # the tasks of annotators
DOUBTS: tuple[float, ...] = (0, 0.1, 0.2)
"""From which doubt on a word is to be looked at, as a project may choose; 0: each word is."""
GOLD = "gold"  # the default name of the gold standard
PASS_MARK = 0.8  # the F1 of links that passes a training round, unless another is chosen
NO_SCHEME = "none"
"""The scheme of a project in which pairs are not judged."""


def check_doubt(doubt: float | None) -> None:
    """Check the least doubt of a word to be looked at; None is no choice."""
    if doubt not in (None, *DOUBTS):
        known = ", ".join(f"{known:g}" for known in DOUBTS)
        raise ProjectError(f"unknown doubt {doubt!r} (known: {known})")


def check_pass_mark(mark: float) -> None:
    """Check the F1 of links that passes a training round."""
    if not 0 < mark <= 1:
        raise ProjectError(f"the pass mark is {mark:g}; give a number above 0, at most 1")


class Visitor(NamedTuple):
    """A person who has been let in, with the role."""

    name: str
    role: str = ANNOTATOR


def page_of(visitor: Visitor) -> str:
    """Return the path of a visitor's page."""
    annotating, adjudicating, _ = PAGES
    return adjudicating if visitor.role == ADJUDICATOR else annotating


def check_name(name: str) -> str:
    """Check that a name can be that of an annotator, and return it."""
    if not name or len(name) > 200 or not name.isprintable():
        raise ProjectError(f"{name[:40]!r} cannot be an annotator's name; give 1 to 200 letters")
    return name


def check_adjudicable(task: str) -> None:
    """Check that the work of annotators is adjudicated."""
    if task == "extract":
        raise ProjectError(
            "extracted pairs are not adjudicated: leave out --adjudicate; `alignkit project yield "
            "PROJECT` counts the pairs that each annotator took, `alignkit project export` writes "
            "them"
        )


def check_gold(gold: str, adjudicator: str, *, taken: bool) -> None:
    """Check the name of a gold standard."""
    if taken:
        raise ProjectError(
            f"{gold!r} is an annotator of these pairs; give the gold standard another name "
            "by --gold NAME"
        )
    if adjudicator == gold:
        raise ProjectError(
            f"{gold!r} is the name of the gold standard: name the adjudicator by --annotator"
        )


def check_annotator(name: str, gold: str, sources: Collection[str]) -> str:
    """Check that pairs can be annotated under a name, and return it."""
    if name == gold:
        raise ProjectError(
            f"{name!r} is the name of the gold standard; annotate under another name, or rename "
            "the gold standard: `alignkit annotate PROJECT --adjudicate --gold NAME`"
        )
    if name in sources:
        raise ProjectError(
            f"the links of {name!r} are shown as suggestions; annotate under another name"
        )
    return check_name(name)


VOTE = "vote"  # the kind of suggestions that systems and the aligner vote on


def vote_name(systems: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the set of suggestions that systems, each with its annotators, vote on."""
    return f"{VOTE} {json.dumps(systems, ensure_ascii=False, separators=(',', ':'))}"


def vote_of(suggestions: str) -> dict[str, list[str]]:
    """Return the systems that vote on a set, each with its annotators; none if it is another."""
    if suggestions.startswith(f"{VOTE} {{"):
        with suppress(ValueError, TypeError, RecursionError):  # an annotator may have such a name
            systems = json.loads(suggestions.removeprefix(VOTE))
            return {name: list(map(str, own)) for name, own in systems.items()}
    return {}


def not_assigned(name: str, others: Iterable[str]) -> str:
    """Return the message for an annotator without pairs."""
    return (
        f"no pair is assigned to {name!r} (only to {', '.join(others)}); assign pairs with "
        "`alignkit project assign PROJECT --annotators NAME`, or use --annotator or --adjudicate"
    )


def own_folder() -> Path:
    """Return the folder of the user's data, where each system keeps it; make it if necessary."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        named = os.environ.get("LOCALAPPDATA")
        base = Path(named) if named else home / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        named = os.environ.get("XDG_DATA_HOME", "")
        base = Path(named) if os.path.isabs(named) else home / ".local" / "share"
    folder = base / "alignkit"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise OptionError(
            f"{folder}: cannot be made: {problem.strerror}; choose a place by --project"
        ) from None
    return folder


def project_beside(path: str) -> str:
    """Return the project file of a corpus: in the same folder, its name with ``.alignkit``."""
    if path == "-":
        raise ProjectError("a corpus from standard input has no folder; give a file by --project")
    return path.rstrip("/" + os.sep) + ".alignkit"
