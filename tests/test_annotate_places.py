"""Projects in PostgreSQL, copies and backups, copies of files in use, and earlier versions."""

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from annotation import Tab, append, cell, project, run_sql, sent, small_corpus
from command import run
from postgres_server import server
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.adjudication.provenance import provenance
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.copies import back_up, check_seal, copy_project
from alignkit.annotate.project.database import VERSION
from alignkit.annotate.project.engines import Prepared, in_memory, parsed
from alignkit.annotate.project.events import encode
from alignkit.annotate.project.names import (
    DamagedProject,
    DatabaseAway,
    ProjectError,
    Visitor,
    shown_place,
)
from alignkit.annotate.project.places import SchemaDatabase, remove_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.seals import read_seal, seal_of
from alignkit.annotate.project.store import Store
from alignkit.annotate.renaming import rename_annotator
from alignkit.annotate.server.child import ChildProcess, Job, SuggestionPlan
from alignkit.annotate.server.sessions import Sessions

NUL = "a\0b\U0010ffff0"


def full_project(folder, name="project"):
    """Return a project with edits, and texts that PostgreSQL cannot keep as they are."""
    pairs = [*small_corpus(3), SentencePair(NUL, [NUL, "b"], ["w"], {NUL: Alignment.parse("0-0")})]
    store = project(folder, Corpus(pairs), name=name)
    tab = Tab(store)
    tab.send(cell(0, 0, 0, 2), sent("comment", key="", before="", after="é\U0010ffff"))
    tab.back()
    return store


def log_of(store):
    return [encode(event) for event in store.log()]


def test_a_project_is_copied_to_postgresql_and_back_with_an_equal_log(tmp_path, capsys):
    place, file = server().place(), str(tmp_path / "back")
    with full_project(tmp_path) as store:
        before = log_of(store)
    assert run(capsys, "project", "copy", store.path, place).code == 0
    run(capsys, "project", "copy", store.path, place).failed("exists already")
    run(capsys, "project", "copy", store.path, store.path).failed("exists already")
    with Store.open(place, serve=True) as there:
        assert (log_of(there), replay(there).differences) == (before, [])
        assert [row.id for row in there.queue("anna", query="a\0B").pairs] == [NUL]
        assert there.history(1, "anna")[-1].kind == "undo"
        copy_project(there, file)
        refuses(ProjectError, "another server", Store.open, place, serve=True)
        refuses(ProjectError, "a backup is a file", back_up, there, server().place())
        back_up(there, str(tmp_path / "saved"))
    for path in (file, str(tmp_path / "saved")):
        with Store.open(path, readonly=True) as back:
            assert (log_of(back), replay(back).differences) == (before, [])
    Store.open(place, serve=True).close()  # the lock is free again
    remove_project(place)
    refuses(ProjectError, "no alignkit project", Store.open, place)


def test_a_place_in_postgresql_is_checked(tmp_path, monkeypatch):
    place, url = server().place(), server().url
    for wrong, told in (
        (url, "name of a schema"),
        (f'{url}#p"x', "name of a schema"),
        (place, "no alignkit project"),
        (f"{url}0#p_1", "does not answer"),
        (f"{url}#pg_x", "name of a schema"),
    ):
        refuses(ProjectError, told, Store.open, wrong)
    create_project(place, small_corpus())
    refuses(ProjectError, "exists already", create_project, place, small_corpus())
    run_sql(place, f"UPDATE revision SET version = {VERSION + 1}")
    refuses(ProjectError, "newer alignkit", Store.open, place)
    run_sql(place, f"UPDATE revision SET version = {VERSION}", "DELETE FROM pair_counts")
    refuses(DamagedProject, "a stream has no counts", Store.open, place)
    assert parsed("postgresql://ann:s%40/x@h/d#p_1")[1] == "p_1"
    for place in ("ann:secret@h/d#p_1", "ann:s@@h/d?password=secret&x=1#p_1"):
        assert "secret" not in shown_place(f"postgresql+psycopg://{place}")
    monkeypatch.setattr(server(), "url", "")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    told = r"needs one more library \(psycopg\); run: .*postgres\]"
    refuses(ProjectError, told, Store.open, "postgresql+psycopg://a:secret@h/other#p_1")


def execute(database, statement):
    with database.writing() as conn:
        conn.execute(statement)


