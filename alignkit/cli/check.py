"""Examine a file: what is odd in it, and which base and direction its links fit.

Told are broken records, links out of range, duplicate links, links both sure and possible, empty
alignments and sentences, repeated ids, byte order marks and carriage returns; with several files,
also words in which they differ. Nothing is guessed: the table of fits shows how many links lie
outside their sentence pair, and how many join equal words, under each base and direction.

Exit code 0: clean, 1: findings, 2: cannot be read.

For example:
  alignkit check gold.align --format pharaoh --source fr.txt --target en.txt
  alignkit check gold.wa --format naacl --source test.en --target test.fr --fix mended.wa
"""

from __future__ import annotations

import argparse
import json
from collections import Counter

from alignkit.cli.inputs import add_reading_arguments, detect_format, reading_options
from alignkit.doctor import Examination, compare_texts, examine
from alignkit.errors import OptionError
from alignkit.formats import get_format, write_corpus
from alignkit.report.table import render_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "inputs", metavar="IN", nargs="+", help="files of the same pairs, e.g. one an annotator"
    )
    parser.add_argument(
        "--fix",
        metavar="OUT",
        help="write what could be read: without duplicates, links out of range, byte order marks",
    )
    parser.add_argument(
        "--show", type=int, default=5, metavar="N", help="findings of each kind (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help="print all findings as JSON")
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.fix and len(options.inputs) > 1:
        raise OptionError("--fix mends one file; give one IN")
    declared = reading_options(options)
    examined = [
        examine(path, format=detect_format(path, options.format), options=declared)
        for path in options.inputs
    ]
    for other in examined[1:]:
        compare_texts(examined[0], other)
    if options.json:
        print(json.dumps([_record(found) for found in examined], ensure_ascii=False, indent=2))
    else:
        for found in examined:
            _print(found, options.show)
    if options.fix:
        _fix(examined[0], options.fix)
    return 0 if all(found.clean for found in examined) else 1


def _fix(found: Examination, path: str) -> None:
    if found.refused and get_format(found.format).text_beside:
        raise OptionError(
            f"--fix cannot mend {found.refused} broken lines, and leaving them out would shift all "
            "lines after them: mend those by hand"
        )
    write_corpus(
        found.corpus, path, format=found.format, base=found.base, transpose=found.transposed
    )


def _print(found: Examination, most: int) -> None:
    print(
        f"{found.path}: {found.format}, {found.records} sentence pairs, {found.links} links, "
        f"counted from {found.base}{', written target first' if found.transposed else ''}"
    )
    if found.links:
        print()
        print(render_table(_fits(found)), end="\n\n")
    shown: Counter[str] = Counter()
    for finding in found.findings:
        shown[finding.kind] += 1
        if shown[finding.kind] <= most:
            print(finding)
    for kind, count in found.counts.items():
        if count > most:
            print(f"... {kind}: {count} in all; --show {count} shows them")
    if found.clean:
        print("clean: nothing odd was found")
    else:
        print("findings: " + ", ".join(f"{n} x {kind}" for kind, n in found.counts.items()))


def _fits(found: Examination) -> list[dict[str, object]]:
    return [
        {
            "base": fit.base,
            "direction": "target first" if fit.transposed else "source first",
            "links outside": fit.outside
            if found.has_text
            else "?"
            if fit.base == 0
            else fit.outside,
            "join equal words": fit.equal if found.has_text else "?",
            "": "<- as declared"
            if (fit.base, fit.transposed) == (found.base, found.transposed)
            else "",
        }
        for fit in found.fits
    ]


def _record(found: Examination) -> dict[str, object]:
    return {
        "path": found.path,
        "format": found.format,
        "base": found.base,
        "transposed": found.transposed,
        "records": found.records,
        "read": found.records - found.refused,
        "refused": found.refused,
        "links": found.links,
        "clean": found.clean,
        "counts": dict(found.counts),
        "fits": [
            {
                "base": fit.base,
                "transposed": fit.transposed,
                "outside": fit.outside if found.has_text or fit.base else None,
                "equal": fit.equal if found.has_text else None,
            }
            for fit in found.fits
        ],
        "findings": [
            {
                "kind": finding.kind,
                "path": finding.path,
                "line": finding.line,
                "message": finding.message,
            }
            for finding in found.findings
        ],
    }
