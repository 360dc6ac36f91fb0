"""Give every command that reads the same options in the same sense."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from alignkit.cli.common.files import refuse_second_reading, remember
from alignkit.cli.common.messages import ProgressBar, say, warn
from alignkit.cli.parser import annotator_name, format_name, number
from alignkit.errors import FormatError, OptionError
from alignkit.io.detection import find_format, hinted, suspicions
from alignkit.io.format import FORMATS, Format
from alignkit.io.opening import MAX_MEGABYTES, MAX_WORDS
from alignkit.io.options import ReadOptions
from alignkit.io.reading import open_reading, read_pairs
from alignkit.io.records import Reading
from alignkit.model.corpus import Corpus
from alignkit.model.labels import SCHEMES
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.model.arrays import LinkArrays
    from alignkit.scoring.files import FileOptions


_OWN = "the one that fits its first records, which is told"
_HARMLESS = ("carriage returns", "byte order mark")


def add_reading_arguments(
    parser: argparse.ArgumentParser,
    *,
    flags: tuple[str, ...] = ("--format",),
    formats: Mapping[str, str] = FORMATS,
    default: str = _OWN,
) -> None:
    """Add the options that declare what a file does not say of itself."""
    group = parser.add_argument_group("what the input is")
    group.add_argument(
        *flags,
        dest="format",
        metavar="F",
        type=format_name(formats),
        help=f"its format (default: {default}): {', '.join(formats)}",
    )
    group.add_argument(
        "--base",
        type=int,
        choices=(0, 1),
        help="number of the first word (default: the format's custom, e.g. 0 for pharaoh, 1 for "
        "naacl)",
    )
    group.add_argument("--transpose", action="store_true", help="links are written target first")
    group.add_argument(
        "--source",
        metavar="FILE",
        help="source words, where the format holds none; alone: a bitext, 'source ||| target'",
    )
    group.add_argument("--target", metavar="FILE", help="target words, likewise")
    group.add_argument(
        "--encoding", default="utf-8", metavar="E", help="of all input (default: utf-8)"
    )
    group.add_argument(
        "--drop-out-of-range",
        action="store_true",
        help="drop and count links beyond the sentence (default: an error)",
    )
    group.add_argument(
        "--partial",
        action="store_true",
        help="files may lack pairs that others have, or have fewer alignments than there are "
        "texts: these pairs count as not annotated there (default: an error)",
    )
    group.add_argument(
        "--unescape",
        action="store_true",
        help="turn &quot; and the like into characters (default: words stay as they are)",
    )
    group.add_argument(
        "--name",
        metavar="NAME",
        type=annotator_name,
        help="annotator, for formats that name none (default: alignment)",
    )
    group.add_argument(
        "--lenient-labels",
        action="store_true",
        help="keep, and count, what is no judgment of the scheme (default: an error)",
    )
    group.add_argument(
        "--unquote",
        action="store_true",
        help="take the quotation marks off texts that begin and end with one (turku; default: "
        "they are text)",
    )
    group.add_argument(
        "--no-text",
        action="store_true",
        help="take the words from what annotations quote where there are no texts, '_' where "
        "nothing does (etpc; default: no words)",
    )
    add_limits(group)


def add_limits(group: argparse._ActionsContainer, *, words: bool = True) -> None:
    """Add the options that allow more than memory is sure to bear; without `words`, of lines."""
    group.add_argument(
        "--max-size",
        type=number(1),
        default=MAX_MEGABYTES,
        metavar="MB",
        help="refuse longer lines, and larger XML elements and files that are read in one piece "
        f"(default: {MAX_MEGABYTES})",
    )
    if not words:
        return
    group.add_argument(
        "--max-words",
        type=number(1),
        default=MAX_WORDS,
        metavar="N",
        help=f"refuse longer sentences (default: {MAX_WORDS})",
    )


def reading_options(options: argparse.Namespace, **changes: object) -> ReadOptions:
    """Return the declared options as the formats take them; see `refuse_second_reading`."""
    refuse_second_reading(options)
    names = ("base", "transpose", "source", "target", "encoding", "drop_out_of_range", "partial")
    more = ("unescape", "name", "max_size", "max_words", "lenient_labels", "unquote", "no_text")
    declared = {name: getattr(options, name) for name in (*names, *more)}
    return ReadOptions(**(declared | changes))


def detect_format(path: str, declared: str | None, options: ReadOptions) -> str:
    """Return the declared format; else find it, and print its name unless the file bears it."""
    if declared is not None:
        return declared
    if path == "-" and sys.stdin is None:
        raise OptionError("standard input is closed; name a file")
    found = find_format(path, encoding=options.encoding, base=options.base)
    if not found.startswith("alignkit-"):
        say(f"{path}: read as {found}", once=True)
    return found


class Input:
    """Read one input of a command, with progress, and say what was dropped.

    Without a `format` it is found.
    """

    def __init__(self, path: str, format: str | None, options: ReadOptions) -> None:
        if path == "-" and sys.stdin is None:
            raise OptionError("standard input is closed; name a file")
        self.path = path
        self.format = detect_format(path, format, options)
        self.kind: Format
        self.reading: Reading
        told = suspicions(path, self.format, options) if format is None else []
        self._suspicions = [f"{path}: {suspicion}" for suspicion in told]
        for suspicion in told:
            warn(f"{path}: warning: {suspicion}")
        self.kind, self.reading = open_reading(path, format=self.format, options=options)
        remember(path, self.format, options)
        if self.kind.remark and (remark := self.kind.remark(self.reading)):
            say(f"{path}: {remark}", once=True)

    @property
    def cautions(self) -> list[str]:
        """What to know of how it was read, when all is read."""
        return [*self._suspicions, *self.reading.cautions]

    def pairs(
        self, *, needed: bool = False, judged: bool = False, worded: bool = False
    ) -> Iterator[SentencePair]:
        """Yield the sentence pairs; at the end, say on stderr what was dropped.

        An error is an input without pairs if they are `needed`, one of which no pair is judged with
        `judged`, and with `worded` a judged pair of which words are not known.
        """
        seen = False
        with ProgressBar(self.path, self.reading.fraction) as progress:
            for pair in read_pairs(self.kind, self.reading):
                progress.step()
                if worded and None in (pair.source, pair.target):
                    self._refuse_wordless(pair)
                if judged and not seen:
                    seen = any(one.judgment for one in pair.annotations.values())
                yield pair
        if (needed or judged) and not self.reading.read:
            raise OptionError(f"{self.path}: holds no sentence pairs; name a file that does")
        if judged and not seen:
            raise OptionError(f"{self.path}: no pair is judged; name a file with judgments")
        self._tell()

    def _refuse_wordless(self, pair: SentencePair) -> None:
        if any(one.judgment for one in pair.annotations.values()):
            side = "source" if pair.source is None else "target"
            raise FormatError(
                f"pair {pair.id[:40]!r} is judged, but its {side} words are not there; add them",
                *self.reading.place,
            )

    def blocks(self) -> Iterator[tuple[Sequence[object], LinkArrays]]:
        """Yield ids and links of many pairs at a time, as the format's `blocks` does."""
        if self.kind.blocks is None:
            raise OptionError(f"format {self.format} cannot be read without its words")
        with ProgressBar(self.path, self.reading.fraction) as progress:
            for ids, links in hinted(self.kind.blocks(self.reading), self.reading):
                progress.step(len(ids))
                yield ids, links
        self._tell()

    def corpus(self, *, needed: bool = False, judged: bool = False) -> Corpus:
        """Read all of it; see `pairs`."""
        return Corpus(self.pairs(needed=needed, judged=judged))

    def _tell(self) -> None:
        counts = self.reading.counts
        tell(self.path, Counter({k: n for k, n in counts.items() if k not in _HARMLESS}))
        if not self.reading.read:
            say(f"{self.path}: holds no sentence pairs")


