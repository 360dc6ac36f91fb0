"""Test the formats of tab-separated columns: GoldAlign, MultiMWA, XL-WA."""

import pytest
from format_files import comes_back, read, refused, text
from refusals import refuses

from alignkit import Alignment, Annotation, Corpus, SentencePair
from alignkit.errors import FormatError, OptionError
from alignkit.io import find_format, read_corpus, write_corpus
from alignkit.io.atomic_files import WriteError

# GoldAlign

SECOND = "users/u2/complete/vpd/batch_0.tsv"
ROWS = {
    "datasets/vpd/batch_0.tsv": [
        "1\ta b\tx.html\tc d\ty.html\t1\t1\t0-0 1-1 \t \t ",
        "1\ta\t\tb\t\t0\t0\t \t \t ",
    ],
    "users/u1/complete/vpd/batch_0.tsv": [
        "1\ta b\tx.html\tc d\ty.html\t1\t0\t0-0\t1-1\t odd tokens",
        "1\ta\t\tb\t\t0\t1\t\t\t",
    ],
    "users/u1/complete/vpd/batch_10.tsv": ["9\ta\t\tb\t\t0\t1\t0-0\t\t"],
    SECOND: ["1\ta b\tx.html\tc d\ty.html\t1\t1\t0-0\t\t", "1\ta\t\tb\t\t0\t0\t0-0\t\t"],
    "users/u2/incomplete/vpd/batch_10.tsv": ["9\ta\t\tb\t\t0\t1\t0-0\t\t"],
    "users/arbit/u1_u2/complete/vpd/batch_0.tsv": [
        "1\ta b\tx.html\tc d\ty.html\t1\t1\t0-0\t1-1\t",
        "1\ta\t\tb\t\t0\t0\t\t0-0\t",
    ],
}


def folder(tmp_path, changes=None):
    for name, rows in (ROWS | (changes or {})).items():
        text(tmp_path, "\n".join(rows), f"x/{name}")
    return tmp_path / "x"


def test_goldalign_reads_users_the_start_and_what_was_settled(tmp_path):
    corpus, counts = read(folder(tmp_path), "goldalign")
    assert corpus.ids == ("batch_0:1", "batch_0:2", "batch_10:1")
    assert corpus.annotators == ("initial", "u1", "u2", "arbit")
    first, second, last = corpus
    said = Annotation(Alignment.parse("0-0 1?1"), "odd tokens", judgment="0")
    assert first.annotation("u1") == said
    assert second.annotation("initial") == Annotation(Alignment(), judgment="0", role="initial")
    assert str(second.alignment("arbit")) == "0?0"
    assert list(last.annotations) == ["u1"]
    assert dict(first.attributes) == {
        **{"pairwise-id": "1", "source-link": "x.html", "target-link": "y.html"},
        **{"corpus-judgment": "1", "corpus": "vpd", "document": "batch_0"},
    }
    assert counts == {"unfinished batch": 1}


def test_goldalign_folder_comes_back_and_reads_from_above_too(tmp_path):
    corpus = read_corpus(folder(tmp_path), format="goldalign")
    assert not write_corpus(corpus, tmp_path / "top" / "data", format="goldalign")
    assert read_corpus(tmp_path / "top", format="goldalign") == corpus
    assert not write_corpus(corpus, tmp_path / "top" / "data", format="goldalign")
    name = "users/arbit/u1_u2/complete/vpd/batch_0.tsv"
    assert (tmp_path / "top/data" / name).read_text() == "".join(f"{row}\n" for row in ROWS[name])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1\ta x\tx.html\tc d\ty.html\t1\t1\t\t\t", "the source differs"),
        ("2\ta b\tx.html\tc d\ty.html\t1\t1\t\t\t", "the id differs"),
        ("1\ta b\tx.html\tc d\ty.html\t1\t1\t\t", "9 tab-separated columns; expected 10"),
        ("1\ta b\tx.html\tc d\ty.html\t1\t1\t0-2\t\t", "0-2 lies outside"),
        ("", "1 tab-separated columns"),
    ],
)
def test_goldalign_errors_name_both_files(tmp_path, row, message):
    path = folder(tmp_path, {SECOND: [row, ROWS[SECOND][1]]})
    with pytest.raises(FormatError) as caught:
        read_corpus(path, format="goldalign")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path / SECOND}:1:")
    if "differs" in message:
        assert f"{path / 'datasets/vpd/batch_0.tsv'}:1" in str(caught.value)


