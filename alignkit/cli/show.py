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
import pickle
import shutil
import sys
from collections.abc import Iterable, Iterator
from os.path import isfile
from tempfile import TemporaryFile
from typing import IO

from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.messages import say
from alignkit.cli.parser import number, output_file
from alignkit.corpus import SentencePair
from alignkit.errors import NotAlignedError, OptionError, UnknownNameError
from alignkit.output import replacing, together
from alignkit.placing import identity

PAIRS_A_PAGE = 200  # some 2 MB, which a browser on a phone opens at once


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
        "--html",
        metavar="FILE",
        type=output_file,
        help="write a self-contained page; of many pairs several, FILE, FILE-page-2, ...",
    )
    group.add_argument(
        "--pairs-a-page",
        type=number(1),
        metavar="N",
        help=f"with --html (default: {PAIRS_A_PAGE}; all where FILE is - or a pipe)",
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
    if options.pairs_a_page and not options.html:
        raise OptionError("--pairs-a-page is about the page; add --html FILE")
    pairs = _chosen(Input(options.input, options.format, reading_options(options)).pairs(), options)
    if not (options.html or options.svg):
        _draw_terminal(pairs, options)
        return 0
    with TemporaryFile() as file, together():
        kept = _Kept(pairs, file)
        if options.svg:
            _draw_svg(kept, options)
        if options.html:
            _draw_html(kept, options)
    return 0


class _Kept:
    """Keep sentence pairs in a file, to be gone through more than once."""

    def __init__(self, pairs: Iterable[SentencePair], file: IO[bytes]) -> None:
        self._file = file
        self._count = 0
        for pair in pairs:
            pickle.dump(pair, file)
            self._count += 1

    def __len__(self) -> int:
        return self._count

    def __contains__(self, pair: object) -> bool:
        return any(pair == other for other in self)

    def __iter__(self) -> Iterator[SentencePair]:
        place = 0  # of this walk, whatever others do with the file
        for _ in range(self._count):
            self._file.seek(place)
            pair: SentencePair = pickle.load(self._file)  # written above
            place = self._file.tell()
            yield pair


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


def _draw_svg(pairs: _Kept, options: argparse.Namespace) -> None:
    from alignkit.report.svg import draw_svg

    if len(pairs) != 1:
        raise OptionError(f"--svg draws one pair, but there are {len(pairs)}: choose by --id")
    (pair,) = pairs
    with replacing(options.svg) as out:
        out.write(draw_svg(pair, options.annotators))


def _draw_html(pairs: _Kept, options: argparse.Namespace) -> None:
    from alignkit.report.html_pages import draw_html_pages

    alone = options.html == "-" or (os.path.exists(options.html) and not isfile(options.html))
    if alone and options.pairs_a_page:
        raise OptionError(
            f"{options.html} takes one page; leave out --pairs-a-page, or name a file"
        )
    most = len(pairs) if alone else options.pairs_a_page or PAIRS_A_PAGE
    pages = draw_html_pages(
        pairs, options.annotators, title=options.input, path=options.html, pairs_a_page=most
    )
    read = {
        identity(path): path for path in (options.input, options.source, options.target) if path
    }
    path = options.html
    for count, (path, pieces) in enumerate(pages, 1):
        if count > 1 and identity(path) in read:
            raise OptionError(
                f"page {count}, {path}, would replace what is read; name another FILE"
            )
        with replacing(path) as out:
            out.writelines(pieces)
    if path != options.html:
        say(f"{len(pairs)} pairs on {count} pages, {options.html} to {path}")


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
