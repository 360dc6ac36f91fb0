"""Convert a corpus from one format into another.

alignkit reports on stderr anything that the output format cannot represent. OUT is replaced only
when the whole output is written, so IN and OUT may be the same file.

For example:
  alignkit convert gold.align gold.xml --to alignkit-xml --source fr.txt --target en.txt
  alignkit convert gold.wa gold.align --from naacl --to pharaoh
  alignkit convert pairs.json rows.tsv --rows classification --scheme turku --view binary
  alignkit convert corpus.xml - --to pharaoh --annotator anna --to-source fr.txt
  alignkit convert pairs.json pairs.jsonl --to alignkit-jsonl --both-trees parsed.xml.gz
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from alignkit.cli.common import inputs, schemes
from alignkit.cli.common.losses import tell_lost
from alignkit.cli.common.messages import say, warn
from alignkit.cli.common.trees import add_tree_options, trees_named, with_trees
from alignkit.cli.corpora.convert_rows import add_rows_arguments, write_rows
from alignkit.cli.parser import (
    Group,
    Options,
    Parser,
    add_options,
    format_name,
    output,
    output_file,
)
from alignkit.errors import OptionError
from alignkit.io.atomic_files import standard_stream
from alignkit.io.format import JUDGED
from alignkit.io.formats import WRITTEN, get_format
from alignkit.io.inputs import Choice, naming
from alignkit.io.reading import format_of_name, write_corpus
from alignkit.model.corpus import Corpus
from alignkit.model.labels import get_scheme
from alignkit.model.sentence_pair import SentencePair


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit convert`."""
    add_options(
        parser,
        """
        IN  file or folder to read; - is stdin
        OUT  file or folder to write; - is stdout
        """,
        IN="input",
        OUT={"dest": "output", "type": output},
    )
    inputs.add_reading_arguments(parser, flags=("--from", "--format"))
    text = "a name that --help-all lists under --from (default: by the ending of OUT)"
    group = add_writing_arguments(parser, text, required=False)
    add_options(
        group,
        """
        --annotator A  write only the alignments of this annotator (default: all)
        --swap  exchange source and target; with a scheme, also in judgments with a direction
        """,
    )
    schemes.add_scheme_argument(group, f"{schemes.OF_FORMAT}, for --swap and --rows")
    add_rows_arguments(group)
    add_tree_options(parser)


def add_writing_arguments(parser: Parser, formats: str, *, required: bool = True) -> Group:
    """Add the options for writing a corpus; `formats` lists the formats in the help."""
    group = parser.add_argument_group("output")
    add_options(
        group,
        f"""
        --to F  format of the output: {formats}
        --to-base  number of the first word in the output (default: as usual in the format)
        --to-transpose  write links target first
        --to-source FILE  file for the source sentences, if OUT has only links; alone: a bitext
        --to-target FILE  file for the target sentences, if OUT has only links
        --to-ids  write the id of each pair before its links (pharaoh)
        --to-weights  write the weight of each link after it, as in 0-0:0.93 (pharaoh)
        """,
        to={"required": required, "type": format_name(WRITTEN)},
        to_base={"type": int, "choices": (0, 1)},
        to_source=output_file,
        to_target=output_file,
    )
    return group


def run(options: Options) -> None:
    """Write a corpus in another format, or as rows for training."""
    rows = options.rows is not None
    if not rows:
        options.to = options.to or format_of_name(options.output)
        if options.no_rewrites or options.view is not None:
            raise OptionError("--no-rewrites and --view need --rows; add it, or leave them out")
        check_writing(options)
    source = inputs.Input.of(options)
    pairs: Iterator[SentencePair] = source.pairs(judged=rows, worded=rows)
    if rows or (options.swap and source.kind.scheme):
        schemes.settle_scheme(options, source)
    if rows:
        if trees_named(options):
            raise OptionError("rows for training have no trees: leave out the options for trees")
        with naming(options.input):
            write_rows(pairs, options)
        return
    pairs = with_trees(options, pairs)
    pairs = of_annotator(pairs, options.input, options.annotator, options.to)
    if options.swap:
        pairs = _swapped(pairs, options)
    with naming(options.input):
        write(pairs, options)


