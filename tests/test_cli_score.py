"""`alignkit score` and `score-phrases`: any two formats, joined by id, warned of a wrong base."""

import cProfile
import re

import pytest
from command import EFLOMAL, FAST, GOLD, PARAPHRASES, TEXTS, feed, made, run, write

import alignkit as ak

ROW = re.compile(r"(\S+): ([\d.]+)% \(([\d.]+)%/([\d.]+)%/(\d+)\)")
OUTPUTS = ["", ".reverse", ".intersection", ".union", ".grow-diagonal", ".grow-diagonal-final"]
ANNA = ["--hyp-annotator", "anna", "--ref-annotator", "gold"]


def counts(capsys, *given):
    return made(capsys, "score", *given, "--json").json["links"]["counts"]


def convert(capsys, tmp_path, path, name, to, *options):
    out = str(tmp_path / name)
    made(capsys, "convert", path, out, "--to", to, *options)
    return out


def test_a_corpus_that_holds_all_is_named_once(capsys):
    words = [PARAPHRASES, *ANNA, "--ignore-identical", "--json"]
    assert run(capsys, "score", *words).json == run(capsys, "score", PARAPHRASES, *words).json
    late = run(capsys, "score", EFLOMAL, "--level", "links", GOLD, "--json").json
    assert late == run(capsys, "score", EFLOMAL, GOLD, "--level", "links", "--json").json
    for options in ([], ANNA[:2], ANNA[2:]):
        run(capsys, "score", PARAPHRASES, *options).failed("name REF", "--ref-annotator")
    run(capsys, "score", PARAPHRASES, *ANNA, "--ref-base", "0").failed("--ref-base", "second file")
    run(capsys, "score", PARAPHRASES, *ANNA, "--in-order").failed("--in-order")
    run(capsys, "score", PARAPHRASES, *ANNA, "--compare", GOLD).failed("--compare needs REF")
    assert run(capsys, "score", GOLD, GOLD, GOLD).code == 2


def test_annotators_of_one_corpus_are_compared(capsys):
    given = ["score", PARAPHRASES, "--hyp-annotator", "eflomal", "anna", "--ref-annotator", "gold"]
    found = run(capsys, *given, "--level", "links", "--json").json
    assert list(found["systems"]) == ["eflomal", "anna"]
    corpus = ak.read_corpus(PARAPHRASES)
    scores = {name: ak.score(corpus, name, "gold") for name in ("eflomal", "anna")}
    assert found["comparisons"] == ak.compare(scores).to_json()
    run(capsys, *given[:3], "anna", "anna", *given[5:]).failed("named twice")
    run(capsys, "score", "-", *given[2:]).failed("stdin")
    run(capsys, "score", PARAPHRASES, "-", *given[2:]).failed("stdin")
    ran = run(capsys, "score", PARAPHRASES, PARAPHRASES, *given[2:], "--compare", GOLD)
    ran.failed("--hyp-annotator", "--compare")


def test_options_that_nothing_would_look_at_are_refused(capsys, tmp_path):
    for words, *told in (
        (["--resamples", "9"], "--resamples", "--ci"),
        (["--confidence", ".9"], "--confidence", "--ci"),
        (["--by", ""], "--by is empty"),
    ):
        run(capsys, *["score", EFLOMAL, GOLD], *words).failed(*told)
    table = write(tmp_path, "table.tsv", "the\tle\n")
    phrases = ["score-phrases", table, PARAPHRASES, "--annotator", "gold"]
    run(capsys, *phrases, "--resamples", "9").failed("--resamples", "add --ci")
    drawn = run(capsys, *phrases, "--ci", "--confidence", ".9", "--json").json
    assert drawn["intervals"]["f1"]["confidence"] == 0.9
    nowhere = tmp_path / "no" / "x.png"
    (tmp_path / "broken").write_text("0-0 x\n")
    run(capsys, "score", tmp_path / "broken", GOLD, "--plot", nowhere).failed("no folder")


@pytest.mark.real_data
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("system", ["giza", "fastalign"])
def test_published_figures_come_out(capsys, data, system, output):
    folder = data / "roen"
    text = (folder / system / "roen-results.txt").read_text()
    name = f"test.roen{output}.talp"
    *published, number = {row[0]: row[1:] for row in ROW.findall(text)}[name]
    options = ["--ref-base", "1", "--level", "links", "--json"]
    if "reverse" in output:
        options.append("--hyp-transpose")
    ran = run(capsys, "score", folder / system / name, folder / "roen.gold", *options)
    links = ran.json["links"]
    mine = [100 * links[key] for key in ("aer", "precision", "recall")]
    if system == "giza":
        assert [f"{value:.1f}" for value in mine] == published
        assert links["counts"]["hyp_possible"] == int(number)
    else:
        assert mine == pytest.approx([float(value) for value in published], abs=0.1)
    assert all(line.endswith(": read as pharaoh") for line in ran.err.splitlines())


