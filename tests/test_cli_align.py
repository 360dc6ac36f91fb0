"""The command align: inputs, outputs, models, streams, and what goes wrong."""

import gzip
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from command import FRENCH, GOLD, PARAPHRASES, Ran, feed, run, start, write
from format_files import damaged
from test_cli import posix

from alignkit import Alignment, read_corpus, score
from alignkit.align import SYMMETRIZATIONS, Aligner, numbered_texts
from alignkit.cli import align, main
from alignkit.io import opening
from alignkit.model.texts import tokenizer

pytestmark = pytest.mark.usefixtures("no_collection")  # some texts are nested deeply

FR, EN = str(FRENCH / "fr.txt"), str(FRENCH / "en.txt")
SOURCE = "das Haus\ndas Buch\nein Buch\nein Haus ist ein Haus\n"
TARGET = "the house\nthe book\na book\na house is a house\n"
RAW = 'They didn\'t say "no".\nHe left.\n', "They said neither (yes) nor no.\nHe went, it's said.\n"
PAIRS = [(("le", "chat"), ("the", "cat")), (("le", "chien"), ("the", "dog"))] * 3
GOOD = b"le chat ||| the cat\n"
MB = 1 << 20
BAD = {
    "no divider": (b"le chat the cat\n", "0 dividers ' ||| ', expected one"),
    "two dividers": (b"a ||| b ||| c\n", "2 dividers ' ||| ', expected one"),
    "not utf-8": (b"le ch\xffat ||| the cat\n", "column 6: not utf-8 (byte 0xff)"),
    "nul": (b"le ch\0at ||| the cat\n", "column 6: control character '\\x00'"),
    "escape": (b"\x1b[31m ||| the cat\n", "column 1: control character '\\x1b'"),
    "too long": (b"le ||| " + b"the " * MB + b"\n", "a line has more than 1 MB"),
    "too many words": (
        b"le " * 10_001 + b"||| the\n",
        "the source sentence has 10,001 words, more than 10,000",
    ),
}


