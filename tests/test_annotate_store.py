"""The store of annotations: events in, states out, nothing lost, nothing overwritten."""

import copy
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from tempfile import TemporaryDirectory
from threading import Event

import pytest
import sqlalchemy as sa
from annotate_log import TEXTS, Player, View, shown
from annotation import Tab, append, cell, cells_of, done, project, run_sql, sent, small_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.json import encode
from refusals import refuses
from repetitions import repetitions
from strategies import corpora

from alignkit import Alignment, Annotation, Corpus, SentencePair, read_corpus
from alignkit.annotate.creation import create_project
from alignkit.annotate.exporting import exported
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.project import names, schema
from alignkit.annotate.project.events import UNDOABLE, decode_data
from alignkit.annotate.project.names import BadEvent, Conflict, OldText, ProjectError
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.state import decode_state
from alignkit.annotate.project.store import Store
from alignkit.errors import MissingTextError
from alignkit.io.format import EVERYTHING

_ACTS = st.sampled_from(["send"] * 12 + ["text", "restart"])
_STEPS = st.lists(st.tuples(_ACTS, st.integers(0, 1), st.integers(0, 999)), max_size=40)


@pytest.fixture
def store(tmp_path):
    return project(tmp_path)


@settings(max_examples=repetitions(50), deadline=None)
@given(corpora(EVERYTHING - {"no text"}).filter(len))
def test_a_project_gives_its_corpus_back(corpus):
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "p")
        create_project(path, corpus)
        with Store.open(path) as store:
            gold = {"gold": "adjudicated"} if "gold" in corpus.annotators else {}
            assert Corpus(exported(store)) == corpus.with_roles(gold)
            assert not replay(store).differences


def test_an_export_has_the_roles_of_the_corpus(tmp_path):
    corpus = read_corpus("samples/paraphrases.jsonl")
    with project(tmp_path, corpus, annotator=None) as store:
        assert Corpus(exported(store)).roles == corpus.roles
    made = corpus.with_roles({"eflomal": "adjudicated"})
    # the gold standard of the project is the only one
    with project(tmp_path, made, "other", annotator=None) as store:
        assert Corpus(exported(store)).roles == corpus.roles
        assert import_pairs(store, corpus.rename({"ben": "eva"}), holds=EVERYTHING).new
        assert Corpus(exported(store)).roles["eva"] == "annotator"


def test_pairs_need_words_and_a_file_of_their_own(tmp_path):
    path = str(tmp_path / "p")
    with pytest.raises(MissingTextError, match="'x'"):
        create_project(path, Corpus([SentencePair("x", None, None, {"a": Alignment()})]))
    refuses(ProjectError, "no sentence pairs", create_project, path, Corpus())
    assert os.listdir(tmp_path) == []
    create_project(path, small_corpus())
    refuses(ProjectError, "exists already", create_project, path, small_corpus())
    assert os.listdir(tmp_path) == ["p"]
    assert names.project_beside("a/corpus.jsonl") == "a/corpus.jsonl.alignkit"
    assert names.project_beside("folder/") == "folder.alignkit"
    refuses(ProjectError, "--project", names.project_beside, "-")


def test_every_kind_is_held_and_comments_are_labels(store):
    Tab(store).send(
        sent("open", rev=1, suggestions=True),
        sent(
            "edit",
            how="accept-all",
            cells=[[0, 0, 0, 2], [1, 1, 0, 2]],
            bulk=[[0, 0, 0, 1], [1, 1, 0, 1]],
            set="m",
            threshold=0.9,
        ),
        sent("reject", rejected=[[2, 2, 0, 1]]),
        sent("comment", key="0-0", before="", after="<b>why</b>"),
        sent("comment", key="2--1", before="", after="no word"),
        sent("judge", label=["", "paraphrase"], flags=[[], ["typo", "tense"]]),
        sent("done", before=False, after=True, seen=[[0, 0]]),
    )
    state = store.pair(1, "anna").state
    assert (state.bulk, state.flags) == ([(1, 1)], ["tense", "typo"])
    assert dict(state.comments) == {"0-0": "<b>why</b>", "2--1": "no word"}
    assert (state.judgment, state.done, state.rejected) == ("paraphrase", True, [(2, 2)])
    labels = Corpus(exported(store))[0].alignment("anna").labels
    assert labels == {(0, 0): "<b>why</b>", (2, -1): "no word"}
    assert not replay(store).differences


