"""Declare the options of `alignkit agree`; most are made from the fields of `AgreementOptions`.

An option that is not typed is not in the namespace, so that what was typed is known: options that
contradict each other are an error, and defaults contradict nothing.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any

from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.agreement.options import AgreementOptions
from alignkit.cli.common.inputs import add_order_argument
from alignkit.cli.common.media import add_groups, add_media
from alignkit.cli.parser import number, saved_file
from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.io.atomic_files import refuse_unwritable, replacing
from alignkit.model.choice import naming
from alignkit.model.labels import SCHEMES
from alignkit.scoring.link_classes import LANGUAGES

if TYPE_CHECKING:
    from alignkit.agreement.judgments.result import JudgmentAgreement
    from alignkit.model.corpus import Corpus


_SHARED = ("resamples", "confidence")
"""The options of agreement on alignments that hold for judgments too."""

_ELSEWHERE = (*_SHARED, "lenient")
"""Options of judgments that are declared elsewhere."""

_GIVEN = tuple(one.name for one in fields(JudgmentOptions) if one.name not in _ELSEWHERE)
"""What is said of judgments alone."""

_OTHERS = ("initial", "adjudicated", "system", "function_words")
"""What is said of alignments alone, beside the options of `AgreementOptions`."""


def add_judgment_options(group: argparse._ArgumentGroup) -> None:
    """Declare what is said of judgments alone; what is not typed is not in the namespace."""
    group.add_argument(
        "--on",
        choices=("alignments", "judgments"),
        default="alignments",
        help="what annotators agree on: alignments, or judgments of whole pairs (default: "
        "alignments)",
    )
    for one in fields(JudgmentOptions):
        if one.name in _GIVEN:
            _add(group, one)
    group.add_argument(
        "--disagreements",
        metavar="FILE",
        type=saved_file,
        help="write every pair that is judged differently, with its texts and what each annotator "
        "said, as CSV; a page shows the first 200",
    )


def _add(group: argparse._ArgumentGroup, option: Field[Any]) -> None:
    told = str(option.metadata["help"])
    given: dict[str, Any] = {"default": argparse.SUPPRESS}
    if option.name == "scheme":
        given["choices"] = tuple(SCHEMES)
        told = f"{told}: {', '.join(SCHEMES)}"
    elif option.metadata["choices"]:
        given["choices"] = option.metadata["choices"]
    else:
        given["metavar"] = option.metadata["metavar"]
    if option.name == "view":
        given["nargs"] = "+"
    if isinstance(option.default, int):
        given["type"] = int
    if option.name == "groups":
        told = f"{told}; in each line of the file an annotator, a tab and the group"
    elif option.default and "(default" not in told:
        told = f"{told} (default: {option.default})"
    group.add_argument(f"--{option.name}", help=told, **given)


def asks_for_judgments(options: argparse.Namespace) -> bool:
    """Tell whether judgments are compared."""
    from alignkit.agreement.options import AgreementOptions

    if options.on == "alignments":
        given = [name for name in _GIVEN if hasattr(options, name)]
        given += ["disagreements"] if options.disagreements else []
        if given:
            raise OptionError(f"--{given[0]} is about judgments; add --on judgments")
        return False
    links = {one.name for one in fields(AgreementOptions)} - set(_SHARED)
    given = [name for name in vars(options) if name in links]
    given += [name for name in _OTHERS if getattr(options, name, None)]
    if given:
        flag = given[0].replace("_", "-")
        hint = ": name the adjudicated version by --consensus" if flag == "adjudicated" else ""
        raise OptionError(
            f"--{flag} is about alignments{hint}; leave it out, or leave out --on judgments"
        )
    if not hasattr(options, "scheme"):
        raise OptionError("judgments are read by a scheme: name it by --scheme")
    return True


def run_on_judgments(options: argparse.Namespace, read: Callable[[], Corpus]) -> int:
    """Print how far annotators agree on judgments, and write what is to be a file."""
    from alignkit.agreement.question import agree
    from alignkit.cli.common.messages import json_text

    given = {name: getattr(options, name) for name in (*_GIVEN, *_SHARED) if hasattr(options, name)}
    lines: dict[str, int] = {}
    if "groups" in given:
        given["groups"], lines = _groups(options.groups)
    given["lenient"] = options.lenient_labels
    JudgmentOptions.of(given)  # a wrong option is told before anything is read
    files = options.html, options.plot, options.disagreements
    refuse_unwritable(path for path in files if path is not None)
    corpus = read()
    with naming(*options.corpus), _placing(lines, options):
        found = agree(
            corpus,
            options.annotators,
            on="judgments",
            by=options.by,
            split=options.split,
            seed=options.seed,
            workers=options.workers,
            **given,
        )
    _write_files(found, options)
    if options.json:
        text = json_text(found.to_json())
    elif options.csv:
        text = found.csv()
    else:
        text = found.show(options.medium)
    with replacing("-") as out:
        out.write(text + "\n")
    return 0


@contextmanager
def _placing(lines: dict[str, int], options: argparse.Namespace) -> Iterator[None]:
    """Say of an unknown annotator of the file of groups on which line it names him."""
    try:
        yield
    except UnknownNameError as error:
        if error.name not in lines or error.name in (options.annotators or ()):
            raise
        raise FormatError(str(error), options.groups, lines[error.name]) from None


def _write_files(found: JudgmentAgreement, options: argparse.Namespace) -> None:
    """Write the page, the figures and the disagreements, where they are asked for."""
    if options.html:
        from alignkit.agreement.judgments.show import draw_judgment_page

        with replacing(options.html) as out:
            out.writelines(draw_judgment_page(found))
    if options.plot:
        from alignkit.agreement.judgments.show import draw_judgment_plot

        draw_judgment_plot(found, options.plot)
    if options.disagreements:
        from alignkit.agreement.judgments.show import disagreements_csv

        with replacing(options.disagreements) as out:
            out.write(disagreements_csv(found) + "\n")


def _groups(path: str) -> tuple[dict[str, str], dict[str, int]]:
    """Read who is in which group, and on which line that stands."""
    found: dict[str, str] = {}
    places: dict[str, int] = {}
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                cells = line.rstrip("\r\n").split("\t")
                if cells == [""]:
                    continue
                if len(cells) != 2 or not all(cells) or cells[0] in found:
                    raise FormatError(
                        "expected an annotator, a tab and the group, each annotator once",
                        path,
                        number,
                    )
                found[cells[0]], places[cells[0]] = cells[1], number
    except OSError as error:
        raise OptionError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FormatError("the file of groups is not UTF-8", path) from None
    return found, places


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
_GIVEN_AGREE_OPTIONS = re.compile(rf"\b({_NAMES})(?:=(['\"]?)([\w.-]+)\2| '([\w.-]+)')")
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

    message = _GIVEN_AGREE_OPTIONS.sub(given, message)
    message = _BARE.sub(lambda found: found[1] + _flag(found[2]), message)
    message = _LONG.sub(lambda found: _flag(found[1]), message)
    return _BY_INITIAL.sub("by --initial NAME", message)
