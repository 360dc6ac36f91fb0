# ruff: noqa: N818 - errors are named after the situation
"""The words, values and errors of the lab store; rows for pages are in `bodies`."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime, timezone
from typing import Final, Literal, NamedTuple

from msgspec import json

from alignkit.annotate.lab.bodies import Rank, Role, Task
from alignkit.errors import AlignkitError

OWNER: Final = "owner"
"""The highest role in a project; the rank of some accounts in the lab, the others are members."""
MEMBER, ADJUDICATOR, ANNOTATOR, READER = "member", "adjudicator", "annotator", "reader"
OPEN, CLOSED, INVITED = "open", "closed", "invited"
"""The states of accounts; invited: has the name and roles already, but no password yet."""
MAKING, ARCHIVED, DELETED = "making", "archived", "deleted"
"""The states of projects, with `OPEN`."""
FIRST, INVITE, RESET = "first", "invite", "reset"
"""The kinds of links."""
DAY = 24 * 3600


class Actor(NamedTuple):
    """The person who changes something, for the audit log.

    The name is empty for a command on the server's machine; `by` is `page`, `token` or `command`.
    """

    name: str
    by: str = "page"
    address: str = ""
    lab_owner: bool = False  # see `ProjectRole`


NOBODY = Actor("")


class ProjectRole(NamedTuple):
    """The role of an account in a project; `lab_owner`: only because of the rank in the lab."""

    role: Role
    annotates: bool
    lab_owner: bool = False


class ProjectRow(NamedTuple):
    """A project in the list; its counts are those after event `n`, `last` is a time or empty."""

    key: str
    slug: str
    name: str
    task: Task
    languages: str
    state: Literal["making", "open", "archived"]
    made: str
    n: int
    pairs: int
    done: int
    last: str
    etag: str


class NewSession(NamedTuple):
    """A session that has just begun; its two secrets are stored nowhere."""

    cookie: str
    csrf: str
    account: str


class LabSession(NamedTuple):
    """The session of a request; rank and `may_create` are those of now."""

    id: str
    account: str
    rank: Rank
    may_create: bool
    proved: float


class Ended(NamedTuple):
    """A session that has ended: of whom, why (as in "taken over by ben") and when."""

    account: str
    why: str
    at: str

    @property
    def kind(self) -> str:
        """`taken`, `closed` (the account) or `ended`."""
        first = self.why.partition(" ")[0]
        return first if first in ("taken", "closed") else "ended"


class TokenVisitor(NamedTuple):
    """The token of a request; without a project (a slug) it is for all of its account."""

    id: str
    account: str
    rank: Rank
    may_create: bool
    project: str
    read_only: bool


class FreshLink(NamedTuple):
    """A link that has just been made; its token is stored nowhere."""

    id: str
    token: str
    expires: str


class LabError(AlignkitError):
    """A request that the lab store refuses; `field` names the wrong field, if there is one."""

    field = text = ""

    def __init__(self, message: str = "", field: str = "") -> None:
        super().__init__(message or self.text)
        self.field = field or self.field


class BadValue(LabError):
    """A value that the field cannot have: a name, a slug, a password, a number of days."""


class NameTaken(LabError):
    """The name of another account, or of an annotation of the project."""

    field = "name"


class WrongPassword(LabError):
    """A name and a password that do not belong together, or an account that is not open."""

    text = "Name or password is wrong."


class TooManyTries(LabError):
    """A password that is not checked, because of earlier failures; try again in `seconds`."""

    def __init__(self, seconds: int) -> None:
        minutes = "1 minute" if seconds <= 60 else f"{-(-seconds // 60)} minutes"
        super().__init__(f"Too many tries. Try again in {minutes}.")
        self.seconds = seconds


class Busy(LabError):
    """Too many passwords wait to be checked."""

    text = "The server is busy. Try again in a few seconds."


class LinkGone(LabError):
    """A link that was used, withdrawn, has expired, or never existed."""

    text = "This link is no longer valid. Ask for a new one."


class ChangedMeanwhile(LabError):
    """A row that somebody changed after it was read."""


class LastOwner(LabError):
    """The last open owner of the lab or of a project."""


class NotAllowed(LabError):
    """A change that takes a lab owner."""


class UnknownPerson(LabError, LookupError):
    """A name without an account, or without a role in the project."""


class UnknownProject(LabError, LookupError):
    """A project that does not exist, or in which the account has no role."""


class WrongState(LabError):
    """A project or an account whose state does not allow the change."""


_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}", re.ASCII)
SLUG = re.compile(r"[a-z0-9-]{1,40}", re.ASCII)
"""The part of a URL that names a project."""


def folded(name: str) -> str:
    """Return a name as it is stored."""
    return name.strip().casefold()


def checked_name(name: str) -> str:
    """Return the name of a new account as it is stored; refuse an impossible one."""
    if not _NAME.fullmatch(name := folded(name)):
        text = "Use 1 to 40 letters a to z, digits, and . _ - (not first)."
        raise BadValue(f"{name[:40]!r} cannot be a name. {text}", "name")
    return name


def checked_title(name: str) -> str:
    """Return the name of a project or token; refuse an empty or very long one."""
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise BadValue("Give a name of 1 to 200 letters.", "name")
    return name.strip()


def digest(secret: str) -> str:
    """Return the SHA-256 of a secret, which is stored in its place."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def public_id(hash: str) -> str:
    """Return the id of a session, link or token in lists; it does not let anybody in."""
    return hash[:16]


def etag(*values: object) -> str:
    """Return a short hash of the values of a row."""
    return hashlib.sha256(json.encode(values)).hexdigest()[:16]


def timestamp(seconds: float | None) -> str:
    """Return a time as text, as in 2026-11-27T22:30:00Z; empty for None."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