def test_done_with_the_links_that_it_keeps_is_one_step(store):
    tab = Tab(store)
    kept = {"cells": [[1, 1, 0, 2], [2, 2, 0, 1]], "bulk": [[1, 1, 0, 1], [2, 2, 0, 1]]}
    about = {"set": "m", "threshold": 0.1, "p": [[1, 1, 0.9]], "q": [[1, 1, 0.97]]}
    tab.send(
        sent("edit", how="word", settled=[[0, -1, 0, 1]]),
        sent("done", before=False, after=True, how="done", **kept, **about),
    )
    state = store.pair(1, "anna").state
    assert (state.done, state.settled) == (True, [(0, -1)])
    assert state.cells == [(1, 1, 2), (2, 2, 1)]
    assert state.bulk == [(1, 1), (2, 2)]
    stored = decode_data(store.history(1, "anna")[-1].data)
    assert (stored.how, stored.set, stored.threshold) == ("done", "m", 0.1)
    assert (stored.p, stored.q) == (((1, 1, 0.9),), ((1, 1, 0.97),))
    tab.back()
    state = store.pair(1, "anna").state
    assert (state.done, state.cells, state.bulk) == (False, [], [])
    tab.back()
    assert store.pair(1, "anna").state.settled == UNSET
    tab.back("redo"), tab.back("redo")
    assert store.pair(1, "anna").state.bulk == [(1, 1), (2, 2)]
    with pytest.raises(Conflict):
        tab.send(sent("done", before=True, after=True, how="done", cells=[[1, 1, 0, 1]]))
    assert not replay(store).differences


def test_a_conflict_stores_nothing_and_tells_both(store):
    mine, other = Tab(store), Tab(store)
    other.send(cell(0, 0, 0, 1), sent("comment", key="", before="", after="there"))
    base = store.project().n
    with pytest.raises(Conflict) as told:
        mine.send(cell(1, 1, 0, 2), cell(0, 0, 0, 2))
    assert told.value.conflicts == [{"i": 0, "j": 0, "before": 0, "after": 2, "now": 1}]
    assert ([event.seq for event in told.value.events], store.project().n) == ([1, 2], base)
    with pytest.raises(Conflict) as told:
        mine.send(sent("comment", key="", before="", after="here"))
    assert told.value.conflicts[0]["now"] == "there"
    mine.send(cell(0, 0, 0, 1), cell(2, 2, 0, 2))  # what is so already, and another cell
    assert (store.history(1, "anna")[2].kind, cells_of(store)) == ("open", {(0, 0): 1, (2, 2): 2})
    with pytest.raises(Conflict) as told:
        mine.back(of="another")
    conflict = {"field": "undo", "before": "another", "after": None, "now": mine.undo}
    assert told.value.conflicts == [conflict]


def test_what_another_tab_has_done_already_is_no_step_of_undo(store):
    left, right = Tab(store), Tab(store)
    finished = done()
    left.send(finished)
    twice = sent("done", before=False, after=True, seen=[[0, 0]])
    judged = sent("judge", flags=[[], []])
    for _ in range(2):  # and a repetition gets its answer
        right.send(twice, judged, sent("comment", key="", before="", after=""))
    assert (right.undo, right.redo) == (finished.id, None)
    assert [event.kind for event in store.history(1, "anna")][:3] == ["done", "open", "open"]
    left.back(of=finished.id)
    assert not store.pair(1, "anna").state.done
    right.send(done(True))  # takes no redo away
    left.back("redo")
    assert store.pair(1, "anna").state.done
    assert not replay(store).differences


