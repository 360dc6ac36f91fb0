"""Check a file: report errors, and which base and direction its links seem to have.

The report lists broken records, control characters, links out of range, duplicate links, links that
are both sure and possible, empty alignments and sentences, repeated ids, byte order marks and
carriage returns. It names the line from which links and texts seem to be shifted. Several files are
also compared: words that differ are reported. With trees, it counts them, and lists those that do
not fit their words and flat ones (fewer than 4 nodes deep over more than 8 words).

alignkit does not guess the base (the number of the first word, 0 or 1) and the direction: for each
combination, a table shows how many links lie outside their sentence pair and how many join equal
words (words with a letter or a digit). --fix leaves out broken pairs, and reports how many, which
ones, and which ids change.

With --leaks, the two files are parts of a split, TRAIN and TEST. The report lists the pairs of TEST
that TRAIN already has: equal pairs, reversed pairs and pairs of the same group. It also lists equal
and reversed pairs in one file that the same annotator judged differently.

With --text, the files are plain texts. The report lists all control characters with their counts
and first lines, and byte order marks, carriage returns, and white space in words at which some
tools divide words. --fix writes a corrected copy and reports the number of changes.

With --consistency, it lists links to look at again: words that the annotator links in most pairs,
but not here, and unusual links of words that have their usual counterpart in the pair.

Exit code 0: clean, 1: findings, 2: the file cannot be read.

For example:
  alignkit check gold.align --format pharaoh --source fr.txt --target en.txt
  alignkit check gold.wa --format naacl --source test.en --target test.fr --fix mended.wa
  alignkit check --leaks corpus-train.jsonl corpus-test.jsonl
  alignkit check --consistency corpus.jsonl
  alignkit check --text fr.txt --fix mended.txt
  alignkit check pairs.json --both-trees parsed.xml.gz
  alignkit check A.align.txt B.align.txt --format rte --json
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING

from alignkit._support.values import named_json
from alignkit._support.wording import how_many, visible
from alignkit.cli.common import trees
from alignkit.cli.common.inputs import Input, add_reading_arguments, detect_format, reading_options
from alignkit.cli.common.media import add_separator
from alignkit.cli.common.messages import in_words_of, json_text, warn
from alignkit.cli.corpora.check_findings import listing, print_some
from alignkit.cli.corpora.check_leaks import check_leaks
from alignkit.cli.corpora.check_mending import Mending, mend
from alignkit.cli.corpora.check_texts import check_texts
from alignkit.cli.parser import (
    Options,
    Parser,
    add_options,
    given_flag,
    number,
    output,
    output_file,
)
from alignkit.errors import AlignkitError, FormatError, JoinError, OptionError
from alignkit.io.format import JUDGED
from alignkit.io.formats import get_format
from alignkit.io.hints import hint_of
from alignkit.io.inputs import sides_hint
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import Finding
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

if TYPE_CHECKING:
    from alignkit.corpora.validation import Examination
    from alignkit.io.base_checks import Fit

# how many are printed by default
_FINDINGS = 5  # of each kind
_SUGGESTIONS = 50  # of each annotator


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit check`."""
    add_options(
        parser,
        """
        IN...  file or folder; or one file for each annotator, with the same pairs; - is stdin
        --fix OUT  write a corrected file; each link once and inside its sentences, no byte order
            marks or carriage returns, U+FFFD for control characters; OUT may be IN
        --text  the files are texts, not alignments: list their control characters; with --fix,
            write a copy of the text, not over IN, with the same lines
        --fix-source FILE  write the corrected source words
        --fix-target FILE  write the corrected target words
        --leaks  report pairs of the second file that are also in the first file; equal, reversed,
            or of the same group
        --group ATTRIBUTE  with --leaks, also report pairs of the second file that have the same
            value of this attribute as some pair of the first file; repeatable (default: goeswith,
            document, entity and original)
        """,
        IN="inputs",
        fix=output,
        fix_source=output_file,
        fix_target=output_file,
        group={"action": "append"},
    )
    add_separator(parser)
    add_options(
        parser,
        """
        --ignore-case  with --leaks, ignore differences of case (default: they count; differences of
            white space and of the Unicode form of characters are always ignored)
        --consistency  list links that are inconsistent with the annotator's other links, and links
            that seem to be missing; the strongest evidence first
        --show N  print at most N findings of each kind (default: 5; with --consistency, 50 of each
            annotator)
        --json  print all findings as JSON (default: text)
        """,
        show=number(0),
    )
    add_reading_arguments(parser)
    trees.add_tree_options(parser)


