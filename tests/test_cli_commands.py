"""The commands convert, merge, show, phrases, symmetrize, agree and stats."""

import json
from importlib import import_module
from inspect import Parameter, signature

import pytest
from command import EFLOMAL, FAST, GOLD, PARAPHRASES, TEXTS, feed, made, run, write

from alignkit import read_corpus, write_corpus
from alignkit.cli.parser import Parser

SERVED = {
    "align.align": "align.aligner Aligner.train, align.aligner Aligner.align_bitext",
    "align.learn": "align.supervised.refiner Refiner.train",
    "annotate.project_assign": "annotate.assignment assign_pairs",
    "corpora.check": "corpora.leaks find_leaks",
    "corpora.convert": "io.reading read_corpus, io.tree_files attach_trees",
    "corpora.labels": "corpora.label_counts count_labels",
    "corpora.pairs": "corpora.pairings pair_translations",
    "corpora.select": "corpora.split split_corpus",
    "corpora.stats": "corpora.counts count_groups, corpora.wording_diversity diversity",
    "evaluate.agree": "agreement.question agree",
    "evaluate.agree_judgments": "agreement.judgments.question agree_on_judgments",
    "evaluate.agree_plan": "agreement.planning plan_pairs",
    "evaluate.agree_replace": "agreement.replacement.question replaceable",
    "evaluate.agree_sets": "agreement.set_agreement agree_on_sets",
    "evaluate.audit_pairs": "audit.judged_pairs draw_pairs, audit.sheets write_audit",
    "evaluate.audit_read": "audit.result read_audit",
    "evaluate.errors": "scoring.errors_by_kind link_errors",
    "evaluate.profile": "scoring.label_scores profile_labels",
    "evaluate.quality": "agreement.crowd crowd_quality",
    "evaluate.score": "scoring.scores score",
    "evaluate.score_labels": "scoring.label_scores score_labels",
    "evaluate.score_phrases": "scoring.phrase_list score_phrase_list",
    "phrases.paraphrase": "rules.rewrites paraphrase, rules.rule_index RuleIndex.build",
    "phrases.phrases": "model.phrases extract_phrases",
    "phrases.rules": "rules.learning learn_grammar, rules.files write_rules",
    "phrases.score_rules": "rules.rule_score score_rules",
}
APART = {  # objects, what the command makes of its files, and --annotator, --group, which repeat
    "ignore_identical",  # the flag turns it off
    "settings",
    "progress",
    "tell",
    "counts",
    "observe",
    "frequencies",
    "signature",
    "keep_rows",
    "unflagged",
    "lengths",
    "hypothesis",
    "reference",
    "source_tree",
    "target_tree",
    "confidence",
    "annotators",
    "groups",
    "approve",
    "everybody",
    "lenient",  # commands stop at a broken record; `check` alone goes on
}


@pytest.mark.parametrize("command", SERVED)
def test_an_option_has_the_same_name_in_python(command):
    parser = Parser(prog="x")
    import_module(f"alignkit.cli.{command}").add_arguments(parser)
    for module, name in map(str.split, SERVED[command].split(", ")):
        function = import_module(f"alignkit.{module}")
        for part in name.split("."):
            function = getattr(function, part)
        for known in signature(function).parameters.values():
            if known.kind == Parameter.KEYWORD_ONLY and known.name not in APART:
                flag = known.name.replace("_", "-")
                if known.default is True:
                    flag = f"no-{flag}"
                assert f"--{flag}" in parser._option_string_actions


def test_convert_tells_what_is_lost(capsys, tmp_path):
    out = tmp_path / "gold.align"
    given = ["convert", PARAPHRASES, out, "--to", "pharaoh"]
    run(capsys, *given).failed(PARAPHRASES, "eflomal, anna, ben, gold", "--annotator")
    run(capsys, *given, "--annotator", "nobody").failed(PARAPHRASES, "'nobody'", "anna")
    assert not out.exists()
    told = made(capsys, *given, "--annotator", "gold").err
    assert "genre, phenomena of 64 pairs" in told
    for kind in ("comment", "ids"):
        assert f"cannot represent {kind} of " in told
    assert len(read_corpus(out, format="pharaoh")) == 64