def test_goldalign_missing_line_is_an_error_and_another_link_or_corpus_judgment_noted(tmp_path):
    row = "1\ta b\tz.html\tc d\ty.html\t0\t1\t0-0\t\t"
    _, counts = read(folder(tmp_path, {SECOND: [row, ROWS[SECOND][1]]}), "goldalign")
    assert counts["column differs"] == 2
    path = folder(tmp_path, {SECOND: ROWS[SECOND][:1]})
    told = r"batch_0.tsv:2: missing line; .* has one"
    refuses(FormatError, told, read_corpus, path, format="goldalign")


def test_goldalign_several_corpora_and_settled_pairs_keep_apart(tmp_path):
    names = "datasets/other/batch_0.tsv", "users/arbit/u1_u3/complete/other/batch_0.tsv"
    changes = {name: ["9\ta\t\tb\t\t0\t1\t0-0\t\t"] for name in names}
    corpus = read_corpus(folder(tmp_path, changes), format="goldalign")
    assert corpus.ids == ("other/batch_0:1", "vpd/batch_0:1", "vpd/batch_0:2", "vpd/batch_10:1")
    assert corpus.annotators == ("initial", "arbit/u1_u3", "u1", "u2", "arbit/u1_u2")
    write_corpus(corpus, tmp_path / "again", format="goldalign")
    assert read_corpus(tmp_path / "again", format="goldalign") == corpus


def test_goldalign_single_batch_reads_and_writes_alone(tmp_path):
    path = folder(tmp_path) / "users/u1/complete/vpd/batch_0.tsv"
    corpus = read_corpus(path, format="goldalign", name="u1")
    assert (corpus.ids, corpus.annotators) == (("batch_0:1", "batch_0:2"), ("u1",))
    write_corpus(corpus, tmp_path / "batch_0.tsv", format="goldalign")
    assert read_corpus(tmp_path / "batch_0.tsv", format="goldalign", name="u1") == corpus


def test_goldalign_never_mixes_with_what_is_there(tmp_path):
    path = folder(tmp_path)
    before, pairs = sorted(path.rglob("*")), [SentencePair("1", ["a"], ["b"])]
    refuses(WriteError, "already exists", write_corpus, pairs, path, format="goldalign")
    assert sorted(path.rglob("*")) == before


@pytest.mark.parametrize("name", ["../../x", ".", "", "a/b", "arbit/../x"])
def test_goldalign_names_stay_within_the_folder(tmp_path, name):
    for annotator, attributes in ((name, {}), ("x", {"document": "../" + name})):
        pairs = [SentencePair("1", ["a"], ["b"], {annotator: Alignment()}, attributes)]
        out, told = tmp_path / "out", "cannot be a file name"
        refuses(OptionError, told, write_corpus, pairs, out, format="goldalign")


def test_ids_that_become_numbers_are_counted(tmp_path):
    pairs = [SentencePair(id, ["a"], ["b"], {"x": Alignment()}) for id in ("batch_0000:1", "7")]
    assert write_corpus(pairs, tmp_path / "out", format="goldalign") == {"ids": 1}
    assert write_corpus(pairs, tmp_path / "out.tsv", format="xlwa") == {"ids": 2}


def test_goldalign_folder_without_batches_is_refused(tmp_path):
    (tmp_path / "x").mkdir()
    refused(tmp_path / "x", "goldalign", "has no datasets")


# MultiMWA and XL-WA


def test_multimwa_reads_ten_and_eleven_columns_with_unsorted_links(tmp_path):
    rows = [
        "0:0\ta b c\tN/A\td e\tN/A\t1\t1\t2-1 0-0\t1-1\t\t ",
        "1:1\ta\tN/A\tb\tN/A\t1\t0\t\t\t ",
        "2:2\ta\tN/A\tb\tN/A\t1\t1\t0-0\t\tcomment\tmore",
    ]
    corpus, counts = read(text(tmp_path, "\n".join(rows)), "multimwa")
    assert corpus.ids == ("0:0", "1:1", "2:2")
    assert str(corpus[0].alignment("alignment")) == "0-0 1?1 2-1"
    assert corpus[1].annotation("alignment") == Annotation(Alignment(), judgment="0")
    assert corpus[2].annotation("alignment").comment == "comment"
    kept = {"corpus-judgment": "1"}
    assert dict(corpus[0].attributes) == kept
    assert dict(corpus[2].attributes) == kept | {"column-11": "more"}
    assert not counts
    assert not write_corpus(corpus, tmp_path / "again", format="multimwa")
    assert read_corpus(tmp_path / "again", format="multimwa") == corpus
    again = (tmp_path / "again").read_text().splitlines()
    assert again[0] == "0:0\ta b c\tN/A\td e\tN/A\t1\t1\t0-0 2-1\t1-1\t"
    assert [line.count("\t") for line in again] == [9, 9, 10]


