"""Gold is exported as it was decided, with a line for each decision that says where it is from."""

import json

import pytest
from adjudicating import Bench
from annotation import Tab, cell, done, project, sent, small_corpus
from command import run

from alignkit import SentencePair, read_corpus
from alignkit.annotate.adjudication.provenance import provenance
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.project.names import ADJUDICATOR, Visitor
from alignkit.annotate.server.sessions import admit
from alignkit.io.format import EVERYTHING

SOURCE, TARGET = small_corpus()[0].words


@pytest.fixture
def store(tmp_path):
    store = project(tmp_path, small_corpus(2, {}), annotator=None)
    assign_pairs(store, ["anna", "ben"], control=0)
    anna, ben = Tab(store, 1, "anna"), Tab(store, 1, "ben")
    anna.send(sent("open", rev=1, suggestions=True), cell(0, 0, 0, 2))
    anna.send(sent("edit", how="accept", cells=[[1, 1, 0, 2]]))
    anna.send(sent("edit", how="accept-all", cells=[[2, 2, 0, 2]], bulk=[[2, 2, 0, 1]]))
    anna.send(sent("judge", label=["", "paraphrase"]), done())
    ben.send(sent("open", rev=1, suggestions=False), cell(0, 0, 0, 2), cell(1, 1, 0, 1))
    ben.send(sent("judge", label=["", "paraphrase"], flags=[[], ["unsure"]]), done())
    for name in ("carla", "dora"):
        admit(store, Visitor(name, ADJUDICATOR))
    return store


def settled(store):
    carla, dora = Bench(store), Bench(store, actor="dora")
    carla.open()
    carla.take((1, 1), "anna", note="one verb")
    dora.take((2, 2), "ben")
    dora.own((-1, -1), ("partial",))
    carla.own((3, 3), 1)
    carla.back(), carla.back("redo")
    return carla


def lines(store, **more):
    return {(line.get("i"), line.get("j")): line for line in provenance(store, **more)}


def test_each_decision_says_who_made_it_on_which_votes_and_why(store):
    settled(store)
    found = lines(store)
    assert {
        place: (line["link"], line["why"], line["as"])
        for place, line in found.items()
        if place[0] is not None
    } == {
        (0, 0): ("sure", "agreed", None),
        (1, 1): ("sure", "vote", "anna"),
        (2, 2): ("none", "vote", "ben"),
        (3, 3): ("possible", "own", None),
    }
    assert {line["adjudicator"] for line in found.values()} == {"carla", "dora"}
    assert found[3, 3]["adjudicator"] == "carla"  # of who decided, not of who did it again
    verb = found[1, 1]
    assert (verb["id"], verb["note"], verb["adjudicator"]) == ("p1", "one verb", "carla")
    assert verb["votes"] == {
        "anna": {"said": "sure", "seq": 6, "suggestions": True, "how": "singly"},
        "ben": {"said": "possible", "seq": 5, "suggestions": False, "how": "hand"},
    }
    assert found[2, 2]["votes"]["anna"]["how"] == "bulk"
    assert "how" not in found[2, 2]["votes"]["ben"]
    judged = found[None, None]
    assert (judged["judgment"], judged["flags"], judged["why"]) == ("partial", [], "own")
    assert (judged["votes"]["ben"]["flags"], lines(store, done=True)) == (["unsure"], {})


def test_votes_are_told_as_they_were_when_it_was_decided(store):
    settled(store)
    Tab(store, 1, "anna").send(cell(1, 1, 2, 0), cell(1, 1, 0, 1))
    vote = lines(store)[1, 1]["votes"]["anna"]
    assert (vote["said"], vote["how"], vote["seq"]) == ("sure", "singly", 6)


def test_rewrites_say_whose_they_were_and_who_took_them(store):
    both, alone, own = (["a b", text] for text in ("w x", "w y", "w z"))
    anna, ben = Tab(store, 1, "anna"), Tab(store, 1, "ben")
    for tab, rows in ((anna, [alone, both]), (ben, [both])):
        for at, texts in enumerate(rows, 1):
            tab.send(sent("rewrite", rewrites=[[f"r{at}", None, texts]]))
    carla, dora = Bench(store), Bench(store, actor="dora")
    carla.open()  # what all have is taken
    dora.send(sent("rewrite", rewrites=[["r2", None, alone]]))
    carla.send(sent("rewrite", rewrites=[["r3", None, own]]))
    dora.back(), dora.back("redo")
    seqs = anna.seq, ben.seq
    anna.send(sent("rewrite", rewrites=[["r1", alone, None]]))
    found = [line for line in provenance(store) if "rewrite" in line]
    assert [(*line["rewrite"], line["why"], line["as"], line["adjudicator"]) for line in found] == [
        (*both, "agreed", None, "carla"),
        (*alone, "vote", "anna", "dora"),
        (*own, "own", None, "carla"),
    ]
    assert [[vote["said"] for vote in line["votes"].values()] for line in found] == [
        [True, True],
        [True, False],
        [False, False],
    ]
    assert tuple(vote["seq"] for vote in found[1]["votes"].values()) == seqs
    assert {line["id"] for line in found} == {"p1"}


