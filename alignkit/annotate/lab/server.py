"""The server of a lab: its pages, and the one function that all its routes pass."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from logging import getLogger
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from alignkit.annotate.adjudication.voters import all_in, voters, were_all_in
from alignkit.annotate.lab import (
    assigning,
    desks,
    drafting,
    drafts,
    listing,
    managing,
    openapi,
    own,
    transfer,
    values,
)
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.routes import (
    ANYBODY,
    CREATE,
    LAB,
    LabEntry,
    LabVisit,
    abilities,
    unknown,
)
from alignkit.annotate.project import names, places, queries
from alignkit.annotate.server import child, desk, routing, security
from alignkit.annotate.server.assets import TASK_PAGES, Assets
from alignkit.annotate.server.desk import ANNOTATE, DECIDE, TRAIN, Pending
from alignkit.annotate.server.security import RefusedError
from alignkit.io.atomic_files import replacing_file

_SHELLS = {
    "": "projects.html",
    "signin": "signin.html",
    "join": "join.html",
    "people": "accounts.html",
    "log": "log.html",
    "account": "account.html",
    "new/{draft}": "new.html",
}
_TABS = {
    "dashboard": "dashboard.html",
    "people": "people.html",
    "assign": "assign.html",
    "export": "export.html",
    "settings": "settings.html",
}
_RATE = 40.0  # requests a second of a session
_BURST = 120.0  # requests of a session at once
_MOST_SESSIONS = 10_000  # whose requests are counted
_AT_ONCE = 10  # requests of an account that are worked on
_STATUS = {
    "wrong": 401,
    "forbidden": 403,
    "unknown": 404,
    "changed": 409,
    "last": 409,
    "state": 409,
    "taken": 409,
    "other": 409,
    "gone": 410,
    "invalid": 422,
    "busy": 429,
    "tries": 429,
}


class Address(NamedTuple):
    """Where people reach the lab: the scheme and host of its URL, and the path of all pages."""

    scheme: str
    host: str
    root: str = "/"

    @classmethod
    def of(cls, url: str) -> Address:
        """Return the address of a URL such as https://lab.example/align."""
        parts = urlsplit(url)
        return cls(parts.scheme, parts.netloc.lower(), f"{parts.path.rstrip('/')}/")

    @property
    def secure(self) -> bool:
        """Whether people connect by https."""
        return self.scheme == "https"

    @property
    def origin(self) -> str:
        """The origin of all pages."""
        return f"{self.scheme}://{self.host}"

    @property
    def url(self) -> str:
        """The URL of the first page."""
        return self.origin + self.root