def test_a_word_is_linked_or_null(store):
    mine, other = Tab(store), Tab(store)
    other.send(sent("edit", how="cell", cells=[[0, -1, 0, 2], [-1, 3, 0, 1]]))
    mine.send(cell(0, 3, 0, 2))
    assert cells_of(store) == {(0, 3): 2}
    with pytest.raises(Conflict) as told:
        other.send(cell(-1, 3, 0, 2))
    assert told.value.conflicts == [{"i": 0, "j": 3, "before": 0, "after": 0, "now": 2}]
    other.send(sent("edit", how="cell", cells=[[0, 3, 2, 0], [0, -1, 0, 2]]))
    mine.load()
    for _ in range(3):
        mine.back()
    assert cells_of(store) == {}


def test_what_is_gone_takes_its_marks_along_and_undo_brings_them_back(tmp_path):
    gold = Alignment([(0, 0)], weights={(0, 0): 0.7})
    store = project(tmp_path, small_corpus(1, {"anna": gold}))
    tab = Tab(store)
    tab.send(cell(0, 0, 2, 0))
    assert store.pair(1, "anna").state.weights == []
    tab.back()
    assert Corpus(exported(store))[0].alignment("anna") == gold


def test_what_is_repeated_in_part_is_stored_once_and_an_id_names_one_event(store):
    event, late = cell(0, 0, 0, 2), cell(1, 1, 0, 2)
    Tab(store).send(event)
    answer, new = append(store, 1, "anna", base=0, rev=1, events=[event, late, late])
    assert (new, answer.seq) == (True, 2)
    others = cell(0, 0, 0, 1, id=event.id), sent("done", id=event.id, before=False, after=True)
    for wrong in others:
        refuses(BadEvent, "another event", append, store, 1, "anna", base=2, rev=1, events=[wrong])
    refuses(BadEvent, "another event", append, store, 2, "anna", base=0, rev=1, events=[event])


@pytest.mark.parametrize(
    "event",
    [
        cell(4, 0, 0, 2),
        cell(0, 0, 0, 3),
        sent("edit", how="cell", weights=[[0, 0, None, 1.0]]),
        sent("text", to=2),
        sent("comment", key="0_0", before="", after="x"),
        sent("judge", label=["", "x" * 201]),
        sent("judge", label=["", "no label"]),
        sent("edit", how="cell", p=[[4, 0, 0.5]]),
        sent("reject", rejected=[], p=[[0, 0, 0.5], [0, 0, 0.4]]),
        sent("done", before=0, after=1),
        sent("done", before=False, after=True, how="word"),
        sent("edit", how="word", settled=[[0, 0, 0, 1]]),
        sent("edit", how="word", settled=[[4, -1, 0, 1]]),
        sent("edit", how="word", q=[[0, 0, 1.5]]),
        sent("undo", of=3),
    ],
)
def test_what_cannot_be_is_refused(store, event):
    refuses(BadEvent, None, Tab(store).send, cell(0, 0, 0, 1), event)
    assert store.history(1, "anna") == []


def test_a_label_that_is_of_no_scheme_comes_back_if_it_was_there(tmp_path):
    store = project(tmp_path, small_corpus(1, {"anna": Annotation(None, judgment="old")}))
    store.enrol("ben")
    tab = Tab(store)
    tab.send(sent("judge", label=["old", "partial"]))
    tab.back()
    assert store.pair(1, "anna").state.judgment == "old"
    tab.send(sent("judge", label=["old", ""]), sent("judge", label=["", "old"]))
    with pytest.raises(BadEvent, match="'new' is not in"):
        tab.send(sent("judge", label=["old", "new"]))
    refuses(BadEvent, "'old' is not", Tab(store, 1, "ben").send, sent("judge", label=["", "old"]))
    assert store.pair(1, "anna").state.judgment == "old"


