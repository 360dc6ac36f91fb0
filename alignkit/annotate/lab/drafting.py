"""Routes of drafts: uploaded files, and the projects that are made of them."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from alignkit.annotate.lab import bodies, listing, values
from alignkit.annotate.lab.drafts import Drafts
from alignkit.annotate.lab.routes import CREATE, MANAGE, OWN, LabEntry, LabVisit, unknown
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.routing import Routes
from alignkit.annotate.server.security import RefusedError
from alignkit.errors import AlignkitError

_PATIENCE = 30.0  # seconds for the next bytes of a file
_SOON = 10.0  # seconds after which a file must come at a rate
_RATE = 10_000  # bytes a second, on average
_PIECE = 1 << 20  # bytes that are written at once
_DRAFT = "drafts/{id}"
_FILE = "drafts/{id}/files/{n}"
_ALSO = (413, 423, 507)  # statuses of drafts: too large, of an archived project, no space
ROUTES = Routes(LabEntry)
_used: set[str] = set()
_lock = threading.Lock()


def _check(visit: LabVisit, slug: str) -> None:
    """Refuse drafts to all but those who may create projects, or import into this one."""
    if slug:
        visit.server.enter(visit, MANAGE, slug, changes=visit.request.method != "GET")
    elif not visit.creates:
        raise unknown()


def _drafts(visit: LabVisit) -> Drafts:
    """Return the drafts of the lab."""
    drafts: Drafts = visit.server.drafts
    return drafts


def _id(visit: LabVisit) -> str:
    """Return the draft of the path, if it is theirs, and they may still use it."""
    id = visit.part("id")
    draft = _drafts(visit).get(visit.name, id)
    _check(visit, draft.project)
    return id


@contextmanager
def alone(id: str) -> Iterator[None]:
    """Use a draft for a project or an import, while no other request does."""
    with _lock:
        if id in _used:
            raise RefusedError(409, "This draft is in use. Wait until that is done.", error="busy")
        _used.add(id)
    try:
        yield
    finally:
        _used.discard(id)


@ROUTES.add("GET", "drafts", OWN, also=_ALSO)
def drafts(visit: LabVisit) -> bodies.DraftList:
    """Return one's drafts."""
    own = _drafts(visit).drafts(visit.name)
    return bodies.DraftList([each for each in own if visit.person.project in ("", each.project)])


@ROUTES.add("POST", "drafts", OWN, status=201, also=_ALSO)
def new_draft(visit: LabVisit, sent: bodies.NewDraft) -> bodies.Draft:
    """Make an empty draft."""
    _check(visit, sent.project)
    return _drafts(visit).create(visit.name, sent.project)


@ROUTES.add("GET", _DRAFT, OWN, also=_ALSO)
def draft(visit: LabVisit) -> bodies.Draft:
    """Return a draft; its files are read again if that was interrupted."""
    return _drafts(visit).get(visit.name, _id(visit))


@ROUTES.add("PATCH", _DRAFT, OWN, also=_ALSO)
def change_draft(visit: LabVisit, sent: bodies.ChangeDraft) -> bodies.Draft:
    """Change the task, what files are, options, and choices for findings."""
    return _drafts(visit).change(visit.name, _id(visit), sent)


@ROUTES.add("DELETE", _DRAFT, OWN, also=_ALSO)
def remove_draft(visit: LabVisit) -> None:
    """Remove a draft with its files."""
    _drafts(visit).remove(visit.name, _id(visit))


@ROUTES.add("GET", f"{_DRAFT}/preview/{{k}}", OWN, also=_ALSO)
def preview(visit: LabVisit) -> bodies.Preview:
    """Return a pair as it would be in the project."""
    return _drafts(visit).preview(visit.name, _id(visit), visit.k)


@ROUTES.add("POST", f"{_DRAFT}/files", OWN, status=201, also=_ALSO)
def new_file(visit: LabVisit, sent: bodies.NewFile) -> bodies.FileNumber:
    """Announce a file."""
    return bodies.FileNumber(_drafts(visit).add(visit.name, _id(visit), sent.name, sent.size))


@ROUTES.add("DELETE", _FILE, OWN, also=_ALSO)
def remove_file(visit: LabVisit) -> bodies.Draft:
    """Remove a file from a draft."""
    return _drafts(visit).remove_file(visit.name, _id(visit), visit.k)


@ROUTES.add("PUT", _FILE, OWN, status=204, also=_ALSO, streams=True)
async def put_file(visit: LabVisit) -> Response:
    """Store the bytes of a file as they come."""
    request = visit.request
    if request.headers.get("content-type", "").partition(";")[0] != "application/octet-stream":
        raise RefusedError(415, "expected a body of Content-Type application/octet-stream")
    id = await run_in_threadpool(_id, visit)
    n = visit.k
    with visit.server.drafts.receive(visit.name, id, n) as write:
        async for piece in _pieces(request):
            await run_in_threadpool(write, piece)
    return Response(status_code=204)


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield the body in large pieces; refuse one that is too slow."""
    start = time.monotonic()
    count = 0
    piece = bytearray()
    stream = request.stream()
    part: bytes | None = b""
    try:
        while part is not None:
            spent = time.monotonic() - start
            left = max(_SOON, count / _RATE) - spent
            with anyio.fail_after(min(_PATIENCE, max(left, 0.0))):
                part = await anext(stream, None)
            piece += part or b""
            count += len(part or b"")
            if piece and (part is None or len(piece) >= _PIECE):
                yield bytes(piece)
                piece.clear()
    except TimeoutError:
        raise RefusedError(408, "The file came too slowly. Add it again.") from None
    except ClientDisconnect:
        raise RefusedError(400, "The file did not come completely.") from None


@ROUTES.add("POST", "projects", CREATE, status=202, also=_ALSO)
def new_project(visit: LabVisit, sent: bodies.NewProject) -> bodies.ProjectCard:
    """Begin to make a project of a draft; it is there when its state is not making any more."""
    lab = visit.lab
    server = visit.server
    draft = server.drafts.get(visit.name, sent.draft)
    if draft.etag != sent.etag or not draft.ready:
        raise RefusedError(409, "The draft was changed, or is not ready.", error="changed")
    if draft.project:
        raise RefusedError(422, "This draft is for an import.", field="draft")
    if sent.suggestions.kind == "encoder" and server.encoder is None:
        raise RefusedError(422, "This server has no encoder.", field="suggestions")
    with ExitStack() as undo:
        undo.enter_context(alone(sent.draft))
        row = lab.projects.make(sent.name, sent.task, draft.languages, visit.actor, slug=sent.slug)
        held = undo.pop_all()
    threading.Thread(target=_make, args=[visit, sent, row.key, held], daemon=True).start()
    return listing.card(visit, row, values.ProjectRole(values.OWNER, False))


def _make(visit: LabVisit, sent: bodies.NewProject, key: str, held: ExitStack) -> None:
    """Make a project; if that fails, the draft says why."""
    lab = visit.lab
    server = visit.server
    with held:
        try:
            place = lab.project_place(key)
            model = str(lab.models / key)
            server.drafts.make(visit.name, sent, place, model, server.encoder)
            server.write_guidelines(key, sent.guidelines)
            lab.projects.opened(key, visit.actor)
        except (AlignkitError, RefusedError, OSError) as problem:
            if not isinstance(problem, ProjectError):
                server.note(f"a project was not made: {problem}")
            server.remove(key)