@pytest.fixture
def texts(tmp_path):
    return [write(tmp_path, "s", SOURCE), write(tmp_path, "t", TARGET)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    path = str(folder / "m")
    assert main(["align", FR, EN, "-o", str(folder / "o"), "--save", path]) == 0
    return path


@pytest.fixture(scope="module")
def french(model):
    return (os.path.dirname(model) + os.sep + "o", model)


def made(capsys, *given):
    ran = run(capsys, "align", *given)
    assert ran.code == 0, ran.err
    return ran


def read(path):
    with open(path, "rb") as stream:
        return stream.read().decode()


def beside(text, other, divider=" ||| "):
    rows = zip(text.split("\n")[:-1], other.split("\n")[:-1], strict=True)
    return "".join(f"{one}{divider}{two}\n" for one, two in rows)


def test_two_texts_are_aligned(capsys, texts):
    ran = made(capsys, *texts)
    lines = ran.out.splitlines()
    assert (lines[:3], len(lines)) == (["0-0 1-1"] * 3, 4)
    assert "4 pairs of 11 x 11 words" in ran.err
    assert "log-likelihood" in ran.err


def test_every_kind_of_text_gives_the_same(capsys, monkeypatch, tmp_path, texts):
    expected = made(capsys, *texts).out
    bitext = write(tmp_path, "b", beside(SOURCE, TARGET))
    table = write(tmp_path, "v", beside(SOURCE, TARGET, "\t"))
    packed = [str(tmp_path / f"{k}.gz") for k in range(2)]
    for path, text in zip(packed, (SOURCE, TARGET), strict=True):
        with gzip.open(path, "wb") as stream:
            stream.write(text.encode())
    dressed = [
        write(tmp_path, "crlf", b"\xef\xbb\xbf" + SOURCE.replace("\n", " \r\n").encode()),
        write(tmp_path, "open", TARGET.rstrip("\n").replace(" ", "\t ")),
    ]
    tagged = [
        write(
            tmp_path,
            f"n{k}",
            "".join(
                f"<s snum={n}> {line} </s>\n" for n, line in enumerate(text.split("\n")[:-1], 1)
            ),
        )
        for k, text in enumerate((SOURCE, TARGET))
    ]
    wide = [
        write(tmp_path, f"w{k}", text.encode("utf-16")) for k, text in enumerate((SOURCE, TARGET))
    ]
    for given in (
        [bitext],
        [table],
        packed,
        dressed,
        tagged,
        [*wide, "--encoding", "utf-16"],
        [bitext, "--format", "bitext"],
        [table, "--format", "tsv"],
        [*texts, "--to-ids"],
    ):
        out = made(capsys, *given).out
        if "--to-ids" in given:
            assert out.startswith("1\t0-0")
            out = "".join(line.partition("\t")[2] + "\n" for line in out.splitlines())
        assert out == expected
    for given in (["-"], ["-", texts[1]], [texts[0], "-"]):
        feed(monkeypatch, read({1: bitext}.get(len(given), texts[given.index("-")])))
        assert made(capsys, *given).out == expected


def test_a_corpus_keeps_its_annotations(capsys, tmp_path):
    out = tmp_path / "o.jsonl"
    made(capsys, PARAPHRASES, "--to", "alignkit-jsonl", "--probs", "--sure", "0.9", "-o", out)
    corpus = read_corpus(out, format="alignkit-jsonl")
    assert corpus.annotators == ("eflomal", "anna", "ben", "gold", "alignkit")
    found = [pair.alignment("alignkit") for pair in corpus]
    assert any(alignment.sure != alignment.possible for alignment in found)
    assert all(set(one.weights) == one.possible for one in found)
    assert score(corpus, "alignkit", "gold").links.aer < 0.4
    run(capsys, "align", out, "--to", "alignkit-jsonl").failed("by 'alignkit'", "--annotator")
    assert made(capsys, PARAPHRASES, "--to-ids").out.startswith("p01\t")
    assert len(made(capsys, GOLD, "--source", FR, "--target", EN).out.splitlines()) == 52
    run(capsys, "align", GOLD, "--format", "pharaoh").failed(GOLD, "no words", "--source")


def test_lines_are_aligned_as_they_come(french):
    out, model = french
    pairs = beside(read(FR), read(EN)).splitlines(keepends=True)
    running = subprocess.Popen(
        [sys.executable, "-m", "alignkit", "align", "-", "--load", model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with running:
        for pair, expected in list(zip(pairs, read(out).splitlines(), strict=True))[:5]:
            running.stdin.write(pair)
            running.stdin.flush()
            assert running.stdout.readline() == expected + "\n"
        running.stdin.write("".join(pairs[5:]).rstrip("\n"))
        running.stdin.close()
        assert running.stdout.read().splitlines() == read(out).splitlines()[5:]
    assert running.returncode == 0


def test_a_saved_model_aligns_as_trained_whatever_the_blocks(capsys, monkeypatch, tmp_path, french):
    out, model = french
    for threads in ([], ["--threads", "1"]):
        assert made(capsys, FR, EN, *threads, "--load", model).out == read(out)
    bitext = write(tmp_path, "b", beside(read(FR), read(EN)))
    monkeypatch.setattr(numbered_texts, "_LINES", 7)
    monkeypatch.setattr(opening, "_CHUNK", 100)
    monkeypatch.setattr(align.steps, "_PAIRS", 5)
    assert made(capsys, FR, EN, "--load", model).out == read(out)
    assert made(capsys, bitext, "--load", model).out == read(out)
    assert made(capsys, GOLD, "--source", bitext, "--load", model).out == read(out)
    feed(monkeypatch, read(bitext))
    assert made(capsys, "-", "--load", model).out == read(out)
    short = write(tmp_path, "short", "a\n" * 30)
    run(capsys, "align", FR, short, "--load", model).failed("fr.txt: has 52", f"{short} has 30")
    run(capsys, "align", short, EN, "--load", model).failed("en.txt: has 52", f"{short} has 30")


def test_probabilities_thresholds_and_sure_links(capsys, french):
    _, model = french
    given = [FR, EN, "--load", model]
    lines = made(capsys, *given, "--probs", "--threshold", "0.2", "--sure", "0.8").out.splitlines()
    for line in lines:
        for token in line.split():
            link, weight = token.split(":")
            assert 0.2 <= float(weight) <= 1
            if abs(float(weight) - 0.8) > 1e-3:
                assert ("-" in link) == (float(weight) > 0.8)
    assert any("?" in line for line in lines)
    as_pairs = made(capsys, *given, "--probs", "--to", "naacl", "--threshold", "0.2").out
    assert sum(len(line.split()) for line in lines) == len(as_pairs.splitlines())
    weights = sorted(float(line.split()[-1]) for line in as_pairs.splitlines())
    assert weights == sorted(float(t.split(":")[1]) for line in lines for t in line.split())


@pytest.mark.parametrize("method", SYMMETRIZATIONS)
def test_each_symmetrization(capsys, french, method):
    aligner = Aligner.load(french[1])
    out = made(capsys, FR, EN, "--load", french[1], "--symmetrize", method).out.splitlines()
    first = read(FR).split("\n")[0].split(), read(EN).split("\n")[0].split()
    assert Alignment.parse(out[0]).possible == aligner.align(*first, symmetrize=method).possible


@pytest.mark.parametrize(
    "given",
    [
        ["--model", "ibm1"],
        ["--model", "ibm2", "--diagonal"],
        ["--inference", "em", "--no-agree", "--hmm", "1"],
        ["--inference", "vb", "--spelling", "0", "--identity", "2.5"],
    ],
)
def test_each_way_of_training(capsys, tmp_path, texts, given):
    out = tmp_path / "o"
    told = made(capsys, *texts, *given, "-o", out, "--json").json
    assert len(read(out).splitlines()) == 4
    assert told["rounds"][-1]["model"] == told["settings"]["model"]
    assert (told["pairs"], told["empty"], told["source_words"]) == (4, 0, 11)
    assert told["links"] == told["sure"] == len(read(out).split())
    assert set(told["seconds"]) == {"reading", "training", "aligning", "writing"}


def test_scores_and_lexicon(capsys, tmp_path, texts):
    scores, lexicon = tmp_path / "p", tmp_path / "l"
    made(capsys, *texts, "-o", tmp_path / "o", "--scores", scores, "--lexicon", lexicon)
    rows = [list(map(float, line.split("\t"))) for line in read(scores).splitlines()]
    assert len(rows) == 4
    assert all(forward < 0 and reverse < 0 for forward, reverse in rows)
    entries = [line.split("\t") for line in read(lexicon).splitlines()]
    assert ["haus", "house"] in [entry[:2] for entry in entries]
    assert all(0 <= float(p) <= 1.001 for entry in entries for p in entry[2:])


def test_case_is_kept_where_asked(capsys, tmp_path):
    given = [write(tmp_path, "a", "Das das\n" * 9), write(tmp_path, "b", "x y\n" * 9)]
    lexicons = []
    for extra in ([], ["--keep-case"]):
        path = tmp_path / "l"
        made(capsys, *given, *extra, "-o", tmp_path / "o", "--lexicon", path)
        lexicons.append({line.split("\t")[0] for line in read(path).splitlines()})
    assert lexicons == [{"das"}, {"Das", "das"}]


def test_a_dictionary_is_heeded(capsys, tmp_path):
    given = [write(tmp_path, "a", "p q\n" * 3), write(tmp_path, "b", "x y\n" * 3)]
    for entries in ("P\ty\t50\nq\tx\t50\n", "p\tx\nq\ty\n\nhot dog\tx\n"):
        ran = made(capsys, *given, "--dictionary", write(tmp_path, "d", entries))
        assert ran.out == ("0-1 1-0\n" if "50" in entries else "0-0 1-1\n") * 3
        assert ("1 entries with several words" in ran.err) == ("hot" in entries)
    for entries in ("p\n", "p\ty\tmany\n", "p\ty\t-1\n", "p\ty\tnan\n", "\ty\n", "a\tb\tc\td\n"):
        bad = write(tmp_path, "d", "p\ty\n" + entries)
        run(capsys, "align", *given, "--dictionary", bad).failed(f"{bad}:2: ")


def test_empty_lines_are_aligned_to_nothing(capsys, tmp_path):
    given = [write(tmp_path, "a", "x y\n\n \nz\n"), write(tmp_path, "b", "x y\nq\n\n\n")]
    ran = made(capsys, *given)
    assert ran.out == "0-0 1-1\n\n\n\n"
    assert "3 x pair with an empty" in ran.err
    assert made(capsys, write(tmp_path, "c", "a ||| b\n\n ||| \n")).out.count("\n") == 3


def test_long_lines_are_cut_and_told(capsys, tmp_path):
    words = " ".join(f"w{k % 50}" for k in range(3000))
    ran = made(capsys, *[write(tmp_path, name, f"a b\n{words}\n") for name in "st"])
    assert "1 x pair with more than 400" in ran.err
    assert len(ran.out.splitlines()[1].split()) > 2000


def test_words_are_divided_at_ascii_white_space_alone(capsys, tmp_path):
    given = [write(tmp_path, "a", "a\u00a0b \u3000 c\n"), write(tmp_path, "b", "x\n")]
    assert made(capsys, *given, "-o", tmp_path / "o", "--json").json["source_words"] == 3
    assert made(capsys, write(tmp_path, "e", "&quot; ||| &amp;quot;\n"), "--unescape").code == 0


def test_nothing_to_align(capsys, tmp_path, french):
    none, other = write(tmp_path, "a", ""), write(tmp_path, "b", "")
    for given in ([none, other], [none], [none, "--format", "multimwa"]):
        run(capsys, "align", *given, "-o", tmp_path / "o").failed(none, "no sentence pairs")
        ran = made(capsys, *given, "--load", french[1])
        assert ran.out == ""
        assert "no sentence pairs" in ran.err


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_unequal_counts_name_both_files(capsys, tmp_path, order):
    paths = [write(tmp_path, "three", "a\nb\nc"), write(tmp_path, "five", "a\nb\nc\nd\ne\n")]
    out = write(tmp_path, "out", "old\n")
    ran = run(capsys, "align", *(paths[k] for k in order), "-o", out)
    ran.failed(f"{paths[1]}: has 5 lines, but {paths[0]} has 3")
    assert read(out) == "old\n"
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "required: SRC"),
        (["S", "T", "U"], "unexpected argument"),
        (["-", "-"], "read once only"),
        (["S", "T", "--dictionary", "-", "--source", "-"], "leave out --source"),
        (["S", "S"], "given twice"),
        (["S"], "neither ' ||| ' nor a tab"),
        (["."], "no format fits"),
        (["S", "none"], "none: cannot be read"),
        (["none"], "none: cannot be read"),
        (["S", "T", "--format", "naacl"], "output, use --to"),
        (["S", "T", "--to", "bitext"], "unknown format 'bitext'"),
        (["S", "T", "--base", "1"], "--base is for reading"),
        (["B", "--transpose"], "--transpose is for reading"),
        (["S", "T", "--model", "ibm5"], "'ibm5'; did you mean"),
        (["S", "T", "--inference", "gibbs"], "unknown inference 'gibbs'"),
        (["S", "T", "--no-agree"], "needs agreement"),
        (["S", "T", "--null", "1"], "from 0 below 1"),
        (["S", "T", "--hmm", "-1"], "--hmm"),
        (["S", "T", "--spelling", "nan"], "a number, 0 or more"),
        (["S", "T", "--threads", "0"], "--threads"),
        (["S", "T", "--threshold", "2"], "from 0 to 1"),
        (["S", "T", "--threshold", "0.3", "--symmetrize", "union"], "needs --symmetrize posterior"),
        (["S", "T", "--sure", "0.3"], "use a --sure above that"),
        (["S", "T", "--symmetrize", "grow"], "--symmetrize"),
        (["S", "T", "--load", "m", "--model", "ibm1", "--keep-case"], "--model, --keep-case"),
        (["S", "T", "--load", "m", "--save", "n"], "leave out --save"),
        (["S", "T", "--load", "none"], "none"),
        (["S", "T", "--load", "-"], "--load needs the name"),
        (["S", "T", "--load", "S"], "s"),
        (["S", "T", "--json"], "write links to a file"),
        (["S", "T", "--save", "-"], "name of a file"),
        (["S", "T", "--scores", "-"], "different files"),
        (["S", "T", "-o", "x", "--save", "./x"], "different files"),
        (["S", "T", "-o", "no/such/o"], "no/such/o"),
        (["S", "T", "-o", "o", "--save", "no/m"], "no folder no"),
        (["S", "T", "--to-ids", "--to", "naacl"], "--to-ids only works with"),
        (["S", "T", "--dictionary", "none"], "none: cannot be read"),
        (["S", "T", "--encoding", "nonsense"], "nonsense"),
        (["S", "T", "--probabilities"], "did you mean --probs?"),
    ],
)
def test_a_wrong_call_is_told_and_writes_nothing(capsys, monkeypatch, tmp_path, given, told):
    monkeypatch.chdir(tmp_path)
    names = {"S": write(tmp_path, "s", SOURCE), "T": write(tmp_path, "t", TARGET)}
    names["B"] = write(tmp_path, "b", beside(SOURCE, TARGET))
    run(capsys, "align", *(names.get(word, word) for word in given)).failed(told)
    assert sorted(os.listdir(tmp_path)) == ["b", "s", "t"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a ||| b\nc d\n", ":2: 0 dividers"),
        ("\na ||| b ||| c\n", ":2: 2 dividers"),
        ("a\tb\n1\ta\tb\n", ":2: 3 columns"),
        (b"a ||| b\nc \xff ||| d\n", ":2:3: not utf-8"),
    ],
)
def test_a_broken_line_is_named(capsys, tmp_path, french, text, told):
    path = write(tmp_path, "x", text)
    for extra in ([], ["--load", french[1]]):
        run(capsys, "align", path, *extra, "-o", tmp_path / "o").failed(f"{path}{told}")
    assert not (tmp_path / "o").exists()


