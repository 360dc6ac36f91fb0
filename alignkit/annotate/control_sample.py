"""The control sample of a project, in which some annotators see no suggestions, with their work.

`assignment_draw` says how it is drawn. `control_pairs` reads it from a project.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from alignkit._support.arguments import check_attributes
from alignkit.annotate.assignment import assigned_rows, read_items, read_plan
from alignkit.annotate.assignment_draw import arm_of
from alignkit.annotate.project import conversion, queries
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Assigned, Suggestion
from alignkit.annotate.project.schema import COUNTS_ARE_OF_STREAM, IS_DONE
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.suggestions import suggested_cells
from alignkit.annotate.strata import CONTROL, stratum_of
from alignkit.errors import OptionError, UnknownNameError
from alignkit.model.alignment import NULL, Alignment

ARMS = {
    "": "not in the control sample: all see suggestions",
    "split": "a coin decides which half of the annotators sees none",
    "bare": "nobody sees suggestions",
    "coin": "annotated once; a coin decides whether with suggestions",
}
"""The arms of the control sample, by their names in assignments."""


@dataclass(frozen=True)
class ControlWork:
    """The finished work of one annotator on one pair."""

    shown: bool  # whether suggestions were shown
    links: Alignment  # the final links
    rejected: Collection[tuple[int, int]] = frozenset()  # the suggestions that were put aside
    unseen: Collection[tuple[int, int]] = frozenset()  # the links that nobody looked at

    def __post_init__(self) -> None:
        check_attributes(self)


@dataclass(frozen=True)
class ControlPair:
    """The data of one pair for estimating the pull of suggestions."""

    id: str  # its id, for messages
    arm: str  # one of ARMS
    works: Mapping[str, ControlWork]  # by name, of the assigned annotators who are done with it
    suggested: Sequence[Suggestion] = ()  # the suggested links, shown or not
    stratum: str = ""  # the stratum in which it was drawn
    open: int = 0  # how many of those to whom it is assigned are not done with it

    def __post_init__(self) -> None:
        if self.arm not in ARMS:
            raise UnknownNameError("arm", self.arm, ARMS)
        suggested = sorted(self.suggested, key=lambda suggestion: suggestion[:2])
        object.__setattr__(self, "suggested", tuple(suggested))
        links = {suggestion[:2] for suggestion in suggested}
        if len(links) < len(suggested):
            raise OptionError(f"pair {self.id!r}: a link is suggested twice; give each link once")
        for i, j, p, _ in self.suggested:
            if p is not None and not 0 <= p <= 1:
                raise OptionError(
                    f"pair {self.id!r}: the suggestion {i}-{j} has the probability {p}; give one "
                    "from 0 to 1, or None if it is unknown"
                )
        wrong = {"bare": True, "": False}.get(self.arm)  # what nobody of the arm may have
        if any(work.shown is wrong for work in self.works.values()):
            saw = "saw suggestions" if wrong else "saw no suggestions"
            raise OptionError(f"pair {self.id!r} of the arm {self.arm!r}: an annotator {saw}")


def control_pairs(conn: Connection) -> Iterator[ControlPair]:
    """Yield all assigned pairs, with the work done so far, and whether suggestions are shown."""
    plan = read_plan(conn)
    if plan is None:
        raise ProjectError(
            "nothing is assigned, so it is unknown who saw suggestions; assign pairs first "
            "(alignkit project assign)"
        )
    rows: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in assigned_rows(conn):
        rows[row.k].append(row)
    suggested = suggested_cells(conn)
    done = done_works(conn)
    for item in read_items(conn):
        arm = arm_of(rows[item.k])
        # rows without the arm are of annotators who had begun before
        assigned = [row for row in rows[item.k] if row.arm == arm]
        if not assigned:
            continue
        _, cells = suggested.get(item.k, ("", ()))
        links = [cell for cell in cells if cell[0] >= 0 and cell[1] >= 0]
        works = {}
        for row in assigned:
            if (item.k, row.annotator) in done:
                alignment, state = done[item.k, row.annotator]
                works[row.annotator] = _control_work(row.shown, alignment, state, links)
        stratum = " ".join(stratum_of(item, CONTROL, plan.cuts))
        yield ControlPair(item.id, arm, works, links, stratum, len(assigned) - len(works))


def _control_work(
    shown: bool, links: Alignment, state: PairState, suggested: Iterable[Suggestion]
) -> ControlWork:
    """Return a finished work; settling a word puts aside what it is not linked to."""
    rejected = set(state.rejected)
    for i, j, *_ in suggested:
        if (i, NULL) in state.settled or (NULL, j) in state.settled:
            rejected.add((i, j))
    return ControlWork(shown, links, rejected, state.bulk)


def done_works(conn: Connection) -> dict[tuple[int, str], tuple[Alignment, PairState]]:
    """Return the links and the state of all finished works, by pair and name."""
    names = dict(enumerate(queries.annotators(conn), 1))
    works = {}
    for k, account, state in queries.states(conn, COUNTS_ARE_OF_STREAM, IS_DONE):
        annotation = conversion.annotation_of(state)
        if annotation is not None and annotation.alignment is not None:
            works[k, names[account]] = (annotation.alignment, state)
    return works
