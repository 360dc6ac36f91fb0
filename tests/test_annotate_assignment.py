"""Assigned pairs are what an annotator has: lists, neighbours, totals, changes, suggestions."""

import pytest
from annotation import Tab, add_pairs, ask, cell, done, place_of, project, run_sql, small_corpus
from command import run, write
from msgspec import UNSET
from refusals import refuses

from alignkit import Alignment, Corpus, SentencePair, write_corpus
from alignkit.annotate.assignment import assign_pairs, assigned_rows, read_plan
from alignkit.annotate.exporting import exported
from alignkit.annotate.project.names import ProjectError, UnknownPair, Visitor
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.sessions import admit


def list_of(store, name):
    return [row.k for row in store.queue(name).pairs]


def test_a_list_is_what_is_assigned_in_its_order(tmp_path):
    store = project(tmp_path, small_corpus(12))
    store.enrol("zoe")
    assert list_of(store, "anna") == list(range(1, 13))
    assign_pairs(store, ["anna", "ben"], double=0.0, control=0)
    lists = {name: list_of(store, name) for name in ("anna", "ben")}
    assert sorted(lists["anna"] + lists["ben"]) == list(range(1, 13))
    assert lists["anna"] != sorted(lists["anna"])
    first, second, *_, last = lists["ben"]
    view = store.pair(second, "ben")
    assert (view.place, view.pairs, view.previous) == (2, 6, first)
    assert (store.pair(first, "ben").previous, store.pair(last, "ben").next) == (None, None)
    assert [row.k for row in store.queue("ben", after=4).pairs] == lists["ben"][4:]
    Tab(store, second, "ben").send(done())
    assert store.progress("ben") == (1, 6)
    assert [store.pair(k, "ben").next_open for k in (first, last)] == [lists["ben"][2], first]
    assert sorted(row.k for row in store.queue("ben", query="p").pairs) == sorted(lists["ben"])
    assert (list(store.changes("ben", 0).pairs), store.queue("zoe").total) == ([second], 0)
    ids = [pair.id for pair in exported(store, annotator="ben", assigned=True)]
    assert ids == [f"p{k}" for k in sorted(lists["ben"])]
    for k in (lists["anna"][0], 99):
        refuses(UnknownPair, f"no pair {k}", store.check_own, k, "ben")
    assert [(p.annotator, p.done, p.pairs) for p in store.progress_of_all()] == [
        ("anna", 0, 6),
        ("ben", 1, 6),
    ]
    assert not replay(store).differences


def test_work_on_pairs_that_are_not_assigned_is_not_told(tmp_path):
    store = project(tmp_path, small_corpus(8))
    store.enrol("ben")
    for name in ("anna", "ben"):
        for k in (1, 2, 3):
            Tab(store, k, name).send(cell(0, 0, 0, 2))
    assign_pairs(store, ["anna", "carla"], double=0.0)
    assert {1, 2, 3} <= set(list_of(store, "anna"))
    assert not set(list_of(store, "carla")) & {1, 2, 3}
    assert store.changes("ben", 0) is None
    assert store.queue("ben").total == 0
    assert all(row.shown and not row.arm for row in ask(store, assigned_rows) if row.k <= 3)


def test_who_is_to_see_no_suggestions_sees_none(tmp_path):
    store = project(tmp_path, small_corpus(30))
    assign_pairs(store, ["anna", "ben"], control=1)
    store.set_suggestions("m", [(k, [(0, 0, 0.9, 2)]) for k in range(1, 31)])
    rows = ask(store, assigned_rows)
    assert {row.arm for row in rows} == {"split", "bare"}
    for row in rows:
        assert (store.pair(row.k, row.annotator).suggestions is not None) == row.shown


