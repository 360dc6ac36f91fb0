"""Paraphrase rules are the sum over the sides that rules share, variables where they belong."""

from dataclasses import replace

import pytest
import reference_pivot
from command import run, write
from hypothesis import given
from hypothesis import strategies as st

from alignkit.cli.phrases import FORMATS
from alignkit.rules.files import RULE_FORMATS, read_rules, write_rules
from alignkit.rules.files.notation import parse_rule, rule_text
from alignkit.rules.grammar import Node, Rule, RuleType, Variable
from alignkit.rules.tables.pivots import PivotSettings
from alignkit.rules.tables.rule_pivots import RulePivot


def pivot_rules(table, *second, on="source", min_count=1, **settings):
    with RulePivot(1 + len(second), on=on) as made:
        for number, types in enumerate((table, *second), start=1):
            made.add(number, types, min_count=min_count)
        yield from made.rules(PivotSettings(**settings))


@st.composite
def rules(draw):
    count = draw(st.integers(0, 3))
    sides = []
    for order in (range(count), draw(st.permutations(range(count)))):
        items = [Variable(k, draw(st.sampled_from("XY"))) for k in order]
        for word in draw(st.lists(st.sampled_from("ab"), max_size=2)):
            items.insert(draw(st.integers(0, len(items))), word)
        sides.append(Node("X", tuple(items)))
    return Rule(*sides)


def weighted(found):
    return [
        RuleType(Rule(*sides), count, p_target=p_target, p_source=p_source)
        for sides, (count, p_target, p_source) in reference_pivot.phrase_table(found).items()
    ]


def renamed(side, order):
    children = (
        item._replace(number=order.index(item.number)) if isinstance(item, Variable) else item
        for item in side.children
    )
    return Node(side.label, tuple(children))


def order_of(side):
    return [item.number for item in side.children if isinstance(item, Variable)]


def plain(table, on):
    entries = []
    for one in table:
        k = ("source", "target").index(on)
        pivot, phrase = one.rule[k], one.rule[1 - k]
        order = order_of(pivot)
        p = (one.p_source, one.p_target)
        entries.append((renamed(phrase, order), renamed(pivot, order), p[k], p[1 - k]))
    sums = {}
    for (e1, e2), row in reference_pivot.pivoted(entries, entries).items():
        order = order_of(e1)
        into = sums.setdefault((renamed(e1, order), renamed(e2, order)), [0, 0, 0])
        into[:] = [a + b for a, b in zip(into, row, strict=True)]
    return sums


@given(st.lists(rules(), max_size=12), st.sampled_from(["source", "target"]))
def test_paraphrase_rules_are_the_sum_over_shared_sides(found, on):
    table = weighted(found)
    assert {
        tuple(one.rule): [one.p_target, one.p_source, float(dict(one.extra)["pivots"])]
        for one in pivot_rules(table, on=on, min_p=0.0, top=None, identity=True)
    } == {pair: pytest.approx(row) for pair, row in plain(table, on).items()}


GRAMMAR = [
    ('X(x0:X "de" x1:X) ||| X(x0:X "of" x1:X)', 6, 0.6, 1.0),
    ('X(x0:X "de" x1:X) ||| X(x1:X "\'s" x0:X)', 4, 0.4, 0.8),
    ('X(x0:X "à" x1:X) ||| X(x1:X "\'s" x0:X)', 1, 0.5, 0.2),
    ('X(x0:X "à" x1:X) ||| X("his" x0:X x1:X)', 1, 0.5, 1.0),
]


def grammar():
    return [
        RuleType(parse_rule(text), count, p_target=p_target, p_source=p_source)
        for text, count, p_target, p_source in GRAMMAR
    ]


def test_reordered_variables_by_hand():
    found = {rule_text(one.rule): (one.p_target, one.p_source) for one in pivot_rules(grammar())}
    assert found == {
        'X(x0:X "of" x1:X) ||| X(x1:X "\'s" x0:X)': (0.4, pytest.approx(0.48)),
        'X(x0:X "\'s" x1:X) ||| X(x1:X "of" x0:X)': (pytest.approx(0.48), 0.4),
        'X(x0:X "\'s" x1:X) ||| X("his" x1:X x0:X)': (pytest.approx(0.1), 0.5),
        'X("his" x0:X x1:X) ||| X(x1:X "\'s" x0:X)': (0.5, pytest.approx(0.1)),
    }
    assert len(list(pivot_rules(grammar(), grammar(), min_p=0.2, top=1))) == 3
    assert list(pivot_rules(grammar(), min_count=5)) == []
    rare = [replace(rule, count=0.5) for rule in grammar()]
    assert len(list(pivot_rules(rare))) == 4


