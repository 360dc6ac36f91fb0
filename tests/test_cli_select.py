"""The commands concat and select put corpora together and divide them."""

import json
from pathlib import Path

import pytest
from command import EFLOMAL, GOLD, PARAPHRASES, TEXTS, feed, made, run, write
from test_cli_outputs import files
from test_split import DOCUMENTS, corpus_of

import alignkit as ak

PARTS = ("--split", "train=.8", "dev=.1,test=.1")


def read(path):
    return ak.read_corpus(path, format="alignkit-jsonl")


@pytest.fixture
def documents(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "all.jsonl"
    ak.write_corpus(corpus_of(DOCUMENTS), path, format="alignkit-jsonl")
    return path


def test_a_corpus_is_split_without_cutting_documents(capsys, documents):
    words = ["select", documents, *PARTS, "--keep-together", "document", "-o", "out.jsonl"]
    ran = run(capsys, *words)
    assert (ran.code, ran.out) == (0, "")
    parts = {name: read(f"out-{name}.jsonl") for name in ("train", "dev", "test")}
    assert [len(part) for part in parts.values()] == [800, 100, 100]
    homes = [set(part.groups("document")) for part in parts.values()]
    assert sum(map(len, homes)) == len(set().union(*homes)) == 17
    assert not Path("out.jsonl").exists()
    assert "out-dev.jsonl: 100 of 1000 pairs, a share of 10.0% (10.0% requested)" in ran.err
    assert f", {len(homes[1])} groups" in ran.err
    before = files(Path())
    assert (run(capsys, *words).code, files(Path())) == (0, before)
    assert run(capsys, *words, "--seed", 2).code == 0
    assert files(Path()) != before


def test_json_tells_what_was_written(capsys, documents):
    words = ["--stratify", "document", "--json", "-o", "o.xml"]
    ran = run(capsys, "select", documents, *PARTS, *words)
    assert ran.err == ""
    assert (ran.json["read"], ran.json["chosen"], ran.json["seed"]) == (1000, 1000, 12345)
    dev = {"part": "dev", "path": "o-dev.xml", "pairs": 100, "share": 0.1, "asked": 0.1}
    assert ran.json["parts"][1] == dev
    assert Path("o-dev.xml").read_text(encoding="utf-8").startswith("<?xml")


def test_pairs_are_selected_by_id(capsys, tmp_path, monkeypatch):
    ran = run(capsys, "select", PARAPHRASES, "--ids", "p17", "p05", "-o", "-")
    lines = [line for line in ran.out.splitlines() if '"id"' in line]
    assert [json.loads(line)["id"] for line in lines] == ["p05", "p17"]
    assert ran.err == "alignkit: -: 2 of 64 pairs\n"
    ids, out = write(tmp_path, "ids.txt", "p17\n\np60 \n"), tmp_path / "out.jsonl"
    run(capsys, "select", PARAPHRASES, "--ids-from", ids, "--ids", "p01", "-o", out)
    assert read(out).ids == ("p01", "p17", "p60")
    feed(monkeypatch, "p03\n")
    run(capsys, "select", PARAPHRASES, "--ids-from", "-", "-o", out)
    assert read(out).ids == ("p03",)
    run(capsys, "select", PARAPHRASES, "--ids", "p6", "-o", out).failed("'p6'; did you mean 'p6")
    assert read(out).ids == ("p03",)


@pytest.mark.parametrize("out", ["./out.jsonl", ".//x.y/out.jsonl.gz"])
def test_parts_are_named_after_any_spelling_of_the_output(capsys, documents, out):
    Path("x.y").mkdir()
    assert run(capsys, "select", documents, "--split", "a=.5,b=.5", "-o", out).code == 0
    for part in "ab":
        assert Path(out.replace("out", f"out-{part}")).is_file()


def test_pairs_are_selected_by_who_aligned_them(capsys, tmp_path):
    links = {"anna": ["0-0", None, "", "0-0"], "ben": ["0-0", "0-0", "", None]}
    corpus = ak.Corpus.from_texts(["a"] * 4, ["b"] * 4, **links)
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    ak.write_corpus(corpus, path, format="alignkit-jsonl")
    run(capsys, "select", path, "--annotated-by", "anna", "ben", "-o", out)
    assert read(out).ids == ("1", "3")
    run(capsys, "select", path, "--annotated-by", "anna", "--share", "1", "-o", out)
    assert read(out).ids == ("1", "3", "4")
    told = "unknown annotator 'bea'; did you mean 'ben'"
    run(capsys, "select", path, "--annotated-by", "bea", "-o", out).failed(told)


def test_a_share_is_drawn(capsys, documents):
    drawn = []
    for seed in (1, 1, 2):
        run(capsys, "select", documents, "--share", "10%", "--seed", seed, "-o", "out.jsonl")
        drawn.append(read("out.jsonl").ids)
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 100


def test_pairs_without_the_attribute_are_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = [
        ak.SentencePair(str(k), ["a"], ["b"], {}, {"film": "x"} if k < 5 else {}) for k in range(10)
    ]
    ak.write_corpus(ak.Corpus(pairs), "in.jsonl", format="alignkit-jsonl")
    words = ["--share", ".5", "--keep-together", "film", "-o", "out.jsonl"]
    ran = run(capsys, "select", "in.jsonl", *words)
    assert "5 x pair without film" in ran.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "add --ids, --annotated-by"),
        (["--seed", "3"], "--seed is for pairs"),
        (["--ids", "1", "--stratify", "document"], "--stratify is for pairs"),
        (["--share", ".1", "--split", "a=.1"], "one of them out"),
        (["--share", "x"], "10%, not 'x'"),
        (["--share", "7"], "did you mean 7%?"),
        (["--ids", "1,2"], "put spaces between ids"),
        (["--split", "train=80,dev=20"], "not 80; did you mean 80%"),
        (["--split", "train"], "e.g. train=.8"),
        (["--split", "a=.1,a=.2"], "'a' occurs twice"),
        (["--split", "../a=.1"], "expected names and shares"),
        (["--share", ".1", "--to", "pharo"], "did you mean 'pharaoh'"),
        (["--share", ".1", "--json", "-o", "-"], "--json prints on"),
        (["--split", "a=.1", "-o", "-"], "name OUT"),
        (["--split", "x=.1", "-o", "all.jsonl"], "all-x.jsonl would be"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_written(capsys, documents, given, told):
    source = documents.rename("all-x.jsonl") if "x=.1" in given else "all.jsonl"
    before = files(Path())
    out = [] if "-o" in given else ["-o", "out.jsonl"]
    run(capsys, "select", source, *given, *out).failed(told)
    assert files(Path()) == before


def test_several_annotators_are_not_lost_and_corpora_of_a_plain_format_stay_in_it(capsys, tmp_path):
    words = ["select", PARAPHRASES, "--share", ".1", "--to", "pharaoh", "-o", tmp_path / "x.align"]
    run(capsys, *words).failed("alignments of one annotator", "eflomal, anna, ben, gold")
    out = tmp_path / "out.align"
    assert run(capsys, "concat", GOLD, EFLOMAL, "--prefix", "--to", "pharaoh", "-o", out).code == 0
    assert out.read_text() == Path(GOLD).read_text(encoding="utf-8") + Path(EFLOMAL).read_text(
        encoding="utf-8"
    )


def test_corpora_are_put_together(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(capsys, "convert", GOLD, "gold.jsonl", "--to", "alignkit-jsonl", *TEXTS)
    ran = run(capsys, "concat", PARAPHRASES, "gold.jsonl", "-o", "both.jsonl", "--json")
    assert ran.json == {
        "output": "both.jsonl",
        "format": "alignkit-jsonl",
        "pairs": 116,
        "annotators": ["eflomal", "anna", "ben", "gold", "alignment"],
        "inputs": [{"path": PARAPHRASES, "pairs": 64}, {"path": "gold.jsonl", "pairs": 52}],
    }
    assert read("both.jsonl") == read(PARAPHRASES) + read("gold.jsonl")
    ran = run(capsys, "concat", "both.jsonl", "gold.jsonl", "-o", "more.jsonl")
    ran.failed("'1' is in both.jsonl and in gold.jsonl, as are 51", "prefix")
    assert not Path("more.jsonl").exists()
    run(capsys, "concat", "both.jsonl", "gold.jsonl", "--prefix", "-o", "more.xml")
    more = ak.read_corpus("more.xml", format="alignkit-xml")
    assert (more.ids[0], more.ids[-1], len(more)) == ("both/p01", "gold/52", 168)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-", "-", "-o", "x"], "read once only"),
        ([GOLD, GOLD, "-o", "x"], "is given twice"),
        ([GOLD, "mine", "-o", "mine"], "mine would be replaced"),
        ([GOLD, "--json", "-o", "-"], "--json prints on"),
    ],
)
def test_a_wrong_concat_is_told(capsys, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "mine", "0-0\n")
    run(capsys, "concat", *words).failed(told)
    assert list(files(tmp_path)) == ["mine"]


