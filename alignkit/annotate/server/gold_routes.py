"""Answer adjudicators: which pairs are ready, the votes on one, and what they decide."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from alignkit.annotate.server.answers import gold_answer
from alignkit.annotate.server.parameters import number
from alignkit.annotate.server.replies import json_reply
from alignkit.annotate.server.security import read_json
from alignkit.annotate.server.storing import store_sent

if TYPE_CHECKING:
    from alignkit.annotate.gold.docket import Docket
    from alignkit.annotate.server.opening import Opening
    from alignkit.annotate.server.visit import Visit

_AT_ONCE = 100  # pairs that are settled by one request


class GoldRoutes:
    """Answer what adjudicators ask; whoever asks has been let in as one."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._docket: Docket | None = None

    def _list(self, visit: Visit) -> Docket:
        from alignkit.annotate.gold.docket import Docket

        if self._docket is None:
            self._docket = Docket(visit.store)
        return self._docket

    async def queue(self, visit: Visit) -> Response:
        """Answer GET /api/gold: the pairs that are ready, by what is at stake."""
        after, limit = number(visit.request, "after", 0), number(visit.request, "limit", 200)
        listed = self._list(visit).listed
        return json_reply(await run_in_threadpool(listed, after, min(limit, 1000)))

    async def pair(self, visit: Visit) -> Response:
        """Answer GET /api/gold/{k}: a pair with the votes on it."""
        docket = self._list(visit)
        return json_reply(await run_in_threadpool(gold_answer, visit.store, docket, visit.k))

    async def settle(self, visit: Visit) -> Response:
        """Answer POST /api/settle: mark pairs done in which all agree, so many at a time."""
        from alignkit.annotate.gold.gold import settle

        await read_json(visit.request)
        docket = self._list(visit)

        def settled() -> Response:
            agreed = [row.k for row in docket.rows() if row.state == "agreed"]
            count = settle(visit.store, agreed[:_AT_ONCE], visit.name)
            self._opening.heard()
            return json_reply({"settled": count, "left": max(0, len(agreed) - _AT_ONCE)})

        return await run_in_threadpool(settled)

    async def changes(self, visit: Visit) -> Response:
        """Answer GET /api/changes: what was decided since."""
        from alignkit.annotate.gold.gold import gold_changes

        after = number(visit.request, "after", 0)
        found = await run_in_threadpool(gold_changes, visit.store, after)
        return Response(status_code=204) if found is None else json_reply(found)

    async def events(self, visit: Visit) -> Response:
        """Answer POST /api/gold/{k}/events: store what was decided."""
        from alignkit.annotate.gold.gold import decide

        return await store_sent(visit, partial(decide, visit.store), self._opening.heard)
