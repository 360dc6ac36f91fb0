"""The words, values and errors of the lab store; rows for pages are in `bodies`."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import datetime, timezone
from typing import Final, Literal, NamedTuple

from msgspec import json

from alignkit.annotate.lab.bodies import Rank, Role, Task
from alignkit.errors import AlignkitError

OWNER: Final = "owner"
"""The highest role in a project; the rank of some accounts in the lab, the others are members."""
MEMBER = "member"
ADJUDICATOR = "adjudicator"
ANNOTATOR = "annotator"
READER = "reader"
OPEN = "open"
CLOSED = "closed"
INVITED = "invited"
"""The states of accounts; invited: has the name and roles already, but no password yet."""
MAKING = "making"
ARCHIVED = "archived"
DELETED = "deleted"
"""The states of projects, with `OPEN`."""
FIRST = "first"
INVITE = "invite"
RESET = "reset"
"""The kinds of links."""
DAY = 24 * 3600


class Actor(NamedTuple):
    """The person who changes something, by `page`, `token` or `command` (without a name)."""

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
    """A row of the table of projects; its counts are those after event `n`."""

    key: str
    slug: str
    name: str
    task: Task
    languages: str
    state: Literal["making", "open", "archived"]
    made: int
    n: int
    pairs: int
    done: int
    last: int | None
    cleared: int | None

    @property
    def etag(self) -> str:
        """A short hash of what its owners change."""
        return etag(self.key, self.name, self.state)


class NewSession(NamedTuple):
    """A session that has just begun; its two secrets are stored nowhere."""

    cookie: str
    csrf: str
    account: str


class LabSession(NamedTuple):
    """The session or token of a request; rank and `may_create` are those of now."""

    id: str = ""  # empty, like the account, for anybody
    account: str = ""
    rank: Rank = "member"
    may_create: bool = False
    proved: float | None = None  # when the password was given; None for a token
    project: str = ""  # the only one of a token
    read_only: bool = False


class Ended(NamedTuple):
    """A session that has ended, and why, as in "taken over by ben"."""

    why: str


class FreshLink(NamedTuple):
    """A link that has just been made; its token is stored nowhere."""

    id: str
    token: str
    expires: str


class LabError(AlignkitError):
    """A request that the lab refuses; `code` is for the API, `field` names the wrong field."""

    def __init__(
        self, message: str, code: str = "server", field: str = "", seconds: int = 0
    ) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.seconds = seconds


WRONG = "Name or password is wrong.", "wrong"
GONE = "This link is no longer valid. Ask for a new one.", "gone"
USED = "This link was used already. Sign in with the password that was chosen then.", "gone"
EXPIRED = "This link has expired. Ask for a new one.", "gone"
REPLACED = "This link was replaced by a newer one. Use the newest, or ask for another.", "gone"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}", re.ASCII)
_JOINERS = {0x200C: None, 0x200D: None}
"""Characters between letters of names in Persian and languages of India; they show nothing."""
SLUG = re.compile(r"[a-z0-9-]{1,40}", re.ASCII)
"""The part of a URL that names a project."""


def folded(name: str) -> str:
    """Return a name as it is stored."""
    return name.strip().casefold()


def checked_name(name: str) -> str:
    """Return the name of a new account as it is stored; refuse an impossible one."""
    name = folded(name)
    if not _NAME.fullmatch(name):
        raise LabError(
            f"{name[:40]!r} cannot be the name of an account. Use 1 to 40 letters a to z, digits, "
            "and . _ - (not first).",
            "invalid",
            "name",
        )
    return name


def checked_display(display: str) -> str:
    """Return a name to show as it is stored; it may be empty, then that of the account is shown."""
    display = unicodedata.normalize("NFC", " ".join(display.split()))
    shown = display.translate(_JOINERS)
    if len(display) > 100 or not shown.isprintable():
        raise LabError("Give a name of at most 100 letters.", "invalid", "display")
    return display


def checked_title(name: str) -> str:
    """Return the name of a project or token; refuse an empty or very long one."""
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise LabError("Give a name of 1 to 200 letters.", "invalid", "name")
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
