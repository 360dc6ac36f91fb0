"""Copy projects between places, and back them up while a server edits them."""

from __future__ import annotations

import os
from itertools import islice, zip_longest

from alignkit.annotate.project.database import ServerLock, copy_database, is_project
from alignkit.annotate.project.events import encode
from alignkit.annotate.project.names import ProjectError, is_url, shown_place
from alignkit.annotate.project.places import beside, new_project, refuse_existing
from alignkit.annotate.project.replay import replay, write_log
from alignkit.annotate.project.store import Store

_NEW = "CREATE TABLE in_use (inode TEXT NOT NULL PRIMARY KEY)"  # earlier versions have none
_WITHOUT = *(f"DROP TABLE IF EXISTS {name}" for name in ("session", "plan", "in_use")), _NEW


def copy_project(source: Store, place: str) -> int:
    """Write a project with the same log at another place; return the number of its events."""
    refuse_existing(place)
    _check(source, source.path)
    with beside(place) as there:
        return _copied(source, there)


def _copied(source: Store, place: str) -> int:
    with new_project(place) as conn:
        write_log(conn, source.log())
    with Store.open(place, readonly=True, log=True) as copy:
        events = _check(copy, place)
        logs = islice(source.log(), events), copy.log()
        if any(encode(a) != encode(b) for a, b in zip_longest(*logs)):
            raise ProjectError(f"{shown_place(place)}: the copy has another log; delete it")
    return events


def back_up(source: Store, file: str) -> int:
    """Write a project, also one in use, without its sessions as a file; return how many events."""
    if is_url(file):
        raise ProjectError(f"{shown_place(file)}: a backup is a file; see `alignkit project copy`")
    if os.path.lexists(file):
        _refuse_other(source, file)
    with beside(file) as there:
        if is_url(source.path):
            return _copied(source, there)
        copy_database(source.path, there, *_WITHOUT)
        with Store.open(there, readonly=True, log=True) as copy:
            return _check(copy, source.path)


def _refuse_other(source: Store, file: str) -> None:
    """Refuse to replace what is no backup of the project, or the project itself."""
    if is_project(file) and (is_url(source.path) or not os.path.samefile(source.path, file)):
        ServerLock(file).release()  # nobody has it open
        with Store.open(file, readonly=True) as before:
            if before.project().key == source.project().key:
                return
    raise ProjectError(f"{file}: exists, and is no backup of this project; name another file")


def _check(store: Store, place: str) -> int:
    replayed = replay(store)
    if replayed.differences:
        raise ProjectError(
            f"{shown_place(place)}: differs from its log ({replayed.differences[0]}); nothing was "
            "saved; see `alignkit project log PROJECT --check`"
        )
    return replayed.events
