"""Rewrites and extracted pairs: events, undo, conflicts, export, merging, privacy, the yield."""

import gzip
import json
import shutil
from dataclasses import replace
from itertools import count

import pytest
from annotate_log import Stream
from annotation import Tab, done, project, sent, small_corpus
from command import run
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode
from refusals import refuses

from alignkit import Alignment, Annotation, Corpus, FormatError, SentencePair, read_corpus
from alignkit.annotate.documents import read_documents
from alignkit.annotate.exporting import exported_work
from alignkit.annotate.extraction_yield import count_yield
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.merging import merge_project
from alignkit.annotate.project.names import BadEvent, Conflict, ProjectError
from alignkit.annotate.project.rebuilding import build_project
from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.state import decode_state
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.sessions import change_task
from alignkit.io.format import EVERYTHING

TEXTS = st.tuples(st.sampled_from(["a", "b c"]), st.sampled_from(["w", "x y"]))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["r1", "r2", "r10"]), st.none() | TEXTS),
        st.sampled_from(["undo", "redo"]),
    ),
    max_size=12,
)
SOURCE = "They talked.\nThen they agreed,\nand \U0001f600 left."
TARGET = "Ils ont parlé. Ils sont partis."


def judge(label, **more):
    return sent("judge", label=["", label], **more)


def rewrite(after, before=None, key="r1"):
    return sent("rewrite", rewrites=[[key, before, after]])


def extract(after, before=None, key="x1"):
    return sent("extract", extracts=[[key, before, after]])


def said(pair, name):
    return replace(pair.annotation(name), when=None)


@pytest.fixture
def store(tmp_path):
    made = project(tmp_path, small_corpus(3), scheme="turku", task="judge")
    made.enrol("ben")
    yield made
    assert not replay(made).differences
    made.close()


def rewrites_of(store, k=1, annotator="anna"):
    return dict(store.pair(k, annotator).state.rewrites or ())


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (rewrite(["a", " "]), "a text is empty"),
        (rewrite(["a", "b"], key="x1"), "key 'x1': expected"),
        (rewrite(["a", "b"], key="r0"), "key 'r0': expected"),
        (rewrite(["a" * 20_001, "b"]), "20000"),
        (rewrite(["a\x00", "b"]), r"control character U\+0000"),
        (sent("rewrite", rewrites=[["r1", None, ["a", "b"]]] * 2), "given twice"),
        (extract([0, 1, 0, 8]), "characters 0 to 8 are not"),
        (extract([1, 1, 0, 1]), "characters 1 to 1"),
        (extract([1, 2, 0, 1]), "characters 1 to 2"),
        (extract([-1, 2, 0, 1]), ">= 0"),
    ],
)
def test_what_cannot_be_is_refused(store, event, told):
    refuses(BadEvent, told, Tab(store).send, event)


def test_two_tabs_disagree_on_a_rewrite(store):
    one, other = Tab(store), Tab(store)
    one.send(rewrite(["a", "w"]))
    with pytest.raises(Conflict) as problem:
        other.send(rewrite(["a", "x"]))
    assert problem.value.conflicts == [
        {"field": "rewrite", "key": "r1", "before": None, "after": ("a", "x"), "now": ("a", "w")}
    ]
    other.send(rewrite(["a", "x"], ["a", "w"]))
    assert rewrites_of(store) == {"r1": ("a", "x")}


def test_marks_before_the_words_of_a_rewrite_are_not_kept(store):
    Tab(store).send(rewrite(["\ufeffa \ufeff\u00a0\ufeff\ufeffb", "w"]))
    assert rewrites_of(store) == {"r1": ("a \ufeff b", "w")}