def run(options: Options) -> int:
    """Check files in the way that the options choose; return 1 if there are findings."""
    flag = given_flag(options, "group", "separator", "ignore_case")
    if flag and not options.leaks:
        raise OptionError(f"{flag} needs --leaks: add it, or leave {flag} out")
    if options.text:
        return check_texts(options)
    if options.consistency and (options.leaks or options.fix or trees.trees_named(options)):
        raise OptionError("--consistency works alone; leave out --leaks, --fix and trees")
    if options.show is None:
        options.show = _SUGGESTIONS if options.consistency else _FINDINGS
    if options.consistency:
        return _check_consistency(options)
    if options.leaks:
        return check_leaks(options)
    return _check_files(options)


def _check_consistency(options: Options) -> int:
    """Run `check --consistency`; return 1 if there are suggestions."""
    from alignkit.corpora.consistency import consistency

    results = {}
    for path in options.inputs:
        corpus = Input.of(options, path).corpus(needed=True)
        results[path] = replace(consistency(corpus), most=options.show)
    if options.json:
        print(json_text([{"path": path} | result.to_json() for path, result in results.items()]))
    else:
        for path, result in results.items():
            print(f"{path}\n\n{result}\n" if len(results) > 1 else result)
    return int(any(result.suggestions for result in results.values()))


def _check_files(options: Options) -> int:
    """Run `check` on files with alignments; return 1 if there are findings."""
    from alignkit.corpora.validation import compare_texts

    several = len(options.inputs) > 1
    if options.fix and several:
        raise OptionError("--fix corrects one file; give one IN")
    trees.check_tree_options(options)
    if trees.trees_named(options) and (options.fix or several):
        raise OptionError("files of trees need a single IN, and do not work with --fix")
    if (options.fix_source or options.fix_target) and not options.fix:
        raise OptionError("--fix-source and --fix-target need --fix: add it, or leave them out")
    declared = reading_options(options)
    examined = [_examined(path, options, declared) for path in options.inputs]
    if hint := sides_hint(*examined):
        warn(in_words_of(options, f"{examined[-1].path}: {hint}"))
    for other in examined[1:]:
        compare_texts(examined[0], other)
    problem = _unreadable(examined, declared)
    mending = None
    if options.fix and problem is None:
        try:
            mending = mend(examined[0], options, declared)
        except AlignkitError as error:
            problem = error  # first print the findings
    with redirect_stdout(sys.stderr if options.fix == "-" else sys.stdout):
        _print_all(examined, mending, options)
    if problem is not None:
        raise problem
    if mending is not None:
        mending.report()
    return 0 if all(report.clean for report in examined) else 1


def _print_all(examined: list[Examination], mending: Mending | None, options: Options) -> None:
    """Print the findings of all files, as text or as JSON."""
    if options.json:
        records = [_record(report, options) for report in examined]
        if mending is not None:
            records[0]["fix"] = mending.to_json()
        print(json_text(records))
        return
    for place, report in enumerate(examined):
        if place:
            print()
        _print(report, options)


def _examined(path: str, options: Options, declared: ReadOptions) -> Examination:
    """Examine a file, and the files of trees if they are named."""
    from alignkit.corpora.validation import examine

    format = detect_format(path, options.format, declared)
    with_trees = trees.trees_named(options)
    keep = bool(options.fix) or len(options.inputs) > 1 or with_trees
    report = examine(path, format=format, options=declared, keep=keep)
    if not with_trees:
        return report
    name = trees.tree_name(options) or ""
    try:  # trees of files that do not fit, or are flat; more or fewer than pairs
        for pair in trees.attached(options, report.corpus, report.tree_counts, report.observe):
            place = report.lines[pair.id]
            if name in pair.source_trees:
                report.add_tree(pair.id, "source", name, pair.source_trees[name], *place)
            if name in pair.target_trees:
                report.add_tree(pair.id, "target", name, pair.target_trees[name], *place)
    except JoinError as problem:
        report.observe(Finding("wrong number of trees", str(problem), report.path))
    return report


