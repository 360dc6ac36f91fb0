"""Rules are written and read again: equal, or, where a format knows no trees, as equal lines."""

import gzip
import io
import json
import math
import re
from dataclasses import replace

import pytest
from format_files import damaged
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses
from repetitions import repetitions
from strategies_rules import TEXTS, leaves_of, rule_types

from alignkit import FormatError, attach_trees, read_corpus
from alignkit.errors import ArgumentError, UnknownFormatError, UnknownNameError
from alignkit.io.atomic_files import WriteError
from alignkit.rules import learn_grammar, parse_rule, read_rules, rule_text, write_rules
from alignkit.rules.files import RULE_FORMATS, WrittenRules, get_rule_format, rule_lines
from alignkit.rules.files.escapes import FEATURE, LABEL, MOSES_LABEL, VALUE, WORD
from alignkit.rules.grammar import Example, Grammar, Node, Rule, RuleType, Variable

EQUAL = ["tsv", "jsonl", "xrs"]
FLAT = ["joshua", "moses", "ppdb"]

NESTED = 'NP(NP(x0:DT x1:NN) PP(IN("of") NP(x2:NNP))) ||| NP(x0:DT x2:NNP x1:NN)'
PLAIN = RuleType(
    parse_rule('VP(VBD("coming") IN("from") x0:NP) ||| VP(IN("out") x0:NP)'),
    count=3,
    pairs=2,
    p_target=0.5,
    p_source=0.25,
    lexical_target=0.125,
    lexical_source=1.0,
    alignment=((0, 0), (1, 0)),
)
LINES = {
    "tsv": 'VP(VBD("coming") IN("from") x0:NP) ||| VP(IN("out") x0:NP) ||| 3 0.5 0.25 pairs=2 '
    "lexical_target=0.125 lexical_source=1 links=0-0,1-0",
    "xrs": 'VP(VBD("coming") IN("from") x0:NP) -> VP(IN("out") x0:NP) ### id=1 count=3 '
    "p_target=0.5 p_source=0.25 pairs=2 lexical_target=0.125 lexical_source=1 "
    "align={{{[#s=3 #t=2 0,0 1,0 2,1]}}}",
    "joshua": "[VP] ||| coming from [NP,1] ||| out [NP,1] ||| p(e|f)=0.6931471806 "
    "p(f|e)=1.386294361 Lex(e|f)=2.079441542 Lex(f|e)=0 count=3 pairs=2 ||| 0-0 1-0",
    "ppdb": "[VP] ||| coming from [NP,1] ||| out [NP,1] ||| p(e|f)=0.6931471806 "
    "p(f|e)=1.386294361 Lex(e|f)=2.079441542 Lex(f|e)=0 count=3 pairs=2 ||| 0-0 1-0 2-1",
    "moses": "coming from [NP][NP] [VP] ||| out [NP][NP] [VP] ||| 0.25 1 0.5 0.125 ||| "
    "0-0 1-0 2-1 ||| 12 6 3",
}

# lines as other tools write them; what they hold is made up
OTHERS = {
    "joshua": [
        "[X] ||| a ||| c ||| 1.0",
        "[S] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| 0.434294482 0 0",
        "[X] ||| der ||| of the ||| Lex(e|f)=1.38629 Lex(f|e)=0 PhrasePenalty=1 p(e|f)=0.50000",
        "[NP\\NN] ||| der [NN+VP,1] , ||| the , [NN+VP,1] ||| lexprob=-3.14 abstract=0 count=17",
        "[X] ||| a &amp; b &apos; ||| & ||| p(f|e)=0.69315 Sim=NA ||| 0-0 1-0",
    ],
    "ppdb": [
        "[VP/NP] ||| [VB/NP,1] up with [PP,2] ||| [PP,2] , [VB/NP,1] ||| PPDB2.0Score=3.1 "
        "-logp(LHS|e1)=0 -logp(e1|e2)=2.39790 -logp(e2|e1)=1.44238 -logp(e2|e1,LHS)=-0.1 "
        "Lex(e1|e2)=63.30685 Lex(e2|e1)=6 MVLSASim=NA ||| 0-2 1-1 2-1 3-0 ||| Equivalence",
        "[CD] ||| 67.20 ||| 67,20 ||| Abstract=0 Lex(e|f)=62.90141 p(LHS|e)=0.1 p(e|f)=-0.00001 "
        "p(f|e)=0.00000 ||| 0-0",
    ],
    "moses": [
        "! es [X][VP] , [X] ||| , we [X][VP] , [PRN] ||| 0.01 0.0095 1 0.000537615 2.718 ||| 2-2 "
        "||| 98 1",
        "[X][S] [X][,] [X] ||| [X][S] [X][,] [S] ||| 2.718 ||| 0-0 1-1 ||| 0",
        "[X][S] [X][X] [X] ||| [X][X] [X][S] [S] ||| 1 ||| 0-1 1-0 ||| ||| |||",
        "das &#124; es ||| it ||| 0.5 0.25 0.5 1e-05 ||| 0-0 2-0 ||| 4 2 2 ||| {{Tree [S]}} |||",
        "das ||| this ||| 1",
    ],
}


