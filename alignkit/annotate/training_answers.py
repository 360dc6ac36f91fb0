"""What an annotator does in a training round: get the next pair, answer it, see what differs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta, Struct
from sqlalchemy import Connection

from alignkit.annotate.project import appending, names, queries
from alignkit.annotate.project.events import now
from alignkit.annotate.project.project_events import AnswerTraining, TrainingPair, Value
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.training import (
    MOST,
    RoundInForce,
    Standing,
    compared,
    known_f1,
    present_round,
    standing,
    total,
)

Cell = tuple[
    Annotated[int, Meta(ge=0, le=10_000)],
    Annotated[int, Meta(ge=0, le=10_000)],
    Literal[1, 2],
]


class TrainingAnswer(Struct, forbid_unknown_fields=True):
    """The links of an annotator on a training pair; 1 is possible, 2 sure."""

    round: Annotated[int, Meta(ge=1, le=2**31)]
    attempt: Annotated[int, Meta(ge=1, le=2**31)]
    place: Annotated[int, Meta(ge=1, le=MOST)]
    links: Annotated[list[Cell], Meta(max_length=20_000)]


class CellDifference(Struct):
    """A cell in which an answer differs from gold: 0 no link, 1 possible, 2 sure."""

    cell: tuple[int, int]
    own: int
    gold: int
    note: str = ""  # why gold is right


class TrainingReport(Struct):
    """What came of an answer."""

    id: str
    attempt: int
    place: int
    f1: float | None  # of this pair; None if there is no link
    common: int  # links in the answer and in gold
    drawn: int  # links in the answer
    wanted: int  # links in gold
    differences: list[CellDifference]
    note: str  # on the pair, in gold
    so_far: float | None  # F1 of this attempt
    state: Literal["open", "failed", "passed"]


class TrainingSummary(Struct):
    """What a page needs to know to begin with the training."""

    size: int
    mark: float


class TrainingTurn(Struct):
    """The next training pair of an annotator; none if there is nothing to train."""

    round: int = 0
    size: int = 0
    mark: float = 0.0
    attempt: int = 0
    place: int = 0
    failed: float | None = None  # F1 of the attempt before, which did not pass
    so_far: float | None = None  # F1 of this attempt, up to the pair before
    pair: queries.PairView | None = None


def summary(conn: Connection, annotator: str) -> TrainingSummary | None:
    """Return what an annotator has to pass; None if there is nothing."""
    in_force = present_round(conn)
    if in_force is None:
        return None
    is_known = annotator in queries.annotators(conn)  # who is not has passed nothing
    if is_known and not queries.must_train(conn, queries.account_of(conn, annotator)):
        return None
    return TrainingSummary(len(in_force.pairs), in_force.mark)


def turn(conn: Connection, annotator: str) -> TrainingTurn:
    """Return the next training pair of an annotator, without anything of gold."""
    account = queries.account_of(conn, annotator)
    in_force = present_round(conn)
    if in_force is None or not queries.must_train(conn, account):
        return TrainingTurn()
    known = standing(conn, in_force.number, account)
    size = len(in_force.pairs)
    attempt, place = known.next(size)
    before = [given.counts for given in known.of_attempt(attempt)]
    failed = None
    if attempt > 1 and place == 1:
        failed = known_f1(total(given.counts for given in known.of_attempt(attempt - 1)))
    pair = in_force.pairs[place - 1]
    source = list(pair.source)
    target = list(pair.target)
    row = queries.PairRow(place, pair.id, 1, pair.languages, source, target)
    untouched = queries.ShownState(PairState().view(), [], [])
    in_round = queries.ListPlace(size, place - 1, place)
    fields = queries.page_fields(row, in_round, untouched, 0)
    view = queries.PairView(**fields, suggestions=None)
    so_far = known_f1(total(before)) if before else None
    return TrainingTurn(in_force.number, size, in_force.mark, attempt, place, failed, so_far, view)


def answer(conn: Connection, annotator: str, sent: TrainingAnswer) -> TrainingReport:
    """Store an answer, unless it is stored already, and report what differs from gold."""
    in_force = present_round(conn)
    if in_force is None or in_force.number != sent.round:
        raise names.ProjectError("the training round was changed; load the page again")
    account = queries.account_of(conn, annotator)
    known = standing(conn, in_force.number, account)
    stored = [given for given in known.of_attempt(sent.attempt) if given.place == sent.place]
    links: list[Value] = sorted(sent.links)
    if not stored:
        event = AnswerTraining(annotator, sent.attempt, sent.place, links, now())
        appending.append_to_project(conn, event, annotator)
        known = standing(conn, in_force.number, account)
    elif sorted(stored[0].links) != links:
        raise names.ProjectError("this training pair was answered already; load the page again")
    return _report(in_force, known, sent.attempt, sent.place, links)


def _report(
    in_force: RoundInForce, known: Standing, attempt: int, place: int, links: list[Value]
) -> TrainingReport:
    """Return what came of an answer."""
    pair = in_force.pairs[place - 1]
    counts = compared(links, pair.links)
    given = [each.counts for each in known.of_attempt(attempt) if each.place <= place]
    state: Literal["open", "failed", "passed"] = "open"
    if place == len(in_force.pairs):
        state = "failed" if known.entry is None else "passed"
    return TrainingReport(
        id=pair.id,
        attempt=attempt,
        place=place,
        f1=known_f1(counts),
        **counts._asdict(),
        differences=differences(links, pair),
        note=pair.notes.get("", ""),
        so_far=known_f1(total(given)),
        state=state,
    )


def differences(links: Iterable[Value], pair: TrainingPair) -> list[CellDifference]:
    """Return the cells in which links differ from gold, in reading order, with their notes."""
    own = {(i, j): value for i, j, value in links}
    gold = {(i, j): value for i, j, value in pair.links}
    differing = []
    for i, j in sorted(own.keys() | gold.keys()):
        drawn = own.get((i, j), 0)
        right = gold.get((i, j), 0)
        if drawn != right:
            note = pair.notes.get(f"{i}-{j}", "")
            differing.append(CellDifference((i, j), drawn, right, note))
    return differing
