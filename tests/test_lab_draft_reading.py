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
from itertools import count
from pathlib import Path

import pytest
from command import GOLD, PARAPHRASES, TEXTS
from format_files import damaged
from repetitions import FULL, repetitions
from test_find_format import written

pytest.importorskip("sqlalchemy", reason="needs the extra [annotate]")

from adjudicated_project import two_annotators
from annotation import run_sql
from test_annotate_forged import ACTING, forge, whole  # noqa: F401 - a fixture

from alignkit import Aligner, Corpus, read_corpus
from alignkit.annotate.lab.bodies import Draft, DraftFile
from alignkit.annotate.lab.draft_reading import DraftReader
from alignkit.annotate.lab.draft_records import DraftJob, DraftRecord
from alignkit.io import WRITTEN

EN, DE = "the old house\na b c\nd e\n", "das alte haus\nx y z\nu v\n"
LINKS = "0-0 1-1 2-2\n0-0\n1?1\n"
NEWS = {"news.en": EN, "news.de": DE, "auto.align": LINKS}
JSONL = Path(PARAPHRASES).read_bytes()


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read files as the child does; `read` then holds findings, kinds and pairs."""
    monkeypatch.chdir(tmp_path)

    def reading(files, *, task="align", project="", kinds=(), **chosen):
        shutil.rmtree(folder := tmp_path / "draft", ignore_errors=True)
        folder.mkdir()
        rows = [DraftFile(n, name, 0) for n, name in enumerate(files, 1)]
        for n, given in enumerate(files.values(), 1):
            (folder / str(n)).write_bytes(given.encode() if isinstance(given, str) else given)
        said = {str(row.n): kinds[row.name] for row in rows if row.name in kinds}
        draft = Draft("", "1", project, task, rows)
        job = DraftJob(str(folder), DraftRecord("anna", time.time(), draft, said, **chosen))
        read.record = DraftReader(job, lambda *_: None).read()
        read.kinds = " ".join(row.kind for row in rows)
        read.findings = {finding.code: finding for finding in draft.findings}
        corpus = read_corpus(job.pairs, format="alignkit-jsonl") if draft.pairs else []
        read.pairs = list(corpus)
        return draft

    read = reading
    return read


def links(pairs, name="auto"):
    return [str(pair.alignment(name)) for pair in pairs]


def files_of(corpus, format, folder):
    folder.mkdir()
    top = written(corpus, format, folder).parent
    files = sorted(place for place in top.rglob("*") if place.is_file())[:20]
    return {"/".join(path.relative_to(top).parts[-2:]): path.read_bytes() for path in files}


def test_words_and_links_are_told_apart_and_shown(read):
    draft = read(NEWS)
    assert read.kinds == "source target corpus"
    assert draft.detected == "Pharaoh links, counted from 0, source first"
    assert (draft.pairs, draft.languages, draft.annotators) == (3, "en-de", ["auto"])
    assert (draft.ready, draft.findings, draft.problem, draft.name) == (True, [], "", "news")
    assert links(read.pairs) == ["0-0 1-1 2-2", "0-0", "1?1"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"b.txt": EN, "a.txt": DE}, "source target"),
        ({"x.tgt": DE, "x.src": EN}, "target source"),
        ({"target/a.txt": DE, "a.txt": EN}, "target source"),
        ({"x.txt": "the house ||| das haus\n"}, "both"),
        (
            {"t.en": "<s snum=1>a b</s>\n", "t.de": "<s snum=1>c</s>\n", "g": "1 1 1\n"},
            "source target corpus",
        ),
    ],
)
def test_texts_are_source_and_target_by_their_names_or_in_order(read, files, expected):
    draft = read(files)
    assert (read.kinds, draft.ready) == (expected, True)
    assert read.pairs[0].source[0] in files.get("x.src", files.get("a.txt", EN)) + "athe"


def test_files_have_their_own_names_wherever_they_are_shown(read):
    files = {"news (1).en": EN, "n&w's.de": DE, "anna's links (2).align": LINKS}
    draft = read(files)
    assert (read.kinds, draft.pairs, draft.languages) == ("source target corpus", 3, "en-de")
    assert (draft.annotators, draft.name) == (["anna's links"], "news")
    assert links(read.pairs, "anna's links") == ["0-0 1-1 2-2", "0-0", "1?1"]
    draft = read({**files, "n&w's.de": DE + "more\n"})
    text = draft.findings[0].text
    assert text.startswith("news (1).en has 3 lines, n&w's.de has 4 lines")
    draft = read({**files, "n&w's.de": b"\xff\n"})
    assert draft.findings[0].text.startswith("n&w's.de is not UTF-8")
    draft = read({**files, "anna's links (2).align": ""})
    assert [file.problem for file in draft.files] == ["", "", "is empty"]
    draft = read({**files, "b&w's.align": LINKS})
    assert "anna's links (2).align, b&w's.align" in draft.problem


def test_documents_bear_the_names_of_their_files(read):
    draft = read({"en&/a's.txt": "One text.", "de&/a's.txt": "Ein Text."}, task="extract")
    assert (draft.problem, draft.ready) == ("", True)
    (pair,) = read.pairs
    assert pair.id == "a's"
    assert pair.attributes["source_document"] == "en&/a's.txt"
    assert pair.attributes["target_document"] == "de&/a's.txt"


def test_what_a_file_is_can_be_said(read):
    files = {**NEWS, "more.de": DE}
    assert "Say what each is" in read(files).problem
    draft = read(files, kinds={"news.en": "target", "news.de": "none", "more.de": "source"})
    assert (read.kinds, draft.ready) == ("target none corpus source", True)
    assert read.pairs[0].source == ("das", "alte", "haus")


def tokens_of(lines):
    """The sentences as a file of tokens of ClearAligner."""
    rows = [
        f"{verse:08}{k:03}\t{word}\n"
        for verse, line in enumerate(lines, start=1)
        for k, word in enumerate(line.split(), start=1)
    ]
    return "id\ttext\n" + "".join(rows)


@pytest.mark.parametrize("samples", [PARAPHRASES, GOLD])
@pytest.mark.parametrize("format", WRITTEN)
def test_each_written_format_is_detected_or_asked(read, tmp_path, format, samples):
    words = {"source": TEXTS[1], "target": TEXTS[3]} if samples == GOLD else {}
    corpus = Corpus(list(read_corpus(samples, **words))[: 12 if format == "blinker" else 100])
    draft = read(files := files_of(corpus, format, tmp_path / "w"))
    if asked := read.findings.get("format"):
        assert (asked.choices[0][0], asked.chosen, draft.ready) == ("stop", "stop", False)
        assert format in [choice[0] for choice in asked.choices]
        draft = read(files, choices={"format": format})
    if "has links alone" in draft.problem:
        sides = [[" ".join(side) + "\n" for side in pair.words] for pair in corpus]
        source, target = map("".join, zip(*sides, strict=True))
        kinds = {}
        if format == "scripture":
            source, target = map(tokens_of, zip(*sides, strict=True))
            kinds = {"x.src": "source", "x.tgt": "target"}
        draft = read({**files, "x.src": source, "x.tgt": target}, kinds=kinds)
    assert not any(file.problem for file in draft.files)
    shown = read.record.format, draft.problem, draft.pairs, draft.ready
    assert shown == ("" if format == "conllu" else format, "", len(corpus), True)


LINE = '{"id": "%s", "source": ["%s"], "target": ["b"]}\n'
TWICE = {"x.jsonl": LINE % ("1", "a") + LINE % ("1", "c") + LINE % ("1-2", "a")}
UNEQUAL = {"news.en": EN, "news.de": DE + "more\n", "a.align.gz": gzip.compress(b"0-0\n0-0\n")}
OUTSIDE = {**NEWS, "auto.align": LINKS.replace("1-1", "1-7 9-9")}
BROKEN = {**NEWS, "auto.align": LINKS.replace("1?1", "1-x")}
LATIN = {"x.en": EN.replace("old", "ol\xe9").encode("latin-1"), "x.de": "\ufeff" + DE}


@pytest.mark.parametrize(
    ("files", "code", "text", "pairs", "names", "safe", "other"),
    [
        (
            OUTSIDE,
            "link-out-of-range",
            "2 links outside the sentence",
            [1],
            "Leave out, Stop",
            (True, 3),
            (False, 3),
        ),
        (
            TWICE,
            "repeated-pairs",
            "1 pair with the words",
            [1, 3],
            "Keep both, Keep first",
            (True, 3),
            (True, 2),
        ),
        (
            TWICE,
            "repeated-id",
            "1 pair with the id",
            [2],
            "Number them, Stop",
            (True, 3),
            (False, 3),
        ),
        (
            UNEQUAL,
            "unequal-counts",
            "news.en has 3 lines, news.de has 4 lines, a.align.gz has 2 lines",
            [],
            "Stop, Take the first 2",
            (False, 2),
            (True, 2),
        ),
        (
            BROKEN,
            "broken-record",
            "1 record cannot be read; auto.align, line 3: '1-x' is not a "
            "link; expected i-j, i?j, ipj, i-jS, i-jP or i-j-P",
            [],
            "Stop, Leave out",
            (False, 2),
            (True, 2),
        ),
        (LATIN, "encoding", "x.en is not UTF-8", [], "Stop, utf-8", (False, 0), (True, 3)),
    ],
)
def test_findings_have_choices_and_the_safe_one_is_chosen(
    read, files, code, text, pairs, names, safe, other
):
    draft = read(files)
    finding = read.findings[code]
    assert finding.text.startswith(text)
    assert ", ".join(each[1] for each in finding.choices[:2]) == names
    assert finding.pairs[: len(pairs)] == pairs or code == "broken-record"
    assert (finding.chosen, draft.ready, draft.pairs) == (finding.choices[0][0], *safe)
    value = "windows-1252" if code == "encoding" else finding.choices[1][0]
    draft = read(files, choices={code: value})
    assert (read.findings[code].chosen, draft.ready, draft.pairs) == (value, *other)
    if files is LATIN:  # a mark, too, is told, as in a file of Windows
        text = "Byte order mark (1); x.de, line 1: 1 in this line"
        assert (read.findings["byte-order-mark"].text, draft.findings[1].choices) == (text, [])
        assert read.pairs[0].source[1] == "ol\xe9"
    if files is TWICE:
        assert [pair.id for pair in read.pairs][:2] == ["1", "1-2-2"]


def test_a_suspicious_direction_or_base_can_be_turned(read):
    files = {"x.src": "a b c d e f g h\n" * 10, "x.tgt": "x y z\n" * 10}
    files["a.align"] = "0-4 1-6 2-7\n" * 10
    read(files)
    assert read.findings["suspicious-direction"].chosen == "keep"
    assert links(read.pairs, "a")[0] == ""
    draft = read(files, choices={"suspicious-direction": "turn"})
    assert draft.detected == "Pharaoh links, counted from 0, target first"
    assert links(read.pairs, "a")[0] == "4-0 6-1 7-2"
    files["a.align"] = "1-1 8-3 3-2\n" * 10
    draft = read(files, choices={"suspicious-base": "turn"})
    assert read.findings["suspicious-base"].choices[1][1] == "Count from 1"
    assert links(read.pairs, "a")[0] == "0-0 2-1 7-2"
    draft = read(files, options={"base": "1", "direction": "source"})
    assert (list(read.findings), draft.ready) == (["repeated-pairs"], True)


def test_wide_encodings_are_seen(read):
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        assert read({"x.en": EN.encode(encoding), "x.de": DE}).ready
        assert read.pairs[1].source == ("a", "b", "c")


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"x.en": EN}, "words of one side"),
        ({"a.align": LINKS}, "a.align has links alone"),
        ({"x.jsonl": JSONL, "x.en": EN, "x.de": DE}, "Remove x.en"),
        ({"x.jsonl": JSONL, "y.jsonl": JSONL}, "have pairs: x.jsonl, y.jsonl"),
        ({"x.en": EN, "x.txt": "a ||| b\n", "x.de": DE}, "Too many files"),
        ({}, "Add the files"),
    ],
)
def test_what_is_missing_or_too_much_is_said(read, files, problem):
    draft = read(files)
    assert (problem in draft.problem, draft.ready, draft.pairs) == (True, False, 0)
    assert read({"a.align": LINKS}, project="an import needs no words").ready


def test_documents_models_and_projects(read, tmp_path):
    texts = {"en/a.txt": "One. Two.", "fr/a.txt": "Un. Deux.", "en/b.txt": "x", "fr/b.md": "y"}
    draft = read({**texts, "en/c.txt": "alone"}, task="extract", options={"tokenizer": "wordpunct"})
    assert (draft.detected, draft.ready, draft.pairs) == ("2 pairs of documents", True, 2)
    assert "1 file has no counterpart" in read.findings["no-counterpart"].text
    assert read.pairs[0].source == ("One", ".", "Two", ".")
    assert read({"a.txt": "x y", "b.txt": "z"}, task="extract").pairs == 1
    assert read({"d.jsonl": '{"source": "x y", "target": "z"}\n'}, task="extract").ready
    Aligner.train([(["a"], ["b"])]).save(tmp_path / "m")
    draft = read({**NEWS, "my.model": (tmp_path / "m").read_bytes()})
    assert (draft.models, draft.ready) == (["my.model"], True)
    two_annotators(path := str(tmp_path / "p"), 3)
    for version in (3, 2, 1):
        run_sql(path, f"PRAGMA user_version={version}")
        draft = read({"old.alignkit": Path(path).read_bytes()})
        assert draft.detected == "A project of alignkit, task align, 2 annotators"
        assert (draft.annotators, draft.pairs, draft.ready) == (["anna", "ben"], 3, True)


def archive(kind, name="../x"):
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as packed:
            packed.writestr(name, '{"alignkit": "model", "version": 2, "arrays": {}}')
    else:
        with tarfile.open(fileobj=out, mode=kind) as packed:
            packed.addfile(tarfile.TarInfo(name))
    return out.getvalue()


ENTITIES = '<!DOCTYPE c [<!ENTITY a "&b;&b;">]><corpus xmlns="urn:alignkit:corpus:1">&a;'
HEADER = '{"alignkit": "corpus", "version": 1}\n'


def _numbers(count):
    return "".join(f"{k}-{k * 7919 % 100_003}\n" for k in range(count)).encode()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        *((archive(kind), "Archives are not opened") for kind in ("zip", "w:", "w:gz", "w:bz2")),
        (b"7z\xbc\xaf\x27\x1c" + bytes(90), "Archives are not opened"),
        (gzip.compress(b"0-0\n" * (1 << 20)), "more than 100 times"),
        (gzip.compress(_numbers(400_000)), "have more than"),
        (gzip.compress(LINKS.encode())[:-9], "cannot be unpacked"),
        (ENTITIES, "DOCTYPE"),
        (ENTITIES.encode("utf-16"), "DOCTYPE"),
        (archive("zip", "header.json"), "header"),
        (b"PK\x03\x04" + bytes(26) + b"header.json{", "model"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is not text"),
        (b"", "is empty"),
        (b"SQLite format 3\0" + bytes(100), "not an alignkit project"),
        ('[{"source": "a"}', "looks like jacana"),
        (HEADER + LINE.replace("source", "x") % ("1", "a"), "line 2: unknown key 'x'"),
    ],
    ids=map(str, count()),
)
def test_hostile_files_are_refused_by_name(read, monkeypatch, data, problem):
    monkeypatch.setattr("alignkit.annotate.lab.draft_reading.MOST", 2 << 20)
    draft = read({"bad": data})
    said = draft.files[0].problem or draft.problem
    assert problem in said
    assert "`" not in said
    assert (draft.ready, draft.pairs) == (False, 0)


@pytest.mark.parametrize("acting", ACTING)
def test_projects_that_act_are_refused(read, tmp_path, acting):
    two_annotators(path := str(tmp_path / "p"), 1)
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(acting)
    assert "made or changed" in read({"p": Path(path).read_bytes()}).problem


def test_forged_projects_end_in_a_problem_or_in_pairs(read, tmp_path, whole):  # noqa: F811
    rng = random.Random(3)
    for _ in range(repetitions(80)):
        forge(str(forged := Path(shutil.copy(whole, tmp_path))), rng)
        draft = read({"p.alignkit": forged.read_bytes()})
        assert draft.ready or draft.problem or draft.files[0].problem


@pytest.mark.parametrize("format", WRITTEN)
def test_damaged_files_of_each_format_end_in_a_problem_or_in_pairs(read, tmp_path, format):
    files = files_of(Corpus(list(read_corpus(PARAPHRASES))[:4]), format, tmp_path / "w")
    for name in list(files)[:2]:
        for data in damaged(files[name], 12 if FULL else 6):
            draft = read({**files, name: data}, project="p")
            said = draft.problem or any(file.problem for file in draft.files) or draft.findings
            assert draft.ready or said
