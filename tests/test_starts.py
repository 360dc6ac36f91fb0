"""What annotators were shown is kept, and edit models are used where it was the same."""

import json
from dataclasses import replace

import numpy as np
import pytest
from annotation import Tab, ask, cell, copy_of, done, project, sent, small_corpus
from command import run
from refusals import refuses

from alignkit import Alignment, Annotation, Corpus, SentencePair, agree, read_corpus, write_corpus
from alignkit.annotate.assignment import assign_pairs, assigned_rows
from alignkit.annotate.dashboard.corrections import corrections_of
from alignkit.annotate.exporting import exported
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.merging import merge_project
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.replay import replay
from alignkit.corpora.join import merge
from alignkit.errors import AlignkitError, JoinError
from alignkit.io.format import EVERYTHING
from alignkit.model.annotation import shared_start

PAIRS = 40
FEW = {"samples": 50, "resamples": 50}


def drawn(starts, names=("anna", "ben"), pairs=PAIRS, seed=1):
    """Return a corpus in which `starts(k)` are the starts of the annotators of pair k."""
    rng = np.random.default_rng(seed)
    made = []

    def links(keep):
        straight = [(i, i) for i in range(8) if rng.random() < keep]
        return Alignment([*straight, *[(i, 7 - i) for i in range(8) if rng.random() > keep]])

    for k in range(pairs):
        words = [[f"{side}{i}" for i in range(8)] for side in "st"]
        said = {"auto": Annotation(links(0.8), role="initial")}
        for name, start in zip(names, starts(k), strict=True):
            said[name] = Annotation(links(0.9), start=start)
        made.append(SentencePair(str(k), *words, said))
    return Corpus(made)


def arms(k):
    """Return the starts of a pair as a control sample has them: both, one, none."""
    return [("auto", "auto"), ("auto", ""), ("", "auto"), ("", "")][k % 4]


@pytest.mark.parametrize(
    ("starts", "shared"),
    [
        ((), None),
        ((None, None), None),
        (("auto", None), None),
        (("", ""), ""),
        (("auto", "auto"), "auto"),
        (("auto", ""), ""),
        (("auto", "other"), ""),
    ],
)
def test_a_start_is_shared_only_if_all_are_known_and_equal(starts, shared):
    assert shared_start(starts) == shared


# kept by formats
@pytest.mark.parametrize("format", ["alignkit-jsonl", "alignkit-xml"])
@pytest.mark.parametrize("more", [{}, {"comment": "so", "flags": {"a"}}], ids=["plain", "whole"])
def test_starts_come_back_and_one_that_is_not_known_is_not_written(format, more, tmp_path):
    said = {
        str(start): Annotation(Alignment(), start=start, **more) for start in (None, "", "auto")
    }
    corpus = Corpus([SentencePair("1", ["a"], ["x"], said)])
    path = tmp_path / "corpus"
    assert not write_corpus(corpus, path, format=format)
    assert read_corpus(path, format=format) == corpus
    assert path.read_text("utf-8").count("start") == 2


def test_a_format_without_starts_counts_them_even_if_no_links_were_shown(tmp_path, capsys):
    corpus = drawn(lambda k: ("", None), pairs=3)
    lost = write_corpus(corpus, tmp_path / "folder", format="goldalign")
    assert lost["start"] == 3
    write_corpus(corpus, path := tmp_path / "corpus.jsonl", format="alignkit-jsonl")
    ran = run(
        capsys, "convert", path, tmp_path / "a.align", "--to", "pharaoh", "--annotator", "anna"
    )
    assert "the annotators of 3 pairs" in ran.err


def test_a_start_that_is_no_text_is_an_error_with_its_place(tmp_path):
    refuses(AlignkitError, "start", Annotation, Alignment(), start=3)
    line = {
        "id": "1",
        "source": ["a"],
        "target": ["x"],
        "annotations": {"A": {"sure": "0-0", "start": 3}},
    }
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(line)}\n", "utf-8")
    refuses(AlignkitError, r"a\.jsonl:1: 'start'", read_corpus, path, format="alignkit-jsonl")


def test_a_start_follows_the_name_of_its_alignment():
    corpus = drawn(arms, pairs=4)
    renamed = corpus.rename({"auto": "eflomal", "anna": "a"})
    assert [renamed[0].annotations[name].start for name in ("a", "ben")] == ["eflomal"] * 2
    assert renamed[3].annotations["a"].start == ""
    texts = corpus.map(lambda pair: pair.without_annotations("auto", "anna", "ben"))
    added = merge(texts, {"x": corpus})
    assert added[0].annotations["x/anna"].start == "x/auto"
    alone = merge(texts, {"anna": corpus.map(lambda pair: pair.without_annotations("auto", "ben"))})
    assert alone[0].annotations["anna"].start == "auto"


