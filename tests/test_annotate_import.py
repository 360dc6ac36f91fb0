"""Corrected words and work done elsewhere come into a project, and nothing vanishes."""

import json
import random
import shutil
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import Path

import pytest
from annotation import Tab, cell, cells_of, copy_of, done, project, run_sql, sent, small_corpus
from command import PARAPHRASES, run, write
from hypothesis import given
from hypothesis import strategies as st

from alignkit import Alignment, Annotation, Corpus, SentencePair, read_corpus
from alignkit import write_corpus as write_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.exporting import exported
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.merging import merge_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.rewording import Rewording, places, reword
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store
from alignkit.errors import JoinError
from alignkit.io.format import EVERYTHING
from alignkit.model.trees import Tree

_TOKENS = st.lists(st.sampled_from("abcd"), max_size=7)
_JUDGED = [
    Annotation(Alignment(), judgment=text, flags=flags)
    for text in ("4<i", "4", "x", "3i", "<4", "same meaning", "4><", "")
    for flags in ((), ("unsure",), (">",))
    if (text, flags) != ("4", (">",))  # which the scheme writes as "4>"
]


def take(store, *pairs, **options):
    return import_pairs(store, pairs, holds=EVERYTHING, **options)


def words(pair="p1", source="a b c d", target="w x y z", **annotations):
    return SentencePair(pair, source.split(), target.split(), annotations)


@given(_TOKENS, _TOKENS)
def test_places_are_in_order_and_keep_as_many_equal_tokens_as_can_be(old, new):
    found, begin = places(old, new), _alike(old, new)
    kept = [place for place in found if place is not None]
    assert kept == sorted(set(kept))
    equal = sum(
        place is not None and new[place] == word for word, place in zip(old, found, strict=True)
    )
    assert equal >= _common_length(old, new)
    end = _alike(old[begin:][::-1], new[begin:][::-1])
    assert found[:begin] == list(range(begin))
    assert found[len(old) - end :] == list(range(len(new) - end, len(new)))
    same = [(i, j) for i, j in enumerate(found) if j is not None and old[i] == new[j]]
    for (i, j), (next_i, next_j) in pairwise([(-1, -1), *same, (len(old), len(new))]):
        inside = range(j + 1, next_j) if next_i - i == next_j - j else [None] * (next_i - i - 1)
        assert found[i + 1 : next_i] == list(inside)  # as many for as many, or gone


def _alike(one, other):
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False)))


@given(_TOKENS, _TOKENS, _TOKENS, _TOKENS, st.data())
def test_links_of_repeated_words_stand_or_are_listed_once(old, new, old_target, new_target, data):
    cells = [(i, j) for i in range(-1, len(old)) for j in range(-1, len(old_target))][1:]
    links = data.draw(st.lists(st.sampled_from(cells), unique=True, max_size=12)) if cells else []
    before = PairState(
        cells={cell: 1 + k % 2 for k, cell in enumerate(links)},
        bulk=set(links[::3]),
        settled={(i, -1) for i in range(len(old))} | {(-1, j) for j in range(len(old_target))},
        comments={f"{i}-{j}": f"on {i}, {j}" for i, j in links[::2]},
    )
    after = reword(before, Rewording((old, old_target), (new, new_target)), 2)
    source, target = [*places(old, new), -1], [*places(old_target, new_target), -1]  # of -1: -1
    stand, gone = {}, []
    for i, j in links:
        place = source[i], target[j]
        if None in place:
            gone.append((i, j, before.cells[i, j]))
        else:
            stand[place] = i, j
    assert after.cells == {place: before.cells[cell] for place, cell in stand.items()}
    assert after.bulk == {place for place, cell in stand.items() if cell in before.bulk}
    lost = {(i, -1) for i, *_ in gone} | {(-1, j) for _, j, _ in gone}
    settled = {(source[i], -1) for i in range(len(old)) if (i, -1) not in lost}
    settled |= {(-1, target[j]) for j in range(len(old_target)) if (-1, j) not in lost}
    assert after.settled == {cell for cell in settled if None not in cell}
    assert sorted(mark.was for mark in after.marks) == sorted(gone)
    assert len(after.cells) + len(after.marks) == len(links)
    lengths = {"source": len(new), "target": len(new_target)}
    assert all(0 <= mark.at < max(lengths[mark.side], 1) for mark in after.marks)
    notes = [*after.comments.values(), *filter(None, (mark.note for mark in after.marks))]
    assert sorted(notes) == sorted(before.comments.values())
    for (i, j), (s, t) in stand.items():
        assert after.comments.get(f"{i}-{j}") == before.comments.get(f"{s}-{t}")


