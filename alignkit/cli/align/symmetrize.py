"""Merge the alignments of both directions into one.

Both files have source-target links, one sentence pair a line. If the reverse alignment was written
target-source, use --reverse-transposed. The methods are the same as in Moses' symal. --format,
--base and the other options of reading apply to both files.

For example:
  alignkit symmetrize f.align r.align --reverse-transposed --method intersection -o both.align
  alignkit symmetrize f.align r.align | alignkit score - gold.align --ref-base 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from alignkit._support.values import FrozenMap
from alignkit.cli.common.files import DISORDER
from alignkit.cli.common.inputs import Input, add_reading_arguments
from alignkit.cli.common.losses import tell_lost
from alignkit.cli.common.messages import warn
from alignkit.cli.parser import Options, Parser, add_options, format_name, output_file
from alignkit.corpora.join import Differences, join_pairs
from alignkit.errors import JoinError
from alignkit.io.formats import WRITTEN
from alignkit.io.inputs import Choice, have_blocks, link_blocks, naming
from alignkit.io.reading import write_corpus
from alignkit.model.alignment import Alignment
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.io.base_checks import BaseWatch
    from alignkit.model.arrays import LinkArrays


_BLOCK = 4096
_METHODS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit symmetrize`."""
    add_options(
        parser,
        f"""
        FWD  forward alignment; - is stdin
        REV  reverse alignment; - is stdin
        --method M  method to merge links (default: grow-diag-final-and): {", ".join(_METHODS)}
        --reverse-transposed  links of REV are written target-source
        """,
        FWD="forward",
        REV="reverse",
        method={"choices": _METHODS, "default": "grow-diag-final-and"},
    )
    add_options(
        parser.add_argument_group("output"),
        """
        -o, --output FILE  file to write (default: stdout)
        --to F  format of the output (default: pharaoh); uses --base, if given
        """,
        output={"type": output_file, "default": "-"},
        to={"type": format_name(WRITTEN), "default": "pharaoh"},
    )
    add_reading_arguments(parser)


def run(options: Options) -> None:
    from alignkit.io.base_checks import BaseWatch

    turned = options.transpose != options.reverse_transposed
    forward = Input.of(options, options.forward)
    reverse = Input.of(options, options.reverse, transpose=turned)
    watches = (BaseWatch(forward.reading.base), BaseWatch(reverse.reading.base))
    if have_blocks(forward, reverse):
        merged = _merged_links(forward, reverse, options, watches)
    else:
        merged = _merged_pairs(forward, reverse, options, watches)
    with naming(forward.path, reverse.path):
        lost = write_corpus(merged, options.output, format=options.to, base=options.base)
    if reverse.path != forward.path:
        DISORDER.pop(reverse.path, None)  # the output has the order of the other
    tell_lost(options.output, options.to, lost)
    for path, watch in zip((forward.path, reverse.path), watches, strict=True):
        if suspicion := watch.suspicion("--base 1"):
            warn(f"{path}: warning: {suspicion}")


def _merged_links(
    forward: Input, reverse: Input, options: Options, watches: Sequence[BaseWatch]
) -> Iterator[SentencePair]:
    """Yield merged pairs of two inputs that can be read without their words."""
    from alignkit.model.symmetrization import symmetrize

    rest: list[object] = []
    for ids, *sides in link_blocks(forward, reverse, beyond=rest.extend):
        for watch, side in zip(watches, sides, strict=True):
            watch.add(side)
        merged = symmetrize(sides[0], sides[1], options.method)
        for k, id in enumerate(ids):
            yield SentencePair(str(id), None, None, _annotated(merged, k, options.method))
    for id in rest:
        yield SentencePair(str(id), None, None)
    _warn_of_single(len(rest))


def _merged_pairs(
    forward: Input, reverse: Input, options: Options, watches: Sequence[BaseWatch]
) -> Iterator[SentencePair]:
    """Yield merged pairs of any two inputs, a block at a time."""
    from alignkit.model.arrays import LinkArrays
    from alignkit.model.symmetrization import symmetrize

    odd = Differences()
    if options.partial:
        both = _with_single(forward.pairs(), reverse.pairs(), odd)
    else:
        both = join_pairs(forward.pairs(), reverse.pairs(), differences=odd)
    forward_choice = Choice(forward.path, None)
    reverse_choice = Choice(reverse.path, None)
    forward_watch, reverse_watch = watches
    single = 0
    while block := list(islice(both, _BLOCK)):
        forward_links = [forward_choice.of(first) for first, _ in block]
        reverse_links = [reverse_choice.of(second) for _, second in block]
        links_of_pairs = zip(forward_links, reverse_links, strict=True)
        missing = [None in directions for directions in links_of_pairs]
        if any(missing) and not options.partial:
            pair, _ = block[missing.index(True)]
            raise JoinError(
                f"pair {pair.id!r} is not annotated in one of the two directions; if this is "
                "intended, use `partial=True`"
            )
        single += sum(missing)
        nothing = Alignment()
        forward_arrays = LinkArrays.pack(links or nothing for links in forward_links)
        reverse_arrays = LinkArrays.pack(links or nothing for links in reverse_links)
        forward_watch.add(forward_arrays)
        reverse_watch.add(reverse_arrays)
        merged = symmetrize(forward_arrays, reverse_arrays, options.method)
        for k, (pair, _) in enumerate(block):
            annotations = FrozenMap() if missing[k] else _annotated(merged, k, options.method)
            yield replace(pair, annotations=annotations)
    _warn_of_single(single)
    if text := str(odd):
        warn(f"{forward.path} and {reverse.path}: {text}")


def _annotated(merged: LinkArrays, k: int, method: str) -> FrozenMap[str, Annotation]:
    """Return the merged links of a pair as an annotation by a system."""
    return FrozenMap({method: Annotation(merged.alignment(k), role="system")})


def _with_single(
    forward: Iterator[SentencePair], reverse: Iterator[SentencePair], odd: Differences
) -> Iterator[tuple[SentencePair, SentencePair]]:
    """Join pairs; a pair that only one direction has comes with itself, without annotations.

    The order is that of `forward`; the pairs that only `reverse` has are at the end.
    """
    firsts = list(forward)
    seconds = list(reverse)
    joined = list(join_pairs(firsts, seconds, partial=True, differences=odd))
    partners = {id(first): second for first, second in joined}
    for first in firsts:
        yield first, partners.get(id(first)) or replace(first, annotations=FrozenMap())
    only_reverse = set(odd.surplus)
    for second in seconds:
        if second.id in only_reverse:
            bare = replace(second, annotations=FrozenMap())
            yield bare, bare


def _warn_of_single(pairs: int) -> None:
    """Warn of pairs that only one of the two files has."""
    if pairs:
        warn(f"{pairs} sentence pairs have no links: only one of the two files has links for them")