def test_convert_keeps_one_annotator_swaps_and_comes_back(capsys, tmp_path):
    out = tmp_path / "anna.xml"
    made(capsys, "convert", PARAPHRASES, out, "--to", "alignkit-xml", "--annotator", "anna")
    assert read_corpus(out, format="alignkit-xml").annotators == ("anna",)
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    for path, out in ((PARAPHRASES, once), (once, twice)):
        made(capsys, "convert", path, out, "--to", "alignkit-jsonl", "--swap")
    first = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    assert read_corpus(once, format="alignkit-jsonl") == first.transpose()
    assert read_corpus(twice, format="alignkit-jsonl") == first


def test_convert_writes_texts_beside(capsys, tmp_path):
    given = ["convert", PARAPHRASES, tmp_path / "a", "--to", "naacl", "--annotator", "gold"]
    made(capsys, *given, "--to-source", tmp_path / "s", "--to-target", tmp_path / "t")
    options = ["--format", "naacl", "--source", tmp_path / "s", "--target", tmp_path / "t"]
    assert made(capsys, "check", tmp_path / "a", *options).code == 0
    run(capsys, "convert", GOLD, "-", "--to", "giza").failed(GOLD, "--source and --target")
    run(capsys, *given[:3], "--to", "giza", "--to-source", "x").failed("contains the words")


def test_merge_adds_annotations(capsys, tmp_path):
    out = tmp_path / "both.xml"
    given = ["merge", GOLD, "--name", "gold", *TEXTS, "-o", out]
    made(capsys, *given, "--add", f"eflomal={EFLOMAL}:pharaoh", "--add", f"fast={FAST}")
    corpus = read_corpus(out, format="alignkit-xml")
    assert corpus.annotators == ("gold", "eflomal", "fast")
    assert corpus[0].has_text
    line = made(capsys, *given[:-1], "-", "--add", f"fast={FAST}").out.splitlines()[1]
    assert set(json.loads(line)["annotations"]) == {"gold", "fast"}


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ("x", "expected NAME=FILE[:FORMAT]"),
        ("=x", "expected NAME=FILE[:FORMAT]"),
        (f"x={EFLOMAL}:base=0:base=1", "base is given twice"),
        (f"x={EFLOMAL}:bass=1", "expected NAME=FILE[:FORMAT][:base=1][:transpose]"),
        (f"x={EFLOMAL}:base=2", "expected NAME=FILE[:FORMAT][:base=1][:transpose]"),
        (f"x={EFLOMAL}:pharaoh:naacl", "expected NAME=FILE[:FORMAT][:base=1][:transpose]"),
        (f"x={EFLOMAL}:pharoh", "did you mean 'pharaoh'?"),
        ("x=none:pharaoh", "none: cannot be read"),
        (f"alignment={EFLOMAL}", "an annotation 'alignment' already"),
        (f"x={PARAPHRASES}", "--in-order"),
    ],
)
def test_merge_tells_a_wrong_addition(capsys, tmp_path, added, told):
    run(capsys, "merge", GOLD, "--add", added, "-o", tmp_path / "out").failed(told)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("before", [":pharaoh", ""])