def test_packed_garbage_names_its_own_file(capsys, tmp_path, french):
    whole = write(tmp_path, "a", "a\nb\n" * 500)
    cut = write(tmp_path, "cut.gz", gzip.compress(b"x\n" * 1000)[:-20])
    for paths in ([whole, cut], [cut, whole]):
        for extra in ([], ["--load", french[1]]):
            run(capsys, "align", *paths, *extra).failed("cut.gz: cannot be unpacked")


def test_garbage_is_aligned_or_told(capsys, tmp_path, french):
    whole = "".join(f"mot {k} ||| word {k}\n" for k in range(8)).encode()
    noise = [random.Random(1).randbytes(500), b"\0" * 99, b"\t" * 50, b"|||" * 50]
    for content in [*damaged(whole, 30), *noise]:
        path = write(tmp_path, "bad", content)
        for given in ([path], [path, path + "2"]):
            write(tmp_path, "bad2", content)
            ran = run(capsys, "align", *given, "--load", french[1])
            if ran.code:
                ran.failed(path)
            else:
                assert ran.out.count("\n") == (content.count(b"\n") + (not content.endswith(b"\n")))


def test_training_on_what_is_written_over(capsys, tmp_path, texts):
    expected = made(capsys, *texts).out
    made(capsys, *texts, "-o", texts[0])
    assert read(texts[0]) == expected


