"""The lab store: accounts, sessions, links, tokens, roles, and what the audit log keeps of them."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import json
from postgres_server import server

from alignkit.annotate.lab import passwords, place, schema, values
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.values import Actor, Ended, LabSession

_NUMBERS = count(1)
CARLA, ANNA, BEN = Actor("carla"), Actor("anna"), Actor("ben")
HOME, AWAY = "192.0.2.1", "198.51.100.7"
DAY = 24 * 3600


def password(name: str) -> str:
    return f"the password of {name}"


def place_of(folder: Path, name: str = "lab") -> str:
    """A new place: a folder, or a database of PostgreSQL if ALIGNKIT_STORE says so."""
    if os.environ.get("ALIGNKIT_STORE") != "postgresql":
        return str(folder / name)
    base, database = server().url, f"lab{next(_NUMBERS)}"
    engine = sa.create_engine(base, isolation_level="AUTOCOMMIT")
    with engine.connect() as conn:
        conn.exec_driver_sql(f"CREATE DATABASE {database}")
    engine.dispose()
    return base.replace("/postgres?", f"/{database}?")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "COST", (2, 1, 1))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """A lab with its owner carla, her project news, and the member anna, who owns tales."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    lab = Lab.open(place_of(tmp_path), serve=True)
    lab.now = 1.8e9  # type: ignore[attr-defined]
    lab.database.clock = lambda: lab.now  # type: ignore[attr-defined]
    token = lab.links.first_owner()
    assert token is not None
    lab.links.use(token, password("carla"), name="Carla", address=HOME)
    make(lab, "News", CARLA)
    invite(lab, "anna", CARLA)
    lab.accounts.change("anna", CARLA, may_create=True)
    make(lab, "Tales", ANNA)
    yield lab
    lab.close()


def later(lab: Lab, seconds: float) -> None:
    lab.now += seconds  # type: ignore[attr-defined]


def make(lab: Lab, name: str, actor: Actor) -> None:
    lab.projects.opened(lab.projects.make(name, "align", "en-de", actor).key, actor)


def invite(lab: Lab, name: str, by: Actor, project: str = "", role: str = "annotator") -> None:
    link = lab.links.create("invite", name, by, project=project, role=role)
    lab.links.use(link.token, password(name), address=HOME)


def sign_in(lab: Lab, name: str, **more: str) -> Any:
    return lab.sessions.sign_in(name, password(name), **{"address": HOME, **more})


def account_of(lab: Lab, cookie: str) -> str:
    session = lab.sessions.visitor(cookie)
    return session.account if isinstance(session, LabSession) else ""


def log(lab: Lab, **which: str) -> list[dict[str, Any]]:
    return [json.decode(line) for line in lab.audit.lines(**which)]


def actions(lab: Lab, **which: str) -> list[tuple[str, str, str]]:
    return [(row["actor"], row["action"], row["target"]) for row in log(lab, **which)]


# Places


def test_a_lab_is_a_folder_of_its_own_that_nobody_else_can_read(tmp_path: Path) -> None:
    path = tmp_path / "lab"
    with_files = tmp_path / "other"
    with_files.mkdir(mode=0o700)
    (with_files / "thesis.tex").write_text("x")
    for refused in (with_files, tmp_path / "none" / "lab", with_files / "thesis.tex"):
        with pytest.raises(values.LabError):
            Lab.open(str(refused))
    assert os.listdir(with_files) == ["thesis.tex"]
    lab = Lab.open(str(path), serve=True)
    assert lab.project_place("k").startswith(str(path / "projects"))
    lab.close()
    lab.close()
    modes = {entry.name: entry.stat().st_mode & 0o777 for entry in [path, *path.iterdir()]}
    assert set(modes.values()) == {0o700, 0o600}, modes
    path.chmod(0o750)
    with pytest.raises(values.LabError, match="chmod 700"):
        Lab.open(str(path))