def written(types, format, **options):
    return list(rule_lines(types, format, **options))


def read(lines, format=None, *, path):
    path.write_text("".join(lines), "utf-8", newline="\n")
    return list(read_rules(path, format))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("rules") / "rules"


@given(types=st.lists(rule_types(), max_size=3))
@pytest.mark.parametrize("format", EQUAL)
def test_rules_read_back_equal(place, format, types):
    held = get_rule_format(format).holds
    kept = [one if "examples" in held else replace(one, examples=()) for one in types]
    assert read(written(types, format), format, path=place) == kept


@given(types=st.lists(rule_types(), max_size=3), joined=st.booleans())
@pytest.mark.parametrize("format", FLAT)
def test_flat_lines_read_back_equal(place, format, types, joined):
    lines = written(types, format, one_label=not joined)
    again = read(lines, format, path=place)
    assert written(again, format) == lines
    assert written(read(written(again, "jsonl"), "jsonl", path=place), format) == lines


@given(type=rule_types(deletions=False, extra=st.just(())))
@pytest.mark.parametrize("format", FLAT)
def test_flat_lines_hold_words_variables_and_weights(place, format, type):
    again = read(written([type], format), format, path=place)
    if not all(_symbols(side) for side in type.rule):
        assert not again
        return
    (found,) = again
    for ours, theirs in zip(type.rule, found.rule, strict=True):
        assert _symbols(ours) == _symbols(theirs)
    for name in ("p_target", "p_source", "lexical_target", "lexical_source", "count"):
        if (value := getattr(found, name)) is not None:
            assert math.isclose(value, getattr(type, name), rel_tol=1e-7, abs_tol=1e-300)


def _symbols(side):
    return [item if isinstance(item, str) else item.number for item in leaves_of(side)]


@given(text=TEXTS)
def test_escapes_are_reversible(text):
    never = {WORD: "[]|", LABEL: "[]|,~", MOSES_LABEL: "[]|", FEATURE: "=", VALUE: ""}
    for kind, signs in never.items():
        escaped = kind.escape(text)
        assert kind.unescape(escaped) == text
        assert escaped
        assert escaped.split() == [escaped] or not escaped.isascii()
        assert not set(signs) & set(escaped)


@pytest.mark.parametrize("format", LINES)
def test_a_rule_is_written_as_its_format_says(format, tmp_path):
    assert written([PLAIN], format) == [f"{LINES[format]}\n"]
    (found,) = read([LINES[format]], path=tmp_path / "rules")  # the format is found
    assert written([found], format) == [f"{LINES[format]}\n"]
    if format in EQUAL:
        assert found == PLAIN
    assert (found.alignment, found.p_target) == (PLAIN.alignment, pytest.approx(0.5))


@pytest.mark.parametrize("format", OTHERS)
def test_lines_of_other_tools_are_kept_as_they_are(format, tmp_path):
    lines = [f"{line}\n" for line in OTHERS[format]]
    found = read(lines, format, path=tmp_path / "rules")
    assert written(found, format) == lines
    again = read(written(found, "tsv"), "tsv", path=tmp_path / "rules")
    assert again == found
    assert written(again, format) == lines