def test_multimwa_is_told_from_goldalign_whatever_is_in_the_columns_of_context(tmp_path):
    words = {"source": ["a"], "target": ["b"], "annotations": {"alignment": Alignment([(0, 0)])}}
    context = {"source-link": "0-0", "corpus-judgment": "1"}
    pairs = Corpus([SentencePair("1", **words), SentencePair("2", attributes=context, **words)])
    for corpus in (pairs, pairs[:1], pairs[1:]):
        assert not write_corpus(corpus, tmp_path / "x", format="multimwa")
        assert (find_format(tmp_path / "x"), read_corpus(tmp_path / "x")) == ("multimwa", corpus)


@pytest.mark.parametrize("format", ["goldalign", "multimwa", "xlwa"])
def test_words_that_are_unusual_spaces_stay_words(tmp_path, format):
    words = ["a", "\u3000", "b\u00a0c", "\u2028", "\x85"]
    pair = SentencePair("x:1", words, words[::-1], {"alignment": Alignment.parse("0-4 4-0 1-3")})
    write_corpus([pair], tmp_path / "x.tsv", format=format)
    (back,) = read_corpus(tmp_path / "x.tsv", format=format)
    assert (back.words, back.annotations) == (pair.words, pair.annotations)


def test_columns_count_what_they_cannot_hold(tmp_path):
    said = Annotation(Alignment.parse("0-0"), comment="one\ttwo\n three")
    pair = SentencePair("1", ["a"], ["b"], {"x": said}, {"genre": "news"})
    lost = write_corpus([pair], tmp_path / "x", format="multimwa")
    assert lost == {"attribute genre": 1, "white space in texts": 1}
    back = read_corpus(tmp_path / "x", format="multimwa")[0]
    assert back.annotation("alignment").comment == "one two three"


@pytest.mark.parametrize(
    ("format", "row", "message"),
    [
        ("multimwa", "0:0\ta\t\tb\t\t1\t1\t0-0\t\t\t\t", "12 tab-separated columns; expected 10"),
        ("multimwa", "0:0\ta\t\tb\t\t1\t1\t0-0 1-0\t\t", "1-0 lies outside"),
        ("xlwa", "a\tb", "2 tab-separated columns; expected 3"),
        ("xlwa", "", "1 tab-separated columns"),
        ("xlwa", "a\tb\t0-0\t\tc\t", "5 tab-separated columns; expected 3"),
        ("xlwa", "a\tb\t0-1", "0-1 lies outside"),
        ("xlwa", "a\tb\t0-0-0", "'0-0-0' is not a link"),
    ],
)
def test_columns_that_do_not_fit_are_refused(tmp_path, format, row, message):
    good = "0:0\ta\t\tb\t\t1\t1\t0-0\t\t" if format == "multimwa" else "a\tb\t0-0"
    refused(text(tmp_path, f"{good}\n{row}\n"), format, message, 2)


def test_xlwa_duplicate_links_collapse_and_are_noted(tmp_path):
    corpus, counts = read(text(tmp_path, "\ufeffa b\tc\t1-0 0-0 1-0 \r\nd\te\t\r\n"), "xlwa")
    assert [str(pair.alignment("alignment")) for pair in corpus] == ["0-0 1-0", ""]
    assert counts == {"byte order mark": 1, "carriage returns": 1, "duplicate link": 1}
    assert corpus[0].source == ("a", "b")


def test_xlwa_takes_empty_columns_behind_the_links(tmp_path):
    corpus, counts = read(text(tmp_path, "a b\tc\t1-0\t\t\t\t\nd\te\t\t\n"), "xlwa")
    assert [str(pair.alignment("alignment")) for pair in corpus] == ["1-0", ""]
    assert not counts


# The real corpora


@pytest.mark.real_data
def test_goldalign_questions(data, tmp_path):
    corpus, counts = read(data / "goldalign", "goldalign")
    assert len(corpus) == len(set(corpus.ids)) == 612
    assert corpus.annotators == ("initial", "demo-user-1", "demo-user-2", "arbit")
    assert len(corpus.groups("document")) == 102
    assert all(len(pair.annotations) == 4 for pair in corpus)
    names = corpus.annotators
    empty = {name: sum(not len(pair.alignment(name)) for pair in corpus) for name in names}
    assert empty == {"initial": 95, "demo-user-1": 46, "demo-user-2": 62, "arbit": 56}
    assert not counts
    comes_back(corpus, tmp_path / "x", "goldalign")
