"""Name who takes part in a project and what they do: roles and tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from alignkit.annotate.errors import ProjectError

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
            "`alignkit yield PROJECT` counts what each took, `alignkit export` writes it"
        )


def check_gold(gold: str, adjudicator: str, *, taken: bool) -> None:
    """Check the name of a gold standard."""
    if taken:
        raise ProjectError(
            f"{gold!r} is somebody who annotated these pairs; name the gold standard otherwise, by "
            "--gold NAME"
        )
    if adjudicator == gold:
        raise ProjectError(
            f"{gold!r} is the name of the gold standard: say by --annotator who decides"
        )


def check_annotator(name: str, gold: str, suggesting: str | None) -> str:
    """Return a name under which pairs can be annotated."""
    if name == gold:
        raise ProjectError(
            f"{name!r} is the name under which adjudicators decide; annotate under another, or "
            "name the gold standard otherwise: `alignkit annotate PROJECT --adjudicate --gold NAME`"
        )
    if name == suggesting:
        raise ProjectError(
            f"the links of {name!r} are those that are suggested; annotate under another name"
        )
    return check_name(name)


def not_assigned(name: str, others: Iterable[str]) -> str:
    """Return what is told to an annotator without pairs."""
    return (
        f"no pair is assigned to {name!r} (but to {', '.join(others)}); `alignkit assign PROJECT "
        "--annotators NAME` assigns some, and --annotator or --adjudicate says who you are"
    )
