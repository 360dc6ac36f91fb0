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
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from alignkit.annotate import training_answers
from alignkit.annotate.adjudication.adjudication_queue import Docket, Listed
from alignkit.annotate.adjudication.gold import GoldChanges, decide, gold_changes, settle
from alignkit.annotate.adjudication.gold_view import GoldView, gold_view
from alignkit.annotate.project import names, pair_lists, queries
from alignkit.annotate.project.events import Event
from alignkit.annotate.project.events import Request as EventsOfPage
from alignkit.annotate.server import answers
from alignkit.annotate.server.opening import Opening
from alignkit.annotate.server.routing import Entry, Routes
from alignkit.annotate.server.security import RefusedError, json_reply
from alignkit.errors import AlignkitError, UnknownNameError

if TYPE_CHECKING:
    from alignkit.annotate.project.store import Store
    from alignkit.annotate.server.dashboard import Dashboard

_PAIR = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_MOST_SETTLED = 100  # pairs that one request settles
_MOST_LISTED = 1000
_NOTHING = (
    "Nothing is assigned to you yet. Once the owner has assigned pairs, load this page again."
)
_searching = threading.Lock()  # long sentences take half a second

ANNOTATE = "annotate"
TRAIN = "train"
DECIDE = "decide"
LOOK = "look"
"""What a role may do: work on its own pairs, pass a training round before that, make the gold
standard, see how far all are."""
DOES = {names.ANNOTATOR: {ANNOTATE, TRAIN}, names.ADJUDICATOR: {DECIDE, LOOK}}
"""What the roles of `alignkit annotate` may do."""

Number = Annotated[int, Meta(ge=0, le=2**53)]
"""A number in a query: of an event or a row, or how many are wanted."""


class Since(Struct):
    """The query of what came after an event of the project."""

    after: Number = 0


class PairRows(Struct):
    """The query of a part of a list of pairs; `mine` are those that somebody has worked on."""

    after: Number = 0
    limit: Number = 200
    q: str = ""  # a text that the pairs have
    only: Literal["", "open", "done", "flagged", "commented", "mine"] = ""


class Look(Struct):
    """The query of a pair."""

    prefetch: bool = False  # nobody has opened it yet


class Word(Struct):
    """The query of a concordance: a word and the side that it is on."""

    word: str = ""
    side: Literal["source", "target"] = "source"


class OwnExport(Struct):
    """The query of a download of one's own work: the name of a format."""

    to: str = ""


class Empty(Struct):
    """The body of a request that has nothing to say."""


class History(Struct):
    """All events of an annotator on a pair."""

    events: list[Event]


class AllProgress(Struct):
    """The progress of all annotators."""

    annotators: list[queries.Progress]


class Settled(Struct):
    """The number of pairs that were marked as done, and how many more can be."""

    settled: int
    left: int


class Visit:
    """A request that was let in."""

    desk: Desk

    def __init__(
        self, request: Request, desk: Desk | None, name: str, *, decides: bool = False
    ) -> None:
        self.request = request
        self.name = name
        self.decides = decides
        if desk is not None:
            self.desk = desk
        named = request.path_params.get("k") or request.path_params.get("n")
        if named is not None and not _PAIR.fullmatch(named):
            raise RefusedError(404, f"there is no pair {named[:40]!r}; pairs are numbered from 1")
        self.k = int(named or 0)  # the pair or file that the path names; 0 for none

    @property
    def store(self) -> Store:
        """The project."""
        return self.desk.store


class Pending(NamedTuple):
    """What waits for its transaction, and how it is answered then."""

    future: Future[Any]
    reply: Callable[[Any], Response]

    async def answer(self) -> Response:
        """Wait for it."""
        return self.reply(await asyncio.wrap_future(self.future))