def tell(path: str, counts: Counter[str], about: str = "") -> None:
    """Tell on stderr how often things happened, if any did."""
    found = [f"{n} x {kind}" for kind, n in counts.items() if n]
    if found:
        (warn if counts["link out of range"] else say)(f"{path}: {about}{', '.join(found)}")


def add_order_argument(group: argparse._ActionsContainer) -> None:
    """Add the option that declares the order."""
    group.add_argument(
        "--in-order",
        action="store_true",
        help="the n-th pairs of all inputs belong together, whatever their ids, e.g. a system's "
        "lines and a corpus with ids of its own (default: join by id)",
    )


def add_scheme_argument(
    group: argparse._ActionsContainer, about: str, *, required: bool = False
) -> None:
    """Add the option --scheme."""
    group.add_argument(
        "--scheme",
        choices=tuple(SCHEMES),
        metavar="S",
        required=required,
        help=f"scheme {about}: {', '.join(SCHEMES)}",
    )


def add_rewrites_argument(group: argparse._ActionsContainer) -> None:
    """Add the option --rewrites."""
    group.add_argument(
        "--rewrites",
        action="store_true",
        help="count pairs that annotators wrote anew too, as what they meant them to be",
    )


HYPOTHESIS, REFERENCE = "hyp", "ref"
"""What the two are called in the pairs, and before their options."""


