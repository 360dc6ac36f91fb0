"""The files of the pages, in a table by name: text from a client is never used as a path.

Each page gets its head here, and two attributes from which scripts build every URL: the path that
all URLs of the server begin with, and the name of the project in the URL, if any.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from alignkit.annotate.server.security import RefusedError

PAGE = Path(__file__).parent / "page"
TASK_PAGES = {"align": "index.html", "judge": "judge.html", "extract": "extract.html"}
"""The page of annotators, by task."""

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/style.css">
"""
_MANAGE = """<link rel="stylesheet" href="/page/dashboard.css">
<link rel="stylesheet" href="/page/tabs.css">
<link rel="stylesheet" href="/page/manage.css">
<script type="module" src="/page/{}.js"></script>
<body data-state="ready" class="manage">
<header class="lab"><b class="brand">alignkit</b></header>
<main hidden>"""
"""What pages of managers begin with, which have no body of their own; tabs.js shows `main`."""
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)


class Asset(NamedTuple):
    """A file of the page."""

    body: bytes
    compressed: bytes  # by gzip
    kind: str  # its Content-Type
    tag: str  # its ETag, a hash of the body


def load_assets() -> dict[str, Asset]:
    """Read the files of the page by name, with what pages share; compress each once."""
    assets = {}
    for path in sorted(PAGE.iterdir()):
        if path.suffix not in _KINDS:
            continue
        body = path.read_bytes()
        if path.suffix == ".html":
            if b"<body" not in body:
                body = body.replace(b"<main>", _MANAGE.format(path.stem).encode(), 1)
            body = _HEAD.encode() + body
        assets[path.name] = _asset(body, _KINDS[path.suffix])
    return assets


def _asset(body: bytes, kind: str) -> Asset:
    """Return a file of a type, with its compressed form and its ETag."""
    return Asset(body, gzip.compress(body, mtime=0), kind, entity_tag(body))


def entity_tag(body: bytes) -> str:
    """Return the ETag of a body."""
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'


class Assets:
    """The files of the pages below a root, which begins and ends with a slash."""

    def __init__(self, root: str = "/") -> None:
        self._root = root
        self._files = load_assets()
        self._page = lru_cache(1000)(self._filled)

    def reply(self, request: Request, name: str, project: str = "") -> Response:
        """Return a file; pages know their root and project."""
        asset = self._files.get(name)
        if asset is None:
            raise RefusedError(404, "there is no such file")
        if name.endswith(".html"):
            asset = self._page(name, project)
        headers = {
            "ETag": asset.tag,
            "Cache-Control": "no-cache",
            "Content-Type": asset.kind,
            "Vary": "Accept-Encoding",
        }
        if request.headers.get("if-none-match") == asset.tag:
            return Response(status_code=304, headers=headers)
        if _GZIP.search(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "gzip"
            return Response(asset.compressed, headers=headers)
        return Response(asset.body, headers=headers)

    def _filled(self, name: str, project: str) -> Asset:
        """Return a page with its URLs below the root, or below the project."""
        asset = self._files[name]
        root = f"{self._root}p/{project}/" if project else self._root
        text = re.sub('="/(?!page/)', f'="{root}', asset.body.decode())
        text = text.replace('="/page/', f'="{self._root}page/')
        known = f'<html lang="en" data-root="{self._root}" data-project="{project}">'
        return _asset(text.replace('<html lang="en">', known, 1).encode(), asset.kind)
