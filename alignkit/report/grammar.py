"""Show a grammar for reading: its rules by kind and count, each with where it was seen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from alignkit.arguments import check_arguments
from alignkit.report.columns import Cell, Column
from alignkit.report.table import Table
from alignkit.rules.files.notation import rule_text, side_text
from alignkit.rules.grammar import Grammar, RuleType
from alignkit.rules.kinds import KINDS
from alignkit.visible import visible

_WEIGHTS = (
    Column("count", "number", digits=6),
    Column("p(t|s)", "decimal", key="p_target"),
    Column("p(s|t)", "decimal", key="p_source"),
)
_COUNT, _P = 7, 7


def grammar_summary(grammar: Grammar) -> Table:
    """Return a table of how many rules and types a grammar has of each kind."""
    rows: list[list[Cell]] = [
        [kind, tokens, types] for kind, (tokens, types) in grammar.kinds().items() if types
    ]
    rows.append(["all", grammar.tokens, len(grammar)])
    columns = [Column("kind"), Column("rules", "number", digits=10), Column("types", "count")]
    return Table("", columns, rows, apart=[len(rows) - 1])


def grammar_tables(grammar: Grammar, *, most: int | None = 20) -> Iterator[Table]:
    """Yield a table for each kind of rule, the most frequent rules first."""
    check_arguments(grammar_tables, locals())
    columns = [*_WEIGHTS, Column("source"), Column("target"), Column("pair"), Column("words")]
    for kind, types in rules_by_kind(grammar).items():
        shown = types[:most]
        rows = [
            [
                entry.count,
                entry.p_target,
                entry.p_source,
                *map(side_text, entry.rule),
                *_place(entry),
            ]
            for entry in shown
        ]
        yield Table(_heading(kind, types), columns, rows, note=_rest(types, shown))


def grammar_lines(grammar: Grammar, *, most: int | None = 20) -> Iterator[str]:
    """Yield the lines of a listing of rules by kind, below each the sentences of its examples."""
    check_arguments(grammar_lines, locals())
    margin = " " * (_COUNT + 2 * (_P + 1) + 2)
    for number, (kind, types) in enumerate(rules_by_kind(grammar).items()):
        if number:
            yield ""
        shown = types[:most]
        yield _heading(kind, types)
        yield f"{'count':>{_COUNT}} {'p(t|s)':>{_P}} {'p(s|t)':>{_P}}"
        for entry in shown:
            yield (
                f"{_number(entry.count)} {_share(entry.p_target)} {_share(entry.p_source)}  "
                + visible(rule_text(entry.rule))
            )
            for example in entry.examples:
                name = f"{visible(example.id)}: "
                yield margin + name + _marked(example.source, example.source_span)
                yield margin + " " * len(name) + _marked(example.target, example.target_span)
        if rest := _rest(types, shown):
            yield margin + rest


def rules_by_kind(grammar: Grammar) -> dict[str, list[RuleType]]:
    """Return the rule types of each kind that a grammar has, in the order of `KINDS`."""
    by_kind: dict[str, list[RuleType]] = {kind: [] for kind in KINDS}
    for entry in grammar:
        by_kind[entry.kind].append(entry)
    return {kind: types for kind, types in by_kind.items() if types}


def _heading(kind: str, types: list[RuleType]) -> str:
    tokens = sum(entry.count or 0 for entry in types)
    rules = "rule" if tokens == 1 else "rules"
    noun = "type" if len(types) == 1 else "types"
    return f"{kind}: {KINDS[kind]}; {tokens:,.10g} {rules} of {len(types):,} {noun}"


def _rest(types: list[RuleType], shown: list[RuleType]) -> str:
    left = len(types) - len(shown)
    return f"... {left:,} more {'type' if left == 1 else 'types'}" if left else ""


def _place(entry: RuleType) -> tuple[str, str]:
    for example in islice(entry.examples, 1):
        spans = (f"{start}-{end}" for start, end in (example.source_span, example.target_span))
        return example.id, " ".join(spans)
    return "", ""


def _number(count: float | None) -> str:
    return (
        f"{'-' if count is None else f'{count:,.4g}' if count % 1 else f'{count:,.0f}':>{_COUNT}}"
    )


def _share(value: float | None) -> str:
    return f"{'-' if value is None else f'{value:.3f}':>{_P}}"


def _marked(words: tuple[str, ...], span: tuple[int, int]) -> str:
    """Return a sentence with some of its words in brackets."""
    start, end = span
    middle = f"[{' '.join(words[start:end])}]"
    return visible(" ".join([*words[:start], middle, *words[end:]]))
