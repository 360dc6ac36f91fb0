"""Passwords: hashes, and limits for those who guess."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from math import ceil
from threading import BoundedSemaphore
from typing import Any

import sqlalchemy as sa

from alignkit._support.wording import how_many
from alignkit.annotate.lab import schema, values
from alignkit.annotate.lab.steps import LabDatabase, LabStep
from alignkit.annotate.lab.values import OPEN, Actor, LabError
from alignkit.annotate.project.engines import Condition
from alignkit.annotate.server.security import network

COST = 15, 8, 3
"""The cost of scrypt: log2(n), r and p; it takes .4 s and 32 MB."""
_AT_ONCE = 2  # passwords that are hashed
_WAITING = 20  # passwords that wait
_NICE = 10  # the priority of hashing
_LIMITS = {"both": 5, "address": 20}  # failures in a minute, for name and address, and address
_PER_HOUR = 50  # failures of a name
_FAILURE = schema.failure.c
_places = BoundedSemaphore(_AT_ONCE + _WAITING)


def _give_way() -> None:
    """Let the other threads, which answer annotators, go first."""
    if sys.platform == "linux":  # elsewhere it would be the whole process
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
            os.nice(_NICE)


_hashing = ThreadPoolExecutor(_AT_ONCE, "hashing", _give_way)


@contextmanager
def _place() -> Iterator[None]:
    """Take a place among the passwords that are hashed or wait; refuse if there is none."""
    if not _places.acquire(blocking=False):
        raise LabError("The server is busy. Try again in a few seconds.", "busy")
    try:
        yield
    finally:
        _places.release()


def _derived(password: str, salt: bytes, cost: tuple[int, ...]) -> bytes:
    """Return the key that scrypt derives from a password."""
    text = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    log_n, r, p = cost
    n = 2**log_n
    memory = 2**20 + 256 * n * r
    derived = _hashing.submit(hashlib.scrypt, text, salt=salt, n=n, r=r, p=p, maxmem=memory)
    return derived.result()


def check_new(password: str) -> None:
    """Refuse a new password that is too short or too long."""
    if not 12 <= len(password) <= 200:
        raise LabError("Use 12 to 200 characters.", "invalid", "password")


@_place()
def hashed(password: str) -> str:
    """Return the hash of a new password, with its salt and cost."""
    check_new(password)
    salt = secrets.token_bytes(16)
    numbers = "$".join(map(str, COST))
    return f"scrypt${numbers}${salt.hex()}${_derived(password, salt, COST).hex()}"


def matches(password: str, stored: str) -> bool:
    """Return whether a password has this hash; without a hash the work is the same."""
    if not stored:
        _derived(password, bytes(16), COST)
        return False
    *cost, salt, known = stored.split("$")[1:]
    derived = _derived(password, bytes.fromhex(salt), tuple(map(int, cost)))
    return hmac.compare_digest(derived, bytes.fromhex(known))


@_place()  # first, for a flood must not write
def verify(database: LabDatabase, name: str, password: str, address: str) -> Any:
    """Return the row of an open account if the password is right.

    A wrong password, an unknown name and a closed account look the same, and take the same work.
    """
    with database.reading() as step:
        row = step.find(name)
    if row is None:  # the name may be a password
        counted = f"?{values.digest(values.folded(name))[:6]}"
    else:
        counted = row.name
    stored = row.password if row is not None and row.state == OPEN else ""
    is_failure = _count(database, counted, network(address))
    right: bool | None = None
    try:
        right = matches(password, stored)
    finally:
        if right is not False:  # also if it was not checked
            with database.change() as step:
                step.update(schema.failure, is_failure, count=_FAILURE.count - 1)
    if not right:
        raise LabError(*values.WRONG)
    return row


def _count(database: LabDatabase, name: str, address: str) -> Condition:
    """Count a failure, before tries at the same time do; return its rows, to take it back."""
    keys = {"both": f"{name} {address}", "address": address, "name": name}
    with database.change() as step:
        minute = step.now // 60
        rows = [sa.and_(_FAILURE.kind == kind, _FAILURE.key == key) for kind, key in keys.items()]
        is_failure = sa.and_(sa.or_(*rows), _FAILURE.minute == minute)
        counts = {kind: count for kind, _, _, count in step.ask(schema.failure, is_failure)}
        seconds = _refused(step, name, address, counts)
        if seconds:
            time = how_many(ceil(seconds / 60), "minute")
            raise LabError(f"Too many tries. Try again in {time}.", "tries", seconds=seconds)
        step.update(schema.failure, is_failure, count=_FAILURE.count + 1)
        for kind in keys.keys() - counts.keys():
            step.insert(schema.failure, kind=kind, key=keys[kind], minute=minute, count=1)
    return is_failure


def _refused(step: LabStep, name: str, address: str, counts: dict[str, int]) -> int:
    """Return for how many seconds a try is refused."""
    if any(counts.get(kind, 0) >= most for kind, most in _LIMITS.items()):
        return 60 - step.now % 60
    failures = (
        sa.select(sa.func.sum(_FAILURE.count), sa.func.min(_FAILURE.minute))
        .where(_FAILURE.kind == "name", _FAILURE.key == name)
        .where(_FAILURE.minute > step.now // 60 - 60, _FAILURE.count > 0)
    )
    total, first = step.ask(failures).one()
    if (total or 0) < _PER_HOUR:
        return 0
    known = sa.select(schema.session.c.address).join(schema.account).distinct()
    addresses = step.ask(known, schema.account.c.name == name).scalars()
    if address in map(network, addresses):
        return 0
    return int((first + 60) * 60 - step.now)


def tidy(step: LabStep) -> None:
    """Log the failures of the minutes that are over, and forget them after an hour."""
    minute = step.now // 60
    over = sa.and_(_FAILURE.kind == "both", _FAILURE.minute < minute)
    for _, key, _, count in step.ask(schema.failure, over, _FAILURE.count > 0).all():
        name, address = key.split(" ", 1)
        known_name, _, _ = name.partition("?")
        step.actor = Actor("", address=address)
        step.log("sign-in failed", known_name, after=count)
    step.delete(schema.failure, sa.or_(over, _FAILURE.minute <= minute - 60))