def test_uncertain_pairs_come_first_if_asked_for(tmp_path):
    store = project(tmp_path, small_corpus(9))
    chances = [0.9, 0.6, 0.99, 0.5, 0.7, 0.2, 1.0, 0.05, 0.35]
    store.set_suggestions("m", [(k, [(0, 0, p, 2)]) for k, p in enumerate(chances, 1)])
    found = assign_pairs(store, ["anna"], order="uncertainty")
    assert list_of(store, "anna") == sorted(range(1, 10), key=lambda k: abs(chances[k - 1] - 0.5))
    # two of eight words: .25 (1 - |2 p - 1|), the thirds from the fourth and the seventh on
    assert found.plan.cuts["uncertainty"] == pytest.approx((0.05, 0.15), abs=0.1)


def test_attributes_order_and_stratify_and_an_unknown_one_names_the_near_one(tmp_path):
    store = project(tmp_path, Corpus([SentencePair("p", ["a"], ["b"], {}, {"document": "x"})]))
    refuses(ProjectError, "did you mean document", assign_pairs, store, ["anna"], order="documents")
    assigned = assign_pairs(store, ["anna"], order="document", stratify=["document"])
    assert assigned.strata[0].name == "document x"


def test_each_pair_goes_to_some_of_many(tmp_path):
    """Three of forty for each of 80 pairs: 240 rows, so six for each annotator."""
    store = project(tmp_path, small_corpus(80))
    names = [f"w{k}" for k in range(40)]
    made = assign_pairs(store, names, each=3, seed=7, dry_run=True)
    assert {share.pairs for share in made.annotators} == {6}
    assert assign_pairs(store, names, each=3, seed=7) == made
    rows, with_whom = ask(store, assigned_rows), {}
    for row in rows:
        with_whom.setdefault(row.k, set()).add(row.annotator)
    assert {len(who) for who in with_whom.values()} == {3}
    assert len(set(map(frozenset, with_whom.values()))) > 70  # not always the same together
    assert not replay(store).differences
    other = project(tmp_path, small_corpus(80), name="other")
    assign_pairs(other, names, each=3, seed=8)
    assert set(rows) != set(ask(other, assigned_rows))
    assert assign_pairs(store, each=4).new == 80
    refuses(ProjectError, "exclude each other", assign_pairs, store, each=2, double=0.5)
    refuses(ProjectError, "each is 41; give 1 to 40", assign_pairs, store, each=41)
    assert assign_pairs(store, double=0.5).plan.each is UNSET


def test_a_second_run_adds_and_reshuffles_nothing(tmp_path):
    store = project(tmp_path, small_corpus(20))
    first = assign_pairs(store, ["anna", "ben"], double=0.2, trial=3, dry_run=True)
    assert (first.new, ask(store, assigned_rows)) == (first.assigned + 6, [])
    assert assign_pairs(store, ["anna", "ben"], double=0.2, trial=3) == first
    before, last = ask(store, assigned_rows), store.project().n
    assert (assign_pairs(store).new, store.project().n) == (0, last)
    more = assign_pairs(store, ["carla"], double=1.0)
    assert [row for row in ask(store, assigned_rows) if row in set(before)] == before
    # of 17 pairs beside the trial set all have two now, carla most of the new rows
    assert [share.pairs - share.trial for share in more.annotators][2] >= 11
    assert [share.trial for share in more.annotators] == [3, 3, 3]
    assert not replay(store).differences


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"annotators": []}, "nobody to assign"),
        ({"annotators": [""]}, "an annotator's name"),
        ({"annotators": ["a", "a"]}, "named twice"),
        ({"annotators": ["a"], "double": 0.5}, "'a' is alone"),
        ({"annotators": ["a", "b"], "double": 1.5}, "double is 1.5"),
        ({"annotators": ["a", "b"], "control": -1.0}, "control is -1"),
        ({"annotators": ["a"], "stratify": ["genre"]}, "an attribute 'genre'"),
        ({"annotators": ["a", "gold"]}, "'gold' is the name"),
    ],
)
def test_what_cannot_be_assigned_is_told(tmp_path, options, told):
    store = project(tmp_path)
    refuses(ProjectError, told, assign_pairs, store, **options)
    assert ask(store, assigned_rows) == []


