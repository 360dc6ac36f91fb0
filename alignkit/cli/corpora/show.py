"""Draw alignments as matrices, with a row for each source word and a column for each target word.

With two annotators, agreement and each kind of difference have their own marks. With --interlinear,
the page has the running text of both sides: a word that is pointed at lights its counterparts. With
--trees, the constituent trees of both sentences are drawn instead, with the links of one annotator
between them.

For example:
  alignkit show corpus.xml --id p07 --annotators anna ben
  alignkit show gold.align --source fr.txt --target en.txt --html gold.html
  alignkit show corpus.xml --interlinear text.html
  alignkit show corpus.xml --id p07 --annotators gold --svg p07.svg
  alignkit show corpus.xml --id p07 --annotators gold --trees --both-trees parsed.xml.gz
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from os.path import isfile
from tempfile import TemporaryFile
from typing import IO, Any

from alignkit._support.wording import how_many
from alignkit.cli.common import trees
from alignkit.cli.common.inputs import Input, add_input, add_reading_arguments
from alignkit.cli.common.messages import say
from alignkit.cli.parser import Options, Parser, add_options, number, option_values, output_file
from alignkit.errors import NotAlignedError, OptionError, UnknownNameError
from alignkit.io.atomic_files import identity, replacing, together
from alignkit.io.inputs import Choice
from alignkit.model.sentence_pair import SentencePair

PAIRS_A_PAGE = 200  # some 2 MB, which a browser on a phone opens at once
TREES_A_PAGE = 100  # the same
SHOWN_AT_A_TIME = 50  # of one page of running text
LARGEST = 30_000  # pixels of a side of a picture that browsers draw


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit show`."""
    add_input(parser)
    add_options(
        parser.add_argument_group("drawing"),
        """
        --id ID  draw only the pair with this id; repeatable
        --limit N  draw only the first N pairs (default: all)
        --annotators A...  draw the alignments of these annotators (default: all); pairs that none
            of them annotated are skipped
        --trees  draw the trees of both sentences, and mark the nodes that correspond to each other;
            pairs without trees are skipped
        --links  with --trees, the links by which nodes are matched: sure, or possible for both
            kinds (default: sure)
        """,
        id={"action": "append"},
        limit=number(1),
        trees="draw_trees",
        links=("sure", "possible"),
    )
    add_options(
        parser.add_argument_group("output (default: in the terminal)"),
        f"""
        --html FILE  write a page for the browser, or several files if there are many pairs (FILE,
            FILE-page-2, ...)
        --pairs-a-page N  with --html, number of pairs in each file (default: {PAIRS_A_PAGE}, with
            --trees {TREES_A_PAGE}; all if FILE is - or a pipe)
        --interlinear FILE  write a page with the running text of both sides, in one file (default
            of --pairs-a-page: {SHOWN_AT_A_TIME}, shown at a time)
        --svg FILE  write a picture of a single pair
        --colour, --color  use colours in the terminal (default: auto, which respects NO_COLOR)
        --ascii  use only ASCII characters
        --width N  width in characters; wider matrices are split (default: that of the terminal)
        """,
        html=output_file,
        pairs_a_page=number(1),
        svg=output_file,
        interlinear=output_file,
        colour={"choices": ("auto", "always", "never"), "default": "auto"},
        width=number(1),
    )
    trees.add_tree_options(parser)
    add_reading_arguments(parser)
    parser.set_defaults(stray=_stray)


def _stray(options: Options, words: Sequence[str]) -> str:
    """Return a hint if --trees is followed by a file."""
    if not options.draw_trees or len(words) > 1:
        return ""
    return "--trees takes no file; name the file of trees with --both-trees FILE"


def run(options: Options) -> None:
    """Draw the chosen pairs on the terminal, on pages or as images."""
    if options.pairs_a_page and not (options.html or options.interlinear):
        raise OptionError("--pairs-a-page needs a page; add --html FILE or --interlinear FILE")
    if options.draw_trees and options.interlinear:
        raise OptionError("--interlinear does not draw trees: leave out --trees, or write --html")
    if options.draw_trees and len(options.annotators or ()) > 1:
        raise OptionError("--trees draws the links of one annotator: choose one with --annotators")
    if not options.draw_trees and (
        options.links or options.tree_name or trees.trees_named(options)
    ):
        if options.links:
            name = "--links"
        else:
            name = "--tree-name" if options.tree_name else "trees"
        raise OptionError(f"{name} needs --trees: add it, or leave {name} out")
    read = Input.of(options).pairs()
    pairs = _chosen(trees.with_trees(options, read), options)
    if options.draw_trees:
        pairs = trees.one_tree_a_side(options, _with_parses(pairs, options))
    else:
        pairs = islice(pairs, options.limit)
    if not (options.html or options.svg or options.interlinear):
        _draw_terminal(pairs, options)
        return
    with TemporaryFile() as file, together():
        kept = _Kept(pairs, file)
        if options.svg:
            _draw_svg(kept, options)
        if options.html:
            _draw_html(kept, options)
        if options.interlinear:
            _draw_interlinear(kept, options)


class _Kept:
    """Sentence pairs in a temporary file, to iterate over several times."""

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