def test_judged_pairs_are_not_aligned_and_rewrites_are_pairs(store, tmp_path, capsys):
    anna, ben = Tab(store), Tab(store, 1, "ben")
    ben.send(judge("2"), rewrite(["a b", "w x"]), done())
    anna.send(judge("4", flags=[[], ["<", "unsure"]]), rewrite([" a ", "w\t"]))
    anna.send(rewrite(["a b", "w x"], key="r2"), done())
    Tab(store, 2).send(judge("1"), done())
    Tab(store, 3).send(done())
    path = str(tmp_path / "out.jsonl")
    ran = run(capsys, "project", "export", store.path, path, "--to", "alignkit-jsonl")
    assert (ran.code, ran.err) == (0, "")
    found = {pair.id: pair for pair in read_corpus(path)}
    assert list(found) == ["p1", "p1/r1", "p1/r2", "p2", "p3"]
    assert found["p1"].annotation("anna").when
    assert said(found["p1"], "anna") == Annotation(None, judgment="4<", flags={"unsure"})
    assert said(found["p1"], "ben") == Annotation(None, judgment="2")
    assert "anna" not in found["p3"].annotations
    first, second = found["p1/r1"], found["p1/r2"]
    assert first.words == (("a", "b"), ("w", "x"))
    assert dict(first.attributes) == {"rewrite_of": "p1", "rewritten_by": "anna,ben"}
    assert first.annotation("ben").when
    assert said(first, "ben") == Annotation(None, judgment="4", provenance="rewrite of p1")
    assert (second.words, list(second.annotations)) == ((("a",), ("w",)), ["anna"])
    assert [pair.id for pair in exported_work(store, annotator="anna")] == list(found)
    own = {p.id: p for p in exported_work(store, annotator="anna", assigned=True)}
    assert own["p1/r1"].words == second.words  # her first: no number tells of ben's
    assert [pair.id for pair in exported_work(store, annotator="ben", done=True)][1] == "p1/r1"


def test_no_pair_that_is_made_gets_the_id_of_another(tmp_path):
    ids = ("q1", "q1/r1", "q1", "q2", "q2/r3")
    pairs = [SentencePair(id, ("a", "b"), ("w", str(k))) for k, id in enumerate(ids)]
    store = project(tmp_path, Corpus(pairs), task="judge")
    for k, texts in ((3, ["c", "w"]), (1, ["a", "w"]), (2, ["b", "w"]), (1, ["c", "w"])):
        Tab(store, k).send(rewrite(texts, key=f"r{1 + len(rewrites_of(store, k))}"))
    found = [pair.id for pair in exported_work(store)]
    assert found == ["q1", "q1/r3", "q1/r4", "q1/r1", "q1/r1/r1", "q1", "q1/r2", "q2", "q2/r3"]


def test_what_is_taken_back_leaves_the_others_their_numbers(store):
    ben = Tab(store, 1, "ben")
    ben.send(rewrite(["a", "w"]))
    Tab(store).send(rewrite(["b", "w"]))
    made = ["p1", "p1/r1", "p1/r2"]
    assert [pair.id for pair in exported_work(store)][:3] == made
    ben.back()
    assert [pair.id for pair in exported_work(store)][:3] == ["p1", "p1/r2", "p2"]
    ben.back("redo")
    assert [pair.id for pair in exported_work(store)][:3] == made


def test_what_came_aligned_to_nothing_stays_so(tmp_path):
    nothing = {"old": Annotation(Alignment(), judgment="1")}
    store = project(tmp_path, small_corpus(1, nothing), scheme="binary", task="judge")
    Tab(store).send(judge("0"), done())
    pair = next(iter(exported_work(store)))
    assert pair.annotation("old") == nothing["old"]
    assert said(pair, "anna") == Annotation(None, judgment="0")
    change_task(store, "align")  # what was judged was not aligned by that
    assert next(iter(exported_work(store))).annotation("anna").alignment is None
    Tab(store).send(done(True), done())
    assert next(iter(exported_work(store))).alignment("anna") == Alignment()
    refuses(ProjectError, "not to extract", change_task, store, "extract")


