"""Declare the options of `alignkit agree`; most are made from the fields of `AgreementOptions`.

An option that is not typed is not in the namespace, so that what was typed is known: options that
contradict each other are an error, and defaults contradict nothing.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from alignkit.agreement.options import AgreementOptions
from alignkit.cli.agree_judgments import add_judgment_options
from alignkit.cli.grouping import add_groups
from alignkit.cli.media import add_media
from alignkit.cli.order import add_order_argument
from alignkit.cli.parser import number, saved_file
from alignkit.report.word_kinds import LANGUAGES

_GROUPS = {
    "what": "what is compared",
    "chance": "agreement beyond chance, C",
    "certainty": "how sure one can be",
}
_OPPOSITES = {"ignore_identical": "--include-identical"}
"""What is the case unless one says otherwise; the option says otherwise."""

_FIELDS: Mapping[str, Field[Any]] = {field.name: field for field in fields(AgreementOptions)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare all options but those of reading."""
    parser.set_defaults(wording=_translated)
    _add_who(parser.add_argument_group("who is compared"))
    for group, title in _GROUPS.items():
        made = parser.add_argument_group(title)
        for field in _FIELDS.values():
            if field.metadata["group"] == group:
                _add_field(made, field)
    _add_draws(made)
    _add_output(parser.add_argument_group("what is printed"))
    add_judgment_options(parser.add_argument_group("judgments of pairs"))


def typed(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `AgreementOptions` that were typed."""
    return {name: value for name, value in vars(options).items() if name in _FIELDS}


def _add_field(group: argparse._ArgumentGroup, option: Field[Any]) -> None:
    name, default = _flag(option.name), option.default
    text = str(option.metadata["help"])
    given: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS}
    if isinstance(default, bool):
        given |= {"action": "store_const", "const": not default}
        text = f"do not {text}" if default else text
    else:
        given["metavar"] = option.metadata["metavar"] or None
        if option.metadata["choices"]:
            given |= {"choices": option.metadata["choices"], "metavar": None}
        elif isinstance(default, int):
            given["type"] = number(1)
        else:
            given["type"] = float
        if "(default" not in text:
            text = f"{text} (default: {default})"
    group.add_argument(name, help=text.replace("%", "%%"), **given)


def _flag(name: str) -> str:
    return _OPPOSITES.get(name, f"--{name.replace('_', '-')}")


def _add_who(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--annotators",
        nargs="+",
        metavar="A",
        help="two or more (default: all but those named below)",
    )
    group.add_argument(
        "--initial",
        metavar="NAME",
        help="the automatic alignment that the annotators started from; chance edits it",
    )
    group.add_argument(
        "--adjudicated",
        metavar="NAME",
        help="the version settled on; each annotator is compared with it too",
    )
    group.add_argument(
        "--system",
        nargs="+",
        metavar="NAME",
        help="automatic alignments that each annotator is compared with (default: --initial)",
    )
    add_groups(group, metavar="GROUP")
    add_order_argument(group)


def _add_draws(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--seed", type=number(0), default=12345, metavar="N", help="of all draws (default: 12345)"
    )
    group.add_argument(
        "--workers",
        type=number(1),
        metavar="N",
        help="threads; no figure depends on them (default: one for each core)",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add_media(group)
    group.add_argument(
        "--html",
        metavar="FILE",
        type=saved_file,
        help="write a page with the tables, plots and disagreements as well",
    )
    group.add_argument(
        "--plot",
        metavar="FILE",
        type=saved_file,
        help="draw the plots as well, by the end of the name: .pdf, .png or .svg",
    )
    group.add_argument(
        "--function-words",
        nargs="+",
        metavar="L",
        help="with --html, tell links of function words from those of content words: the languages "
        f"of source and target, or one for both ({', '.join(LANGUAGES.values())}), or files of "
        "words (default: not told)",
    )


_NAMES = "|".join(sorted(_FIELDS, key=len, reverse=True))
_GIVEN = re.compile(rf"\b({_NAMES})(?:=(['\"]?)([\w.-]+)\2| '([\w.-]+)')")
_BARE = re.compile(rf"(^|\bleave |\bor )({_NAMES})\b(?=( is | out| must | are ))")
_LONG = re.compile(rf"\b({'|'.join(name for name in _FIELDS if '_' in name)})\b")
_BY_INITIAL = re.compile(r"\bby initial\b(?! alignment)")


def _translated(message: str) -> str:
    """Put options of the library into the words of the command.

    Examples
    --------
    >>> _translated("missing_initial='empty' and by initial, or ignore_identical=False")
    '--missing-initial empty and by --initial NAME, or --include-identical'
    """

    def given(found: re.Match[str]) -> str:
        name, _, after, quoted = found.groups()
        flag = _flag(name)
        return flag if isinstance(_FIELDS[name].default, bool) else f"{flag} {after or quoted}"

    message = _GIVEN.sub(given, message)
    message = _BARE.sub(lambda found: found[1] + _flag(found[2]), message)
    message = _LONG.sub(lambda found: _flag(found[1]), message)
    return _BY_INITIAL.sub("by --initial NAME", message)
