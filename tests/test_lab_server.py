"""The server of a lab: who may use which route, sessions and secrets, and its own description."""

import pytest

pytest.importorskip("starlette", reason="needs the extra [annotate]")

import jsonschema
import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from lab_server import CARLA, Person, password, serving, small_corpus

from alignkit.annotate.lab import bodies, passwords
from alignkit.annotate.lab import server as lab_server
from alignkit.annotate.lab.schema import answer as answers
from alignkit.annotate.project.replay import replay
from alignkit.model.alignment import Alignment

PEOPLE = {"o": "olga", "d": "adam", "a": "anna", "r": "rita", "L": "carla", "c": "max", "m": "zoe"}
EVERYBODY = "odarLcm"
WHO = {
    "*": "POST session, POST join/look, POST join",
    EVERYBODY: "DELETE session, GET me, PATCH me, PUT me/display, POST prove,"
    "POST me/claims/{slug},"
    "GET me/sessions, DELETE me/sessions, DELETE me/sessions/{id}, GET me/tokens, POST me/tokens,"
    "DELETE me/tokens/{id}, GET projects, GET drafts, GET openapi.json",
    "L": "GET accounts, PATCH accounts/{name}, GET audit",
    "Lc": "POST projects, POST drafts",
    "odarL": "GET {}",
    "oL": "PATCH {}, DELETE {}, GET {}/people, PUT {}/people/{name}, DELETE {}/people/{name},"
    "PATCH {}/people/{name},"
    "DELETE {}/people/{name}/sessions, POST {}/links, DELETE {}/links/{id}, GET {}/log,"
    "GET {}/assign, POST {}/assign, POST {}/move, POST {}/import, GET {}/backup,"
    "GET {}/training-round, PUT {}/training-round, DELETE {}/training-round,"
    "PUT {}/people/{name}/training",
    "odL": "POST {}/settle, GET {}/gold, GET {}/gold/changes, GET {}/gold/{k},"
    "POST {}/gold/{k}/events, GET {}/events",
    "odrL": "GET {}/progress, GET {}/agreement, GET {}/export",
    "a": "GET {}/project, GET {}/changes, GET {}/queue, GET {}/find, GET {}/pairs/{k},"
    "GET {}/pairs/{k}/history, GET {}/concordance, GET {}/training, POST {}/training/answer,"
    "POST {}/pairs/{k}/events",
    "": "GET drafts/{id}, PATCH drafts/{id}, DELETE drafts/{id}, POST drafts/{id}/files,"
    "PUT drafts/{id}/files/{n}, DELETE drafts/{id}/files/{n}, GET drafts/{id}/preview/{k}",
}
"""Who may use which route: the table of roles; drafts belong to who made them."""
TABLE = {
    name.strip().replace("{}", "projects/{slug}"): who
    for who, names in WHO.items()
    for name in names.split(",")
}
UNKNOWN = {"error": "unknown", "message": "Not found."}
OPEN_WHEN_ARCHIVED = {"PATCH projects/{slug}", "DELETE projects/{slug}"}


@pytest.fixture(autouse=True, scope="module")
def cheap():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", (2, 1, 1))
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("lab")) as server:
        server.slug = server.project(corpus=small_corpus(6, {}))
        plan = {"annotators": ["anna", "ben"], "control": 0, "double": 1}
        assign(server.of("olga"), server.slug, **plan)
        yield server


def assign(owner, slug, **plan):
    dry = owner.got("POST", f"projects/{slug}/assign", {**plan, "dry_run": True})
    return owner.got("POST", f"projects/{slug}/assign", {**plan, "plan": dry["plan"]})


def asked(entry, person, slug):
    """Send a request to a route whose body changes nothing."""
    path = entry.path.format(slug=slug, name="nobody", id="0", k=1, n=1)
    body = None if entry.takes is None else {"unexpected": 1} if path != "drafts" else {}
    if entry.takes is bytes and entry.streams:
        return person.ask("PUT", path, b"x", content_type="application/octet-stream")
    return person.ask(entry.method, path, body)


def is_refused(answer):
    return answer.status_code == 401 or (answer.status_code == 404 and answer.json() == UNKNOWN)