def _with_parses(pairs: Iterable[SentencePair], options: Options) -> Iterator[SentencePair]:
    """Yield the pairs with trees to draw, up to the limit, and report how many were skipped."""
    name = trees.tree_name(options)
    names = dict[str, None]()
    kept = 0
    bare = 0
    choice = Choice(options.input, None, "annotators")
    for pair in pairs:
        known = dict.fromkeys((*pair.source_trees, *pair.target_trees))
        names |= known
        if not known or name not in {None, *known}:
            bare += 1
            continue
        if not options.annotators:
            choice.of(pair)  # raises if there are several
        kept += 1
        yield pair
        if kept == options.limit:
            break
    if bare and not kept:
        if names:
            raise UnknownNameError(f"tree of {options.input}:", name or "", names)
        raise OptionError(
            f"{options.input} has no trees to draw: name files of trees with "
            "--source-trees, --target-trees or --both-trees"
        )
    if bare:
        say(f"{how_many(bare, 'pair', commas=True)} without trees skipped")


def _chosen(pairs: Iterable[SentencePair], options: Options) -> Iterator[SentencePair]:
    """Yield the pairs to draw."""
    wanted = dict.fromkeys(options.id or ())
    asked = dict.fromkeys(options.annotators or ())
    shown: set[str] = set()
    names: dict[str, None] = {}
    judged: dict[str, None] = {}  # or aligned
    for pair in pairs:
        if wanted and pair.id not in wanted:
            continue
        shown.add(pair.id)
        names.update(dict.fromkeys(pair.alignments))
        judged.update(dict.fromkeys(pair.annotations))
        if asked and judged and not asked.keys() & pair.alignments.keys():
            continue
        yield pair
    absent = [id for id in wanted if id not in shown]
    if absent:
        raise OptionError(f"{options.input} has no pair with the id {absent[0]!r}")
    for name in asked if judged else ():
        if name in judged and name not in names:
            raise NotAlignedError(f"pairs of {options.input}", name, names)
        if name not in names:
            raise UnknownNameError(f"annotator of {options.input}:", name, judged)


def _draw_svg(pairs: _Kept, options: Options) -> None:
    """Write an image for each pair."""
    if len(pairs) != 1:
        raise OptionError(f"--svg draws one pair, but there are {len(pairs)}: choose one with --id")
    (pair,) = pairs
    with replacing(options.svg) as out:
        if not options.draw_trees:
            from alignkit.show.svg import draw_svg

            out.write(draw_svg(pair, options.annotators))
            return
        from alignkit.rules.drawings.svg import draw_tree_svg

        image = draw_tree_svg(pair, **_of_trees(options))
        out.write(image)
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', image)
    if size is None:
        return
    width, height = map(float, size.groups())
    if max(width, height) > LARGEST:
        say(
            f"the picture has {width:,.0f} x {height:,.0f} pixels, which is too large for most "
            "programs; without --svg, the trees are drawn as lines of text"
        )


def _of_trees(options: Options) -> dict[str, Any]:
    """Return the options for drawing trees as keyword arguments."""
    (annotator,) = options.annotators or [None]
    names = dict.fromkeys(("source_tree", "target_tree"), trees.tree_name(options))
    return {"annotator": annotator, "links": options.links or "sure", **names}


def _draw_html(pairs: _Kept, options: Options) -> None:
    """Write pages of matrices or of trees."""
    from alignkit.show.html import draw_pages, matrices

    alone = options.html == "-" or (os.path.exists(options.html) and not isfile(options.html))
    if alone and options.pairs_a_page:
        message = f"{options.html} can only be one page; leave out --pairs-a-page, or name a file"
        raise OptionError(message)
    usual = TREES_A_PAGE if options.draw_trees else PAIRS_A_PAGE
    most = len(pairs) if alone else options.pairs_a_page or usual
    where: dict[str, Any] = {"title": options.input, "path": options.html, "pairs_a_page": most}
    if options.draw_trees:
        from alignkit.rules.drawings.svg import tree_content

        content = tree_content(**_of_trees(options))
    else:
        content = matrices(pairs, options.annotators)
    pages = draw_pages(pairs, content, **where)
    names = ("input", "source", "target", "source_trees", "target_trees", "both_trees")
    inputs = option_values(options, *names).values()
    read = {identity(path) for path in inputs if path}
    path = options.html
    for count, (path, pieces) in enumerate(pages, 1):
        if count > 1 and identity(path) in read:
            raise OptionError(f"page {count}, {path}, would replace an input; name another FILE")
        with replacing(path) as out:
            out.writelines(pieces)
    if path != options.html:
        say(f"{len(pairs)} pairs on {count} pages, {options.html} to {path}")


def _draw_interlinear(pairs: _Kept, options: Options) -> None:
    """Write a page of running text."""
    from alignkit.show.interlinear import draw_interlinear

    shown = options.pairs_a_page or SHOWN_AT_A_TIME
    page = draw_interlinear(pairs, options.annotators, title=options.input, pairs_a_page=shown)
    with replacing(options.interlinear) as out:
        out.writelines(page)


def _draw_terminal(pairs: Iterable[SentencePair], options: Options) -> None:
    """Print matrices or trees."""
    from alignkit.show.text import draw_text

    terminal = sys.stdout.isatty()
    colour = options.colour == "always"
    if options.colour == "auto":
        colour = terminal and not os.environ.get("NO_COLOR")
    width = options.width
    if not width and terminal:
        width = shutil.get_terminal_size().columns
    drawn: dict[str, Any] = {"colour": colour, "width": width, "ascii": options.ascii}
    for count, pair in enumerate(pairs):
        if count:
            print("\n")
        if options.draw_trees:
            from alignkit.rules.drawings.text import draw_tree_text

            print(draw_tree_text(pair, **_of_trees(options), **drawn))
        else:
            print(draw_text(pair, options.annotators, **drawn))
