"""What is in uploaded files is found, shown and asked; what is damaged or hostile is refused."""

import gzip
import io
import random
import shutil
import sqlite3
import tarfile
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from command import GOLD, PARAPHRASES, TEXTS
from format_files import damaged
from test_find_format import written

pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

from adjudicated_project import two_annotators
from test_annotate_forged import ACTING, forge, whole  # noqa: F401 - a fixture

from alignkit import Aligner, read_corpus
from alignkit.annotate.lab.bodies import Draft, DraftFile
from alignkit.annotate.lab.draft_reading import DraftReader
from alignkit.annotate.lab.drafts import DraftJob, DraftRecord
from alignkit.io import WRITTEN

EN, DE = "the old house\na b c\nd e\n", "das alte haus\nx y z\nu v\n"
LINKS = "0-0 1-1 2-2\n0-0\n1?1\n"
JSONL = Path(PARAPHRASES).read_bytes()


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = iter(range(1000))

    def reading(files, *, task="align", project="", **chosen):
        folder = tmp_path / f"draft{next(count)}"
        folder.mkdir()
        rows = []
        for n, (name, given) in enumerate(files.items(), 1):
            data = given.encode() if isinstance(given, str) else given
            (folder / str(n)).write_bytes(data)
            rows.append(DraftFile(n, name, len(data), len(data), "", [], ""))
        empty = ("", [], 0, "", [], [], [], False, "", "")
        draft = Draft("0" * 32, "1", project, task, rows, True, "", *empty)
        kinds = {str(n): chosen["kinds"].get(name, "") for n, name in enumerate(files, 1)
                 } if "kinds" in chosen else {}  # fmt: skip
        record = DraftRecord("anna", time.time(), draft, **{**chosen, "kinds": kinds})
        job = DraftJob(str(folder), record)
        reading.record = DraftReader(job, lambda *_: None).read()
        reading.pairs = lambda: list(read_corpus(job.pairs, format="alignkit-jsonl"))
        return reading.record.draft

    return reading


def kinds(draft):
    return [file.kind for file in draft.files]


def findings(draft):
    return {finding.code: finding for finding in draft.findings}


def test_words_and_links_are_told_apart_and_shown(read):
    draft = read({"news.en": EN, "news.de": DE, "auto.align": LINKS})
    assert kinds(draft) == ["source", "target", "corpus"]
    assert draft.detected == "Pharaoh links, counted from 0, source first"
    assert (draft.pairs, draft.languages, draft.annotators) == (3, "en-de", ["auto"])
    assert (draft.ready, draft.findings, draft.problem, draft.name) == (True, [], "", "news")
    assert [str(pair.alignment("auto")) for pair in read.pairs()] == ["0-0 1-1 2-2", "0-0", "1?1"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"b.txt": EN, "a.txt": DE}, ["source", "target"]),
        ({"x.tgt": DE, "x.src": EN}, ["target", "source"]),
        ({"target/a.txt": DE, "a.txt": EN}, ["target", "source"]),
        ({"x.txt": "the house ||| das haus\n"}, ["both"]),
        ({"t.en": "<s snum=1>a b</s>\n", "t.de": "<s snum=1>c</s>\n", "g.wa": "1 1 1\n"},
         ["source", "target", "corpus"]),
    ],
)  # fmt: skip
def test_texts_are_source_and_target_by_their_names_or_in_order(read, files, expected):
    draft = read(files)
    assert kinds(draft) == expected
    assert draft.ready
    side = expected.index("source") if "source" in expected else 0
    assert read.pairs()[0].source[0] in list(files.values())[side]


def test_what_a_file_is_can_be_said(read):
    files = {"a": EN, "b": DE, "c": DE, "auto.align": LINKS}
    draft = read(files)
    assert "Say what each is" in draft.problem
    assert not draft.ready
    draft = read(files, kinds={"a": "target", "b": "none", "c": "source"})
    assert (kinds(draft), draft.ready) == (["target", "none", "source", "corpus"], True)
    assert read.pairs()[0].source == ("das", "alte", "haus")


