"""Find candidates for paraphrases: pairs of documents, of sentences in them, or of grouped texts.

Use `documents` first and let people take the pairs from them by hand, if the corpus should have
paraphrases that no measure of similarity finds. This needs scikit-learn (the extra identify).

For example:
  alignkit candidates documents news.jsonl --date day --min-similarity 0.2 -o docs.jsonl
  alignkit candidates sentences docs.jsonl -o candidates.jsonl
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from dataclasses import Field, fields
from math import inf
from typing import TYPE_CHECKING, Any

from alignkit._support.docstrings import docstring
from alignkit.cli.common.encoders import add_encoder, check_encoder, encoder_with_progress
from alignkit.cli.common.files import refuse_second_reading, require_extra
from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.common.messages import say, warn
from alignkit.cli.parser import Group, Options, Parser, add_options, number, output_file, real
from alignkit.errors import OptionError
from alignkit.identification.options import CHOICES, LIMITS
from alignkit.io.atomic_files import replacing
from alignkit.io.reading import write_corpus

if TYPE_CHECKING:
    from alignkit.identification.candidates import Candidates
    from alignkit.identification.encoded_texts import TextEncoder
    from alignkit.tables.result import Result

COMMANDS = {
    "documents": "pair similar documents, by topic, date and similarity",
    "sentences": "find similar windows of lines in pairs of documents",
    "groups": "pair texts of a group, such as definitions of a term, by clusters",
    "retrieve": "measure how high the other text of a pair ranks among all texts",
}
"""The subcommands; each has a module."""

_WHY = (
    "The similarity of texts is then the cosine of the means of the words' vectors, and pairs get "
    "the share of matched words"
)
_HELP = re.compile(r"^    (\w+) : ([a-z].+(?:\n {8}.+)*)", re.MULTILINE)
"""A field that a docstring explains in small letters, here ``days``, with the lines that go on:

    days : largest difference of the dates in days (default: 7)