def check_writing(options: Options) -> None:
    """Refuse writing options that a format does not have."""
    if options.to.startswith("alignkit-") and (options.to_base or options.to_transpose):
        raise OptionError(
            f"{options.to} is always read as source first and counted from 0: leave out "
            "--to-base and --to-transpose (--swap exchanges the sides)"
        )


def write(pairs: Iterable[SentencePair], options: Options) -> None:
    """Write pairs as the options say, and report what the format cannot represent."""
    names = ("base", "transpose", "source", "target", "ids", "weights")
    how = {name: getattr(options, f"to_{name}") for name in names}
    how |= {"format": options.to, "annotator": options.annotator}
    tell_lost(options.output, options.to, write_corpus(pairs, options.output, **how))


def _swapped(pairs: Iterable[SentencePair], options: Options) -> Iterator[SentencePair]:
    """Yield the pairs with their sides exchanged; report judgments that were not."""
    arrows = strangers = 0
    if options.scheme is None:
        scheme = None
    else:
        scheme = get_scheme(options.scheme)
    for pair in pairs:
        judgments = [annotation.judgment for annotation in pair.annotations.values()]
        if scheme is None:
            arrows += any("<" in judgment or ">" in judgment for judgment in judgments)
        elif options.lenient_labels:
            strangers += sum(text != "" and text not in scheme.judgments for text in judgments)
        yield pair.transpose(scheme, lenient_labels=options.lenient_labels)
    if arrows:
        warn(
            f"{options.input}: the judgments of {arrows} pairs contain < or > and are unchanged; "
            "if these say which side is more general, name the scheme, e.g. --scheme turku"
        )
    if scheme is not None and strangers:
        say(f"{options.input}: {strangers} judgments are not in {scheme.name}: left unchanged")


def of_annotator(
    pairs: Iterable[SentencePair], path: str, name: str | None, format: str
) -> Iterator[SentencePair]:
    """Yield pairs with the work of one annotator, or of all that the format can represent."""
    holds = get_format(format).holds
    choice = Choice(path, name, judged=JUDGED in holds)
    for pair in pairs:
        if name is not None or "annotators" not in holds:
            choice.of(pair)  # raises where there are several
        others = set(pair.annotations) - {name}
        yield pair if name is None else pair.without_annotations(*others)
    choice.check()


_BY_ENDING = (
    "by its ending alignkit-jsonl (.jsonl, -), alignkit-xml (.xml) or pharaoh (.align), else as "
    "the input"
)


def add_corpus_output(parser: Parser, text: str, default: str = _BY_ENDING) -> None:
    add_options(
        parser,
        f"""
        -o, --output OUT  {text}
        --to F  format of OUT (default: {default})
        """,
        output={"required": True, "type": output},
        to=format_name(WRITTEN),
    )


def refuse_json_beside(options: Options) -> None:
    if options.json and standard_stream(options.output) is sys.stdout:
        raise OptionError("--json prints on standard output: write the corpus to a file with -o")


def corpus_format(options: Options, read: Iterable[str]) -> str:
    """Return the output format: from --to, from the file's ending, or that of the input."""
    formats = {*read}
    default = formats.pop() if len(formats) == 1 else "alignkit-xml"
    return options.to or format_of_name(options.output, default)


def write_whole(corpus: Corpus, path: str, format: str) -> None:
    """Write a corpus, and report what the format cannot represent."""
    if "annotators" not in get_format(format).holds and len(corpus.aligners) > 1:
        raise OptionError(
            f"format {format} takes the alignments of one annotator, but these are by "
            f"{', '.join(corpus.aligners)}; write alignkit-xml or alignkit-jsonl, or choose "
            "one with `convert --annotator`"
        )
    tell_lost(path, format, write_corpus(corpus, path, format=format))
