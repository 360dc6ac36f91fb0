"""Draw alignments as matrices: a row for each source word, a column for each target word.

With two annotators, agreement and each kind of difference have marks of their own.

For example:
  alignkit show corpus.xml --id p07 --annotators anna ben
  alignkit show gold.align --source fr.txt --target en.txt --html gold.html
  alignkit show corpus.xml --id p07 --annotators gold --svg p07.svg
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Iterator

from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.parser import number, output_file
from alignkit.corpus import SentencePair
from alignkit.errors import NotAlignedError, OptionError, UnknownNameError
from alignkit.output import replacing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("input", metavar="IN", help="file or folder to read; - is stdin")
    group = parser.add_argument_group("what is drawn")
    group.add_argument(
        "--id", action="append", metavar="ID", help="the pair of this id alone; may be repeated"
    )
    group.add_argument(
        "--limit", type=number(1), metavar="N", help="the first N pairs alone (default: all)"
    )
    group.add_argument(
        "--annotators",
        nargs="+",
        metavar="A",
        help="whose alignments (default: everybody's); pairs that none of them annotated are "
        "passed over",
    )
    group = parser.add_argument_group("where it is drawn (default: in the terminal)")
    group.add_argument(
        "--html", metavar="FILE", type=output_file, help="write one self-contained page"
    )
    group.add_argument(
        "--svg", metavar="FILE", type=output_file, help="write one picture; needs a single pair"
    )
    group.add_argument(
        "--colour",
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="in the terminal (default: auto, which heeds NO_COLOR)",
    )
    group.add_argument("--ascii", action="store_true", help="draw in ASCII alone")
    group.add_argument(
        "--width",
        type=number(1),
        metavar="N",
        help="columns of a line; wider matrices are split (default: those of the terminal)",
    )
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    pairs = _chosen(Input(options.input, options.format, reading_options(options)).pairs(), options)
    if options.html or options.svg:
        _draw_files(list(pairs), options)
    else:
        _draw_terminal(pairs, options)
    return 0


def _chosen(pairs: Iterable[SentencePair], options: argparse.Namespace) -> Iterator[SentencePair]:
    wanted = dict.fromkeys(options.id or ())
    asked = dict.fromkeys(options.annotators or ())
    shown: set[str] = set()
    names: dict[str, None] = {}
    judged: dict[str, None] = {}  # or aligned
    count = 0
    for pair in pairs:
        if wanted and pair.id not in wanted:
            continue
        shown.add(pair.id)
        names.update(dict.fromkeys(pair.alignments))
        judged.update(dict.fromkeys(pair.annotations))
        if asked and judged and not asked.keys() & pair.alignments.keys():
            continue
        count += 1
        yield pair
        if count == options.limit:
            return
    absent = [id for id in wanted if id not in shown]
    if absent:
        raise OptionError(f"{options.input} has no pair with the id {absent[0]!r}")
    for name in asked:
        if name in judged and name not in names:
            raise NotAlignedError(f"pairs of {options.input}", name, names)
        if judged and name not in names:
            raise UnknownNameError(f"annotator of {options.input}:", name, judged)


def _draw_files(pairs: list[SentencePair], options: argparse.Namespace) -> None:
    from alignkit.report.html import draw_html
    from alignkit.report.svg import draw_svg

    if options.svg:
        if len(pairs) != 1:
            raise OptionError(f"--svg draws one pair, but there are {len(pairs)}: choose by --id")
        with replacing(options.svg) as out:
            out.write(draw_svg(pairs[0], options.annotators))
    if options.html:
        with replacing(options.html) as out:
            out.writelines(draw_html(pairs, options.annotators, title=options.input))


def _draw_terminal(pairs: Iterable[SentencePair], options: argparse.Namespace) -> None:
    from alignkit.report.text import draw_text

    terminal = sys.stdout.isatty()
    colour = options.colour == "always" or (
        options.colour == "auto" and terminal and not os.environ.get("NO_COLOR")
    )
    width = options.width or (shutil.get_terminal_size().columns if terminal else None)
    for count, pair in enumerate(pairs):
        if count:
            print("\n")
        print(
            draw_text(
                pair, options.annotators, colour=colour, width=width, unicode=not options.ascii
            )
        )