class LabServer:
    """The answers of a lab, for everybody."""

    def __init__(
        self,
        lab: Lab,
        address: Address,
        *,
        proxies: Iterable[str] = (),
        encoder: child.LabEncoder | None = None,
        note: child.Note = lambda text: None,
    ) -> None:
        self.lab = lab
        self.address = address
        self.encoder = encoder
        self.drafts = drafts.Drafts(lab.drafts)
        self.note = note
        self.desks = desks.Desks(lab, note, self.drafts.sweep)
        self.described: dict[str, Any] = {}
        prefix = "__Host-" if address.secure else ""  # browsers then keep it to this host
        self.cookie = f"{prefix}alignkit-{lab.key}"
        self._assets = Assets(address.root)
        # by session: how many requests it has left, and when that was counted
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._working: Counter[str] = Counter()  # requests by account; "" has nobody's
        lab.projects.check_free = self._check_free
        for row in lab.projects.leftovers():
            self.remove(row.key)
        # the first are looked at first, and pages of annotators ask most
        self.entries = [_of_desk(entry) for entry in desk.ROUTES.entries]
        for part in (own, managing, assigning, listing, transfer, drafting, openapi):
            self.entries += part.ROUTES.entries
        app = Starlette(
            routes=self._routes(), exception_handlers={**security.HANDLERS, **_HANDLERS}
        )
        app.router.redirect_slashes = False
        guarded: ASGIApp = security.Guard(
            app,
            frozenset({address.host}),
            opens=self._is_page,
            secure=address.secure,
            origins=frozenset({address.origin}),
        )
        self.app = security.Proxied(guarded, frozenset(proxies)) if proxies else guarded

    def close(self) -> None:
        """Close all projects and stop reading drafts; the lab stays open."""
        self.drafts.close()
        self.desks.stop()

    def guidelines_file(self, key: str) -> Path:
        """Return the file of a project's own guidelines."""
        return Path(self.lab.folder) / "guidelines" / f"{key}.md"

    def guidelines(self, key: str) -> str:
        """Return a project's own guidelines; empty where those of alignkit hold."""
        path = self.guidelines_file(key)
        if path.exists():
            return path.read_text(encoding="utf-8")
        return ""

    def write_guidelines(self, key: str, text: str) -> None:
        """Keep the guidelines of a project, in Markdown."""
        path = self.guidelines_file(key)
        if not text.strip():
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with replacing_file(str(path)) as beside:
            Path(beside).write_text(text, encoding="utf-8")

    def remove(self, key: str) -> None:
        """Remove what is left of a project that was deleted, or never made completely."""
        places.remove_project(self.lab.project_place(key))
        for path in (self.guidelines_file(key), self.lab.models / key):
            path.unlink(missing_ok=True)
        self.lab.projects.clear(key)

    def _check_free(self, key: str, name: str) -> None:
        """Refuse a name that stands for something else in a project."""
        row = next((row for row in self.lab.projects.rows() if row.key == key), None)
        if row is None or row.state == values.MAKING:
            return
        with self.desks.get(row).store.reading() as conn:
            try:
                names.check_annotator(name, queries.gold_name(conn), queries.sources(conn))
            except names.ProjectError as problem:
                raise values.LabError(str(problem), "taken", "name") from None

    # Routes

    def _routes(self) -> list[Route]:
        root = self.address.root
        pages = [
            Route(f"{root}page/{{name}}", self._file),
            Route(f"{root}p/{{slug}}/", self._first_page),
            Route(f"{root}p/{{slug}}/guidelines", self._guidelines),
            Route(f"{root}p/{{slug}}/{{page}}", self._tab),
        ]
        for path, name in _SHELLS.items():
            pages.append(Route(root + path, partial(self._shell, name)))
        api = []
        for entry in self.entries:
            path = f"{root}api/v1/{entry.path}"
            api.append(Route(path, self._endpoint(entry), methods=[entry.method]))
        return [*api, *pages]

    def _is_page(self, path: str) -> bool:
        root = self.address.root
        return path.startswith(root) and not path.removeprefix(root).startswith(("api/", "page/"))

    async def _shell(self, name: str, request: Request) -> Response:
        return self._assets.reply(request, name)

    async def _file(self, request: Request) -> Response:
        return self._assets.reply(request, request.path_params["name"])

    async def _tab(self, request: Request) -> Response:
        """Send the shell of a project's page: the same for everybody, for any name of a project."""
        slug = request.path_params["slug"]
        page = request.path_params["page"]
        if not values.SLUG.fullmatch(slug):
            raise unknown()
        if page in TASK_PAGES:
            name = TASK_PAGES[page]
        elif page == "adjudicate":
            # of a project without a session nothing is told, so only its visitors get the other
            judged = self._member(request, slug) and self.lab.projects.get(slug).task == "judge"
            if judged:
                name = TASK_PAGES["judge"]
            else:
                name = "adjudicate.html"
        else:
            name = _TABS.get(page, "")
        return self._assets.reply(request, name, slug)

    def _member(self, request: Request, slug: str) -> values.ProjectRole | None:
        """Return the role in a project of who is signed in here; None without one."""
        session = self.lab.sessions.visitor(request.cookies.get(self.cookie, ""))
        if not isinstance(session, values.LabSession):
            return None
        return self.lab.projects.role(session.account, slug)

    async def _first_page(self, request: Request) -> Response:
        """Go to the page of one's role."""
        slug = request.path_params["slug"]
        root = self.address.root
        if (role := self._member(request, slug)) is None:
            known = self.lab.sessions.visitor(request.cookies.get(self.cookie, ""))
            return RedirectResponse(root if known else f"{root}signin?to={root}p/{slug}/")
        task = self.lab.projects.get(slug).task
        pages = {values.ANNOTATOR: task, values.ADJUDICATOR: "adjudicate"}
        return RedirectResponse(f"{root}p/{slug}/{pages.get(role.role, 'dashboard')}")

    async def _guidelines(self, request: Request) -> Response:
        """Send the guidelines: a page that is opened by a link, which has no header."""
        visit = self._visitor(request, linked=True)
        self._slow_down(visit.person.id)
        self.enter(visit, "member", request.path_params["slug"], changes=False)
        with self._counted(visit):
            page = await run_in_threadpool(listing.guidelines_page, visit)
        page = page.replace('="/page/', f'="{self.address.root}page/')
        return Response(page, media_type="text/html", headers={"Cache-Control": "no-cache"})

    # Who asks

    def _endpoint(self, entry: LabEntry) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            visit = self._let_in(entry, request)
            body = b""
            if entry.takes is not None:
                body = await security.read_json(request)
                visit = self._let_in(entry, request, again=True)  # as it is now
            arguments = entry.arguments(request, body)
            answer: Callable[[], Any] = partial(self._answer, entry, visit, arguments)
            key = request.headers.get("idempotency-key")
            if key and entry.keyed:
                answer = partial(visit.answered_once, key, body, entry.secret, answer)
            with self._counted(visit):
                if self._only_writes(entry, visit):
                    value = answer()
                else:
                    value = await run_in_threadpool(answer)
                return await value.answer() if isinstance(value, Pending) else value

        async def streamed(request: Request) -> Response:
            visit = self._let_in(entry, request)
            answer: Any = entry.answer(visit)
            reply: Response = await answer
            return reply

        return streamed if entry.streams else endpoint

    @contextmanager
    def _counted(self, visit: LabVisit) -> Iterator[None]:
        """Leave threads to others than this account."""
        if self._working[visit.name] >= _AT_ONCE and visit.name:
            raise RefusedError(429, "Too many requests at once. Try again in a second.")
        self._working[visit.name] += 1
        try:
            yield
        finally:
            self._working[visit.name] -= 1
            if not self._working[visit.name]:
                del self._working[visit.name]

    def _let_in(self, entry: LabEntry, request: Request, *, again: bool = False) -> LabVisit:
        """Check who asks and what they may do: all routes of the API pass here."""
        if entry.may == ANYBODY:
            visit = LabVisit(self, request, values.LabSession())
            if not again:
                self._slow_down(security.network(visit.address))
            return visit
        visit = self._visitor(request)
        person = visit.person
        if not again:
            self._slow_down(person.id)
        if entry.sealed and person.proved is None:
            raise RefusedError(403, "Tokens cannot do this. Sign in on the page.")
        if person.read_only and entry.method != "GET":
            raise RefusedError(403, "This token can only read.")
        if not entry.of_project:
            owner = person.rank == values.OWNER and not person.project
            if not {LAB: owner, CREATE: visit.creates}.get(entry.may, True):
                raise unknown()
        else:
            changes = entry.method != "GET" and not entry.archived
            self.enter(visit, entry.may, request.path_params["slug"], changes=changes)
        if entry.proved:
            visit.check_proved()
        return visit

    def _visitor(self, request: Request, *, linked: bool = False) -> LabVisit:
        """Return the visit of a session or token; pages send secret and account in headers."""
        bearer = request.headers.get("authorization", "")
        if bearer and not linked:
            kind, _, text = bearer.partition(" ")
            if kind.lower() == "bearer":
                known = self.lab.tokens.visitor(text.strip())
            else:
                known = None
            if known is None:
                raise RefusedError(401, "This token is not valid.", error="token")
            return LabVisit(self, request, known)
        cookie = request.cookies.get(self.cookie, "")
        session = self.lab.sessions.visitor(cookie)
        if session is None:
            raise RefusedError(401, "Sign in.", error="signin")
        if isinstance(session, values.Ended):
            raise _ended(session)
        if not linked:
            # first, for a page of somebody else lacks the secret of this session, too
            drawn_for = unquote(request.headers.get("x-account", ""))
            if drawn_for and drawn_for != session.account:
                text = f"{session.account} signed in here. Sign in as {drawn_for} to go on."
                raise RefusedError(401, text, error="taken")
            if not self.lab.sessions.fits(cookie, request.headers.get("x-csrf-token", "")):
                raise RefusedError(403, "Load this page again.", error="csrf")
        return LabVisit(self, request, session)

    def enter(self, visit: LabVisit, may: str, slug: str, *, changes: bool) -> None:
        """Check the role in a project, and its state."""
        role = self.lab.projects.role(visit.name, slug)
        if visit.person.project not in ("", slug) or role is None or may not in abilities(role):
            raise unknown()
        visit.role = role
        visit.project = self.lab.projects.get(slug)
        visit.lab_owner = role.lab_owner
        if visit.project.state == values.MAKING:
            raise RefusedError(503, "The project is being made.")
        if changes and visit.project.state == values.ARCHIVED:
            raise RefusedError(423, "The project is archived. Your edits are kept in this browser.")

    def _slow_down(self, who: str) -> None:
        """Refuse the requests of a session that come too fast.

        A session has `_BURST` requests; each takes one, and `_RATE` a second come back.
        """
        now = time.monotonic()
        left, counted = self._buckets.pop(who, (_BURST, now))
        left = min(_BURST, left + _RATE * (now - counted))
        self._buckets[who] = max(0.0, left - 1), now
        if len(self._buckets) > _MOST_SESSIONS:
            self._buckets.popitem(last=False)  # of the session that asked longest ago
        if left < 1:
            raise RefusedError(429, "Too many requests. Try again in a second.")

    def _only_writes(self, entry: LabEntry, visit: LabVisit) -> bool:
        """Return whether all that takes time is left to the thread that writes."""
        if not entry.of_desk or entry.may != ANNOTATE or entry.method == "GET" or _decides(visit):
            return False
        return self.desks.know(visit.project.key, visit.name)

    def _answer(
        self, entry: LabEntry, visit: LabVisit, arguments: dict[str, Any]
    ) -> Response | Pending:
        """Answer in a thread: open the project, check the pair."""
        if entry.of_desk:
            opened = visit.opened()
            if entry.may == TRAIN:
                opened.enter(visit.name, 0, archived=visit.project.state == values.ARCHIVED)
            elif entry.may == ANNOTATE:
                opened.check_assigned()
                k = visit.k if entry.method == "GET" else 0  # events are checked with their pair
                opened.enter(visit.name, k, archived=visit.project.state == values.ARCHIVED)
                opened.check_trained(visit.name)
                if entry.method == "POST" and _decides(visit):
                    _keep_vote(visit)
            value = entry.answer(opened, visit, **arguments)
        else:
            value = entry.answer(visit, **arguments)
        if isinstance(value, Pending):
            return value
        return security.reply_of(value, entry.status)