def test_annotations_with_different_starts_are_not_made_one():
    def judged(start):
        said = {"anna": Annotation(None, judgment="yes", start=start)}
        return Corpus([SentencePair("1", ["a"], ["x"], said)])

    links = Corpus([SentencePair("1", ["a"], ["x"], {"anna": Annotation(Alignment(), start="")})])
    assert merge(links, {"anna": judged(None)})[0].annotations["anna"].start == ""
    with pytest.raises(JoinError):
        merge(links, {"anna": judged("auto")})


def test_records_have_starts():
    corpus = drawn(arms, pairs=4)
    assert Corpus.from_records(corpus.to_records(each="annotation")) == corpus


# written by projects
def assigned(folder, names=("anna", "ben"), pairs=12, **options):
    auto = {"auto": Annotation(Alignment.parse("0-0 1-1"))}
    store = project(folder, small_corpus(pairs, auto), annotator=None)
    cells = [(0, 0, 0.95, 2), (1, 1, 0.4, 2)]
    store.set_suggestions("auto", [(k, cells) for k in range(1, pairs + 1)])
    store.settings(Setting(suggestions="auto"))
    assign_pairs(store, list(names), **{"control": 1.0, **options})
    return store


def work(store, name, k, *before):
    Tab(store, k, name).send(*before, cell(2, 2, 0, 2), done())


def starts_of(corpus, name):
    return [pair.annotations[name].start for pair in corpus if name in pair.annotations]


def test_the_export_says_what_each_was_shown(tmp_path):
    store = assigned(tmp_path)
    rows = ask(store, assigned_rows)
    for row in rows:
        work(store, row.annotator, row.k)
    corpus = Corpus(exported(store))
    for row in rows:
        wanted = "auto" if row.shown else ""
        assert corpus[row.k - 1].annotations[row.annotator].start == wanted
    assert {row.shown for row in rows} == {True, False}
    assert corpus.roles == {"auto": "initial", "anna": "annotator", "ben": "annotator"}
    assert starts_of(corpus, "auto") == [None] * 12


def test_an_alignment_that_nobody_was_shown_is_no_initial_one(tmp_path):
    store = assigned(tmp_path)
    assert Corpus(exported(store)).roles["auto"] == "initial"  # nobody has begun
    for row in ask(store, assigned_rows):
        if not row.shown:
            work(store, row.annotator, row.k)
    corpus = Corpus(exported(store))
    assert corpus.roles["auto"] == "system"
    agreement = agree(corpus, resamples=50)
    assert (agreement.initial, agreement.systems) == (None, ("auto",))
    assert agreement.pairings[0].chance == "kupper-hafner"


def test_what_a_page_recorded_counts_more_than_the_assignment(tmp_path):
    store = assigned(tmp_path, control=0.0)
    hid = sent("open", rev=1, suggestions=False, set="auto")  # by the key h
    saw = sent("open", rev=1, suggestions=True, set="learned-3")
    work(store, "anna", 1, hid)
    work(store, "anna", 2, saw)
    work(store, "anna", 3)
    assert starts_of(Corpus(exported(store)), "anna") == ["", "learned-3", "auto"]
    unnamed = sent("open", rev=1, suggestions=True)  # of a program that does not say which
    work(store, "anna", 4, unnamed)
    assert starts_of(Corpus(exported(store)), "anna") == ["", "learned-3", "auto", "auto"]
    again = sent("open", rev=1, suggestions=True, set="auto")
    Tab(store, 1).send(again)  # they were shown after all
    starts = starts_of(Corpus(exported(store)), "anna")
    assert starts == ["auto", "learned-3", "auto", "auto"]


def test_starts_of_work_done_elsewhere_are_kept(tmp_path):
    store = assigned(tmp_path, control=0.0)
    pairs = [
        SentencePair(
            pair.id,
            pair.source,
            pair.target,
            {
                "zoe": Annotation(Alignment.parse("0-0"), start=start),
            },
        )
        for pair, start in zip(small_corpus(3), ("", "auto", None), strict=True)
    ]
    import_pairs(store, pairs, holds=EVERYTHING)
    assert starts_of(Corpus(exported(store)), "zoe") == ["", "auto", None]
    assert not replay(store).differences
    again = project(tmp_path, Corpus(exported(store)), "again", annotator=None)
    assert Corpus(exported(again)) == Corpus(exported(store))


def test_starts_come_with_the_work_of_another_project(tmp_path):
    store = assigned(tmp_path)
    other = copy_of(store, tmp_path)
    for row in ask(other, assigned_rows):
        work(other, row.annotator, row.k)
    merge_project(store, other)
    assert Corpus(exported(store)) == Corpus(exported(other))