def test_each_route_is_for_whom_the_table_says(server):
    assert {f"{entry.method} {entry.path}" for entry in server.entries} == TABLE.keys()
    server.of("clem")
    server.lab.accounts.change("clem", CARLA, state="closed")
    people = {key: server.of(name) for key, name in PEOPLE.items()}
    strangers = Person(server), server.of("clem")
    ending = {"DELETE session": 2, "DELETE me/sessions": 1}
    wrong = []
    for entry in sorted(server.entries, key=lambda e: ending.get(f"{e.method} {e.path}", 0)):
        may = TABLE[name := f"{entry.method} {entry.path}"]
        for key, person in people.items():
            answer = asked(entry, person, server.slug)
            right = is_refused(answer) == (key not in may and may != "*")
            if answer.status_code >= 500 or not (
                right if may else answer.status_code in (404, 422)
            ):
                wrong.append((name, key, answer.status_code, answer.text))
        if may != "*":
            codes = [asked(entry, person, server.slug).status_code for person in strangers]
            wrong += [(name, codes)] if codes != [401, 401] else []
        gone = asked(entry, people["m"], "nothing")  # unknown and forbidden are alike
        wrong += [(name, gone.text)] if entry.of_project and gone.json() != UNKNOWN else []
    assert not wrong
    server.people.clear()


def test_an_archived_project_is_read_only(server):
    slug = server.project("Old")
    for state in ("archived", "open"):
        carla = server.of("carla")
        etag = carla.got("GET", f"projects/{slug}")["etag"]
        for entry in server.entries if state == "open" else ():
            name = f"{entry.method} {entry.path}"
            person = server.of("anna" if TABLE[name] == "a" else "carla")
            if entry.of_project and entry.method != "GET" and name not in OPEN_WHEN_ARCHIVED:
                assert asked(entry, person, slug).status_code == 423, name
        carla.got("PATCH", f"projects/{slug}", {"etag": etag, "state": state})
    draft = server.of("olga").ask("POST", "drafts", {"project": slug})
    assert draft.status_code == 201


def without_drafts(person):
    for draft in person.got("GET", "drafts")["drafts"]:
        person.got("DELETE", f"drafts/{draft['id']}", status=204)


def test_a_repeated_request_gets_the_first_answer(server, monkeypatch):
    max_, once = server.of("max"), {"idempotency_key": "k1"}
    without_drafts(max_)
    first = max_.got("POST", "drafts", {}, 201, **once)
    assert max_.got("POST", "drafts", {}, 201, **once) == first
    assert len(max_.got("GET", "drafts")["drafts"]) == 1
    max_.got("POST", "drafts", {"project": ""}, 422, **once)  # another body
    carla = server.of("carla")
    assert carla.got("POST", "drafts", {}, 201, **once) != first  # another account
    max_.got("POST", f"drafts/{first['id']}/files", {"name": "a", "size": 1}, 201, **once)
    max_.got("POST", f"drafts/{first['id']}/files", {"name": "b"}, 422, idempotency_key="k2")
    max_.got(
        "POST", f"drafts/{first['id']}/files", {"name": "b", "size": 1}, 201, idempotency_key="k2"
    )  # what was refused changed nothing
    assert max_.ask("POST", "drafts", {}, idempotency_key="x" * 201).status_code == 400
    token = max_.got("POST", "me/tokens", {"name": "T"}, 201, idempotency_key="t")
    again = max_.got("POST", "me/tokens", {"name": "T"}, 409, idempotency_key="t")
    assert (again["error"], token["token"] in str(again)) == ("repeated", False)
    with server.lab.database.reading() as step:
        rows = step.ask(answers).all()
    assert first["id"] in str(rows)
    assert token["token"] not in str(rows)
    max_.got("POST", "prove", {"password": password("max")}, 204, idempotency_key="p")
    now = server.lab.database.now()
    monkeypatch.setattr(server.lab.database, "clock", lambda: now + 24 * 3600)
    assert max_.got("POST", "drafts", {}, 201, **once) != first
    without_drafts(max_)


def test_a_request_whose_end_is_unknown_is_not_done_twice(server, monkeypatch):
    max_, create = server.of("max"), server.drafts.create
    with monkeypatch.context() as patch:
        patch.setattr(server.drafts, "create", lambda *more: (create(*more), 1 / 0))
        assert max_.ask("POST", "drafts", {}, idempotency_key="u").status_code == 500
    assert max_.got("POST", "drafts", {}, 409, idempotency_key="u")["error"] == "repeated"