def test_unknown_names_and_numbers(store):
    more = {"base": 0, "events": [cell(0, 0, 0, 2)]}
    for k in (0, -1, 4, 2**70):
        refuses(names.UnknownPair, None, store.pair, k, "anna")
        refuses(names.UnknownPair, None, append, store, k, "anna", rev=1, **more)
    for name in ("", "nobody"):
        refuses(names.UnknownAnnotator, None, store.pair, 1, name)
    with pytest.raises(OldText) as told:
        append(store, 1, "anna", rev=2, **more)
    assert told.value.rev == 1
    for name in ("", "a\nb", "x" * 201):
        refuses(ProjectError, None, store.enrol, name)


def test_lists_and_totals(tmp_path):
    store = project(tmp_path, small_corpus(5))
    comment = sent("comment", key="", before="", after="Straße 100%")
    Tab(store, 2).send(cell(0, 0, 0, 2), comment, done())
    assert (store.progress("anna"), store.progress("gold")) == ((1, 5), (5, 5))
    row = store.queue("anna", after=1, limit=1).pairs[0]
    assert (row.k, row.id, row.done, row.links, row.comments) == (2, "p2", True, 1, 1)
    for name, text, found in (
        ("anna", "STRASSE", [2]),
        ("gold", "strasse", []),
        ("anna", "0%", [2]),
        ("anna", "P3", [3]),
    ):
        assert [row.k for row in store.queue(name, query=text).pairs] == found
    assert len(store.queue("anna", query="b c", limit=4).pairs) == 4
    Tab(store, 1).send(sent("comment", key="", before="", after="like p3"))
    assert [row.k for row in store.queue("anna", query="p3").pairs] == [3, 1]  # this id is first
    Tab(store, 3).send(sent("judge", flags=[[], ["unsure"]]))
    Tab(store, 4).send(sent("open", rev=1, suggestions=False))
    for only, found in (
        ("open", [1, 3, 4, 5]),
        ("done", [2]),
        ("flagged", [3]),
        ("commented", [1, 2]),
        ("mine", [1, 2, 3]),
    ):
        part = store.queue("anna", only=only)
        assert ([row.k for row in part.pairs], part.total) == (found, len(found)), only
        assert store.queue("anna", after=1, only=only).pairs == part.pairs[1:]
    assert [row.k for row in store.queue("anna", query="p", only="flagged").pairs] == [3]
    following = [store.pair(*of).next_open for of in ((1, "anna"), (5, "anna"), (1, "gold"))]
    assert following == [3, 1, None]
    changes = store.changes("anna", 0)
    assert (list(changes.pairs), changes.n) == ([2, 1, 3, 4], store.project().n)
    assert store.changes("anna", changes.n) is None


def test_suggestions_are_a_set_that_is_shown(store):
    assert store.pair(1, "anna").suggestions is None
    store.set_suggestions("m", [(1, [(0, 0, 0.9, 2), (1, 2, None, 1)])])
    assert store.pair(1, "anna").suggestions.cells == [(0, 0, 0.9, 2), (1, 2, None, 1)]
    assert store.pair(2, "anna").suggestions.cells == []
    store.set_suggestions("m", [(2, [])])
    assert store.pair(1, "anna").suggestions.cells == []
    for row in ((9, []), (1, [(0, 4, 0.5, 2)]), (1, [(0, 0, 0.5, 0)])):
        refuses(ProjectError, None, store.set_suggestions, "m", [(3, []), row])
    assert store.project().doubt == 0.1
    refuses(ProjectError, "known: 0, 0.1, 0.2", store.settings, Setting(doubt=0.3))
    store.settings(Setting(suggestions="", threshold=0.8, doubt=0))
    assert store.project().doubt == 0
    assert store.pair(1, "anna").suggestions is None
    assert store.project().threshold == 0.8
    assert not replay(store).differences