def test_the_gold_standard_has_the_start_that_its_annotators_share(tmp_path):
    store = assigned(tmp_path)
    rows = ask(store, assigned_rows)
    for row in rows:
        work(store, row.annotator, row.k)
    gold = [
        replace(pair, annotations={"gold": Annotation(Alignment.parse("0-0"))})
        for pair in small_corpus(12)
    ]
    import_pairs(store, gold, holds=EVERYTHING)
    corpus = Corpus(exported(store))
    shown = {k: {row.shown for row in rows if row.k == k} for k in range(1, 13)}
    assert starts_of(corpus, "gold") == ["auto" if shown[k] == {True} else "" for k in shown]


def test_a_page_gets_whether_the_assignment_hides_suggestions(tmp_path):
    store = assigned(tmp_path)
    for row in ask(store, assigned_rows):
        view = store.pair(row.k, row.annotator)
        assert (view.suggestions is not None, view.hidden) == (row.shown, not row.shown)
    store.settings(Setting(suggestions=""))  # there is nothing to hide now
    for row in ask(store, assigned_rows):
        view = store.pair(row.k, row.annotator)
        assert (view.suggestions, view.hidden) == (None, False)


def test_who_hid_the_suggestions_corrected_none(tmp_path):
    store = assigned(tmp_path, control=0.0)
    for k in (1, 2):
        opened = sent("open", rev=1, suggestions=k == 1, set="auto")
        work(store, "anna", k, opened)
    assert [pair.k for pair in ask(store, corrections_of)] == [1]


# used by agreement
def unknown(corpus):
    """Return a corpus as earlier versions wrote it: what annotators were shown is not known."""

    def without(pair):
        said = {name: replace(x, start=None) for name, x in pair.annotations.items()}
        return replace(pair, annotations=said)

    return corpus.map(without)


def values(agreement, models=("edit", "edit-split", "edit-strata", "kupper-hafner")):
    pairing = agreement.pairings[0]
    return {
        (model, level): (result.used, result.pi, result.pi0, result.C)
        for model in models
        for level, result in pairing.beyond[model].items()
    }


def test_without_starts_everything_is_as_before():
    known = agree(drawn(lambda k: ("auto", "auto")), **FEW)
    unknown = agree(drawn(lambda k: (None, None)), **FEW)
    assert values(known) == values(unknown)
    assert (known.signature, str(known)) == (unknown.signature, str(unknown))
    assert known.pairings[0].same_start == PAIRS