@posix
def test_an_interruption_leaves_no_half_file(tmp_path, french):
    pipe = tmp_path / "endless"
    os.mkfifo(pipe)
    outputs = "-o", tmp_path / "o", "--scores", tmp_path / "p"
    running = start("align", pipe, "--load", french[1], *outputs)
    with open(pipe, "w", encoding="utf-8") as feeding:
        feeding.write("oui ||| yes\n" * 40_000)
        feeding.flush()
        while len(list(tmp_path.glob(".*.part"))) < 2:
            assert running.poll() is None
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err.endswith("no file was changed\n")
    assert os.listdir(tmp_path) == ["endless"]


NOT_FOR_PLAIN_TEXTS = {
    "alignkit._support.options",
    "alignkit.align.encoder",
    "alignkit.align.evidence",
    "alignkit.align.known_words",
    "alignkit.align.vectors",
    "alignkit.io.bitext_lines",
    "alignkit.io.detection",
    "alignkit.io.format",
    "alignkit.io.odd_characters",
    "alignkit.io.reading",
    "alignkit.io.records",
    "alignkit.io.sniffing",
    "alignkit.io.tagged_words",
    "alignkit.model.annotation",
    "alignkit.model.corpus",
    "alignkit.model.labels",
    "alignkit.model.phrase_kernel",
    "alignkit.model.sentence_pair",
    "alignkit.model.symmetrization",
    "alignkit.tables",
}
"""What a start would take time for, and two texts without other options have no use for."""