def test_only_a_connection_that_fails_is_called_a_database_that_does_not_answer():
    database, taken_again = SchemaDatabase(server().place(), unchecked=True), []
    database.renew = lambda: taken_again.append(True)
    table = sa.table("account", sa.column("name"))
    faulty = sa.insert(table).values(nobody=1)  # it fails before it is sent
    refuses(ProjectError, "reports an error: Unconsumed", execute, database, faulty)
    execute(database, sa.select(1))
    assert not taken_again
    ended = sa.select(sa.func.pg_terminate_backend(sa.func.pg_backend_pid()))
    refuses(DatabaseAway, "does not answer", execute, database, ended)
    execute(database, sa.select(1))
    assert taken_again == [True]
    for error in (sa.exc.OperationalError, sa.exc.InterfaceError):  # without a state
        assert isinstance(database._refusal(error("", None, ValueError("x"))), DatabaseAway)
    assert isinstance(database._refusal(sa.exc.TimeoutError()), DatabaseAway)  # none is free
    for error in (sa.exc.DataError, sa.exc.ProgrammingError):
        refusal = database._refusal(error("", None, ValueError("x")))
        assert not isinstance(refusal, DatabaseAway)


def test_a_kept_statement_has_the_columns_of_each_call():
    metadata = sa.MetaData()
    table = sa.Table("t", metadata, sa.Column("a", sa.Integer), sa.Column("b", sa.Integer))
    insert, select = Prepared(sa.insert(table)), Prepared(sa.select(table))
    with in_memory(metadata) as conn:
        insert(conn, a=1)
        insert(conn, b=2)
        insert.write(conn, [{"a": 3, "b": 4}])
        assert select(conn) == [(1, None), (None, 2), (3, 4)]


def test_a_child_process_works_on_a_schema(tmp_path):
    place = server().place()
    create_project(place, small_corpus(30))
    child = ChildProcess(Job(place, plan=SuggestionPlan("trained")), lambda *_: None, print)
    with closing(child):
        child.run()
        assert len(list(child.rows())) == 30
    with Store.open(place) as store:
        sessions = Sessions(store.database)
        cookie, second = sessions.admit(Visitor("anna"))
        assert Sessions(store.database).fits(cookie, second)
        assert sessions.plan is None


def edit(store, stop, lost, number, acknowledged):
    """Draw and erase a link until told to stop; note what was acknowledged."""
    name, k, value = f"a{number}", 1 + number % 3, 0
    while not stop.is_set():
        event = cell(0, 0, value, 2 - value)
        while not stop.is_set():
            try:
                view = store.pair(k, name)
                append(store, k, name, base=view.state.seq, rev=view.rev, events=[event])
                acknowledged.append(event.id)
                value = 2 - value
                break
            except ProjectError as problem:
                lost.append("does not answer" in str(problem))
                time.sleep(0.02)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_postgresql_is_killed(tmp_path):
    place, stop, lost, acknowledged = server().place(), threading.Event(), [], []
    create_project(place, small_corpus())
    with Store.open(place, serve=True) as store:
        for number in range(6):
            store.enrol(f"a{number}")
        with ThreadPoolExecutor(6) as pool:
            for number in range(6):
                pool.submit(edit, store, stop, lost, number, acknowledged)
            for _ in range(20):
                before = len(acknowledged)
                while len(acknowledged) < before + 6:
                    time.sleep(0.01)
                server().stop()
                server().start()
            stop.set()
        assert {*lost} == {True}
        events = list(store.log())
        assert set(acknowledged) <= {event.id for event in events}
        assert [event.n for event in events] == list(range(1, len(events) + 1))
        assert not replay(store).differences
        refuses(ProjectError, "another server", Store.open, place, serve=True)  # locked again


FILES = "rewrites_are_merged or learning_is_on or new_project_learns or of_the_corpus_s_own"


@pytest.mark.slow
@pytest.mark.parametrize(
    "modules",
    [
        "store folds assignment import",
        "gold control decisions adjudicating both_sides docket",
        "learning new_pairs provenance late_agreement tasks times",
    ],
)
def test_the_tests_of_projects_pass_in_postgresql(modules):
    paths = [f"{Path(__file__).parent}/test_annotate_{name}.py" for name in modules.split()]
    server()  # or the test is skipped
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths]
    ran = subprocess.run(
        [*words, "-k", f"not ({FILES})"],
        capture_output=True,
        check=False,
        env={**os.environ, "ALIGNKIT_STORE": "postgresql"},
    )
    assert ran.returncode == 0, ran.stdout[-3000:].decode()