def test_corrected_words_leave_how_each_link_was_drawn(store):
    settled(store)
    before = {
        (line["link"], line["why"], line.get("note")): line["votes"]
        for line in provenance(store)
        if line.get("i") is not None
    }
    for words in (["new", *SOURCE], ["a", "b", "x", "c", "d"], ["c", "d"]):
        import_pairs(store, [SentencePair("p1", words, TARGET)], holds=EVERYTHING)
        for line in provenance(store):
            if line.get("i") is not None:
                assert line["votes"] == before[line["link"], line["why"], line["note"]]
    assert [(line["i"], line["j"]) for line in provenance(store) if "i" in line] == [(0, 2), (1, 3)]


def test_what_is_drawn_after_a_correction_is_told_beside_what_was_there(store):
    import_pairs(store, [SentencePair("p1", ["new", *SOURCE], TARGET)], holds=EVERYTHING)
    anna, ben = Tab(store, 1, "anna"), Tab(store, 1, "ben")
    anna.send(cell(0, 3, 0, 2))
    for tab in (anna, ben):
        tab.send(done())
    carla = Bench(store)
    carla.open()
    for place in ((2, 1), (3, 2), (0, 3)):
        carla.take(place, "anna")
    drawn = next(vote for vote in carla.view.votes if vote.name == "anna")
    hows = {(1, 0): "hand", (2, 1): "singly", (3, 2): "bulk", (0, 3): "hand"}
    assert {(i, j): how for i, j, _, how, _ in drawn.cells} == hows
    votes = {place: line["votes"]["anna"] for place, line in lines(store).items()}
    assert {place: vote.get("how") for place, vote in votes.items() if None not in place} == hows


def test_links_kept_by_done_are_told_apart_from_those_chosen_at_a_word(store):
    anna = Tab(store, 2, "anna")
    anna.send(
        sent(
            "edit",
            how="word",
            cells=[[0, 0, 0, 2], [0, 1, 0, 2]],
            settled=[[0, -1, 0, 1]],
            p=[[0, 0, None]],
        ),
        sent(
            "done",
            before=False,
            after=True,
            how="done",
            cells=[[1, 1, 0, 2], [2, 2, 0, 2]],
            bulk=[[1, 1, 0, 1], [2, 2, 0, 1]],
            p=[[1, 1, 0.9]],
            q=[[1, 1, 0.95], [2, 2, 0.6]],
            threshold=0.1,
        ),
    )
    Tab(store, 2, "ben").send(done())
    bench = Bench(store, 2)
    bench.open()
    vote = next(vote for vote in bench.view.votes if vote.name == "anna")
    hows = {(i, j): how for i, j, _, how, _ in vote.cells}
    assert hows == {(0, 0): "singly", (0, 1): "hand", (1, 1): "kept", (2, 2): "kept"}
    assert vote.unseen == [(1, 1), (2, 2)]
    anna.send(sent("open", rev=1, suggestions=True, seen=[[1, 1]]))
    bench.open()
    vote = next(vote for vote in bench.view.votes if vote.name == "anna")
    assert vote.unseen == [(2, 2)]


def test_the_command_writes_gold_and_beside_it_where_it_comes_from(tmp_path, store, capsys):
    bench = settled(store)
    bench.done()
    decided = {place: value for place, value in bench.gold.items() if value in (1, 2)}
    store.close()
    out = tmp_path / "gold.jsonl"
    words = ("project", "export", store.path, "--to", "alignkit-jsonl")
    assert "the origin of 5 decisions" in run(capsys, *words, out).err
    pair = read_corpus(out, format="alignkit-jsonl")[0]
    assert set(pair.annotations) == {"anna", "ben", "gold"}
    assert {cell: 1 + sure for cell, sure in pair.alignment("gold").items()} == decided
    assert pair.annotations["gold"].judgment == "partial"
    beside = tmp_path / "gold.jsonl.provenance.jsonl"
    rows = [json.loads(line) for line in beside.read_text(encoding="utf-8").splitlines()]
    links = {(row["i"], row["j"]): row["link"] for row in rows if "link" in row}
    strengths = {cell: ("none", "possible", "sure")[value] for cell, value in decided.items()}
    assert {cell: link for cell, link in links.items() if link != "none"} == strengths
    beside.unlink()
    for given in ((out, "--no-provenance"), (out, "--annotator", "anna"), ("-",)):
        run(capsys, *words, *given)
    assert not beside.exists()
    own = tmp_path / "why.jsonl"
    run(capsys, *words, "-", "--provenance", own)
    assert len(own.read_text(encoding="utf-8").splitlines()) == 5


def test_gold_of_the_corpus_s_own_asks_for_another_name(tmp_path, capsys):
    store = project(tmp_path)  # of which gold is an annotator
    store.close()
    words = "annotate", store.path, "--annotator", "carla", "--no-browser"
    run(capsys, *words, "--adjudicate").failed("by --gold NAME")
    run(capsys, *words, "--blind").failed("--blind needs --adjudicate")
