"""Routes of owners for the pairs of annotators: assign pairs, and move those that are not begun."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import Literal

from msgspec import json

from alignkit.annotate.assignment import assign_pairs, present_assignment
from alignkit.annotate.assignment_report import Assignment
from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.managing import check_annotating, refusing
from alignkit.annotate.lab.routes import MANAGE, LabEntry, LabVisit
from alignkit.annotate.project import queries
from alignkit.annotate.project.project_events import AssignmentPlan
from alignkit.annotate.project.store import Store
from alignkit.annotate.reassignment import begun_pairs, move_pairs
from alignkit.annotate.server.routing import Routes
from alignkit.annotate.server.security import RefusedError

ROUTES = Routes(LabEntry)
_DRAWN_ONCE = {"trial": 0, "seed": 0, "stratify": ("length",)}
"""What cannot change after the first assignment, with the values of a body that leaves it out."""
_SMALL = 300
"""Below this number of pairs, the least control sample would be most of the project: the owner says
whether there is one."""


def _control(store: Store, plan: AssignmentPlan | None) -> Literal["numbers", "ask", "none"]:
    """Return how the page gets the size of the control sample."""
    with store.reading() as conn:
        if queries.task_of(conn) != "align":
            return "none"  # nothing is suggested
        if plan is None and queries.count_pairs(conn) < _SMALL:
            return "ask"
    return "numbers"


@ROUTES.add("GET", "projects/{slug}/assign", MANAGE)
def assignment(visit: LabVisit) -> bodies.AssignTable:
    """Return what is assigned, and by which plan."""
    store = visit.store
    present = present_assignment(store)
    if present is None:
        return bodies.AssignTable("", 0, 0, [], [], None, _control(store, None))
    return _table(visit, present, present.plan)


@ROUTES.add("POST", "projects/{slug}/assign", MANAGE)
def assign(visit: LabVisit, sent: bodies.NewAssignment) -> bodies.AssignTable:
    """Assign pairs, or say what that would do; the plan must be the one that was seen."""
    store = visit.store
    present = present_assignment(store)
    plan = None if present is None else present.plan
    known = () if plan is None else plan.annotators
    check_annotating(visit, set(sent.annotators).difference(known), "annotators")
    once = {}
    for name, left_out in _DRAWN_ONCE.items():
        value = getattr(sent, name)
        if plan is None or value != left_out:  # later, `assign_pairs` refuses another value
            once[name] = value

    least = sent.control_least
    if _control(store, plan) == "ask":
        if sent.control is None and not sent.dry_run:
            text = "Choose a control sample of 10 % of the pairs, or none."
            raise RefusedError(422, text, field="control")
        least = least or 0

    def approve(drawn: Assignment) -> None:
        if fingerprint(drawn) != sent.plan:
            text = "Something has changed meanwhile. Nothing was assigned. Look at the table again."
            raise RefusedError(409, text, error="changed")

    with refusing():
        drawn = assign_pairs(
            store,
            sent.annotators,
            double=sent.double,
            each=sent.each,
            everybody=sent.double is None and sent.each is None,
            order=sent.order,
            control=sent.control,
            control_least=least,
            dry_run=sent.dry_run,
            approve=approve,
            **once,
        )
    if not sent.dry_run:
        after = {"annotators": drawn.plan.annotators, "new": drawn.new, "plan": sent.plan}
        visit.log("pairs assigned", visit.project.slug, after)
        plan = drawn.plan
    return _table(visit, drawn, plan)


def fingerprint(drawn: Assignment) -> str:
    """Return a short text that is another if anything of an assignment is."""
    text = json.encode(drawn.to_dict(), order="sorted")
    return blake2b(text, digest_size=8).hexdigest()


def _table(visit: LabVisit, drawn: Assignment, now: AssignmentPlan | None) -> bodies.AssignTable:
    """Return the table of an assignment: the share of each annotator, and the present plan."""
    with visit.store.reading() as conn:
        begun = Counter(name for _, name in begun_pairs(conn))
    done = {row.annotator: row.done for row in visit.store.progress_of_all()}
    shares = []
    for share in drawn.annotators:
        row = bodies.AssignShare(
            annotator=share.annotator,
            pairs=share.pairs,
            new=share.new,
            done=done.get(share.annotator, 0),
            begun=begun[share.annotator],
            trial=share.trial,
            control=share.split + share.bare + share.coin,
            alone=share.pairs - share.trial - share.double,
            shared=share.trial + share.double,
            hidden=share.hidden,
        )
        shares.append(row)
    plan = None
    if now is not None:
        plan = bodies.NewAssignment(
            annotators=list(now.annotators),
            double=now.double,
            each=now.each or None,
            trial=now.trial,
            control=now.control,
            control_least=now.least,
            order=now.order,
            stratify=now.stratify,
            seed=now.seed,
        )
    return bodies.AssignTable(
        plan=fingerprint(drawn),
        new=drawn.new,
        pairs=drawn.new_pairs,
        shares=shares,
        warnings=list(drawn.warnings()),
        now=plan,
        control=_control(visit.store, now),
        hiding=_hiding(drawn),
    )


def _hiding(drawn: Assignment) -> str:
    """Return why some pairs are without suggestions, if there are any."""
    sample = [row for row in drawn.strata if row.by == "control"]
    count = sum(row.split + row.bare + row.coin for row in sample)
    if not count:
        return ""
    verb = "is" if count == 1 else "are"
    return (
        f"{count:,} of {drawn.pairs:,} pairs {verb} in the control sample. In these pairs, some or "
        "all annotators see no suggestions, to measure how much suggestions influence people."
    )


@ROUTES.add("POST", "projects/{slug}/move", MANAGE)
def move(visit: LabVisit, sent: bodies.Move) -> bodies.Moved:
    """Move pairs that are not begun."""
    store = visit.store
    if sent.to is not None:  # else they go back to nobody
        check_annotating(visit, {sent.to}, "to")
    with refusing():
        moved = move_pairs(
            store,
            sent.from_ or None,
            sent.to,
            sent.count,
            pairs=sent.pairs,
            actor=visit.name,
            dry_run=sent.dry_run,
        )
    count = len(moved.pairs)
    if count and not sent.dry_run:
        where = {"from": sent.from_, "to": sent.to or "", "pairs": count}
        visit.log("pairs moved", sent.to or "", where)
    return bodies.Moved(count, moved.pairs, "" if count == sent.count else moved.text)
