"""Give every command that reads the same options in the same sense."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator, Sequence
from io import BufferedReader
from typing import TYPE_CHECKING, cast

from alignkit.annotation import Annotation
from alignkit.cli.progress import Progress
from alignkit.corpus import Corpus, SentencePair
from alignkit.errors import OptionError
from alignkit.formats import FORMATS, Format, Reading, ReadOptions, open_reading, read_pairs

if TYPE_CHECKING:
    from alignkit.arrays import LinkArrays

__all__ = ["Input", "add_reading_arguments", "detect_format", "reading_options", "the_annotation"]


def add_reading_arguments(
    parser: argparse.ArgumentParser, *, flags: tuple[str, ...] = ("--format",)
) -> None:
    """Add the options that declare what a file does not say of itself."""
    group = parser.add_argument_group("what the input is")
    group.add_argument(
        *flags,
        dest="format",
        metavar="F",
        choices=FORMATS,
        help="its format (default: alignkit's own where the file says so, else pharaoh): "
        + ", ".join(FORMATS),
    )
    group.add_argument(
        "--base", type=int, choices=(0, 1), help="number of the first word (default: by format)"
    )
    group.add_argument("--transpose", action="store_true", help="links are written target first")
    group.add_argument(
        "--source", metavar="FILE", help="source words, or alone a 'source ||| target' bitext"
    )
    group.add_argument("--target", metavar="FILE", help="target words")
    group.add_argument("--encoding", default="utf-8", help="of all input (default: utf-8)")
    group.add_argument(
        "--drop-out-of-range", action="store_true", help="drop and count links beyond the sentence"
    )
    group.add_argument(
        "--partial",
        action="store_true",
        help="there are fewer alignments than texts: the rest is not annotated",
    )
    group.add_argument(
        "--unescape", action="store_true", help="turn &quot; and the like into characters"
    )
    group.add_argument(
        "--name", metavar="NAME", help="annotator, for formats that name none (alignment)"
    )


def reading_options(options: argparse.Namespace, **changes: object) -> ReadOptions:
    """Return the declared options as the formats take them."""
    names = ("base", "transpose", "source", "target", "encoding", "drop_out_of_range", "partial")
    declared = {name: getattr(options, name) for name in (*names, "unescape", "name")}
    return ReadOptions(**(declared | changes))


def detect_format(path: str, declared: str | None) -> str:
    """Return the declared format; else alignkit's own if the file says so, else pharaoh."""
    if declared is not None:
        return declared
    head = _head(path).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b'{"alignkit"'):
        return "alignkit-jsonl"
    if head.startswith(b"<") and b"urn:alignkit:" in head:
        return "alignkit-xml"
    return "pharaoh"


def _head(path: str) -> bytes:
    try:
        if path == "-":
            return cast("BufferedReader", sys.stdin.buffer).peek(512)
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as stream:
            return stream.read(512)
    except (OSError, EOFError):
        return b""  # reading it in earnest will say what is wrong


class Input:
    """Read one input of a command, with progress, and tell what was dropped.

    Parameters
    ----------
    path
        The file or folder.
    format
        The declared format, or None.
    options
        What else was declared.
    """

    def __init__(self, path: str, format: str | None, options: ReadOptions) -> None:
        self.path = path
        self.format = detect_format(path, format)
        self.kind: Format
        self.reading: Reading
        self.kind, self.reading = open_reading(path, format=self.format, options=options)

    def pairs(self) -> Iterator[SentencePair]:
        """Yield the sentence pairs; at the end, tell on stderr what was dropped."""
        with Progress(self.path, self.reading.fraction) as progress:
            for pair in read_pairs(self.kind, self.reading):
                progress.step()
                yield pair
        self.tell()

    def blocks(self) -> Iterator[tuple[Sequence[object], LinkArrays]]:
        """Yield ids and links of many pairs at a time, as the format's `blocks` does."""
        if self.kind.blocks is None:
            raise OptionError(f"format {self.format} cannot be read without its words")
        with Progress(self.path, self.reading.fraction) as progress:
            for ids, links in self.kind.blocks(self.reading):
                progress.step(len(ids))
                yield ids, links
        self.tell()

    def corpus(self) -> Corpus:
        """Read all of it."""
        return Corpus(self.pairs())

    def tell(self) -> None:
        """Tell on stderr what reading forgave or dropped, if anything."""
        harmless = ("carriage returns", "byte order mark")
        found = {kind: n for kind, n in self.reading.counts.items() if n and kind not in harmless}
        if found:
            listing = ", ".join(f"{n} x {kind}" for kind, n in found.items())
            print(f"alignkit: {self.path}: {listing}", file=sys.stderr)


def the_annotation(
    pair: SentencePair, name: str | None, option: str = "--annotator"
) -> Annotation | None:
    """Return the annotation of a pair: the named one, or the only one; None if there is none.

    Raises
    ------
    OptionError
        If there are several and none was named.
    """
    if name is not None:
        return pair.annotations.get(name)
    if len(pair.annotations) > 1:
        names = ", ".join(pair.annotations)
        raise OptionError(f"pair {pair.id!r} has the alignments of {names}: choose by {option}")
    return next(iter(pair.annotations.values()), None)
