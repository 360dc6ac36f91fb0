"""Requests with an `Idempotency-Key`: sent again within a day, they get the first answer again."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from starlette.responses import Response

from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.audit import LabDatabase
from alignkit.annotate.server.security import RefusedError
from alignkit.errors import AlignkitError

_ANSWER = schema.answer.c
_MOST = 1000  # keys of an account
_LONGEST = 200  # characters of a key
_BEGUN = "This was begun before, and perhaps not completed. Look, then use another key."
_SECRET = "This was done before. Its answer has a secret, which was shown only once."


def answered_once(
    database: LabDatabase, account: str, key: str, path: str, body: bytes, *, secret: bool,
    answer: Callable[[], Response],
) -> Response:  # fmt: skip
    """Answer a request once: again, it gets the stored answer, unless that has a secret."""
    if len(key) > _LONGEST:
        raise RefusedError(400, f"An Idempotency-Key has at most {_LONGEST} characters.")
    hash, sent = values.digest(f"{account} {key} {path}"), values.digest(body.hex())
    with database.change() as step:
        step.delete(schema.answer, _ANSWER.made <= step.now - values.DAY)
        known = step.ask(schema.answer, _ANSWER.hash == hash).first()
        if known is None:
            count = sa.select(sa.func.count()).where(_ANSWER.account == account)
            if step.ask(count).scalar() >= _MOST:
                raise RefusedError(429, "Too many keys. Send the request without one.")
            row = {"account": account, "sent": sent, "status": 0, "body": "", "made": step.now}
            step.insert(schema.answer, hash=hash, **row)
    if known is not None:
        if known.sent != sent:
            raise RefusedError(422, "This Idempotency-Key was used for another request.")
        if secret or not known.status:
            raise RefusedError(409, _SECRET if known.status else _BEGUN, error="repeated")
        return Response(known.body, known.status, media_type="application/json")
    try:
        reply = answer()
    except (AlignkitError, RefusedError):  # nothing was changed, so it may be sent again
        with database.change() as step:
            step.delete(schema.answer, _ANSWER.hash == hash)
        raise
    text = "" if secret else bytes(reply.body).decode()
    with database.change() as step:
        mine = _ANSWER.hash == hash
        step.update(schema.answer, mine, status=reply.status_code, body=text)
    return reply
