"""Routes of projects: the list, one project and its settings, the first data of its pages."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import structs

from alignkit.annotate.lab import bodies, list_counts, managing, values
from alignkit.annotate.lab.routes import MANAGE, MEMBER, OWN, LabEntry, LabVisit, abilities, unknown
from alignkit.annotate.project import names, queries
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.server import answers
from alignkit.annotate.server.child import LabEncoder, SuggestionPlan
from alignkit.annotate.server.desk import ANNOTATE, DECIDE, LOOK, Desk
from alignkit.annotate.server.guidelines_page import render_guidelines
from alignkit.annotate.server.routing import Routes
from alignkit.annotate.server.security import RefusedError, taking

ROUTES = Routes(LabEntry)
_SOURCES = {
    "trained": "an aligner trained on these pairs",
    "model": "a model file",
    "none": "none",
    names.VOTE: "a vote of systems",
}

_rendering = threading.Lock()  # long guidelines take seconds
_PATIENCE = 3.0  # seconds that a reader of guidelines waits for another


@ROUTES.add("GET", "projects", OWN)
def projects(visit: LabVisit) -> bodies.ProjectList:
    """Return the projects in which one has a role; first those that need one."""
    account = "" if visit.person.rank == values.OWNER else visit.name
    rows = visit.lab.projects.rows(account)
    cards = [card(visit, row, role) for row, role in visit.projects(rows)]
    cards.sort(key=lambda card: card.last or card.made, reverse=True)
    cards.sort(key=lambda card: (card.state == values.ARCHIVED, card.needs is None))
    claims = [] if visit.person.project else visit.lab.claims.of_account(visit.name)
    return bodies.ProjectList(cards, claims)


@ROUTES.add("POST", "me/claims/{slug}", OWN, sealed=True)
def answer_claim(visit: LabVisit, sent: bodies.AnswerClaim) -> None:
    """Say whether the imported work under one's name is one's own; then one has a role."""
    slug = visit.part("slug")
    if visit.lab.claims.answer(slug, sent.mine, visit.actor):
        visit.server.desks.get(visit.lab.projects.get(slug)).enter(visit.name, 0)


def card(visit: LabVisit, row: values.ProjectRow, role: values.ProjectRole) -> bodies.ProjectCard:
    """Return the row of a project in the list of somebody."""
    counts = visit.server.desks.present_counts(row)
    if counts is None:  # not read yet
        counts = list_counts.ListCounts(
            row.n, row.pairs, row.done, decided=None, ready=None, assigned=True, own={}, last=None
        )
        need = None
    else:
        need = _need(visit, row, role, counts)
    can_look = LOOK in abilities(role)
    own_done, own_pairs = counts.own.get(visit.name, (0, 0))
    own = visit.server.desks.own_work(row.key, visit.name)
    return bodies.ProjectCard(
        slug=row.slug,
        name=row.name,
        task=row.task,
        languages=row.languages,
        state=row.state,
        pairs=counts.pairs,
        done=counts.done if can_look else own_done,
        decided=counts.decided if can_look else None,
        mine=(own_done, own_pairs),
        reopened=own.reopened,
        left=own.left,
        hidden=own.hidden,
        trains=own.trains and ANNOTATE in abilities(role),
        role=role.role,
        annotates=role.annotates,
        needs=need,
        annotators=sorted(counts.own) if can_look else [],
        last=values.timestamp(row.last),
        made=values.timestamp(row.made),
        etag=row.etag,
    )


def _need(
    visit: LabVisit,
    row: values.ProjectRow,
    role: values.ProjectRole,
    counts: list_counts.ListCounts,
) -> bodies.Need | None:
    """Return what a project waits for from somebody with this role, if it is open."""
    if row.state != values.OPEN:
        return None
    can = abilities(role)
    done, pairs = counts.own.get(visit.name, (0, 0))
    if MANAGE in can and not counts.assigned:
        return bodies.Need("assign", "nothing is assigned")
    if DECIDE in can and counts.ready:
        return bodies.Need("adjudicate", f"{counts.ready:,} to adjudicate")
    finished = counts.done if row.task == "extract" else counts.decided or 0
    if MANAGE in can and 0 < counts.pairs <= finished:
        return bodies.Need("export", "ready to export")
    if ANNOTATE in can and done < pairs:
        return bodies.Need(row.task, f"{pairs - done:,} to do")
    return None


@ROUTES.add("GET", "projects/{slug}", MEMBER)
def project(visit: LabVisit) -> bodies.ProjectDetail:
    """Return one project; its settings to owners."""
    row = structs.asdict(card(visit, visit.project, visit.role))
    settings = _settings(visit) if MANAGE in abilities(visit.role) else None
    return bodies.ProjectDetail(**row, settings=settings)


def _settings(visit: LabVisit) -> bodies.ProjectSettings:
    """Return the settings of a project, with what its suggestions are and how far they are."""
    desk = visit.opened()
    with desk.store.reading() as conn:
        setting = queries.settings(conn)
    plan = _plan(desk)
    progress = desk.opening.progress
    return bodies.ProjectSettings(
        guidelines=visit.server.guidelines(visit.project.key),
        learning=plan.learning,
        blind=bool(setting.blind),
        majority=bool(setting.majority),
        doubt=setting.doubt,
        gold=setting.gold,
        suggestions=_source(plan),
        training=None if progress is None else (progress.text, progress.share),
    )


def _source(plan: SuggestionPlan) -> str:
    """Return in words where suggestions come from."""
    source = _SOURCES.get(plan.kind, plan.name)
    if plan.encoder:
        source += f", with the encoder {Path(plan.encoder).name}"
    return source


def _plan(desk: Desk) -> SuggestionPlan:
    """Return the plan for the suggestions of a project; none if nothing was ever planned."""
    opened = desk.opening.opened
    plan = None if opened is None else opened.sessions.plan
    return plan or SuggestionPlan("none")


@ROUTES.add("PATCH", "projects/{slug}", MANAGE, sealed=True, archived=True)
def change_project(visit: LabVisit, sent: bodies.ChangeProject) -> bodies.ProjectCard:
    """Rename, archive or reopen a project, or change its settings."""
    row = visit.project
    lab = visit.lab
    changes = managing.given(sent)
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
    """Change the settings of a project; with another plan for suggestions it is opened anew."""
    desk = visit.opened()
    rules = {key: changes[key] for key in ("blind", "majority", "doubt") if key in changes}
    if rules:
        desk.store.settings(Setting(**rules))
    if "guidelines" in changes:
        visit.server.write_guidelines(visit.project.key, changes["guidelines"])
    if "learning" in changes or "suggestions" in changes:
        plan = _plan(desk)
        if "suggestions" in changes:
            plan = _new_plan(visit, changes["suggestions"], learning=plan.learning)
        assert desk.opening.opened is not None
        learning = changes.get("learning", plan.learning)
        desk.opening.opened.sessions.plan = structs.replace(plan, learning=learning)
        visit.server.desks.close(visit.project.key)  # it begins anew with the next request


def _new_plan(visit: LabVisit, kind: str, *, learning: bool) -> SuggestionPlan:
    """Return the plan for suggestions that an owner chose."""
    if kind != "encoder":
        return SuggestionPlan(kind, learning=learning)
    encoder: LabEncoder | None = visit.server.encoder
    if encoder is None:
        raise RefusedError(422, "This server has no encoder.", field="suggestions")
    return encoder.trained(learning=learning)


@ROUTES.add("DELETE", "projects/{slug}", MANAGE, sealed=True, proved=True, archived=True)
def delete_project(visit: LabVisit, sent: bodies.DeleteProject) -> None:
    """Delete an archived project whose name was typed."""
    if sent.name != visit.project.name:
        raise RefusedError(422, "This is not the name of the project.", field="name")
    row = visit.lab.projects.delete(visit.project.slug, visit.actor)
    visit.server.desks.close(row.key)
    visit.server.remove(row.key)


@ROUTES.add("GET", "projects/{slug}/project", MEMBER)
def start(visit: LabVisit, query: bodies.PageQuery) -> answers.ProjectAnswer:
    """Return the first data of a page."""
    at = query.at
    can = abilities(visit.role)
    row = visit.project
    needed = {"pairs": ANNOTATE, "gold": DECIDE, "look": LOOK}
    if needed[at] not in can:
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
    box = f"alignkit:{lab.key}:{row.key}:{visit.name}"
    if at == "gold":
        box += ":adjudicator"
    shown = role if at != "look" else visit.role.role
    return structs.replace(answer, name=row.name, key=lab.key, box=box, role=shown)


def guidelines_page(visit: LabVisit) -> str:
    """Return the guidelines of a project as a page."""
    path = visit.server.guidelines_file(visit.project.key)
    changed = path.stat().st_mtime_ns if path.exists() else 0
    with taking(_rendering, _PATIENCE):
        return _rendered(path, changed)


@lru_cache(50)
def _rendered(path: Path, changed: int) -> str:
    """Return a file as a page; `changed` is when it was changed, 0 if there is none."""
    return render_guidelines(path if changed else None)
