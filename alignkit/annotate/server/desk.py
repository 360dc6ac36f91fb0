"""The answers of one open project to its pages; who may ask is checked before.

`alignkit annotate` has one desk, a lab has one for each project in use.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import structs
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from alignkit.annotate.project import names, queries
from alignkit.annotate.project.events import Request as EventsOfPage
from alignkit.annotate.project.events import decode_request
from alignkit.annotate.server import answers
from alignkit.annotate.server.opening import Opening
from alignkit.annotate.server.security import RefusedError, json_reply
from alignkit.errors import AlignkitError, UnknownNameError
from alignkit.model.alignment import SIDES

if TYPE_CHECKING:
    from alignkit.annotate.adjudication.adjudication_queue import Docket
    from alignkit.annotate.project.store import Store
    from alignkit.annotate.server.answers import Download
    from alignkit.annotate.server.dashboard import Dashboard

_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
_PAIR = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_MOST_SETTLED = 100  # pairs that one request settles
_NOTHING = "Nothing is assigned to you yet."
_searching = threading.Lock()  # long sentences take half a second

ANNOTATE = "annotate"
DECIDE = "decide"
LOOK = "look"
"""What a role may do: work on its own pairs, make the gold standard, see how far all are."""
DOES = {names.ANNOTATOR: {ANNOTATE}, names.ADJUDICATOR: {DECIDE, LOOK}}
"""What the roles of `alignkit annotate` may do."""


class Visit:
    """A request that was let in."""

    desk: Desk

    def __init__(self, request: Request, desk: Desk | None, name: str, *, decides: bool) -> None:
        self.request = request
        self.name = name
        self.decides = decides
        if desk is not None:
            self.desk = desk
        named = request.path_params.get("k") or request.path_params.get("n")
        if named is not None and not _PAIR.fullmatch(named):
            raise RefusedError(404, f"there is no pair {named[:40]!r}; pairs are numbered from 1")
        self.k = int(named or 0)  # the pair or file that the path names; 0 for none
        self.body = b""  # if the endpoint reads it

    @property
    def store(self) -> Store:
        """The project."""
        return self.desk.store

    @property
    def wanted(self) -> tuple[str, str]:
        """The text and the filter of a list of pairs."""
        given = self.request.query_params.get
        text = given("q", "")[:200]
        only = given("only", "")
        if only not in names.FILTERS:
            raise RefusedError(400, f"unknown filter {only[:40]!r}")
        return text, only

    def number(self, name: str, default: int) -> int:
        """Return a number in the query."""
        text = self.request.query_params.get(name)
        if text is None:
            return default
        if not _NUMBER.fullmatch(text):
            raise RefusedError(400, f"{name} is {text[:40]!r}; expected a whole number, 0 or more")
        return int(text)


class Work(NamedTuple):
    """An endpoint of a project: what its visitor must be able to do, and its answer."""

    does: str
    answer: Callable[[Desk, Any], object]
    reads: bool = False


class Pending(NamedTuple):
    """What waits for its transaction, and how it is answered then."""

    future: Future[Any]
    reply: Callable[[Any], Response]

    async def answer(self) -> Response:
        """Wait for it."""
        return self.reply(await asyncio.wrap_future(self.future))


class Desk:
    """An open project, with what is computed once for all its visitors."""

    def __init__(
        self,
        opening: Opening,
        *,
        hide_systems: bool = False,
        only_assigned: bool = False,
        file: str = "",
    ) -> None:
        self.opening = opening
        self._hide_systems = hide_systems
        self._only_assigned = only_assigned  # else everybody has all pairs until some are assigned
        self._file = file  # as pages name it, which must not tell where a lab keeps its projects
        self._docket: Docket | None = None
        self._board: Dashboard | None = None
        self._making = threading.Lock()  # of these two
        self._entered: set[str] = set()

    @property
    def store(self) -> Store:
        """The project."""
        if self.opening.opened is None:
            raise RefusedError(503, "the project is not open yet; try again")
        return self.opening.opened.store

    def enter(self, name: str, k: int, *, archived: bool = False) -> None:
        """Check that somebody may work on a pair (0: any); a new annotator becomes known."""
        store = self.store
        if name not in self._entered:
            if name not in store.project().annotators:
                if archived:
                    raise RefusedError(404, _NOTHING)
                store.enrol(name)
            self._entered.add(name)
        if k:
            store.check_own(k, name)

    def check_assigned(self) -> None:
        """Refuse work before any pair is assigned, where only assigned pairs are annotated."""
        if self._only_assigned:
            with self.store.database.reading() as conn:
                self._only_assigned = not queries.has_assignments(conn)
        if self._only_assigned:
            raise RefusedError(404, _NOTHING)

    def project(self, visit: Visit) -> object:
        """Return the first data for a page."""
        visitor = names.Visitor(visit.name, names.ROLES[visit.decides])
        return answers.project_answer(self.store, visitor, self.opening.progress)

    def queue(self, visit: Visit) -> object:
        """Return a part of the visitor's list of pairs, perhaps of those that are searched."""
        after = visit.number("after", 0)
        limit = visit.number("limit", 200)
        query, only = visit.wanted
        return self.store.queue(visit.name, after=after, limit=limit, query=query, only=only)

    def changes(self, visit: Visit) -> object:
        """Return the visitor's events after a number of the project."""
        return _or_nothing(self.store.changes(visit.name, visit.number("after", 0)))

    def pair(self, visit: Visit) -> object:
        """Return a pair as the visitor sees it."""
        if "prefetch" not in visit.request.query_params:
            self.opening.take(visit.k)
        preparing = self.opening.progress is not None
        learning = self.opening.learning is not None
        view = self.store.pair(visit.k, visit.name, hide_systems=self._hide_systems)
        return answers.pair_answer(view, preparing=preparing, learning=learning)

    def history(self, visit: Visit) -> object:
        """Return all events of the visitor on a pair."""
        return {"events": self.store.history(visit.k, visit.name)}

    def concordance(self, visit: Visit) -> object:
        """Return what the visitor linked a word to, in the visitor's own pairs."""
        given = visit.request.query_params.get
        word = given("word", "")[:200]
        side = given("side", SIDES[0])
        if side not in SIDES:
            raise RefusedError(400, f"unknown side {side[:40]!r}")
        with _searching:
            return answers.own_concordance(self.store, visit.name, word, side)

    def knows(self, name: str) -> bool:
        """Return whether `enter` and `check_assigned` need not read anything."""
        return name in self._entered and not self._only_assigned

    def events(self, visit: Visit) -> Pending:
        """Store the events of a page on the visitor's pair, in a thread."""
        sent = _sent(visit)
        future = self.store.append_later(visit.k, visit.name, **structs.asdict(sent))
        return Pending(future, partial(self._stored, sent))

    def _stored(self, sent: EventsOfPage, stored: tuple[Any, bool]) -> Response:
        """Answer events of a page: 201, or 200 if none of them was new."""
        answer, new = stored
        if new:
            self.opening.heard(sent.events)
        return json_reply(answer, 201 if new else 200)

    def export(self, visit: Visit) -> Response:
        """Return the visitor's own work in a format, as a download."""
        format = visit.request.query_params.get("to", "")
        return sent_file(lambda: answers.download(self.store, visit.name, format))

    # The gold standard and the dashboard

    def progress(self, _: Visit) -> object:
        """Return the progress of all annotators."""
        return {"annotators": self.store.progress_of_all()}

    def pairs_to_decide(self) -> Docket:
        """Return the list of the pairs that can be adjudicated."""
        from alignkit.annotate.adjudication.adjudication_queue import Docket

        with self._making:
            if self._docket is None:
                self._docket = Docket(self.store)
        return self._docket

    def gold_changes(self, visit: Visit) -> object:
        """Return the decisions after a number of the project."""
        from alignkit.annotate.adjudication.gold import gold_changes

        return _or_nothing(gold_changes(self.store, visit.number("after", 0)))

    def gold_queue(self, visit: Visit) -> object:
        """Return the pairs to adjudicate."""
        after = visit.number("after", 0)
        limit = min(visit.number("limit", 200), 1000)
        return self.pairs_to_decide().listed(after, limit, *visit.wanted, visit.name)

    def gold_pair(self, visit: Visit) -> object:
        """Return a pair with all votes."""
        from alignkit.annotate.adjudication.adjudication_queue import gold_view

        return answers.pair_answer(gold_view(self.store, visit.k, self.pairs_to_decide()))

    def gold_events(self, visit: Visit) -> Response:
        """Store decisions."""
        from alignkit.annotate.adjudication.gold import decide

        sent = _sent(visit)
        stored = decide(self.store, visit.k, visit.name, **structs.asdict(sent))
        return self._stored(sent, stored)

    def settle(self, visit: Visit) -> object:
        """Mark as done some of the pairs on which all agree."""
        from alignkit.annotate.adjudication.gold import settle

        agreed = [row.k for row in self.pairs_to_decide().rows() if row.state == "agreed"]
        count = settle(self.store, agreed[:_MOST_SETTLED], visit.name)
        self.opening.heard()
        return {"settled": count, "left": max(0, len(agreed) - _MOST_SETTLED)}

    def agreement(self, visit: Visit) -> Response:
        """Return the dashboard, if it has changed."""
        with self._making:
            if self._board is None:
                from alignkit.annotate.server.dashboard import Dashboard  # numba, scipy: a second

                self._board = Dashboard(self.store, self.opening.learned, self._file)
                self.opening.at_end(self._board.stop)
        body, tag = self._board.answer()
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if visit.request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")


