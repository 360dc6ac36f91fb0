"""The lab store: accounts, sessions, links, tokens, roles, and what the audit log keeps of them."""

import hashlib
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from itertools import count, product
from threading import Barrier, Event

import pytest
import sqlalchemy as sa
from annotation import run_sql
from lab_server import CARLA, HOME, password
from msgspec import json
from msgspec.structs import astuple
from postgres_server import server

from alignkit.annotate.lab import accounts, desks, passwords, schema, values
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.server import _ended
from alignkit.annotate.lab.values import Actor, LabError, LabSession
from alignkit.annotate.project import file_systems

_NUMBERS = count(1)
ANNA, BEN, COMMAND = Actor("anna"), Actor("ben"), Actor("", "command")
AWAY, DAY, NEW = "198.51.100.7", 24 * 3600, "x" * 12


def place_of(folder, name="lab"):
    """A new place: a folder, or a database of PostgreSQL if ALIGNKIT_STORE says so."""
    if os.environ.get("ALIGNKIT_STORE") != "postgresql":
        return str(folder / name)
    database = f"lab{next(_NUMBERS)}"
    engine = sa.create_engine(server().url, isolation_level="AUTOCOMMIT")
    with engine.connect() as conn:
        conn.exec_driver_sql(f"CREATE DATABASE {database}")
    engine.dispose()
    return server().url.replace("/postgres?", f"/{database}?")


