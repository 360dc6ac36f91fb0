"""Declare and run `alignkit agree --on judgments`: agreement on judgments of whole pairs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any

from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.choice import naming
from alignkit.cli.parser import saved_file
from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.labels import SCHEMES
from alignkit.output import refuse_unwritable, replacing

if TYPE_CHECKING:
    from alignkit.agreement.judgments.result import JudgmentAgreement
    from alignkit.corpus import Corpus

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
    from alignkit.agreement import agree
    from alignkit.cli.messages import json_text

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
        from alignkit.report.judgment_page import draw_judgment_page

        with replacing(options.html) as out:
            out.writelines(draw_judgment_page(found))
    if options.plot:
        from alignkit.report.judgment_plots import draw_judgment_plot

        draw_judgment_plot(found, options.plot)
    if options.disagreements:
        from alignkit.report.judgment_disagreements import disagreements_csv

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
