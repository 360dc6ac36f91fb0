"""Report how far annotators agree, on words and on phrases.

CORPUS is one file or folder that holds several annotators, or several files of the same sentence
pairs, one an annotator, who is then called by the name of the file.

For example:
  alignkit agree corpus.xml --annotators anna ben --by genre
  alignkit agree A.align.txt B.align.txt C.align.txt --format rte --json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from alignkit.cli.choice import naming
from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.kernels import announce
from alignkit.cli.merge import merged
from alignkit.cli.order import add_order_argument
from alignkit.corpus import Corpus
from alignkit.errors import OptionError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "corpus", metavar="CORPUS", nargs="+", help="files or a folder to read; - is stdin"
    )
    parser.add_argument(
        "--annotators", nargs="+", metavar="A", help="who is compared (default: all)"
    )
    parser.add_argument(
        "--by",
        metavar="GROUP",
        help="report each value of this attribute (genre, document, ...) too",
    )
    parser.add_argument(
        "--include-identical",
        action="store_true",
        help="count links and phrases of equal words too (default: left out, as in the article)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON (default: tables)")
    add_order_argument(parser)
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    announce()
    from alignkit.agreement import agreement_report, render_report

    corpus = _corpus(options)
    with naming(*options.corpus):
        report = agreement_report(
            corpus,
            options.annotators,
            by=options.by,
            include_identical=options.include_identical,
        )
    if options.json:
        print(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        print(render_report(report))
    return 0


def _corpus(options: argparse.Namespace) -> Corpus:
    paths = options.corpus
    if len(paths) == 1:
        return Input(paths[0], options.format, reading_options(options)).corpus()
    names = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        raise OptionError("the same file is named twice; give one file for each annotator")
    inputs = {
        name: Input(path, options.format, reading_options(options, name=name))
        for name, path in zip(names, paths, strict=True)
    }
    first, *others = names
    return merged(
        inputs[first],
        {name: inputs[name] for name in others},
        partial=options.partial,
        ordered=options.in_order,
    )