def test_nothing_heavy_is_loaded_for_plain_texts(tmp_path):
    code = (
        "import sys; from alignkit.cli import main; code = main(); "
        "print(code, *sorted(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "align", FR, EN, "-o", tmp_path / "o"],
        capture_output=True,
        text=True,
        check=True,
    )
    code, *loaded = ran.stdout.split()
    assert code == "0"
    assert not {"scipy.linalg", "lxml", "networkx", "nltk", "pandas"} & set(loaded)
    assert not NOT_FOR_PLAIN_TEXTS & set(loaded)


def test_texts_are_divided_into_words_by_nltk(capsys, tmp_path):
    from nltk import __version__

    files = [write(tmp_path, name, text) for name, text in zip("st", RAW, strict=True)]
    out = tmp_path / "out.jsonl"
    given = ["align", *files, "--model", "ibm1", "--to", "alignkit-jsonl", "-o", out]
    assert run(capsys, *given, "--tokenize", "--json").json["tokenizer"] == "treebank"
    pair, other = read_corpus(out, format="alignkit-jsonl")
    assert pair.source == ("They", "did", "n't", "say", '"', "no", '"', ".")
    assert other.target == ("He", "went", ",", "it", "'s", "said", ".")
    assert pair.attributes == {"tokenizer": f"treebank (nltk {__version__})"}
    run(capsys, *given, "--tokenize", "wordpunct")
    pair, _ = read_corpus(out, format="alignkit-jsonl")
    assert pair.source == ("They", "didn", "'", "t", "say", '"', "no", '".')
    assert pair.attributes == {"tokenizer": f"wordpunct (nltk {__version__})"}
    assert run(capsys, *given, "--json").json["tokenizer"] is None
    pair, _ = read_corpus(out, format="alignkit-jsonl")
    assert (pair.source[-1], pair.attributes) == ('"no".', {})


