"""Shares that were computed before, kept in the user's cache folder.

They lie in one SQLite database, by the digest of the encoder and of both texts. Without a folder
that can be written, nothing is kept, and a warning says so; all else works.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from logging import getLogger
from pathlib import Path
from typing import Any, Literal

import numpy as np

from alignkit._support.array_types import U2
from alignkit._support.cache_folder import cache_folder

MOST_BYTES = 1_000_000_000  # of the database; the shares that were stored first go first
RECIPE = 1  # goes up when other vectors or shares come out of the same texts

_LOGGER = getLogger("alignkit")
_ASKED = 500  # keys in a query; SQLite allows 999
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS shares (key BLOB PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS spreads (key BLOB PRIMARY KEY, spread REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS digests (key TEXT PRIMARY KEY, digest TEXT NOT NULL)",
)


def key_of(*parts: object) -> bytes:
    """Return the key of numbers, texts and lists of words; different ones have different keys."""
    total = sha256()
    for part in parts:
        if isinstance(part, (list, tuple)):
            total.update(f"{len(part)};".encode())
            for word in part:
                text = word.encode("utf-8", "surrogatepass")
                total.update(f"{len(text)}:".encode() + text)
        else:
            text = str(part).encode("utf-8", "surrogatepass")
            total.update(f"{len(text)}:".encode() + text)
    return total.digest()


def _place() -> str:
    """Return the path of the database in the user's cache folder, which is made."""
    folder = cache_folder()
    if folder is None:
        raise OSError("there is no cache folder")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return str(folder / "encoder.sqlite")


class KeptShares:
    """The shares, spreads and digests that were computed before.

    Parameters
    ----------
    where : In the cache folder; in memory, for this object alone; or nowhere: then nothing is kept.
    """

    def __init__(self, where: Literal["folder", "memory", "nowhere"] = "folder") -> None:
        self._connection: sqlite3.Connection | None = None
        self._changed = False
        if where == "nowhere":
            return
        try:
            place = ":memory:" if where == "memory" else _place()
            try:
                self._open(place)
            except sqlite3.DatabaseError as problem:
                if isinstance(problem, sqlite3.OperationalError):
                    raise
                _LOGGER.warning("%s is damaged (%s), and made anew", place, problem)
                self.close()
                os.unlink(place)
                self._open(place)
        except (OSError, sqlite3.Error) as problem:
            self._give_up(problem)

    def _open(self, place: str) -> None:
        """Open the database, and make its tables if they are not there."""
        self._connection = sqlite3.connect(
            place, timeout=30, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = OFF")  # what is lost is computed again
        for statement in _SCHEMA:
            self._connection.execute(statement)

    def _give_up(self, problem: Exception) -> None:
        """Keep nothing from now on, and say why."""
        with suppress(sqlite3.Error):
            self.close()
        self._connection = None
        _LOGGER.warning("what the encoder says of these texts cannot be kept: %s", problem)

    def shares(self, keys: Sequence[bytes]) -> dict[bytes, U2]:
        """Return the numbers (n,) of the keys that are known."""
        known: dict[bytes, U2] = {}
        for begin in range(0, len(keys), _ASKED):
            some = keys[begin : begin + _ASKED]
            marks = ",".join("?" * len(some))
            for key, data in self._rows(
                f"SELECT key, data FROM shares WHERE key IN ({marks})", some
            ):
                with suppress(zlib.error, ValueError):
                    known[key] = np.frombuffer(zlib.decompress(data), "<u2").astype(np.uint16)
        return known

    def keep(self, shares: Mapping[bytes, U2]) -> None:
        """Store the numbers (n,) of keys in one transaction."""
        if self._connection is None:
            return
        rows = [
            (key, zlib.compress(cells.astype("<u2").tobytes(), 1)) for key, cells in shares.items()
        ]
        self._write("INSERT OR REPLACE INTO shares VALUES (?, ?)", rows)
        self._changed = True

    def spread(self, key: bytes) -> float | None:
        """Return the spread of the cosines of some texts, if it is known."""
        rows = self._rows("SELECT spread FROM spreads WHERE key = ?", [key])
        return float(rows[0][0]) if rows else None

    def keep_spread(self, key: bytes, spread: float) -> None:
        """Store the spread of the cosines of some texts."""
        self._write("INSERT OR REPLACE INTO spreads VALUES (?, ?)", [(key, spread)])

    def digest(self, files: Iterable[Path]) -> tuple[str, str | None]:
        """Return the key of files by path, size and time, and their digest if it is known."""
        facts = []
        for path in files:
            status = path.stat()
            facts += [os.fspath(path.resolve()), str(status.st_size), str(status.st_mtime_ns)]
        key = key_of(facts).hex()
        rows = self._rows("SELECT digest FROM digests WHERE key = ?", [key])
        return key, (str(rows[0][0]) if rows else None)

    def keep_digest(self, key: str, digest: str) -> None:
        """Store the digest of files."""
        self._write("INSERT OR REPLACE INTO digests VALUES (?, ?)", [(key, digest)])

    def trim(self) -> None:
        """Delete the oldest shares if the database has more than `MOST_BYTES`."""
        if not self._changed:
            return
        sizes = self._rows(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", ()
        )
        if not sizes or sizes[0][0] <= MOST_BYTES:
            return
        # a tenth more than needed, so that not every run has to
        share = 1.1 - MOST_BYTES / sizes[0][0]
        self._write(
            "DELETE FROM shares WHERE rowid IN (SELECT rowid FROM shares ORDER BY rowid "
            "LIMIT (SELECT CAST(COUNT(*) * ? AS INTEGER) FROM shares))",
            [(min(share, 1.0),)],
        )
        self._rows("VACUUM", ())

    def __enter__(self) -> KeptShares:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database, within its size."""
        self.trim()
        self.close()

    def close(self) -> None:
        """Close the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none if the database fails."""
        if self._connection is None:
            return []
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as problem:
            self._give_up(problem)
            return []

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run a statement for each row, all or none."""
        if self._connection is None or not rows:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(statement, rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as problem:
            self._give_up(problem)