def test_export_tells_done_from_begun(tmp_path):
    store = project(tmp_path, small_corpus(5, {"gold": Annotation(None, judgment="same")}))
    Tab(store, 1).send(done())
    Tab(store, 2).send(cell(0, 0, 0, 2))
    Tab(store, 3).send(sent("open", rev=1, suggestions=False))
    Tab(store, 4).send(sent("judge", label=["", "none"]))
    found = [pair.annotations.get("anna") for pair in exported(store)]
    drawn = Annotation(Alignment.parse("0-0"), start="")  # the page suggested no links
    judged = Annotation(None, judgment="none")
    found = [said and replace(said, when=None) for said in found]
    assert found == [Annotation(Alignment(), start=""), drawn, None, judged, None]
    finished = [list(pair.annotations) for pair in exported(store, done=True)]
    assert finished == [["anna"], [], [], [], []]
    assert Corpus(exported(store, annotator="gold")).annotators == ("gold",)


@settings(max_examples=repetitions(200), deadline=None)
@given(_STEPS)
def test_histories_of_two_tabs_fold_to_the_snapshot(steps):
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "p")
        create_project(path, small_corpus(1))
        store = Store.open(path)
        store.enrol("anna")
        tabs, player = [Tab(store), Tab(store)], Player(random.Random())
        acknowledged = []
        for act, which, seed in steps:
            player.rng = random.Random(seed)
            if act == "send":
                acknowledged += _sent(store, tabs[which], player)
            elif act == "text":
                words = [text.split() for text in player.rng.choices(TEXTS, k=2)]
                import_pairs(store, [SentencePair("p1", *words)], holds=EVERYTHING)
            else:
                store.close()
                store = tabs[0].store = tabs[1].store = Store.open(path)
        assert not replay(store).differences
        history = store.history(1, "anna")
        assert [event.id for event in history if event.kind != "text"] == acknowledged
        stored = [
            {"id": event.id, "kind": event.kind, "data": json.loads(bytes(event.data))}
            for event in history
        ]
        view, folded = store.pair(1, "anna"), View(stored, [])
        state = decode_state(encode(view.state))
        assert shown(state, [], []) == shown(folded.state, [], [])
        assert (view.state.undo, view.state.redo) == folded.tops()
        if history:
            assert counted(store) == (*counts_of(view.state), view.state.done)
        if all(event.kind != "text" for event in history):
            while store.pair(1, "anna").state.undo:
                tabs[0].load()
                tabs[0].back()
            state = store.pair(1, "anna").state
            assert (state.cells, state.comments, state.rejected) == ([], [], [])
            assert (state.judgment, state.flags, state.done) == ("", [], False)
        store.close()


def counted(store):
    """Return the counts that lists of pairs have of the only pair of anna."""
    counts = schema.pair_counts.c
    columns = counts.links, counts.nulls, counts.comments, counts.done
    anna = sa.select(schema.account.c.id).where(schema.account.c.name == "anna").scalar_subquery()
    with store.database.reading() as conn:
        return tuple(conn.execute(sa.select(*columns).where(counts.account == anna)).one())


def counts_of(state):
    """Return the links, nulls and comments of a state, as its view lists them."""
    nulls = [(i, j) for i, j, _ in state.cells if i == -1 or j == -1]
    return len(state.cells) - len(nulls), len(nulls), len(state.comments)