@pytest.mark.parametrize("common", [[], ["--base", "1"], ["--transpose"]])
def test_merge_takes_base_and_direction_of_each_file(capsys, tmp_path, before, common):
    turned, one, gold = tmp_path / "a:b.align", tmp_path / "one.align", tmp_path / "gold.align"
    base = 1 if "--base" in common else 0
    for pairs, path, first in (
        ([pair.transpose() for pair in read_corpus(EFLOMAL)], turned, base),
        (read_corpus(FAST), one, 1 - base),
        (read_corpus(GOLD), gold, base),
    ):
        write_corpus(pairs, path, format="pharaoh", base=first, transpose="--transpose" in common)
    out = tmp_path / "out.jsonl"
    added = [f"eflomal={turned}{before}:transpose", f"fast={one}{before}:base={1 - base}"]
    made(capsys, "merge", gold, "--add", added[0], "--add", added[1], "-o", out, *common)
    corpus = read_corpus(out)
    for name, path in (("eflomal", EFLOMAL), ("fast", FAST), ("alignment", GOLD)):
        expected = [pair.alignment("alignment") for pair in read_corpus(path)]
        assert [pair.alignment(name) for pair in corpus] == expected


def test_merge_in_order(capsys, tmp_path):
    links = tmp_path / "gold.align"
    made(capsys, "convert", PARAPHRASES, links, "--to", "pharaoh", "--annotator", "gold")
    given = ["merge", PARAPHRASES, "--add", f"same={links}", "-o", tmp_path / "out.jsonl"]
    run(capsys, *given).failed(PARAPHRASES, str(links), "--in-order")
    made(capsys, *given, "--in-order")
    for pair in read_corpus(tmp_path / "out.jsonl", format="alignkit-jsonl"):
        assert pair.alignment("same") == pair.alignment("gold")
    run(capsys, *given, "--in-order", "--to", "pharaoh").failed("format pharaoh", "one annotator")
    run(capsys, "merge", "-", "--add", "x=-", "-o", "-").failed("standard input")


def test_show_draws_the_pair_that_is_named(capsys, tmp_path):
    ran = made(capsys, "show", PARAPHRASES, "--id", "p05", "--annotators", "anna", "ben")
    assert ran.out.startswith("p05 ")
    assert "■ sure for both" in ran.out
    run(capsys, "show", PARAPHRASES, "--id", "p5").failed(PARAPHRASES, "'p5'")
    run(capsys, "show", PARAPHRASES, "--annotators", "nobody").failed(PARAPHRASES, "'nobody'")
    assert len(made(capsys, "show", GOLD, "--limit", "2", *TEXTS).out.split("\n\n\n")) == 2


