"""Copy a project to another place, and back it up as a file; what was written is checked."""

from __future__ import annotations

import os
from itertools import islice, zip_longest

from alignkit.annotate.project import rebuilding, seals, server_lock
from alignkit.annotate.project.database import copy_database, is_project
from alignkit.annotate.project.events import encode
from alignkit.annotate.project.names import ProjectError, is_url, shown_place
from alignkit.annotate.project.places import beside, new_project, refuse_existing
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store

_WITHOUT = (
    "DROP TABLE IF EXISTS session",
    "DROP TABLE IF EXISTS plan",
    "DELETE FROM in_use",
    seals.DROP_SEAL,
)
"""The statements that take the sessions, the mark of use and an earlier seal out of a copy."""


def copy_project(source: Store, place: str) -> int:
    """Write a project with the same log at another place; return the number of its events."""
    refuse_existing(place)
    _check(source, source.path)
    with beside(place) as there:
        return _copy_log(source, there)


def _copy_log(source: Store, place: str) -> int:
    """Write a project with the same log, and compare it; return the number of its events."""
    with new_project(place) as conn:
        rebuilding.write_log(conn, source.log())
    with Store.open(place, readonly=True, log=True) as copy:
        events = _check(copy, place)
        source_log = islice(source.log(), events)
        if any(encode(a) != encode(b) for a, b in zip_longest(source_log, copy.log())):
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
            events = _copy_log(source, there)
        else:
            copy_database(source.path, there, *_WITHOUT)
            with Store.open(there, readonly=True, log=True) as copy:
                events = _check(copy, source.path)
        with Store.open(there) as copy:
            seal = seals.seal_of(copy.log())
            with copy.writing() as conn:
                seals.write_seal(conn, seal)
        return events


def check_seal(store: Store) -> None:
    """Refuse a backup whose log is not the one with which it was made."""
    with store.reading() as conn:
        broken = seals.broken_seal(seals.read_seal(conn), store.log())
    if broken:
        raise ProjectError(f"{shown_place(store.path)}: {broken}")


def _refuse_other(source: Store, file: str) -> None:
    """Refuse to replace what is no backup of the project, or the project itself."""
    if is_project(file) and (is_url(source.path) or not os.path.samefile(source.path, file)):
        server_lock.ServerLock(file).release()  # nobody has it open
        with Store.open(file, readonly=True, accept_copy=True) as before:
            if before.project().key == source.project().key:
                return
    raise ProjectError(f"{file}: exists, and is no backup of this project; name another file")


def _check(store: Store, place: str) -> int:
    """Check that a project is as its log says; return the number of its events."""
    replayed = replay(store)
    if replayed.differences:
        raise ProjectError(
            f"{shown_place(place)}: differs from its log ({replayed.differences[0]}); nothing was "
            "saved; see `alignkit project log PROJECT --check`"
        )
    return replayed.events