def test_what_other_tools_tell_is_understood(tmp_path):
    path = tmp_path / "rules"
    (one,) = read([OTHERS["joshua"][3]], path=path)
    assert (one.rule.source.label, one.count) == ("NP\\NN", 17)
    assert one.extra == (("lexprob", "-3.14"), ("abstract", "0"))
    (one,) = read([OTHERS["ppdb"][0]], path=path)
    assert one.rule == parse_rule('VP/NP(x0:VB/NP "up" "with" x1:PP) ||| VP/NP(x1:PP "," x0:VB/NP)')
    assert one.p_target == pytest.approx(math.exp(-1.44238))
    assert (one.p_source, one.alignment) == (pytest.approx(math.exp(-2.3979)), ((1, 1), (2, 1)))
    (one,) = read([OTHERS["ppdb"][1]], path=path)
    assert (one.p_target, one.p_source, one.count) == (None, 1, None)  # one is no probability
    (one,) = read([OTHERS["moses"][0]], path=path)
    assert one.rule == parse_rule('X("!" "es" x0:X ",") ||| PRN("," "we" x0:VP ",")')
    assert (one.p_source, one.p_target, one.count) == (0.01, 1, None)
    (one,) = read([OTHERS["moses"][2]], path=path)
    assert one.rule == parse_rule("X(x0:X x1:X) ||| S(x1:X x0:S)")
    (one,) = read([OTHERS["moses"][3]], path=path)
    assert one.rule == Rule(("das", "|", "es"), ("it",))
    assert (one.count, one.lexical_target, one.alignment) == (2, 1e-05, ((0, 0), (2, 0)))


@pytest.mark.parametrize("label", ["$$$", "%%%NP", "{", "{a}"])
@pytest.mark.parametrize("format", ["tsv", "xrs", "jsonl"])
def test_labels_at_the_head_of_a_file_are_labels(label, format, tmp_path):
    rule = RuleType(Rule(Node(label, ("$",)), Node("NP", ("$",))), 1, None, 1, 1)
    lines = written([rule], format)
    for named in (None, format):
        assert read(lines, named, path=tmp_path / "rules") == [rule]


def test_sides_of_rules_as_text_and_xrs_with_the_tree_on_the_left(tmp_path):
    assert rule_text(parse_rule(NESTED)) == NESTED
    assert rule_text(parse_rule("NP(x0:NP d0:PP) ||| x0")) == "NP(x0:NP d0:PP) ||| x0"
    text = "S(x0:'' x1:S x2:, VP(x3:VBD x4:NP) x5:.) ||| S(x0:'' x1:S x2:, x4:NP VP(x3:VBD) x5:.)"
    assert rule_text(parse_rule(text)) == text
    numbered = parse_rule("A(x0:B x1:C) ||| D(x1:E x0:F)")
    assert parse_rule("A(x7:B x3:C) ||| D(x3:E x7:F)") == numbered
    target = Node("NP", (Variable(1, "A"), Variable(0, "B")))
    rule = Rule(("auto", Variable(0), Variable(1)), target)
    line = 'NP(x0:A x1:B) -> "auto" x1 x0 ### id=1\n'
    assert written([RuleType(rule)], "xrs") == [line]
    other = Rule(*reversed(parse_rule('"auto" x0 x1 ||| NP(x1:A x0:B)')))
    assert read([line, *written([RuleType(other)], "xrs")], path=tmp_path / "rules")[0].rule == rule
    theirs = '$$$ filetype=rule\nNP(x0:A NN("b")) -> "c" x0 ### id=77 count=10^-2 note={{{a b}}}\n'
    (one,) = read([theirs], path=tmp_path / "rules")
    assert one.rule == parse_rule('"c" x0 ||| NP(x0:A NN("b"))')
    assert (one.count, one.extra) == (0.01, (("id", "77"), ("note", "a b")))
    assert " id=77 " in written([one], "xrs")[0]
    (one,) = read(['NP(x0:A) -> "c" x0 ||| 0.3 0.5\n'], path=tmp_path / "rules")
    assert one.extra == (("", "0.3"), ("", "0.5"))


