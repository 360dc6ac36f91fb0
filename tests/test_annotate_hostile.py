"""Whoever is not let in changes nothing, whatever they send, and gets a clear answer."""

from urllib.parse import quote

import pytest
from annotation_server import make, served

from alignkit.annotate.project.names import PAGES
from alignkit.annotate.server.security import LIMIT
from alignkit.annotate.server.server import AnnotationServer

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

GETS = """/ /page/wire.js /favicon.ico /guidelines /api/project /api/queue /api/find?q=house
/api/concordance?word=house /api/changes?after=0 /api/export?to=pharaoh /api/pairs/1
/api/pairs/1/history /api/progress /adjudicate /api/gold /api/gold/changes /api/gold/1
/dashboard /api/agreement /api/training"""
SENT = (
    "/enter /invite /logout /api/pairs/1/events /api/settle /api/gold/1/events /api/training/answer"
)
POSTS = [("POST", path) for path in SENT.split()]
ROUTES = [("GET", path) for path in GETS.split()] + POSTS
OPEN = {"/page/wire.js", "/", "/adjudicate", "/dashboard", "/favicon.ico", "/enter", "/invite"}
"""Routes that need no session; the last needs a secret."""
CLOSED = [route for route in ROUTES if route[1] not in OPEN]
EDIT = {"how": "cell", "cells": [[0, 0, 0, 2]]}
NO_JSON = [b"", b"{", b"\xff\xfe", b"NaN", b'{"token": NaN}', b'{"token": "\\ud800"}']
OTHER_SHAPES = [b"[1]", b"null", b'"text"', b"[" * 100_000, b"{}"]
COOKIES = ["", "alignkit-0=x", "{name}=forged", "{name}=", "\xff;;=", "a" * 5000]
NUMBERS = ("queue?after", "queue?limit", "changes?after", "find?q=a&limit")
NO_PAIRS = "0 4 -1 01 1.0 999999999999999999999 x %00 1%2F2 ¹"
NO_NUMBERS = ["-1", "x", "", "1.5", "9" * 40, "%00", "1;drop"]
NOWHERE = """/page/../server.py /page/%2e%2e/server.py /page/..%2fserver.py /page//etc/passwd /page/
/page/index.html%00 /page/server.py //evil.example/page /api /api/ /api/accounts /api/project/ /docs
/.git/config"""


def event(**changes):
    return {"id": "e1", "kind": "edit", "v": 1, "client_at": "", "data": EDIT} | changes


def request(*events, **changes):
    return {"base": 0, "rev": 1, "events": list(events)} | changes


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(make(tmp_path_factory.mktemp("hostile"))) as running:
        yield running


@pytest.fixture(scope="module")
def anna(server):
    return server.client()


@pytest.fixture(scope="module")
def other(server):
    return server.client()


@pytest.fixture(autouse=True)
def _nothing_changes(server):
    before, token = list(server.opening.opened.store.log()), server.entrance.token
    yield
    assert (list(server.opening.opened.store.log()), server.entrance.token) == (before, token)


def refused(answer, *statuses):
    assert answer.status in statuses, (answer.status, answer.body)
    assert answer.json["message"]
    assert statuses != (401,) or answer.json.keys() == {"error", "message"}
    assert "Traceback" not in answer.json["message"]
    assert answer.headers["content-type"] == "application/json"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_all_routes_are_walked(server):
    app = AnnotationServer(server.opening, server.entrance, frozenset(), str)
    routes = [(min(route.methods - {"HEAD"}), route.path) for route in app.routes()]
    known = {(method, path.partition("?")[0]) for method, path in ROUTES}
    assert {(m, p.replace("{k}", "1").replace("{name}", "wire.js")) for m, p in routes} == known


@pytest.mark.parametrize(("method", "path"), CLOSED)
@pytest.mark.parametrize("cookie", COOKIES)
def test_without_a_session_there_is_nothing(server, anna, method, path, cookie):
    stranger, name = server.client(enter=False), anna.cookie.partition("=")[0]
    stranger.cookie, stranger.csrf = cookie.format(name=name), anna.csrf
    refused(stranger.ask(method, path, {} if method == "POST" else None), 401)