def test_show_writes_pages_and_pictures(capsys, tmp_path):
    made(capsys, "show", PARAPHRASES, "--id", "p05", "--svg", tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg ")
    made(capsys, "show", GOLD, *TEXTS, "--html", tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<svg" in page or "<table" in page
    run(capsys, "show", GOLD, "--svg", tmp_path / "q.svg").failed("52", "--id")
    run(capsys, "show", GOLD, "--html", tmp_path / "no" / "q.html").failed("q.html")


def test_phrases_as_tsv_and_jsonl(capsys, tmp_path):
    links = write(tmp_path, "a", "0-0 1?1 2-2\n")
    given = ["phrases", links, "--source", write(tmp_path, "t", "a b c ||| x y z\n")]
    assert made(capsys, *given, "--links", "sure").out.splitlines() == [
        "1\t0\t1\t0\t1\tatomic\ta\tx",
        "1\t0\t3\t0\t3\tcomposite\ta b c\tx y z",
        "1\t2\t3\t2\t3\tatomic\tc\tz",
    ]
    for lines, more in {6: "", 3: "--kind atomic", 5: "--max-length 2"}.items():
        assert len(made(capsys, *given, *more.split()).out.splitlines()) == lines
    assert len(made(capsys, *given, "--kind", "composite").out.splitlines()) == 3
    assert len(made(capsys, *given, "--links", "sure", "--loose").out.splitlines()) == 9
    assert [json.loads(line) for line in made(capsys, *given, "--jsonl").out.splitlines()][1] == {
        "id": "1",
        "kind": "composite",
        "source": ["a", "b"],
        "target": ["x", "y"],
        "source_start": 0,
        "source_end": 2,
        "target_start": 0,
        "target_end": 2,
    }
    line = "1\t0\t1\t0\t1\tatomic\t\t\n"
    assert made(capsys, "phrases", links, "--kind", "atomic").out.startswith(line)
    run(capsys, "phrases", links, "--loose").failed(links, "--loose needs the words")
    run(capsys, "phrases", PARAPHRASES, "--annotator", "x", "-o", tmp_path / "o").failed("'x'")
    assert not (tmp_path / "o").exists()


def test_symmetrize_reads_any_format_and_pipes(capsys, tmp_path, monkeypatch):
    f, r = write(tmp_path, "f", "0-0 1-1 2-1\n"), write(tmp_path, "r", "0-0 1-1 3-1\n")
    given = ["--method", "intersection"]
    assert made(capsys, "symmetrize", f, r, *given).out == "0-0 1-1\n"
    union = ["--method", "union", "--reverse-transposed"]
    assert made(capsys, "symmetrize", f, r, *union).out == "0-0 1-1 1-3 2-1\n"
    feed(monkeypatch, "0-0 1-1\n")
    assert made(capsys, "symmetrize", "-", r, *given, "--to", "naacl").out == "1 1 1\n1 2 2\n"
    for path, old in (("f.wa", f), ("r.wa", r)):
        made(capsys, "convert", old, tmp_path / path, "--to", "naacl")
    ran = made(capsys, "symmetrize", tmp_path / "f.wa", tmp_path / "r.wa", "--format", "naacl")
    assert ran.out == made(capsys, "symmetrize", f, r).out
    longer = write(tmp_path, "longer", "0-0\n0-0\n")
    run(capsys, "symmetrize", f, longer, "-o", tmp_path / "out").failed(f, longer)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([PARAPHRASES, "--annotators", "anna", "x"], ("'x'", "ben")),
        ([PARAPHRASES, "--by", "x"], ("'x'", "genre")),
        ([GOLD, GOLD], ("given twice",)),
        ([GOLD], ("two or more annotators",)),
    ],
)
def test_agree_tells_a_wrong_choice(capsys, words, told):
    run(capsys, "agree", *words).failed(*told)


def test_stats_count_by_attribute(capsys, tmp_path):
    found = made(capsys, "stats", PARAPHRASES, "--by", "genre", "--json").json
    plain = made(capsys, "stats", PARAPHRASES, "--json").json
    assert {key: found[key] for key in plain} == plain
    groups = found["groups"]
    sizes = {value: part["pairs"] for value, part in groups.items()}
    assert sizes == {"news": 26, "novel": 22, "question": 16}
    assert sum(part["annotators"]["anna"]["sure"] for part in groups.values()) == 1062
    ran = made(capsys, "stats", PARAPHRASES, "--by", "genre")
    assert "news         26           556           548           21.4           21.1" in ran.out
    assert "question  gold          16      0   153       119" in ran.out
    ran = made(capsys, "stats", PARAPHRASES, "--by", "phenomena", "--split", ",")
    assert "64 of 64 sentence pairs" in ran.out
    run(capsys, "stats", PARAPHRASES, "--by", "gener").failed("did you mean 'genre'?")
    run(capsys, "stats", PARAPHRASES, "--split", ",").failed("--split needs --by")
    odd = made(capsys, "select", PARAPHRASES, "--ids", "p01", "-o", "-").out
    path = write(tmp_path, "odd.jsonl", odd.replace('"genre"', '"pairs"'))
    assert "(no " not in made(capsys, "stats", path, "--by", "pairs").out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--to-base", "1"], "leave out --to-base"),
        (["--to-transpose"], "leave out --to-base"),
        (["--name", "\udcff"], "is not UTF-8"),
    ],
)
@pytest.mark.parametrize("format", ["alignkit-xml", "alignkit-jsonl"])
def test_own_formats_are_written_as_they_are_read(capsys, tmp_path, format, more, message):
    out = tmp_path / "out"
    run(capsys, "convert", GOLD, out, "--to", format, *more).failed(message)
    assert not out.exists()
