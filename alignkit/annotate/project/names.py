"""The errors of projects, and the names in them: roles, tasks, annotators, and where files lie."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from alignkit.errors import AlignkitError, OptionError, UnknownNameError


class ProjectError(AlignkitError):
    """A project that cannot be made, opened, read or written."""

    path = ""


class DamagedProject(ProjectError):  # noqa: N818
    """A project whose file no longer holds what was written into it."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path}: the project file is damaged ({why}); `alignkit project log "
            f"{shlex.quote(path)} --check` shows what is wrong; to go on, stop the server and put "
            "a copy of the file "
            "that was made earlier (a backup) in its place"
        )
        self.path = path


class BadEvent(ProjectError):  # noqa: N818 - named after the situation
    """An event that cannot be: unknown kind, impossible index, too much text, an id used twice."""


class UnknownPair(ProjectError, LookupError):  # noqa: N818
    """A pair that the project does not have."""

    def __init__(self, k: int, pairs: int | None) -> None:
        elsewhere = " for you; your list shows those there are"
        there = elsewhere if pairs is None else f"; the pairs are 1 to {pairs}"
        super().__init__(f"there is no pair {k}{there}")


class UnknownAnnotator(UnknownNameError, ProjectError):  # noqa: N818
    """A name that nobody of the project has."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__("annotator", name, known)


class NotReady(ProjectError):  # noqa: N818
    """A pair that cannot be adjudicated yet."""

    def __init__(self, id: str, open: Sequence[str]) -> None:
        reason = f"{', '.join(open)} not done" if open else "fewer than two have annotated it"
        super().__init__(f"pair {id!r} is not ready to be adjudicated: {reason}")


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


_PACKAGE = Path(__file__).resolve().parent.parent.parent


def samples() -> Path:
    """Return the folder of the sample corpora."""
    return _folder("samples", "paraphrases.jsonl")


def guidelines() -> Path:
    """Return the folder of the guidelines for annotators: Markdown pages and their examples."""
    return _folder("guidelines", "README.md")


def _folder(name: str, known: str) -> Path:
    places = [_PACKAGE / name, _PACKAGE.parent / name]
    for place in places:
        if (place / known).is_file():
            return place
    looked = " and ".join(str(place) for place in places)
    raise AlignkitError(
        f"the {name} that belong to alignkit are not there (looked for {known} in {looked}); "
        "install alignkit again"
    )


ANNOTATOR, ADJUDICATOR = "annotator", "adjudicator"
ROLES = (ANNOTATOR, ADJUDICATOR)
PAGES = ("/", "/adjudicate", "/dashboard")
"""The paths of pages, the first of annotators and the second of adjudicators."""
TASKS = ("align", "judge", "extract")
"""What annotators of a project do."""
GOLD = "gold"
"""The name of the gold standard where no other is given."""


class Visitor(NamedTuple):
    """Who is let in, and as what."""

    name: str
    role: str = ANNOTATOR


def page_of(visitor: Visitor) -> str:
    """Return the path of the page of somebody."""
    return PAGES[visitor.role == ADJUDICATOR]


def check_name(name: str) -> str:
    """Return a name that an annotator can have."""
    if not name or len(name) > 200 or not name.isprintable():
        raise ProjectError(f"{name[:40]!r} is no name of an annotator; give 1 to 200 letters")
    return name


def check_adjudicable(task: str) -> None:
    """Check that what annotators do is adjudicated."""
    if task == "extract":
        raise ProjectError(
            "where pairs are taken from documents, nothing is adjudicated: leave out --adjudicate; "
            "`alignkit project yield PROJECT` counts what each took, `alignkit project export` "
            "writes it"
        )


def check_gold(gold: str, adjudicator: str, *, taken: bool) -> None:
    """Check the name of a gold standard."""
    if taken:
        otherwise = "name the gold standard otherwise, by --gold NAME"
        raise ProjectError(f"{gold!r} is somebody who annotated these pairs; {otherwise}")
    if adjudicator == gold:
        name = f"{gold!r} is the name of the gold standard"
        raise ProjectError(f"{name}: say by --annotator who decides")


def check_annotator(name: str, gold: str, suggesting: str | None) -> str:
    """Return a name under which pairs can be annotated."""
    if name == gold:
        raise ProjectError(
            f"{name!r} is the name under which adjudicators decide; annotate under another, or "
            "name the gold standard otherwise: `alignkit annotate PROJECT --adjudicate --gold NAME`"
        )
    if name == suggesting:
        links = f"the links of {name!r} are those that are suggested"
        raise ProjectError(f"{links}; annotate under another name")
    return check_name(name)


def not_assigned(name: str, others: Iterable[str]) -> str:
    """Return the message for an annotator without pairs."""
    return (
        f"no pair is assigned to {name!r} (but to {', '.join(others)}); `alignkit project assign "
        "PROJECT --annotators NAME` assigns some, and --annotator or --adjudicate says who you are"
    )


def own_folder() -> Path:
    """Return the folder of the user's data, made where there is none."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        named = os.environ.get("XDG_DATA_HOME", "")
        base = named if os.path.isabs(named) else home / ".local" / "share"
    folder = Path(base) / "alignkit"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise OptionError(
            f"{folder}: cannot be made: {problem.strerror}; say by --project where to work"
        ) from None
    return folder


def project_beside(path: str) -> str:
    """Return where the project of a corpus is: in the same folder, its name with ``.alignkit``."""
    if path == "-":
        raise ProjectError("a corpus from standard input has no place; name one by --project")
    return path.rstrip("/" + os.sep) + ".alignkit"
