"""Routes of drafts: uploaded files, and the projects that are made of them."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from alignkit.annotate.lab import bodies, values
from alignkit.annotate.lab.drafts import Drafts
from alignkit.annotate.lab.listing import card
from alignkit.annotate.lab.routes import CREATE, MANAGE, OWN, Entry, LabVisit, unknown
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.server.security import RefusedError
from alignkit.errors import AlignkitError

_PATIENCE = 30.0  # seconds for the next bytes of a file
_SOON = 10.0  # seconds after which a file must come at a rate
_RATE = 10_000  # bytes a second, on average
_PIECE = 1 << 20  # bytes that are written at once
_used: set[str] = set()
_lock = threading.Lock()


def _check(visit: LabVisit, slug: str) -> None:
    """Refuse drafts to all but those who may create projects, or import into this one."""
    if slug:
        visit.server.enter(visit, MANAGE, slug, changes=visit.request.method != "GET")
    elif not visit.creates:
        raise unknown()


def _id(visit: LabVisit) -> str:
    """Return the draft of the path, if it is theirs, and they may still use it."""
    id = visit.word("id")
    draft = visit.server.drafts.get(visit.name, id)
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


def drafts(visit: LabVisit) -> object:
    """Return one's drafts."""
    own = visit.server.drafts.drafts(visit.name)
    return {"drafts": [each for each in own if visit.person.project in ("", each.project)]}


def new_draft(visit: LabVisit) -> object:
    """Make an empty draft."""
    _check(visit, visit.sent.project)
    return visit.server.drafts.create(visit.name, visit.sent.project)


def _on(act: Callable[..., object], *more: str) -> Any:
    """Return the answer that does something with the draft of the path, and more of the visit."""

    def answer(visit: LabVisit) -> object:
        id = _id(visit)
        given = [getattr(visit, name) for name in more]
        return act(visit.server.drafts, visit.name, id, *given)

    answer.__doc__ = act.__doc__
    return answer


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


def new_project(visit: LabVisit) -> object:
    """Begin to make a project of a draft; it is there when its state is not making any more."""
    sent = visit.sent
    lab = visit.lab
    server = visit.server
    draft = server.drafts.get(visit.name, sent.draft)
    if draft.etag != sent.etag or not draft.ready:
        raise RefusedError(409, "The draft was changed, or is not ready.", error="changed")
    if draft.project:
        raise RefusedError(422, "This draft is for an import.", field="draft")
    with ExitStack() as undo:
        undo.enter_context(alone(sent.draft))
        row = lab.projects.make(sent.name, sent.task, draft.languages, visit.actor, slug=sent.slug)
        held = undo.pop_all()
    threading.Thread(target=_make, args=[visit, row.key, held], daemon=True).start()
    return card(visit, row, values.ProjectRole(values.OWNER, False))


def _make(visit: LabVisit, key: str, held: ExitStack) -> None:
    """Make a project; if that fails, the draft says why."""
    sent = visit.sent
    lab = visit.lab
    server = visit.server
    with held:
        try:
            place = lab.project_place(key)
            model = str(lab.models / key)
            server.drafts.make(visit.name, sent, place, model)
            server.write_guidelines(key, sent.guidelines)
            lab.projects.opened(key, visit.actor)
        except (AlignkitError, RefusedError, OSError) as problem:
            if not isinstance(problem, ProjectError):
                server.note(f"a project was not made: {problem}")
            server.remove(key)


def _add(drafts: Drafts, account: str, id: str, sent: bodies.NewFile) -> object:
    """Announce a file."""
    return {"n": drafts.add(account, id, sent.name, sent.size)}


_DRAFT = "drafts/{id}"
_FILE = "drafts/{id}/files/{n}"
ENTRIES = [
    Entry("GET", "drafts", OWN, drafts, gives={"drafts": list[bodies.Draft]}),
    Entry("POST", "drafts", OWN, new_draft, bodies.NewDraft, bodies.Draft, 201),
    Entry("GET", _DRAFT, OWN, _on(Drafts.get), gives=bodies.Draft),
    Entry("PATCH", _DRAFT, OWN, _on(Drafts.change, "sent"), bodies.ChangeDraft, bodies.Draft),
    Entry("DELETE", _DRAFT, OWN, _on(Drafts.remove), status=204),
    Entry("POST", f"{_DRAFT}/files", OWN, _on(_add, "sent"), bodies.NewFile, {"n": int}, 201),
    Entry("PUT", _FILE, OWN, put_file, bytes, status=204, streams=True),
    Entry("DELETE", _FILE, OWN, _on(Drafts.remove_file, "k"), gives=bodies.Draft),
    Entry("GET", f"{_DRAFT}/preview/{{k}}", OWN, _on(Drafts.preview, "k"), gives=bodies.Preview),
    Entry("POST", "projects", CREATE, new_project, bodies.NewProject, bodies.ProjectCard, 202),
]