@pytest.mark.parametrize(("method", "path"), [r for r in CLOSED if r[1] != "/guidelines"])
@pytest.mark.parametrize("token", [None, "forged", "0" * 64, "\xe9", "cookie"])
def test_the_cookie_alone_reads_and_changes_nothing(anna, method, path, token):
    """Browsers send it to every port of the host, where another user may listen."""
    token = anna.cookie.partition("=")[2] if token == "cookie" else token
    body = request(event()) if method == "POST" else None
    refused(anna.ask(method, path, body, X_CSRF_Token=token), 403)


@pytest.mark.parametrize("path", [path for _, path in ROUTES])
def test_nothing_that_the_cookie_alone_gets_tells_the_other_secret(anna, path):
    answer = anna.ask("GET", path, X_CSRF_Token=None)
    assert anna.csrf.encode() not in answer.body
    assert anna.csrf not in str(answer.headers)


def test_the_secrets_of_two_sessions_do_not_mix(anna, other):
    assert other.cookie.partition("=")[0] == anna.cookie.partition("=")[0]
    refused(anna.ask("GET", "/api/pairs/1", X_CSRF_Token=other.csrf), 403)
    refused(other.ask("GET", "/api/pairs/1", Cookie=anna.cookie), 403)
    assert other.ask("GET", "/api/pairs/1").status == 200


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_pages_of_others_reach_nothing(anna, method, path):
    body = request(event()) if method == "POST" else None
    port = anna.port
    near = (f"http://127.0.0.1:{port + 1}", f"http://localhost:{port}", f"https://127.0.0.1:{port}")
    for origin in (*near, "http://evil.example", "null"):
        refused(anna.ask(method, path, body, Origin=origin), 403)
    for host in ("evil.example", f"evil.example:{anna.port}", "127.0.0.1", "127.0.0.1:1", None):
        answer = anna.ask(method, path, body, Host=host, Origin=host and f"http://{host}")
        assert answer.status in (400, 403), (host, answer.body)  # 400: of HTTP itself
    if path != "/":
        refused(anna.ask(method, path, body, Sec_Fetch_Site="cross-site"), 403)
        refused(anna.ask(method, path, body, Sec_Fetch_Site="same-site"), 403)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_other_methods_are_refused(anna, method, path):
    others = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "NONSENSE"} - {method}
    for other in sorted(others):
        answer = anna.ask(other, path, {} if other == "POST" else None)
        refused(answer, 405)
        assert method in answer.headers["allow"]


@pytest.mark.parametrize(("method", "path"), POSTS)
def test_bodies_are_counted_as_they_are_read(anna, method, path):
    if path in ("/logout", "/invite", "/api/settle", "/api/gold/1/events"):
        pytest.skip("has no body, or is refused before it is read")
    long = b'{"token": "' + b"x" * LIMIT + b'"}'
    refused(anna.ask(method, path, long), 413)
    refused(anna.ask(method, path, (long[i : i + 9999] for i in range(0, len(long), 9999))), 413)
    refused(anna.ask(method, path, b"{}", Content_Length="9" * 12), 413)


@pytest.mark.parametrize("path", ["/enter", "/api/pairs/1/events"])
def test_bodies_of_other_kinds_or_shapes_are_refused(anna, path):
    for body in NO_JSON:
        refused(anna.ask("POST", path, body), 400)
    for body in OTHER_SHAPES:
        refused(anna.ask("POST", path, body), 422)
    for body in (b'{"a":' * 50_000, b'{"base": 0, "rev": NaN, "events": []}'):
        refused(anna.ask("POST", path, body), 400, 422)  # the one or the other is seen first
    for kind in (None, "text/plain", "multipart/form-data", "application/xml"):
        refused(anna.ask("POST", path, request(event()), Content_Type=kind), 415)


@pytest.mark.parametrize("token", ["", "x", "x" * 1000, "\u00e9", "../../etc/passwd"])
def test_other_tokens_let_nobody_in(server, token):
    refused(server.client(enter=False).ask("POST", "/enter", {"token": token}), 401)


