"""Store the events that a page sends, in the stream of whoever sends them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from alignkit.annotate.errors import BadEvent
from alignkit.annotate.log.events import decode_request
from alignkit.annotate.server.replies import RefusedError, json_reply
from alignkit.annotate.server.security import read_json

if TYPE_CHECKING:
    from alignkit.annotate.log.events import Sent
    from alignkit.annotate.server.visit import Visit


async def store_sent(
    visit: Visit,
    append: Callable[..., tuple[Any, bool]],
    heard: Callable[[Sequence[Sent]], None],
) -> Response:
    """Answer a request with events: 201, or 200 where nothing of it was new."""
    body = await read_json(visit.request)

    def stored() -> Response:
        try:
            sent = decode_request(body)
        except BadEvent as error:
            raise RefusedError(400, str(error)) from None
        answer, new = append(visit.k, visit.name, base=sent.base, rev=sent.rev, events=sent.events)
        if new:
            heard(sent.events)
        return json_reply(answer, 201 if new else 200)

    return await run_in_threadpool(stored)