def test_rules_that_a_format_cannot_hold_are_counted(tmp_path):
    texts = [NESTED, "NP(x0:NP d0:PP) ||| x0", 'NP("a") ||| S("b")', "NP(x0:NP) ||| NP(x0:S)"]
    types = [RuleType(parse_rule(text), pairs=1) for text in texts]
    told = WrittenRules()
    assert list(rule_lines(types, "joshua", written=told))[1:] == [
        "[NP~S] ||| a ||| b ||| pairs=1\n",
        "[NP] ||| [NP~S,1] ||| [NP~S,1] ||| pairs=1\n",
    ]
    assert told == WrittenRules(3, {"deleted or inserted variables": 1}, {"trees": 1}, joined=2)
    path = tmp_path / "rules.joshua"
    told = write_rules(Grammar(tuple(types)), path, "joshua", one_label=True)
    assert told.left_out["labels that differ between the sides"] == 2
    assert path.read_text("utf-8").count("\n") == told.rules == 1
    told = write_rules(types, path, "moses")
    assert (told.rules, dict(told.lost)) == (3, {"pairs": 3, "trees": 1})
    assert "[NP][S] [NP] ||| [NP][S] [NP]" in path.read_text("utf-8")


def test_a_line_does_not_end_in_bars_and_a_changed_feature_is_anew(tmp_path):
    bare = parse_rule("NP(x0:NN) ||| NP(x0:NN)")
    assert written([RuleType(bare, alignment=())], "joshua") == ["[NP] ||| [NN,1] ||| [NN,1]\n"]
    (line,) = written([RuleType(bare, count=1, alignment=())], "joshua")
    assert line == "[NP] ||| [NN,1] ||| [NN,1] ||| count=1\n"
    assert written([RuleType(bare)], "moses") == ["[NN][NN] [NP] ||| [NN][NN] [NP] ||| ||| 0-0\n"]
    thrax = read(["[X] ||| a ||| b ||| c=1 ||| \n"], path=tmp_path / "rules")
    assert written(thrax, "joshua") == ["[X] ||| a ||| b ||| c=1\n"]
    (one,) = read(["[X] ||| a ||| b ||| p(e|f)=0.69315 rare=1 p(f|e)=0.50000"], path=tmp_path / "r")
    changed = replace(one, p_target=0.25, p_source=None, alignment=((0, 0),))
    (line,) = written([changed], "joshua")
    assert line == "[X] ||| a ||| b ||| p(e|f)=1.386294361 rare=1 ||| 0-0\n"
    (one,) = read(["a ||| b ||| 0.5 0.5 ||| 0-0 ||| 3 3 1.0"], path=tmp_path / "r")
    changed = replace(one, p_target=0.25, count=2.0)
    assert written([changed], "moses") == ["a ||| b ||| 0.5 0.25 ||| 0-0 ||| 4 8 2\n"]


