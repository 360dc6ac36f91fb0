"""Find paraphrases: phrases e1 and e2 that share a translation, with the probability p(e2 | e1).

TABLE is a phrase table, as 'alignkit phrases --table' writes it, or one of Moses ('|||'). Two
phrases e1 and e2 are paraphrases if both are paired with the same phrase f, the pivot. p(e2 | e1)
is the sum of p(e2 | f) p(f | e1) over all such f (Bannard & Callison-Burch 2005). With TABLE2, e1
is from TABLE and e2 from TABLE2.

TABLE can also have rules with both probabilities, in any format of 'alignkit rules'.
Rules with one side in common then give paraphrase rules; their p(t|s) is p(e2 | e1).

A table can be in several files: TABLE then contains a '*' (in quotes). With --cluster, workers
process phrase tables, also those in a single file, in parallel.

Each line is one paraphrase, in tab-separated columns: e1, e2, p(e2 | e1), p(e1 | e2), number of
pivots; sorted by e1, then by probability, or all by probability (--sort probability). Data that
does not fit into memory is sorted on disk, next to the output. Anything left out is reported.

For example:
  alignkit align fr.txt en.txt -o links.align
  alignkit phrases links.align --source fr.txt --target en.txt --table --max-length 7 -o table.tsv
  alignkit pivot table.tsv -o paraphrases.tsv
  alignkit pivot table.tsv.gz -o paraphrases.tsv.gz --cluster tcp://head:8786 --work /shared/pivot
  alignkit pivot rules.joshua --min-count 2 --to ppdb -o paraphrases.ppdb
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, cast

from alignkit.cli.common import cluster
from alignkit.cli.common.files import refuse_second_reading
from alignkit.cli.common.inputs import add_limits, tell
from alignkit.cli.common.messages import ProgressBar, counted, json_text, say
from alignkit.cli.common.sorting import add_memory, room
from alignkit.cli.parser import Options, Parser, add_options, number, output_file
from alignkit.cli.phrases import FORMATS
from alignkit.cli.phrases.written_rules import add_labels, check_labels, tell_written
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing, sorting_folder
from alignkit.io.opening import look_ahead
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import line_encoding
from alignkit.model.texts import without_first_marks

if TYPE_CHECKING:
    from alignkit.rules.grammar import RuleType
    from alignkit.rules.tables.pivots import Paraphrase, Pivot, PivotSettings, PivotTally
    from alignkit.rules.tables.rule_pivots import RulePivot

_PHRASES = ("tsv", "moses")
_SORTS = ("phrase", "probability")  # as in `alignkit.rules.tables.pivots`, which is slow to import


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit pivot`."""
    parser.add_argument(
        "table", metavar="TABLE", help="table of phrases or rules (.gz too); - is stdin"
    )
    parser.add_argument(
        "second",
        metavar="TABLE2",
        nargs="?",
        help="second table, from the pivot language to the language of e2 (default: TABLE)",
    )
    group = parser.add_argument_group("joining")
    add_options(
        group,
        """
        --on  which side of TABLE is the pivot language; the paraphrases are on the other side
            (default: source)
        --min-count N  ignore phrase pairs with a lower count (default: 1)
        """,
        on={"choices": ("source", "target"), "default": "source"},
        min_count={"type": number(1), "default": 1},
    )
    add_memory(group, "phrase pairs and paraphrases")
    add_options(
        parser.add_argument_group("filters"),
        """
        --min-p P  leave out paraphrases with a lower p(e2 | e1) (default: 0.001)
        --top N  keep the N most probable paraphrases of each e1; 0 keeps all (default: 20)
        --identity  keep pairs with e2 = e1 (default: leave them out)
        """,
        min_p={"type": float, "default": 0.001},
        top={"type": number(0), "default": 20},
    )
    group = parser.add_argument_group("output")
    add_options(
        group,
        """
        -o, --output FILE  file to write (default: stdout)
        --sort  phrase: the paraphrases of each e1 together, probability: the most probable of all
            first (default: phrase)
        --jsonl  write one JSON object per line (default: TSV)
        --to F  format of the output, if TABLE holds rules (default: that of TABLE)
        """,
        output={"type": output_file, "default": "-"},
        to=FORMATS,
        sort={"choices": _SORTS, "default": _SORTS[0]},
    )
    add_labels(group)
    group = parser.add_argument_group("input")
    add_options(
        group,
        f"""
        --table-format  format of TABLE, if it holds phrases (default: moses if the first line has
            '|||', else tsv)
        --rules-format F  format of TABLE, if it holds rules (default: detected by the first lines):
            {", ".join(FORMATS)}
        --encoding E  encoding of all input (default: utf-8)
        """,
        table_format=_PHRASES,
        rules_format=FORMATS,
        encoding={"default": "utf-8"},
    )
    add_limits(group, words=False)
    cluster.add_cluster(parser, estimate=False)