def test_what_is_read_is_never_replaced_by_a_part_of_it(capsys, documents):
    before = documents.read_bytes()
    for words in (("--share", ".5"), ("--ids", "1"), ("--annotated-by", "gold")):
        ran = run(capsys, "select", documents, *words, "-o", documents)
        ran.failed("all.jsonl would be replaced")
    ids = write(documents.parent, "out-dev.txt", "1\n2\n")
    words = ("--ids-from", ids, "--split", "train=.5,dev=.5", "-o", "out.txt")
    run(capsys, "select", documents, *words).failed("would be replaced", "--ids-from")
    assert (Path(ids).read_text(encoding="utf-8"), documents.read_bytes()) == ("1\n2\n", before)


def test_a_part_is_written_in_the_format_of_what_is_read(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    endings = {"align": "pharaoh", "xml": "alignkit-xml", "jsonl": "alignkit-jsonl"}
    for ending, format in endings.items():
        assert run(capsys, "select", GOLD, "--share", ".5", "-o", f"half.{ending}").code == 0
        assert len(ak.read_corpus(f"half.{ending}", format=format)) == 26


def test_a_part_without_pairs_is_told(capsys, documents):
    ran = made(capsys, "select", documents, "--share", ".0001", "-o", "out.jsonl")
    assert "warning: no pairs" in ran.err


def test_prefixes_tell_files_of_one_name_apart(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("bg", "da"):
        Path(folder).mkdir()
        ak.write_corpus(corpus_of(DOCUMENTS)[:2], f"{folder}/dev.jsonl", format="alignkit-jsonl")
    files = ("bg/dev.jsonl", "da/dev.jsonl")
    assert run(capsys, "concat", *files, "--prefix", "-o", "all.jsonl").code == 0
    assert [x.rpartition("/")[0] for x in read("all.jsonl").ids] == ["bg/dev"] * 2 + ["da/dev"] * 2


def test_groups_on_two_sides_are_told(capsys, tmp_path):
    row = {"label": "3", "txt2": "b"}
    rows = [{**row, "txt1": f"a{k}", "goeswith": f"f{k // 4}"} for k in range(40)]
    path = write(tmp_path, "x.json", json.dumps(rows))
    words = ["select", path, "--split", "train=.5,test=.5", "-o", tmp_path / "o.jsonl"]
    ran = run(capsys, *words)
    assert "caution: " in ran.err
    assert "--keep-together goeswith" in ran.err
    assert "caution" not in run(capsys, *words, "--keep-together", "goeswith").err
    assert "caution" not in run(capsys, *words[:2], "--share", ".5", "-o", tmp_path / "p.jsonl").err
    for k, row in enumerate(rows):
        del row["goeswith"]
        row["rewrites"] = [[f"c{k}", "d"]]
    write(tmp_path, "x.json", json.dumps(rows))
    ran = run(capsys, *words)
    assert "--keep-together rewrite_of" in ran.err
    assert "caution" not in run(capsys, *words, "--keep-together", "rewrite_of").err