def test_rewrites_are_merged_and_rebuilt_from_the_log(store, tmp_path):
    copy = str(tmp_path / "copy")
    Tab(store).send(rewrite(["a", "w"]))
    store.close()
    shutil.copy(store.path, copy)
    with Store.open(store.path) as here, Store.open(copy) as there:
        Tab(here).send(rewrite(["a b", "w"], key="r2"))
        Tab(there).send(rewrite(["a c", "w"], ["a", "w"]))
        merge_project(here, there)
        assert rewrites_of(here) == {"r1": ("a c", "w"), "r2": ("a b", "w")}
        assert merge_project(here, there).changed == 0
        import_pairs(here, [SentencePair("p1", ("a", "q"), ("w",), {}, {})], holds=EVERYTHING)
        assert rewrites_of(here) == {"r1": ("a c", "w"), "r2": ("a b", "w")}
        build_project(str(tmp_path / "again"), here.log())
        with Store.open(str(tmp_path / "again")) as again:
            assert list(exported_work(again)) == list(exported_work(here))
            assert not replay(again).differences


@given(steps=STEPS)
def test_rewrites_fold_as_a_plain_list_of_states_says(steps):
    stream, ids = Stream("a b", "w x"), count()
    past, future, now = [], [], {}

    def send(kind, **data):
        stream.send({"id": f"e{next(ids)}", "kind": kind, "data": data})

    for step in steps:
        if step == "undo" and past:
            future.append(now)
            now = past.pop()
            send("undo", of=stream.tops()[0])
        elif step == "redo" and future:
            past.append(now)
            now = future.pop()
            send("redo", of=stream.tops()[1])
        elif isinstance(step, tuple) and now.get(step[0]) != step[1]:
            key, after = step
            send("rewrite", rewrites=[[key, now.get(key), after]])
            past.append(now)
            now = {k: v for k, v in {**now, key: after}.items() if v is not None}
            future = []
        assert stream.state.rewrites == now
        assert decode_state(encode(stream.state.view())).rewrites == now


@pytest.fixture
def folders(tmp_path):
    for side, texts in (("en", {"a": SOURCE, "b": "None."}), ("fr", {"a": TARGET, "b": "Rien."})):
        (tmp_path / side).mkdir()
        for name, text in texts.items():
            (tmp_path / side / f"{name}.{side}").write_text(text, encoding="utf-8")
    (tmp_path / "en" / "c.en").write_text("alone")
    (tmp_path / "en" / ".hidden").write_text("")
    return str(tmp_path / "en"), str(tmp_path / "fr")


def test_pairs_are_extracted_from_documents_with_their_places(folders, tmp_path, capsys):
    notes = []
    corpus = Corpus(read_documents(folders, note=notes.append))
    assert notes == [f"{folders[0]}: 1 file has no counterpart in the other folder: c"]
    store, begin = project(tmp_path, corpus, task="extract"), SOURCE.index("and")
    tab = Tab(store)
    tab.send(extract([begin, begin + 11, 15, 31]))
    tab.send(extract([0, 12, 0, 14], key="x2"), extract([0, 12, 15, 31], key="x3"))
    tab.back()
    tab.send(done())
    Tab(store, 2).send(done())
    found = list(exported_work(store))
    assert [pair.id for pair in found] == ["a/x1", "a/x2"]
    assert found[0].words == (("and", "\U0001f600", "left."), ("Ils", "sont", "partis."))
    assert dict(found[0].attributes) == {
        "source_document": f"{folders[0]}/a.en",
        "target_document": f"{folders[1]}/a.fr",
        "extracted_from": "a",
        "extracted_by": "anna",
        "source_start": str(begin),
        "source_end": str(begin + 11),
        "source_line": "3",
        "target_start": "15",
        "target_end": "31",
        "target_line": "1",
    }
    ran = run(capsys, "project", "yield", store.path, "--json")
    assert ran.json["annotators"] == [
        {
            "annotator": "anna",
            "documents": 2,
            "done": 2,
            "with_pairs": 1,
            "without": 1,
            "pairs": 2,
            "open": 0,
            "characters": 83,
            "covered": 53,
            "taken": 53,
            "pairs_per_document": 1.0,
            "pairs_per_nonempty": 2.0,
            "empty": 0.5,
            "coverage": 53 / 83,
            "length": 53 / 4,
        }
    ]
    assert "anna" in run(capsys, "project", "yield", store.path).out
    with pytest.raises(ProjectError, match="cannot be changed"):
        import_pairs(store, [SentencePair("a", ("x",), ("y",))], holds=EVERYTHING)
    assert not replay(store).differences


