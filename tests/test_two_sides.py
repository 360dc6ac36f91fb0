"""Two CoNLL-U files are the words of both sides: messages say how to read them."""

import json
import shlex

import pytest
from command import made, run, write

from alignkit import read_corpus

ROW = "{}\t{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n"


def conllu(tmp_path, name, *sentences):
    texts = []
    for number, words in enumerate(sentences, start=1):
        rows = (ROW.format(k, word) for k, word in enumerate(words, start=1))
        texts.append(f"# sent_id = s{number}\n{''.join(rows)}\n")
    return write(tmp_path, name, "".join(texts))


@pytest.fixture
def files(tmp_path):
    """Return the paths of links, source words and target words; one token has a space."""
    links = write(tmp_path, "alignment.json", json.dumps([{"1": ["1"], "2": ["2", "3"]}, {}]))
    source = conllu(tmp_path, "en.conllu", ["costs", "25000"], ["yes"])
    target = conllu(tmp_path, "target.conllu", ["стоит", "25 000", "рублей"], ["да"])
    return links, source, target


def test_the_message_is_a_command_that_works(capsys, files):
    links, source, target = files
    for given in (
        ("stats", links, source, target),
        ("stats", links, "--source", source, target),
    ):
        ran = run(capsys, *given).failed("to read the words of both sides: alignkit stats")
        command = ran.err.partition("both sides: alignkit ")[2].splitlines()[0]
        words = shlex.split(command)
        assert words == ["stats", links, "--source", source, "--target", target]
        assert made(capsys, *words).out.startswith("2 sentence pairs")
    run(capsys, "stats", links, source).failed("unexpected argument")


def test_a_folder_says_how_its_files_are_read(capsys, tmp_path, files):
    links, source, target = files
    ran = run(capsys, "stats", tmp_path).failed("contains files of pud", "give one of them")
    words = shlex.split(ran.err.partition("with their words: ")[2].splitlines()[0])
    assert words == [links, "--source", source, "--target", target]
    made(capsys, "stats", *words)


@pytest.mark.parametrize(
    "words",
    [
        ("agree", 1, 2),
        ("score", 1, 2),
        ("score", 2, 1),
        ("merge", 1, "--add", "a={2}", "-o", "out.xml"),
        ("concat", 1, 2, "-o", "out.xml"),
        ("check", 1, 2),
        ("check", 0, 1, 2),
    ],
)
def test_commands_that_join_them_say_so(capsys, monkeypatch, tmp_path, files, words):
    monkeypatch.chdir(tmp_path)
    named = [files[word] if isinstance(word, int) else word.format(*files) for word in words]
    ran = run(capsys, *named, "--quiet")
    assert ran.code != 0
    links = files[0] if 0 in words else "LINKS"
    assert f"{links} --source {files[1]} --target {files[2]}" in ran.err


def test_one_side_asks_for_the_other(capsys, tmp_path, files):
    ran = run(capsys, "stats", files[0], "--source", files[1])
    ran.failed("words of one side", "--target")


def test_a_token_with_a_space_has_a_way_out(capsys, tmp_path, files):
    links, source, target = files
    given = (links, "--source", source, "--target", target)
    beside = ("--to-source", tmp_path / "o.en", "--to-target", tmp_path / "o.ru")
    out = tmp_path / "out.align"
    ran = run(capsys, "convert", given[0], out, *given[1:], *beside)
    ran.failed("token '25 000'", "alignkit-jsonl, alignkit-xml or jsonl", "--divide-spaces")
    for format in ("alignkit-jsonl", "alignkit-xml", "jsonl"):
        made(capsys, "convert", given[0], tmp_path / format, *given[1:], "--to", format)
        pair = read_corpus(tmp_path / format, format=format)[0]
        assert pair.target == ("стоит", "25 000", "рублей")
    divided = tmp_path / "divided.jsonl"
    made(capsys, "retokenize", *given, "--divide-spaces", "-o", divided)
    pair = read_corpus(divided)[0]
    assert pair.target == ("стоит", "25", "000", "рублей")
    assert str(pair.alignment("alignment")) == "0-0 1-1 1-2 1-3"
    made(capsys, "convert", divided, out, *beside)
    assert out.read_text() == "0-0 1-1 1-2 1-3\n\n"
    assert (tmp_path / "o.ru").read_text("utf-8") == "стоит 25 000 рублей\nда\n"


@pytest.mark.real_data
def test_all_tokens_of_a_published_file_are_divided(capsys, data, tmp_path):
    folder = data / "reports" / "pud-en-ru"
    texts = ("--source", folder / "en.conllu", "--target", folder / "target.conllu")
    divided = tmp_path / "divided.jsonl"
    made(capsys, "retokenize", folder / "alignment.json", *texts, "--divide-spaces", "-o", divided)
    words = [word for pair in read_corpus(divided) for side in pair.words for word in side]
    assert len(words) > 40_000
    assert not any(" " in word for word in words)
