"""Pairs that are not begun go to somebody else or to nobody, and back; the log says all of it."""

import re
import sqlite3
from contextlib import closing

import pytest
from adjudicated_project import two_annotators
from annotation import Tab, ask, cell, done, project, sent, small_corpus
from command import run
from refusals import refuses

from alignkit.annotate.adjudication.gold import decide
from alignkit.annotate.adjudication.provenance import provenance
from alignkit.annotate.assignment import assign_pairs, assigned_rows, read_plan
from alignkit.annotate.creation import create_project
from alignkit.annotate.merging import merge_project
from alignkit.annotate.project.events import Request, encode
from alignkit.annotate.project.names import (
    DamagedProject,
    MovedPair,
    ProjectError,
    UnknownPair,
)
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.reassignment import move_pairs, take_back
from alignkit.annotate.renaming import rename_annotator
from alignkit.model.alignment import Alignment
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair

TABLES = "project", "account", "stream", "event", "assignment"


def list_of(store, name):
    return [row.k for row in store.queue(name).pairs]


def assigned(tmp_path, *names, pairs=12, **plan):
    store = project(tmp_path, small_corpus(pairs))
    assign_pairs(store, names, **{"control": 0, **plan})
    return store


def test_pairs_not_begun_are_moved_the_last_first_and_back(tmp_path):
    store = assigned(tmp_path, "anna", "ben", double=0.0)
    before, bens = ask(store, assigned_rows), list_of(store, "ben")
    Tab(store, bens[-1], "ben").send(cell(0, 0, 0, 2))
    Tab(store, bens[-2], "ben").send(sent("open", rev=1, suggestions=True))
    dry = move_pairs(store, "ben", "dora", 3, dry_run=True)
    assert (list_of(store, "ben"), dry.text) == (bens, "3 pairs")
    moved = move_pairs(store, "ben", "dora", 3, actor="carla")
    assert moved == dry
    assert set(moved.pairs) == {*bens[2:5]}  # it was opened only
    assert (list_of(store, "ben"), list_of(store, "dora")) == ([*bens[:2], bens[5]], bens[2:5])
    assert [*store.log()][-1].actor == "carla"
    assert not replay(store).differences
    moved = move_pairs(store, "dora", "ben", 3, pairs=moved.pairs)
    assert (ask(store, assigned_rows), moved.text) == (before, "3 pairs")
    assert move_pairs(store, "ben", None, 9).text == "5 of 9: ben has no more that are not begun"
    assert list_of(store, "ben") == bens[5:]
    assert not replay(store).differences


def test_a_move_leaves_what_the_other_has_and_what_is_compared(tmp_path):
    store = assigned(tmp_path, "anna", "ben", "carla", double=0.5)
    both = set(list_of(store, "anna")) & set(list_of(store, "ben"))
    free = len(list_of(store, "ben")) - len(both)
    moved = move_pairs(store, "ben", "anna", 99)
    assert len(moved.pairs) == free
    assert not both & set(moved.pairs)
    assert f"{len(both)} {'is' if len(both) == 1 else 'are'} already anna's" in moved.text
    store = assigned(tmp_path / "..", "anna", "ben", "carla", control=1)
    split = [row for row in ask(store, assigned_rows) if row.arm == "split"]
    alone = {
        k for k in {row.k for row in split} if sum(row.shown for row in split if row.k == k) == 1
    }
    mine = {row.k for row in split if row.annotator == "ben" and row.shown and row.k in alone}
    moved = move_pairs(store, "ben", None, 12)
    assert mine
    assert not mine & set(moved.pairs)
    assert "with and without suggestions" in moved.text
    kept = {
        row.k: (row.arm, row.shown, row.trial)
        for row in ask(store, assigned_rows)
        if row.annotator == "anna"
    }
    move_pairs(store, "anna", "dora", 12)
    assert (
        kept.items()
        >= {
            row.k: (row.arm, row.shown, row.trial)
            for row in ask(store, assigned_rows)
            if row.annotator == "dora"
        }.items()
    )


def test_whoever_leaves_gives_back_what_is_not_begun_and_may_return(tmp_path):
    store = assigned(tmp_path, "anna", "ben", double=0.0, trial=2)
    before, plan = ask(store, assigned_rows), ask(store, read_plan)
    bens = list_of(store, "ben")
    Tab(store, bens[0], "ben").send(done())
    taken = take_back(store, "ben", "carla")
    assert (list_of(store, "ben"), taken) == (bens[:1], sorted(bens[1:]))
    assert ask(store, read_plan).annotators == ("anna",)
    assert take_back(store, "zoe") == take_back(store, "ben") == []
    gone = bens[-1]
    move_pairs(store, None, "dora", 1, pairs=[gone])
    back = move_pairs(store, None, "ben", len(taken), pairs=taken)
    assert back.text == f"{len(taken) - 1} of {len(taken)}: the others are somebody's"
    move_pairs(store, "dora", "ben", 1)
    assert ask(store, assigned_rows) == before
    assert set(ask(store, read_plan).annotators) == {*plan.annotators, "dora"}
    assert not replay(store).differences


