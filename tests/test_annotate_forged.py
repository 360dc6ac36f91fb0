"""Forged and damaged projects: every command ends with a clear error, never with a fault."""

import json
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from adjudicated_project import two_annotators
from annotation import Tab, append, cell, run_sql, sent
from command import run
from refusals import refuses
from repetitions import FULL

from alignkit import write_corpus
from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.adjudication.gold_view import gold_view
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.dashboard.figures import dashboard_view, times_view
from alignkit.annotate.exporting import exported
from alignkit.annotate.project.database import read_task
from alignkit.annotate.project.names import DamagedProject, ProjectError
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.beforehand import check_beforehand
from alignkit.annotate.server.child import Job
from alignkit.annotate.server.sessions import Sessions
from alignkit.errors import AlignkitError

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

TABLES = ("project", "account", "pair", "pair_text", "stream", "event", "suggestion")
TABLES += ("pair_counts", "assignment")
VALUES = (-1, 2**40, 2**62, 1.5, float("inf"), "text", "", b"\xff\xfe", b"abc", "{", "[]", "null")
VALUES += ("[[99,99,2]]", '["a"]', '{"cells":[[99,99,2]]}', "[" * 5000, "\0", 0, 1, 10**12)
LEAVES = (-1, 99, 2**70, 1.5, "text", "", None, True, [], {}, [[1]], "2020-13-99", -(2**63))
ACTING = [
    "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event WHERE n < 3; END",
    "CREATE VIEW more AS SELECT * FROM event",
    "DROP TABLE assignment; CREATE VIEW assignment AS WITH RECURSIVE x(account) AS "
    "(SELECT 1 UNION ALL SELECT 1 FROM x) SELECT * FROM x",
    "CREATE VIRTUAL TABLE words USING fts5(text)",
    "ALTER TABLE pair ADD COLUMN more TEXT AS (hex(zeroblob(k))) VIRTUAL",
]
SEEDS = 200 if FULL else 80


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("forged") / "whole.alignkit")
    two_annotators(path, 5)
    with Store.open(path) as store:
        store.set_suggestions("auto", [(k, [(0, 0, 0.9, 2), (1, 1, 0.4, 1)]) for k in range(1, 6)])
        assign_pairs(store, ["anna", "ben"], control=0.5, control_least=2)
        tab = Tab(store, 2)
        tab.send(cell(0, 1, 0, 1))
        for kind in ("undo", "redo", "undo"):
            tab.back(kind)
        tab.send(sent("open", rev=1, suggestions=True))
    run_sql(path, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode=DELETE")
    with Store.open(path, readonly=True) as store:
        write_corpus(exported(store), f"{path}.jsonl", format="alignkit-jsonl")
    return path


def leaves(value, place=()):
    yield place
    inside = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else inside:
        yield from leaves(each, (*place, key))


def put(value, place, leaf):
    if not place:
        return leaf
    *before, last = place
    inside = value
    for key in before:
        inside = inside[key]
    inside[last] = leaf
    return value


def forge(path, rng):
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        table = rng.choice(TABLES)
        names = [row[1] for row in conn.execute(f"PRAGMA table_info({table})")]
        id, *row = rng.choice(conn.execute(f"SELECT rowid, * FROM {table}").fetchall())
        texts = [k for k, value in enumerate(row) if isinstance(value, str) and value[:1] in "[{"]
        k, value = rng.randrange(len(row)), rng.choice(VALUES)
        kind = rng.random()
        if kind < 0.1:
            conn.execute(f"DELETE FROM {table} WHERE rowid = ?", (id,))
            return f"without {table} {id}"
        if kind < 0.55 and texts and (k := rng.choice(texts)) is not None and row[k]:
            parsed = json.loads(row[k])
            value = json.dumps(put(parsed, rng.choice(list(leaves(parsed))), rng.choice(LEAVES)))
        with suppress(sqlite3.Error, OverflowError):
            conn.execute(f'UPDATE {table} SET "{names[k]}" = ? WHERE rowid = ?', (value, id))
        return f"{table}.{names[k]} of {id}: {value!r:.200}"


def visit(path):
    for role, name in (("annotator", "anna"), ("adjudicator", "carla")):
        check_beforehand(Job(path, annotator=name), None, role)
    read_task(path)
    with Store.open(path, serve=True) as store:
        assert Sessions(store.database).plan is None
        asked = [store.project, store.progress_of_all, lambda: store.queue("anna", query="a")]
        asked += [lambda: store.queue("anna"), lambda: store.changes("anna", 0)]
        asked += [lambda k=k: store.pair(k, "anna") for k in range(1, 6)]
        edit = [sent("edit", how="cell", cells=[[0, 0, 2, 1]])]
        asked += [lambda: append(store, 2, "anna", base=0, rev=1, events=edit)]
        asked += [lambda k=k: gold_view(store, k, Docket(store)) for k in range(1, 6)]
        asked += [lambda: dashboard_view(store, store.path, lambda *_: None)]
        asked += [lambda: times_view(store)]
        for ask in asked:
            with suppress(AlignkitError):
                ask()


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(6, SEEDS))]
)
def test_forged_projects_never_end_in_a_fault(whole, tmp_path, capsys, seed):
    path, saved = str(tmp_path / "p.alignkit"), str(tmp_path / "saved")
    shutil.copy(whole, saved)
    told = forge(saved, random.Random(seed))
    for words in (
        ("export", path, tmp_path / "o.jsonl", "--to", "alignkit-jsonl", "--done"),
        ("bias", path, "--resamples", "5"),
        ("log", path),
        ("log", path, "--check"),
        ("log", path, "--rebuild", tmp_path / "rebuilt"),
        ("yield", path),
        ("import", tmp_path / "copy", path),
        ("import", path, f"{whole}.jsonl"),
        ("import", path, whole),
        ("assign", path, "--annotators", "dora", "--double", "0.5"),
    ):
        for name in ("p.alignkit", "p.alignkit-wal", "p.alignkit-shm"):
            (tmp_path / name).unlink(missing_ok=True)
        shutil.copy(saved, path)
        shutil.copy(whole, tmp_path / "copy")
        ran = run(capsys, "project", *words)
        assert "fault in alignkit" not in ran.err, (told, words, ran.err)
        assert ran.code == 2 or words[0] == "log" or ran.code == 0, (told, words)
    with suppress(AlignkitError):
        visit(str(shutil.copy(saved, tmp_path / "visited.alignkit")))


