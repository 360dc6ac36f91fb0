"""The routes of the annotation server: who may ask, and what is returned."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from alignkit.annotate.project import names
from alignkit.annotate.project.events import decode_request
from alignkit.annotate.server import answers
from alignkit.annotate.server.opening import Opening, OpenProject
from alignkit.annotate.server.security import (
    HANDLERS,
    Entrance,
    Guard,
    RefusedError,
    cookie_name,
    json_reply,
    read_json,
)
from alignkit.annotate.server.serving import SECRET, Invitation, Invited
from alignkit.annotate.server.sessions import LASTS
from alignkit.errors import AlignkitError, UnknownNameError

if TYPE_CHECKING:
    from alignkit.annotate.adjudication.adjudication_queue import Docket
    from alignkit.annotate.project.store import Store
    from alignkit.annotate.server.answers import Download
    from alignkit.annotate.server.dashboard import Dashboard


T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]
Answer = Callable[["Visit"], object]
"""A reply, or a value that is sent as JSON."""

_PAGES = {"align": "index.html", "judge": "judge.html", "extract": "extract.html"}
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
_PAIR = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_WAIT = re.compile(r"wait=([0-9]{1,3})", re.ASCII)  # of the header Prefer (RFC 7240)
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)
_MOST_HELD = 10.0  # seconds that a request waits for the project to be open
_MOST_SETTLED = 100  # pairs that one request settles
_HALF = "this page lacks the second secret of its session (header X-CSRF-Token)"
_STRANGER = "open the URL that `alignkit annotate` printed last in this browser"


class _Token(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class Visit(NamedTuple):
    """A request that was let in: the project and the visitor."""

    request: Request
    opened: OpenProject
    cookie: str  # of the session
    visitor: names.Visitor
    k: int  # the pair that the path names; 0 for none
    body: bytes = b""  # if the endpoint reads it

    @property
    def store(self) -> Store:
        """The project."""
        return self.opened.store

    @property
    def name(self) -> str:
        """The name of the visitor."""
        return self.visitor.name

    def number(self, name: str, default: int) -> int:
        """Return a number in the query."""
        text = self.request.query_params.get(name)
        if text is None:
            return default
        if not _NUMBER.fullmatch(text):
            raise RefusedError(400, f"{name} is {text[:40]!r}; expected a whole number, 0 or more")
        return int(text)


class AnnotationServer:
    """The replies to the pages of one project, for all visitors."""

    def __init__(
        self,
        opening: Opening,
        entrance: Entrance,
        hosts: frozenset[str],
        guidelines: Callable[[], str],
        *,
        hide_systems: bool = False,
    ) -> None:
        self._opening, self._entrance, self._hide_systems = opening, entrance, hide_systems
        self._assets, self._guidelines = answers.load_assets(), guidelines
        self._docket: Docket | None = None
        self._board: Dashboard | None = None
        self._making = threading.Lock()  # of these two
        app = Starlette(routes=self.routes(), exception_handlers=HANDLERS)
        app.router.redirect_slashes = False
        self.app = Guard(app, hosts)

    def routes(self) -> list[Route]:
        """Return the routes, with the roles that may use them."""
        everybody, annotator, adjudicator = names.ROLES, (names.ANNOTATOR,), (names.ADJUDICATOR,)
        table: dict[tuple[str, str], Endpoint] = {
            ("GET", "/"): self._index,
            ("GET", "/adjudicate"): self._adjudicate,
            ("GET", "/dashboard"): partial(self._file, name="dashboard.html"),
            ("GET", "/page/{name}"): self._file,
            ("GET", "/favicon.ico"): self._icon,
            ("POST", "/enter"): self._enter,
            ("POST", "/invite"): self._invite,
            ("GET", "/guidelines"): self._for(everybody, self._guide, linked=True),
            ("POST", "/logout"): self._for(everybody, self._logout),
            ("GET", "/api/project"): self._for(everybody, self._project),
            ("GET", "/api/changes"): self._for(everybody, self._changes),
            ("GET", "/api/queue"): self._for(annotator, self._queue),
            ("GET", "/api/find"): self._for(annotator, self._find),
            ("GET", "/api/export"): self._for(annotator, self._export),
            ("GET", "/api/pairs/{k}"): self._for(annotator, self._pair),
            ("GET", "/api/pairs/{k}/history"): self._for(
                annotator, lambda visit: {"events": visit.store.history(visit.k, visit.name)}
            ),
            ("POST", "/api/pairs/{k}/events"): self._for(
                annotator, lambda visit: self._store_events(visit, visit.store.append), reads=True
            ),
            ("GET", "/api/progress"): self._for(
                adjudicator, lambda visit: {"annotators": visit.store.progress_of_all()}
            ),
            ("POST", "/api/settle"): self._for(adjudicator, self._settle, reads=True),
            ("GET", "/api/gold"): self._for(adjudicator, self._gold_queue),
            ("GET", "/api/gold/{k}"): self._for(adjudicator, self._gold_pair),
            ("POST", "/api/gold/{k}/events"): self._for(adjudicator, self._gold_events, reads=True),
            ("GET", "/api/agreement"): self._for(adjudicator, self._agreement),
        }
        return [Route(path, answer, methods=[way]) for (way, path), answer in table.items()]

    # Who asks

    def _for(
        self, roles: Sequence[str], answer: Answer, *, linked: bool = False, reads: bool = False
    ) -> Endpoint:
        """Return an endpoint for some roles that answers in a thread, with the body if wanted."""

        async def endpoint(request: Request) -> Response:
            visit = await self._visit(request, roles, linked=linked)
            if reads:
                visit = visit._replace(body=await read_json(request))
            value = await run_in_threadpool(answer, visit)
            return value if isinstance(value, Response) else json_reply(value)

        return endpoint

    async def _visit(self, request: Request, roles: Sequence[str], *, linked: bool) -> Visit:
        """Check session, role and pair; `linked` pages need no header."""
        opened = await self._open(request)
        cookie = request.cookies.get(_cookie_name(request, opened), "")
        visitor = opened.sessions.visitor(cookie)
        if visitor is None:
            raise RefusedError(401, _STRANGER)
        if not linked and not opened.sessions.fits(cookie, request.headers.get("x-csrf-token", "")):
            raise RefusedError(403, f"{_HALF}; {_STRANGER}")
        if visitor.role not in roles:
            raise RefusedError(403, f"this is for the {roles[0]}; you are the {visitor.role}")
        named = request.path_params.get("k")
        if named is not None and not _PAIR.fullmatch(named):
            raise RefusedError(404, f"there is no pair {named[:40]!r}; pairs are numbered from 1")
        k = int(named or 0)
        if k and visitor.role == names.ANNOTATOR and not opened.store.known_own(k, visitor.name):
            await run_in_threadpool(opened.store.check_own, k, visitor.name)
        return Visit(request, opened, cookie, visitor, k)

    async def _open(self, request: Request, *, progress: bool = False) -> OpenProject:
        """Wait a little for the project; answer 503 with the progress while it is being made."""
        wait = _WAIT.search(request.headers.get("prefer", ""))
        until = time.monotonic() + (min(float(wait[1]), _MOST_HELD) if wait else _MOST_HELD)
        opening = self._opening
        while opening.opened is None:
            if opening.problem is not None or opening.stopping or time.monotonic() >= until:
                if progress and opening.progress is not None:
                    raise RefusedError(503, opening.progress.text, share=opening.progress.share)
                raise RefusedError(503, "the project is not open yet; try again")
            await anyio.sleep(0.02)
        return opening.opened

    async def _enter(self, request: Request) -> Response:
        body = _decoded(await read_json(request), _Token)
        if not self._entrance.fits(body.token):
            raise RefusedError(401, f"this URL was used, or is from an earlier start; {_STRANGER}")
        opened = await self._open(request, progress=True)
        visitor = self._entrance.use(body.token)
        if visitor is None:  # somebody was quicker
            raise RefusedError(401, f"this URL was used; {_STRANGER}")
        cookie, csrf = await run_in_threadpool(opened.sessions.admit, visitor)
        name = _cookie_name(request, opened)
        reply = json_reply({"key": opened.key, "csrf": csrf})
        reply.set_cookie(name, cookie, LASTS, path="/", httponly=True, samesite="strict")
        return reply

    async def _invite(self, request: Request) -> Response:
        """Answer a command that another person on this machine has started; see `invited`."""
        from alignkit.annotate.server.sessions import admit

        shown = request.headers.get(SECRET, "")
        if not self._entrance.may_invite(shown) or "origin" in request.headers:
            raise RefusedError(403, "only `alignkit annotate` may request this")
        body = _decoded(await read_json(request), Invitation)
        if body.role not in names.ROLES:
            raise RefusedError(400, f"unknown role {body.role[:40]!r}")
        opened = await self._open(request, progress=True)
        visitor = names.Visitor(body.name, body.role)
        try:
            await run_in_threadpool(admit, opened.store, visitor, body.gold, **body.rules)
        except names.ProjectError as error:
            raise RefusedError(422, str(error)) from None
        return json_reply(Invited(names.page_of(visitor), self._entrance.invite(visitor)))

    def _logout(self, visit: Visit) -> Response:
        visit.opened.sessions.dismiss(visit.cookie)
        name = _cookie_name(visit.request, visit.opened)
        reply = json_reply({})
        reply.delete_cookie(name, path="/", httponly=True, samesite="strict")
        return reply

    # The page's own files

    async def _index(self, request: Request) -> Response:
        return await self._file(request, _PAGES[self._opening.task])

    async def _adjudicate(self, request: Request) -> Response:
        judged = self._opening.task == "judge"
        return await self._file(request, _PAGES["judge"] if judged else "adjudicate.html")

    async def _file(self, request: Request, name: str = "") -> Response:
        asset = self._assets.get(name or request.path_params["name"])
        if asset is None:
            raise RefusedError(404, "there is no such file")
        headers = {"ETag": asset.tag, "Cache-Control": "no-cache", "Content-Type": asset.kind}
        headers["Vary"] = "Accept-Encoding"
        if request.headers.get("if-none-match") == asset.tag:
            return Response(status_code=304, headers=headers)
        if _GZIP.search(request.headers.get("accept-encoding", "")):
            return Response(asset.compressed, headers={**headers, "Content-Encoding": "gzip"})
        return Response(asset.body, headers=headers)

    async def _icon(self, _: Request) -> Response:
        return Response(status_code=204)

    def _guide(self, _: Visit) -> Response:
        page = self._guidelines()
        return Response(page, media_type="text/html", headers={"Cache-Control": "no-cache"})

    # The project and its pairs

    def _project(self, visit: Visit) -> object:
        return answers.project_answer(visit.store, visit.visitor, self._opening.progress)

    def _queue(self, visit: Visit) -> object:
        after, limit = visit.number("after", 0), visit.number("limit", 200)
        return visit.store.queue(visit.name, after=after, limit=limit)

    def _find(self, visit: Visit) -> object:
        text = visit.request.query_params.get("q", "")
        return visit.store.find(visit.name, text, limit=visit.number("limit", 50))

    def _changes(self, visit: Visit) -> object:
        after = visit.number("after", 0)
        if visit.visitor.role == names.ADJUDICATOR:
            from alignkit.annotate.adjudication.gold import gold_changes

            changes: object = gold_changes(visit.store, after)
        else:
            changes = visit.store.changes(visit.name, after)
        return Response(status_code=204) if changes is None else changes

    def _pair(self, visit: Visit) -> object:
        if "prefetch" not in visit.request.query_params:
            self._opening.take(visit.k)
        preparing = self._opening.progress is not None
        learning = self._opening.learning is not None
        view = visit.store.pair(visit.k, visit.name, hide_systems=self._hide_systems)
        return answers.pair_answer(view, preparing=preparing, learning=learning)

    def _store_events(self, visit: Visit, append: Callable[..., tuple[Any, bool]]) -> Response:
        """Store the events of the page: 201, or 200 if none of them was new."""
        try:
            sent = decode_request(visit.body)
        except names.BadEvent as error:
            raise RefusedError(400, str(error)) from None
        answer, new = append(visit.k, visit.name, base=sent.base, rev=sent.rev, events=sent.events)
        if new:
            self._opening.heard(sent.events)
        return json_reply(answer, 201 if new else 200)

    def _export(self, visit: Visit) -> Response:
        format = visit.request.query_params.get("to", "")
        try:
            made = answers.download(visit.store, visit.name, format)
        except UnknownNameError as error:
            raise RefusedError(400, str(error)) from None
        except AlignkitError as error:
            raise RefusedError(422, str(error)) from None
        headers = {"Content-Disposition": f'attachment; filename="{made.name}"'}
        return StreamingResponse(_pieces(made), media_type=made.kind, headers=headers)

    # The gold standard and the dashboard, for adjudicators

    def _pairs_to_decide(self, visit: Visit) -> Docket:
        from alignkit.annotate.adjudication.adjudication_queue import Docket

        with self._making:
            if self._docket is None:
                self._docket = Docket(visit.store)
        return self._docket

    def _gold_queue(self, visit: Visit) -> object:
        after, limit = visit.number("after", 0), min(visit.number("limit", 200), 1000)
        return self._pairs_to_decide(visit).listed(after, limit)

    def _gold_pair(self, visit: Visit) -> object:
        from alignkit.annotate.adjudication.adjudication_queue import gold_view

        return answers.pair_answer(gold_view(visit.store, visit.k, self._pairs_to_decide(visit)))

    def _gold_events(self, visit: Visit) -> Response:
        from alignkit.annotate.adjudication.gold import decide

        return self._store_events(visit, partial(decide, visit.store))

    def _settle(self, visit: Visit) -> object:
        """Mark as done some of the pairs on which all agree."""
        from alignkit.annotate.adjudication.gold import settle

        agreed = [row.k for row in self._pairs_to_decide(visit).rows() if row.state == "agreed"]
        count = settle(visit.store, agreed[:_MOST_SETTLED], visit.name)
        self._opening.heard()
        return {"settled": count, "left": max(0, len(agreed) - _MOST_SETTLED)}

    def _agreement(self, visit: Visit) -> Response:
        with self._making:
            if self._board is None:
                from alignkit.annotate.server.dashboard import Dashboard  # numba, scipy: a second

                self._board = Dashboard(visit.store, self._opening.learned)
                self._opening.at_end(self._board.stop)
        body, tag = self._board.answer()
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if visit.request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")


def _cookie_name(request: Request, opened: OpenProject) -> str:
    return cookie_name(opened.key, request.scope["server"][1])


async def _pieces(made: Download) -> AsyncIterator[bytes]:
    with made.file:
        while piece := await run_in_threadpool(made.file.read, 1 << 16):
            yield piece


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(400, f"the request has an unexpected form: {error}") from None
