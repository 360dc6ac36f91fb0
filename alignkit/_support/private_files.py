"""Files that only the user can read."""

from __future__ import annotations

import os


def write_private(path: str, content: bytes) -> None:
    """Write a new file that only the user can read; refuse to replace one."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(number, "wb") as stream:
        stream.write(content)
