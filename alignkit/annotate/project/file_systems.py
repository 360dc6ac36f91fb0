"""Find out whether a database is safe in a folder: locks that work, and no network in between.

SQLite keeps two writers apart by locks, and with its write-ahead log all processes must be on one
machine (https://sqlite.org/wal.html). A file system may promise locks and not keep them, so a
second process tries to write.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from alignkit.annotate.project.names import ProjectError

_SECOND_WRITER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as problem:
    sys.exit(3 if "locked" in str(problem) else 4)
"""
_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|afs|9p|ncpfs|coda|ceph|lustre|gpfs|beegfs|pvfs2|ocfs2|gfs2|glusterfs|"
    r"fuse\.(sshfs|glusterfs|ceph|s3fs|rclone|davfs|curlftpfs|gcsfuse|mfs|juicefs)|davfs"
)
"""Types of file systems that other machines can have open too."""


def check_locks(path: str, writing: AbstractContextManager[Any]) -> None:
    """Refuse a file system on which a second process can write at the same time.

    Parameters
    ----------
    path : The file of the database.
    writing : Has a transaction that writes, while it is entered.

    Raises
    ------
    ProjectError : If the second process was not kept out.
    """
    command = [sys.executable, "-I", "-S", "-c", _SECOND_WRITER, path]
    with writing:
        code = subprocess.run(command, check=False, timeout=60).returncode
    if code != 3:
        raise ProjectError(f"{path}: {unlocked(path)}")


def unlocked(path: str) -> str:
    """Return the reason why a file cannot be served where locks do not work."""
    kind = network_type(path)
    named = f" ({kind}, a network file system)" if kind else ""
    return f"locks of files do not work here{named}; put it on a local disk"


def network_warning(path: str) -> str:
    """Return what users should know if a file is on a network file system; else an empty text."""
    kind = network_type(path)
    if not kind:
        return ""
    return (
        f"{path} is on a network file system ({kind}). Locks work on this machine, but not between "
        "machines: do not open it on another one while this server runs. A local disk is safer; so "
        "is PostgreSQL for a lab"
    )


def network_type(path: str) -> str:
    """Return the type of the network file system that has a path; empty if local or unknown."""
    try:
        lines = _MOUNTS.read_text("utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not Linux
        return ""
    place = os.path.realpath(path)
    kind = ""
    longest = 0
    for line in lines:
        mount, _, described = line.partition(" - ")
        point = _unescaped(mount.split(" ")[4])
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:  # of two at a point, the later hides the other
            longest = len(point)
            kind = described.split(" ")[0]
    return kind if _NETWORK.fullmatch(kind) else ""


def _unescaped(text: str) -> str:
    """Return a path in which Linux has written blanks and backslashes as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)
