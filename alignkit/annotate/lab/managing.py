"""Routes of owners: accounts, the audit log, the people of a project and their links."""

from __future__ import annotations

from functools import partial
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import asdict
from starlette.responses import StreamingResponse

from alignkit.annotate.lab import bodies, values
from alignkit.annotate.lab.assigning import refusing
from alignkit.annotate.lab.routes import LAB, MANAGE, Entry, LabVisit
from alignkit.annotate.project import queries


def given(sent: Struct) -> dict[str, Any]:
    """Return the fields of a body that were sent, without its etag."""
    fields = asdict(sent)
    return {name: value for name, value in fields.items() if value is not UNSET and name != "etag"}


def accounts(visit: LabVisit) -> object:
    """Return all accounts."""
    return {"accounts": visit.lab.accounts.rows()}


def change_account(visit: LabVisit) -> object:
    """Change rank, right or state of an account."""
    changes = given(visit.sent)
    name = visit.word("name")
    return visit.lab.accounts.change(name, visit.actor, etag=visit.sent.etag, **changes)


def audit(visit: LabVisit) -> object:
    """Return rows of the audit log; of a project, for its owners."""
    log, project = visit.lab.audit, visit.word("slug") or visit.word("project")
    chosen = {"project": project, "person": visit.word("person"), "day": visit.word("day")}
    if visit.word("format") == "jsonl":
        headers = {"Content-Disposition": 'attachment; filename="log.jsonl"'}
        lines = log.lines(**chosen)
        return StreamingResponse(lines, media_type="application/jsonl", headers=headers)
    limit = min(visit.number("limit", 100), 1000)
    return {"rows": log.rows(visit.number("after", 0), limit, **chosen)}


def people(visit: LabVisit) -> object:
    """Return the people of a project, with their counts."""
    store = visit.opened().store
    progress = {row.annotator: row for row in store.progress_of_all()}
    rows = visit.lab.projects.people(visit.project.slug)
    for row in rows:
        if (own := progress.pop(row.name, None)) is not None:
            row.pairs, row.done = own.pairs, own.done
    known = _strangers(visit)
    return bodies.People(rows, sorted({*progress, *known}), known)


def _imported(visit: LabVisit) -> set[str]:
    """Return the annotators of a project, also those of the corpus."""
    with visit.opened().store.database.reading() as conn:
        return {*queries.annotators(conn)} - queries.sources(conn) - {queries.gold_name(conn)}


def _strangers(visit: LabVisit, *names: str) -> list[str]:
    """Return the imported annotators (or those of some) whose names are those of accounts."""
    imported = _imported(visit)
    wanted = imported.intersection(map(values.folded, names)) if names else imported
    return visit.lab.projects.strangers(visit.project.slug, wanted)


def change_person(visit: LabVisit) -> object:
    """Change a role, or give an account one (no etag)."""
    sent, name, projects = visit.sent, values.folded(visit.word("name")), visit.lab.projects
    if sent.role == values.OWNER:
        visit.check_proved()
    slug, actor = visit.project.slug, visit.actor
    annotates = sent.annotates or sent.role == values.ANNOTATOR
    if not sent.etag:
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
    if _strangers(visit, name):
        text = f"This project has work by an imported {name}. Say in the list who that is."
        raise values.LabError(text, "taken", "name")


def rename_imported(visit: LabVisit) -> None:
    """Give an imported annotator, who has no role, another name."""
    from alignkit.annotate.renaming import rename_annotator

    old, new = visit.word("name"), visit.sent.name
    if old not in _imported(visit) or (_state(visit, old) and not _strangers(visit, old)):
        raise values.LabError(f"{old[:40]} is no imported annotator here.", "unknown")
    if _state(visit, new):
        raise values.LabError(f"{new} is the name of an account.", "taken", "name")
    with refusing():
        rename_annotator(visit.store, old, new, visit.name)
    visit.log("annotator renamed", old, new)


def remove_person(visit: LabVisit) -> object:
    """Take a role away; work stays, pairs that are not begun return to nobody."""
    from alignkit.annotate.reassignment import take_back

    name, store = values.folded(visit.word("name")), visit.opened().store
    back = partial(take_back, store, name, visit.name)
    person, pairs = visit.lab.projects.remove(visit.project.slug, name, visit.actor, back)
    return {"person": person, "pairs": pairs}


def sign_out_person(visit: LabVisit) -> object:
    """End all sessions of a person."""
    return {"ended": visit.lab.sessions.end(visit.word("name"), visit.actor)}


def new_link(visit: LabVisit) -> object:
    """Invite a name, or make a password link; an account that exists gets the role at once."""
    sent, lab, slug = visit.sent, visit.lab, visit.project.slug
    if sent.kind == values.RESET or sent.role == values.OWNER:
        visit.check_proved()
    if sent.kind == values.INVITE:
        _check_imported(visit, sent.name)
    try:
        link = lab.links.create(sent.kind, sent.name, visit.actor, project=slug, role=sent.role)
    except values.LabError as problem:
        taken = problem.code == "taken" and sent.kind == values.INVITE
        if not taken or _state(visit, sent.name) != values.OPEN:
            raise
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


def withdraw_link(visit: LabVisit) -> None:
    """Make a link invalid."""
    visit.lab.links.withdraw(visit.word("id"), visit.actor, project=visit.project.slug)


_PERSON = "projects/{slug}/people/{name}"
ENTRIES = [
    Entry("GET", "accounts", LAB, accounts, gives={"accounts": list[bodies.AccountRow]},
          sealed=True),
    Entry("PATCH", "accounts/{name}", LAB, change_account, bodies.ChangeAccount, bodies.AccountRow,
          sealed=True, proved=True),
    Entry("GET", "audit", LAB, audit, gives={"rows": list[bodies.AuditRow]}),
    Entry("GET", "projects/{slug}/log", MANAGE, audit, gives={"rows": list[bodies.AuditRow]}),
    Entry("GET", "projects/{slug}/people", MANAGE, people, gives=bodies.People),
    Entry("PUT", _PERSON, MANAGE, change_person, bodies.ChangePerson, bodies.Person, sealed=True),
    Entry("PATCH", _PERSON, MANAGE, rename_imported, bodies.RenameImported, status=204,
          sealed=True),
    Entry("DELETE", _PERSON, MANAGE, remove_person, sealed=True),
    Entry("DELETE", f"{_PERSON}/sessions", MANAGE, sign_out_person, sealed=True),
    Entry("POST", "projects/{slug}/links", MANAGE, new_link, bodies.NewLink, bodies.LinkMade, 201,
          sealed=True, secret=True),
    Entry("DELETE", "projects/{slug}/links/{id}", MANAGE, withdraw_link, status=204, sealed=True),
]  # fmt: skip
