"""Routes of projects: the list, one project and its settings, the first data of its pages."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import structs
from sqlalchemy import select

from alignkit.annotate.lab import bodies, values
from alignkit.annotate.lab.managing import given
from alignkit.annotate.lab.routes import MANAGE, MEMBER, OWN, Entry, LabVisit, abilities, unknown
from alignkit.annotate.project import names, queries, schema
from alignkit.annotate.server import answers
from alignkit.annotate.server.child import SuggestionPlan
from alignkit.annotate.server.desk import ANNOTATE, DECIDE, LOOK, Desk
from alignkit.annotate.server.guidelines_page import render_guidelines
from alignkit.annotate.server.security import RefusedError, taking

_SOURCES = {
    "trained": "an aligner trained on these pairs",
    "model": "a model file",
    "none": "none",
    names.VOTE: "a vote of systems",
}

_rendering = threading.Lock()  # long guidelines take seconds
_PATIENCE = 3.0  # seconds that a reader of guidelines waits for another


def projects(visit: LabVisit) -> object:
    """Return the projects in which one has a role; first those that need one."""
    rows = visit.lab.projects.rows("" if visit.person.rank == values.OWNER else visit.name)
    cards = [card(visit, row, role) for row, role in visit.projects(rows)]
    cards.sort(key=lambda card: card.last or card.made, reverse=True)
    cards.sort(key=lambda card: (card.state == values.ARCHIVED, card.needs is None))
    return {"projects": cards}


def card(visit: LabVisit, row: values.ProjectRow, role: values.ProjectRole) -> bodies.ProjectCard:
    """Return the row of a project in the list of somebody."""
    counts = visit.server.desks.now(row)
    own = counts.own if counts else {}
    pairs, done = (counts.pairs, counts.done) if counts else (row.pairs, row.done)
    mine = own.get(visit.name, (0, 0))
    reopened, left = visit.server.desks.own(row.key, visit.name)
    can = abilities(role)
    need = None
    if row.state == values.OPEN and counts is not None:
        need = _need(row, can, pairs, done, counts.ready, counts.assigned, mine)
    return bodies.ProjectCard(
        row.slug,
        row.name,
        row.task,
        row.languages,
        row.state,
        pairs,
        done if LOOK in can else mine[0],
        mine,
        reopened,
        left,
        role.role,
        role.annotates,
        need,
        sorted(own) if LOOK in can else [],
        row.last,
        row.made,
        row.etag,
    )


def _need(
    row: values.ProjectRow,
    can: set[str],
    pairs: int,
    done: int,
    ready: int | None,
    assigned: bool,
    mine: tuple[int, int],
) -> bodies.Need | None:
    if MANAGE in can and not assigned:
        return bodies.Need("assign", "nothing is assigned")
    if DECIDE in can and ready:
        return bodies.Need("adjudicate", f"{ready:,} to adjudicate")
    if MANAGE in can and pairs and done >= pairs:
        return bodies.Need("export", "ready to export")
    if ANNOTATE in can and mine[0] < mine[1]:
        return bodies.Need(row.task, f"{mine[1] - mine[0]:,} to do")
    return None


def project(visit: LabVisit) -> object:
    """Return one project; its settings to owners."""
    row = structs.asdict(card(visit, visit.project, visit.role))
    if MANAGE in abilities(visit.role):
        settings = _settings(visit)
    else:
        settings = None
    return bodies.ProjectDetail(**row, settings=settings)


def _settings(visit: LabVisit) -> bodies.ProjectSettings:
    desk = visit.opened()
    with desk.store.database.reading() as conn:
        info = queries.project_info(conn)
        asked = select(schema.project.c.blind, schema.project.c.majority)
        blind, majority = map(bool, conn.execute(asked).one())
    plan = _plan(desk)
    progress = desk.opening.progress
    return bodies.ProjectSettings(
        visit.server.guidelines(visit.project.key),
        plan.learning,
        blind,
        majority,
        info.gold,
        _SOURCES.get(plan.kind, plan.name),
        None if progress is None else (progress.text, progress.share),
    )


def _plan(desk: Desk) -> SuggestionPlan:
    opened = desk.opening.opened
    return (opened and opened.sessions.plan) or SuggestionPlan("none")


def change_project(visit: LabVisit) -> object:
    """Rename, archive or reopen a project, or change its settings."""
    sent = visit.sent
    row = visit.project
    lab = visit.lab
    changes = given(sent)
    listed = {key: changes.pop(key) for key in ("name", "state") if key in changes}
    stops = changes.pop("stop_training")
    if changes and row.state == values.ARCHIVED and listed.get("state") != values.OPEN:
        raise RefusedError(423, "The project is archived. Reopen it first.")
    row = lab.projects.change(row.slug, visit.actor, etag=sent.etag, **listed)
    visit.project = row
    if stops:
        changes["suggestions"] = "none"
    if changes:
        _set(visit, changes)
        if "guidelines" in changes:
            changes["guidelines"] = f"{len(changes['guidelines']):,} characters"
        visit.log("settings", row.slug, changes)
    if listed.get("state") == values.ARCHIVED:
        visit.server.desks.close(row.key)
    return card(visit, row, visit.role)


def _set(visit: LabVisit, changes: dict[str, Any]) -> None:
    desk = visit.opened()
    rules = {key: changes[key] for key in ("blind", "majority") if key in changes}
    if rules:
        desk.store.settings(**rules)
    if "guidelines" in changes:
        visit.server.write_guidelines(visit.project.key, changes["guidelines"])
    if "learning" in changes or "suggestions" in changes:
        plan = _plan(desk)
        if "suggestions" in changes:
            plan = SuggestionPlan(changes["suggestions"], learning=plan.learning)
        assert desk.opening.opened is not None
        learning = changes.get("learning", plan.learning)
        desk.opening.opened.sessions.plan = structs.replace(plan, learning=learning)
        visit.server.desks.close(visit.project.key)  # it begins anew with the next request


def delete_project(visit: LabVisit) -> None:
    """Delete an archived project whose name was typed."""
    if visit.sent.name != visit.project.name:
        raise RefusedError(422, "This is not the name of the project.", field="name")
    row = visit.lab.projects.delete(visit.project.slug, visit.actor)
    visit.server.desks.close(row.key)
    visit.server.remove(row.key)


def start(visit: LabVisit) -> object:
    """Return the first data of a page: `at` says of which (pairs, gold, look)."""
    at = visit.word("at", "pairs")
    can = abilities(visit.role)
    row = visit.project
    if {"pairs": ANNOTATE, "gold": DECIDE, "look": LOOK}.get(at) not in can:
        raise unknown()
    desk = visit.opened()
    lab = visit.lab
    info = desk.store.project()
    if at == "pairs":
        desk.enter(visit.name, 0, archived=row.state == values.ARCHIVED)
    elif info.task != "extract" and row.state == values.OPEN:
        desk.enter(info.gold, 0)
    role = names.ANNOTATOR if at == "pairs" else names.ADJUDICATOR
    visitor = names.Visitor(visit.name, role)
    answer = answers.project_answer(desk.store, visitor, desk.opening.progress)
    box = f"alignkit:{lab.key}:{row.key}:{visit.name}{':adjudicator' * (at == 'gold')}"
    shown = role if at != "look" else visit.role.role
    return {**answer, "name": row.name, "key": lab.key, "box": box, "role": shown}


def guidelines_page(visit: LabVisit) -> str:
    """Return the guidelines of a project as a page."""
    path = visit.server.guidelines_file(visit.project.key)
    with taking(_rendering, _PATIENCE):
        return _rendered(path, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(50)
def _rendered(path: Path, changed: int) -> str:
    return render_guidelines(path if changed else None)


ENTRIES = [
    Entry("GET", "projects", OWN, projects, gives={"projects": list[bodies.ProjectCard]}),
    Entry("GET", "projects/{slug}", MEMBER, project, gives=bodies.ProjectDetail),
    Entry(
        "PATCH",
        "projects/{slug}",
        MANAGE,
        change_project,
        bodies.ChangeProject,
        bodies.ProjectCard,
        sealed=True,
        archived=True,
    ),
    Entry(
        "DELETE",
        "projects/{slug}",
        MANAGE,
        delete_project,
        bodies.DeleteProject,
        status=204,
        sealed=True,
        proved=True,
        archived=True,
    ),
    Entry("GET", "projects/{slug}/project", MEMBER, start),
]
