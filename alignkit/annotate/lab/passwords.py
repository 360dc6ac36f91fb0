"""Passwords: hashes, and limits for those who guess."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Semaphore
from typing import Any

import sqlalchemy as sa

from alignkit.annotate.lab import schema
from alignkit.annotate.lab.database import LabDatabase
from alignkit.annotate.lab.values import (
    OPEN,
    Actor,
    BadValue,
    Busy,
    TooManyTries,
    WrongPassword,
    digest,
    folded,
)

COST = 15, 8, 3
"""The cost of scrypt: log2(n), r and p; it takes .4 s and 32 MB."""
AT_ONCE, WAITING = 2, 20
"""How many passwords are hashed at once, and how many wait for it."""
_LENGTHS = 12, 200
_PER_MINUTE = {"both": 5, "address": 20}
_PER_HOUR = 50  # failures of a name

_turn = Semaphore(AT_ONCE)
_places = BoundedSemaphore(AT_ONCE + WAITING)


def _derived(password: str, salt: bytes, cost: tuple[int, ...]) -> bytes:
    text = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    if not _places.acquire(blocking=False):
        raise Busy
    try:
        with _turn:
            n, r, p = cost
            most = 2**20 + 256 * 2**n * r
            return hashlib.scrypt(text, salt=salt, n=2**n, r=r, p=p, maxmem=most)
    finally:
        _places.release()


def check_new(password: str) -> None:
    """Refuse a new password that is too short or too long."""
    least, most = _LENGTHS
    if not least <= len(password) <= most:
        raise BadValue("password", f"Use {least} to {most} characters.")


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


def network(address: str) -> str:
    """Return the part of an address that counts as one: all of it, of IPv6 the first 64 bits."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((int(ip) >> 64 << 64, 64)))
    return str(ip)


class PasswordCheck:
    """Check the passwords of accounts; count failures, and refuse where there are too many."""

    def __init__(self, database: LabDatabase) -> None:
        self._database = database

    def verify(self, name: str, password: str, address: str) -> Any:
        """Return id, name and hash of an open account if the password is right.

        A wrong password, an unknown name and an account that is not open look the same and take the
        same work.
        """
        name, table = folded(name), schema.account.c
        with self._database.reading() as conn:
            asked = sa.select(table.id, table.name, table.password, table.state)
            row = conn.execute(asked.where(table.name == name)).first()
        known = row is not None
        with self._attempt(name if known else f"?{digest(name)[:6]}", network(address)):
            right = matches(password, row.password if row and row.state == OPEN else "")
            if row is None or not right:
                raise WrongPassword
            return row

    @contextmanager
    def _attempt(self, name: str, address: str) -> Iterator[None]:
        """Count a try as a failure, until it succeeds; so many at once cannot exceed the limits."""
        minute, table = self._database.now() // 60, schema.failure.c
        keys = {"both": f"{name} {address}", "address": address, "name": name}
        rows = [
            sa.and_(table.kind == kind, table.key == key, table.minute == minute)
            for kind, key in keys.items()
        ]
        with self._database.writing() as conn:
            if seconds := self._refused(conn, keys, minute):
                raise TooManyTries(seconds)
            for row, (kind, key) in zip(rows, keys.items(), strict=True):
                more = sa.update(schema.failure).where(row).values(count=table.count + 1)
                if not conn.execute(more).rowcount:
                    first = {"kind": kind, "key": key, "minute": minute, "count": 1}
                    conn.execute(sa.insert(schema.failure).values(first))
        wrong = False
        try:
            yield
        except WrongPassword:
            wrong = True
            raise
        finally:
            if not wrong:
                with self._database.writing() as conn:
                    less = sa.update(schema.failure).where(sa.or_(*rows))
                    conn.execute(less.values(count=table.count - 1))

    def _refused(self, conn: sa.Connection, keys: dict[str, str], minute: int) -> int:
        """Return for how many seconds a try is refused."""
        table, now = schema.failure.c, self._database.now()
        for kind, most in _PER_MINUTE.items():
            row = sa.and_(table.kind == kind, table.key == keys[kind], table.minute == minute)
            if (conn.scalar(sa.select(table.count).where(row)) or 0) >= most:
                return 60 - now % 60
        name, address = keys["name"], keys["address"]
        hour = sa.and_(table.kind == "name", table.key == name, table.minute > minute - 60)
        failures = sa.select(sa.func.sum(table.count), sa.func.min(table.minute))
        total, first = conn.execute(failures.where(hour, table.count > 0)).one()
        if (total or 0) < _PER_HOUR or address in map(network, _addresses(conn, name)):
            return 0
        return int((first + 60) * 60 - now)

    def tidy(self) -> None:
        """Log the failures of the minutes that are over, and forget them after an hour."""
        table = schema.failure.c
        with self._database.change(Actor("")) as step:
            minute = step.now // 60
            over = sa.and_(table.kind == "both", table.minute < minute)
            failures = sa.select(table.key, table.count).where(over, table.count > 0)
            for key, count in step.conn.execute(failures).all():
                name, address = key.split(" ", 1)
                step.actor = Actor("", address=address)
                step.log("sign-in failed", "" if name[0] == "?" else name, after=count)
            old = sa.or_(over, table.minute <= minute - 60)
            step.conn.execute(sa.delete(schema.failure).where(old))


def _addresses(conn: sa.Connection, name: str) -> sa.ScalarResult[str]:
    """Return the addresses from which somebody signed in."""
    mine = schema.account.c.id == schema.session.c.account
    asked = sa.select(schema.session.c.address).distinct()
    return conn.scalars(asked.where(mine, schema.account.c.name == name))