def test_what_was_drawn_once_stays(tmp_path):
    store = project(tmp_path)
    assign_pairs(store, ["anna", "ben"], trial=1)
    for options in ({"trial": 2}, {"seed": 1}, {"stratify": []}):
        refuses(ProjectError, "since the first assignment", assign_pairs, store, **options)
    assign_pairs(store, trial=1, seed=0, stratify=["length"])


def test_the_log_rebuilds_the_assignment(tmp_path):
    store = project(tmp_path, small_corpus(40))
    assign_pairs(store, ["anna", "ben"], double=0.3, trial=4)
    store.settings(Setting(gold="truth", task="judge"))
    add_pairs(store, [SentencePair("n", ["a"], ["b"])])
    path = place_of(tmp_path, "again")
    build_project(path, store.log())
    with Store.open(path) as again:
        assert ask(again, assigned_rows) == ask(store, assigned_rows)
        assert again.project() == store.project()
        assert (again.project().gold, again.project().task) == ("truth", "judge")
        assert ask(again, read_plan) == ask(store, read_plan)
        assert not replay(again).differences
        run_sql(path, "UPDATE assignment SET shown = NOT shown WHERE pair = 41")
        changed = [row for row in ask(store, assigned_rows) if row.k == 41]
        assert len(replay(again).differences) == len(changed)


def test_settings_that_cannot_be_are_refused(tmp_path):
    store = project(tmp_path)
    for changes, told in (({"gold": ""}, "cannot be"), ({"task": "x"}, "align, judge, extract")):
        refuses(ProjectError, told, store.settings, Setting(**changes))


def test_the_command_tells_what_it_did(capsys, tmp_path):
    words = ("project", "assign", project(tmp_path, small_corpus(30), annotator=None).path)
    run(capsys, *words, "--annotators", "anna", "--each", "0").failed("--each")
    run(capsys, *words, "--annotators", "anna", "--each", "2").failed("each is 2; give 1 to 1")
    given = ("--annotators", "anna", "ben", "--double", "0.5", "--trial", "4")
    dry = run(capsys, *words, *given, "--dry-run")
    assert "nothing was stored" in dry.err
    ran = run(capsys, *words, *given)
    assert (ran.code, ran.out) == (0, dry.out)
    assert "30 of 30 pairs are assigned; 47 rows are new" in ran.out  # 4 x 2 + 13 x 2 + 13
    assert "nothing to add" in run(capsys, *words).err
    more = run(capsys, *words, "--annotators", "carla", "--json")
    assert "carla: only trial pairs" in more.err
    assert more.json["plan"]["annotators"] == ["anna", "ben", "carla"]
    assert more.json["annotators"][2] == {
        "annotator": "carla",
        "pairs": 4,
        "new": 4,
        "trial": 4,
        "double": 0,
        "split": 0,
        "bare": 0,
        "coin": 0,
        "hidden": 0,
    }
    run(capsys, *words, "--trial", "5").failed("trial is 4 since")
    run(capsys, *words, "--double", "2").failed("a share from 0 to 1")
    run(capsys, "project", "assign", str(tmp_path / "none")).failed("No such file")


def test_why_no_trial_and_no_control_sample_is_drawn_is_told(tmp_path, capsys):
    links = Alignment.parse("0-0")
    store = project(tmp_path, small_corpus(4, {"anna": links, "ben": links}), annotator=None)
    path = store.path
    store.close()
    words = ("project", "assign", path, "--annotators", "anna", "ben")
    run(capsys, *words, "--trial", "3").failed("none can be a trial")
    with Store.open(path, readonly=True) as store:
        assert ask(store, read_plan) is None
    ran = run(capsys, *words)
    assert "pairs outside the trial" in ran.err


def test_where_nothing_is_suggested_there_is_no_control_sample(tmp_path):
    store = project(tmp_path, small_corpus(4), annotator=None, task="judge")
    found = assign_pairs(store, ["anna", "ben"])
    assert (found.plan.control, {row.hidden for row in found.annotators}) == (0, {0})
    assert assign_pairs(store, ["cleo"], control=1).plan.control == 1
    assert assign_pairs(store, ["dora"]).plan.control == 1  # as it was said
    store.close()


