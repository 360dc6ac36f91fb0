"""The files of the page, in a table by name: nothing that a client sends is used as a path."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import NamedTuple

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOLDER = Path(__file__).parent / "page"


class Asset(NamedTuple):
    """A file of the page."""

    body: bytes
    compressed: bytes  # by gzip
    kind: str  # its Content-Type
    tag: str  # its ETag, a hash of the body


def load_assets(folder: Path = _FOLDER) -> dict[str, Asset]:
    """Read the files of the page, by name, and compress each once."""
    table = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in _KINDS:
            body = path.read_bytes()
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            table[path.name] = Asset(body, gzip.compress(body, mtime=0), _KINDS[path.suffix], tag)
    return table
