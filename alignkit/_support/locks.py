"""Locks on open files, which end with the process that has them."""

from __future__ import annotations

import errno
import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR = 1 << 30
"""The byte that is locked on Windows: a locked byte cannot be read, and files are shorter."""


def lock_alone(file: int) -> bool | None:
    """Lock an open file for this process; False: another process has it, None: no locks."""
    try:
        if sys.platform == "win32":
            place = os.lseek(file, 0, os.SEEK_CUR)
            os.lseek(file, _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(file, place, os.SEEK_SET)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in (errno.EACCES, errno.EAGAIN):
            return False
        return None
    return True