def test_further_pairs_come_in_behind_the_others(tmp_path, capsys):
    store = project(tmp_path, small_corpus(3), name="p")
    assert add_pairs(store, [SentencePair("p4", *small_corpus(4)[3].words)]) == [4]
    assert list_of(store, "anna")[-1] == 4
    assign_pairs(store, ["anna", "ben"], double=0.5, control=0)
    before = ask(store, assigned_rows)
    with pytest.raises(ProjectError, match="'q' has annotations"):
        add_pairs(store, [SentencePair("q", ["a"], ["b"], {"anna": Alignment()})])
    assert add_pairs(store, []) == []
    store.close()
    more, ben = tmp_path / "more.jsonl", {"ben": Alignment.parse("0-0")}
    known = [SentencePair("p2", *small_corpus(4)[1].words)]
    new = [SentencePair(f"n{k}", ["a", "b"], ["c"], ben if k else {}, {"x": "y"}) for k in range(3)]
    write_corpus(Corpus(known + new), more, format="alignkit-jsonl")
    ran = run(capsys, "project", "import", store.path, str(more))
    assert "3 pairs are not in the project and were left out (the first: n0)" in ran.out
    words = ("project", "import", store.path, str(more), "--add-pairs")
    told = run(capsys, *words).out.splitlines()[:2]
    assert told == ["1 pairs of the project", "3 pairs added to it"]
    record = run(capsys, *words, "--json").json
    assert (record["added"], record["pairs"], record["same"], record["new"]) == (0, 4, 2, 0)
    with Store.open(store.path) as again:
        rows = ask(again, assigned_rows)
        assert [row for row in rows if row.k <= 4] == before
        assert {row.k for row in rows if row.k > 4} == {5, 6, 7}
        assert [pair.id for pair in exported(again)][4:] == ["n0", "n1", "n2"]
        assert [pair.attributes["x"] for pair in list(exported(again))[4:]] == ["y"] * 3
        assert "ben" not in list(exported(again))[4].annotations
        assert list(exported(again))[5].alignments["ben"] == ben["ben"]
        assert not replay(again).differences
    for given, told in (
        ((more, "--in-order"), "--in-order"),
        ((store.path,), "export the other project"),
        ((write(tmp_path, "bare.align", "0-0\n" * 9),), "words"),
    ):
        run(capsys, "project", "import", store.path, *given, "--add-pairs").failed(told)


def test_who_cannot_be_an_annotator_is_told_why(tmp_path):
    links = {"auto": Alignment.parse("0-0")}
    with project(tmp_path, small_corpus(3, links), annotator=None) as store:
        store.set_suggestions("auto", [(k, [(0, 0, None, 2)]) for k in (1, 2, 3)])
        for name, told in (("gold", "gold standard"), ("auto", "shown as suggestions")):
            refuses(ProjectError, told, assign_pairs, store, [name, "anna"])
            refuses(ProjectError, told, admit, store, Visitor(name))


def test_what_an_assignment_cannot_know_or_takes_away_is_told(tmp_path, capsys):
    with project(tmp_path, small_corpus(4, {}), annotator="zoe") as store:
        Tab(store, 2, "zoe").send(cell(0, 0, 0, 2, id="1"))
        path = store.path
    words = ("project", "assign", path, "--annotators", "anna", "ben")
    run(capsys, *words, "--order", "uncertainty").failed("no links are suggested")
    ran = run(capsys, *words)
    assert "by length only" in ran.err
    assert "zoe has started 1 pairs" in ran.err
    with Store.open(path) as store, pytest.raises(UnknownPair):
        store.pair(2, "zoe")
    ran = run(capsys, "project", "assign", path, "--annotators", "zoe", "--json")
    assert ran.json["apart"] == {}
    with Store.open(path) as store:
        assert store.pair(2, "zoe").undo
