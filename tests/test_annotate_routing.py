"""A route is one function: its query, body, answer and statuses are read from its signature."""

from typing import Annotated, Literal

import pytest

pytest.importorskip("starlette", reason="needs the extra [annotate]")

from msgspec import Meta, Struct, defstruct, json
from starlette.requests import Request
from starlette.responses import Response

from alignkit.annotate.server.routing import Entry, Routes, decoded
from alignkit.annotate.server.security import RefusedError

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

ROUTES = Routes(Entry)


class Wanted(Struct):
    after: int = 0
    done: bool = False


class Sent(Struct, forbid_unknown_fields=True):
    name: str
    places: list[int] = []


class Answered(Struct):
    count: int


@ROUTES.add("POST", "things", "look", status=201)
def post(visit: object, query: Wanted, sent: Sent) -> Answered:
    return Answered(query.after + len(sent.places))


@ROUTES.add("GET", "things", "look")
def perhaps(visit: object) -> Answered | None:
    return None


@ROUTES.add("DELETE", "things", "look")
def remove(visit: object) -> None:
    return None


@ROUTES.add("GET", "file", "look", gives=Answered, also=(304,), files=("text/plain",))
def file(visit: object) -> Response:
    return Response("text", media_type="text/plain")


ADDED, MAYBE, REMOVED, FILE = ROUTES.entries


def request(query=""):
    return Request({"type": "http", "query_string": query.encode(), "headers": []})


def test_the_signature_says_what_a_route_takes_and_gives():
    assert (ADDED.query, ADDED.takes, ADDED.answers_with) == (Wanted, Sent, Answered)
    assert (MAYBE.query, MAYBE.takes, MAYBE.answers_with) == (None, None, Answered)
    assert (REMOVED.answers_with, FILE.answers_with) == (None, Answered)


def test_the_statuses_of_success_follow_from_the_answer():
    def below_400(entry):
        return sorted(code for code in entry.statuses if code < 400)

    assert below_400(ADDED) == [201]
    assert below_400(MAYBE) == [200, 204]
    assert below_400(REMOVED) == [204]
    assert below_400(FILE) == [200, 304]
    assert {408, 413, 415} <= ADDED.statuses
    assert not {408, 413, 415} & MAYBE.statuses


def test_the_function_gets_structs():
    given = ADDED.arguments(request("after=1e3&done=true&more=1"), b'{"name":"a","places":[1,2]}')
    assert given == {"query": Wanted(1000, True), "sent": Sent("a", [1, 2])}
    assert ADDED.answer(None, **given) == Answered(1002)
    assert REMOVED.arguments(request("after=x"), b"") == {}


@pytest.mark.parametrize(
    ("query", "body", "status", "field"),
    [
        ("after=x", b'{"name":"a"}', 422, "after"),
        ("done=perhaps", b'{"name":"a"}', 422, "done"),
        ("", b'{"name":"a","places":[1,"x"]}', 422, "places"),
        ("", b'{"name":"a","more":1}', 422, ""),
        ("", b"[]", 422, ""),
        ("", b"{", 400, None),
        ("", b'{"name":"\\ud800"}', 400, None),
        ("", b"", 400, None),
    ],
)
def test_another_form_is_refused_with_the_field(query, body, status, field):
    with pytest.raises(RefusedError) as refused:
        ADDED.arguments(request(query), body)
    assert (refused.value.status, refused.value.more.get("field")) == (status, field)


def test_deep_json_is_refused():
    with pytest.raises(RefusedError) as refused:
        decoded(b'{"name":' * 100_000, Sent)
    assert refused.value.status in (400, 422)


@pytest.mark.parametrize(
    ("kind", "value", "field"),
    [
        (int, "x", "a"),
        (Annotated[int, Meta(ge=1, le=3)], 0, "a"),
        (Annotated[int, Meta(ge=1, le=3)], 4, "a"),
        (Annotated[str, Meta(min_length=2)], "x", "a"),
        (Annotated[str, Meta(max_length=2)], "xyz", "a"),
        (Annotated[str, Meta(pattern="^x$")], "y", "a"),
        (Literal["x", "y"], "z", "a"),
        (bool, 1, "a"),
        (list[int], ["x"], "a"),
        (str | None, 1, "a"),
    ],
)
def test_what_a_library_says_of_a_request_is_put_in_plain_words(kind, value, field):
    body = defstruct("Body", [("a", kind)], forbid_unknown_fields=True)
    for sent in ({"a": value}, {}, {"a": value, "b": 1}, []):
        with pytest.raises(RefusedError) as caught:
            decoded(json.encode(sent), body)
        refused = caught.value
        assert refused.status == 422
        for word in ("Expected", "`", "Object", "enum", "regex", "$"):
            assert word not in refused.message, refused.message
        assert refused.more["field"] in (field, "")
    with pytest.raises(RefusedError, match=r"not valid JSON$"):
        decoded(b"{", body)