def _common_length(old, new):
    if not old or not new:
        return 0
    if old[0] == new[0]:
        return 1 + _common_length(old[1:], new[1:])
    return max(_common_length(old[1:], new), _common_length(old, new[1:]))


@st.composite
def _corrections(draw):
    old = [f"w{k}" for k in range(draw(st.integers(0, 6)))]
    new, kept = [], {}
    for k, word in enumerate(old):
        change = draw(st.sampled_from(["keep", "keep", "delete", "replace", "insert"]))
        if change == "insert":
            new += [f"new{k}-{n}" for n in range(draw(st.integers(1, 2)))]
        if change in ("keep", "insert"):
            kept[k] = len(new)
            new.append(word)
        elif change == "replace":
            new.append(f"other{k}")
    return old, new, kept


@given(_corrections())
def test_words_that_stay_are_found_where_they_went(texts):
    old, new, kept = texts
    assert {k: place for k, place in enumerate(places(old, new)) if k in kept} == kept


@pytest.mark.parametrize("count", [3000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_long_sentences_are_reworded_in_little_memory(count):
    rng = random.Random(1)
    old, new = ([f"word{rng.randrange(2000)}" for _ in range(count)] for _ in range(2))
    state = PairState(cells={(k, k): 2 for k in range(count)})
    tracemalloc.start()
    try:
        reword(state, Rewording((old, new), (new, old)), 2)
        assert tracemalloc.get_traced_memory()[1] < count * 10 * 2**10
    finally:
        tracemalloc.stop()


def test_corrected_words_are_a_barrier_to_undo_and_done_falls(tmp_path):
    store = project(tmp_path)
    store.set_suggestions("m", [(1, [(0, 0, 0.9, 2), (2, 2, 0.8, 2)]), (2, [(1, 1, 0.5, 1)])])
    Tab(store).send(cell(0, 0, 0, 2), cell(2, 2, 0, 1), done())
    result = take(store, words(source="new a b d"))
    assert (result.reworded, result.carried, len(result.lost)) == (1, 3, 1)
    view = store.pair(1, "anna")
    assert (view.rev, view.source) == (2, ["new", "a", "b", "d"])
    assert (view.state.cells, view.state.done, view.state.undo) == ([(1, 0, 2)], False, None)
    mark = view.state.marks[0]
    assert (mark.side, mark.at, mark.text, mark.was) == ("target", 2, "c - y", (2, 2, 1))
    assert view.suggestions.cells == [(1, 0, 0.9, 2)]
    assert store.pair(2, "anna").suggestions.cells == [(1, 1, 0.5, 1)]
    assert [row.k for row in store.queue("anna", query="new").pairs] == [1]
    assert take(store, words(source="new a b d")).reworded == 0
    take(store, words(source="new a b e"))
    assert len(store.pair(1, "anna").state.marks) == 1  # until it is done
    Tab(store).send(done())
    take(store, words(source="a b e"))
    assert store.pair(1, "anna").state.marks == []
    assert not replay(store).differences


def test_annotations_of_a_file_merge_as_one_edit(tmp_path):
    store = project(tmp_path)
    tab = Tab(store)
    tab.send(cell(0, 0, 0, 2), cell(1, 1, 0, 1), sent("comment", key="", before="", after="x"))
    before, same = store.pair(1, "anna").state, Corpus(exported(store))[0]
    assert take(store, same).same == 2
    better = Annotation(Alignment.parse("0-0 1-1 2-"), judgment="yes")
    result = take(store, words(anna=better, new=Alignment()))
    assert (result.changed, result.new) == (1, 1)
    pair = Corpus(exported(store))[0]
    assert pair.annotation("anna") == replace(better, start="")  # the page suggested no links
    assert pair.annotation("new") == Annotation(Alignment())
    result = take(store, words(anna=better, new=Alignment()), same)
    assert (result.same, result.changed, result.new, result.surplus) == (2, 0, 0, ["p1"])
    result = take(store, same)  # of before
    assert (result.older, result.changed) == (1, 0)
    tab.load()
    tab.back()
    assert store.pair(1, "anna").state.comments == before.comments
    assert cells_of(store) == {(0, 0): 2, (1, 1): 1}
    assert not replay(store).differences


def test_what_a_format_cannot_hold_stays(tmp_path):
    store = project(tmp_path)
    Tab(store).send(
        cell(3, -1, 0, 2),
        cell(0, -1, 0, 2),
        sent("judge", label=["", "partial"], flags=[[], ["f"]]),
    )
    import_pairs(store, [words(anna=Alignment.parse("0-0"))], holds=frozenset({"possible"}))
    state = store.pair(1, "anna").state
    assert (state.cells, state.judgment, state.flags) == ([(0, 0, 2), (3, -1, 2)], "partial", ["f"])


def test_flags_in_the_text_of_a_judgment_are_chosen_and_written_again(tmp_path):
    corpus = Corpus(words(f"p{k}", anna=said) for k, said in enumerate(_JUDGED))
    store = project(tmp_path, corpus, scheme="turku")
    assert Corpus(exported(store)) == corpus
    states = [store.pair(k, "anna").state for k in range(1, len(_JUDGED) + 1)]
    told = [(state.judgment, state.flags) for state in states[:4]]
    # "4<i>" is no judgment of the scheme
    assert told == [("4", ["<", "i"]), ("4", ["<", "i", "unsure"]), ("4<i", [">"]), ("4", [])]
    assert take(store, *corpus).same == len(corpus)
    others = Corpus(words(pair.id, ben=pair.annotation("anna")) for pair in corpus)
    assert take(store, *others).new == len(corpus)
    bare = [words(pair.id, anna=Annotation(None, judgment="4s")) for pair in corpus]
    import_pairs(store, bare, holds=frozenset({"judgment"}))
    for said, pair in zip(_JUDGED, exported(store), strict=True):
        assert (pair.annotation("ben"), pair.annotation("anna").judgment) == (said, "4s")
    assert store.pair(2, "anna").state.flags == ["s", "unsure"]
    Tab(store, 1).send(sent("judge", label=["4", "3"], flags=[["s"], []]))
    assert Corpus(exported(store))[0].annotation("anna").judgment == "3"
    assert not replay(store).differences


def test_pairs_are_found_by_id_or_in_order(tmp_path):
    store = project(tmp_path, Corpus([words("a"), words("b", "b b"), words("a", "c c")]))
    take(store, words("a", "one"), words("a", "two"), words("c", "three"))
    assert [store.pair(k, "anna").source for k in (1, 2, 3)] == [["one"], ["b", "b"], ["two"]]
    take(store, words("1", "x"), words("2", "y"), words("3", "z"), in_order=True)
    assert [store.pair(k, "anna").source for k in (1, 2, 3)] == [["x"], ["y"], ["z"]]
    with pytest.raises(JoinError, match="3 pairs"):
        take(store, words("1", "x"), in_order=True)


def log_of(store):
    return [bytes(event.data) for event in store.log()]


def test_a_copy_that_went_on_gives_its_events(tmp_path):
    store = project(tmp_path)
    Tab(store).send(cell(0, 0, 0, 2))
    other = copy_of(store, tmp_path)
    Tab(other).send(cell(1, 1, 0, 2), sent("comment", key="1-1", before="", after="there"))
    other.enrol("ben")
    Tab(other, 2, "ben").send(cell(3, 3, 0, 1))
    result = merge_project(store, other)
    assert (result.changed, result.new, result.both) == (1, 1, 0)
    assert [e.id for e in store.history(1, "anna")] == [e.id for e in other.history(1, "anna")]
    assert Corpus(exported(store)) == Corpus(exported(other))
    log = log_of(store)
    for project_there in (other, store):
        again = merge_project(store, project_there)
        assert (again.new, again.changed) == (0, 0)
    assert (merge_project(other, store).changed, log_of(store)) == (0, log)
    Tab(store).back()
    assert cells_of(store) == {(0, 0): 2, (1, 1): 2}
    assert not replay(store).differences


def test_work_on_both_sides_becomes_one_edit_with_what_was_changed_there(tmp_path):
    store = project(tmp_path)
    Tab(store).send(cell(0, 0, 0, 2), cell(3, 3, 0, 2))
    other = copy_of(store, tmp_path)
    Tab(store).send(cell(1, 1, 0, 2), cell(3, 3, 2, 1))
    Tab(other).send(cell(2, 2, 0, 1), cell(0, 0, 2, 0), cell(3, 3, 2, 0))
    result = merge_project(store, other)
    assert ((result.changed, result.both), cells_of(store)) == ((1, 1), {(1, 1): 2, (2, 2): 1})
    Tab(store).send(cell(0, 0, 0, 1))
    log = log_of(store)
    assert (merge_project(store, other).changed, log_of(store)) == (0, log)
    Tab(other).send(cell(2, 3, 0, 2))
    assert merge_project(store, other).changed == 1
    assert cells_of(store) == {(0, 0): 1, (1, 1): 2, (2, 2): 1, (2, 3): 2}
    assert not replay(store).differences


def test_projects_made_from_the_same_corpus_merge(tmp_path):
    gold = {"anna": Alignment.parse("0-0 1-1")}
    store = project(tmp_path, small_corpus(2, gold))
    other = project(tmp_path, small_corpus(3, gold), "other")
    Tab(other).send(cell(0, 0, 2, 0))
    Tab(store).send(cell(3, 3, 0, 2))
    result = merge_project(store, other)
    assert (result.changed, result.same, result.surplus) == (1, 1, ["p3"])
    assert cells_of(store) == {(1, 1): 2, (3, 3): 2}
    take(other, words("p2", "other words"))
    assert merge_project(store, other).skipped == ["p2"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("made") / "p")
    create_project(path, read_corpus(PARAPHRASES, format="alignkit-jsonl"))
    return path


@pytest.fixture
def sample(tmp_path, made):
    return shutil.copy(made, str(tmp_path / "p.alignkit"))


def test_the_commands_give_the_sample_back(capsys, tmp_path, sample):
    out, words = tmp_path / "out.jsonl", ("project", "export", sample)
    assert run(capsys, *words, out, "--to", "alignkit-jsonl").code == 0
    assert out.read_bytes() == Path(PARAPHRASES).read_bytes()
    ran = run(capsys, *words, "-", "--to", "pharaoh", "--annotator", "anna")
    assert len(ran.out.splitlines()) == 64
    run(capsys, *words, "-", "--to", "pharaoh").failed(sample, "--annotator")
    run(capsys, *words, out, "--to", "alignkit-jsonl", "--annotator", "bn").failed("ben")
    run(capsys, *words, sample, "--to", "alignkit-jsonl").failed(sample)
    assert run(capsys, "project", "import", sample, PARAPHRASES).out.count("256 unchanged") == 1


def test_export_tells_how_much_is_not_done(capsys, tmp_path):
    store = project(tmp_path, small_corpus(3))
    Tab(store, 1).send(cell(0, 0, 0, 2))
    Tab(store, 2).send(cell(0, 0, 0, 2), done())
    Tab(store, 3).send(sent("judge", label=["", "none"]))
    args = ("project", "export", store.path, tmp_path / "out.jsonl", "--to", "alignkit-jsonl")
    told = run(capsys, *args).err
    assert "(1 by anna); --done" in told
    assert "they are left out" in run(capsys, *args, "--done").err
    ran = run(capsys, *args, "--annotator", "gold")
    assert (ran.code, ran.err) == (0, "")


def test_the_log_rebuilds_the_project(capsys, tmp_path, sample):
    log, again = tmp_path / "log.jsonl", tmp_path / "again"
    for words in ((sample, "-o", log), (log, "--rebuild", again)):
        assert run(capsys, "project", "log", *words).code == 0
    assert run(capsys, "project", "log", again).out == log.read_text(encoding="utf-8")
    assert run(capsys, "project", "log", again, "--check", "--json").json["ok"]
    run(capsys, "project", "log", log, "--rebuild", again).failed("already exists")
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    for damaged in (lines[1:], lines[:-3] + lines[-2:] * 2, [], ["{}\n"], [*lines[:2], "{"]):
        path = write(tmp_path, "damaged", "".join(damaged))
        run(capsys, "project", "log", path, "--rebuild", tmp_path / "none").failed()
        assert not (tmp_path / "none").exists()


def test_two_processes_find_what_one_finds(tmp_path, sample):
    run_sql(
        sample,
        "UPDATE pair_counts SET links = links + 1 WHERE account = 2",
        "UPDATE stream SET undo_top = 0 WHERE id % 5 = 0",
        "UPDATE event SET data = '{' WHERE seq = 1 AND stream IN (7, 8)",
        "DELETE FROM event WHERE stream IN (10, 11)",
    )
    with Store.open(sample) as store:
        alone, shared = replay(store), replay(store, processes=2)
    assert sorted(shared.differences) == sorted(alone.differences)
    assert (shared.events, shared.streams) == (alone.events, alone.streams)
    assert any("event 1 of" in line for line in alone.differences)


def test_a_helper_that_dies_is_done_without(monkeypatch, sample):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Store.open(sample) as store:
        assert replay(store, processes=2) == replay(store, processes=1)


def test_corrected_texts_are_imported(capsys, tmp_path, sample):
    first, *others = corpus = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    changed = SentencePair(first.id, ("Suddenly", *first.source), first.target[:-1])
    path = tmp_path / "corrected.jsonl"
    bare = [SentencePair(pair.id, *pair.words) for pair in others]
    write_pairs([changed, *bare], path, format="alignkit-jsonl")
    words = ("project", "import", sample)
    ran = run(capsys, *words, path, "--json").json
    assert (ran["reworded"], {lost["text"] for lost in ran["lost"]}) == (1, {". - ."})
    assert "64 pairs" in run(capsys, *words, path).out
    texts = [
        write(tmp_path, name, "".join(" ".join(pair.words[side]) + "\n" for pair in corpus))
        for side, name in enumerate(("source", "target"))
    ]
    assert "1 with corrected words" in run(capsys, *words, *texts).out
    both = "".join(" ||| ".join(map(" ".join, pair.words)) + "\n" for pair in corpus)
    assert "corrected" not in run(capsys, *words, write(tmp_path, "both", both)).out
    run(capsys, *words, write(tmp_path, "few", both[:10] + "||| x\n")).failed("64 pairs")
    head, first, *_ = path.read_text(encoding="utf-8").replace('"Suddenly", ', "").splitlines()
    stale = json.loads(first) | {"annotations": {"anna": {"sure": "99-0"}}}
    stale = write(tmp_path, "stale.jsonl", f"{head}\n{json.dumps(stale)}")
    run(capsys, *words, stale).failed("99-0")
    assert "1 with corrected words" in run(capsys, *words, stale, "--words-only").out
    assert run(capsys, "project", "log", sample, "--check").code == 0


def test_projects_that_are_none_fail_clearly(capsys, tmp_path, sample):
    content = Path(sample).read_bytes()
    damaged = write(tmp_path, "damaged", content[:4096] + b"\xff" * 20_000 + content[24_096:])
    cut = write(tmp_path, "cut", content[: len(content) // 2])
    for path in (damaged, cut, PARAPHRASES, str(tmp_path), str(tmp_path / "none")):
        for command in (
            ["export", path, tmp_path / "out", "--to", "alignkit-jsonl"],
            ["import", path, PARAPHRASES],
            ["log", path],
        ):
            run(capsys, "project", *command).failed(path)
    assert not (tmp_path / "out").exists()


def test_trees_stay_until_their_words_are_corrected(tmp_path):
    pair = words("p1", "a b", "x y").with_trees(
        "parse", source=Tree.parse("(S a b)"), target=Tree.parse("(S x (NP y))")
    )
    store = project(tmp_path, Corpus([pair, words("p2")]))
    assert Corpus(exported(store))[0].without_annotations() == pair
    other = pair.with_trees("other", source=Tree.parse("(X a b)"))
    assert take(store, other, words("p2")).trees == ["p1"]
    assert take(store, pair, words("p2")).trees == []
    assert Corpus(exported(store))[0].source_trees == pair.source_trees
    take(store, words("p1", "a c", "x y"))
    outdated = Counter()
    found = Corpus(exported(store, outdated=outdated))[0]
    assert (found.source_trees, found.target_trees) == ({}, pair.target_trees)
    assert outdated == {"source": 1}
    assert take(store, words("p3", "a b").with_trees("new", source=Tree.parse("(S a b)")), add=True)
    assert list(Corpus(exported(store))[2].source_trees) == ["new"]
    assert not replay(store).differences