@pytest.mark.parametrize("samples", [PARAPHRASES, GOLD])
@pytest.mark.parametrize("format", WRITTEN)
def test_each_written_format_is_detected_or_asked(read, tmp_path, format, samples):
    words = {"source": TEXTS[1], "target": TEXTS[3]} if samples == GOLD else {}
    corpus = read_corpus(samples, **words)
    corpus = type(corpus)(list(corpus)[: 12 if format in ("blinker", "goldalign") else 400])
    (tmp_path / "w").mkdir()
    path = written(corpus, format, tmp_path / "w")
    several = sorted(p for p in path.parent.rglob("*") if p.is_file())
    files = {"/".join(p.relative_to(path.parent).parts[-2:]): p.read_bytes() for p in several[:20]}
    draft = read(files)
    if asked := findings(draft).get("format"):
        names = [choice.value for choice in asked.choices]
        assert (names[0], asked.chosen, draft.ready) == ("stop", "stop", False)
        assert format in names
        draft = read(files, choices={"format": format})
    assert not any(file.problem for file in draft.files)
    if draft.problem:
        assert "has links alone" in draft.problem
        sides = [[" ".join(side) for side in pair.words] for pair in corpus]
        texts = ["\n".join(side) + "\n" for side in zip(*sides, strict=True)]
        draft = read({**files, "x.src": texts[0], "x.tgt": texts[1]})
    assert (read.record.format, draft.problem) == (format, "")
    assert draft.pairs == len(corpus)
    assert draft.ready


def test_links_outside_are_left_out_or_stop(read):
    files = {"news.en": EN, "news.de": DE, "auto.align": LINKS.replace("1-1", "1-7 9-9")}
    draft = read(files)
    finding = findings(draft)["link-out-of-range"]
    assert (finding.text, finding.pairs) == ("2 links outside the sentence", [1])
    assert [choice.name for choice in finding.choices] == ["Leave out", "Stop"]
    assert (finding.chosen, draft.ready) == ("leave", True)
    draft = read(files, choices={"link-out-of-range": "stop"})
    assert findings(draft)["link-out-of-range"].chosen == "stop"
    assert (draft.ready, draft.pairs) == (False, 3)


def test_repeated_pairs_and_ids(read):
    line = '{"id": "%s", "source": ["%s"], "target": ["b"]}\n'
    files = {"x.jsonl": line % ("1", "a") + line % ("1", "c") + line % ("1-2", "a")}
    draft = read(files)
    assert findings(draft)["repeated-pairs"].pairs == [1, 3]
    assert findings(draft)["repeated-id"].pairs == [2]
    assert [pair.id for pair in read.pairs()] == ["1", "1-3", "1-2"]
    assert draft.ready
    draft = read(files, choices={"repeated-pairs": "first", "repeated-id": "stop"})
    assert ([pair.source for pair in read.pairs()], draft.ready) == ([("a",), ("c",)], False)


def test_files_of_different_lengths_stop_or_are_cut(read):
    files = {"news.en": EN, "news.de": DE + "more\n", "auto.align.gz": gzip.compress(b"0-0\n0-0\n")}
    draft = read(files)
    finding = findings(draft)["unequal-counts"]
    assert finding.text == "News.en has 3 lines, news.de has 4 lines, auto.align.gz has 2 lines"
    assert [choice.name for choice in finding.choices] == ["Stop", "Take the first 2"]
    assert (draft.ready, draft.pairs) == (False, 2)
    assert read(files, choices={"unequal-counts": "first"}).ready