def add_sides(parser: argparse.ArgumentParser, hypothesis: str, *, optional: bool = False) -> None:
    """Add a hypothesis and a reference, which one corpus may hold both, and what each is."""
    nargs = "?" if optional else None
    parser.add_argument("hypothesis", nargs=nargs, metavar="HYP", help=hypothesis)
    parser.add_argument(
        "reference",
        nargs="?",
        metavar="[REF]",
        help="the gold standard; - is stdin; left out, HYP holds it too: name both annotators",
    )
    add_side(parser, HYPOTHESIS, "hypothesis", several=optional)
    add_side(parser, REFERENCE, "reference")


def add_side(
    parser: argparse.ArgumentParser, side: str, long: str, *, several: bool = False
) -> None:
    """Add the options that say what one of the two is."""
    group = parser.add_argument_group(f"what the {long} is, if not as said for both")
    group.add_argument(
        f"--{side}-format",
        type=format_name(FORMATS),
        metavar="F",
        help="its format (default: --format)",
    )
    group.add_argument(
        f"--{side}-base",
        type=int,
        choices=(0, 1),
        help="number of its first word (default: --base)",
    )
    group.add_argument(
        f"--{side}-transpose", action="store_true", help="its links are written target first"
    )
    group.add_argument(
        f"--{side}-annotator",
        nargs="+" if several else None,
        metavar="A",
        help="whose alignments, if it holds several"
        + ("; of several named, every two are compared" if several else ""),
    )


def declared_sides(options: argparse.Namespace, hyp_annotator: str | None) -> FileOptions:
    """Return what the options say of both files, and of each."""
    from alignkit.scoring.files import FileOptions

    return FileOptions(
        reading_options(options),
        options.format,
        hyp_format=options.hyp_format,
        hyp_base=options.hyp_base,
        hyp_transpose=options.transpose != options.hyp_transpose,
        hyp_annotator=hyp_annotator,
        ref_format=options.ref_format,
        ref_base=options.ref_base,
        ref_transpose=options.transpose != options.ref_transpose,
        ref_annotator=options.ref_annotator,
        in_order=options.in_order,
    )


def open_sides(path: str, reference: str | None, declared: FileOptions) -> tuple[Input, Input]:
    """Open a hypothesis and its reference; where one corpus holds both, it is opened once."""
    paths = [path] if reference is None else [path, reference]
    settled = declared.settled(paths, detect_format)
    opened = [Input(path, *one) for path, one in zip(paths, settled, strict=True)]
    return opened[0], opened[-1]
