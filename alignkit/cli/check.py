"""Examine a file: what is odd in it, and which base and direction its links fit.

Told are broken records, control characters, links out of range, duplicate links, links both sure
and possible, empty alignments and sentences, repeated ids, byte order marks and carriage returns;
with several files, also words in which they differ; a line from which links and texts look shifted;
of trees, which there are, those that do not fit their words, and flat ones (fewer than 4 nodes deep
over more than 8 words). Nothing is guessed: the table of fits shows how many links lie outside
their sentence pair, and how many join equal words, under each base and direction. --fix leaves out
pairs that are broken; how many, which, and whose ids change for it is told.

With --leaks, of two parts of a split, TRAIN and TEST, are told the pairs of TEST that TRAIN knows:
equal ones, reversed ones, and pairs of the same group. Told are too equal and reversed pairs of one
file that the same annotator judged differently.

Exit code 0: clean, 1: findings, 2: cannot be read.

For example:
  alignkit check gold.align --format pharaoh --source fr.txt --target en.txt
  alignkit check gold.wa --format naacl --source test.en --target test.fr --fix mended.wa
  alignkit check --leaks corpus-train.jsonl corpus-test.jsonl
  alignkit check pairs.json --trees parsed.xml.gz
  alignkit check A.align.txt B.align.txt --format rte --json
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING

from alignkit.cli.grouping import add_separator
from alignkit.cli.inputs import Input, add_reading_arguments, detect_format, reading_options
from alignkit.cli.mending import mend
from alignkit.cli.messages import json_text
from alignkit.cli.parser import number, output, output_file
from alignkit.cli.trees import (
    add_tree_options,
    attached,
    check_tree_options,
    tree_name,
    trees_named,
    trees_told,
)
from alignkit.cli.wording import in_words_of
from alignkit.errors import AlignkitError, FormatError, JoinError, OptionError
from alignkit.formats import Finding, get_format
from alignkit.formats.detection import hint_of
from alignkit.formats.format import JUDGED
from alignkit.leaks import KINDS, Leak, find_leaks
from alignkit.report.columns import Cell, Column
from alignkit.report.table import Table
from alignkit.visible import visible

if TYPE_CHECKING:
    from alignkit.doctor import Examination
    from alignkit.formats import ReadOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "inputs",
        metavar="IN",
        nargs="+",
        help="file or folder; or several of the same pairs, one an annotator; - is stdin",
    )
    parser.add_argument(
        "--fix",
        metavar="OUT",
        type=output,
        help="write what could be read: each link once and within its sentences, no byte order "
        "marks or carriage returns, U+FFFD for control characters; OUT may be IN",
    )
    parser.add_argument(
        "--fix-source", metavar="FILE", type=output_file, help="write the source words mended too"
    )
    parser.add_argument(
        "--fix-target", metavar="FILE", type=output_file, help="write the target words mended too"
    )
    parser.add_argument(
        "--leaks",
        action="store_true",
        help="tell which pairs of the second of two files the first holds: equal, reversed, or "
        "of the same group",
    )
    parser.add_argument(
        "--group",
        metavar="ATTRIBUTE",
        action="append",
        help="what names the groups of --leaks; repeatable (default: goeswith)",
    )
    add_separator(parser)
    parser.add_argument(
        "--ignore-case",
        action="store_true",
        help="for --leaks, words that differ in case alone are equal (default: they differ; white "
        "space and the Unicode form of characters never count)",
    )
    parser.add_argument(
        "--show", type=number(0), default=5, metavar="N", help="findings of each kind (default: 5)"
    )
    parser.add_argument(
        "--json", action="store_true", help="print all findings as JSON (default: text)"
    )
    add_reading_arguments(parser)
    add_tree_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    for name in ("group", "separator", "ignore_case"):
        if getattr(options, name) and not options.leaks:
            flag = f"--{name.replace('_', '-')}"
            raise OptionError(f"{flag} is for --leaks: add it, or leave {flag} out")
    return check_leaks(options) if options.leaks else _check(options)


def _check(options: argparse.Namespace) -> int:
    from alignkit.doctor import compare_texts

    if options.fix and len(options.inputs) > 1:
        raise OptionError("--fix mends one file; give one IN")
    check_tree_options(options)
    if trees_named(options) and (options.fix or len(options.inputs) > 1):
        raise OptionError("files of trees go with one IN, and without --fix")
    if (options.fix_source or options.fix_target) and not options.fix:
        raise OptionError("--fix-source and --fix-target go with --fix")
    declared = reading_options(options)
    examined = [_examined(path, options, declared) for path in options.inputs]
    for other in examined[1:]:
        compare_texts(examined[0], other)
    problem, mending = _unreadable(examined, declared), None
    if options.fix and problem is None:
        try:
            _refuse_shifted(examined[0])
            mending = mend(examined[0], options, declared)
        except AlignkitError as error:
            problem = error  # first tell what was found
    with redirect_stdout(sys.stderr if options.fix == "-" else sys.stdout):
        if options.json:
            records = [_record(report, options) for report in examined]
            if mending is not None:
                records[0]["fix"] = mending.to_json()
            print(json_text(records))
        else:
            for number, report in enumerate(examined):
                print(end="\n" if number else "")
                _print(report, options)
    if problem is not None:
        raise problem
    if mending is not None:
        mending.tell()
    return 0 if all(report.clean for report in examined) else 1


def _refuse_shifted(report: Examination) -> None:
    if report.counts["row shift"]:
        message = "nothing was mended: links and words look shifted; mend the lines first"
        raise FormatError(message, report.path)


def _examined(path: str, options: argparse.Namespace, declared: ReadOptions) -> Examination:
    from alignkit.doctor import examine

    format = detect_format(path, options.format, declared)
    trees = trees_named(options)
    keep = bool(options.fix) or len(options.inputs) > 1 or trees
    report = examine(path, format=format, options=declared, keep=keep)
    if trees:
        _examine_trees(report, options)
    return report


def _examine_trees(report: Examination, options: argparse.Namespace) -> None:
    """Tell of the trees of files: those that do not fit, or are flat; more or fewer than pairs."""
    name = tree_name(options) or ""
    counts: Counter[str] = Counter()
    try:
        for pair in attached(options, report.corpus, counts, report.observe):
            for side, trees in (("source", pair.source_trees), ("target", pair.target_trees)):
                if name in trees:
                    report.add_tree(pair.id, side, name, trees[name], *report.lines[pair.id])
    except JoinError as problem:
        report.observe(Finding("wrong number of trees", str(problem), report.path))
    report.tree_counts = counts


def _unreadable(examined: list[Examination], declared: ReadOptions) -> AlignkitError | None:
    for report in examined:
        judged = JUDGED in get_format(report.format).holds and report.refused < report.records
        if report.refused and not report.links and not judged:
            hint = hint_of(report.path, report.format, declared) or (
                "name another format by --format, or the encoding by --encoding"
            )
            return FormatError(
                f"{report.refused} of {report.records} records cannot be read as {report.format}, "
                f"and no link was found; {hint}",
                report.path,
            )
    return None


def _print(report: Examination, options: argparse.Namespace) -> None:
    most = options.show
    refused = f" and {report.refused} broken records" if report.refused else ""
    print(
        f"{visible(report.path)}: {report.format}, "
        f"{report.records - report.refused} sentence pairs{refused}, {report.links} links, "
        f"counted from {report.base}{', written target first' if report.transposed else ''}"
    )
    if report.trees:
        named = (f"{n} {side} {name}" for (side, name), n in report.trees.items())
        print(f"trees: {visible(', '.join(named))}")
    told = Counter({kind: n for kind, n in report.tree_counts.items() if kind != "trees"})
    if told:
        print(f"of the files of trees: {trees_told(told)}")
    if report.links:
        print()
        print(_fits(report), end="\n\n")
    shown: Counter[str] = Counter()
    for finding in report.findings:
        shown[finding.kind] += 1
        if shown[finding.kind] <= most:
            print(visible(in_words_of(options.parser, str(finding))))
    for kind, count in report.counts.items():
        if count > most:
            print(f"... {kind}: {count} in all; --show {count} shows them")
    if report.clean:
        print("clean: nothing odd was found")
    else:
        print("findings: " + ", ".join(f"{n} x {kind}" for kind, n in report.counts.items()))


def _fits(report: Examination) -> Table:
    declared = (report.base, report.transposed)
    columns = [
        *(Column("base", "count"), Column("direction"), Column("links outside", "count")),
        *(Column("join equal words", "count"), Column("", key="declared")),
    ]
    rows: list[list[Cell]] = [
        [
            fit.base,
            "target first" if fit.transposed else "source first",
            fit.outside if report.has_text or fit.base else "?",
            fit.equal if report.has_text else "?",
            "<- as declared" if declared == (fit.base, fit.transposed) else None,
        ]
        for fit in report.fits
    ]
    return Table("", columns, rows)


def _record(report: Examination, options: argparse.Namespace) -> dict[str, object]:
    return {
        **{name: getattr(report, name) for name in ("path", "format", "base", "transposed")},
        "records": report.records,
        "read": report.records - report.refused,
        **{name: getattr(report, name) for name in ("refused", "links", "sure")},
        "trees": [
            {"side": side, "name": name, "pairs": n} for (side, name), n in report.trees.items()
        ],
        "tree_counts": dict(report.tree_counts),
        "clean": report.clean,
        "counts": dict(report.counts),
        "fits": [
            {
                "base": fit.base,
                "transposed": fit.transposed,
                "outside": fit.outside if report.has_text or fit.base else None,
                "equal": fit.equal if report.has_text else None,
            }
            for fit in report.fits
        ],
        "findings": [
            {
                "kind": finding.kind,
                "path": finding.path,
                "line": finding.line,
                "times": finding.times,
                "message": in_words_of(options.parser, finding.message),
            }
            for finding in report.findings
        ],
    }


def check_leaks(options: argparse.Namespace) -> int:
    """Run `check --leaks`; return 1 where there are leaks."""
    if len(options.inputs) != 2:
        raise OptionError("--leaks compares two files: TRAIN and TEST")
    if options.fix:
        raise OptionError("--fix mends one file; leave it or --leaks out")
    declared = reading_options(options)
    train, test = (Input(path, options.format, declared).corpus() for path in options.inputs)
    leaks = find_leaks(
        train, test, options.group, separator=options.separator, ignore_case=options.ignore_case
    )
    counts = Counter(leak.kind for leak in leaks)
    pairs = len({leak.test for leak in leaks})
    if options.json:
        record = {
            "train": {"path": options.inputs[0], "pairs": len(train)},
            "test": {"path": options.inputs[1], "pairs": len(test), "known": pairs},
            "counts": {kind: counts[kind] for kind in KINDS},
            "leaks": [asdict(leak) for leak in leaks],
        }
        print(json_text(record))
        return int(bool(leaks))
    shown: Counter[str] = Counter()
    for leak in leaks:
        shown[leak.kind] += 1
        if shown[leak.kind] <= options.show:
            print(visible(_line(leak)))
    for kind, count in counts.items():
        if count > options.show:
            print(f"... {kind}: {count} in all; --show {count} shows them")
    if leaks:
        listing = ", ".join(f"{counts[kind]} x {kind}" for kind in KINDS if counts[kind])
        print(f"{pairs} of {len(test)} pairs are known to the first file: {listing}")
    else:
        print(f"clean: none of {len(test)} pairs is known to the first file")
    return int(bool(leaks))


def _line(leak: Leak) -> str:
    about = f" by {leak.group}" if leak.group else ""
    also = f"; the first file has {', '.join(leak.also)} too" if leak.also else ""
    return f"{leak.kind}: pair {leak.test!r} and {leak.train!r} of the first file{about}{also}"