def test_a_suspicious_direction_or_base_can_be_turned(read):
    long, short = "a b c d e f g h\n" * 10, "x y z\n" * 10
    files = {"x.src": long, "x.tgt": short, "a.align": "0-4 1-6 2-7\n" * 10}
    draft = read(files)
    assert findings(draft)["suspicious-direction"].chosen == "keep"
    assert findings(draft)["link-out-of-range"].text == "30 links outside the sentence"
    draft = read(files, choices={"suspicious-direction": "turn"})
    assert set(findings(draft)) == {"suspicious-direction", "repeated-pairs"}
    assert draft.detected == "Pharaoh links, counted from 0, target first"
    assert str(read.pairs()[0].alignment("a")) == "4-0 6-1 7-2"
    files["a.align"] = "1-1 8-3 3-2\n" * 10
    draft = read(files, choices={"suspicious-base": "turn"})
    assert findings(draft)["suspicious-base"].choices[1].name == "Count from 1"
    assert str(read.pairs()[0].alignment("a")) == "0-0 2-1 7-2"
    draft = read(files, options={"base": "1", "direction": "source"})
    assert (list(findings(draft)), draft.ready) == (["repeated-pairs"], True)


def test_other_encodings_are_asked_or_seen(read):
    files = {"x.en": EN.replace("old", "ol\xe9").encode("latin-1"), "x.de": "\ufeff" + DE}
    draft = read(files)
    assert (findings(draft)["encoding"].chosen, draft.ready, draft.pairs) == ("stop", False, 0)
    draft = read(files, choices={"encoding": "windows-1252"})
    assert (read.pairs()[0].source[1], draft.ready) == ("ol\xe9", True)
    for encoding in ("utf-16", "utf-16-le"):
        assert read({**files, "x.en": EN.encode(encoding)}).ready
        assert read.pairs()[1].source == ("a", "b", "c")


def test_broken_records_are_named_and_left_out_on_request(read):
    files = {"x.en": EN, "x.de": DE, "a.align": LINKS.replace("1?1", "1-x")}
    finding = findings(draft := read(files))["broken-record"]
    assert "a.align, line 3: '1-x' is not a link; expected i-j" in finding.text
    assert not draft.ready
    draft = read(files, choices={"broken-record": "leave"})
    assert (draft.ready, draft.pairs) == (True, 2)
    draft = read({"x.jsonl": '{"id": "1", "source": ["a"], "sure": 3}\n'})
    assert draft.files[0].problem.startswith("line 1: unknown key 'sure' in the pair; known:")


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"x.en": EN}, "x.en has the words of one side"),
        ({"a.align": LINKS}, "a.align has links alone"),
        ({"x.jsonl": JSONL, "x.en": EN, "x.de": DE}, "x.jsonl has its own words. Remove x.en"),
        ({"x.jsonl": JSONL, "y.jsonl": JSONL}, "Several files have pairs: x.jsonl, y.jsonl"),
        ({"x.en": EN, "x.txt": "a ||| b\n", "x.de": DE}, "Too many files have words"),
        ({}, "Add the files"),
    ],
)
def test_what_is_missing_or_too_much_is_said(read, files, problem):
    draft = read(files)
    assert problem in draft.problem
    assert (draft.ready, draft.pairs) == (False, 0)


def test_links_alone_will_do_for_an_import(read):
    assert read({"a.align": LINKS}, project="news").ready


def test_documents_for_extraction(read):
    texts = {"en/a.txt": "One. Two.", "fr/a.txt": "Un. Deux.", "en/b.txt": "x", "fr/b.md": "y"}
    draft = read({**texts, "en/c.txt": "alone"}, task="extract", options={"tokenizer": "wordpunct"})
    assert (draft.detected, draft.ready, draft.pairs) == ("2 pairs of documents", True, 2)
    assert kinds(draft) == ["source", "target", "source", "target", "source"]
    assert "1 file has no counterpart" in findings(draft)["no-counterpart"].text
    assert read.pairs()[0].source == ("One", ".", "Two", ".")
    assert read({"a.txt": "x y", "b.txt": "z"}, task="extract").pairs == 1
    assert read({"d.jsonl": '{"source": "x y", "target": "z"}\n'}, task="extract").ready


