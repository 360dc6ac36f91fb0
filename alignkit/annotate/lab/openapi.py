"""The description of the API in OpenAPI 3.1, from the table of routes and the structs of bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.routes import ANYBODY, OWN, Entry, LabVisit
from alignkit.annotate.project import events, queries
from alignkit.version import __version__

_FLAGS = "done", "provenance", "hidden", "dry_run"
_LISTED = "after", "limit", "q", "only"
_QUERIES: dict[str, tuple[str, ...]] = {
    "GET audit": ("after", "limit", "project", "person", "day", "format"),
    "GET projects/{slug}/log": ("after", "limit", "person", "day", "format"),
    "GET projects/{slug}/project": ("at",),
    "GET projects/{slug}/queue": _LISTED,
    "GET projects/{slug}/find": _LISTED,
    "GET projects/{slug}/changes": ("after",),
    "GET projects/{slug}/gold": _LISTED,
    "GET projects/{slug}/gold/changes": ("after",),
    "GET projects/{slug}/events": ("after", "limit"),
    "GET projects/{slug}/pairs/{k}": ("prefetch",),
    "GET projects/{slug}/concordance": ("word", "side"),
    "GET projects/{slug}/export": ("what", "format", *_FLAGS),
}
"""The parameters of queries."""
_KINDS = {"after": "integer", "limit": "integer", **dict.fromkeys(_FLAGS, "boolean")}
_KEY = {"type": "string", "minLength": 1, "maxLength": 200}
_FILES = {
    "GET projects/{slug}/export": ("application/octet-stream", "application/zip"),
    "GET projects/{slug}/backup": ("application/octet-stream",),
    "GET projects/{slug}/events": ("application/jsonl",),
    "GET audit": ("application/jsonl",),
    "GET projects/{slug}/log": ("application/jsonl",),
    "PUT drafts/{id}/files/{n}": ("application/octet-stream",),
}
"""The types of what is not JSON."""
_DESK: dict[str, tuple[Any, Any]] = {
    "queue": (None, queries.Queue),
    "find": (None, queries.Queue),
    "changes": (None, queries.Changes),
    "gold/changes": (None, queries.Changes),
    "pairs/{k}": (None, queries.PairView),
    "gold/{k}": (None, queries.PairPage),
    "pairs/{k}/history": (None, {"events": list[events.Event]}),
    "pairs/{k}/events": (events.Request, queries.Appended),
    "gold/{k}/events": (events.Request, queries.Appended),
    "progress": (None, {"annotators": list[queries.Progress]}),
    "concordance": (
        None,
        dict.fromkeys(("counterparts", "lines"), list[dict[str, Any]])
        | dict.fromkeys(("total", "not_annotated", "not_searched"), int),
    ),
    "settle": (dict[str, Any], {"settled": int, "left": int}),
}
"""The bodies of what desks answer."""
_EXTRA = {
    "changes": (204,),
    "gold/changes": (204,),
    "agreement": (304,),
    "pairs/{k}/events": (201,),
    "gold/{k}/events": (201,),
}


def statuses(entry: Entry) -> list[int]:
    """Return all status codes of a route."""
    tail = entry.path.removeprefix("projects/{slug}/")
    codes = {entry.status, *_EXTRA.get(tail, ()), 400, 401, 403, 404, 422, 429, 503}
    if entry.takes is not None:
        codes |= {408, 413, 415}
    if entry.of_project or entry.method != "GET":
        codes |= {409}
    if entry.method != "GET" and (entry.of_project or "draft" in entry.path):
        codes |= {423}
    if "draft" in entry.path or tail in ("export", "backup", "import"):
        codes |= {413, 507}
    return sorted(codes | {410} if entry.may == ANYBODY else codes)


def description(entries: Iterable[Entry], root: str, cookie: str) -> dict[str, Any]:
    """Return the description of all routes."""
    paths: dict[str, dict[str, Any]] = {}
    shared: dict[str, Any] = {}
    _schema(bodies.Fault, shared)
    for entry in entries:
        paths.setdefault(f"/{entry.path}", {})[entry.method.lower()] = _operation(entry, shared)
    schemes = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": cookie},
        "secret": {"type": "apiKey", "in": "header", "name": "x-csrf-token"},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "alignkit", "version": __version__},
        "servers": [{"url": f"{root}api/v1"}],
        "paths": paths,
        "components": {"schemas": shared, "securitySchemes": schemes},
    }


def _schema(kind: Any, shared: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; those of its structs are added to the shared ones."""
    if kind is None:
        return {}
    if isinstance(kind, dict):
        properties = {name: _schema(each, shared) for name, each in kind.items()}
        return {"type": "object", "properties": properties, "required": list(kind)}
    place = "#/components/schemas/{name}"
    (schema,), more = msgspec.json.schema_components([kind], ref_template=place)
    shared |= more
    return schema


def _operation(entry: Entry, shared: dict[str, Any]) -> dict[str, Any]:
    named = f"{entry.method} {entry.path}"
    takes = entry.takes
    gives = entry.gives
    if entry.of_desk:
        takes, gives = _DESK.get(entry.path.removeprefix("projects/{slug}/"), (None, None))
    files: dict[str, Any] = {kind: {} for kind in _FILES.get(named, ())}
    if gives is bytes:
        content = {}
    else:
        content = {"application/json": {"schema": _schema(gives, shared)}}
    fault = {"application/json": {"schema": {"$ref": "#/components/schemas/Fault"}}}
    answers: dict[str, Any] = {}
    for status in statuses(entry):
        body = fault if status >= 400 else {**content, **files}
        answer = {} if status in (204, 304) else {"content": body}
        answers[str(status)] = {"description": "Fault" if status >= 400 else "Done", **answer}
    summary = (entry.answer.__doc__ or named).split("\n")[0]
    operation = {"summary": summary, "responses": answers, "parameters": _parameters(entry, named)}
    if entry.may != ANYBODY:
        ways: list[Any] = [{"session": [], "secret": []}, {"token": []}]
        operation["security"] = ways[:1] if entry.sealed else ways
    if takes is not None:
        if takes is bytes:
            sent = files
        else:
            sent = {"application/json": {"schema": _schema(takes, shared)}}
        operation["requestBody"] = {"required": True, "content": sent}
    return operation


def _parameters(entry: Entry, named: str) -> list[dict[str, Any]]:
    given = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer", "minimum": 1} if name in "kn" else {"type": "string"},
        }
        for name in re.findall(r"{(\w+)}", entry.path)
    ]
    if entry.keyed:
        given.append({"name": "Idempotency-Key", "in": "header", "schema": _KEY})
    return given + [
        {"name": name, "in": "query", "schema": {"type": _KINDS.get(name, "string")}}
        for name in _QUERIES.get(named, ())
    ]


def openapi(visit: LabVisit) -> object:
    """Return the description of this API."""
    server = visit.server
    if not server.described:
        server.described = description(server.entries, server.address.root, server.cookie)
    return server.described


ENTRIES = [Entry("GET", "openapi.json", OWN, openapi)]