# Backups and copies of files in use

WATCH = (
    "import sys, time; from alignkit.annotate.project.store import Store; "
    "store = Store.open(sys.argv[1], serve=True); print(flush=True); time.sleep(60)"
)


def test_a_backup_while_edits_go_on_is_complete_and_lets_nobody_in(tmp_path, capsys):
    store, file = project(tmp_path), str(tmp_path / "saved.alignkit")
    Sessions(store.database).admit(Visitor("anna"))
    stop, before = threading.Event(), log_of(store)
    store.enrol("a0")
    thread = threading.Thread(target=edit, args=(store, stop, [], 0, []))
    thread.start()
    for _ in range(3):
        assert "saved" in run(capsys, "project", "backup", store.path, file).err
        with Store.open(file, readonly=True) as saved:
            log = log_of(saved)
            assert (log[: len(before)], replay(saved).differences) == (before, [])
            before = log
    stop.set()
    thread.join()
    with Store.open(file, serve=True) as saved:  # it is in nobody's use
        tables = "SELECT 1 FROM sqlite_master WHERE name IN ('session', 'plan')"
        with saved.database.reading() as conn:
            assert conn.exec_driver_sql(tables).first() is None
        refuses(ProjectError, "another server", back_up, store, file)
    other = project(tmp_path, name="other")
    for path in (other.path, store.path, str(tmp_path / "text")):
        (tmp_path / "text").write_text("mine")
        refuses(ProjectError, "is no backup", back_up, store, path)
    run_sql(store.path, "UPDATE stream SET notes = 'x'")
    refuses(ProjectError, "differs from its log", back_up, store, str(tmp_path / "none"))
    refuses(ProjectError, "differs from its log", copy_project, store, str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_a_backup_whose_last_events_are_missing_is_noticed(tmp_path, capsys):
    store = project(tmp_path)
    Tab(store).send(cell(0, 0, 0, 2))
    file = str(tmp_path / "saved.alignkit")
    events = back_up(store, file)
    with Store.open(file, readonly=True) as saved:
        assert not replay(saved).differences
    shutil.copy(file, cut := str(tmp_path / "cut.alignkit"))
    run_sql(cut, f"DELETE FROM event WHERE n = {events}")
    text = f"the last 1 event of this backup is missing: it was made with {events} and has"
    for options in ({}, {"readonly": True}, {"serve": True}, {"log": True, "readonly": True}):
        refuses(ProjectError, text, Store.open, cut, **options)
    run(capsys, "project", "log", cut).failed(text)
    back_up(store, cut)  # in its place
    shutil.copy(file, changed := str(tmp_path / "changed.alignkit"))
    run_sql(changed, "UPDATE event SET at = '2001-01-01T00:00:00Z' WHERE n = 1")
    with Store.open(changed, readonly=True) as saved:
        (difference,) = replay(saved).differences
        assert "this backup was made" in difference
        refuses(ProjectError, "are not those", check_seal, saved)
    run_sql(changed, "UPDATE backup SET events = 'many'")
    refuses(ProjectError, "is damaged", Store.open, changed)


def test_work_goes_on_in_a_backup(tmp_path):
    store = project(tmp_path)
    file = str(tmp_path / "saved.alignkit")
    back_up(store, file)
    with Store.open(file, serve=True) as saved:
        Tab(saved).send(cell(0, 0, 0, 2))
        assert not replay(saved).differences
        rename_annotator(saved, "anna", "dora")  # in earlier events, too
        assert not replay(saved).differences
        again = str(tmp_path / "again.alignkit")
        back_up(saved, again)
    with Store.open(again) as copy:
        assert not replay(copy).differences
        with copy.database.reading() as conn:
            assert read_seal(conn) == seal_of(copy.log())


def test_an_incomplete_backup_can_be_used_if_that_is_wanted(tmp_path):
    store = project(tmp_path)
    file = str(tmp_path / "saved.alignkit")
    back_up(store, file)
    run_sql(file, "UPDATE backup SET events = events + 2")  # two came later
    refuses(ProjectError, "last 2 events", Store.open, file)
    with Store.open(file, accept_copy=True) as saved:
        assert list(saved.log())[-1].kind == "copy"
    with Store.open(file) as saved:
        assert not replay(saved).differences


def test_a_copy_of_a_file_in_use_is_refused_and_a_killed_server_is_not(tmp_path, capsys):
    store, copy = project(tmp_path), str(tmp_path / "copy")
    path = store.path
    store.close()
    with subprocess.Popen([sys.executable, "-c", WATCH, path], stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        with Store.open(path) as other:  # a command
            Tab(other).send(cell(0, 0, 0, 2))
        shutil.copy(path, copy)
        server.kill()
    for options in ({}, {"readonly": True}, {"serve": True}, {"log": True, "readonly": True}):
        refuses(ProjectError, "a file in use", Store.open, copy, **options)
    run(capsys, "project", "log", copy).failed("alignkit project backup")
    run(capsys, "annotate", copy, "--no-browser").failed("a file in use")
    assert '"copy"' not in run(capsys, "project", "log", copy, "--accept-copy").out
    with Store.open(copy, accept_copy=True) as accepted:
        assert [event.kind for event in accepted.log()][-1] == "copy"
        assert not replay(accepted).differences
    Store.open(copy).close()
    with Store.open(path, serve=True) as again:  # after the kill
        assert again.pair(1, "anna").state.cells == [(0, 0, 2)]
    shutil.copy(path, copy)
    Store.open(copy).close()  # it was closed


# Earlier versions

# Projects that alignkit made when these versions were current: on p1 and p2, anna has 0-0 and
# possible 2-3, undid 3-3, and is done; ben has 0-0 and 2-3, and did 3-3 again. A word of p3 was
# corrected. Carla took the vote of ben on 2-3 of p1 (from 2); suggestions were learned (in 3).
OLD = Path(__file__).with_name("old_projects")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_files_of_earlier_versions_are_built_anew_from_their_logs(tmp_path, capsys, version):
    place = tmp_path / "old 1.alignkit"
    place.write_bytes(gzip.decompress((OLD / f"v{version}.alignkit.gz").read_bytes()))
    before = place.read_bytes()
    new = tmp_path / "old 1-new.alignkit"
    command = f"alignkit project log '{place}' --rebuild '{new}'"
    for more in ({}, {"readonly": True}, {"serve": True}):
        refuses(
            ProjectError, f"earlier version.*{re.escape(command)}$", Store.open, str(place), **more
        )
    for words in (["annotate", place, "--no-browser"], ["project", "log", place, "--check"]):
        run(capsys, *words).failed(command)
    assert run(capsys, *shlex.split(command)[1:]).code == 0
    log = run(capsys, "project", "log", place).out
    assert run(capsys, "project", "log", new).out == log
    assert place.read_bytes() == before
    with Store.open(str(new)) as store:
        assert not replay(store).differences
        for name, mine in {"anna": [(2, 3, 1)], "ben": [(2, 3, 2), (3, 3, 2)]}.items():
            for k in (1, 2):
                state = store.pair(k, name).state
                assert state.cells == [(0, 0, 2), *mine]
                assert (state.comments, state.done) == ([("", f"of {name}")], True)
            assert store.progress(name) == (2, 3)
        assert store.pair(3, "ben").source == ["a", "b", "e", "d"]
        shown = store.pair(3, "anna").suggestions
        assert (shown.set, len(shown.cells)) == (
            ("learned-1", 1) if version == 3 else ("trained", 2)
        )
        taken = [(row["i"], row["j"], row["as"]) for row in provenance(store)]
        assert taken == ([(0, 0, None), (2, 3, "ben")] if version > 1 else [])


def test_a_schema_of_an_earlier_version_is_built_anew_from_its_log(tmp_path, capsys):
    place, new = server().place(), str(tmp_path / "new")
    create_project(place, small_corpus())
    run_sql(place, "UPDATE revision SET version = 3")
    refuses(ProjectError, "--rebuild p_[0-9]*-new.alignkit$", Store.open, place)
    assert run(capsys, "project", "log", place, "--rebuild", new).code == 0
    with Store.open(new) as store:
        assert store.project().pairs == 3