class Clocked(Lab):
    """A lab with its own time, and short ways to use it."""

    now = 1.8e9

    @classmethod
    def at(cls, place, now=1.8e9):
        lab = cls.open(place, serve=True)
        lab.now, lab.database.clock = now, lambda: lab.now
        return lab

    def make(self, name, actor):
        self.projects.opened(self.projects.make(name, "align", "en-de", actor).key, actor)

    def invite(self, name, by, project="", role="annotator"):
        link = self.links.create("invite", name, by, project=project, role=role)
        self.links.use(link.token, password(name), address=HOME)

    def sign_in(self, name, **more):
        return self.sessions.sign_in(name, password(name), **{"address": HOME, **more}).cookie

    def account_of(self, cookie):
        session = self.sessions.visitor(cookie)
        return session.account if isinstance(session, LabSession) else ""

    def ended(self, cookie):
        session = self.sessions.visitor(cookie)
        return session.why, _ended(session).more["error"]

    def log(self, **which):
        return [json.decode(line) for line in self.audit.lines(**which)]

    def fail(self, name, address, times=1):
        """Try a wrong password; return how many tries were checked."""
        for k in range(times):
            try:
                self.sessions.sign_in(name, "wrong", address=address)
            except LabError as problem:
                if problem.code != "wrong":
                    return k
        return times


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A lab with its owner carla, her project news, and the member anna, who owns tales."""
    monkeypatch.setattr(passwords, "COST", (2, 1, 1))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    lab = Clocked.at(place_of(tmp_path))
    lab.links.use(lab.links.first_owner(), password("carla"), name="Carla", address=HOME)
    lab.make("News", CARLA)
    lab.invite("anna", CARLA)
    lab.accounts.change("anna", CARLA, may_create=True)
    lab.make("Tales", ANNA)
    yield lab
    lab.close()


def refused(code, do, *args, **more):
    with pytest.raises(LabError) as raised:
        do(*args, **more)
    assert raised.value.code == code
    return raised.value


def test_a_lab_is_a_folder_of_its_own_that_nobody_else_can_read(tmp_path):
    path, other = tmp_path / "lab", tmp_path / "other"
    other.mkdir(mode=0o700)
    (other / "thesis.tex").write_text("x")
    for wrong in (other, tmp_path / "none" / "lab", other / "thesis.tex"):
        refused("server", Lab.open, str(wrong))
    assert os.listdir(other) == ["thesis.tex"]
    lab = Lab.open(str(path), serve=True)
    assert lab.project_place("k") == str(path / "projects" / "k.alignkit")
    modes = {entry.name: entry.stat().st_mode & 0o777 for entry in [path, *path.iterdir()]}
    assert set(modes.values()) == {0o700, 0o600}, modes
    lab.close()
    lab.close()
    path.chmod(0o750)
    assert "chmod 700" in str(refused("server", Lab.open, str(path)))


def test_one_server_at_a_time_with_locks_and_the_key_stays(tmp_path, monkeypatch):
    path = str(tmp_path / "lab")
    first, command = Lab.open(path, serve=True), Lab.open(path)
    assert "another server" in str(refused("server", Lab.open, path, serve=True))
    assert command.key == first.key
    command.close()
    first.close()
    Lab.open(path, serve=True).close()
    monkeypatch.setattr(file_systems, "_SECOND_WRITER", "pass")  # locks do not work
    assert "local disk" in str(refused("server", Lab.open, path, serve=True))


@pytest.mark.parametrize("change", ["UPDATE lab SET version = 99", "DROP TABLE lab"])
def test_a_newer_lab_and_another_database_are_refused(tmp_path, change):
    Lab.open(str(tmp_path / "lab")).close()
    with sqlite3.connect(tmp_path / "lab" / "lab.db") as conn:
        conn.execute(change)
    conn.close()
    error = refused("server", Lab.open, str(tmp_path / "lab"))
    assert ("newer alignkit" if "99" in change else "not that of a lab") in str(error)


def test_the_database_has_hashes_only(lab):
    session = lab.sessions.sign_in("anna", password("anna"), address=HOME)
    token = lab.tokens.create("anna", "script", ANNA).token
    link = lab.links.create("reset", "anna", CARLA).token
    wrong_field = "my-secret-in-the-wrong-field"
    refused("wrong", lab.sessions.sign_in, wrong_field, "x", address=HOME)
    with lab.database.reading() as step:
        rows = [step.ask(table).all() for table in schema.METADATA.sorted_tables]
        stored = step.ask(sa.select(schema.session.c.hash, schema.session.c.csrf)).all()
    assert "anna" in str(rows)
    for secret in (session.cookie, session.csrf, token, link, password("anna"), wrong_field):
        assert secret not in str(rows)
    for hash in [cell for row in stored for cell in row]:
        assert lab.sessions.visitor(hash) is None
        assert not lab.sessions.fits(session.cookie, hash)
    pairs = (session.cookie, session.csrf), (session.csrf, session.cookie), ("", "")
    assert [lab.sessions.fits(*pair) for pair in pairs] == [True, False, False]


def test_unknown_closed_and_wrong_look_the_same_and_take_the_same_work(lab, monkeypatch):
    lab.invite("ben", CARLA)
    lab.accounts.change("ben", CARLA, state="closed")
    lab.links.create("invite", "dora", CARLA)
    work, scrypt = [], hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *a, **n: work.append(n) or scrypt(*a, **n))
    for name in ("anna", "ben", "dora", "nobody"):
        before, typed = lab.database.changes, password(name if name != "anna" else "x")
        error = refused("wrong", lab.sessions.sign_in, name, typed, address=HOME)
        work[-1] |= {"text": str(error), "writes": lab.database.changes - before, "salt": ""}
    assert work == [work[0]] * 4


def test_sessions_end_by_age_and_without_use(lab):
    used, idle = lab.sign_in("anna"), lab.sign_in("anna")
    for _ in range(29):
        lab.now += DAY
        assert lab.account_of(used) == "anna"
    assert lab.ended(idle) == ("expired", "signin")
    lab.now += DAY + 1
    assert lab.ended(used)
    assert lab.sessions.rows("anna") == []
    lab.now += 100 * DAY
    lab.tidy()
    assert lab.sessions.visitor(used) is None


def test_sessions_outlive_the_server_and_keep_their_last_use(lab):
    cookie = lab.sign_in("anna", agent="Firefox")
    for _ in range(2):
        lab.now += 6 * DAY
        assert lab.account_of(cookie)
    lab.close()
    again = Clocked.at(lab.database.place, lab.now + 6 * DAY)
    (row,) = again.sessions.rows("anna", cookie)
    assert (row.device, row.address, row.current) == ("Firefox", HOME, True)
    assert again.account_of(cookie) == "anna"
    again.close()


def test_signing_in_over_somebody_ends_their_session(lab):
    anna = lab.sign_in("anna")
    carla = lab.sign_in("carla", taking_over=anna)
    assert lab.ended(anna) == ("taken over by carla", "taken")
    assert lab.account_of(carla) == "carla"
    steps = [row["action"] for row in lab.log(person="carla")]
    assert steps[-2:] == ["session ended", "signed in"]


def test_the_password_again_holds_for_ten_minutes(lab):
    cookie = lab.sign_in("anna")

    def proved():
        return lab.sessions.proved_lately(lab.sessions.visitor(cookie))

    assert proved()
    lab.now += 601
    refused("wrong", lab.sessions.prove, cookie, password("carla"), address=HOME)
    assert not proved()
    lab.sessions.prove(cookie, password("anna"), address=HOME)
    assert proved()


def test_who_may_end_which_session(lab):
    first, second = lab.sign_in("anna"), lab.sign_in("anna")
    ids = [row.id for row in lab.sessions.rows("anna", first) if row.current]
    lab.sessions.end("anna", ANNA, id=ids[0])
    assert [lab.account_of(cookie) for cookie in (first, second)] == ["", "anna"]
    for row in lab.sessions.rows("anna"):
        lab.sessions.end("carla", CARLA, id=row.id)  # anna's, not carla's
    refused("forbidden", lab.sessions.end, "carla", ANNA)
    assert lab.account_of(second)
    lab.sessions.end("anna", CARLA)
    assert lab.ended(second) == ("signed out by carla", "signin")
    lab.sessions.sign_out(second)
    lab.sessions.sign_out("unknown")


def test_a_new_password_ends_the_other_sessions(lab):
    mine, other = lab.sign_in("anna"), lab.sign_in("anna")
    change = lab.accounts.set_password
    for wrong in ("short", "x" * 201):
        assert refused("invalid", change, "anna", "", wrong, ANNA).field == "password"
    refused("wrong", change, "anna", "not it", "another password", ANNA)
    change("anna", password("anna"), "another password", ANNA, keep=mine)
    assert [lab.account_of(cookie) for cookie in (mine, other)] == ["anna", ""]
    refused("wrong", lab.sign_in, "anna")
    lab.sessions.sign_in("ANNA ", "ａｎｏｔｈｅｒ password", address=HOME)  # the same letters


def test_closing_ends_everything_and_reopening_gives_nothing_back(lab):
    lab.invite("ben", CARLA)
    cookie, token = lab.sign_in("ben"), lab.tokens.create("ben", "x", BEN).token
    link = lab.links.create("reset", "ben", CARLA).token
    lab.accounts.change("ben", CARLA, state="closed")
    assert lab.ended(cookie) == ("closed", "closed")
    lab.accounts.change("ben", CARLA, state="open")
    assert (lab.tokens.visitor(token), lab.links.peek(link)) == (None, None)
    assert not lab.account_of(cookie)
    lab.sign_in("ben")


def test_closing_wins_over_signing_in_at_the_same_time(lab, monkeypatch):
    lab.invite("ben", CARLA)
    matches = passwords.matches

    def closing(*args):
        lab.accounts.change("ben", CARLA, state="closed")
        return matches(*args)

    monkeypatch.setattr(passwords, "matches", closing)
    refused("wrong", lab.sign_in, "ben")


def test_a_stale_etag_says_who_and_when(lab):
    row = lab.accounts.get("anna")
    lab.accounts.change("anna", CARLA, may_create=False, etag=row.etag)
    lab.sign_in("anna")
    projects = lab.projects
    error = refused("changed", lab.accounts.change, "anna", CARLA, rank="owner", etag=row.etag)
    at = values.timestamp(lab.database.now())[11:16]
    assert str(error) == f"carla changed this at {at}. Nothing was saved."
    etag = projects.people("tales")[0].etag
    projects.add_existing("tales", "carla", "owner", False, CARLA)
    change = projects.set_role("tales", "anna", "reader", False, CARLA, etag=etag)
    assert change.role == "reader"
    error = refused("changed", projects.set_role, "tales", "anna", "owner", True, ANNA, etag=etag)
    assert "carla changed this at" in str(error)
    etag = projects.get("news").etag
    projects.change("news", CARLA, name="Old news", etag=etag)
    refused("changed", projects.change, "news", CARLA, state="archived", etag=etag)


@pytest.mark.parametrize(("kind", "name"), [("first", ""), ("invite", "dora"), ("reset", "anna")])
def test_a_link_works_once_and_not_too_late(lab, kind, name):
    def link():
        if kind == "first":
            return lab.links.owner_link(COMMAND)
        return lab.links.create(kind, name, CARLA, project="news" * (kind == "invite")).token

    typed = {"password": NEW, "name": name or "fred", "address": HOME}
    replaced, late = link(), link()
    assert lab.links.peek(replaced) is None
    assert "replaced by a newer one" in str(refused("gone", lab.links.use, replaced, **typed))
    assert astuple(lab.links.peek(late)) == (kind, name, "")
    lab.now += {"first": 3600, "invite": 7 * DAY, "reset": DAY}[kind]
    assert lab.links.peek(late) is None
    assert "has expired" in str(refused("gone", lab.links.use, late, **typed))
    token = link()
    assert lab.account_of(lab.links.use(token, **typed).cookie) == (name or "fred")
    assert "was used already" in str(refused("gone", lab.links.use, token, **typed))
    assert "replaced" in str(refused("gone", lab.links.use, replaced, **typed))  # not: used


def test_a_stranger_learns_nothing_of_links(lab):
    """Only who holds the whole token reads what became of a link."""
    spent = lab.links.create("reset", "anna", CARLA).token
    id = lab.links.create("reset", "anna", CARLA).id
    withdrawn = lab.links.create("reset", "anna", CARLA)
    lab.links.withdraw(withdrawn.id, CARLA)
    guesses = [
        "x" * 43,
        spent[:-1],
        f"{spent}x",
        spent.swapcase(),
        id,
        withdrawn.token,
        values.digest(spent),
    ]
    for guess in guesses:
        assert lab.links.peek(guess) is None
        assert str(lab.links.gone(guess)) == values.GONE[0]
        assert str(refused("gone", lab.links.use, guess, NEW, address=HOME)) == values.GONE[0]


def test_a_link_whose_maker_may_not_make_it_today_says_nothing_of_its_person(lab):
    lab.invite("ben2", ANNA, "tales")
    early = lab.links.create("reset", "ben2", ANNA).token
    lab.projects.add_existing("news", "ben2", "reader", False, CARLA)
    assert str(lab.links.gone(early)) == values.GONE[0]


def test_people_have_any_name_beside_that_of_the_account(lab):
    token = lab.links.create(
        "invite", "anna-kiss", CARLA, project="news", display=" Anna  Ku\u0308ss "
    ).token
    assert astuple(lab.links.peek(token)) == ("invite", "anna-kiss", "Anna K\xfcss")
    lab.links.use(token, NEW, display="J\xfcrgen <b>\u0645\u06cc\u200c\u062e", address=HOME)
    row = lab.accounts.get("anna-kiss")
    assert row.display == "J\xfcrgen <b>\u0645\u06cc\u200c\u062e"
    person = next(row for row in lab.projects.people("news") if row.name == "anna-kiss")
    assert person.display == row.display
    for wrong in ("x" * 101, "a\x00b", "a\u202eb", "a\ud800", "\x1b[1m"):
        refused("invalid", lab.accounts.show_as, "anna-kiss", wrong, ANNA)
    lab.accounts.show_as("anna-kiss", "anna-kiss", Actor("anna-kiss"))
    assert lab.accounts.get("anna-kiss").display == ""
    changes = [row for row in lab.log(person="anna-kiss") if row["action"] == "name changed"]
    assert [row["actor"] for row in changes] == ["anna-kiss", "anna-kiss"]
    etag = lab.accounts.get("anna-kiss").etag
    lab.accounts.change("anna-kiss", CARLA, etag=etag, display="Anna")
    refused("changed", lab.accounts.change, "anna-kiss", CARLA, etag=etag, display="Other")


def test_who_is_invited_under_a_name_that_was_proposed_is_not_taken_for_somebody_else(lab):
    lab.links.create("invite", "jan", CARLA, project="news", display="Jan Kov\xe1\u010d")
    error = refused("other", lab.links.create, "invite", "jan", CARLA, display="Jan Nov\xe1k")
    assert "an account jan already" in str(error)
    assert lab.accounts.get("jan").display == "Jan Kov\xe1\u010d"
    for same in ("", "jan", "Jan Kov\xe1\u010d"):
        assert lab.links.create("invite", "jan", CARLA, project="news", display=same).token


def test_a_lab_of_an_earlier_alignkit_gets_the_new_columns(tmp_path):
    place = str(tmp_path / "old")
    lab = Lab.open(place)
    lab.links.use(lab.links.first_owner(), NEW, name="carla", address=HOME)
    lab.close()
    run_sql(
        f"{place}/lab.db",
        "ALTER TABLE account DROP COLUMN display",
        "ALTER TABLE link DROP COLUMN replaced",
    )
    lab = Lab.open(place)
    assert [row.display for row in lab.accounts.rows()] == [""]
    lab.accounts.show_as("carla", "C\xe4rla", CARLA)
    first, _ = lab.links.owner_link(COMMAND), lab.links.owner_link(COMMAND)
    assert "replaced" in str(lab.links.gone(first))
    lab.close()


def test_of_two_who_use_a_link_at_once_one_wins(lab, monkeypatch):
    token = lab.links.create("invite", "dora", CARLA, project="news", role="reader").token
    both = Barrier(2)
    monkeypatch.setattr(accounts, "hashed", lambda text: f"{both.wait(10)} {text}")

    def use(password):
        try:
            return lab.links.use(token, password, address=HOME).account
        except LabError as problem:
            return problem.code

    with ThreadPoolExecutor() as pool:
        assert sorted(pool.map(use, ["a" * 12, "b" * 12])) == ["dora", "gone"]
    assert len(lab.sessions.rows("dora")) == 1


def test_an_invited_person_has_name_and_role_before_joining(lab):
    link = lab.links.create("invite", "Dora", ANNA, project="tales", role="adjudicator")
    dora = next(row for row in lab.projects.people("tales") if row.name == "dora")
    assert (dora.state, dora.role, dora.link) == ("invited", "adjudicator", link.id)
    assert lab.projects.role("dora", "tales") is None  # not before joining
    lab.links.withdraw(link.id, ANNA, project="news")  # of another project
    assert lab.links.peek(link.token)
    lab.links.withdraw(link.id, ANNA, project="tales")
    assert lab.links.peek(link.token) is None
    lab.invite("dora", ANNA, "tales", "reader")
    assert lab.projects.role("dora", "tales") == ("reader", False, False)
    refused("taken", lab.invite, "dora", ANNA, "tales")
    for name in ("", "Ä", "-x", "x" * 41, "a b", "a\r\nb", "../a"):
        refused("invalid", lab.invite, name, CARLA)


def test_a_reset_keeps_the_old_password_until_it_is_used(lab):
    cookie, token = lab.sign_in("anna"), lab.tokens.create("anna", "x", ANNA).token
    link = lab.links.create("reset", "anna", CARLA, project="tales").token
    assert lab.account_of(lab.sign_in("anna")) == lab.account_of(cookie) == "anna"
    new = lab.links.use(link, NEW, address=HOME)
    assert [row.current for row in lab.sessions.rows("anna", new.cookie)] == [True]
    assert lab.tokens.visitor(token) is None


def test_nobody_takes_over_an_account_by_a_link(lab):
    """Owners of a project make links for people who have roles in their projects only."""
    lab.invite("ben", ANNA, "tales")
    early = lab.links.create("reset", "ben", ANNA).token
    assert lab.links.peek(early)
    lab.projects.add_existing("news", "ben", "reader", False, CARLA)
    assert lab.links.peek(early) is None
    refused("gone", lab.links.use, early, NEW, address=HOME)
    for name in ("ben", "carla"):
        refused("forbidden", lab.links.create, "reset", name, ANNA)
    kept = lab.links.create("invite", "dora", ANNA, project="tales").token
    lab.make("Songs", BEN)
    add = lab.projects.add_existing
    refused("forbidden", add, "songs", "dora", "owner", True, BEN)  # anna has the link
    add("news", "dora", "owner", False, CARLA)
    assert lab.links.peek(kept) is None
    refused("forbidden", lab.links.create, "invite", "dora", ANNA, project="tales")
    removed = lab.links.create("invite", "emil", ANNA, project="tales").token
    lab.projects.remove("tales", "emil", ANNA)
    assert lab.links.peek(removed) is None
    lab.invite("emil", BEN, "songs")
    lab.links.create("reset", "emil", BEN)
    lab.accounts.change("emil", CARLA, rank="owner")
    refused("forbidden", lab.links.create, "reset", "emil", BEN)


def test_the_first_owner_and_an_owner_who_is_locked_out(lab, tmp_path):
    assert lab.links.first_owner() is None
    link = lab.links.owner_link(COMMAND)
    refused("taken", lab.links.use, link, NEW, name="anna", address=HOME)
    refused("invalid", lab.links.use, link, NEW, name="Not a name", address=HOME)
    lab.links.use(link, NEW, name="carla", address=HOME)
    lab.sessions.sign_in("carla", NEW, address=HOME)
    empty = Lab.open(place_of(tmp_path, "new"))
    assert empty.links.peek(empty.links.first_owner())
    empty.close()


def test_tokens_are_for_their_account_as_it_is_now(lab):
    tokens = lab.tokens
    row = tokens.create("anna", "script", ANNA, project="tales", read_only=True, days=2)
    assert (row.token[:3], row.begins) == ("ak_", row.token[:8])
    assert tokens.visitor(row.token) == (row.id, "anna", "member", True, None, "tales", True)
    lab.accounts.change("anna", CARLA, rank="owner")
    assert tokens.visitor(row.token).rank == "owner"
    lab.tidy()
    (listed,) = tokens.rows("anna")
    assert (listed.token, listed.used) == ("", values.timestamp(lab.now))
    for wrong in (row.token[:-1], row.token.lower(), row.id, ""):
        assert tokens.visitor(wrong) is None
    tokens.withdraw("carla", row.id, CARLA)  # not carla's
    assert tokens.visitor(row.token)
    lab.now += 2 * DAY
    assert tokens.visitor(row.token) is None
    other = tokens.create("anna", "script", ANNA)
    tokens.withdraw("anna", other.id, ANNA)
    assert tokens.visitor(other.token) is None
    for name in (" ", "a\nb"):
        refused("invalid", tokens.create, "anna", name, ANNA)
    lab.invite("ben", CARLA)
    refused("unknown", tokens.create, "ben", "x", BEN, project="tales")


def test_projects_are_made_archived_and_deleted_across_two_stores(lab):
    projects = lab.projects
    made = projects.make("Übersetzte  News!", "judge", "de-en", ANNA)
    assert (made.slug, made.state) == ("ubersetzte-news", "making")
    assert [row.key for row in projects.leftovers()] == [made.key]
    projects.clear(made.key)
    assert [row.slug for row in projects.rows()] == ["news", "tales"]
    refused("state", projects.delete, "tales", ANNA)
    projects.save_counts(projects.get("tales").key, 7, 4, 2, 1.8e9)
    assert projects.rows("anna") == [projects.get("tales")]
    token = lab.tokens.create("anna", "x", ANNA, project="tales").token
    projects.change("tales", ANNA, state="archived")
    gone = projects.delete("tales", ANNA)
    assert (gone.n, gone.pairs, gone.done, gone.last) == (7, 4, 2, 1_800_000_000)
    assert (lab.tokens.visitor(token), projects.role("anna", "tales")) == (None, None)
    refused("unknown", projects.get, "tales")
    refused("unknown", lab.invite, "ben", ANNA, "tales")
    assert [row.key for row in projects.leftovers()] == [gone.key]
    projects.clear(gone.key)
    assert projects.leftovers() == []
    assert projects.make("Tales", "align", "", ANNA).slug == "tales-2"  # not given again
    for slug in ("tales", "news", "a/b", "A", "x" * 41, "a\r"):
        refused("invalid", projects.make, "x", "align", "", ANNA, slug=slug)


def test_the_last_owner_cannot_leave(lab):
    change, projects = lab.accounts.change, lab.projects
    refused("last", change, "carla", CARLA, state="closed")
    refused("last", change, "carla", CARLA, rank="member")
    assert "of tales" in str(refused("last", change, "anna", CARLA, state="closed"))
    invited = lab.links.create("invite", "ben", ANNA, project="tales", role="owner").token
    refused("last", projects.set_role, "tales", "anna", "reader", False, ANNA)
    refused("last", projects.remove, "tales", "anna", CARLA)
    lab.links.use(invited, password("ben"), address=HOME)
    change("ben", CARLA, state="closed")
    refused("last", projects.remove, "tales", "anna", CARLA)
    change("ben", CARLA, state="open")
    projects.remove("tales", "anna", ANNA)
    change("anna", CARLA, rank="owner")
    change("carla", ANNA, rank="member")


def test_the_role_of_everybody_in_each_state(lab):
    lab.invite("ben", CARLA)
    roles = "", "owner", "adjudicator", "annotator", "reader"
    cases = product(("owner", "member"), ("open", "closed"), roles, (True, False))
    for rank, state, role, annotates in cases:
        lab.accounts.change("ben", CARLA, state="open", rank=rank)
        if lab.projects.rows("ben"):
            lab.projects.remove("tales", "ben", CARLA)
        if role:
            lab.projects.add_existing("tales", "ben", role, annotates, CARLA)
        lab.accounts.change("ben", CARLA, state=state)
        works = role == "annotator" or (annotates and role in ("owner", "adjudicator"))
        expected = (role, works, False) if role else None
        if rank == "owner":
            expected = ("owner", works, role != "owner")
        assert lab.projects.role("ben", "tales") == (expected if state == "open" else None)
        assert lab.projects.role("ben", "nothing") is None


def test_names_of_gold_and_systems_cannot_join(lab):
    def check(key, name):
        if (key, name) == (lab.projects.get("tales").key, "gold"):
            raise LabError("gold", "taken")

    lab.projects.check_free = check
    refused("taken", lab.invite, "Gold", ANNA, "tales")
    lab.invite("gold", CARLA, "news")
    refused("taken", lab.projects.add_existing, "tales", "gold", "reader", False, ANNA)


@pytest.mark.parametrize("name", ["anna", "nobody"])
def test_guessing_is_slowed_down_by_name_and_address(lab, name):
    lab.now += -lab.now % 3600
    assert lab.fail(name, HOME, 9) == 5
    lab.sign_in("carla")
    error = refused("tries", lab.sessions.sign_in, name, password(name), address=HOME)
    assert (error.seconds, str(error)) == (60, "Too many tries. Try again in 1 minute.")
    assert [lab.fail(f"x{k}", HOME, 5) for k in range(4)] == [5, 5, 5, 0]
    lab.now += 60
    assert [lab.fail(f"x{k}", f"2001:db8::{k}", 5) for k in range(5)] == [5, 5, 5, 5, 0]
    assert sum(lab.fail(name, f"203.0.113.{k}", 5) for k in range(40)) == 45
    error = refused("tries", lab.sessions.sign_in, name, password(name), address=AWAY)
    assert error.seconds == 59 * 60
    if name == "anna":
        lab.sign_in("anna")  # from where anna signed in before
    lab.now += 3600
    assert lab.fail(name, AWAY) == 1


def test_failures_outlive_a_restart_and_are_logged_as_counts(lab):
    assert lab.fail("anna", AWAY, 3) == 3
    assert lab.fail("passw0rd-of-anna", AWAY) == 1
    lab.close()
    again = Clocked.at(lab.database.place)
    assert again.fail("anna", AWAY, 9) == 2
    again.now += 61
    again.tidy()
    again.tidy()
    rows = [row for row in again.log() if row["action"] == "sign-in failed"]
    assert sorted((row["target"], row["after"]) for row in rows) == [("", "1"), ("anna", "5")]
    again.close()


def test_guesses_at_the_same_time_share_the_limits(lab):
    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(lambda _: lab.fail("anna", AWAY), range(40))) == 5


def test_few_passwords_are_hashed_at_once_and_few_wait(monkeypatch):
    hashing, ended, at_once, busy, go_on = [], [], [], [], Event()

    def slow(*_, **__):
        hashing.append(1)
        at_once.append(len(hashing) - len(ended))
        assert go_on.wait(10)
        ended.append(1)
        return b"x"

    def one_try(_):
        try:
            passwords.hashed(NEW)
        except LabError:
            busy.append(1)
            if len(busy) == 8:
                go_on.set()

    monkeypatch.setattr(hashlib, "scrypt", slow)
    with ThreadPoolExecutor(30) as pool:
        list(pool.map(one_try, range(30)))
    assert (len(hashing), len(busy)) == (22, 8)
    assert max(at_once) <= 2


def test_the_log_has_each_step_with_its_actor(lab):
    lab.tidy()
    before = len(lab.log())
    actor = Actor("carla", "page", AWAY, lab_owner=True)
    lab.invite("ben", actor, "tales", "reader")
    lab.projects.set_role("tales", "ben", "annotator", False, actor)
    lab.audit.write(actor, "exported", "gold", project="tales", after={"pairs": 3})
    lab.projects.remove("tales", "ben", ANNA)
    steps = lab.log()[before:]
    assert [f"{row['actor']} {row['action']} {row['target']}" for row in steps] == [
        "carla account made ben",
        "carla role set ben",
        "carla link made ben",
        "ben joined ben",
        "ben signed in ",
        "carla role set ben",
        "carla exported gold",
        "anna role removed ben",
    ]
    assert [row["by"] for row in steps if row["project"]] == ["page (lab owner)"] * 4 + ["page"]
    assert json.decode(steps[5]["before"]) == {"role": "reader", "annotates": False}
    assert lab.log(project="tales")[-5:] == [row for row in steps if row["project"]]
    assert {row["action"] for row in lab.log(person="ben")} >= {"joined", "signed in", "role set"}
    assert len(lab.log(day=steps[0]["at"][:10])) == len(lab.log())
    assert lab.log(day="2020-01-01") == []
    refused("invalid", lab.log, day="today")
    newest = lab.audit.rows(limit=2)
    assert [row.n for row in newest] == [steps[-1]["n"], steps[-2]["n"]]
    assert lab.audit.rows(newest[-1].n, 1)[0].n == newest[-1].n - 1
    assert {row["address"] for row in steps} == {AWAY, HOME, ""}
    lab.now += 91 * DAY
    lab.tidy()
    assert {row["address"] for row in lab.log()} == {""}


def test_a_change_that_fails_leaves_nothing(lab):
    before = lab.log()
    refused("last", lab.accounts.change, "anna", CARLA, state="closed")
    refused("invalid", lab.invite, "x", CARLA, "tales", "king")
    refused("unknown", lab.projects.set_role, "news", "anna", "reader", False, CARLA)
    assert lab.log() == before
    refused("unknown", lab.accounts.get, "x")


def test_what_is_done_in_the_background_goes_on_after_an_error(lab, monkeypatch):
    notes = []
    done = Event()

    def tidy():
        if notes:
            done.set()
        raise LabError("the database is away")

    monkeypatch.setattr(desks, "_EVERY", 0.01)
    monkeypatch.setattr(desks, "_SELDOM", 1)
    monkeypatch.setattr(lab, "tidy", tidy)
    kept = desks.Desks(lab, notes.append, lambda: None)
    try:
        assert done.wait(60)
        assert "the database is away" in notes
    finally:
        kept.stop()
