"""The pull of suggestions in a project is that of its assignment, its streams and suggestions."""

import json

import pytest
from annotation import Tab, ask, cell, done, project, sent, small_corpus
from command import run

from alignkit import Alignment, Corpus
from alignkit.annotate.assignment import assign_pairs, assigned_rows
from alignkit.annotate.control_sample import control_pairs
from alignkit.annotate.exporting import exported
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.preannotation_bias import estimate_pull
from alignkit.annotate.project.names import ProjectError
from alignkit.io.format import EVERYTHING

PAIRS = 30


def assigned(folder, names=("anna", "ben"), **options):
    store = project(folder, small_corpus(PAIRS), annotator=None)
    cells = [(0, 0, 0.95, 2), (1, 1, 0.4, 2)]
    store.set_suggestions("test", [(k, cells) for k in range(1, PAIRS + 1)])
    assign_pairs(store, list(names), **{"control": 1.0, **options})
    return store


def annotate(store, k, name, shown):
    tab = Tab(store, k, name)
    tab.send(cell(0, 0, 0, 2))
    if shown and k % 7 == 0:
        tab.send(sent("reject", rejected=[[1, 1, 0, 1]]))
    else:
        tab.send(cell(1, 1, 0, 1) if shown else cell(3, 3, 0, 1))
    tab.send(done())


def test_links_that_nobody_looked_at_and_words_settled_without_them_are_counted(tmp_path):
    store = assigned(tmp_path)
    [row, *_] = [row for row in ask(store, assigned_rows) if row.shown and row.arm]
    Tab(store, row.k, row.annotator).send(
        sent("open", rev=1, suggestions=True),
        sent("edit", how="word", settled=[[-1, 1, 0, 1]]),
        sent(
            "done",
            before=False,
            after=True,
            how="done",
            cells=[[0, 0, 0, 2], [2, 2, 0, 2]],
            bulk=[[0, 0, 0, 1], [2, 2, 0, 1]],
        ),
    )
    pull = estimate_pull(ask(store, control_pairs))
    figures = [pull.accepted.value, pull.unseen.value, pull.rejected.value]
    assert figures == [0.5, 1, 0.5]


def test_the_pull_of_a_project_is_that_of_what_was_drawn(tmp_path, capsys):
    store = assigned(tmp_path)
    before = ask(store, control_pairs)
    assert {pair.arm for pair in before} == {"split", "bare"}
    assert all(pair.open == 2 and not pair.works for pair in before)
    rows = ask(store, assigned_rows)
    for row in rows:
        if row.k > 1:
            annotate(store, row.k, row.annotator, row.shown)
    found, corpus = ask(store, control_pairs), Corpus(exported(store))
    for k, pair in enumerate(found, 1):
        assert (pair.id, pair.suggested) == (corpus[k - 1].id, ((0, 0, 0.95, 2), (1, 1, 0.4, 2)))
        assert pair.open == (2 if k == 1 else 0)
        for name, work in pair.works.items():
            assert work.links == corpus[k - 1].alignment(name)
            assert work.shown == next(
                row.shown for row in rows if (row.k, row.annotator) == (k, name)
            )
    pull = estimate_pull(found)
    split = [k for k, pair in enumerate(found, 1) if pair.arm == "split" and k > 1]
    # all of 2 or, where one is put aside, 1 of 2 suggestions and 1 link; unseen 1 of 2 and 2
    wanted = [(2 / 3 if k % 7 == 0 else 1) - 0.5 for k in split]
    assert pull.pull.pairs == len(split)
    assert pull.pull.value == pytest.approx(sum(wanted) / len(wanted))
    assert pull.rejected.value == pytest.approx(sum(k % 7 == 0 for k in split) / 2 / len(split))
    assert pull.agreement["bare"].value == 1
    assert pull.unseen.value == 0
    store.close()
    ran = run(capsys, "project", "bias", store.path, "--json")
    assert (ran.code, ran.json["pull"]["value"]) == (0, pytest.approx(pull.pull.value))
    assert ran.json == json.loads(json.dumps(pull.to_dict()))
    ran = run(capsys, "project", "bias", store.path, "--least", "0.5", "--markdown")
    assert (ran.code, "suggestions of at least 0.5" in ran.out) == (0, True)
    run(capsys, "project", "bias", store.path, "--least", "2").failed("least is 2")


def test_pairs_of_one_annotator_are_coins_and_trial_pairs_are_none(tmp_path):
    arms = [pair.arm for pair in ask(assigned(tmp_path, double=0.0, trial=5), control_pairs)]
    assert (arms.count("coin"), arms.count("")) == (PAIRS - 5, 5)


def test_what_was_begun_before_is_in_no_arm(tmp_path):
    store = assigned(tmp_path)
    before = ask(store, control_pairs)
    bare = next(k for k, pair in enumerate(before) if pair.arm == "bare")
    pairs = [pair.without_annotations("gold") for pair in small_corpus(PAIRS)]
    pairs[bare] = pairs[bare].with_annotation("carla", Alignment.parse("0-0"))
    import_pairs(store, pairs, holds=EVERYTHING)
    assign_pairs(store, ["carla"])
    after = ask(store, control_pairs)
    assert (after[bare], sum(pair.open for pair in after)) == (before[bare], 3 * PAIRS - 1)


def test_without_an_assignment_nothing_is_known(tmp_path, capsys):
    store = project(tmp_path)
    with pytest.raises(ProjectError, match="nothing is assigned"):
        ask(store, control_pairs)
    store.close()
    run(capsys, "project", "bias", store.path).failed("alignkit project assign")