def _decides(visit: LabVisit) -> bool:
    return DECIDE in abilities(visit.role)


def _keep_vote(visit: LabVisit) -> None:
    """Refuse the vote of somebody who can, or could, see the votes of the others: all are done."""
    with visit.store.reading() as conn:
        of_pair = voters(conn, visit.k).get(visit.k, ())
        ready = all_in(of_pair) or were_all_in(conn, visit.k, of_pair)
        if visit.project.task != "extract" and ready:
            raise RefusedError(409, "You have seen the others' votes.")


def _of_desk(entry: routing.Entry) -> LabEntry:
    """Return the route of a project in the lab."""
    path = f"projects/{{slug}}/{entry.path}"
    return LabEntry(
        entry.method,
        path,
        entry.may,
        entry.answer,
        also=entry.also,
        gives=entry.gives,
        of_desk=True,
    )


def _ended(session: values.Ended) -> RefusedError:
    """Return the answer to a session that has ended, which says why."""
    kind = session.why.partition(" ")[0]
    text = {
        "taken": f"{session.why.removeprefix('taken over by ')} signed in here.",
        "closed": "This account was closed.",
    }
    ended = "The session has ended. Sign in again."
    code = kind if kind in text else "signin"
    return RefusedError(401, text.get(kind, ended), error=code)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, values.LabError)
    message = str(error)
    field = {"field": error.field} if error.field else {}
    if error.code == "server":  # what the database says is not for visitors
        getLogger("alignkit").warning("%s", error)
        message = "The server cannot answer now. Nothing was changed. Try again."
    reply = security.refusal(_STATUS.get(error.code, 503), message, error=error.code, **field)
    if error.seconds:
        reply.headers["Retry-After"] = str(error.seconds)
    return reply


_HANDLERS: dict[Any, Any] = {values.LabError: _refused}