def _unreadable(examined: list[Examination], declared: ReadOptions) -> AlignkitError | None:
    """Return an error for the first file that seems to have another format."""
    for report in examined:
        judged = JUDGED in get_format(report.format).holds and report.refused < report.records
        if report.refused and not report.links and not judged:
            hint = hint_of(report.path, report.format, declared) or (
                "name the right format with --format, or the encoding with --encoding"
            )
            return FormatError(
                f"{report.refused} of {report.records} records cannot be read as {report.format}, "
                f"and no link was found; {hint}",
                report.path,
            )
    return None


def _summary(report: Examination) -> str:
    """Return what a file contains, in one line."""
    text = f"{visible(report.path)}: {report.format}, "
    text += how_many(report.records - report.refused, "sentence pair")
    if report.refused:
        text += f" and {how_many(report.refused, 'broken record')}"
    text += f", {how_many(report.links, 'link')}"
    if report.nulls:
        text += f", {how_many(report.nulls, 'null')}"
    if not get_format(report.format).by_id:
        text += f", counted from {report.base}"
    if report.transposed:
        text += ", written target first"
    return text


def _print(report: Examination, options: Options) -> None:
    """Print what a file contains, and its findings."""
    by_id = get_format(report.format).by_id  # links name words: no base, no direction
    print(_summary(report))
    if report.trees:
        named = (f"{n} {side} {name}" for (side, name), n in report.trees.items())
        print(f"trees: {visible(', '.join(named))}")
    notes = Counter({kind: n for kind, n in report.tree_counts.items() if kind != "trees"})
    if notes:
        print(f"in the files of trees: {trees.trees_told(notes)}")
    if report.links and not by_id:
        print(f"\n{_fits(report)}\n")
    if report.spaces:
        spaces = in_words_of(options, report.spaces_in_words)
        print(visible(f"white space in words: {spaces}"))
    lines = ((item.kind, in_words_of(options, str(item))) for item in report.findings)
    print_some(lines, report.counts, options.show)
    clean = "clean: no problems found"
    if not (report.links or report.nulls or get_format(report.format).scheme):
        clean += ", but nobody linked any words"
    if report.links and not report.has_text and get_format(report.format).text_beside:
        clean += "; without --source and --target, base and direction are only partly checked"
    print(f"findings: {listing(report.counts)}" if report.counts else clean)


def _fits(report: Examination) -> Table:
    """Return a table with the bases and directions that the links may have."""
    columns = [
        Column("base", "count"),
        Column("direction"),
        Column("links outside", "count"),
        Column("join equal words", "count"),
        Column("", key="declared"),
    ]
    rows: list[list[Cell]] = []
    for fit in report.fits:
        direction = "target first" if fit.transposed else "source first"
        known = ["?" if count is None else count for count in _known(report, fit)]
        is_declared = (fit.base, fit.transposed) == report.declared
        mark = "<- as declared" if is_declared else None
        rows.append([fit.base, direction, *known, mark])
    return Table("", columns, rows)


def _known(report: Examination, fit: Fit) -> tuple[int | None, int | None]:
    """Return the numbers of links outside and of links that join equal words, if known."""
    outside = fit.outside if report.has_text or fit.base else None
    return outside, fit.equal if report.has_text else None


def _record(report: Examination, options: Options) -> dict[str, object]:
    """Return what `--json` prints about a file."""
    trees_read = []
    for (side, name), count in report.trees.items():
        trees_read.append({"side": side, "name": name, "pairs": count})
    fits = []
    for fit in report.fits:
        outside, equal = _known(report, fit)
        record = named_json(fit, ("base", "transposed"))
        fits.append(record | {"outside": outside, "equal": equal})
    findings = []
    for finding in report.findings:
        record = named_json(finding, ("kind", "path", "line", "times"))
        findings.append(record | {"message": in_words_of(options, finding.message)})
    return {
        **named_json(report, ("path", "format", "base", "transposed", "records")),
        "read": report.records - report.refused,
        **named_json(report, ("refused", "links", "sure", "nulls")),
        "trees": trees_read,
        **named_json(report, ("tree_counts", "clean", "counts", "spaces")),
        "fits": fits,
        "findings": findings,
    }
