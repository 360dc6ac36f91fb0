"""Each sentence pair keeps its line or block in every format, also if nobody annotated it."""

import pytest
from command import made, run, write

from alignkit import NULL, Alignment, Corpus, SentencePair, read_corpus, write_corpus
from alignkit.io.formats import WRITTEN, get_format

LINKS = (None, "0-0", None, "0-1 1-0", None, None)  # None: not annotated
WORDS = [(("a", f"b{k}"), ("c", f"d{k}")) for k in range(len(LINKS))]
PARTIAL = Corpus(
    SentencePair(str(k), *words, {} if links is None else {"anna": Alignment.parse(links)})
    for k, (links, words) in enumerate(zip(LINKS, WORDS, strict=True), start=1)
)
FOLDERS = {
    "goldalign": "",
    "blinker": "",
    "yawat": ".crp",
    "transread": ".txt",
    "conllu": ".conllu",
}
"""What the name of the output ends with."""


def written(tmp_path, format, corpus=PARTIAL, **options):
    """Write a corpus and read it again, with the words beside it if the format has none."""
    path = tmp_path / f"out{FOLDERS.get(format, '.x')}"
    beside = {}
    if get_format(format).text_beside:
        beside = {"source": str(tmp_path / "source"), "target": str(tmp_path / "target")}
    lost = write_corpus(corpus, path, format=format, **beside, **options)
    return lost, read_corpus(path, format=format, **beside)


@pytest.mark.parametrize("format", sorted(WRITTEN))
def test_no_pair_is_lost_in_any_format(tmp_path, format):
    lost, again = written(tmp_path, format)
    assert [pair.words for pair in again] == WORDS
    for pair, links in zip(again, LINKS, strict=True):
        links_read = [str(Alignment(alignment)) for alignment in pair.alignments.values()]
        expected = str(Alignment.parse(links or ""))
        if format != "conllu":  # which has no links
            assert links_read in ([expected], [] if links is None else [expected])
    holds_absent = "absent" in get_format(format).holds
    assert lost["absent"] == (0 if holds_absent else LINKS.count(None))


@pytest.mark.parametrize("format", sorted(WRITTEN))
def test_a_corpus_that_nobody_annotated_keeps_its_pairs(tmp_path, format):
    bare = PARTIAL.map(lambda pair: pair.without_annotations("anna"))
    _, again = written(tmp_path, format, bare)
    assert [pair.words for pair in again] == WORDS


@pytest.mark.parametrize("format", sorted(WRITTEN))
def test_the_pairs_of_one_annotator_keep_their_places(tmp_path, format):
    both = PARTIAL.map(
        lambda pair: pair.with_annotation("ben", Alignment.parse("1-1")) if pair.id > "4" else pair
    )
    _, again = written(tmp_path, format, both, annotator="anna")
    assert [pair.words for pair in again] == WORDS


@pytest.mark.parametrize("format", [x for x in sorted(WRITTEN) if "nulls" in get_format(x).holds])
def test_an_alignment_of_nulls_alone_is_written(tmp_path, format):
    base = {"base": 1} if format in ("naacl", "blinker") else {}
    nulls = [(1, NULL)] if format != "giza" else [(NULL, 1)]
    pair = SentencePair("1", *WORDS[0], {"anna": Alignment(nulls=nulls)})
    lost, (again,) = written(tmp_path, format, Corpus([pair]), **base)
    assert lost["nulls"] == 0
    assert [alignment.nulls for alignment in again.alignments.values()] == [{*nulls}]


@pytest.mark.parametrize("words", [(), ("--to-ids",)])
def test_convert_writes_a_line_for_each_pair(capsys, tmp_path, words):
    path = tmp_path / "in.jsonl"
    write_corpus(PARTIAL, path)
    ran = made(capsys, "convert", path, "-", "--to", "pharaoh", *words)
    lines = ran.out.split("\n")
    assert (len(lines), lines.pop()) == (len(LINKS) + 1, "")
    links = [line.partition("\t")[2] if words else line for line in lines]
    assert links == [text or "" for text in LINKS]
    assert "4 pairs are not annotated" in ran.err


def test_a_short_file_of_links_is_read_and_mended_as_before(capsys, tmp_path):
    path = write(tmp_path, "short.align", "0-0 0-0\n1-1\n")
    for side, words in zip(("source", "target"), zip(*WORDS, strict=True), strict=True):
        write(tmp_path, side, "".join(f"{' '.join(sentence)}\n" for sentence in words))
    texts = ("--source", tmp_path / "source", "--target", tmp_path / "target")
    run(capsys, "convert", path, tmp_path / "x.jsonl", *texts).failed("--partial")
    made(capsys, "convert", path, tmp_path / "x.jsonl", *texts, "--partial")
    corpus = read_corpus(tmp_path / "x.jsonl")
    assert [len(pair.annotations) for pair in corpus] == [1, 1, 0, 0, 0, 0]
    assert run(capsys, "check", path, *texts, "--partial", "--fix", path).code == 1
    with open(path, encoding="utf-8") as stream:
        assert stream.read() == "0-0\n1-1\n"  # a mended copy is as short as the file
    both = ("--fix-source", tmp_path / "s", "--fix-target", tmp_path / "t")
    run(capsys, "check", path, *texts, "--partial", "--fix", tmp_path / "whole", *both)
    assert (tmp_path / "whole").read_text() == "0-0\n1-1\n\n\n\n\n"
    assert (tmp_path / "s").read_text().count("\n") == len(LINKS)


def test_symmetrize_keeps_the_lines_that_one_direction_lacks(capsys, tmp_path):
    long = write(tmp_path, "long", "0-0\n1-1\n2-2\n")
    short = write(tmp_path, "short", "0-0 0-1\n")
    given = ("--method", "intersection", "--partial")
    for forward, reverse in ((long, short), (short, long)):
        ran = made(capsys, "symmetrize", forward, reverse, *given, "--quiet")
        assert ran.out == "0-0\n\n\n"
        assert "2 sentence pairs have no" in ran.err
    for name in ("long", "short"):
        made(capsys, "convert", tmp_path / name, tmp_path / f"{name}.wa", "--to", "naacl")
    pair = tmp_path / "long.wa", tmp_path / "short.wa"
    for forward, reverse in (pair, pair[::-1]):
        ran = made(capsys, "symmetrize", forward, reverse, "--format", "naacl", *given, "--quiet")
        assert ran.out == "0-0\n\n\n"
        assert "2 sentence pairs have no" in ran.err
    run(capsys, "symmetrize", *pair, "--format", "naacl").failed("--partial")


def test_symmetrize_says_what_pair_one_direction_did_not_annotate(capsys, tmp_path):
    paths = [tmp_path / "forward.jsonl", tmp_path / "reverse.jsonl"]
    whole = PARTIAL.map(lambda pair: pair.with_annotation("anna", Alignment.parse("0-0")))
    write_corpus(whole, paths[0])
    write_corpus(PARTIAL, paths[1])
    run(capsys, "symmetrize", *paths).failed("pair '1' is not annotated", "--partial")
    ran = made(capsys, "symmetrize", *paths, "--method", "intersection", "--partial")
    assert ran.out == "\n0-0\n\n\n\n\n"
    assert "4 sentence pairs have no" in ran.err
