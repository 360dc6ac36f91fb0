"""Answer the page: who may ask, the routes, and what each returns."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from alignkit.annotate.errors import BadEvent
from alignkit.annotate.log.events import decode_request
from alignkit.annotate.server.answers import pair_answer, project_answer
from alignkit.annotate.server.assets import load_assets
from alignkit.annotate.server.opening import Opened, Opening
from alignkit.annotate.server.parameters import number, pair_number, patience
from alignkit.annotate.server.replies import HANDLERS, RefusedError, json_reply
from alignkit.annotate.server.security import Entrance, Guard, cookie_name, read_json
from alignkit.errors import AlignkitError, UnknownNameError

if TYPE_CHECKING:
    from alignkit.annotate.server.downloads import Download
    from alignkit.annotate.store import Store

__all__ = ["AnnotationServer"]

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]

_MOST_HELD = 10.0  # seconds that a request waits for the project to be open
_HALF = "this page lacks the second secret of its session (header X-CSRF-Token)"
_STRANGER = "open the URL that `alignkit annotate` printed last in this browser"


class _Token(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class AnnotationServer:
    """Answer the page of one project for one annotator.

    Parameters
    ----------
    opening
        The project, which may still be in the making.
    entrance
        Holds the token of the URL.
    hosts
        What may stand in the header Host.
    guidelines
        Returns the guidelines as HTML.
    """

    def __init__(
        self,
        opening: Opening,
        entrance: Entrance,
        hosts: frozenset[str],
        guidelines: Callable[[], str],
    ) -> None:
        self._opening, self._entrance = opening, entrance
        self._assets = load_assets()
        self._guidelines = guidelines
        self._key = ""  # of the project, once it is open
        app = Starlette(routes=self.routes(), exception_handlers=HANDLERS)
        app.router.redirect_slashes = False
        self.app = Guard(app, hosts)

    def routes(self) -> list[Route]:
        """Return what is answered, and by which method."""
        table: dict[tuple[str, str], Endpoint] = {
            ("GET", "/"): self._index,
            ("GET", "/page/{name}"): self._asset,
            ("GET", "/favicon.ico"): self._icon,
            ("GET", "/guidelines"): self._guide,
            ("POST", "/enter"): self._enter,
            ("POST", "/logout"): self._logout,
            ("GET", "/api/project"): self._project,
            ("GET", "/api/queue"): self._queue,
            ("GET", "/api/find"): self._find,
            ("GET", "/api/changes"): self._changes,
            ("GET", "/api/export"): self._export,
            ("GET", "/api/pairs/{k}"): self._pair,
            ("GET", "/api/pairs/{k}/history"): self._history,
            ("POST", "/api/pairs/{k}/events"): self._events,
        }
        return [Route(path, answer, methods=[way]) for (way, path), answer in table.items()]

    # who asks

    async def _open(self, request: Request) -> Opened:
        """Wait a little for the project; 503 tells that it is still being made."""
        until = time.monotonic() + patience(request, _MOST_HELD)
        opening = self._opening
        while opening.opened is None:
            if opening.problem is not None or opening.stopping or time.monotonic() >= until:
                raise RefusedError(503, "the project is not open yet; try again")
            await anyio.sleep(0.02)
        return opening.opened

    async def _session(self, request: Request) -> tuple[Opened, str]:
        """Return the project and the cookie, if the request has both secrets; else 401 or 403."""
        opened, cookie = await self._visit(request)
        if not opened.desk.fits(cookie, request.headers.get("x-csrf-token", "")):
            raise RefusedError(403, f"{_HALF}; {_STRANGER}")
        return opened, cookie

    async def _store(self, request: Request) -> Store:
        """Return the store, if the request has both secrets."""
        opened, _ = await self._session(request)
        return opened.store

    async def _visit(self, request: Request) -> tuple[Opened, str]:
        """Return the project and the cookie; of a request that may lack the other secret."""
        opened = await self._open(request)
        cookie = request.cookies.get(await self._cookie(request, opened), "")
        if opened.desk.annotator(cookie) != self._opening.annotator:
            raise RefusedError(401, _STRANGER)
        return opened, cookie

    async def _cookie(self, request: Request, opened: Opened) -> str:
        if not self._key:
            self._key = (await run_in_threadpool(opened.store.project)).key
        return cookie_name(self._key, request.scope["server"][1])

    async def _enter(self, request: Request) -> Response:
        body = _decoded(await read_json(request), _Token)
        if not self._entrance.fits(body.token):
            raise RefusedError(401, f"this URL was used, or is of another start; {_STRANGER}")
        try:
            opened = await self._open(request)
        except RefusedError:
            progress = self._opening.progress
            if progress is None:
                raise
            raise RefusedError(503, progress.text, share=progress.share) from None
        if not self._entrance.use(body.token):  # somebody was quicker
            raise RefusedError(401, f"this URL was used; {_STRANGER}")
        cookie, csrf = await run_in_threadpool(opened.desk.admit, self._opening.annotator)
        name = await self._cookie(request, opened)
        reply = json_reply({"key": self._key, "csrf": csrf})
        reply.set_cookie(name, cookie, path="/", httponly=True, samesite="strict")
        return reply

    async def _logout(self, request: Request) -> Response:
        opened, cookie = await self._session(request)
        await run_in_threadpool(opened.desk.dismiss, cookie)
        name = await self._cookie(request, opened)
        reply = json_reply({})
        reply.delete_cookie(name, path="/", httponly=True, samesite="strict")
        return reply

    # the page's own files

    async def _index(self, request: Request) -> Response:
        return self._file(request, "index.html")

    async def _asset(self, request: Request) -> Response:
        return self._file(request, request.path_params["name"])

    def _file(self, request: Request, name: str) -> Response:
        asset = self._assets.get(name)
        if asset is None:
            raise RefusedError(404, "there is no such file")
        headers = {"ETag": asset.tag, "Cache-Control": "no-cache", "Content-Type": asset.kind}
        if request.headers.get("if-none-match") == asset.tag:
            return Response(status_code=304, headers=headers)
        return Response(asset.body, headers=headers)

    async def _icon(self, _: Request) -> Response:
        return Response(status_code=204)

    async def _guide(self, request: Request) -> Response:
        await self._visit(request)  # a plain link has no header; it tells nothing of the project
        page = await run_in_threadpool(self._guidelines)
        return Response(page, media_type="text/html", headers={"Cache-Control": "no-cache"})

    # the project and its pairs

    async def _project(self, request: Request) -> Response:
        store = await self._store(request)
        annotator, progress = self._opening.annotator, self._opening.progress
        return json_reply(await run_in_threadpool(project_answer, store, annotator, progress))

    async def _queue(self, request: Request) -> Response:
        store = await self._store(request)
        after, limit = number(request, "after", 0), number(request, "limit", 200)
        rows = store.queue
        who = self._opening.annotator
        return json_reply(await run_in_threadpool(rows, who, after=after, limit=limit))

    async def _find(self, request: Request) -> Response:
        store = await self._store(request)
        text, limit = request.query_params.get("q", ""), number(request, "limit", 50)
        who = self._opening.annotator
        return json_reply(await run_in_threadpool(store.find, who, text, limit=limit))

    async def _changes(self, request: Request) -> Response:
        store = await self._store(request)
        after = number(request, "after", 0)
        found = await run_in_threadpool(store.changes, self._opening.annotator, after)
        return Response(status_code=204) if found is None else json_reply(found)

    async def _pair(self, request: Request) -> Response:
        store = await self._store(request)
        k = pair_number(request)
        if "prefetch" not in request.query_params:
            await run_in_threadpool(self._opening.take, k)
        preparing = self._opening.progress is not None
        view = await run_in_threadpool(store.pair, k, self._opening.annotator)
        return json_reply(pair_answer(view, preparing=preparing))

    async def _history(self, request: Request) -> Response:
        store = await self._store(request)
        who = self._opening.annotator
        return json_reply(
            {"events": await run_in_threadpool(store.history, pair_number(request), who)}
        )

    async def _events(self, request: Request) -> Response:
        store = await self._store(request)
        k = pair_number(request)
        body = await read_json(request)

        def append() -> Response:
            try:
                sent = decode_request(body)
            except BadEvent as error:
                raise RefusedError(400, str(error)) from None
            who = self._opening.annotator
            answer, new = store.append(k, who, base=sent.base, rev=sent.rev, events=sent.events)
            return json_reply(answer, 201 if new else 200)

        return await run_in_threadpool(append)

    async def _export(self, request: Request) -> Response:
        from alignkit.annotate.server.downloads import download

        store = await self._store(request)
        format = request.query_params.get("to", "")
        try:
            made = await run_in_threadpool(download, store, self._opening.annotator, format)
        except UnknownNameError as error:
            raise RefusedError(400, str(error)) from None
        except AlignkitError as error:
            raise RefusedError(422, str(error)) from None
        headers = {"Content-Disposition": f'attachment; filename="{made.name}"'}
        return StreamingResponse(_pieces(made), media_type=made.kind, headers=headers)


async def _pieces(made: Download) -> AsyncIterator[bytes]:
    with made.file:
        while piece := await run_in_threadpool(made.file.read, 1 << 16):
            yield piece


def _decoded(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(400, f"the request is not as expected: {error}") from None