def test_one_server_at_a_time_and_the_key_stays(tmp_path: Path) -> None:
    first = Lab.open(str(tmp_path / "lab"), serve=True)
    with pytest.raises(values.LabError, match="another server"):
        Lab.open(str(tmp_path / "lab"), serve=True)
    command = Lab.open(str(tmp_path / "lab"))
    assert command.key == first.key
    command.close()
    first.close()
    Lab.open(str(tmp_path / "lab"), serve=True).close()


def test_a_place_without_working_locks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "_SECOND_WRITER", "pass")
    with pytest.raises(values.LabError, match="locks of files"):
        Lab.open(str(tmp_path / "lab"), serve=True)


@pytest.mark.parametrize("change", ["UPDATE lab SET version = 99", "DROP TABLE lab"])
def test_a_newer_lab_and_another_database_are_refused(tmp_path: Path, change: str) -> None:
    Lab.open(str(tmp_path / "lab")).close()
    with sqlite3.connect(tmp_path / "lab" / "lab.db") as conn:
        conn.execute(change)
    conn.close()
    with pytest.raises(values.LabError, match="newer alignkit|not that of a lab"):
        Lab.open(str(tmp_path / "lab"))


# Secrets


def test_the_file_has_hashes_only(lab: Lab, tmp_path: Path) -> None:
    session = sign_in(lab, "anna")
    token = lab.tokens.create("anna", "script", ANNA).token
    link = lab.links.create("reset", "anna", CARLA).token
    with pytest.raises(values.WrongPassword):
        lab.sessions.sign_in("my-secret-in-the-wrong-field", "x", address=HOME)
    secrets = [session.cookie, session.csrf, token, link, password("anna"), "my-secret-in"]
    lab.tidy()
    files = b"".join(file.read_bytes() for file in (tmp_path / "lab").glob("lab.db*"))
    assert b"anna" in files
    for secret in secrets:
        assert secret.encode() not in files
    with lab.reading() as conn:
        stored = conn.exec_driver_sql("SELECT hash, csrf FROM session").all()
    for hash in [cell for row in stored for cell in row]:
        assert lab.sessions.visitor(hash) is None
        assert not lab.sessions.fits(session.cookie, hash)
    assert lab.sessions.fits(session.cookie, session.csrf)
    assert not lab.sessions.fits(session.csrf, session.cookie)
    assert not lab.sessions.fits("", "")