"""


def add_fields(group: Group, kind: type) -> None:
    """Declare an option, such as --days, for each field that `_HELP` finds in the docstrings.

    The other fields are for Python alone.
    """
    helps = _helps(kind)
    for field in fields(kind):
        if field.name in helps:
            group.add_argument(
                f"--{field.name.replace('_', '-')}",
                help=_with_default(helps[field.name], field),
                default=field.default,
                **_settings(field),
            )


def _helps(kind: type) -> dict[str, str]:
    """Return the texts of the fields of a class and of those it inherits from, by name."""
    helps = {}
    for base in reversed(kind.__mro__[:-1]):  # without `object`; what a class says itself counts
        for name, text in _HELP.findall(docstring(base)):
            helps[name] = " ".join(text.split())
    return helps


def _with_default(text: str, field: Field[Any]) -> str:
    """Return the help of a field, with its default if there is one that it does not name."""
    default = field.default
    if default is None and _first_type(field) == "float":
        default = "any"
    if not default or "(default" in text:
        return text
    parts = default if isinstance(default, tuple) else (default,)  # (2, 4) is 2-4
    return f"{text} (default: {'-'.join(map(str, parts))})"


def _settings(field: Field[Any]) -> dict[str, Any]:
    """Return what `argparse` needs to read a field; a sequence has several words."""
    name = field.name
    sort = _first_type(field)
    several = sort.startswith("Sequence[")
    settings: dict[str, Any]
    if name in CHOICES:
        settings = {"choices": [choice for choice in CHOICES[name] if choice != "pairs"]}
        if several:
            settings["metavar"] = "F"
    else:
        least, most = LIMITS.get(name, (1, inf))
        by_type: dict[str, dict[str, Any]] = {
            "bool": {"action": "store_true"},
            "str": {"metavar": "NAME"},
            "int": {"metavar": "N", "type": number(int(least))},
            "float": {"metavar": "X", "type": real(f"{least} to {most}", least, most)},
            "tuple[int, int]": {"metavar": "N-M", "type": _two_numbers},
        }
        settings = by_type[sort.removeprefix("Sequence[").removesuffix("]") if several else sort]
    if name == "clusters":
        settings["type"] = _clusters
    elif name == "strengths":
        settings["type"] = real("a number above 0", 1e-9)
    if several:
        settings["nargs"] = "+"
    return settings


def _first_type(field: Field[Any]) -> str:
    """Return the type of a field: `int` for ``int | None``."""
    return str(field.type).partition(" | ")[0]


def add_search(parser: Parser, kind: type, arguments: str, more: str = "") -> None:
    """Declare the options of a search: its inputs, fields and output."""
    places = {"dest": "second", "nargs": "?"}
    add_options(parser, arguments, IN="input", IN2=places, TARGET=places)
    group = parser.add_argument_group("search")
    add_fields(group, kind)
    if more:
        add_options(group, more)
    add_encoder(parser.add_argument_group("encoder"), _WHY)
    group = parser.add_argument_group("input and output")
    add_options(
        group,
        """
        --encoding E  encoding of all input (default: utf-8)
        -o, --output FILE  file for the pairs (default: none; only the report is printed)
        """,
        output=output_file,
        encoding={"default": "utf-8"},
    )
    add_media(group)


def fields_of(options: Options, kind: type) -> dict[str, Any]:
    """Return the values of the fields of a class of options."""
    return {x.name: getattr(options, x.name) for x in fields(kind) if x.name in options}


def prepare(options: Options) -> None:
    """Check what a command needs before it reads anything."""
    require_extra("identify")
    check_encoder(options)
    refuse_second_reading(options)
    forms = options.json, options.csv, options.medium != "text", getattr(options, "html", None)
    if options.output == "-" and any(forms):
        raise OptionError("the pairs and the report cannot both go to standard output: name a file")


def read_text_encoder(options: Options) -> TextEncoder | None:
    """Return what compares texts by the encoder of --encoder, which shows its progress."""
    encoder = encoder_with_progress(options)
    if encoder is None:
        return None
    from alignkit.identification.encoded_texts import TextEncoder

    return TextEncoder(encoder)


def report_texts(encoder: TextEncoder | None) -> None:
    """Report what the encoder did, if there is one."""
    if encoder is not None:
        say(f"encoder: {encoder}; {encoder.counts}")


def report(result: Result, options: Options) -> None:
    """Print a result, on stderr if the output goes to stdout."""
    if options.output != "-":
        print_result(result, options)
        return
    for note in result.cautions:
        warn(str(note))
    parts = [*result.head, *map(str, result.tables()), result.settings]
    for line in "\n\n".join(parts).split("\n"):
        say(line)


def search(
    options: Options,
    kind: type,
    function: Callable[..., Candidates],
    *data: object,
    **more: Any,
) -> None:
    """Find candidates, write them, and print the report."""
    encoder = read_text_encoder(options)
    result = function(*data, **fields_of(options, kind) | more | {"encoder": encoder})
    report_texts(encoder)
    if options.output is not None and getattr(options, "far", "") is None:  # whole documents
        with replacing(options.output) as out:
            for pair in result.pairs:
                row = {"id": pair.id, "source": pair.source, "target": pair.target}
                out.write(json.dumps(row | dict(pair.attributes), ensure_ascii=False) + "\n")
    elif options.output is not None:
        write_corpus(result.corpus, options.output, format="alignkit-jsonl")
    report(result, options)


def _clusters(text: str) -> int | None:
    """Read a number of clusters; half, the default, is None."""
    return None if text == "half" else number(1)(text)


def _two_numbers(text: str) -> tuple[int, int]:
    """Read a range such as 2-4, or a single number."""
    match = re.fullmatch(r"([0-9]{1,2})(?:-([0-9]{1,2}))?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a range such as 2-4, not {text[:40]!r}")
    return int(match[1]), int(match[2] or match[1])
