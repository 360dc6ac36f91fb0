"""Take the options of a hypothesis and a reference, and open both."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from alignkit.cli.inputs import Input, detect_format, reading_options
from alignkit.cli.parser import format_name
from alignkit.formats import FORMATS

if TYPE_CHECKING:
    from alignkit.scoring.file_options import FileOptions

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
    from alignkit.scoring.file_options import FileOptions

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