def test_trees_of_any_depth_and_strings_are_joined_too():
    texts = (
        'NP(x0:DT N("a" x1:PP)) ||| NP(x1:X x0:Y)',
        'NP(x0:DT N("a" x1:PP)) ||| NP(N(x0:Y) "b" x1:X)',
        'NP(x0:DT "a" x1:PP) ||| NP("c" x0:Y x1:X)',
    )
    table = [RuleType(parse_rule(text), p_target=0.5, p_source=0.5) for text in texts]
    assert [rule_text(one.rule) for one in pivot_rules(table)] == [
        'NP(N(x0:Y) "b" x1:X) ||| NP(x1:X x0:Y)',
        'NP(x0:X x1:Y) ||| NP(N(x1:Y) "b" x0:X)',
    ]
    strings = [Rule(("a", Variable(0), word), Node("S", (Variable(0, "X"), word))) for word in "bc"]
    strings.append(strings[0]._replace(source=(Variable(0), "a")))
    table = [RuleType(rule, p_target=0.5, p_source=0.5) for rule in strings]
    assert [one.rule for one in pivot_rules(table, on="target")] == [
        Rule(("a", Variable(0), "b"), (Variable(0), "a")),
        Rule((Variable(0), "a"), ("a", Variable(0), "b")),
    ]
    chain = flat = Node("A", ("x", Variable(0, "B")))
    for _ in range(5000):
        chain = Node("A", (chain,))
    table = [RuleType(Rule(flat, side), p_target=0.5, p_source=1) for side in (flat, chain)]
    found = {rule_text(one.rule) for one in pivot_rules(table)}
    assert found == {rule_text(Rule(flat, chain)), rule_text(Rule(chain, flat))}


@pytest.mark.parametrize("format", ["tsv", "jsonl", "joshua", "moses", "ppdb"])
def test_rules_in_any_format(capsys, tmp_path, format):
    path, out = tmp_path / f"grammar.{format}", tmp_path / "out"
    write_rules(grammar(), path, format)
    ran = run(capsys, "pivot", path, "-o", out)
    assert ran.code == 0, ran.err
    expected = {one.rule: pytest.approx(one.p_target, rel=1e-5) for one in pivot_rules(grammar())}
    assert {one.rule: one.p_target for one in read_rules(out, format)} == expected
    assert "4 of 4 paraphrases, from 4 paths" in ran.err
    ran = run(capsys, "pivot", path, path, "--to", "tsv", "--top", 1)
    out.write_text(ran.out, "utf-8")
    assert len(list(read_rules(out, "tsv"))) == 3
    assert "1 beyond the best 1" in ran.err
    assert run(capsys, "pivot", path, "--sort", "probability", "-o", out).code == 0
    p = [one.p_target for one in read_rules(out, format)]
    assert p == pytest.approx([0.5, 0.48, 0.4, 0.1], rel=1e-5)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_rules_in_another_encoding(capsys, tmp_path, encoding):
    text = 'X("é") ||| X("b") ||| 1 1 1\nX("é") ||| X("ö") ||| 1 1 1\n'
    path = write(tmp_path, "rules.tsv", text.encode(encoding))
    assert '"b"' in run(capsys, "pivot", path, "--encoding", encoding).out
    assert [one.rule for one in read_rules(path, encoding=encoding)][1].target == Node("X", ("ö",))
    run(capsys, "pivot", path).failed("not utf-8", "--encoding")
    run(capsys, "pivot", path, "--encoding", "utf-17").failed("unknown encoding 'utf-17'")


def test_what_cannot_be_joined_is_told(capsys, tmp_path):
    path, table = tmp_path / "grammar", tmp_path / "table"
    table.write_text("a\tb\t1\t1\t1\n")
    path.write_text("[X] ||| a [X,1] ||| b [X,1] ||| count=2\n")
    run(capsys, "pivot", path).failed("grammar: rule 1 lacks")
    write_rules([RuleType(grammar()[0].rule, p_target=0.5, p_source=0.5)], path, "tsv")
    run(capsys, "pivot", path, "--min-count", 2).failed("rule 1 has no count")
    run(capsys, "pivot", path, table).failed("the other rules")
    run(capsys, "pivot", path, "--jsonl").failed("use --to jsonl")
    run(capsys, "pivot", table, "--to", "tsv").failed("--to is for rules")
    run(capsys, "pivot", path, "--rules-format", "xrs").failed(f"{path}:1")
    path.write_text("\n")
    run(capsys, "pivot", path, "--rules-format", "tsv").failed("no rules")
    gone = RuleType(parse_rule('X(x0:X d0:Y "a") ||| X(x0:X "a")'), p_target=0.5, p_source=0.5)
    write_rules([*grammar(), gone], path, "tsv")
    left_out = "of 5 rules, left out: 1 x with deleted or inserted variables"
    assert left_out in run(capsys, "pivot", path).err
    assert tuple(RULE_FORMATS) == FORMATS