def test_models_and_projects(read, tmp_path):
    Aligner.train([(["a"], ["b"])]).save(tmp_path / "m")
    two_annotators(str(tmp_path / "p"), 3)
    draft = read({"x.en": EN, "x.de": DE, "my.model": (tmp_path / "m").read_bytes()})
    assert (draft.models, draft.ready) == (["my.model"], True)
    draft = read({"old.alignkit": (tmp_path / "p").read_bytes()})
    assert draft.detected == "A project of alignkit, task align, 2 annotators"
    assert (draft.annotators, draft.pairs, draft.ready) == (["anna", "ben"], 3, True)


def archive(kind):
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as packed:
            packed.writestr("../x", EN)
    else:
        with tarfile.open(fileobj=out, mode=kind) as packed:
            packed.addfile(tarfile.TarInfo("../../x"))
    return out.getvalue()


BOMB = gzip.compress(b"0-0\n" * (30 << 20))
ENTITIES = '<!DOCTYPE c [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><corpus><pair>&b;</pair></corpus>'
FORGED = io.BytesIO()
with zipfile.ZipFile(FORGED, "w") as _model:
    _model.writestr("header.json", '{"alignkit": "model", "version": 2, "arrays": {}}')


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        *((archive(kind), "Archives are not opened") for kind in ("zip", "w:", "w:gz")),
        (b"7z\xbc\xaf\x27\x1c" + bytes(90), "Archives are not opened"),
        (archive("w:bz2"), "compressed with bzip2"),
        (BOMB, "more than"),
        (gzip.compress(LINKS.encode())[:-9], "cannot be unpacked"),
        (ENTITIES, "no format fits"),
        (ENTITIES.replace("<corpus", '<corpus xmlns="urn:alignkit:corpus:1"'), "DOCTYPE"),
        (ENTITIES.encode("utf-16"), "no format fits"),
        (FORGED.getvalue(), ""),
        (b"PK\x03\x04" + bytes(26) + b"header.json{", ""),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is not text"),
        (b"", "is empty"),
        (b"SQLite format 3\0" + bytes(100), "not an alignkit project"),
        ('[{"source": "a"}', "looks like jacana"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_by_name(read, monkeypatch, data, problem):
    monkeypatch.setattr("alignkit.annotate.lab.draft_reading.MOST", 256 << 10)
    draft = read({"bad": data})
    said = draft.files[0].problem or draft.problem
    assert said
    assert problem in said
    assert "`" not in said
    assert "fault" not in said
    assert not draft.ready


@pytest.mark.parametrize("acting", ACTING)
def test_projects_that_act_are_refused(read, tmp_path, acting):
    two_annotators(path := str(tmp_path / "p"), 1)
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(acting)
    draft = read({"p.alignkit": Path(path).read_bytes()})
    assert "somebody else made or changed this file" in draft.problem + draft.files[0].problem


def test_forged_projects_end_in_a_problem_or_in_pairs(read, tmp_path, whole):  # noqa: F811
    rng = random.Random(3)
    for _ in range(40):
        forged = Path(shutil.copy(whole, tmp_path))
        forge(str(forged), rng)
        draft = read({"p.alignkit": forged.read_bytes()})
        assert draft.ready or draft.problem or draft.files[0].problem


@pytest.mark.parametrize("format", WRITTEN)
def test_damaged_files_of_each_format_end_in_a_problem_or_in_pairs(read, tmp_path, format):
    (tmp_path / "w").mkdir()
    corpus = read_corpus(PARAPHRASES)
    path = written(type(corpus)(list(corpus)[:4]), format, tmp_path / "w")
    several = sorted(p for p in path.parent.rglob("*") if p.is_file())[:4]
    files = {"/".join(p.relative_to(path.parent).parts[-2:]): p.read_bytes() for p in several}
    for name, good in list(files.items())[:2]:
        for data in damaged(good, 12):
            draft = read({**files, name: data}, project="p")
            said = draft.problem or any(file.problem for file in draft.files) or draft.findings
            assert draft.ready or said
