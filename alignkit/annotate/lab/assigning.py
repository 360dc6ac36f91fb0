"""Routes of owners: assign pairs to annotators, and move pairs that are not begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from msgspec import json

from alignkit.annotate.assignment import Assignment, assign_pairs, present_assignment
from alignkit.annotate.lab import bodies, values
from alignkit.annotate.lab.routes import MANAGE, Entry, LabVisit, abilities
from alignkit.annotate.project import names, queries
from alignkit.annotate.project.fold import AssignmentPlan
from alignkit.annotate.reassignment import begun_pairs, move_pairs
from alignkit.annotate.server.desk import ANNOTATE
from alignkit.annotate.server.security import RefusedError

_DRAWN_ONCE = {"trial": 0, "seed": 0, "stratify": ("length",)}
"""What cannot change after the first assignment, with the values that leave it as it is."""


def assignment(visit: LabVisit) -> object:
    """Return what is assigned, and by which plan."""
    present = present_assignment(visit.opened().store)
    if present is None:
        return bodies.AssignTable("", 0, 0, [], [], None)
    return _table(visit, present, present.plan)


def assign(visit: LabVisit) -> object:
    """Assign pairs, or say what that would do; the plan must be the one that was seen."""
    sent, store = visit.sent, visit.opened().store
    present = present_assignment(store)
    known = () if present is None else present.plan.annotators
    check_annotating(visit, set(sent.annotators).difference(known), "annotators")
    once = {name: getattr(sent, name) for name in _DRAWN_ONCE}
    if present is not None:
        once = {name: x for name, x in once.items() if x != _DRAWN_ONCE[name]}

    def approve(drawn: Assignment) -> None:
        if fingerprint(drawn) != sent.plan:
            text = "Something has changed meanwhile. Nothing was assigned. Look at the table again."
            raise RefusedError(409, text, error="changed")

    with refusing():
        drawn = assign_pairs(
            store, sent.annotators, double=sent.double, each=sent.each,
            everybody=sent.double is sent.each is None, order=sent.order, control=sent.control,
            control_least=sent.control_least, dry_run=sent.dry_run, approve=approve, **once,
        )  # fmt: skip
    if not sent.dry_run:
        after = {"annotators": drawn.plan.annotators, "new": drawn.new, "plan": sent.plan}
        visit.log("pairs assigned", visit.project.slug, after)
        present = drawn
    return _table(visit, drawn, None if present is None else present.plan)


def fingerprint(drawn: Assignment) -> str:
    """Return a short text that is another if anything of an assignment is."""
    return blake2b(json.encode(drawn.to_dict(), order="sorted"), digest_size=8).hexdigest()


def check_annotating(visit: LabVisit, people: set[str], field: str) -> None:
    """Refuse names of people who do not annotate here; those without an account may."""
    with visit.store.database.reading() as conn:
        imported = set(queries.annotators(conn))
    for person in visit.lab.projects.people(visit.project.slug):
        role = values.ProjectRole(person.role, person.annotates)  # type: ignore[arg-type]
        if ANNOTATE in abilities(role) and person.state != values.CLOSED:
            people.discard(person.name)
    accounts = {account.name for account in visit.lab.accounts.rows()} if people else set()
    for name in sorted(people - (imported - accounts)):
        text = f"{name} does not annotate in this project. Invite {name} on People first."
        raise RefusedError(422, text, field=field)


@contextmanager
def refusing() -> Iterator[None]:
    """Answer 422 where a project refuses what was asked."""
    try:
        yield
    except names.DamagedProject:
        raise
    except names.ProjectError as problem:
        raise RefusedError(422, str(problem)) from None


def _table(visit: LabVisit, drawn: Assignment, now: AssignmentPlan | None) -> bodies.AssignTable:
    with visit.store.database.reading() as conn:
        begun = Counter(name for _, name in begun_pairs(conn))
    done = {row.annotator: row.done for row in visit.store.progress_of_all()}
    shares = [
        bodies.AssignShare(
            share.annotator, share.pairs, share.new, done.get(share.annotator, 0),
            begun[share.annotator], share.trial, share.split + share.bare + share.coin,
            share.pairs - share.trial - share.double, share.trial + share.double, share.hidden,
        )
        for share in drawn.annotators
    ]  # fmt: skip
    plan = None if now is None else bodies.NewAssignment(
        list(now.annotators), now.double, now.each or None, now.trial, now.control, now.least,
        now.order, now.stratify, now.seed,
    )  # fmt: skip
    return bodies.AssignTable(
        fingerprint(drawn), drawn.new, drawn.new_pairs, shares, list(drawn.warnings()), plan
    )


def move(visit: LabVisit) -> object:
    """Move pairs that are not begun."""
    sent, store = visit.sent, visit.opened().store
    check_annotating(visit, {sent.to} - {None}, "to")
    with refusing():
        moved = move_pairs(
            store, sent.from_, sent.to, sent.count, pairs=sent.pairs, actor=visit.name,
            dry_run=sent.dry_run,
        )  # fmt: skip
    count = len(moved.pairs)
    if count and not sent.dry_run:
        where = {"from": sent.from_, "to": sent.to or "", "pairs": count}
        visit.log("pairs moved", sent.to or "", where)
    return bodies.Moved(count, moved.pairs, "" if count == sent.count else moved.text)


ENTRIES = [
    Entry("GET", "projects/{slug}/assign", MANAGE, assignment, gives=bodies.AssignTable),
    Entry("POST", "projects/{slug}/assign", MANAGE, assign, bodies.NewAssignment,
          bodies.AssignTable),
    Entry("POST", "projects/{slug}/move", MANAGE, move, bodies.Move, bodies.Moved),
]  # fmt: skip