WORK: dict[tuple[str, str], Work] = {
    ("GET", "changes"): Work(ANNOTATE, Desk.changes),
    ("GET", "queue"): Work(ANNOTATE, Desk.queue),
    ("GET", "find"): Work(ANNOTATE, Desk.queue),
    ("GET", "concordance"): Work(ANNOTATE, Desk.concordance),
    ("GET", "pairs/{k}"): Work(ANNOTATE, Desk.pair),
    ("GET", "pairs/{k}/history"): Work(ANNOTATE, Desk.history),
    ("POST", "pairs/{k}/events"): Work(ANNOTATE, Desk.events, True),
    ("GET", "progress"): Work(LOOK, Desk.progress),
    ("GET", "agreement"): Work(LOOK, Desk.agreement),
    ("POST", "settle"): Work(DECIDE, Desk.settle, True),
    ("GET", "gold"): Work(DECIDE, Desk.gold_queue),
    ("GET", "gold/changes"): Work(DECIDE, Desk.gold_changes),
    ("GET", "gold/{k}"): Work(DECIDE, Desk.gold_pair),
    ("POST", "gold/{k}/events"): Work(DECIDE, Desk.gold_events, True),
}
"""The endpoints of a project, by method and path below the project."""


def sent_file(make: Callable[[], Download]) -> Response:
    """Return a made file as a download."""
    try:
        made = make()
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


def _or_nothing(changes: object) -> object:
    return Response(status_code=204) if changes is None else changes


def _sent(visit: Visit) -> EventsOfPage:
    try:
        return decode_request(visit.body)
    except names.BadEvent as error:
        raise RefusedError(400, str(error)) from None


def decoded(body: bytes, kind: Any) -> Any:
    """Return the body of a request as a struct."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(400, f"the request has an unexpected form: {error}") from None