def test_divided_texts_are_aligned_as_if_they_had_come_so(capsys, tmp_path, monkeypatch):
    divide = tokenizer("treebank")
    raw = [write(tmp_path, name, text) for name, text in zip("st", RAW, strict=True)]
    cut = [
        write(
            tmp_path,
            f"{name}.cut",
            "".join(" ".join(divide(line)) + "\n" for line in text.splitlines()),
        )
        for name, text in zip("st", RAW, strict=True)
    ]
    whole = ["--model", "ibm1", "--save", tmp_path / "model"]
    plain = run(capsys, "align", *cut, *whole).out
    ran = run(capsys, "align", *raw, *whole, "--tokenize")
    assert ran.out == plain
    assert "--tokenize made the words" in ran.err
    both = "".join(f"{s}\t{t}\n" for s, t in zip(*(text.splitlines() for text in RAW), strict=True))
    feed(monkeypatch, both)
    assert run(capsys, "align", "-", "--load", tmp_path / "model", "--tokenize").out == plain
    paths = [
        write(tmp_path, f"{name}.amp", text.replace('"', "&quot;"))
        for name, text in zip("st", RAW, strict=True)
    ]
    assert run(capsys, "align", *paths, "--tokenize", "--unescape", "--model", "ibm1").out == plain


