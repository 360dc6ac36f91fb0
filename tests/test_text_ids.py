"""Ids before the sentences of texts are no words, whoever reads the texts."""

import logging
from pathlib import Path

import pytest
from command import FRENCH, GOLD, made, run, write
from hypothesis import given
from hypothesis import strategies as st

from alignkit import FormatError, read_corpus
from alignkit.align.numbered_texts import lines_of
from alignkit.corpora.join import join_pairs
from alignkit.errors import JoinError
from alignkit.io import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.io.text_ids import TextIds

FR, EN = (FRENCH / name for name in ("fr.txt", "en.txt"))


def identified(path, to, ids=str):
    """Write the lines of a text after an id and a tab."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    to.write_text("".join(f"{ids(k)}\t{line}\n" for k, line in enumerate(lines)))
    return to


@pytest.fixture
def texts(tmp_path):
    """Two texts with ids that count from 0."""
    return identified(FR, tmp_path / "fr"), identified(EN, tmp_path / "en")


def bitext(path, source, target):
    lines = zip(source.read_text().splitlines(), target.read_text().splitlines(), strict=True)
    path.write_text("".join(f"{a} ||| {b.partition(chr(9))[2] or b}\n" for a, b in lines))
    return path


COMMANDS = {
    "align": "align {0} {1}",
    "align words of a bitext": "align {2}",
    "align to a corpus": "align {0} {1} --to xlwa",
    "learn": "learn {gold} --source {0} --target {1} --format pharaoh --prior none",
    "concordance": "concordance {gold} le --source {0} --target {1}",
    "convert": "convert {gold} - --to xlwa --source {0} --target {1}",
    "convert a bitext": "convert {gold} - --to xlwa --source {2}",
    "convert columns": "convert {naacl} - --to xlwa --format naacl --source {0} --target {1}",
    "score": "score {gold} {gold} --ci --source {0} --target {1}",
    "phrases": "phrases {gold} --table --source {0} --target {1}",
    "pairs": "pairs {0} {1} --to tsv",
    "check": "check {gold} --source {0} --target {1}",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_ids_change_nothing_that_a_command_prints(capsys, tmp_path, command):
    texts = [identified(path, tmp_path / path.name, lambda k: k + 1) for path in (FR, EN)]
    columns = write(tmp_path, "gold.wa", "".join(f"{k} 1 1\n" for k in range(1, 53)))
    with_ids = [*texts, bitext(tmp_path / "both", *texts)]
    plain = [FR, EN, bitext(tmp_path / "plain", FR, EN)]
    printed = []
    for files in (with_ids, plain):
        words = COMMANDS[command].format(*files, gold=GOLD, naacl=columns).split()
        ran = made(capsys, *words)
        assert ran.err.count("not read as words") == (files is with_ids)
        printed.append(ran.out)
    assert printed[0] == printed[1]


def test_columns_name_sentences_by_ids_that_are_numbers(capsys, tmp_path, texts):
    columns = write(tmp_path, "gold.wa", "".join(f"{k} {1 + k % 2} 1\n" for k in range(52)))
    corpus = read_corpus(columns, format="naacl", source=str(texts[0]), target=str(texts[1]))
    assert [int(pair.id) % 2 for pair in corpus] == [
        next(iter(pair.alignment("alignment"))).i for pair in corpus
    ]


def test_the_ids_are_those_of_the_pairs(tmp_path):
    paths = [identified(path, tmp_path / path.name, "n{}".format) for path in (FR, EN)]
    source, target = map(str, paths)
    corpus = read_corpus(GOLD, format="pharaoh", source=source, target=target)
    assert corpus.ids[:2] == ("n0", "n1")
    assert [pair.words for pair in corpus] == [
        pair.words for pair in read_corpus(GOLD, format="pharaoh", source=str(FR), target=str(EN))
    ]


def test_new_words_and_pairs_of_a_project_have_no_ids(capsys, tmp_path, texts):
    plain = ("--source", FR, "--target", EN)
    out = made(
        capsys, "retokenize", GOLD, *plain, "--source-words", texts[0], "-o", tmp_path / "o.jsonl"
    )
    assert "not read as words" in out.err
    assert read_corpus(tmp_path / "o.jsonl")[0].source == tuple(
        FR.read_text().split("\n")[0].split()
    )


def test_lines_that_come_in_parts_have_no_ids(texts):
    options = ReadOptions()
    parts = list(lines_of([str(path) for path in texts], options, format=None, whole=False))
    assert "".join(part.source for part in parts).split() == FR.read_text().split()
    assert parts[0].ids[:2] == ["0", "1"]


def test_a_text_that_can_be_read_once_is_looked_at_once(capsys, texts, monkeypatch):
    from command import feed

    plain = made(capsys, "align", FR, EN).out
    feed(monkeypatch, texts[1].read_bytes())
    assert made(capsys, "align", texts[0], "-").out == plain


# What is an id

LINE = st.text(st.sampled_from("ab1 \t|"), max_size=6)


def has_ids(*texts):
    """Whether all lines are `id<TAB>sentence`, no id twice, the same in both texts."""
    heads = []
    for lines in texts:
        parts = [line.split("\t") for line in lines]
        if any(len(part) != 2 or len(part[0].split()) != 1 for part in parts):
            return False
        heads.append([part[0].strip() for part in parts])
    return bool(texts[0]) and heads[0] == heads[-1] and len({*heads[0]}) == len(heads[0])


@given(st.lists(LINE, max_size=5), st.lists(LINE, max_size=5), st.booleans())
def test_ids_are_before_all_lines_different_and_the_same_in_both_texts(
    tmp_path_factory, first, second, alike
):
    folder = tmp_path_factory.mktemp("texts")
    if alike:
        first = [f"{k}\t{line}".replace("\t", "", line.count("\t")) for k, line in enumerate(first)]
        second = [f"{line}x" for line in first]
    second = [*second, *[""] * len(first)][: len(first)]
    paths = [folder / "a", folder / "b"]
    for path, lines in zip(paths, (first, second), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines))
    reading = TextFile(str(paths[0]), ReadOptions())
    assert TextIds.of(reading, [*map(str, paths)]).present == has_ids(first, second)


MANY = range(1, 30)


@pytest.mark.parametrize(
    ("source", "target", "doubt"),
    [
        ([f"{k}\ta b" for k in MANY], ["c d" for k in MANY], "line 1 of"),
        ([f"{k}\ta" for k in MANY], [f"{k + 1}\tb" for k in MANY], "line 1 begins with '1' in"),
        ([f"{k}\ta" for k in MANY], [f"{k}\tb" for k in MANY[:-1]] + ["b"], "line 29 of"),
        ([f"{k % 20}\ta" for k in MANY], [f"{k % 20}\tb" for k in MANY], "lines 1 and 21 of"),
        (["a\tb", *("c d" for k in MANY)], ["e\tf", *("g h" for k in MANY)], ""),
        (["le\tchat"], ["the\tcat"], ""),
    ],
)
def test_tabs_that_are_no_ids_are_white_space_and_doubts_are_said(
    capsys, tmp_path, source, target, doubt
):
    paths = [
        write(tmp_path, name, "\n".join(x) + "\n") for name, x in (("s", source), ("t", target))
    ]
    plain = [
        write(tmp_path, f"plain-{k}", Path(path).read_text(encoding="utf-8").replace("\t", " "))
        for k, path in enumerate(paths)
    ]
    ran = made(capsys, "align", *paths, "--quiet")
    assert ran.out == made(capsys, "align", *plain).out
    assert (doubt in ran.err and "--text-ids no" in ran.err) if doubt else ran.err == ""
    certain = made(capsys, "align", *paths, "--quiet", "--text-ids", "no")
    assert (certain.out, certain.err) == (ran.out, "")


def test_one_says_whether_there_are_ids(capsys, tmp_path, texts):
    words = read_corpus(
        GOLD, format="pharaoh", source=str(texts[0]), target=str(texts[1]), text_ids=False
    )
    assert (words.ids[0], words[0].source[0]) == ("1", "0")
    repeated = [identified(path, tmp_path / path.name, lambda k: k // 2) for path in (FR, EN)]
    run(capsys, "align", *repeated, "--text-ids", "yes", "--to", "xlwa")
    plain = made(capsys, "align", FR, EN).out
    assert made(capsys, "align", *repeated, "--text-ids", "yes").out == plain
    with pytest.raises(FormatError, match="an id and a tab"):
        read_corpus(GOLD, format="pharaoh", source=str(FR), target=str(EN), text_ids=True)


def test_the_decision_is_logged_once(caplog, texts):
    with caplog.at_level(logging.INFO, "alignkit"):
        read_corpus(GOLD, source=str(texts[0]), target=str(texts[1]))
    assert sum("not read as words" in text for text in caplog.messages) == 1


# Ids of one file, and line numbers of the other


@pytest.fixture
def from_zero(tmp_path):
    """The same links with ids that count from 0."""
    return identified(GOLD, tmp_path / "gold.ids")


def test_links_without_ids_are_scored_in_order_not_partially(capsys, from_zero):
    for words in ((GOLD, from_zero), (from_zero, GOLD)):
        ran = run(capsys, "score", *words, "--format", "pharaoh").failed("--in-order")
        assert "--partial" not in ran.err
    ran = run(capsys, "merge", GOLD, "--add", f"x={from_zero}", "-o", "-").failed("--in-order")
    assert "--partial" not in ran.err
    best = run(capsys, "score", GOLD, from_zero, "--in-order", "--json").json
    assert best["measures"]["links"]["f1"] == 1 if "measures" in best else best
    ran = run(capsys, "score", GOLD, from_zero, "--partial", "--quiet", "--json")
    assert "counts its pairs from 0" in ran.err
    assert "counts its pairs from 0" in ran.out


def test_a_partial_file_with_its_own_ids_is_still_advised_partial(tmp_path, from_zero):
    pairs = read_corpus(from_zero, format="pharaoh")
    with pytest.raises(JoinError, match="partial=True"):
        list(join_pairs(pairs, pairs[:20]))
    numbered = read_corpus(GOLD, format="pharaoh")
    with pytest.raises(JoinError, match="partial=True"):
        list(join_pairs(numbered, numbered[:20]))
    with pytest.raises(JoinError, match="counts its pairs from 0") as caught:
        list(join_pairs(numbered, pairs[:20]))
    assert "partial" not in str(caught.value)