ERRORS = [
    ("tsv", 'NP("a") ||| NP("b")', None, "2 fields"),
    ("tsv", 'NP("a") ||| NP("b" ||| 1 - -', 13, "not closed"),
    ("tsv", 'NP("a") ||| NP("b") ||| 1 2 -', 27, "p_target is 2"),
    ("tsv", 'NP("a") ||| NP("b") ||| 1 - x', 29, "'x'; expected a number"),
    ("tsv", 'NP("a") ||| NP("b") ||| 1 - - pairs=2 pairs=2', 39, "twice"),
    ("tsv", 'NP("a") ||| NP("b") ||| 1 - - pairs=2 what', 39, "expected NAME=VALUE"),
    ("tsv", 'NP("a") ||| NP("b") ||| 1 - - links=0-1', None, "outside the sides"),
    ("tsv", 'NP("a") ||| NP(x0:A) ||| 1 - -', 13, "x0 is only on the target side"),
    ("tsv", "NP(x0:A x0:A) ||| NP(x0:A) ||| 1 - -", 19, "x0 is given twice"),
    ("tsv", 'NP(i0:A "a") ||| NP("a") ||| 1 - -', 18, "wrong side"),
    ("tsv", 'NP("a\\x") ||| NP("a") ||| 1 - -', 4, "not quoted as in JSON"),
    ("tsv", 'NP(a) ||| NP("a") ||| 1 - -', 4, "found 'a)'"),
    ("tsv", 'NP("a") "b" ||| NP("a") ||| 1 - -', 9, "one tree"),
    ("jsonl", '{"source": "NP(", "target": ""}', None, "not closed"),
    ("jsonl", '{"source": "x0", "target": "x0", "count": -1}', None, "0 or more"),
    ("jsonl", '{"source": "x0", "target": "x0", "alignment": [[0]]}', None, "two whole"),
    ("xrs", 'NP("a") "b" ### id=1', None, "expected LEFT -> RIGHT"),
    ("xrs", 'NP("a") -> "b" ### count=1 align={{{[0,1]}}}', 28, "outside the sides"),
    ("xrs", 'NP("a") -> x0', 1, "x0 is only on the source side"),
    ("joshua", "NP ||| a ||| b ||| 1", 1, "a label in brackets"),
    ("joshua", "[NP] ||| a [NP] ||| b ||| 1", 12, "expected a variable such as [NP,1]"),
    ("joshua", "[NP] ||| a [NP,1] ||| b ||| 1", None, "only on the source side"),
    ("joshua", "[NP] ||| a ||| b ||| p(e|f)=1,5", 22, "a negative natural logarithm"),
    ("joshua", "[NP] ||| a ||| b ||| 1 ||| 0-1", 28, "outside the sides"),
    ("joshua", "[NP] ||| a ||| b ||| 1 alignment=3", 24, "cannot be called alignment"),
    ("ppdb", "[NP] ||| a ||| b ||| entailment=3", 22, "cannot be called entailment"),
    ("ppdb", "[NP] ||| a ||| ||| 1 ||| 0-1", None, "found nothing"),
    ("moses", "a [X][X] [X] ||| [X][X] a [X] ||| 1 1 ||| 0-1", 1, "must be linked"),
    (
        "moses",
        "[X][X] [X][X] [X] ||| [X][X] [X][X] [X] ||| 1 1 ||| 0-0 0-1 1-0",
        1,
        "linked to two variables",
    ),
    (
        "moses",
        "[X][X] [X][X] [X] ||| [X][X] [X] ||| 1 1 ||| 0-0 1-0",
        1,
        "linked to two variables",
    ),
    ("moses", "a [X] ||| a ||| 1 1 ||| 0-0", 1, "only one of the sides ends in its label"),
    ("moses", "a [X] ||| a [X] ||| 1 7 ||| 0-0", 21, "p_target is 7"),
]


@pytest.mark.parametrize(("format", "line", "column", "message"), ERRORS)
def test_errors_tell_the_place(tmp_path, format, line, column, message):
    path = tmp_path / "rules.txt"
    good = LINES.get(format) or written([PLAIN], format)[0].strip()
    path.write_text(f"{good}\n\n{line}\n", "utf-8")
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        list(read_rules(path, format))
    assert (caught.value.path, caught.value.line) == (str(path), 3)
    if column is not None:
        assert caught.value.column == column


@pytest.mark.parametrize("format", RULE_FORMATS)
def test_damaged_files_give_an_error_with_a_line_or_rules(tmp_path, format):
    examples = (Example("7", ("a", "b"), ("c",), (0, 2), (0, 1)),)
    types = [replace(PLAIN, examples=examples), RuleType(parse_rule(NESTED), count=1.5)]
    whole = "".join(written(types, format) + [f"{line}\n" for line in OTHERS.get(format, [])])
    path = tmp_path / "rules"
    for text in damaged(whole.encode(), repetitions(200)):
        path.write_bytes(text)
        try:
            found = list(read_rules(path, format))
        except FormatError as problem:
            outcome = problem.line
        else:
            outcome = written(found, format)
        assert outcome