ROUTES = Routes(Entry)
"""The routes of a project, by method and path below the project."""


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
            with self.store.reading() as conn:
                self._only_assigned = not queries.has_assignments(conn)
        if self._only_assigned:
            raise RefusedError(404, _NOTHING)

    def check_trained(self, name: str) -> None:
        """Refuse work before the training round is passed; new events are checked when stored."""
        with self.store.reading() as conn:
            if queries.must_train(conn, queries.account_of(conn, name)):
                raise names.NotTrained()

    def project(self, visit: Visit) -> answers.ProjectAnswer:
        """Return the first data for a page."""
        visitor = names.Visitor(visit.name, names.ROLES[visit.decides])
        return answers.project_answer(self.store, visitor, self.opening.progress)

    @ROUTES.add("GET", "queue", ANNOTATE)
    @ROUTES.add("GET", "find", ANNOTATE)
    def queue(self, visit: Visit, query: PairRows) -> pair_lists.Queue:
        """Return a part of the visitor's list of pairs, perhaps of those that are searched."""
        return self.store.queue(
            visit.name, after=query.after, limit=query.limit, query=query.q, only=query.only
        )

    @ROUTES.add("GET", "changes", ANNOTATE)
    def changes(self, visit: Visit, query: Since) -> queries.Changes | None:
        """Return the visitor's events after a number of the project."""
        return self.store.changes(visit.name, query.after)

    @ROUTES.add("GET", "pairs/{k}", ANNOTATE, gives=queries.PairView)
    def pair(self, visit: Visit, query: Look) -> bytes:
        """Return a pair as the visitor sees it."""
        if not query.prefetch:
            self.opening.take(visit.k)
        preparing = self.opening.progress is not None
        learning = self.opening.learning is not None
        view = self.store.pair(visit.k, visit.name, hide_systems=self._hide_systems)
        return answers.pair_answer(view, preparing=preparing, learning=learning)

    @ROUTES.add("GET", "pairs/{k}/history", ANNOTATE)
    def history(self, visit: Visit) -> History:
        """Return all events of the visitor on a pair."""
        return History(self.store.history(visit.k, visit.name))

    @ROUTES.add("GET", "concordance", ANNOTATE)
    def concordance(self, visit: Visit, query: Word) -> answers.OwnConcordance:
        """Return what the visitor linked a word to, in the visitor's own pairs."""
        with _searching:
            return answers.own_concordance(self.store, visit.name, query.word[:200], query.side)

    def knows(self, name: str) -> bool:
        """Return whether `enter` and `check_assigned` need not read anything."""
        return name in self._entered and not self._only_assigned

    @ROUTES.add("POST", "pairs/{k}/events", ANNOTATE, gives=queries.Appended, also=(201,))
    def events(self, visit: Visit, sent: EventsOfPage) -> Pending:
        """Store the events of a page on the visitor's pair, in a thread."""
        future = self.store.append(visit.k, visit.name, sent)
        return Pending(future, partial(self._stored, sent))

    def _stored(self, sent: EventsOfPage, stored: tuple[Any, bool]) -> Response:
        """Answer events of a page: 201, or 200 if none of them was new."""
        answer, new = stored
        if new:
            self.opening.heard(sent.events)
        return json_reply(answer, 201 if new else 200)

    # The training round

    @ROUTES.add("GET", "training", TRAIN, gives=training_answers.TrainingTurn)
    def training_turn(self, visit: Visit) -> bytes:
        """Return the visitor's next training pair, without its links."""
        with self.store.reading() as conn:
            return answers.turn_answer(training_answers.turn(conn, visit.name))

    @ROUTES.add("POST", "training/answer", TRAIN, also=(409,))
    def training_answer(
        self, visit: Visit, sent: training_answers.TrainingAnswer
    ) -> training_answers.TrainingReport:
        """Store the visitor's links on a training pair; return what differs from gold, and why."""
        store = self.store.database
        try:
            answer = store.later(lambda conn: training_answers.answer(conn, visit.name, sent))
            return answer.result()
        except names.ProjectError as problem:
            if type(problem) is not names.ProjectError:
                raise
            raise RefusedError(409, str(problem)) from None

    def export(self, visit: Visit, query: OwnExport) -> Response:
        """Return the visitor's own work in a format, as a download."""
        return sent_file(lambda: answers.download(self.store, visit.name, query.to))

    # The gold standard and the dashboard

    @ROUTES.add("GET", "progress", LOOK)
    def progress(self, _: Visit) -> AllProgress:
        """Return the progress of all annotators."""
        return AllProgress(self.store.progress_of_all())

    def pairs_to_decide(self) -> Docket:
        """Return the list of the pairs that can be adjudicated."""
        with self._making:
            if self._docket is None:
                self._docket = Docket(self.store)
        return self._docket

    @ROUTES.add("GET", "gold/changes", DECIDE)
    def gold_changes(self, _: Visit, query: Since) -> GoldChanges | None:
        """Return the decisions after a number of the project."""
        return gold_changes(self.store, query.after)

    @ROUTES.add("GET", "gold", DECIDE)
    def gold_queue(self, visit: Visit, query: PairRows) -> Listed:
        """Return the pairs to adjudicate."""
        limit = min(query.limit, _MOST_LISTED)
        docket = self.pairs_to_decide()
        return docket.listed(query.after, limit, query.q[:200], query.only, visit.name)

    @ROUTES.add("GET", "gold/{k}", DECIDE, gives=GoldView)
    def gold_pair(self, visit: Visit) -> bytes:
        """Return a pair with all votes."""
        return answers.pair_answer(gold_view(self.store, visit.k, self.pairs_to_decide()))

    @ROUTES.add("POST", "gold/{k}/events", DECIDE, gives=queries.Appended, also=(201,))
    def gold_events(self, visit: Visit, sent: EventsOfPage) -> Response:
        """Store decisions."""
        return self._stored(sent, decide(self.store, visit.k, visit.name, sent))

    @ROUTES.add("POST", "settle", DECIDE)
    def settle(self, visit: Visit, sent: Empty) -> Settled:
        """Mark as done some of the pairs on which all agree."""
        agreed = [row.k for row in self.pairs_to_decide().rows() if row.state == "agreed"]
        count = settle(self.store, agreed[:_MOST_SETTLED], visit.name)
        self.opening.heard()
        return Settled(count, max(0, len(agreed) - _MOST_SETTLED))

    @ROUTES.add("GET", "agreement", LOOK, gives=dict[str, Any], also=(304,))
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


def sent_file(make: Callable[[], answers.Download]) -> Response:
    """Return a made file as a download."""
    try:
        made = make()
    except UnknownNameError as error:
        raise RefusedError(400, str(error)) from None
    except AlignkitError as error:
        raise RefusedError(422, str(error)) from None
    headers = {"Content-Disposition": f'attachment; filename="{made.name}"'}
    return StreamingResponse(_pieces(made), media_type=made.kind, headers=headers)


async def _pieces(made: answers.Download) -> AsyncIterator[bytes]:
    with made.file:
        while piece := await run_in_threadpool(made.file.read, 1 << 16):
            yield piece