def test_a_tokenizer_that_cannot_be_is_told(capsys, texts, tmp_path):
    run(capsys, "align", *texts, "--tokenize", "punkt").failed(
        "unknown tokenizer 'punkt'", "known: treebank, wordpunct"
    )
    run(capsys, "align", "--tokenize", *texts).failed("after the files")
    told = "is already divided into words: leave out --tokenize"
    run(capsys, "align", PARAPHRASES, "--tokenize").failed(told)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    Aligner.train(PAIRS).save(path)
    return str(path)


def answered(capsys, monkeypatch, raw, *given) -> Ran:
    feed(monkeypatch, raw)
    return run(capsys, "align", "-", "--max-size", 1, *given)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_answered_by_an_empty_one(capsys, monkeypatch, small, name):
    line, told = BAD[name]
    good = answered(capsys, monkeypatch, GOOD, "--load", small)
    assert (good.code, good.out) == (0, "0-0 1-1\n")
    ran = answered(capsys, monkeypatch, GOOD + line + b"\n" + GOOD + line, "--load", small)
    assert (ran.code, ran.out) == (1, "0-0 1-1\n\n\n0-0 1-1\n\n")
    first, second, *rest = ran.err.splitlines()
    assert first.startswith(f"# line 2: {told}")
    assert second.startswith(f"# line 5: {told}")
    assert rest == [
        "alignkit: -: 2 x bad line; the output has an empty line for it",
        "alignkit: -: 1 x pair with an empty side, without links",
    ]
    assert "\x1b" not in ran.err


def test_a_first_line_without_a_divider_decides_nothing(capsys, monkeypatch, small):
    raw = b"\nle chat\n" + GOOD.replace(b" ||| ", b"\t") * 2
    ran = answered(capsys, monkeypatch, raw, "--load", small)
    assert (ran.code, ran.out) == (1, "\n\n0-0 1-1\n0-0 1-1\n")
    assert "# line 2: neither ' ||| ' nor a tab" in ran.err
    feed(monkeypatch, raw)
    run(capsys, "align", "-").failed("-:2: neither ' ||| ' nor a tab")  # in training it is an error


@pytest.mark.parametrize("more", [["--to", "alignkit-jsonl"], ["--scores", "s"], ["--probs"]])
def test_every_output_has_an_answer_for_each_line(capsys, monkeypatch, tmp_path, small, more):
    monkeypatch.chdir(tmp_path)
    ran = answered(capsys, monkeypatch, GOOD + b"bad\n" + GOOD, "--load", small, *more)
    assert (ran.code, len(ran.out.splitlines())) == (1, 3 + ("--to" in more))
    if "--scores" in more:
        assert len((tmp_path / "s").read_text().splitlines()) == 3
