"""Routes of one's own: sign in and out, join, password, sessions, tokens."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from starlette.responses import Response

from alignkit.annotate.lab import bodies
from alignkit.annotate.lab.routes import ANYBODY, OWN, LabEntry, LabVisit
from alignkit.annotate.lab.sessions import LASTS
from alignkit.annotate.lab.values import LabSession, NewSession, folded
from alignkit.annotate.server.routing import Routes
from alignkit.annotate.server.security import RefusedError, json_reply

ROUTES = Routes(LabEntry)


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


@ROUTES.add("POST", "session", ANYBODY, gives=bodies.Entered, status=201, sealed=True)
def sign_in(visit: LabVisit, sent: bodies.SignIn) -> Response:
    """Start a session; ask first if somebody else is signed in in this browser."""
    sessions = visit.lab.sessions
    here = sessions.visitor(visit.cookie)
    if isinstance(here, LabSession) and not (sent.take_over or here.account == folded(sent.name)):
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


@ROUTES.add("DELETE", "session", OWN, status=204, sealed=True)
def sign_out(visit: LabVisit) -> Response:
    """End the session of this browser."""
    visit.lab.sessions.sign_out(visit.cookie, address=visit.address)
    reply = Response(status_code=204)
    reply.delete_cookie(visit.server.cookie, **_kind(visit))
    return reply


@ROUTES.add("POST", "join/look", ANYBODY)
def look_at_link(visit: LabVisit, sent: bodies.JoinLook) -> bodies.JoinInfo:
    """Return whose link this is."""
    info = visit.lab.links.peek(sent.token)
    if info is None:
        raise visit.lab.links.gone(sent.token)
    return info


@ROUTES.add("POST", "join", ANYBODY, gives=bodies.Entered, status=201)
def join(visit: LabVisit, sent: bodies.Join) -> Response:
    """Use a link: set the password and start a session."""
    links = visit.lab.links
    here = visit.lab.sessions.visitor(visit.cookie)
    info = links.peek(sent.token)
    if isinstance(here, LabSession) and info is not None and here.account != info.name:
        text = f"{here.account} is signed in here. Sign out first, or open the link elsewhere."
        raise RefusedError(409, text, error="taken")
    session = links.use(
        sent.token,
        sent.password,
        name=sent.name,
        display=None if sent.display is UNSET else sent.display,
        address=visit.address,
        agent=visit.agent,
    )
    return _entered(visit, session)


@ROUTES.add("GET", "me", OWN)
def me(visit: LabVisit) -> bodies.Me:
    """Return who one is, and one's roles."""
    person = visit.person
    lab = visit.lab
    roles = []
    for row, role in visit.projects(lab.projects.rows(visit.name)):
        roles.append(bodies.MyRole(row.slug, row.name, role.role, role.annotates))
    encoder = visit.server.encoder
    name = "" if encoder is None else encoder.name
    display = lab.accounts.get(visit.name).display
    return bodies.Me(visit.name, person.rank, person.may_create, lab.key, roles, name, display)


@ROUTES.add("PUT", "me/display", OWN, sealed=True)
def change_display(visit: LabVisit, sent: bodies.ChangeDisplay) -> None:
    """Change the name that pages show for oneself."""
    visit.lab.accounts.show_as(visit.name, sent.display, visit.actor)


@ROUTES.add("PATCH", "me", OWN, sealed=True)
def change_password(visit: LabVisit, sent: bodies.ChangePassword) -> None:
    """Set a new password; all other sessions and tokens end."""
    visit.lab.accounts.set_password(visit.name, sent.old, sent.new, visit.actor, keep=visit.cookie)


@ROUTES.add("POST", "prove", OWN, sealed=True)
def prove(visit: LabVisit, sent: bodies.Prove) -> None:
    """Note that the password was given again."""
    visit.lab.sessions.prove(visit.cookie, sent.password, address=visit.address)


@ROUTES.add("GET", "me/sessions", OWN, sealed=True)
def sessions(visit: LabVisit) -> bodies.SessionList:
    """Return one's sessions."""
    return bodies.SessionList(visit.lab.sessions.rows(visit.name, visit.cookie))


@ROUTES.add("DELETE", "me/sessions", OWN, sealed=True)
def end_other_sessions(visit: LabVisit) -> None:
    """End all other sessions of one's own."""
    visit.lab.sessions.end(visit.name, visit.actor, keep=visit.cookie)


@ROUTES.add("DELETE", "me/sessions/{id}", OWN, sealed=True)
def end_session(visit: LabVisit) -> None:
    """End one of one's sessions."""
    visit.lab.sessions.end(visit.name, visit.actor, id=visit.part("id"))


@ROUTES.add("GET", "me/tokens", OWN, sealed=True)
def tokens(visit: LabVisit) -> bodies.TokenList:
    """Return one's tokens."""
    return bodies.TokenList(visit.lab.tokens.rows(visit.name))


@ROUTES.add("POST", "me/tokens", OWN, status=201, sealed=True, proved=True, secret=True)
def new_token(visit: LabVisit, sent: bodies.NewToken) -> bodies.TokenRow:
    """Make a token; its text is in this answer only."""
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


@ROUTES.add("DELETE", "me/tokens/{id}", OWN, sealed=True)
def withdraw_token(visit: LabVisit) -> None:
    """Make a token invalid."""
    visit.lab.tokens.withdraw(visit.name, visit.part("id"), visit.actor)
