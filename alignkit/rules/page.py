"""Draw a grammar as one self-contained HTML page, from the template `rules.html.j2`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing
from alignkit.rules.drawings.outline import outline_side
from alignkit.rules.drawings.svg import side_image
from alignkit.rules.files.notation import side_text
from alignkit.rules.grammar import KINDS, Grammar, RuleType, variables
from alignkit.rules.listing import rules_by_kind
from alignkit.show.html import page_template
from alignkit.tables.columns import Cell, Column
from alignkit.tables.media import style_sheet
from alignkit.tables.table import Table

RULES_A_KIND = 50  # the default number of rules of each kind on a page

_MOST_CHARACTERS = 4_000_000  # of the drawings of a page
_LARGEST = 400  # symbols of a rule that is drawn
_LONGEST = 4_000  # characters of a rule as text
_LONGEST_NAME = 200  # characters of the name of a drawing, for screen readers
_NAMES = {"stsg": "tree ", "s2t": "string-to-tree "}
_FACTS = {
    "p_target": "p(t|s)",
    "p_source": "p(s|t)",
    "p_rule": "p(rule|roots)",
    "lexical_target": "lex(t|s)",
    "lexical_source": "lex(s|t)",
}


def write_rules_page(
    grammar: Grammar,
    path: str,
    *,
    title: str = "Rules",
    limit: int = RULES_A_KIND,
    whole: Grammar | None = None,
) -> None:
    """Write the page of `draw_rules_page` to a file.

    Parameters
    ----------
    grammar, title, limit, whole : As in `draw_rules_page`.
    path : The file; ``-`` is standard output.

    Raises
    ------
    WriteError : If the page cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit import Alignment, SentencePair
    >>> from alignkit.model.trees import Tree
    >>> from alignkit.rules import learn_grammar
    >>> trees = {"source": Tree.parse("(NN car)"), "target": Tree.parse("(NN auto)")}
    >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
    >>> grammar = learn_grammar([pair.with_trees("gold", **trees)])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "rules.html")
    ...     write_rules_page(grammar, str(path), title="My rules")
    ...     path.exists()
    True
    """
    check_arguments(write_rules_page, locals())
    pieces = draw_rules_page(grammar, title=title, limit=limit, whole=whole)
    with replacing(path) as out:
        out.writelines(pieces)


def draw_rules_page(
    grammar: Grammar,
    *,
    title: str = "Rules",
    limit: int = RULES_A_KIND,
    whole: Grammar | None = None,
) -> Iterator[str]:
    """Draw a page of rules that needs no network and no script.

    Rules are sorted by kind, most frequent first. Each is drawn with both sides, its weights and
    its examples; variables have a number and a colour.

    Parameters
    ----------
    grammar, title : The rules, and the heading.
    limit : The number of rules of each kind to draw; the page shows the number of all rules.
    whole : The grammar from which these rules were selected, for its counts; None if these are all.

    Yields
    ------
    str
        The page in pieces, for UTF-8: about 5 MB at most, with fewer drawings if necessary.

    Raises
    ------
    OptionError : If `limit` is less than 1.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair
    >>> from alignkit.model.trees import Tree
    >>> from alignkit.rules import learn_grammar
    >>> trees = {"source": Tree.parse("(NN car)"), "target": Tree.parse("(NN auto)")}
    >>> pair = SentencePair("1", ["car"], ["auto"], {"gold": Alignment.parse("0-0")})
    >>> grammar = learn_grammar([pair.with_trees("gold", **trees)])
    >>> page = "".join(draw_rules_page(grammar, title="My rules"))
    >>> "<title>My rules</title>" in page
    True
    """
    check_arguments(draw_rules_page, locals())
    if limit < 1:
        raise OptionError(f"`limit` is {limit}; it must be 1 or more")
    by_kind = rules_by_kind(grammar)
    room = _MOST_CHARACTERS // max(len(by_kind), 1)
    of_all = grammar if whole is None else whole
    kinds = [_draw(name, types, limit, room) for name, types in by_kind.items()]
    left_out = {"Rules left out": grammar.dropped, "Sentence pairs skipped": grammar.passed_over}
    style = "".join(map(style_sheet, ("matrix", "drawings", "table", "page", "trees")))
    return page_template("rules.html.j2", count=_count).generate(
        title=title,
        style=style,
        shown=grammar,
        whole=of_all,
        name=_NAMES.get(of_all.kind, of_all.kind),
        left_out=[
            (what, _reasons(counts)) for what, counts in left_out.items() if any(counts.values())
        ],
        kinds=kinds,
        table=_table(of_all),
        unpaired=any(map(_has_unpaired, grammar)),
    )


def _reasons(counts: Mapping[str, int]) -> str:
    """Return reasons to leave something out, with their numbers, as text."""
    return ", ".join(f"{why} ({number:,})" for why, number in counts.items() if number)


def _has_unpaired(entry: RuleType) -> bool:
    """Return whether a rule has a variable on one side only."""
    return any(item.kind != "x" for side in entry.rule for item in variables(side))


def _draw(name: str, types: list[RuleType], limit: int, room: int) -> dict[str, Any]:
    """Return a kind of rules for the template.

    At most `limit` rules are drawn, in at most `room` characters, but always the first one.
    """
    drawn: list[dict[str, Any]] = []
    for entry in types[:limit]:
        rule = _drawn(entry)
        room -= len(rule["source"]) + len(rule["target"])
        if room < 0 and drawn:
            break
        drawn.append(rule)
    rest = ""
    left = len(types) - len(drawn)
    if left:
        verb = "is" if len(drawn) == 1 else "are"
        why = "to keep the page small"
        if len(drawn) == limit:
            why = "by the limit of the page"
        rest = f"; the first {len(drawn):,} {verb} drawn, {left:,} left out {why}"
    return {
        "name": name,
        "anchor": "kind-" + name.replace("+", "-with-"),
        "means": KINDS[name][:1].upper() + KINDS[name][1:],
        "types": len(types),
        "tokens": sum(entry.count or 0 for entry in types),
        "rest": rest,
        "rules": drawn,
    }


def _drawn(entry: RuleType) -> dict[str, Any]:
    """Return a rule for the template: its drawings, unless they are too large, and its data."""
    source = outline_side(entry.rule.source)
    target = outline_side(entry.rule.target)
    source_text = side_text(entry.rule.source)
    target_text = side_text(entry.rule.target)
    size = len(source) + len(target)
    source_image = ""
    target_image = ""
    if size <= _LARGEST:
        source_image = side_image(source, source_text)
        target_image = side_image(target, target_text)
    text = f"{source_text} ||| {target_text}"
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + f" … ({len(text):,} characters)"
    return {
        "facts": _weights(entry),
        "name": text if len(text) < _LONGEST_NAME else f"{text[:_LONGEST_NAME]} …",
        "text": text,
        "source": source_image,
        "target": target_image,
        "size": size,
        "examples": entry.examples,
    }


def _weights(entry: RuleType) -> str:
    """Return the count and the known weights of a rule as text."""
    parts = []
    if entry.count is not None:
        times = "time" if entry.count == 1 else "times"
        parts.append(f"seen {_count(entry.count)} {times}")
    if entry.pairs is not None:
        parts.append(f"in {how_many(entry.pairs, 'pair', commas=True)}")
    for field, name in _FACTS.items():
        value = getattr(entry, field)
        if value is not None:
            parts.append(f"{name}\N{NO-BREAK SPACE}{value:.3g}")
    return " · ".join(parts)


def _table(grammar: Grammar) -> Table:
    """Return the numbers of rules and types by kind, as the page shows them."""
    columns = [Column("kind"), Column("rules", "number"), Column("types", "count")]
    rows: list[list[Cell]] = []
    for name, (tokens, types) in grammar.kinds().items():
        if types:
            rows.append([name, _count(tokens) if tokens else None, _count(types)])
    return Table("Rules by kind", columns, rows)


def _count(count: float) -> str:
    """Return a count as text, with decimals only if it is no whole number."""
    if float(count).is_integer():
        return f"{count:,.0f}"
    return f"{count:,.2f}"