@pytest.mark.real_data
def test_partial_gold_is_scored_on_its_lines(capsys, data, tmp_path):
    gold = data / "hansards" / "dev.fr-en.align"
    hyp = write(tmp_path, "all.align", "0-0 1-1\n" * 1000)
    run(capsys, "score", hyp, gold).failed("1000", "184", "--partial", str(gold))
    ran = run(capsys, "score", hyp, gold, "--partial", "--json")
    assert (ran.json["pairs"], ran.json["links"]["counts"]["ref_possible"]) == (184, 6934)


def test_an_undefined_ratio_is_null_and_a_dash(capsys, tmp_path):
    empty = write(tmp_path, "empty", "\n\n")
    links = run(capsys, "score", empty, empty, "--json").json["links"]
    assert links["precision"] is links["aer"] is None
    row = run(capsys, "score", empty, empty, "--level", "links").out.splitlines()[4]
    assert row.split() == ["links", "-", "-", "-", "-", "0", "0"]


@pytest.mark.parametrize("to", ["naacl", "giza", "jacana", "alignkit-xml", "xlwa", "jsonl", "rte"])
def test_any_format_scores_against_any_other(capsys, tmp_path, to):
    hyp = convert(capsys, tmp_path, EFLOMAL, f"hyp.{to}", to, *TEXTS)
    expected = counts(capsys, EFLOMAL, GOLD)
    assert counts(capsys, hyp, GOLD, "--hyp-format", to) == expected
    assert counts(capsys, hyp, GOLD, "--hyp-format", to, *TEXTS) == expected
    different = counts(capsys, EFLOMAL, GOLD, "--ignore-identical", *TEXTS)
    assert different == counts(capsys, hyp, GOLD, "--hyp-format", to, "--ignore-identical", *TEXTS)
    assert counts(capsys, GOLD, hyp, "--ref-format", to)["ref_possible"] == expected["hyp_possible"]


def test_links_outside_the_words_of_the_other_side(capsys, tmp_path):
    gold = convert(capsys, tmp_path, GOLD, "gold.xml", "alignkit-xml", *TEXTS)
    hyp = convert(capsys, tmp_path, EFLOMAL, "one", "pharaoh", "--to-base", "1")
    run(capsys, "score", hyp, gold).failed(hyp, gold, "base and direction")
    ran = made(capsys, "score", hyp, gold, "--drop-out-of-range", "--json")
    assert all(text in ran.err for text in (f"{hyp}: ", "x link out of range"))


def test_groups_and_pairs(capsys):
    given = ["score", PARAPHRASES, PARAPHRASES, *ANNA]
    found = run(capsys, *given, "--by", "genre", "--per-pair", "--json").json
    groups = [row for row in found["groups"] if row["level"] == "links"]
    sizes = {row["genre"]: row["pairs"] for row in groups}
    assert sizes == {"news": 26, "novel": 22, "question": 16}
    pairs = [row for row in found["sentence_pairs"] if row["level"] == "links"]
    assert [row["id"] for row in pairs][:2] == ["p01", "p02"]
    for key in ("hyp_sure", "ref_possible"):
        total = found["links"]["counts"][key]
        assert sum(row[key] for row in pairs) == total == sum(row[key] for row in groups)
    assert "question" in run(capsys, *given, "--by", "genre").out
    run(capsys, *given, "--by", "nothing").failed(PARAPHRASES, "'nothing'", "genre, phenomena")
    run(capsys, "score", EFLOMAL, GOLD, "--by", "genre").failed("'genre'")


def test_systems_are_compared(capsys):
    found = run(capsys, "score", EFLOMAL, GOLD, "--compare", FAST, "--ci", "--json").json
    paths = {name: system["path"] for name, system in found["systems"].items()}
    assert paths == {"eflomal": EFLOMAL, "fast_align": FAST}
    measures = {row["measure"] for row in found["comparisons"] if row["level"] == "links"}
    assert measures == {"precision", "recall", "f1", "aer"}
    told = run(capsys, "score", EFLOMAL, GOLD, "--compare", FAST, "--seed", "7").out
    assert "paired bootstrap" in told
    assert "|confidence:0.95|resamples:1000|trials:10000|seed:7|version:" in told
    run(capsys, "score", EFLOMAL, GOLD, "--compare", EFLOMAL).failed("named twice")
    run(capsys, "score", EFLOMAL, "-", "--compare", FAST).failed("cannot be stdin")


