"""List the rules of a grammar by kind: as tables, and as lines of text with examples."""

from __future__ import annotations

from collections.abc import Iterator

from alignkit._support.wording import how_many, visible
from alignkit.rules.files.notation import rule_text, side_text
from alignkit.rules.grammar import KINDS, Grammar, RuleType
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

_WEIGHTS = (
    Column("count", "number", digits=6),
    Column("p(t|s)", "decimal", key="p_target"),
    Column("p(s|t)", "decimal", key="p_source"),
)
_COUNT = 7  # the width of counts in a listing
_P = 7  # that of probabilities


def grammar_summary(grammar: Grammar) -> Table:
    """Return a table with the number of rules and types of each kind."""
    rows: list[list[Cell]] = []
    for kind, (tokens, types) in grammar.kinds().items():
        if types:
            rows.append([kind, tokens, types])
    rows.append(["all", grammar.tokens, len(grammar)])
    columns = [Column("kind"), Column("rules", "number", digits=10), Column("types", "count")]
    return Table("", columns, rows, apart=[len(rows) - 1])


def grammar_tables(grammar: Grammar, *, limit: int | None = 20) -> Iterator[Table]:
    """Yield a table for each kind of rule, the most frequent rules first."""
    columns = [*_WEIGHTS, Column("source"), Column("target"), Column("pair"), Column("words")]
    for kind, types in rules_by_kind(grammar).items():
        shown = types[:limit]
        rows: list[list[Cell]] = []
        for entry in shown:
            row: list[Cell] = [entry.count, entry.p_target, entry.p_source]
            row += [*map(side_text, entry.rule), *_first_place(entry)]
            rows.append(row)
        yield Table(_heading(kind, types), columns, rows, note=_rest(types, shown))


def grammar_lines(grammar: Grammar, *, limit: int | None = 20) -> Iterator[str]:
    """Yield the lines of a listing of rules by kind, with example sentences below each rule."""
    margin = " " * (_COUNT + 1 + _P + 1 + _P + 2)  # below the rules: the columns and their gaps
    for number, (kind, types) in enumerate(rules_by_kind(grammar).items()):
        if number:
            yield ""
        shown = types[:limit]
        yield _heading(kind, types)
        yield f"{'count':>{_COUNT}} {'p(t|s)':>{_P}} {'p(s|t)':>{_P}}"
        for entry in shown:
            count = _number(entry.count)
            p_target = _share(entry.p_target)
            p_source = _share(entry.p_source)
            yield f"{count} {p_target} {p_source}  {visible(rule_text(entry.rule))}"
            for example in entry.examples:
                name = f"{visible(example.id)}: "
                yield margin + name + _marked(example.source, example.source_span)
                yield margin + " " * len(name) + _marked(example.target, example.target_span)
        rest = _rest(types, shown)
        if rest:
            yield margin + rest


def rules_by_kind(grammar: Grammar) -> dict[str, list[RuleType]]:
    """Return the rule types of each kind that a grammar has, in the order of `KINDS`."""
    by_kind: dict[str, list[RuleType]] = {kind: [] for kind in KINDS}
    for entry in grammar:
        by_kind[entry.kind].append(entry)
    return {kind: types for kind, types in by_kind.items() if types}


def _heading(kind: str, types: list[RuleType]) -> str:
    """Return what a kind means, and how many rules and types are of it."""
    tokens = sum(entry.count or 0 for entry in types)
    rules = "rule" if tokens == 1 else "rules"
    of = how_many(len(types), "type", commas=True)
    return f"{kind}: {KINDS[kind]}; {tokens:,.10g} {rules} of {of}"


def _rest(types: list[RuleType], shown: list[RuleType]) -> str:
    """Return how many types are not shown, as text; empty for none."""
    left = len(types) - len(shown)
    if left:
        return f"... {left:,} more {'type' if left == 1 else 'types'}"
    return ""


def _first_place(entry: RuleType) -> tuple[str, str]:
    """Return the pair and the spans of the first example."""
    if not entry.examples:
        return "", ""
    example = entry.examples[0]
    start, end = example.source_span
    target_start, target_end = example.target_span
    return example.id, f"{start}-{end} {target_start}-{target_end}"


def _number(count: float | None) -> str:
    """Return a count as text of the width of its column."""
    if count is None:
        text = "-"
    elif count % 1:
        text = f"{count:,.4g}"
    else:
        text = f"{count:,.0f}"
    return f"{text:>{_COUNT}}"


def _share(value: float | None) -> str:
    """Return a probability as text of the width of its column."""
    text = "-" if value is None else f"{value:.3f}"
    return f"{text:>{_P}}"


def _marked(words: tuple[str, ...], span: tuple[int, int]) -> str:
    """Return a sentence with some of its words in brackets."""
    start, end = span
    middle = f"[{' '.join(words[start:end])}]"
    return visible(" ".join([*words[:start], middle, *words[end:]]))