def test_judgments_to_look_at_again(tmp_path, capsys):
    """Those of a label, with any flags, and from before a day; without a time, always."""
    rows = {
        "a": ("4>", "2026-04-30T23:59:59Z"),
        "b": ("4", "2026-05-01T00:00:00Z"),
        "c": ("4i", None),
        "d": ("3", "2026-01-01T00:00:00Z"),
    }
    pairs = [
        SentencePair(id, ["x"], ["y"], {"anna": Annotation(None, judgment=label, when=when)})
        for id, (label, when) in rows.items()
    ]
    store = project(tmp_path, Corpus(pairs), scheme="turku", task="judge")
    words = ["project", "pairs", store.path, "--json"]

    def ids(*more):
        return "".join(row["pair"] for row in run(capsys, *words, *more).json)

    assert ids() == "abcd"
    assert (ids("--label", "4"), ids("--label", "4i")) == ("abc", "c")
    assert (ids("--before", "2026-05-01"), ids("--annotator", "anna", "--label", "3")) == (
        "acd",
        "d",
    )
    ran = run(capsys, *words[:-1], "--label", "4", "--before", "2026-05-01")
    assert "to look at again: 2" in ran.out
    assert ran.out.split()[-7:] == ["a", "anna", "4>", "2026-04-30T23:59:59Z", "c", "anna", "4i"]
    assert "perhaps later than --before: 1" in ran.err
    run(capsys, *words, "--label", "5").failed("'5' is not a judgment")
    run(capsys, *words, "--before", "May").failed("not 'May'")
    run(capsys, *words, "--annotator", "zoe").failed("zoe")


def test_words_are_divided_as_the_project_was_told(folders, tmp_path):
    corpus = Corpus(read_documents(folders, tokenize="wordpunct"))
    assert corpus[0].words[1][-1] == "."
    store = project(tmp_path, corpus, task="extract")
    Tab(store).send(extract([13, 30, 15, 31]))
    pair = next(iter(exported_work(store)))
    assert pair.words[0] == ("Then", "they", "agreed", ",")
    assert pair.attributes["tokenizer"].startswith("wordpunct (nltk")


def test_what_a_file_calls_a_tokenizer_does_not_divide_its_documents(tmp_path):
    file = tmp_path / "documents.jsonl"
    file.write_text('{"source": "one, two", "target": "x y.", "tokenizer": "treebank"}\n')
    assert Corpus(read_documents([str(file)]))[0].words == (("one,", "two"), ("x", "y."))
    file.write_bytes(gzip.compress(file.read_bytes()))
    assert Corpus(read_documents([str(file)]))[0].words == (("one,", "two"), ("x", "y."))
    strange = SentencePair("p", ["a"], ["b"], {}, {"tokenizer": "moses 1.0"})
    store = project(tmp_path, Corpus([strange]), task="judge", scheme="binary")
    Tab(store).send(rewrite(["a c.", "b"]))
    assert [pair.words[0] for pair in exported_work(store)] == [("a",), ("a", "c.")]
    file.write_text('\n{"source": "one \\ud800", "target": "x"}\n')
    with pytest.raises(FormatError, match=r"documents\.jsonl:2: 'source'"):
        list(read_documents([str(file)]))


def test_the_yield_before_any_document_is_done(folders, tmp_path, store, capsys):
    made = project(tmp_path, Corpus(read_documents(folders)), name="docs", task="extract")
    Tab(made).send(extract([0, 12, 0, 14]))
    (row,) = count_yield(made).rows
    assert (row.documents, row.done, row.pairs, row.open) == (2, 0, 0, 1)
    assert set(row.ratios.values()) == {None}
    assert "no document is done" in str(count_yield(made))
    run(capsys, "project", "yield", store.path).failed("is a project to judge")


