"""The command agree-replace: its inputs, its outputs and its refusals."""

import json
from dataclasses import replace

import pytest
from command import PARAPHRASES, made, run

from alignkit import Alignment, Annotation, Corpus, read_corpus, replaceable, write_corpus


@pytest.fixture(scope="module")
def result():
    return replaceable(read_corpus(PARAPHRASES), "eflomal", by="genre")


def test_the_command_prints_what_python_returns(capsys, result):
    command = ["agree-replace", PARAPHRASES, "--system", "eflomal", "--by", "genre"]
    assert made(capsys, *command).out == f"{result}\n"
    printed = made(capsys, *command, "--json").json
    assert printed == json.loads(json.dumps(result.to_json()))
    assert printed["may_replace"] is False
    assert printed["tests"][0]["annotator"] == "anna"
    assert {part["by"] for part in printed["parts"]} == {"link", "genre"}
    csv = made(capsys, *command, "--csv").out
    assert csv == result.csv() + "\n"
    assert csv.startswith("table,annotator,units,advantage")
    assert made(capsys, *command, "--latex").out == result.show("latex") + "\n"
    assert made(capsys, *command, "--markdown").out == result.show("markdown") + "\n"


def test_the_page_has_the_answer_and_all_tables(capsys, result, tmp_path):
    page = tmp_path / "page.html"
    command = ["agree-replace", PARAPHRASES, "--system", "eflomal", "--by", "genre"]
    made(capsys, *command, "--html", page)
    text = page.read_text("utf-8")
    assert text == result.to_html()
    assert "May eflomal replace" in text
    assert "may not replace" in text
    for table in result.tables():
        assert table.title in text


def test_each_option_reaches_the_test(capsys):
    command = ["agree-replace", PARAPHRASES, "--system", "eflomal", "--json"]
    command += ["--annotators", "ben", "gold", "--measure", "sure", "--epsilon", "0.3"]
    printed = made(capsys, *command, "--ignore-identical", "--samples", "100", "--seed", "1").json
    assert printed["annotators"] == ["ben", "gold"]
    assert printed["epsilon"] == 0.3
    expected = {"measure": "sure", "epsilon": 0.3, "ignore_identical": True, "samples": 100}
    assert printed["options"].items() >= expected.items()
    assert [part["name"] for part in printed["parts"]] == ["one to one", "several words"]


@pytest.fixture
def people(tmp_path):
    """Return a corpus of anna and ben, and a file of eflomal's links."""
    corpus = read_corpus(PARAPHRASES)
    path = tmp_path / "people.jsonl"
    write_corpus(corpus.map(lambda pair: pair.without_annotations("eflomal", "gold")), path)
    links = tmp_path / "giza.v2.align"
    texts = [str(pair.alignment("eflomal")) for pair in corpus]
    links.write_text("".join(f"{text}\n" for text in texts))
    return path, links


def test_a_system_in_a_file_is_joined(capsys, people, result):
    path, links = people
    command = ["agree-replace", path, "--json", "--system"]
    printed = made(capsys, *command, f"{links}:pharaoh", "--in-order").json
    assert printed["system"] == "giza"
    known = result.to_json()
    for name in ("tests", "advantage", "power", "by_epsilon"):
        assert printed[name] == json.loads(json.dumps(known[name]))
    run(capsys, *command, f"{links}:pharaoh").failed("--in-order")
    run(capsys, *command, "nobody").failed("or file of links", "'nobody'", "anna, ben")
    run(capsys, *command, "anna", "--in-order").failed("--in-order needs several files")
    run(capsys, *command, f"{links}:nonsense").failed("nonsense")


def test_a_file_of_a_system_has_the_links_of_one_annotator(capsys, people, tmp_path):
    path, _ = people
    command = ["agree-replace", path, "--system"]
    run(capsys, *command, PARAPHRASES).failed("of several annotators")
    named = tmp_path / "anna.jsonl"
    write_corpus(read_corpus(path), named)
    run(capsys, *command, named).failed("an annotator 'anna' already")