def run(options: Options) -> None:
    """Join tables over a pivot language: of rules, of phrases, or of phrases in parts."""
    from alignkit.rules.tables.pivots import PivotSettings

    refuse_second_reading(options)
    line_encoding(options.encoding)  # refuses what is none
    settings = PivotSettings(options.min_p, options.top or None, options.identity, options.sort)
    tables = [options.table]
    if options.second is not None:
        tables.append(options.second)
    if cluster.of_parts(options, *tables):
        return _of_parts(tables, settings, options)
    formats = [_rules_format(path, options) for path in tables]
    if formats.count(None) not in (0, len(formats)):
        raise OptionError(
            f"{' and '.join(tables)}: one has phrase pairs, the other rules; both must be alike"
        )
    if formats[0] is not None:
        return _rules(tables, formats, settings, options)
    if options.to is not None:
        raise OptionError("--to is for rules, but these are phrase pairs: leave --to out")
    if options.one_label:
        raise OptionError("--one-label is for rules, but these are phrase pairs: leave it out")
    return _join_phrases([[path] for path in tables], tables, settings, options)


def _rules_format(path: str, options: Options) -> str | None:
    """Return the rule format of a file; None if it has phrase pairs."""
    if options.rules_format is not None or options.table_format is not None:
        return cast("str | None", options.rules_format)
    from alignkit.rules.files import detect_rule_format

    head, _ = look_ahead(path, 1 << 16, options.max_size, options.encoding)
    text = without_first_marks(head.decode(options.encoding, "replace"))
    line, _, _ = text.partition("\n")
    if "\t" in line:
        return None
    format = detect_rule_format(path, line)
    source, _, _ = line.partition("|||")
    if format == "moses" and not source.rstrip().endswith("]"):
        return None  # its phrase tables lack the left-hand side
    return format


def _rules(
    tables: list[str],
    formats: list[str | None],
    settings: PivotSettings,
    options: Options,
) -> None:
    """Join rules, and write the paraphrase rules."""
    from alignkit.rules.files import WrittenRules, rule_lines
    from alignkit.rules.tables.rule_pivots import RulePivot

    if options.jsonl:
        raise OptionError("--jsonl is for phrase pairs, but these are rules; use --to jsonl")
    format = options.to or formats[0] or ""
    check_labels(options, format)
    written = WrittenRules()
    folder = sorting_folder(options.output)
    with (
        replacing(options.output) as out,
        RulePivot(len(tables), on=options.on, folder=folder, room=room(options)) as rule_pivot,
    ):
        for side, (path, format_of_table) in enumerate(zip(tables, formats, strict=True), start=1):
            _read_rules(path, format_of_table, side, rule_pivot, options)
        rules = map(_with_twelve_digits, rule_pivot.rules(settings))
        out.writelines(rule_lines(rules, format, one_label=options.one_label, written=written))
    pivot = rule_pivot.pivot
    _report_joined(pivot.tally, pivot.repeated, settings, " and ".join(tables))
    tell_written(options.output, written, format)


def _read_rules(
    path: str, format: str | None, side: int, pivot: RulePivot, options: Options
) -> None:
    """Add a file to a table of rules."""
    from alignkit.rules.files import read_rules

    rules = read_rules(path, format, encoding=options.encoding, max_size=options.max_size)
    rules = counted(rules, path, None, "rules")
    try:
        seen = pivot.add(side, rules, min_count=options.min_count)
    except OptionError as problem:
        raise OptionError(f"{path}: {problem}") from None
    if not seen:
        raise OptionError(f"{path}: no rules; name a file with rules")
    tell(path, pivot.left_out, f"of {seen:,} rules, left out: ")
    pivot.left_out.clear()


def _with_twelve_digits(rule: RuleType) -> RuleType:
    """Return a rule with twelve digits of its probabilities; further digits say nothing."""
    p_target = float(f"{rule.p_target or 0:.12g}")
    p_source = float(f"{rule.p_source or 0:.12g}")
    return replace(rule, p_target=p_target, p_source=p_source)


