"""Find paraphrases: phrases that share translations, by their probabilities.

TABLE is a phrase table, as 'alignkit phrases --table' writes it, or one of Moses ('|||'). Two of
its phrases e1 and e2 are paraphrases if both are paired with some phrase f, the pivot, and
p(e2 | e1) is the sum of p(e2 | f) p(f | e1) over all such f (Bannard & Callison-Burch 2005). With
TABLE2, e1 is of TABLE and e2 of TABLE2.

TABLE may also hold rules with both probabilities, of any grammar and format of 'alignkit rules':
then rules with one side in common make paraphrase rules, whose p(t|s) is p(e2 | e1).

A table may be in several files, TABLE having a '*' (in quotes); the workers of a cluster join
phrase tables of one or several files at once.

One line a paraphrase, in tab-separated columns: e1, e2, p(e2 | e1), p(e1 | e2), the number of
pivots; sorted by e1, the most probable first. What memory does not hold is sorted on disk, beside
the output. What is left out is told.

For example:
  alignkit align fr.txt en.txt -o links.align
  alignkit phrases links.align --source fr.txt --target en.txt --table --max-length 7 -o table.tsv
  alignkit pivot table.tsv -o paraphrases.tsv
  alignkit pivot table.tsv.gz -o paraphrases.tsv.gz --cluster tcp://head:8786 --work /shared/pivot
  alignkit pivot hiero.joshua --min-count 2 --to ppdb -o rules.ppdb
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from alignkit.cli.cluster import add_cluster, of_parts
from alignkit.cli.files import refuse_second_reading
from alignkit.cli.inputs import add_limits, tell
from alignkit.cli.parser import number, output_file
from alignkit.cli.pivot_tables import join_phrases, pivot_of_parts, tell_joined
from alignkit.cli.progress import Progress
from alignkit.cli.rule_output import add_labels, joined_labels, tell_written
from alignkit.cli.sorting import add_memory, room
from alignkit.errors import OptionError
from alignkit.formats.encoding import line_encoding
from alignkit.input import look_ahead
from alignkit.output import replacing, sorting_folder

if TYPE_CHECKING:
    from alignkit.rules.grammar import RuleType
    from alignkit.tables.pivot_steps import PivotSettings

_PHRASES = ("tsv", "moses")
_RULES = ("tsv", "jsonl", "xrs", "joshua", "moses", "ppdb")  # help must not load what knows them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("table", metavar="TABLE", help="phrase table (.gz too); - is stdin")
    parser.add_argument(
        "second", metavar="[TABLE2]", nargs="?", help="where e2 is from (default: TABLE)"
    )
    group = parser.add_argument_group("what is joined")
    group.add_argument(
        "--pivot",
        choices=("source", "target"),
        default="source",
        help="the side of f; the paraphrases are of the other (default: source)",
    )
    group.add_argument(
        "--min-count",
        type=number(1),
        default=1,
        metavar="N",
        help="leave out phrase pairs that were seen less often, before all else (default: 1)",
    )
    add_memory(group, "phrase pairs and paraphrases")
    group = parser.add_argument_group("what is kept")
    group.add_argument(
        "--min-p",
        type=float,
        default=0.001,
        metavar="P",
        help="leave out paraphrases with a lower p(e2 | e1) (default: 0.001)",
    )
    group.add_argument(
        "--top",
        type=number(0),
        default=20,
        metavar="N",
        help="keep the N most probable ones of each e1; 0 keeps all (default: 20)",
    )
    group.add_argument(
        "--identity", action="store_true", help="keep e2 = e1 too (default: left out)"
    )
    group = parser.add_argument_group("what the output is")
    group.add_argument(
        "-o", "--output", metavar="FILE", type=output_file, default="-", help="default: stdout"
    )
    group.add_argument(
        "--jsonl", action="store_true", help="write one JSON object a line (default: TSV)"
    )
    group.add_argument(
        "--to",
        metavar="F",
        choices=_RULES,
        help="format of paraphrase rules (default: that of TABLE)",
    )
    add_labels(group)
    group = parser.add_argument_group("what the input is")
    group.add_argument(
        "--table-format",
        choices=_PHRASES,
        help="format of phrase tables (default: moses where the first line has '|||', else tsv)",
    )
    group.add_argument(
        "--rules",
        metavar="F",
        choices=_RULES,
        help="the tables are rules in this format (default: found by their first lines): "
        f"{', '.join(_RULES)}",
    )
    group.add_argument(
        "--encoding", default="utf-8", metavar="E", help="of all input (default: utf-8)"
    )
    add_limits(group, words=False)
    add_cluster(parser, estimate=False)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from alignkit.tables.pivot_steps import PivotSettings

    refuse_second_reading(options)
    line_encoding(options.encoding)  # refuses what is none
    settings = PivotSettings(options.min_p, options.top or None, options.identity)
    tables = [options.table] + ([] if options.second is None else [options.second])
    if of_parts(options, *tables):
        return pivot_of_parts(tables, settings, options)
    formats = [_rules_format(path, options) for path in tables]
    if formats.count(None) not in (0, len(formats)):
        raise OptionError(
            f"of {' and '.join(tables)}, one holds phrase pairs and one rules; join two alike"
        )
    if formats[0] is not None:
        return _rules(tables, formats, settings, options)
    if options.to is not None:
        raise OptionError("--to is about rules, and these are phrase pairs; see --jsonl")
    if options.one_label:
        raise OptionError("--one-label is about rules, and these are phrase pairs: leave it out")
    return join_phrases([[path] for path in tables], tables, settings, options)


def _rules_format(path: str, options: argparse.Namespace) -> str | None:
    """Return the format of rules that a file holds, None if it holds phrase pairs."""
    if options.rules is not None or options.table_format is not None:
        return cast("str | None", options.rules)
    from alignkit.rules.files.registry import found_format

    head, _ = look_ahead(path, 1 << 16, options.max_size, options.encoding)
    line = head.decode(options.encoding, "replace").removeprefix("\ufeff").partition("\n")[0]
    found = None if "\t" in line else found_format(path, line)
    if found == "moses" and not line.partition("|||")[0].rstrip().endswith("]"):
        return None  # its phrase tables lack the left-hand side
    return found


def _rules(
    tables: list[str],
    formats: list[str | None],
    settings: PivotSettings,
    options: argparse.Namespace,
) -> int:
    from alignkit.rules.files import WrittenRules, read_rules, rule_lines
    from alignkit.rules.pivot import RulePivot

    if options.jsonl:
        raise OptionError("--jsonl is about phrase pairs, and these are rules; say --to jsonl")
    format = options.to or formats[0] or ""
    joined = joined_labels(options, format)
    written = WrittenRules()
    with (
        replacing(options.output) as out,
        RulePivot(
            len(tables), on=options.pivot, folder=sorting_folder(options.output), room=room(options)
        ) as made,
    ):
        for side, (path, format) in enumerate(zip(tables, formats, strict=True), start=1):
            rules = read_rules(path, format, encoding=options.encoding, max_size=options.max_size)
            with Progress(path, lambda: None, "rules") as progress:
                try:
                    seen = made.add(side, _stepped(rules, progress), min_count=options.min_count)
                except OptionError as problem:
                    raise OptionError(f"{path}: {problem}") from None
            if not seen:
                raise OptionError(f"{path}: holds no rules; name a file that does")
            tell(path, made.left_out, f"of {seen:,} rules, left out: ")
            made.left_out.clear()
        rules = map(_rounded, made.rules(settings))
        out.writelines(rule_lines(rules, format, joined_labels=joined, told=written))
    tell_joined(made.pivot.tally, made.pivot.repeated, settings, " and ".join(tables))
    tell_written(options.output, written, format)
    return 0


def _stepped(rules: Iterator[RuleType], progress: Progress) -> Iterator[RuleType]:
    for rule in rules:
        yield rule
        progress.step()


def _rounded(rule: RuleType) -> RuleType:
    """Return a rule with twelve digits of its probabilities; those behind tell nothing."""
    p, back = (float(f"{number:.12g}") for number in (rule.p_target or 0, rule.p_source or 0))
    return replace(rule, p_target=p, p_source=back)