def test_an_imported_annotator_is_not_joined_silently(server):
    drawn = {name: Alignment.parse("0-0") for name in ("zoe", "lee")}
    slugs = [server.project("Brought", small_corpus(2, drawn)) for _ in range(2)]
    olga = server.of("olga")
    for slug in slugs:
        at = f"projects/{slug}"
        people = olga.got("GET", f"{at}/people")
        assert (people["others"], people["known"]) == (["lee", "zoe"], ["zoe"])
        olga.got("PUT", f"{at}/people/zoe", {"role": "annotator"}, 409)
        olga.got("POST", f"{at}/links", {"name": "zoe"}, 409)
        assert server.lab.projects.role("zoe", slug) is None
        for old, new, status in (
            ("zoe", "max", 409),
            ("zoe", "lee", 422),
            ("anna", "eve", 404),
            ("gold", "eve", 404),
        ):
            olga.got("PATCH", f"{at}/people/{old}", {"name": new}, status)
    olga.got("PUT", f"{at}/people/zoe", {"role": "annotator", "same": True}, 204)
    server.of("zoe").got("POST", f"me/claims/{slug}", {"mine": True}, 204)
    olga.got("DELETE", f"{at}/people/zoe")
    olga.got("PUT", f"{at}/people/zoe", {"role": "annotator"})  # who that is was said
    olga.got("PATCH", f"{at}/people/zoe", {"name": "eve"}, 404)
    at = f"projects/{slugs[0]}"
    olga.got("PATCH", f"{at}/people/zoe", {"name": "zoe.2"}, 204)
    people = olga.got("GET", f"{at}/people")
    assert (people["others"], people["known"]) == (["lee", "zoe.2"], [])
    olga.got("PUT", f"{at}/people/zoe", {"role": "annotator"})
    store = server.desks.get(server.lab.projects.get(slugs[0])).store
    assert not replay(store).differences
    assert store.progress("zoe.2") == (2, 2)
    assert store.progress("zoe") == (0, 2)
    assert "annotator renamed" in olga.ask("GET", f"{at}/log").text


def test_only_the_person_says_that_imported_work_is_theirs(server):
    drawn = {name: Alignment.parse("0-0") for name in ("zoe", "max")}
    slug = server.project("Claimed", small_corpus(2, drawn))
    at, me = f"projects/{slug}", f"me/claims/{slug}"
    olga, zoe, max_ = server.of("olga"), server.of("zoe"), server.of("max")
    zoe.got("POST", me, {"mine": True}, 404)  # nobody asked
    same = {"role": "annotator", "same": True}
    for person in ("adam", "anna", "rita", "zoe"):
        server.of(person).got("PUT", f"{at}/people/zoe", same, 404)
    for _ in range(2):  # an owner cannot answer for her
        olga.got("PUT", f"{at}/people/zoe", same, 204)
        assert server.lab.projects.role("zoe", slug) is None
    olga.got("PUT", f"{at}/people/zoe", {"role": "annotator"}, 409)
    assert olga.got("GET", f"{at}/people")["asked"] == ["zoe"]
    for person in ("olga", "anna", "max", "carla"):
        server.of(person).got("POST", me, {"mine": True}, 404)
        assert server.of(person).got("GET", "projects")["claims"] == []
    assert Person(server).ask("POST", me, {"mine": True}).status_code == 401
    token = zoe.got("POST", "me/tokens", {"name": "T"}, 201)["token"]
    Person(server, token=token).got("POST", me, {"mine": True}, 403)
    asked = zoe.got("GET", "projects")["claims"]
    assert asked == [{"project": slug, "name": "Claimed", "by": "olga"}]
    zoe.got("GET", f"{at}/queue", status=404)  # nothing of the project is hers yet
    zoe.got("POST", me, {"mine": False}, 204)
    zoe.got("POST", me, {"mine": True}, 404)  # that was the answer
    assert zoe.got("GET", "projects")["claims"] == []
    people = olga.got("GET", f"{at}/people")
    assert (people["asked"], people["refused"]) == ([], ["zoe"])
    olga.got("PATCH", f"{at}/people/zoe", {"name": "zoe.3"}, 204)
    assert server.lab.projects.role("zoe", slug) is None
    olga.got("PUT", f"{at}/people/max", {**same, "role": "reader"}, 204)
    max_.got("POST", me, {"mine": True}, 204)
    assert server.lab.projects.role("max", slug) == ("reader", False, False)
    log = olga.ask("GET", f"{at}/log").text
    assert "asked whose work" in log
    assert "said whose work" in log