def _sent(store, tab, player):
    view = store.pair(1, "anna")
    events = _batch(tab, player, len(view.source), len(view.target))
    top = getattr(view.state, events[0].kind, None)
    stale = events[0].kind in ("undo", "redo") and decode_data(events[0].data).of != top
    before = [event.id for event in store.history(1, "anna")]
    try:
        answer, new = tab.send(*events)
    except (Conflict, OldText, BadEvent) as refused:
        assert [event.id for event in store.history(1, "anna")] == before
        assert store.pair(1, "anna").state == view.state
        old = isinstance(refused, OldText)
        assert old == (tab.rev != view.rev)
        if old:
            tab.load()
        return []
    assert (new, stale) == (True, False)
    ids = [event.id for event in events]
    assert [event.id for event in store.history(1, "anna")] == before + ids
    again, new = append(store, 1, "anna", base=answer.seq, rev=tab.rev, events=events)
    assert (new, again.seq) == (False, answer.seq)
    return ids


def _batch(tab, player, n, m):
    state, tops, events = copy.deepcopy(tab.state), tab.tops(), []
    for _ in range(player.rng.choice([1, 1, 2, 3])):
        made = player.event(state, tops, n, m)
        events.append(sent(made["kind"], id=made["id"], **made["data"]))
        if made["kind"] in ("undo", "redo"):
            break
        state.apply(made["kind"], decode_data(events[-1].data))
        tops = (made["id"], None) if made["kind"] in UNDOABLE else tops
    return events


def test_one_server_at_a_time(tmp_path):
    path = str(tmp_path / "p")
    create_project(path, small_corpus())
    code = (
        "import sys; from alignkit.annotate.project.store import Store\n"
        "store = Store.open(sys.argv[1], serve=True); print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout.readline() == b"open\n"
        refuses(ProjectError, "another server", Store.open, path, serve=True)
        with Store.open(path) as store:  # commands go on beside it
            store.enrol("ben")
        server.kill()
    with Store.open(path, serve=True):
        refuses(ProjectError, "another server", Store.open, path, serve=True)
    Store.open(path, serve=True).close()
    assert os.listdir(tmp_path) == ["p"]


def test_what_is_no_project_is_told(tmp_path):
    path = tmp_path / "p"
    for content in (b"", b"a b c", b"SQLite format 3\0" + b"x" * 5000):
        path.write_bytes(content)
        refuses(ProjectError, str(path), Store.open, str(path))
    path.unlink()
    run_sql(str(path), "CREATE TABLE t (x)")
    refuses(ProjectError, "not an alignkit project", Store.open, str(path), serve=True)
    assert os.listdir(tmp_path) == ["p"]


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("PRAGMA user_version=7", "newer alignkit"),
        ("DROP TABLE pair_counts", "has no table 'pair_counts'"),
    ],
)
def test_other_versions_are_told(store, statement, told):
    store.close()
    run_sql(store.path, statement)
    refuses(ProjectError, told, Store.open, store.path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE stream SET state = replace(state, '[1,1,1]', '[1,1,2]') WHERE pair = 2",
        "UPDATE pair_counts SET done = NOT done WHERE pair = 1",
        "UPDATE pair_text SET source = '[\"other\"]' WHERE pair = 1",
        "UPDATE event SET data = '{}' WHERE n = 5",
        "UPDATE event SET seq = 7 WHERE n = 5",
        "DELETE FROM event WHERE n = 4",
        "UPDATE stream SET undo_top = 0 WHERE pair = 1",
    ],
)
def test_an_audit_finds_what_was_changed_by_hand(store, statement):
    run_sql(store.path, statement)
    assert replay(store).differences


def test_what_is_refused_while_a_project_is_closed_is_not_done_later(tmp_path):
    store = project(tmp_path)
    started, go_on = Event(), Event()
    done = []

    def wait(_):
        started.set()
        assert go_on.wait(30)

    store.database.later(wait)
    assert started.wait(30)
    second = store.database.later(lambda _: done.append("second"))  # its write is queued
    store.database._writer.shutdown(wait=False)  # as `close` begins
    refuses(ProjectError, "is being closed", store.database.later, lambda _: done.append("third"))
    go_on.set()
    second.result(30)
    store.close()
    assert done == ["second"]