@pytest.mark.parametrize(
    "script", ACTING, ids=["trigger", "view", "endless", "virtual", "generated"]
)
def test_what_acts_in_a_project_file_is_refused(whole, tmp_path, capsys, script):
    path = str(shutil.copy(whole, tmp_path / "p.alignkit"))
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(script)
    before = Path(path).read_bytes()
    for words in (
        ("project", "export", path, tmp_path / "o.jsonl", "--to", "alignkit-jsonl"),
        ("project", "log", path),
        ("project", "import", path, whole),
        ("annotate", path, "--no-browser", "--annotator", "anna"),
    ):
        run(capsys, *words).failed("no alignkit project has")
    refuses(ProjectError, "no alignkit project has", read_task, path)
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE stream SET undo_top = 99 WHERE pair = 2", "points to a missing"),
        ("UPDATE event SET below = seq WHERE below > 0", "points to a later event"),
        ("UPDATE pair SET k = 9 WHERE k = 5", "missing row of pair"),
        ("UPDATE event SET stream = 77 WHERE n = 9", "a missing row"),
        ("UPDATE account SET name = x'ff' WHERE id = 1", "account.name has a value"),
        ("UPDATE pair SET rev = 2 WHERE k = 1", "has no words"),
        ("DELETE FROM project", "settings are missing"),
    ],
)
def test_the_error_says_what_is_wrong(whole, tmp_path, statement, told):
    path = str(shutil.copy(whole, tmp_path / "p.alignkit"))
    run_sql(path, statement)
    refuses(DamagedProject, told, Store.open, path)


def test_a_project_with_damaged_tables_is_made_anew_from_its_log(whole, tmp_path, capsys):
    path = str(shutil.copy(whole, tmp_path / "p.alignkit"))
    run_sql(path, "UPDATE pair_counts SET links = 'many'")
    run(capsys, "project", "yield", path).failed("pair_counts.links")
    assert run(capsys, "project", "log", path, "--check").code == 1
    assert run(capsys, "project", "log", path, "--rebuild", tmp_path / "new").code == 0
    assert run(capsys, "project", "log", tmp_path / "new", "--check").code == 0
