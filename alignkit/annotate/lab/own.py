"""Routes of one's own: sign in and out, join, password, sessions, tokens."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.routes import ANYBODY, OWN, Entry, LabVisit
from alignkit.annotate.lab.sessions import LASTS
from alignkit.annotate.lab.values import GONE, LabError, LabSession, NewSession, folded
from alignkit.annotate.server.security import RefusedError, json_reply


def _entered(visit: LabVisit, session: NewSession) -> Response:
    """Return the second secret, and set the cookie with the first."""
    answer = bodies.Entered(session.csrf, session.account, visit.lab.key)
    reply = json_reply(answer, 201)
    reply.set_cookie(visit.server.cookie, session.cookie, LASTS, **_kind(visit))
    return reply


def _kind(visit: LabVisit) -> dict[str, Any]:
    """Return the attributes of the cookie."""
    secure = visit.server.address.secure
    return {"path": "/", "httponly": True, "samesite": "strict", "secure": secure}


def sign_in(visit: LabVisit) -> Response:
    """Start a session; ask first if somebody else is signed in in this browser."""
    sent = visit.sent
    sessions = visit.lab.sessions
    here = sessions.visitor(visit.cookie)
    other = isinstance(here, LabSession) and here.account != folded(sent.name)
    if here is not None and other and not sent.take_over:
        text = f"{here.account} is signed in here. Sign {here.account} out?"
        raise RefusedError(409, text, error="taken")
    session = sessions.sign_in(
        sent.name,
        sent.password,
        address=visit.address,
        agent=visit.agent,
        taking_over=visit.cookie,
    )
    return _entered(visit, session)


def sign_out(visit: LabVisit) -> Response:
    """End the session of this browser."""
    visit.lab.sessions.sign_out(visit.cookie, address=visit.address)
    reply = Response(status_code=204)
    reply.delete_cookie(visit.server.cookie, **_kind(visit))
    return reply


def look_at_link(visit: LabVisit) -> object:
    """Return whose link this is."""
    info = visit.lab.links.peek(visit.sent.token)
    if info is None:
        raise LabError(*GONE)
    return info


def join(visit: LabVisit) -> Response:
    """Use a link: set the password and start a session."""
    sent = visit.sent
    links = visit.lab.links
    here = visit.lab.sessions.visitor(visit.cookie)
    info = links.peek(sent.token)
    if isinstance(here, LabSession) and info is not None and here.account != info.name:
        text = f"{here.account} is signed in here. Sign out first, or open the link elsewhere."
        raise RefusedError(409, text, error="taken")
    session = links.use(
        sent.token, sent.password, name=sent.name, address=visit.address, agent=visit.agent
    )
    return _entered(visit, session)


def me(visit: LabVisit) -> object:
    """Return who one is, and one's roles."""
    person = visit.person
    lab = visit.lab
    roles = []
    for row, role in visit.projects(lab.projects.rows(visit.name)):
        roles.append(bodies.MyRole(row.slug, row.name, role.role, role.annotates))
    return bodies.Me(visit.name, person.rank, person.may_create, lab.key, roles)


def change_password(visit: LabVisit) -> None:
    """Set a new password; all other sessions and tokens end."""
    sent = visit.sent
    visit.lab.accounts.set_password(visit.name, sent.old, sent.new, visit.actor, keep=visit.cookie)


def prove(visit: LabVisit) -> None:
    """Note that the password was given again."""
    visit.lab.sessions.prove(visit.cookie, visit.sent.password, address=visit.address)


def end_session(visit: LabVisit) -> None:
    """End one of one's sessions, or all others."""
    id = visit.word("id")
    keep = "" if id else visit.cookie
    visit.lab.sessions.end(visit.name, visit.actor, id=id, keep=keep)


def new_token(visit: LabVisit) -> object:
    """Make a token; its text is in this answer only."""
    sent = visit.sent
    if sent.project and visit.lab.projects.role(visit.name, sent.project) is None:
        raise RefusedError(422, "You have no role in this project.", field="project")
    return visit.lab.tokens.create(
        visit.name,
        sent.name,
        visit.actor,
        project=sent.project,
        read_only=sent.read_only,
        days=sent.days,
    )


ENTRIES = [
    Entry("POST", "session", ANYBODY, sign_in, bodies.SignIn, bodies.Entered, 201, sealed=True),
    Entry("DELETE", "session", OWN, sign_out, status=204, sealed=True),
    Entry("POST", "join/look", ANYBODY, look_at_link, bodies.JoinLook, bodies.JoinInfo),
    Entry("POST", "join", ANYBODY, join, bodies.Join, bodies.Entered, 201),
    Entry("GET", "me", OWN, me, gives=bodies.Me),
    Entry("PATCH", "me", OWN, change_password, bodies.ChangePassword, status=204, sealed=True),
    Entry("POST", "prove", OWN, prove, bodies.Prove, status=204, sealed=True),
    Entry(
        "GET",
        "me/sessions",
        OWN,
        lambda visit: {"sessions": visit.lab.sessions.rows(visit.name, visit.cookie)},
        gives={"sessions": list[bodies.SessionRow]},
        sealed=True,
    ),
    Entry("DELETE", "me/sessions", OWN, end_session, status=204, sealed=True),
    Entry("DELETE", "me/sessions/{id}", OWN, end_session, status=204, sealed=True),
    Entry(
        "GET",
        "me/tokens",
        OWN,
        lambda visit: {"tokens": visit.lab.tokens.rows(visit.name)},
        gives={"tokens": list[bodies.TokenRow]},
        sealed=True,
    ),
    Entry(
        "POST",
        "me/tokens",
        OWN,
        new_token,
        bodies.NewToken,
        bodies.TokenRow,
        201,
        sealed=True,
        proved=True,
        secret=True,
    ),
    Entry(
        "DELETE",
        "me/tokens/{id}",
        OWN,
        lambda visit: visit.lab.tokens.withdraw(visit.name, visit.word("id"), visit.actor),
        status=204,
        sealed=True,
    ),
]
