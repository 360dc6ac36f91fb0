"""Answer adjudicators how far annotators agree."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from alignkit.annotate.server.replies import json_reply

if TYPE_CHECKING:
    from alignkit.annotate.server.dashboard import Dashboard
    from alignkit.annotate.server.opening import Opening
    from alignkit.annotate.server.visit import Visit


class DashboardRoutes:
    """Answer what the dashboard asks; whoever asks has been let in as an adjudicator."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._making = threading.Lock()
        self._dashboard: Dashboard | None = None

    def _made(self, visit: Visit) -> Dashboard:
        with self._making:
            if self._dashboard is None:
                from alignkit.annotate.server.dashboard import Dashboard  # numba, scipy: a second

                self._dashboard = Dashboard(visit.store, learning=self._opening.learned)
                self._opening.at_end(self._dashboard.stop)
            return self._dashboard

    async def agreement(self, visit: Visit) -> Response:
        """Answer GET /api/agreement: the dashboard, or 304 where the page has it already."""
        body, tag = await run_in_threadpool(lambda: self._made(visit).answer())
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if visit.request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        reply = json_reply(body)
        reply.headers.update(headers)
        return reply