def test_files_of_annotators_are_joined(capsys, people, tmp_path):
    _, links = people
    files = []
    corpus = read_corpus(PARAPHRASES)
    for name in ("anna", "ben"):
        files.append(tmp_path / f"{name}.jsonl")
        others = [other for other in corpus.annotators if other != name]
        part = corpus.map(lambda pair, others=others: pair.without_annotations(*others))
        write_corpus(part, files[-1])
    printed = made(capsys, "agree-replace", *files, "--system", links, "--in-order", "--json").json
    assert printed["annotators"] == ["anna", "ben"]
    assert printed["winning_rate"] == 0


def test_judgments_have_a_scheme(capsys, tmp_path):
    path = tmp_path / "judged.jsonl"

    def judged(pair):
        number = len(pair.target)
        pair = pair.without_annotations(*pair.annotations)
        for shift, name in enumerate(("x", "y", "z", "gpt")):
            label = str((len(pair.source) + (number % 7 == shift)) % 4)
            pair = pair.with_annotation(name, Annotation(None, judgment=label))
        return pair

    write_corpus(read_corpus(PARAPHRASES).map(judged), path)
    command = ["agree-replace", path, "--system", "gpt", "--measure", "judgments"]
    run(capsys, *command).failed("by --scheme")
    printed = made(capsys, *command, "--scheme", "0-3", "--json").json
    assert printed["annotators"] == ["x", "y", "z"]
    assert printed["pairs"] == 64
    assert printed["options"]["scheme"] == "0-3"
    assert printed["certain"] is None
    assert "mean squared distance" in made(capsys, *command, "--scheme", "0-3").out
    run(capsys, *command, "--scheme", "0-1").failed("judged.jsonl")
    some = made(capsys, *command, "--scheme", "0-2", "--lenient-labels", "--json").json
    assert some["left_out"]["judgments not of the scheme"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--system", "eflomal", "--epsilon", "1"], "--epsilon"),
        (["--system", "eflomal", "--measure", "words"], "--measure"),
        (["--system", "eflomal", "--annotators", "anna"], "there is only anna"),
        (["--system", "eflomal", "--annotators", "anna", "eflomal"], "is the system"),
        (["--system", "eflomal", "--view", "binary"], "--view"),
        (["--system", "eflomal", "--keep-together", "genre"], "3 different values"),
        (["--system", "eflomal", "--split", ","], "--split"),
        (["--system", "eflomal", "--initial", "x"], "an option of agree"),
        ([], "--system"),
    ],
)
def test_what_cannot_be_answered_ends_with_a_sentence(capsys, words, message):
    run(capsys, "agree-replace", PARAPHRASES, *words).failed(message)


def test_few_pairs_are_refused(capsys, tmp_path):
    path = tmp_path / "few.jsonl"
    write_corpus(read_corpus(PARAPHRASES)[:29], path)
    ran = run(capsys, "agree-replace", path, "--system", "eflomal")
    ran.failed("29 pairs")


def repeated(corpus, times):
    """Return the pairs several times, each time with other words."""
    pairs = []
    for k in range(times):
        for pair in corpus:
            source = [f"{word}{k}" for word in pair.source]
            pairs.append(replace(pair, id=f"{k}.{pair.id}", source=source, source_trees={}))
    return Corpus(pairs)


def test_probabilities_order_the_pairs(capsys, tmp_path):
    """eflomal is as anna in half of the pairs, which have the highest weights."""
    path = tmp_path / "weights.jsonl"
    corpus = read_corpus(PARAPHRASES)

    def certain(pair):
        number = corpus.ids.index(pair.id)
        links = pair.alignment("anna" if number % 2 else "eflomal")
        weights = dict.fromkeys(links, 0.9 if number % 2 else 0.3)
        annotation = Annotation(Alignment(links.sure, links, weights=weights), role="system")
        return pair.with_annotation("auto", annotation)

    write_corpus(repeated(corpus.map(certain), 4), path)
    printed = made(capsys, "agree-replace", path, "--system", "auto", "--json").json
    assert printed["certain"]["passes"] is True
    assert printed["certain"]["threshold"] == pytest.approx(0.9)
    assert 0.3 < printed["certain"]["share"] < 0.6
    share = round(100 * printed["certain"]["share"])
    words = f"The {share}% of pairs of which it is most certain pass: annotate the other"
    assert words in printed["answer"]