BAD = [
    event(data=EDIT | {"cells": [[*place, 0, 2]]})
    for place in ([4, 0], [0, -2], [10**30, 0], [0.5, 0], ["0", 0])
]
BAD += [event(kind=kind, data={"name": "x"}) for kind in ("setting", "account", "nonsense")]
BAD += [
    event(v=2),
    event(kind="decide"),
    event(data=EDIT | {"path": "/etc/passwd"}),
    event(kind="undo", data={"of": "e0"}),
]
BAD += [event(id=id) for id in ("", "../../x", "<script>")]
BAD += [event(data=data) for data in ([], None, {})]
BAD += [
    event(kind="comment", data={"key": key, "before": "", "after": "x"})
    for key in ("__proto__", "00-1", "0-01")
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: str(bad)[:80])
def test_events_that_cannot_be_are_refused(anna, bad):
    refused(anna.ask("POST", "/api/pairs/1/events", request(event(id="good"), bad)), 422, 409, 400)


@pytest.mark.parametrize("char", ["\0", "\x08", "\x0b", "\x0c", "\x0e", "\x1f"])
def test_control_characters_are_refused(anna, char):
    for kind, data in [
        ("comment", {"key": "", "before": "", "after": f"a{char}b"}),
        ("comment", {"key": "0-1", "before": "", "after": char}),
        ("judge", {"label": ["", f"a{char}"]}),
        ("judge", {"flags": [[], ["a", f"b{char}"]]}),
        ("edit", EDIT | {"how": "accept", "set": f"a{char}"}),
    ]:
        answer = anna.ask("POST", "/api/pairs/1/events", request(event(kind=kind, data=data)))
        refused(answer, 422)
        assert f"the control character U+{ord(char):04X}" in answer.json["message"]


def test_requests_that_cannot_be_are_refused(anna):
    for name, value in [("base", -1), ("base", "0"), ("rev", None), ("events", []), ("events", {})]:
        refused(anna.ask("POST", "/api/pairs/1/events", request(event(), **{name: value})), 422)
    refused(anna.ask("POST", "/api/pairs/1/events", request(event(), rev=2)), 409)


@pytest.mark.parametrize("k", NO_PAIRS.split())
def test_unknown_pairs_are_not_found(anna, k):
    path = f"/api/pairs/{quote(k, safe='%')}"
    refused(anna.ask("GET", path), 404)
    refused(anna.ask("GET", f"{path}/history"), 404)
    refused(anna.ask("POST", f"{path}/events", request(event())), 404)


@pytest.mark.parametrize(
    ("status", "paths"),
    [
        (404, NOWHERE.split()),
        *((422, [f"/api/{path}={value}" for path in NUMBERS]) for value in NO_NUMBERS),
        (422, ["/api/queue?only=others", "/api/pairs/1?prefetch=2"]),
        (400, [f"/api/export?to={name}" for name in ("", "x", "../pharaoh", "PHARAOH", "%00")]),
    ],
)
def test_other_paths_numbers_and_formats_are_refused(anna, status, paths):
    for path in paths:
        refused(anna.ask("GET", path), status)


@pytest.mark.parametrize("query", ["%00", "%25", "_", "'; drop table event; --", "x" * 5000, "\\"])
def test_any_text_can_be_looked_for(anna, query):
    assert anna.ask("GET", f"/api/find?q={quote(query, safe='%')}").status == 200


def test_every_reply_has_the_headers_that_protect_it(anna):
    for method, path in ROUTES:
        answer = anna.ask(method, path, {} if method == "POST" else None, X_CSRF_Token=None)
        policy = set(answer.headers["content-security-policy"].split("; "))
        own = {f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect")}
        none = ("default-src", "base-uri", "form-action", "frame-ancestors")
        assert policy == own | {f"{kind} 'none'" for kind in none}
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        if path.startswith("/api"):
            assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_a_link_to_a_page_may_stand_on_another_site(anna):
    for path in PAGES:
        there = {"Sec_Fetch_Site": "cross-site"}
        assert anna.ask("GET", path, Sec_Fetch_Mode="navigate", **there).status == 200
        refused(anna.ask("GET", path, Sec_Fetch_Mode="cors", **there), 403)
    refused(anna.ask("GET", "/api/queue", Sec_Fetch_Mode="navigate", **there), 403)