def test_the_yield_is_of_all_documents_and_of_the_nonempty_ones(tmp_path, capsys):
    """Ten documents of 10 and 6 characters, eight pairs in four: 0.8 and 2.0 (by hand)."""
    pairs = [SentencePair(str(k), ["abcd", "fghij"], ["uvwxyz"]) for k in range(10)]
    store = project(tmp_path, Corpus(pairs), task="extract")
    for k in range(1, 11):
        tab = Tab(store, k)
        if k <= 4:  # 4 + 2 characters, then 3 + 4: 5 + 4 different ones
            tab.send(extract([0, 4, 0, 2]), extract([2, 5, 0, 4], key="x2"))
        tab.send(done())
    (row,) = count_yield(store).rows
    assert (row.done, row.with_pairs, row.pairs) == (10, 4, 8)
    assert row.ratios == {
        "pairs_per_document": 0.8,
        "pairs_per_nonempty": 2.0,
        "empty": 0.6,
        "coverage": 4 * 9 / 160,
        "length": 4 * 13 / 16,
    }
    printed = run(capsys, "project", "yield", store.path).out
    assert printed.splitlines()[4].split()[-5:] == ["0.8", "2", "60.0", "22.5", "3.25"]


def test_documents_of_json_lines(tmp_path):
    path = tmp_path / "docs.jsonl"
    rows = [
        {"id": "one", "source": ["a b", "c"], "target": "x", "year": 2020, "source_document": "s"},
        {"source": "d\r\ne", "target": "y"},
    ]
    path.write_text("\ufeff" + "\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    one, two = read_documents([str(path)])
    assert one.attributes["source_text"] == "a b\n\nc"
    assert (one.attributes["year"], one.attributes["source_document"]) == ("2020", "s")
    assert (two.id, two.attributes["source_text"]) == ("3", "d\ne")
    assert two.attributes["target_document"] == "3"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nonsense", "docs.jsonl:1: is not JSON"),
        ("[1]", "docs.jsonl:1: is not an object"),
        ('{"source": "a"}', "docs.jsonl:1: has no text 'target'"),
        ('{"source": "a", "target": ["b", 3]}', "has no text 'target'"),
        ('{"id": 1, "source": "a", "target": "b"}\n' * 2, "have the id '1'"),
        ('{"id": null, "source": "a", "target": "b"}', "docs.jsonl:1: 'id' must be"),
        ('{"id": [1], "source": "a", "target": "b"}', "docs.jsonl:1: 'id' must be"),
        ("\xff", "not text in utf-8"),
    ],
)
def test_damaged_documents_are_told(tmp_path, text, told):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises((FormatError, ProjectError)) as problem:
        list(read_documents([str(path)]))
    assert told in str(problem.value)


def test_folders_that_do_not_go_together_are_told(tmp_path, folders):
    (tmp_path / "xx").mkdir()
    (tmp_path / "xx" / "q.txt").write_text("q")
    source = f"{folders[0]}/a.en"
    for paths, told in (
        ((folders[0], str(tmp_path / "xx")), "no file has the same name"),
        ((folders[0], source), "expected two folders or two files"),
        ((folders[0],), "is one folder"),
        ((source, str(tmp_path / "nowhere")), "cannot be read"),
    ):
        refuses((ProjectError, FileNotFoundError), told, list, read_documents(paths))
    (pair,) = read_documents((source, f"{folders[1]}/a.fr"))
    assert pair.id == "a"
    (tmp_path / "en" / "a.txt").write_text("again")
    refuses(ProjectError, "have the same name", list, read_documents(folders))


def test_the_command_refuses_what_does_not_go_together(tmp_path, capsys, folders):
    for words, told in (
        (("--task", "extract"), "needs documents"),
        ((*folders,), "documents with --task extract"),
        ((folders[0], "--tokenize"), "--tokenize needs"),
        (("--task", "extract", *folders, "--tokenize", "x"), "unknown tokenizer"),
        (("--task", "extract", folders[0], "--tokenize", folders[1]), "names a file"),
        ((folders[0], "--task", "judge", "--model", "m"), "has none"),
        ((folders[0], "--task", "judge", "--suggestions", "trained"), "has none"),
    ):
        run(capsys, "annotate", *words, "--no-browser").failed(told)
    assert not list(tmp_path.glob("*.alignkit"))