def test_edit_models_use_the_pairs_in_which_both_started_from_the_initial_alignment():
    """The same comes out if all work that did not start from it is removed."""
    corpus = drawn(arms)

    def without(pair):
        other = [name for name, said in pair.annotations.items() if said.start == ""]
        return pair.without_annotations(*other)

    agreement = agree(corpus, **FEW)
    pairing = agreement.pairings[0]
    wanted = values(agree(corpus.map(without), **FEW))
    assert values(agreement) == wanted
    assert {used for used, *_ in wanted.values()} == {PAIRS // 4}
    assert (pairing.chance, pairing.same_start) == ("edit", PAIRS // 4)
    left_out = {"the two did not both start from the initial alignment": 3 * PAIRS // 4}
    assert pairing.main("words.sure").left_out == left_out
    both = f"In {PAIRS // 4} of {PAIRS} pairs both started from 'auto'"
    assert both in " ".join(str(agreement).split())
    assert f"chance:edit(anna~ben:{PAIRS // 4}/{PAIRS})|" in agreement.signature
    of_two = agreement.to_json()["pairings"][0]
    assert of_two["same_start"] == PAIRS // 4
    rates = pairing.main("words.sure").rates  # of all pairs that each started from it
    assert {edits.pairs for edits in rates.values()} == {PAIRS // 2}


def test_where_nobody_shares_a_start_chance_is_not_by_edits():
    corpus = drawn(lambda k: arms(1 + k % 3))
    agreement = agree(corpus, **FEW)
    pairing = agreement.pairings[0]
    closed = agree(corpus, initial="", chance="kupper-hafner", resamples=50)
    assert [*pairing.beyond] == [pairing.chance] == ["kupper-hafner"]
    assert values(agreement, ["kupper-hafner"]) == values(closed, ["kupper-hafner"])
    assert "start from 'auto'" in pairing.no_edits
    assert "|chance:kupper-hafner|" in agreement.signature
    assert "initial:" not in agreement.signature
    assert "|chance:kupper-hafner|" in pairing.main("words.sure").signature
    text = " ".join(str(agreement).split())
    assert "C is not by edits" in text
    assert "Do not compare C" not in text
    assert "name it with initial" not in text  # it is known


def test_c_without_edits_may_be_compared_with_other_corpora():
    rng = np.random.default_rng(1)

    def equally_many(pair):
        said = {}
        for name, annotation in pair.annotations.items():
            moved = rng.integers(8)
            if name != "auto" and rng.random() < 0.7:
                moved = 0  # as the other annotator has it, oftener than by chance
            links = Alignment([(i, (i + (i == moved)) % 8) for i in range(8)])
            said[name] = replace(annotation, alignment=links)
        return replace(pair, annotations=said)

    corpus = drawn(lambda k: ("", ""), pairs=60).map(equally_many)
    assert "initial" in agree(unknown(corpus), **FEW).answer.codes
    assert {"initial", "few-pairs"}.isdisjoint(agree(corpus, **FEW).answer.codes)
    assert "who-is-right" in agree(corpus, **FEW).answer.codes


def test_each_pairing_has_the_model_that_its_starts_allow():
    shown = {0: ("auto", "auto", ""), 1: ("auto", "auto", "other")}
    corpus = drawn(lambda k: shown[k % 2], names=("anna", "ben", "carla"))
    agreement = agree(corpus, **FEW)
    people = agreement.of("annotators")
    assert [two.chance for two in people] == ["edit", "kupper-hafner", "kupper-hafner"]
    assert [two.same_start for two in people] == [PAIRS, 0, 0]
    signed = "chance:edit(anna~ben)+kupper-hafner(anna~carla,ben~carla)|"
    assert signed in agreement.signature
    assert agreement.answer.quoted.model == "kupper-hafner"  # which all three have
    each = [two.part("words.sure", "all", "kupper-hafner") for two in people]
    mean = sum(part.used * part.C for part in each) / sum(part.used for part in each)
    assert agreement.together[0].mean["words.sure.C"] == pytest.approx(mean)
    majority = agreement.pairing("carla", "majority without carla")
    assert majority.chance == "kupper-hafner"
    assert agreement.pairing("anna", "majority without anna").chance == "kupper-hafner"


def test_a_signature_names_the_model_of_the_figures_that_it_stands_with():
    pairing = agree(drawn(lambda k: (None, None)), **FEW).pairings[0]
    for model, levels in pairing.beyond.items():
        signature = levels["words.sure"].signature
        assert f"|chance:{model}|" in signature
        assert ("|initial:auto|" in signature) == (model != "kupper-hafner")


def test_an_initial_alignment_is_needed_only_where_both_started_from_it():
    corpus = drawn(arms)
    some = corpus.map(
        lambda pair: pair if int(pair.id) % 4 == 0 else pair.without_annotations("auto")
    )
    edits = ["edit", "edit-strata"]
    asked = agree(some, initial="auto", **FEW)  # the rates of each are of fewer pairs
    assert asked.pairings[0].main("words.sure").used == PAIRS // 4
    empty = agree(some, initial="auto", missing_initial="empty", **FEW)
    assert empty.pairings[0].same_start == PAIRS  # where there is none, all began with nothing
    assert {used for used, *_ in values(asked, edits).values()} == {PAIRS // 4}


def test_who_began_with_nothing_edits_an_empty_alignment():
    corpus = drawn(lambda k: ("", "") if k % 2 else ("auto", "auto"))
    agreement = agree(corpus, initial="", missing_initial="empty", **FEW)
    assert agreement.pairings[0].same_start == PAIRS // 2
    half = Corpus(pair for pair in corpus if int(pair.id) % 2)
    wanted = agree(half, initial="", missing_initial="empty", **FEW)
    assert values(agreement) == values(wanted)


def test_only_who_was_shown_an_alignment_is_asked_about_correcting_it():
    far = drawn(lambda k: ("auto", "auto"))
    moved = far.map(
        lambda pair: pair.with_annotation(
            "auto", Annotation(Alignment([(i, (i + 3) % 8) for i in range(8)]), role="initial")
        )
    )
    assert "initial-far" in {caution.code for caution in agree(moved, **FEW).cautions}

    def hidden(pair):
        said = {
            name: replace(x, start="") if name != "auto" else x
            for name, x in pair.annotations.items()
        }
        return replace(pair, annotations=said)

    codes = {caution.code for caution in agree(moved.map(hidden), **FEW).cautions}
    assert "initial-far" not in codes
    near = far.map(lambda pair: pair if int(pair.id) < 10 else hidden(moved[pair.id]))
    assert "initial-far" in {caution.code for caution in agree(unknown(near), **FEW).cautions}
    assert "initial-far" not in {caution.code for caution in agree(near, **FEW).cautions}


def test_the_command_says_on_how_many_pairs_edits_are_based(tmp_path, capsys):
    write_corpus(drawn(arms), path := tmp_path / "corpus.jsonl", format="alignkit-jsonl")
    ran = run(capsys, "agree", path, "--samples", "50", "--resamples", "50")
    assert "In 10 of 40 pairs both" in " ".join(ran.out.split())
    assert "C leaves out 30 of 40 pairs" in ran.out