def _join_phrases(
    tables: list[list[str]], names: list[str], settings: PivotSettings, options: Options
) -> None:
    """Join phrase tables, each in one or more files, with names for messages."""
    from alignkit.rules.tables.pivots import Pivot

    with (
        replacing(options.output) as out,
        Pivot(len(tables), folder=sorting_folder(options.output), room=room(options)) as pivot,
    ):
        for side, (files, name) in enumerate(zip(tables, names, strict=True), start=1):
            entries = 0
            for path in files:
                entries += _read(path, side, pivot, options)
            if not entries:
                raise OptionError(f"{name}: no phrase pairs; name a file with phrase pairs")
        lines = pivot.lines(settings)
        if options.jsonl:
            lines = map(_json_line, pivot.paraphrases(settings))
        with ProgressBar(options.table, None, "paraphrases") as progress:
            for text in lines:
                out.write(text)
                progress.step(text.count("\n"))
    _report_joined(pivot.tally, pivot.repeated, settings, " and ".join(names))


def _json_line(paraphrase: Paraphrase) -> str:
    """Return a paraphrase as a line of JSON."""
    return json_text(asdict(paraphrase), indent=None) + "\n"


def _of_parts(tables: list[str], settings: PivotSettings, options: Options) -> None:
    """Join phrase tables in parts."""
    from alignkit.cluster.part_outputs import one_file
    from alignkit.cluster.parts import find_parts

    one_file(options.output)
    parts = [find_parts(path) for path in tables]
    why = "it is for rules, but only phrase tables can be in parts"
    cluster.refuse_options(options, ("rules_format", "to", "one_label"), why)
    if not cluster.by_workers(options):
        files = [[part.paths[0] for part in table] for table in parts]
        return _join_phrases(files, tables, settings, options)
    cluster.refuse_options(options, ("jsonl", "sort"), "leave it out")
    if options.output == "-":
        raise OptionError("the paraphrases go to a file: name it with -o")
    from alignkit.cluster.phrase_exchange import ExchangeOptions
    from alignkit.cluster.phrase_tables import TableInput, join_tables

    reading = ReadOptions(encoding=options.encoding, max_size=options.max_size)
    given = TableInput(options.on, options.min_count, options.table_format, reading)
    with cluster.opened_session(options) as session, cluster.PartsProgress("pivot") as progress:
        exchange = ExchangeOptions(room(options), work=options.work, progress=progress)
        made = join_tables(session, parts, options.output, settings, given, exchange)
    for path, entries, left_out in zip(tables, made.entries, made.left_out, strict=True):
        _report_rare(path, entries, left_out, options.min_count)
    _report_joined(made.tally, made.repeated, settings, " and ".join(tables))


def _read(path: str, side: int, pivot: Pivot, options: Options) -> int:
    """Add a file to a table; return its number of entries."""
    from alignkit.rules.tables.table_file import TableFile

    reading = ReadOptions(encoding=options.encoding, max_size=options.max_size)
    file = TableFile(path, options.table_format, reading)
    before = pivot.added
    with ProgressBar(path, file.fraction, "phrase pairs") as progress:
        entries = pivot.add_file(
            side, file, on=options.on, min_count=options.min_count, progress=progress.step
        )
    _report_rare(path, entries, entries - (pivot.added - before), options.min_count)
    return entries


def _report_rare(path: str, entries: int, left_out: int, least: int) -> None:
    """Report how many phrase pairs of a file are too rare."""
    if left_out:
        say(
            f"{path}: {left_out:,} of {entries:,} phrase pairs seen less than {least} times "
            "are left out"
        )


def _report_joined(tally: PivotTally, repeated: int, settings: PivotSettings, named: str) -> None:
    """Report how many paraphrases were found and left out, and repeated phrase pairs."""
    reasons = []
    if tally.rare:
        reasons.append(f"{tally.rare:,} with p below {settings.min_p:g}")
    if tally.beyond:
        reasons.append(f"{tally.beyond:,} beyond the best {settings.top}")
    left_out = f"; left out: {', '.join(reasons)}" if reasons else ""
    kept = tally.joined - tally.rare - tally.beyond
    say(
        f"{named}: {kept:,} of {tally.joined:,} paraphrases, from {tally.paths:,} paths over "
        f"pivots{left_out}"
    )
    if repeated:
        say(
            f"{named}: {repeated:,} phrase pairs are repeated; the highest probabilities of "
            "each are used"
        )
