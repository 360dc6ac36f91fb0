"""The description of the API in OpenAPI 3.1, printed from the routes and their structs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from starlette.responses import Response

from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.routes import ANYBODY, OWN, LabEntry, LabVisit
from alignkit.annotate.server.routing import Routes
from alignkit.annotate.server.security import json_reply
from alignkit.version import __version__

_Described = dict[str, Any]
"""A part of the description as JSON."""
_KEY = {"type": "string", "minLength": 1, "maxLength": 200}
_NUMBERS = ("k", "n")  # the parts of paths that are numbers
_PLACE = "#/components/schemas/{name}"
_UPLOAD: _Described = {"application/octet-stream": {"schema": {}}}


def description(entries: Iterable[LabEntry], root: str, cookie: str) -> _Described:
    """Return the description of all routes."""
    paths: dict[str, _Described] = {}
    shared: _Described = {}
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


def _schema(kind: Any, shared: _Described) -> _Described:
    """Return the schema of a type; those of its structs are added to the shared ones."""
    (schema,), more = msgspec.json.schema_components([kind], ref_template=_PLACE)
    shared |= more
    return schema


def _operation(entry: LabEntry, shared: _Described) -> _Described:
    """Return the description of a route."""
    content: _Described = {kind: {} for kind in entry.files}
    if entry.answers_with is not None:
        content["application/json"] = {"schema": _schema(entry.answers_with, shared)}
    fault = {"application/json": {"schema": _schema(bodies.Fault, shared)}}
    answers: _Described = {}
    for status in sorted(entry.statuses):
        if status >= 400:
            answers[str(status)] = {"description": "Fault", "content": fault}
        elif status in (204, 304):
            answers[str(status)] = {"description": "Done"}
        else:
            answers[str(status)] = {"description": "Done", "content": content}
    operation = {
        "summary": (entry.answer.__doc__ or "").split("\n")[0],
        "responses": answers,
        "parameters": list(_parameters(entry)),
    }
    if entry.may != ANYBODY:
        ways: list[Any] = [{"session": [], "secret": []}]
        if not entry.sealed:
            ways.append({"token": []})
        operation["security"] = ways
    if entry.streams:
        operation["requestBody"] = {"required": True, "content": _UPLOAD}
    elif entry.takes is not None:
        sent = {"application/json": {"schema": _schema(entry.takes, shared)}}
        operation["requestBody"] = {"required": True, "content": sent}
    return operation


def _parameters(entry: LabEntry) -> Iterator[_Described]:
    """Yield the parameters of a route: in its path, its headers and its query."""
    for name in re.findall(r"{(\w+)}", entry.path):
        schema: _Described = {"type": "string"}
        if name in _NUMBERS:
            schema = {"type": "integer", "minimum": 1}
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if entry.keyed:
        yield {"name": "Idempotency-Key", "in": "header", "schema": _KEY}
    if entry.query is not None:
        _, structs = msgspec.json.schema_components([entry.query], ref_template=_PLACE)
        for name, schema in structs[entry.query.__name__]["properties"].items():
            yield {"name": name, "in": "query", "schema": schema}


ROUTES = Routes(LabEntry)


@ROUTES.add("GET", "openapi.json", OWN, gives=_Described)
def openapi(visit: LabVisit) -> Response:
    """Return the description of this API."""
    server = visit.server
    if not server.described:
        server.described = description(server.entries, server.address.root, server.cookie)
    return json_reply(server.described)