def test_pairs_are_joined_by_id_unless_told(capsys, tmp_path):
    gold = convert(capsys, tmp_path, PARAPHRASES, "g", "pharaoh", "--annotator", "gold")
    options = ["--ref-annotator", "gold"]
    run(capsys, "score", gold, PARAPHRASES, *options).failed(gold, PARAPHRASES, "--in-order")
    found = run(capsys, "score", gold, PARAPHRASES, *options, "--in-order", "--json").json
    assert found["links"]["f1"] == pytest.approx(1)
    short = write(tmp_path, "short", "0-0\n")
    run(capsys, "score", short, PARAPHRASES, *options, "--in-order").failed("lacks 63", short)


def test_words_that_differ_are_told_and_texts_for_nothing_are_refused(capsys, tmp_path):
    first = write(tmp_path, "first.tsv", "a b\tc .\t0-0\n")
    second = write(tmp_path, "second.tsv", "a b\tc ..\t0-0\n")
    assert "'..' and '.'" in made(capsys, "score", first, second, "--format", "xlwa").err
    third = write(tmp_path, "third.tsv", "a b\tc\t0-0\n")
    run(capsys, "score", first, third, "--format", "xlwa").failed(first, third, "1 tokens")
    run(capsys, "score", PARAPHRASES, PARAPHRASES, *ANNA, *TEXTS).failed("leave out --source")
    run(capsys, "score", EFLOMAL, GOLD, "--target", TEXTS[3]).failed("--target needs --source")
    run(capsys, "score", EFLOMAL, GOLD, "--ignore-identical").failed(EFLOMAL, GOLD, "--source")


def test_hypotheses_come_from_a_pipe(capsys, monkeypatch):
    with open(EFLOMAL, "rb") as stream:
        feed(monkeypatch, stream.read())
    assert run(capsys, "score", "-", GOLD, "--json").json["pairs"] == 52


def test_phrase_lists(capsys, tmp_path, monkeypatch):
    corpus = write(tmp_path, "c.tsv", "a b\tc d\t0-0 1-1\n")
    table = write(tmp_path, "t.tsv", "a\tc\na\td\nx\ty\n")
    given = ["score-phrases", table, corpus, "--format", "xlwa"]
    found = run(capsys, *given, "--json").json
    assert (found["precision"], found["entries"], found["kept"]) == (pytest.approx(1 / 2), 3, 2)
    assert "2 of 3 entries kept" in run(capsys, *given, "--ci").out
    feed(monkeypatch, "a ||| c ||| 0.5\n")
    assert run(capsys, "score-phrases", "-", *given[2:], "--json").json["precision"] == 1
    run(capsys, *given, "--annotator", "nobody").failed(corpus, "'nobody'")
    empty = write(tmp_path, "empty", "")
    run(capsys, "score-phrases", table, empty).failed(empty, "nothing to score")
    run(capsys, "score-phrases", table, GOLD).failed(GOLD, "--source and --target")
    run(capsys, "score-phrases", tmp_path / "none", *given[2:]).failed("none", "No such file")


def test_an_annotator_that_links_alone_do_not_name_is_told(capsys):
    run(capsys, "score", EFLOMAL, GOLD, "--hyp-annotator", "nobody").failed("nobody", EFLOMAL)
    named = run(capsys, "score", EFLOMAL, GOLD, "--ref-annotator", "alignment")
    assert named.out == run(capsys, "score", EFLOMAL, GOLD).out


@pytest.mark.parametrize("places", [[PARAPHRASES], [PARAPHRASES, PARAPHRASES]])
def test_files_may_stand_behind_the_names_of_annotators(capsys, places):
    named = ["--ref-annotator", "gold", "--hyp-annotator", "eflomal"]
    found = run(capsys, "score", *named, *places).out
    assert found == run(capsys, "score", *places, *named).out != ""
    assert "anna" in run(capsys, "score", *named, "anna", *places).out
    run(capsys, "score", *named).failed("required: HYP")


def test_the_score_of_one_line_calls_few_functions(capsys, tmp_path):
    hypothesis = write(tmp_path, "system.align", "0-0 1-1\n")
    reference = write(tmp_path, "gold.align", "0-0 1-2\n")
    run(capsys, "score", hypothesis, reference)  # imports, and compiles or loads kernels
    profile = cProfile.Profile(builtins=False)
    with profile:
        scored = run(capsys, "score", hypothesis, reference)
    assert "50.0" in scored.out
    profile.create_stats()
    calls = sum(each[1] for each in profile.stats.values())
    assert 1000 < calls < 5000  # 24,000 before detection asked the formats, and checks looked twice
