"""Routes of owners: accounts, the audit log, people and their links, and the training round."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict
from starlette.responses import Response, StreamingResponse

from alignkit.annotate import reassignment, renaming, training
from alignkit.annotate.lab import bodies, values
from alignkit.annotate.lab.routes import LAB, MANAGE, LabEntry, LabVisit, abilities
from alignkit.annotate.project import names, queries
from alignkit.annotate.server.desk import ANNOTATE
from alignkit.annotate.server.routing import Routes
from alignkit.annotate.server.security import RefusedError, json_reply
from alignkit.annotate.training_table import TrainingTable, training_table

_MOST_ROWS = 1000  # of the log, in an answer
_PERSON = "projects/{slug}/people/{name}"
ROUTES = Routes(LabEntry)


def given(sent: Struct) -> dict[str, Any]:
    """Return the fields of a body that were sent, without its etag."""
    fields = asdict(sent)
    return {name: value for name, value in fields.items() if value is not UNSET and name != "etag"}


@ROUTES.add("GET", "accounts", LAB, sealed=True)
def accounts(visit: LabVisit) -> bodies.AccountList:
    """Return all accounts."""
    return bodies.AccountList(visit.lab.accounts.rows())


@ROUTES.add("PATCH", "accounts/{name}", LAB, sealed=True, proved=True)
def change_account(visit: LabVisit, sent: bodies.ChangeAccount) -> bodies.AccountRow:
    """Change rank, right or state of an account."""
    name = visit.part("name")
    return visit.lab.accounts.change(name, visit.actor, etag=sent.etag, **given(sent))


@ROUTES.add("GET", "audit", LAB, gives=bodies.AuditList, files=("application/jsonl",))
def audit(visit: LabVisit, query: bodies.AuditQuery) -> Response:
    """Return rows of the audit log."""
    return _log(visit, query, query.project)


@ROUTES.add(
    "GET",
    "projects/{slug}/log",
    MANAGE,
    gives=bodies.AuditList,
    files=("application/jsonl",),
)
def project_log(visit: LabVisit, query: bodies.LogQuery) -> Response:
    """Return rows of the audit log about a project."""
    return _log(visit, query, visit.project.slug)


def _log(visit: LabVisit, query: bodies.LogQuery, project: str) -> Response:
    """Return rows of the audit log, or all of it as a download."""
    log = visit.lab.audit
    chosen = {"project": project, "person": query.person, "day": query.day}
    if query.format == "jsonl":
        headers = {"Content-Disposition": 'attachment; filename="log.jsonl"'}
        lines = log.lines(**chosen)
        return StreamingResponse(lines, media_type="application/jsonl", headers=headers)
    limit = min(query.limit, _MOST_ROWS)
    return json_reply(bodies.AuditList(log.rows(query.after, limit, **chosen)))


@ROUTES.add("GET", "projects/{slug}/people", MANAGE)
def people(visit: LabVisit) -> bodies.People:
    """Return the people of a project, with their counts."""
    store = visit.store
    progress = {row.annotator: row for row in store.progress_of_all()}
    rows = visit.lab.projects.people(visit.project.slug)
    for row in rows:
        own = progress.pop(row.name, None)
        if own is not None:
            row.pairs = own.pairs
            row.done = own.done
    namesakes = _namesakes(visit)
    asked: dict[bool, list[str]] = {False: [], True: []}  # by whether they have said no
    for name, refused in visit.lab.claims.of_project(visit.project.slug).items():
        if name in namesakes:
            asked[refused].append(name)
    return bodies.People(
        people=rows,
        others=sorted({*progress, *namesakes}),
        known=namesakes,
        asked=asked[False],
        refused=asked[True],
        training=_training(visit),
    )


def _training(visit: LabVisit) -> TrainingTable | None:
    """Return how far those who annotate are in the training round."""
    with visit.store.reading() as conn:
        return training_table(conn, [person.name for person in _annotating(visit)])


def _annotating(visit: LabVisit) -> Iterator[bodies.Person]:
    """Yield the people of a project who annotate."""
    for person in visit.lab.projects.people(visit.project.slug):
        role = values.ProjectRole(person.role, person.annotates)  # type: ignore[arg-type]
        if ANNOTATE in abilities(role):
            yield person


def _imported(visit: LabVisit) -> set[str]:
    """Return the annotators of a project, also those of the corpus."""
    with visit.store.reading() as conn:
        return set(queries.annotators(conn)) - queries.not_annotating(conn)


def _namesakes(visit: LabVisit, *only: str) -> list[str]:
    """Return the imported annotators (of `only` these names) whose names accounts have.

    They may be other people: these accounts have and had no role in the project.
    """
    imported = _imported(visit)
    if only:
        imported.intersection_update(map(values.folded, only))
    return visit.lab.projects.strangers(visit.project.slug, imported)


@ROUTES.add("PUT", _PERSON, MANAGE, sealed=True)
def change_person(visit: LabVisit, sent: bodies.ChangePerson) -> bodies.Person | None:
    """Change a role, or give an account one (no etag); 204 if the person is asked first."""
    name = values.folded(visit.part("name"))
    projects = visit.lab.projects
    if sent.role == values.OWNER:
        visit.check_proved()
    slug = visit.project.slug
    actor = visit.actor
    annotates = sent.annotates or sent.role == values.ANNOTATOR
    if not sent.etag:
        if sent.same and name != visit.name and _namesakes(visit, name):
            visit.lab.claims.ask(slug, name, sent.role, annotates, actor)
            return None
        if not sent.same:
            _check_imported(visit, name)
        person = projects.add_existing(slug, name, sent.role, sent.annotates, actor)
    else:
        person = projects.set_role(slug, name, sent.role, sent.annotates, actor, etag=sent.etag)
    if annotates and sent.role != values.READER:
        visit.opened().enter(name, 0)
    return person


def _check_imported(visit: LabVisit, name: str) -> None:
    """Refuse to join an account and an imported annotator of its name silently."""
    if _namesakes(visit, name):
        text = f"This project has work by an imported {name}. Say in the list who that is."
        raise values.LabError(text, "taken", "name")


@ROUTES.add("PATCH", _PERSON, MANAGE, sealed=True)
def rename_imported(visit: LabVisit, sent: bodies.RenameImported) -> None:
    """Give an imported annotator, who has no role, another name."""
    old = visit.part("name")
    new = values.checked_name(sent.name)
    is_imported = old in _imported(visit)
    if is_imported and _state(visit, old):  # the account's own work, if it has or had a role here
        is_imported = bool(_namesakes(visit, old))
    if not is_imported:
        raise values.LabError(f"{old[:40]} is no imported annotator here.", "unknown")
    if _state(visit, new):
        raise values.LabError(f"{new} is the name of an account.", "taken", "name")
    with refusing():
        renaming.rename_annotator(visit.store, old, new, visit.name)
    visit.lab.claims.forget(visit.project.slug, old)
    visit.log("annotator renamed", old, new)


@ROUTES.add("DELETE", _PERSON, MANAGE, sealed=True)
def remove_person(visit: LabVisit) -> bodies.PersonRemoved:
    """Take a role away; work stays, pairs that are not begun return to nobody."""
    name = values.folded(visit.part("name"))
    store = visit.store
    back = partial(reassignment.take_back, store, name, visit.name)
    person, pairs = visit.lab.projects.remove(visit.project.slug, name, visit.actor, back)
    return bodies.PersonRemoved(person, pairs)


@ROUTES.add("DELETE", f"{_PERSON}/sessions", MANAGE, sealed=True)
def sign_out_person(visit: LabVisit) -> bodies.SessionsEnded:
    """End all sessions of a person."""
    return bodies.SessionsEnded(visit.lab.sessions.end(visit.part("name"), visit.actor))


@ROUTES.add("POST", "projects/{slug}/links", MANAGE, status=201, sealed=True, secret=True)
def new_link(visit: LabVisit, sent: bodies.NewLink) -> bodies.LinkMade:
    """Invite a name, or make a password link; an account that exists gets the role at once."""
    lab = visit.lab
    slug = visit.project.slug
    if sent.kind == values.RESET or sent.role == values.OWNER:
        visit.check_proved()
    if sent.kind == values.INVITE:
        _check_imported(visit, sent.name)
    link: values.FreshLink | None = None
    try:
        link = lab.links.create(
            sent.kind, sent.name, visit.actor, project=slug, role=sent.role, display=sent.display
        )
    except values.LabError as problem:
        is_taken = sent.kind == values.INVITE and problem.code == "taken"
        if not is_taken or _state(visit, sent.name) != values.OPEN:
            raise
    if link is None:  # there is such an account
        lab.projects.add_existing(slug, sent.name, sent.role, False, visit.actor)
        return bodies.LinkMade("", "", sent.name, "", added=True)
    if sent.kind == values.INVITE and sent.role == values.ANNOTATOR:
        visit.opened().enter(sent.name, 0)
    url = f"{visit.server.address.url}join#{link.token}"
    return bodies.LinkMade(link.id, url, sent.name, link.expires)


def _state(visit: LabVisit, name: str) -> str:
    """Return the state of an account; empty if there is none."""
    try:
        return visit.lab.accounts.get(name).state
    except values.LabError:
        return ""


@ROUTES.add("DELETE", "projects/{slug}/links/{id}", MANAGE, sealed=True)
def withdraw_link(visit: LabVisit) -> None:
    """Make a link invalid."""
    visit.lab.links.withdraw(visit.part("id"), visit.actor, project=visit.project.slug)


# The training round


@ROUTES.add("GET", "projects/{slug}/training-round", MANAGE)
def training_round(visit: LabVisit) -> bodies.TrainingRound:
    """Return the training round in force, and whose links could be those of another one."""
    return _round(visit, [])


def _round(visit: LabVisit, said: list[str]) -> bodies.TrainingRound:
    """Return the training round in force."""
    with visit.store.reading() as conn:
        golds = list(training.gold_names(conn).items())
    return bodies.TrainingRound(golds, _training(visit), said)


@ROUTES.add("PUT", "projects/{slug}/training-round", MANAGE)
def new_training(visit: LabVisit, sent: bodies.NewTraining) -> bodies.TrainingRound:
    """Begin a training round in place of the one that was seen, or say what that would do."""
    store = visit.store
    now = _training(visit)
    if sent.round != (0 if now is None else now.round):
        text = "Somebody has changed the training round meanwhile. Look at it again."
        raise RefusedError(409, text, error="changed")
    with refusing():
        made = training.begin_training(
            store,
            gold=sent.gold,
            mark=sent.mark,
            ids=sent.pairs,
            dry_run=sent.dry_run,
            actor=visit.name,
        )
    if not sent.dry_run:
        after = {"gold": sent.gold, "mark": sent.mark, "pairs": len(made.pairs)}
        visit.log("training round", visit.project.slug, after)
    return _round(visit, training.made_in_words(made, sent.mark))


@ROUTES.add("DELETE", "projects/{slug}/training-round", MANAGE)
def end_training(visit: LabVisit) -> bodies.TrainingRound:
    """End the training round: all may work."""
    store = visit.store
    with refusing():
        training.end_training(store, visit.name)
    visit.log("training round ended", visit.project.slug, "")
    return _round(visit, [])


@ROUTES.add("PUT", f"{_PERSON}/training", MANAGE, sealed=True)
def change_entry(visit: LabVisit, sent: bodies.ChangeEntry) -> bodies.TrainingRound:
    """Let somebody begin without having passed the training round, or take that back."""
    name = values.folded(visit.part("name"))
    desk = visit.opened()
    check_annotating(visit, {name}, "")
    desk.enter(name, 0)
    store = desk.store
    with refusing():
        training.admit(store, name, visit.name, admitted=sent.admitted)
    visit.log("let begin" if sent.admitted else "to train first", name, "")
    return _round(visit, [])


# What routes share


def check_annotating(visit: LabVisit, wanted: set[str], field: str) -> None:
    """Refuse names of people who do not annotate here; those without an account may."""
    with visit.store.reading() as conn:
        imported = set(queries.annotators(conn))
    others = set(wanted)
    for person in _annotating(visit):
        if person.state != values.CLOSED:
            others.discard(person.name)
    if not others:
        return
    account_names = {account.name for account in visit.lab.accounts.rows()}
    without_account = imported - account_names
    for name in sorted(others - without_account):
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