def test_unknown_closed_and_wrong_look_the_same_and_take_the_same_work(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    invite(lab, "ben", CARLA)
    lab.accounts.change("ben", CARLA, state="closed")
    lab.links.create("invite", "dora", CARLA)
    work: list[Any] = []
    scrypt = hashlib.scrypt

    def counted(*args: Any, **cost: Any) -> bytes:
        work.append({name: cost[name] for name in "nrp"})
        return scrypt(*args, **cost)

    monkeypatch.setattr(hashlib, "scrypt", counted)
    writes = []
    for name in ("anna", "ben", "dora", "nobody"):
        before = lab.database.changes
        with pytest.raises(values.WrongPassword, match=r"^Name or password is wrong\.$"):
            lab.sessions.sign_in(name, password(name if name != "anna" else "x"), address=HOME)
        writes.append(lab.database.changes - before)
    assert work == [work[0]] * 4
    assert writes == [writes[0]] * 4


# Sessions


def test_sessions_end_by_age_and_without_use(lab: Lab) -> None:
    used, idle = sign_in(lab, "anna").cookie, sign_in(lab, "anna").cookie
    for _ in range(29):
        later(lab, DAY)
        assert account_of(lab, used) == "anna"
    ended = lab.sessions.visitor(idle)
    assert isinstance(ended, Ended)
    assert (ended.account, ended.why, ended.kind) == ("anna", "expired", "ended")
    later(lab, DAY + 1)
    assert isinstance(lab.sessions.visitor(used), Ended)
    assert lab.sessions.rows("anna") == []
    later(lab, 100 * DAY)
    lab.tidy()
    assert lab.sessions.visitor(used) is None


def test_sessions_outlive_the_server_and_keep_their_last_use(tmp_path: Path, lab: Lab) -> None:
    cookie = sign_in(lab, "anna", agent="Firefox").cookie
    later(lab, 6 * DAY)
    assert account_of(lab, cookie)
    later(lab, 6 * DAY)
    lab.close()
    again = Lab.open(lab.database.place, serve=True)
    again.database.clock = lab.database.clock
    (row,) = again.sessions.rows("anna", cookie)
    assert (row.device, row.address, row.current) == ("Firefox", HOME, True)
    assert account_of(again, cookie) == "anna"
    again.close()


def test_signing_in_over_somebody_ends_their_session(lab: Lab) -> None:
    anna = sign_in(lab, "anna").cookie
    carla = sign_in(lab, "carla", taking_over=anna).cookie
    ended = lab.sessions.visitor(anna)
    assert isinstance(ended, Ended)
    assert (ended.account, ended.why, ended.kind) == ("anna", "taken over by carla", "taken")
    assert account_of(lab, carla) == "carla"
    assert actions(lab)[-2:] == [("carla", "session ended", "anna"), ("carla", "signed in", "")]


def test_the_password_again_holds_for_ten_minutes(lab: Lab) -> None:
    cookie = sign_in(lab, "anna").cookie

    def proved() -> bool:
        session = lab.sessions.visitor(cookie)
        assert isinstance(session, LabSession)
        return lab.sessions.proved_lately(session)

    assert proved()
    later(lab, 601)
    assert not proved()
    with pytest.raises(values.WrongPassword):
        lab.sessions.prove(cookie, password("carla"), address=HOME)
    assert not proved()
    lab.sessions.prove(cookie, password("anna"), address=HOME)
    assert proved()


def test_who_may_end_which_session(lab: Lab) -> None:
    first, second = sign_in(lab, "anna").cookie, sign_in(lab, "anna").cookie
    id = next(row.id for row in lab.sessions.rows("anna", first) if row.current)
    lab.sessions.end("anna", ANNA, id=id)
    assert [account_of(lab, cookie) for cookie in (first, second)] == ["", "anna"]
    lab.sessions.end("carla", CARLA, id=lab.sessions.rows("anna")[0].id)  # anna's, not carla's
    with pytest.raises(values.NotAllowed):
        lab.sessions.end("carla", ANNA)
    assert account_of(lab, second)
    lab.sessions.end("anna", CARLA)
    assert not account_of(lab, second)
    lab.sessions.sign_out(second)
    lab.sessions.sign_out("unknown")


# Passwords and closing


def test_a_new_password_ends_the_other_sessions(lab: Lab) -> None:
    mine, other = sign_in(lab, "anna").cookie, sign_in(lab, "anna").cookie
    for wrong in ("short", "x" * 201):
        with pytest.raises(values.BadValue) as refused:
            lab.accounts.set_password("anna", password("anna"), wrong, ANNA)
        assert refused.value.field == "password"
    lab.accounts.set_password("anna", password("anna"), "another password", ANNA, keep=mine)
    assert [account_of(lab, cookie) for cookie in (mine, other)] == ["anna", ""]
    with pytest.raises(values.WrongPassword):
        sign_in(lab, "anna")
    lab.sessions.sign_in("ANNA ", "ａｎｏｔｈｅｒ password", address=HOME)  # the same letters


def test_closing_ends_everything_and_reopening_gives_nothing_back(lab: Lab) -> None:
    invite(lab, "ben", CARLA)
    cookie, token = sign_in(lab, "ben").cookie, lab.tokens.create("ben", "x", BEN).token
    link = lab.links.create("reset", "ben", CARLA).token
    lab.accounts.change("ben", CARLA, state="closed")
    ended = lab.sessions.visitor(cookie)
    assert isinstance(ended, Ended)
    assert ended.kind == "closed"
    lab.accounts.change("ben", CARLA, state="open")
    assert lab.tokens.visitor(token) is None
    assert lab.links.peek(link) is None
    assert not account_of(lab, cookie)
    sign_in(lab, "ben")


def test_closing_wins_over_signing_in_at_the_same_time(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashing, closed = Event(), Event()
    matches = passwords.matches

    def slow(*args: str) -> bool:
        hashing.set()
        assert closed.wait(10)
        return matches(*args)

    monkeypatch.setattr(passwords, "matches", slow)
    invite(lab, "ben", CARLA)
    with ThreadPoolExecutor() as pool:
        entering = pool.submit(sign_in, lab, "ben")
        assert hashing.wait(10)
        lab.accounts.change("ben", CARLA, state="closed")
        closed.set()
        with pytest.raises(values.WrongPassword):
            entering.result()


def test_a_stale_etag_says_who_and_when(lab: Lab) -> None:
    row = lab.accounts.get("anna")
    lab.accounts.change("anna", CARLA, may_create=False, etag=row.etag)
    sign_in(lab, "anna")
    with pytest.raises(values.ChangedMeanwhile) as refused:
        lab.accounts.change("anna", CARLA, rank="owner", etag=row.etag)
    assert (refused.value.who, refused.value.when) == (
        "carla",
        values.timestamp(lab.database.now()),
    )
    person = lab.projects.people("tales")[0]
    lab.projects.add_existing("tales", "carla", "owner", False, CARLA)
    lab.projects.set_role("tales", "anna", "reader", False, CARLA, etag=person.etag)
    for change in (lambda: lab.projects.set_role("tales", "anna", "owner", True, ANNA,
                                                 etag=person.etag),):  # fmt: skip
        with pytest.raises(values.ChangedMeanwhile, match="carla changed this at"):
            change()
    project = lab.projects.get("news")
    lab.projects.change("news", CARLA, name="Old news", etag=project.etag)
    with pytest.raises(values.ChangedMeanwhile):
        lab.projects.change("news", CARLA, state="archived", etag=project.etag)


# Links


@pytest.mark.parametrize("kind", ["first", "invite", "reset"])
def test_a_link_works_once_and_not_too_late(lab: Lab, kind: str) -> None:
    name = "anna" if kind == "reset" else "dora"

    def link() -> str:
        if kind == "first":
            return lab.links.owner_link(Actor("", "command"))
        return lab.links.create(kind, name, CARLA, project="news" * (kind == "invite")).token

    def use(token: str) -> str:
        return account_of(lab, lab.links.use(token, "x" * 12, name=name, address=HOME).cookie)

    replaced, late = link(), link()
    assert lab.links.peek(replaced) is None
    info = lab.links.peek(late)
    assert info is not None
    assert (info.kind, info.name) == (kind, "" if kind == "first" else name)
    later(lab, {"first": 3600, "invite": 7 * DAY, "reset": DAY}[kind])
    token = late
    for _ in range(2):
        with pytest.raises(values.LinkGone):
            use(token)
        token = link()
        assert use(token) == name
        if kind == "invite":
            break
    with pytest.raises(values.LinkGone):
        use(token)


def test_of_two_who_use_a_link_at_once_one_wins(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    token = lab.links.create("invite", "dora", CARLA, project="news", role="reader").token
    both, hashed = Barrier(2), passwords.hashed

    def together(password: str) -> str:
        both.wait(10)
        return hashed(password)

    monkeypatch.setattr("alignkit.annotate.lab.links.hashed", together)

    def use(password: str) -> str:
        try:
            return lab.links.use(token, password, address=HOME).account
        except values.LinkGone:
            return "gone"

    with ThreadPoolExecutor() as pool:
        assert sorted(pool.map(use, ["a" * 12, "b" * 12])) == ["dora", "gone"]
    assert len(lab.sessions.rows("dora")) == 1


def test_an_invited_person_has_name_and_role_before_joining(lab: Lab) -> None:
    link = lab.links.create("invite", "Dora", ANNA, project="tales", role="adjudicator")
    dora = next(row for row in lab.projects.people("tales") if row.name == "dora")
    assert (dora.state, dora.role, dora.link) == ("invited", "adjudicator", link.id)
    assert lab.projects.role("dora", "tales") is None  # not before joining
    lab.links.withdraw(link.id, ANNA, project="news")  # of another project
    assert lab.links.peek(link.token)
    lab.links.withdraw(link.id, ANNA, project="tales")
    assert lab.links.peek(link.token) is None
    invite(lab, "dora", ANNA, "tales", "reader")
    assert lab.projects.role("dora", "tales") == ("reader", False, False)
    with pytest.raises(values.NameTaken):
        lab.links.create("invite", "dora", ANNA, project="tales")
    for name in ("", "Ä", "-x", "x" * 41, "a b", "a\r\nb", "../a"):
        with pytest.raises(values.BadValue):
            lab.links.create("invite", name, CARLA)


def test_a_reset_keeps_the_old_password_until_it_is_used(lab: Lab) -> None:
    cookie, token = sign_in(lab, "anna").cookie, lab.tokens.create("anna", "x", ANNA).token
    link = lab.links.create("reset", "anna", CARLA, project="tales").token
    assert account_of(lab, sign_in(lab, "anna").cookie) == account_of(lab, cookie) == "anna"
    new = lab.links.use(link, "x" * 12, address=HOME)
    assert [row.current for row in lab.sessions.rows("anna", new.cookie)] == [True]
    assert lab.tokens.visitor(token) is None


def test_nobody_takes_over_an_account_by_a_link(lab: Lab) -> None:
    """Owners of a project make links for people who have roles in their projects only."""
    invite(lab, "ben", ANNA, "tales")
    early = lab.links.create("reset", "ben", ANNA).token
    assert lab.links.peek(early)
    lab.projects.add_existing("news", "ben", "reader", False, CARLA)
    assert lab.links.peek(early) is None
    with pytest.raises(values.LinkGone):
        lab.links.use(early, "x" * 12, address=HOME)
    for name in ("ben", "carla"):
        lab.projects.role("carla", "tales")
        with pytest.raises(values.NotAllowed):
            lab.links.create("reset", name, ANNA)
    kept = lab.links.create("invite", "dora", ANNA, project="tales").token
    with pytest.raises(values.NotAllowed):  # anna's link would let anna into carla's project
        lab.projects.add_existing("tales", "dora", "owner", True, BEN)
    make(lab, "Songs", CARLA)
    lab.projects.add_existing("songs", "dora", "owner", False, CARLA)
    assert lab.links.peek(kept) is None
    with pytest.raises(values.NotAllowed):
        lab.links.create("invite", "dora", ANNA, project="tales")
    removed = lab.links.create("invite", "emil", ANNA, project="tales").token
    lab.projects.remove("tales", "emil", ANNA)
    assert lab.links.peek(removed) is None
    invite(lab, "emil", ANNA, "tales")


def test_the_first_owner_and_an_owner_who_is_locked_out(tmp_path: Path, lab: Lab) -> None:
    assert lab.links.first_owner() is None
    command = Actor("", "command")
    for name in ("anna", "Not a name"):
        link = lab.links.owner_link(command)
        with pytest.raises((values.NameTaken, values.BadValue)):
            lab.links.use(link, "x" * 12, name=name, address=HOME)
        assert lab.links.peek(link)
    lab.links.use(lab.links.owner_link(command), "x" * 12, name="carla", address=HOME)
    lab.sessions.sign_in("carla", "x" * 12, address=HOME)
    assert ("", "link made", "") in actions(lab)
    empty = Lab.open(place_of(tmp_path, "new"))
    earlier, link = empty.links.first_owner(), empty.links.first_owner()
    assert link and earlier and empty.links.peek(link) and not empty.links.peek(earlier)
    empty.close()


# Tokens


def test_tokens_are_for_their_account_as_it_is_now(lab: Lab) -> None:
    row = lab.tokens.create("anna", "script", ANNA, project="tales", read_only=True, days=2)
    assert row.token.startswith("ak_") and row.begins == row.token[:8]
    visitor = lab.tokens.visitor(row.token)
    assert visitor == (row.id, "anna", "member", True, "tales", True)
    lab.accounts.change("anna", CARLA, rank="owner")
    assert getattr(lab.tokens.visitor(row.token), "rank", "") == "owner"
    lab.tidy()
    (listed,) = lab.tokens.rows("anna")
    assert (listed.token, listed.used) == ("", values.timestamp(lab.database.now()))
    for wrong in (row.token[:-1], row.token.lower(), row.id, ""):
        assert lab.tokens.visitor(wrong) is None
    lab.tokens.withdraw("carla", row.id, CARLA)  # not carla's
    assert lab.tokens.visitor(row.token)
    later(lab, 2 * DAY)
    assert lab.tokens.visitor(row.token) is None
    other = lab.tokens.create("anna", "script", ANNA).token
    lab.tokens.withdraw("anna", lab.tokens.rows("anna")[-1].id, ANNA)
    assert lab.tokens.visitor(other) is None
    for more in ({"days": 0}, {"days": 366}, {"name": " "}, {"name": "a\nb"}):
        with pytest.raises(values.BadValue):
            lab.tokens.create("anna", **{"name": "x", "actor": ANNA, **more})  # type: ignore[arg-type]
    invite(lab, "ben", CARLA)
    with pytest.raises(values.UnknownProject):
        lab.tokens.create("ben", "x", BEN, project="tales")


# Projects and roles


def test_projects_are_made_archived_and_deleted_across_two_stores(lab: Lab) -> None:
    made = lab.projects.make("Übersetzte  News!", "judge", "de-en", ANNA)
    assert (made.slug, made.state) == ("ubersetzte-news", "making")
    assert [row.key for row in lab.projects.leftovers()] == [made.key]
    lab.projects.clear(made.key)
    assert [row.slug for row in lab.projects.rows()] == ["news", "tales"]
    assert lab.projects.rows("anna") == [lab.projects.get("tales")]
    with pytest.raises(values.WrongState):
        lab.projects.delete("tales", ANNA)
    lab.projects.save_counts(lab.projects.get("tales").key, 7, 4, 2, 1.8e9)
    token = lab.tokens.create("anna", "x", ANNA, project="tales").token
    lab.projects.change("tales", ANNA, state="archived")
    gone = lab.projects.delete("tales", ANNA)
    assert (gone.n, gone.pairs, gone.done, gone.last) == (7, 4, 2, "2027-01-15T08:00:00Z")
    assert lab.tokens.visitor(token) is None
    assert lab.projects.roles("anna") == {}
    with pytest.raises(values.UnknownProject):
        lab.projects.get("tales")
    assert [row.key for row in lab.projects.leftovers()] == [gone.key]
    lab.projects.clear(gone.key)
    assert lab.projects.leftovers() == []
    assert lab.projects.make("Tales", "align", "", ANNA).slug == "tales-2"  # not given again
    for slug in ("tales", "news", "a/b", "A", "x" * 41, "a\r"):
        with pytest.raises(values.BadValue):
            lab.projects.make("x", "align", "", ANNA, slug=slug)


def test_the_last_owner_cannot_leave(lab: Lab) -> None:
    for change in ({"state": "closed"}, {"rank": "member"}):
        with pytest.raises(values.LastOwner):
            lab.accounts.change("carla", CARLA, **change)
    with pytest.raises(values.LastOwner, match="of tales"):
        lab.accounts.change("anna", CARLA, state="closed")
    invited = lab.links.create("invite", "ben", ANNA, project="tales", role="owner").token
    leave: list[Callable[[], object]] = [
        lambda: lab.projects.remove("tales", "anna", CARLA),
        lambda: lab.projects.set_role("tales", "anna", "reader", False, ANNA),
    ]
    for go in leave:
        with pytest.raises(values.LastOwner):
            go()
    lab.links.use(invited, password("ben"), address=HOME)
    lab.accounts.change("ben", CARLA, state="closed")
    with pytest.raises(values.LastOwner):
        leave[0]()
    lab.accounts.change("ben", CARLA, state="open")
    lab.projects.remove("tales", "anna", ANNA)
    lab.accounts.change("anna", CARLA, rank="owner")
    lab.accounts.change("carla", ANNA, rank="member")


_CASES = st.tuples(
    st.sampled_from(["owner", "member"]),
    st.sampled_from(["open", "closed"]),
    st.sampled_from(["", "owner", "adjudicator", "annotator", "reader"]),
    st.booleans(),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(case=_CASES)
def test_the_role_of_everybody_in_each_state(lab: Lab, case: tuple[str, str, str, bool]) -> None:
    rank, state, role, annotates = case
    if "ben" not in [row.name for row in lab.accounts.rows()]:
        invite(lab, "ben", CARLA)
    lab.accounts.change("ben", CARLA, state="open", rank=rank)
    if "tales" in lab.projects.roles("ben") and lab.projects.rows("ben"):
        lab.projects.remove("tales", "ben", CARLA)
    if role:
        lab.projects.add_existing("tales", "ben", role, annotates, CARLA)
    cookie = sign_in(lab, "ben").cookie
    lab.accounts.change("ben", CARLA, state=state)
    works = role == "annotator" or (annotates and role in ("owner", "adjudicator"))
    expected: Any = (role, works, False) if role else None
    if rank == "owner":
        expected = ("owner", works, role != "owner")
    assert lab.projects.role("ben", "tales") == (expected if state == "open" else None)
    assert lab.projects.role("ben", "nothing") is None
    assert bool(account_of(lab, cookie)) == (state == "open")
    lab.sessions.end("ben", CARLA)


def test_names_of_gold_and_systems_cannot_join(lab: Lab) -> None:
    def refuse(key: str, name: str) -> None:
        if (key, name) == (lab.projects.get("tales").key, "gold"):
            raise values.NameTaken("gold")

    lab.projects.check_free = refuse
    with pytest.raises(values.NameTaken):
        lab.links.create("invite", "Gold", ANNA, project="tales")
    invite(lab, "gold", CARLA, "news")
    with pytest.raises(values.NameTaken):
        lab.projects.add_existing("tales", "gold", "annotator", False, ANNA)


# Guessing


def fail(lab: Lab, name: str, address: str, times: int) -> int:
    """Try a wrong password; return how many tries were checked."""
    for k in range(times):
        try:
            lab.sessions.sign_in(name, "wrong", address=address)
        except values.WrongPassword:
            continue
        except values.TooManyTries as refused:
            assert 0 < refused.seconds <= 3600
            return k
    return times


@pytest.mark.parametrize("name", ["anna", "nobody"])
def test_guessing_is_slowed_down_by_name_and_address(lab: Lab, name: str) -> None:
    later(lab, -lab.database.now() % 3600)
    assert fail(lab, name, HOME, 9) == 5
    sign_in(lab, "carla")
    with pytest.raises(values.TooManyTries, match="1 minute"):
        lab.sessions.sign_in(name, password(name), address=HOME)
    assert [fail(lab, f"x{k}", HOME, 5) for k in range(4)] == [5, 5, 5, 0]
    later(lab, 60)
    network = [f"2001:db8::{k}" for k in range(1, 9)]
    assert [fail(lab, f"x{k}", at, 5) for k, at in enumerate(network)][:5] == [5, 5, 5, 5, 0]
    tries = sum(fail(lab, name, f"203.0.113.{k}", 5) for k in range(40))
    assert tries == 45
    with pytest.raises(values.TooManyTries, match="60 minutes|59 minutes"):
        lab.sessions.sign_in(name, password(name), address=AWAY)
    if name == "anna":
        sign_in(lab, "anna")  # from where anna signed in before
    later(lab, 3600)
    assert fail(lab, name, AWAY, 1) == 1


def test_failures_outlive_a_restart_and_are_logged_as_counts(lab: Lab, tmp_path: Path) -> None:
    assert fail(lab, "anna", AWAY, 3) == 3
    fail(lab, "passw0rd-of-anna", AWAY, 1)
    lab.close()
    again = Lab.open(lab.database.place, serve=True)
    again.database.clock = lab.database.clock
    assert fail(again, "anna", AWAY, 9) == 2
    later(lab, 61)
    again.tidy()
    again.tidy()
    rows = [row for row in log(again) if row["action"] == "sign-in failed"]
    assert sorted((row["target"], row["after"]) for row in rows) == [("", "1"), ("anna", "5")]
    assert "passw0rd" not in str(log(again))
    again.close()


def test_guesses_at_the_same_time_share_the_limits(lab: Lab) -> None:
    def one_try(_: int) -> int:
        try:
            return fail(lab, "anna", AWAY, 1)
        except values.Busy:
            return 0

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(one_try, range(40))) == 5


def test_few_passwords_are_hashed_at_once_and_few_wait(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashing: list[int] = []
    go_on = Event()

    def slow(*_: Any, **__: Any) -> bytes:
        hashing.append(1)
        assert go_on.wait(10)
        return b"x"

    monkeypatch.setattr(hashlib, "scrypt", slow)

    def one_try(k: int) -> str:
        try:
            sign_in(lab, "anna", address=f"203.0.113.{k}")
        except values.Busy:
            if len(busy := results_busy) == 7:
                go_on.set()
            busy.append(k)
            return "busy"
        except values.WrongPassword:
            return "wrong"
        return ""

    results_busy: list[int] = []
    with ThreadPoolExecutor(30) as pool:
        results = list(pool.map(one_try, range(30)))
    assert results.count("busy") == 8 and results.count("wrong") == 22
    assert len(hashing) == 22


# The log


def test_the_log_has_each_step_with_its_actor(lab: Lab) -> None:
    lab.tidy()
    before = len(log(lab))
    actor = Actor("carla", "page", AWAY, lab_owner=True)
    invite(lab, "ben", actor, "tales", "reader")
    lab.projects.set_role("tales", "ben", "annotator", False, actor)
    lab.audit.write(actor, "exported", "gold", project="tales", after={"pairs": 3})
    lab.projects.remove("tales", "ben", ANNA)
    steps = log(lab)[before:]
    assert [(row["actor"], row["action"], row["target"]) for row in steps] == [
        ("carla", "account made", "ben"),
        ("carla", "role set", "ben"),
        ("carla", "link made", "ben"),
        ("ben", "joined", "ben"),
        ("ben", "signed in", ""),
        ("carla", "role set", "ben"),
        ("carla", "exported", "gold"),
        ("anna", "role removed", "ben"),
    ]
    assert [row["by"] for row in steps if row["project"]] == ["page (lab owner)"] * 4 + ["page"]
    assert json.decode(steps[5]["before"]) == {"role": "reader", "annotates": False}
    assert log(lab, project="tales")[-5:] == [row for row in steps if row["project"] == "tales"]
    assert {row["action"] for row in log(lab, person="ben")} >= {"joined", "signed in", "role set"}
    day = steps[0]["at"][:10]
    assert len(log(lab, day=day)) == len(log(lab))
    assert log(lab, day="2020-01-01") == []
    with pytest.raises(values.BadValue):
        log(lab, day="today")
    newest = lab.audit.rows(limit=2)
    assert [row.n for row in newest] == [len(log(lab)), len(log(lab)) - 1]
    assert lab.audit.rows(newest[-1].n, 1)[0].n == newest[-1].n - 1
    assert {row["address"] for row in steps} == {AWAY, HOME, ""}
    later(lab, 91 * DAY)
    lab.tidy()
    assert {row["address"] for row in log(lab)} == {""}


def test_a_change_that_fails_leaves_no_line(lab: Lab) -> None:
    before = log(lab)
    for change in (
        lambda: lab.accounts.change("anna", CARLA, state="closed"),
        lambda: lab.links.create("invite", "x", CARLA, project="tales", role="king"),
        lambda: lab.projects.set_role("news", "anna", "reader", False, CARLA),
    ):
        with pytest.raises(values.LabError):
            change()
    assert log(lab) == before
    assert "x" not in [row.name for row in lab.accounts.rows()]


@pytest.mark.skipif(sys.platform == "win32", reason="no rights of files")
def test_the_tables_are_those_of_the_design() -> None:
    assert set(schema.METADATA.tables) == {
        "lab", "account", "session", "link", "token", "role", "project", "draft", "draft_file",
        "failure", "audit",
    }  # fmt: skip
