"""Know the file of a project by its first bytes, and say what is wrong with it.

It does without SQLAlchemy, which takes long to import, so that a start can look before it listens.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from typing import Any
from urllib.parse import quote

from alignkit.annotate.errors import DamagedProject, ProjectError
from alignkit.annotate.names import TASKS

VERSION = 3
"""Of the tables; 2 has assignments, and names the gold standard and the task, 3 learned sets."""

MARK = 0x414C4B54
"""The application id in the head of the file, "ALKT"."""

_HEAD = b"SQLite format 3\0"
_PLACES = 60, 68  # of the user version and of the application id in the head
_ACTING = """
SELECT type || ' ' || name FROM sqlite_master WHERE type IN ('trigger', 'view')
UNION ALL SELECT 'virtual table ' || name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'
UNION ALL SELECT 'generated column ' || one.name || '.' || part.name
FROM sqlite_master AS one, pragma_table_xinfo(one.name) AS part
WHERE one.type = 'table' AND part.hidden
"""
_DAMAGE = "malformed", "not a database", "corrupt", "decode to UTF-8", "no such table"


def is_project(path: str) -> bool:
    """Return whether a file is a database of SQLite, as projects are."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_HEAD)) == _HEAD
    return False


def check_file(path: str, *, readonly: bool = False) -> None:
    """Check by its first bytes that a file is a project that can be opened."""
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except OSError as problem:
        raise ProjectError(f"{path}: cannot be read: {problem.strerror}") from None
    if not head.startswith(_HEAD):
        raise ProjectError(f"{path}: is no project of alignkit; `alignkit annotate` makes one")
    version, mark = (int.from_bytes(head[at : at + 4], "big") for at in _PLACES)
    if mark != MARK:
        raise ProjectError(f"{path}: is a database, but no project of alignkit")
    if version > VERSION:
        raise ProjectError(
            f"{path}: is a project of a newer alignkit (version {version}; this one knows "
            f"{VERSION}); bring alignkit up to date"
        )
    if not readonly and not os.access(path, os.W_OK):
        raise ProjectError(f"{path}: is read-only; allow writing, or work on a copy")
    folder = os.path.dirname(os.path.realpath(path))
    if not readonly and not os.access(folder, os.W_OK):
        raise ProjectError(
            f"{path}: its folder is read-only, and a project keeps files beside it; allow writing, "
            "or work on a copy"
        )


def check_schema(conn: sqlite3.Connection, path: str) -> None:
    """Refuse a file with anything that acts when it is used: it holds tables and indexes alone."""
    conn.execute("PRAGMA trusted_schema=OFF")
    for (name,) in conn.execute(_ACTING):
        raise ProjectError(
            f"{path}: holds the {name[:80]!r}, and no project of alignkit has one: somebody else "
            "made or changed this file; do not use it, and ask for another copy"
        )


def _asked(path: str, question: str, since: int = 0) -> list[Any]:
    uri = f"file:{quote(os.path.abspath(path))}?mode=rw"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=1)) as conn:
            check_schema(conn, path)
            if conn.execute("PRAGMA user_version").fetchone()[0] < since:
                return []
            return [row[0] for row in conn.execute(question)]
    except sqlite3.Error as problem:
        raise refusal(path, str(problem)) from None


def read_annotators(path: str) -> list[str]:
    """Return the annotators of a project, and so see whether it can be read at all."""
    return _asked(path, "SELECT CAST(name AS TEXT) FROM account WHERE id > 0")


def read_assigned(path: str) -> list[str]:
    """Return to whom pairs of a project are assigned; nobody, in one of an earlier version."""
    having = "SELECT DISTINCT account FROM assignment"
    asked = f"SELECT CAST(name AS TEXT) FROM account WHERE id IN ({having}) ORDER BY id"
    return _asked(path, asked, VERSION)


def read_task(path: str) -> str:
    """Return what is done in a project; see `names.TASKS`."""
    return next(iter(_asked(path, "SELECT CAST(task AS TEXT) FROM project", VERSION)), TASKS[0])


def refusal(path: str, text: str) -> ProjectError:
    """Return an error that says in plain words what SQLite said."""
    if any(sign in text for sign in _DAMAGE):
        return DamagedProject(path, text)
    error = ProjectError(f"{path}: {_reason(text)}")
    error.path = path
    return error


def _reason(text: str) -> str:
    if "locked" in text:
        return "another program keeps it locked; try again"
    if "readonly" in text:
        return "is read-only; allow writing, or work on a copy"
    if "disk is full" in text:
        return "the disk is full: make room there; nothing was changed"
    return f"the database refuses: {text}"