def test_the_format_is_found_by_content_then_by_name(tmp_path):
    assert read(["\n", *written([PLAIN], "jsonl")], path=tmp_path / "rules.txt") == [PLAIN]
    (tmp_path / "x.ppdb").write_text(LINES["joshua"], "utf-8")
    (one,) = read_rules(tmp_path / "x.ppdb")
    assert written([one], "ppdb") == [LINES["joshua"] + "\n"]
    with pytest.raises(UnknownFormatError, match="name one: tsv"):
        read(["nothing of the kind\n"], path=tmp_path / "rules.txt")
    with pytest.raises(FormatError, match=r"x\.tsv:1: 1 fields"):
        read(["nothing of the kind\n"], path=tmp_path / "x.tsv")
    assert read([], path=tmp_path / "rules.txt") == []


def test_packed_files_streams_and_standard_output(tmp_path, capsys):
    stream = io.StringIO()
    assert write_rules(iter([PLAIN, PLAIN]), stream, "tsv").rules == 2
    (tmp_path / "rules.gz").write_bytes(gzip.compress(stream.getvalue().encode()))
    assert list(read_rules(tmp_path / "rules.gz")) == [PLAIN, PLAIN]
    write_rules([PLAIN], "-", "jsonl")
    told = json.loads(capsys.readouterr().out)
    assert told["source"] == 'VP(VBD("coming") IN("from") x0:NP)'
    assert (told["count"], told["p_source"], told["alignment"]) == (3, 0.25, [[0, 0], [1, 0]])


def test_nothing_is_written_where_a_rule_is_none(tmp_path):
    path = tmp_path / "rules"
    path.write_text("old")
    refuses(ArgumentError, r"rules\[1\] is the string 'x'", write_rules, [PLAIN, "x"], path)
    unpaired = RuleType(Rule(Node("A", (Variable(0, "B"),)), Node("A", ("b",))))
    with pytest.raises(ArgumentError, match="both sides differ"):
        write_rules([PLAIN, unpaired], path, "joshua")
    refuses(UnknownNameError, "did you mean 'joshua'", write_rules, [PLAIN], path, "josua")
    with pytest.raises(WriteError, match="written as UTF-8"):
        write_rules([RuleType(parse_rule('A("a") ||| A("\ud800")'))], path)
    assert path.read_text() == "old"
    refuses(ArgumentError, "path is 3", read_rules, 3)
    refuses(UnknownNameError, None, read_rules, path, "csv")
    refuses(FormatError, "cannot be read", lambda: list(read_rules(tmp_path / "none")))


def test_a_deep_tree_is_written_and_read(tmp_path):
    side = Node("NN", ("leaf",))
    for _ in range(5000):
        side = Node("NP", (side,))
    lines = written([RuleType(Rule(side, side), count=1)], "tsv")
    assert lines[0].count("NP(") == 10_000
    assert written(read(lines, path=tmp_path / "rules"), "tsv") == lines
    (flat,) = written(read(lines, path=tmp_path / "rules"), "joshua")
    assert flat == "[NP] ||| leaf ||| leaf ||| count=1\n"
    with pytest.raises(FormatError, match="not closed"):
        read([lines[0].replace(")", "", 1)], path=tmp_path / "x.tsv")


@pytest.mark.slow
@pytest.mark.real_data
def test_grammars_of_real_pairs_are_kept(data, tmp_path):
    folder = data / "edinburgh"
    corpus = read_corpus(folder / "gold.train.sure.json", format="jacana")
    pairs = list(attach_trees(corpus, both_trees=folder / "train.parsed.xml.gz"))
    few, text = pairs[::8], {"grammar": "s2t", "string": "source"}
    for grammar in (learn_grammar(few, examples=1), learn_grammar(few, **text)):
        for format in RULE_FORMATS:
            path = tmp_path / f"rules.{format}"
            told = write_rules(grammar, path, format)
            assert told.rules + told.left_out.total() == len(grammar)
            found = list(read_rules(path))
            assert "".join(written(found, format)) == path.read_text("utf-8")
            if format == "jsonl":
                assert found == list(grammar)
            elif format in EQUAL:
                assert found == [replace(one, examples=()) for one in grammar]
    changed = learn_grammar(pairs).select(identity=False)
    alike = [one for one in changed if list(rule_lines([one], "ppdb", one_label=True))]
    assert sum(one.count for one in alike) == 2517
