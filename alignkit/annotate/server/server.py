"""The routes of the annotation server: who may ask, and what is returned."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from alignkit.annotate.project import names
from alignkit.annotate.server import security
from alignkit.annotate.server.assets import TASK_PAGES, Assets
from alignkit.annotate.server.desk import ANNOTATE, DOES, ROUTES, Desk, Pending, Visit
from alignkit.annotate.server.invitations import SECRET, Invitation
from alignkit.annotate.server.opening import Opening, OpenProject
from alignkit.annotate.server.routing import Entry, decoded
from alignkit.annotate.server.security import RefusedError
from alignkit.annotate.server.sessions import LASTS, admit

Endpoint = Callable[[Request], Awaitable[Response]]

_WAIT = re.compile(r"wait=([0-9]{1,3})", re.ASCII)  # of the header Prefer (RFC 7240)
_OWN_EXPORT = "api/export"
_MOST_HELD = 10.0  # seconds that a request waits for the project to be open
_HALF = "this page lacks the second secret of its session (header X-CSRF-Token)"
_STRANGER = "open the URL that `alignkit annotate` printed last in this browser"


class _Token(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class AnnotationServer:
    """The replies to the pages of one project, for all visitors."""

    def __init__(
        self,
        opening: Opening,
        entrance: security.Entrance,
        hosts: frozenset[str],
        guidelines: Callable[[], str],
        *,
        hide_systems: bool = False,
    ) -> None:
        self._opening = opening
        self._entrance = entrance
        self._desk = Desk(opening, hide_systems=hide_systems)
        self._assets = Assets()
        self._guidelines = guidelines
        app = Starlette(routes=self.routes(), exception_handlers=security.HANDLERS)
        app.router.redirect_slashes = False
        self.app = security.Guard(app, hosts)

    def routes(self) -> list[Route]:
        """Return the routes, with what their visitors must be able to do."""
        guide = Entry("GET", "guidelines", "", self._guide)
        routes = [
            *(Route(path, self._page) for path in names.PAGES),
            Route("/page/{name}", self._file),
            Route("/favicon.ico", self._icon),
            Route("/enter", self._enter, methods=["POST"]),
            Route("/invite", self._invite, methods=["POST"]),
            Route("/guidelines", self._for(guide, linked=True)),
        ]
        entries = [
            Entry("POST", "logout", "", self._logout),
            Entry("GET", "api/project", "", Desk.project),
            Entry("GET", _OWN_EXPORT, ANNOTATE, Desk.export),
            *(replace(entry, path=f"api/{entry.path}") for entry in ROUTES.entries),
        ]
        for entry in entries:
            endpoint = self._for(entry)
            routes.append(Route(f"/{entry.path}", endpoint, methods=[entry.method]))
        return routes

    # Who asks

    def _for(self, entry: Entry, *, linked: bool = False) -> Endpoint:
        """Return an endpoint that answers in a thread, with the body if wanted."""

        async def endpoint(request: Request) -> Response:
            visit = await self._visit(request, entry, linked=linked)
            body = b""
            if entry.takes is not None:
                body = await security.read_json(request)
            arguments = entry.arguments(request, body)
            value = await run_in_threadpool(entry.answer, self._desk, visit, **arguments)
            if isinstance(value, Pending):
                value = await value.answer()
            return security.reply_of(value)

        return endpoint

    async def _visit(self, request: Request, entry: Entry, *, linked: bool) -> Visit:
        """Check session, role and pair; `linked` pages need no header."""
        opened = await self._open(request)
        cookie = request.cookies.get(_cookie_name(request, opened), "")
        visitor = opened.sessions.visitor(cookie)
        if visitor is None:
            raise RefusedError(401, _STRANGER)
        if not linked and not opened.sessions.fits(cookie, request.headers.get("x-csrf-token", "")):
            raise RefusedError(403, f"{_HALF}; {_STRANGER}")
        if entry.may and entry.may not in DOES[visitor.role]:
            role = next(role for role, abilities in DOES.items() if entry.may in abilities)
            raise RefusedError(403, f"this is for the {role}; you are the {visitor.role}")
        if entry.may == ANNOTATE and entry.path != _OWN_EXPORT:
            await run_in_threadpool(self._desk.check_trained, visitor.name)
        decides = visitor.role == names.ADJUDICATOR
        visit = Visit(request, self._desk, visitor.name, decides=decides)
        writes = entry.takes is not None  # who writes is checked in the transaction
        if visit.k and not decides and not writes:
            await run_in_threadpool(opened.store.check_own, visit.k, visitor.name)
        return visit

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
        body = decoded(await security.read_json(request), _Token)
        if not self._entrance.fits(body.token):
            raise RefusedError(401, f"this URL was used, or is from an earlier start; {_STRANGER}")
        opened = await self._open(request, progress=True)
        visitor = self._entrance.use(body.token)
        if visitor is None:  # somebody was quicker
            raise RefusedError(401, f"this URL was used; {_STRANGER}")
        cookie, csrf = await run_in_threadpool(opened.sessions.admit, visitor)
        name = _cookie_name(request, opened)
        reply = security.json_reply({"key": opened.key, "csrf": csrf})
        reply.set_cookie(name, cookie, LASTS, path="/", httponly=True, samesite="strict")
        return reply

    async def _invite(self, request: Request) -> Response:
        """Answer a command that another person on this machine has started; see `invited`."""
        shown = request.headers.get(SECRET, "")
        if not self._entrance.may_invite(shown) or "origin" in request.headers:
            raise RefusedError(403, "only `alignkit annotate` may request this")
        body = decoded(await security.read_json(request), Invitation)
        if body.role not in names.ROLES:
            raise RefusedError(400, f"unknown role {body.role[:40]!r}")
        opened = await self._open(request, progress=True)
        visitor = names.Visitor(body.name, body.role)
        try:
            await run_in_threadpool(admit, opened.store, visitor, body.gold, **body.rules)
        except names.ProjectError as error:
            raise RefusedError(422, str(error)) from None
        return security.json_reply(
            {"path": names.page_of(visitor), "token": self._entrance.invite(visitor)}
        )

    def _logout(self, _: Desk, visit: Visit) -> Response:
        opened = self._opening.opened
        assert opened is not None
        name = _cookie_name(visit.request, opened)
        opened.sessions.dismiss(visit.request.cookies[name])
        reply = security.json_reply({})
        reply.delete_cookie(name, path="/", httponly=True, samesite="strict")
        return reply

    # The page's own files

    async def _page(self, request: Request) -> Response:
        page = request.url.path
        task = self._opening.task
        if page == "/" or (page == "/adjudicate" and task == "judge"):
            return self._assets.reply(request, TASK_PAGES[task])
        return self._assets.reply(request, f"{page[1:]}.html")

    async def _file(self, request: Request) -> Response:
        return self._assets.reply(request, request.path_params["name"])

    async def _icon(self, _: Request) -> Response:
        return Response(status_code=204)

    def _guide(self, _: Desk, __: Visit) -> Response:
        page = self._guidelines()
        return Response(page, media_type="text/html", headers={"Cache-Control": "no-cache"})


def _cookie_name(request: Request, opened: OpenProject) -> str:
    """Return the name of the cookie; it has the port, as ports of a host share cookies."""
    named = f"{opened.key}:{request.scope['server'][1]}"
    return f"alignkit-{hashlib.sha256(named.encode()).hexdigest()[:16]}"