def test_a_moved_pair_takes_no_more_work_and_begun_work_stays(tmp_path):
    store = assigned(tmp_path, "anna", "ben", double=0.0)
    *_, other, last = list_of(store, "ben")
    tab, unsaved = Tab(store, last, "ben"), Tab(store, other, "ben")
    store.check_own(last, "ben")
    move_pairs(store, "ben", "anna", 1)
    refuses(MovedPair, f"pair {last} is not yours", tab.send, cell(0, 0, 0, 2))
    refuses(MovedPair, "not yours any more", store.pair, last, "ben")
    refuses(UnknownPair, "for you", store.pair, list_of(store, "anna")[0], "ben")
    unsaved.send(cell(0, 0, 0, 2))
    assert other not in move_pairs(store, "ben", "anna", 99).pairs
    assert list_of(store, "ben") == [other]
    assert (store.pair(other, "ben").place, store.pair(other, "ben").pairs) == (1, 1)


def test_nothing_is_everybodys_when_all_was_taken_and_copies_have_the_moves(tmp_path):
    store = assigned(tmp_path, "anna", pairs=4)
    assert len(take_back(store, "anna")) == 4
    assert list_of(store, "anna") == []
    refuses(MovedPair, "not yours any more", store.check_own, 1, "anna")
    build_project(str(tmp_path / "copy"), store.log())
    with Store.open(str(tmp_path / "copy")) as copy:
        assert list_of(copy, "anna") == []
        move_pairs(copy, None, "anna", 4)
        Tab(copy, 1, "anna").send(cell(0, 0, 0, 2))
        assert merge_project(store, copy).new == 1
        assert not replay(copy).differences
    assert list_of(store, "anna") == []
    assert not replay(store).differences


@pytest.mark.parametrize(("giver", "taker"), [("ben", "ben"), (None, None), ("ben", "gold")])
def test_moves_that_make_no_sense_are_refused(tmp_path, giver, taker):
    store = assigned(tmp_path, "anna", "ben")
    refuses(
        ProjectError,
        "gold" if taker == "gold" else "two different",
        move_pairs,
        store,
        giver,
        taker,
        1,
    )


def test_the_command_moves(tmp_path, capsys):
    with assigned(tmp_path, "anna", "ben", double=0.0) as store:
        path = store.path
    moved = run(capsys, "project", "assign", path, "--move", "ben", "dora", "--count", "2")
    assert (moved.code, moved.out) == (0, "2 pairs\n")
    with Store.open(path) as store:
        assert len(list_of(store, "dora")) == 2


def test_a_renamed_annotator_has_the_new_name_in_all_that_is_stored(tmp_path):
    path = str(tmp_path / "p")
    two_annotators(path)
    with Store.open(path) as store:
        store.enrol("gold")
        take_back(store, "ben", "ben")
        open_ = sent("open", rev=1, suggestions=False)
        decide(store, 2, "carla", Request(0, 1, [open_]))
        before = list(provenance(store))
        assert any("ben" in row["votes"] for row in before)
        rename_annotator(store, "ben", "ben.2", "carla")
        assert not replay(store).differences
        assert store.project().annotators == ["anna", "ben.2", "gold"]
        after = [
            {**row, "votes": {name.removesuffix(".2"): x for name, x in row["votes"].items()}}
            for row in provenance(store)
        ]
        assert after == before
        for old, new in (("ben", "eve"), ("anna", "ben.2"), ("anna", "gold"), ("gold", "x")):
            refuses(ProjectError, "gold|cannot become", rename_annotator, store, old, new)
        log = [encode(event).decode() for event in store.log()]
    with closing(sqlite3.connect(path)) as conn:
        rows = [str(conn.execute(f"SELECT * FROM {table}").fetchall()) for table in TABLES]
    assert not re.search(r"\bben\b(?!\.2)", "".join([*log, *rows]))


def test_renaming_leaves_words_alone_that_are_called_like_a_field(tmp_path):
    path = str(tmp_path / "p")
    create_project(path, Corpus([SentencePair("1", ("whys",), ("a",), {"ben": Alignment()})]))
    with Store.open(path) as store:
        rename_annotator(store, "ben", "dora")
        assert not replay(store).differences


def test_renaming_says_that_an_event_of_the_project_is_damaged(tmp_path):
    path = str(tmp_path / "p")
    create_project(path, Corpus([SentencePair("1", ("a",), ("a",), {"ben": Alignment()})]))
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE event SET data = '{' WHERE kind = 'account'")
    with Store.open(path) as store:
        refuses(
            DamagedProject, "p: the project file is damaged", rename_annotator, store, "ben", "x"
        )
