"""Merge the alignments of both directions into one.

Both files hold source-target links, line by line; where the reverse alignment was written
target-source, say so by --reverse-transposed.

For example:
  alignkit symmetrize f.align r.align --reverse-transposed --method intersection -o both.align
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import islice

from alignkit.alignment import Alignment
from alignkit.annotation import Annotation
from alignkit.arrays import LinkArrays
from alignkit.cli.blocks import have_blocks, link_blocks
from alignkit.cli.inputs import Input, add_reading_arguments, reading_options, the_annotation
from alignkit.cli.kernels import announce
from alignkit.corpus import SentencePair
from alignkit.errors import JoinError
from alignkit.formats import FORMATS, write_corpus
from alignkit.frozen import FrozenMap
from alignkit.join import join_pairs

_BLOCK = 4096
_METHODS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("forward", metavar="FWD", help="the forward alignment; - is stdin")
    parser.add_argument("reverse", metavar="REV", help="the reverse alignment")
    parser.add_argument(
        "--method",
        choices=_METHODS,
        default="grow-diag-final-and",
        help="default: grow-diag-final-and",
    )
    parser.add_argument(
        "--reverse-transposed", action="store_true", help="REV is written target-source"
    )
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="default: stdout")
    parser.add_argument("--to", choices=FORMATS, default="pharaoh", metavar="F", help="its format")
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    announce()
    declared = reading_options(options)
    forward = Input(options.forward, options.format, declared)
    reverse = Input(
        options.reverse,
        options.format,
        reading_options(options, transpose=options.transpose != options.reverse_transposed),
    )
    if have_blocks(forward, reverse):
        merged = _merged_links(forward, reverse, options.method)
    else:
        merged = _merged_pairs(forward.pairs(), reverse.pairs(), options.method)
    write_corpus(
        merged,
        options.output,
        format=options.to,
        base=options.base,
    )
    return 0


def _alignment(pair: SentencePair) -> Alignment:
    annotation = the_annotation(pair, None)
    if annotation is None:
        raise JoinError(f"pair {pair.id!r} is not annotated in one of the two directions")
    return annotation.alignment


def _merged_links(forward: Input, reverse: Input, method: str) -> Iterator[SentencePair]:
    from alignkit.symmetrize import symmetrize

    for ids, *sides in link_blocks(forward, reverse):
        merged = symmetrize(sides[0], sides[1], method)
        for k, id in enumerate(ids):
            annotations = FrozenMap({method: Annotation(merged.alignment(k))})
            yield SentencePair(str(id), None, None, annotations)


def _merged_pairs(
    forward: Iterable[SentencePair], reverse: Iterable[SentencePair], method: str
) -> Iterator[SentencePair]:
    from alignkit.symmetrize import symmetrize

    both = join_pairs(forward, reverse)
    while block := list(islice(both, _BLOCK)):
        sides = [
            LinkArrays.pack(_alignment(pair) for pair in side) for side in zip(*block, strict=True)
        ]
        merged = symmetrize(sides[0], sides[1], method)
        for k, (pair, _) in enumerate(block):
            annotations = FrozenMap({method: Annotation(merged.alignment(k))})
            yield SentencePair(pair.id, pair.source, pair.target, annotations, pair.attributes)
