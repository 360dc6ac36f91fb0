"""A PostgreSQL server for the tests, as an account of its own: started once, or skipped."""

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from itertools import count
from pathlib import Path

import pytest

_numbers = count(1)
_IS_ROOT = os.getuid() == 0 if hasattr(os, "getuid") else False
_BINS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
_BIN = [*_BINS, Path("/usr/bin")][-2 if _BINS else 0]


def _run(program, *words):
    as_postgres = ["runuser", "-u", "postgres", "--"] if _IS_ROOT else []
    subprocess.run([*as_postgres, _BIN / program, *words], check=True, capture_output=True)


class Server:
    """A server that listens in its own folder only."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="alignkit-pg-", dir="/tmp")
        if _IS_ROOT:
            shutil.chown(self.folder, "postgres")
        self.data = f"{self.folder}/data"
        _run("initdb", "-D", self.data, "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "me", "-N")
        self.url = f"postgresql+psycopg://me@/postgres?host={self.folder}"
        self.start()

    def start(self):
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        log = f"{self.folder}/log"
        _run("pg_ctl", "-D", self.data, "-w", "-l", log, "-o", options, "start")

    def stop(self):
        _run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")

    def place(self):
        return f"{self.url}#p_{next(_numbers)}"


@cache
def server():
    """Return the server, or skip the test."""
    pytest.importorskip("psycopg", reason="needs the extra [postgres]")
    if not (_BIN / "initdb").exists():
        pytest.skip("needs PostgreSQL (Debian: postgresql)")
    made = Server()
    atexit.register(shutil.rmtree, made.folder, ignore_errors=True)
    atexit.register(made.stop)
    return made
