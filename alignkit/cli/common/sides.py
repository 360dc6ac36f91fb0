"""The two sides of a comparison, a hypothesis and its reference: their options and inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alignkit.cli.common.inputs import Input, detect_format, reading_options
from alignkit.cli.parser import Options, Parser, add_options, format_name, option_values
from alignkit.io.formats import FORMATS

if TYPE_CHECKING:
    from alignkit.scoring.files import FileOptions

HYPOTHESIS = "hyp"
REFERENCE = "ref"
"""The names of the two roles in sentence pairs, and the prefixes of their options."""


_GOLD = "the gold standard, unless HYP contains it too; then name both annotators. - is stdin"


def add_sides(
    parser: Parser,
    hypothesis: str,
    reference: str = _GOLD,
    *,
    required: bool = True,
    several: bool = False,
) -> None:
    """Add the arguments for a hypothesis and a reference, and the options for each.

    Parameters
    ----------
    required : Whether the command needs a hypothesis.
    several : Whether there can be several annotators of the hypothesis.
    """
    nargs = None if required else "?"
    parser.add_argument("hypothesis", nargs=nargs, metavar="HYP", help=hypothesis)
    parser.add_argument("reference", nargs="?", metavar="REF", help=reference)
    add_side(parser, HYPOTHESIS, "hypothesis", several=several)
    add_side(parser, REFERENCE, "reference")


def add_side(parser: Parser, side: str, long: str, *, several: bool = False) -> None:
    """Add the options that describe one of the two files."""
    more = "; if you name several, every two are compared" * several
    name = side.upper()
    settings: dict[str, dict[str, Any]] = {
        f"{side}_format": {"type": format_name(FORMATS)},
        f"{side}_base": {"type": int, "choices": (0, 1)},
    }
    add_options(
        parser.add_argument_group(f"the {long}, if different from the input options"),
        f"""
        --{side}-format F  format of {name}, if HYP and REF differ in format (default: --format)
        --{side}-base  number of the first word in {name} (default: --base)
        --{side}-encoding E  encoding of {name} (default: --encoding)
        --{side}-transpose  links of {name} are written target first
        --{side}-annotator A{"..." * several}  annotator in {name}, if {name} has several{more}
        """,
        **settings,
    )


def declared_sides(options: Options, hyp_annotator: str | None) -> FileOptions:
    """Return the options for both files, and for each."""
    from alignkit.scoring.files import FileOptions

    of_hypothesis = option_values(options, "hyp_format", "hyp_base", "hyp_encoding")
    of_reference = option_values(options, "ref_format", "ref_base", "ref_encoding")
    return FileOptions(
        reading_options(options),
        hyp_transpose=options.transpose != options.hyp_transpose,
        ref_transpose=options.transpose != options.ref_transpose,
        hyp_annotator=hyp_annotator,
        **option_values(options, "format", "ref_annotator", "in_order"),
        **of_hypothesis,
        **of_reference,
    )


def open_sides(path: str, reference: str | None, declared: FileOptions) -> tuple[Input, Input]:
    """Open a hypothesis and its reference; a corpus with both is opened once."""
    paths = [path] if reference is None else [path, reference]
    settled = declared.settled(paths, detect_format)
    opened = [Input(path, *options) for path, options in zip(paths, settled, strict=True)]
    return opened[0], opened[-1]