def test_a_question_ends_with_the_right_to_ask_it(server):
    drawn = {"zoe": Alignment.parse("0-0")}
    slug = server.project("Ended", small_corpus(2, drawn))
    olga, zoe, at = server.of("olga"), server.of("zoe"), f"projects/{slug}"
    olga.got("PUT", f"{at}/people/zoe", {"role": "owner", "same": True}, 204)
    server.lab.projects.set_role(slug, "olga", "reader", False, CARLA)
    assert zoe.got("GET", "projects")["claims"] == []
    zoe.got("POST", f"me/claims/{slug}", {"mine": True}, 404)
    carla = server.of("carla")
    carla.got("PUT", f"{at}/people/zoe", {"role": "annotator", "same": True}, 204)
    etag = carla.got("GET", at)["etag"]
    carla.got("PATCH", at, {"etag": etag, "state": "archived"})
    zoe.got("POST", f"me/claims/{slug}", {"mine": True}, 404)
    carla.got("DELETE", at, {"name": "Ended"}, 204)
    assert zoe.got("GET", "projects")["claims"] == []


def test_two_managers_do_not_overwrite_each_other(server):
    olga, slug = server.of("olga"), server.project("Twice")
    etag = olga.got("GET", f"projects/{slug}")["etag"]
    olga.got("PATCH", f"projects/{slug}", {"etag": etag, "name": "Two"})
    late = server.of("carla").got("PATCH", f"projects/{slug}", {"etag": etag, "name": "Three"}, 409)
    assert (late["error"], "olga" in late["message"]) == ("changed", True)


def test_secrets_that_are_forged_cut_or_of_an_ended_session_open_nothing(server):
    zoe = Person(server, "zoe")
    name, cookie = next(iter(zoe.cookies.items()))
    for value in (cookie[:-1], cookie[::-1], f"{cookie}x", ""):
        zoe.cookies.set(name, value, domain="lab.example", path="/")
        zoe.got("GET", "me", status=401)
    zoe.cookies.clear()
    zoe.cookies.set(name, cookie)
    assert zoe.got("GET", "me")["account"] == "zoe"
    csrf = zoe.csrf
    for value in (csrf[:-1], csrf.swapcase(), server.of("anna").csrf, ""):
        zoe.csrf = value
        assert zoe.got("GET", "me", status=403)["error"] == "csrf"
    zoe.csrf = csrf
    assert zoe.got("GET", "me", status=401, x_account="anna")["error"] == "taken"
    for headers in (
        {"origin": "https://evil.example"},
        {"host": "evil.example"},
        {"sec_fetch_site": "cross-site"},
    ):
        zoe.got("GET", "me", status=403, **headers)
    zoe.got("DELETE", "session", status=204)
    zoe.cookies.set(name, cookie)
    assert zoe.got("GET", "me", status=401)["error"] == "signin"


def test_tokens_do_less_than_their_account_and_no_cookie_helps(server):
    olga, other = server.of("olga"), server.project("Other")
    make = {"name": "script", "project": server.slug}
    token = olga.got("POST", "me/tokens", make, 201)["token"]
    program = Person(server, "olga", token)
    program.cookies = olga.cookies
    program.got("GET", f"projects/{server.slug}/assign")
    for path in (f"projects/{other}", "audit"):
        assert program.got("GET", path, status=404) == UNKNOWN
    program.got("POST", "drafts", {}, 404)
    program.got("POST", "drafts", {"project": other}, 404)
    for path in ("me/tokens", f"projects/{server.slug}/backup", "me/sessions"):
        program.got("GET", path, status=403)
    for days in (0, 366, -1, "90"):
        olga.got("POST", "me/tokens", {**make, "days": days}, 422)
    olga.got("POST", "me/tokens", {"name": "a year", "days": 365}, 201)
    reader = olga.got("POST", "me/tokens", {"name": "r", "read_only": True}, 201)
    program.token = reader["token"]
    assert program.ask("GET", f"projects/{other}/events").status_code == 200
    program.got("POST", f"projects/{other}/move", {"from": "a", "to": None, "count": 1}, 403)
    for text in (program.token[:-1], f"{program.token}x", "ak_"):
        program.token = text
        assert program.got("GET", "me", status=401)["error"] == "token"
    program.token = reader["token"]
    olga.got("DELETE", f"me/tokens/{reader['id']}", status=204)
    program.got("GET", "me", status=401)


