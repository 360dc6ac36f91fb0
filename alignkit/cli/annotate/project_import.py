"""Import corrected words, work done elsewhere, or more pairs into a project.

FILE is a corpus with the ids of the project's pairs, two plain texts or one bitext (one line for
each pair, in the order of the project), or another project with the same pairs.

Words that differ are corrected in the project. Links stay if their words are unchanged or were
replaced one by one. All other links are listed, here and on the page, and the pair must be marked
as done again. Annotations are merged: new annotators are added as they are; for known annotators,
the difference becomes one edit, which they can undo. An earlier state of the same work is ignored.
Importing a file twice changes nothing the second time. Pairs that the project does not have are
left out, unless --add-pairs adds them.

For example:
  alignkit project import corpus.jsonl.alignkit corrected.jsonl --words-only
  alignkit project import corpus.jsonl.alignkit corrected.fr corrected.en
  alignkit project import corpus.jsonl.alignkit bens-copy.alignkit
  alignkit project import corpus.jsonl.alignkit new.align --name eflomal --in-order
  alignkit project import corpus.jsonl.alignkit further.jsonl --add-pairs
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common import inputs
from alignkit.cli.common.messages import ProgressBar, json_text, visible_lines
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.errors import OptionError
from alignkit.io.parallel_text import text_pairs
from alignkit.io.records import Reading
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.annotate.importing import Imported


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit project import`."""
    add_project_argument(parser)
    add_options(
        parser,
        """
        FILE  corpus, text, or another project; - is stdin
        TARGET  file with the target sentences, if FILE is a text with the source sentences
        --words-only  import the words of FILE, and ignore its annotations; even those that no
            longer fit
        --add-pairs  add pairs with new ids at the end of the project; if pairs are assigned, the
            new ones are too, without other changes (default: leave them out)
        """,
        FILE="input",
        TARGET={"dest": "second", "nargs": "?"},
    )
    inputs.add_reading_arguments(parser)
    inputs.add_order_argument(parser)
    add_options(parser, "--json  print a report as JSON")


def run(options: Options) -> None:
    """Add the work in a file or another project to a project."""
    from alignkit.annotate.importing import import_pairs
    from alignkit.annotate.merging import merge_project
    from alignkit.annotate.project.database import is_project
    from alignkit.annotate.project.store import Store

    with (
        open_project(options) as store,
        ProgressBar(options.project, store.project().pairs, "pairs") as progress,
    ):
        step = progress.step
        if options.second is None and is_project(options.input):
            if options.add_pairs:
                raise OptionError(
                    "--add-pairs takes pairs from a corpus: export the other project, import the "
                    "exported file with --add-pairs, then import the project with its history"
                )
            with Store.open(options.input, readonly=True) as other:
                result = merge_project(store, other, in_order=options.in_order, tell=step)
        else:
            holds, pairs, in_order = _read(options)
            if in_order and options.add_pairs:
                raise OptionError(
                    "--add-pairs recognises new pairs by their ids, so it does not work with "
                    "--in-order or plain texts"
                )
            result = import_pairs(
                store, pairs, holds=holds, in_order=in_order, add=options.add_pairs, tell=step
            )
    if options.json:
        print(json_text(result.to_dict()))
    else:
        print(visible_lines("\n".join(_lines(result))))


def _read(options: Options) -> tuple[frozenset[str], Iterator[SentencePair], bool]:
    """Return the contents of the format, the pairs, and whether to join them by order."""
    bitext = False
    if options.second is options.format is options.source is None:
        bitext = inputs.is_bitext(options.input, options.encoding)
    if options.second is None and not bitext:
        drop = options.drop_out_of_range or options.words_only
        source = inputs.Input.of(options, drop_out_of_range=drop)
        pairs = source.pairs()
        if options.words_only:
            pairs = (SentencePair(pair.id, pair.source, pair.target) for pair in pairs)
        return source.kind.holds, pairs, options.in_order
    if options.source is not None or options.format is not None:
        raise OptionError("a plain text has no links: leave out --format, --source and --target")
    texts = inputs.reading_options(options, source=options.input, target=options.second)
    return frozenset(), text_pairs(Reading(options.input, texts)), True


def _lines(result: Imported) -> Iterator[str]:
    """Yield what was imported, in lines for people."""
    yield f"{result.pairs - result.added} pairs of the project"
    if result.added:
        yield f"{result.added} pairs added to it"
    if result.reworded:
        yield (
            f"{result.reworded} with corrected words: {result.carried} links kept, "
            f"{len(result.lost)} removed"
        )
    for line in result.removed():
        yield f"  {line}"
    yield (
        f"annotations: {result.new} new, {result.changed} changed, {result.same} unchanged, "
        f"{result.older} already ahead of the file"
    )
    yield from result.warnings()