def test_what_matters_asks_for_the_password_again(server):
    olga, slug, now = server.of("olga"), server.slug, server.lab.database.clock
    server.lab.database.clock = lambda: now() + 3600
    try:
        for method, path, body in (
            ("GET", f"projects/{slug}/backup", None),
            ("GET", f"projects/{slug}/export?what=all", None),
            ("POST", f"projects/{slug}/links", {"name": "anna", "kind": "reset"}),
            ("PUT", f"projects/{slug}/people/anna", {"role": "owner"}),
            ("POST", "me/tokens", {"name": "t"}),
        ):
            assert olga.got(method, path, body, 403)["error"] == "prove", path
        olga.got("POST", "prove", {"password": password("olga")}, 204)
        assert olga.ask("GET", f"projects/{slug}/backup").status_code == 200
    finally:
        server.lab.database.clock = now


def test_bodies_are_checked_and_the_wrong_field_is_named(server):
    olga, path = server.of("olga"), f"projects/{server.slug}/move"
    for body, status, field in (
        (b"{", 400, None),
        ({"from": "a", "to": None, "count": "x"}, 422, "count"),
        ({"from": "a", "to": None, "count": 1, "more": 1}, 422, ""),
    ):
        fault = olga.got("POST", path, body, status, content_type="application/json")
        assert fault.get("field") == field
    olga.got("POST", path, b"{}", 415, content_type="text/plain")
    olga.got("POST", path, b" " * 300_000, 413, content_type="application/json")


def test_the_description_is_valid_and_answers_are_as_described(server):
    api = server.of("carla").got("GET", "openapi.json")
    own = {(method, path) for path, rows in api["paths"].items() for method in rows}
    assert own == {(entry.method.lower(), f"/{entry.path}") for entry in server.entries}
    assert api["openapi"].startswith("3.1")
    for schema in api["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for entry in server.entries:
        if entry.method != "GET":
            continue
        name = f"GET {entry.path}"
        answer = asked(entry, server.of("anna" if TABLE[name] == "a" else "carla"), server.slug)
        operation = api["paths"][f"/{entry.path}"]["get"]
        stated = operation["responses"][str(answer.status_code)].get("content", {})
        kind = answer.headers.get("content-type", "").partition(";")[0]
        assert (kind in stated) == bool(answer.content), name
        if kind == "application/json":
            rules = {**stated[kind]["schema"], "components": api["components"]}
            jsonschema.validate(answer.json(), rules)
    fault = msgspec.json.decode(Person(server).ask("GET", "me").content, type=bodies.Fault)
    assert fault.error == "signin"


def try_out(server, operation):
    """Send drawn requests to a route: each is answered by a status that it states."""
    name = operation.label.replace("/", "", 1)
    person = server.of("anna" if TABLE[name] == "a" else "carla")

    @settings(
        max_examples=15,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy())
    def ask(case):
        if "slug" in case.path_parameters:
            case.path_parameters["slug"] = server.slug
        sent = case.as_transport_kwargs(base_url="http://lab.example/api/v1")
        if isinstance(body := sent.get("json"), dict):
            body.pop("state", None)  # it stays open
        kind = sent.pop("headers").get("content-type", "application/json")
        sent |= {"headers": {"x-csrf-token": person.csrf, "content-type": kind}, "cookies": None}
        if "data" in sent:
            sent["content"] = sent.pop("data")
        answer = person.request(**sent)
        stated = operation.definition.raw["responses"]
        assert str(answer.status_code) in stated, (name, sent, answer.text)

    if name not in ("DELETE session", "DELETE me/sessions", "POST session"):
        ask()


@pytest.mark.slow
def test_no_request_is_answered_by_a_status_that_is_not_stated(server, monkeypatch):
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
    monkeypatch.setattr(lab_server, "_RATE", 1e6)
    api = server.of("carla").got("GET", "openapi.json")
    for result in schemathesis.openapi.from_dict(api).get_all_operations():
        try_out(server, result.ok())
