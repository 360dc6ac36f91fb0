"""The output options of commands that print tables."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from alignkit._support.wording import how_many
from alignkit.cli.common.inputs import tell
from alignkit.cli.common.messages import json_text, say
from alignkit.cli.parser import add_options, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing
from alignkit.show.names import MEDIA_OPTIONS, WIDTHS

if TYPE_CHECKING:
    from alignkit.rules.files import WrittenRules
    from alignkit.tables.result import Result


def add_media(
    group: argparse._ActionsContainer, *, csv: str | None = "print CSV, one row for each value"
) -> None:
    """Add the options for the output form of tables: `json`, `csv`, or `medium`."""
    form = group.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (default: tables as text)")
    if csv is not None:
        form.add_argument("--csv", action="store_true", help=csv)
    for name, help in MEDIA_OPTIONS.items():
        form.add_argument(f"--{name}", action="store_const", const=name, dest="medium", help=help)
    group.set_defaults(medium="text")


def print_result(result: Result, options: argparse.Namespace) -> None:
    """Print a result in the form that the options of `add_media` name."""
    if options.json:
        print(json_text(result.to_json()))
    elif options.csv:
        print(result.csv())
    else:
        print(result.show(options.medium))


def add_groups(group: argparse._ActionsContainer) -> None:
    add_options(
        group,
        """
        --by ATTRIBUTE  add a row for each value of this attribute of the pairs (genre, document,
            ...), or for each day, week or month if annotations have times
        --split TEXT  separator of several values in that attribute, such as a comma; a pair counts
            in each (default: one value)
        """,
    )


def add_separator(group: argparse._ActionsContainer) -> None:
    add_options(
        group, "--separator S  separator of several values in one such attribute, such as ,"
    )


def check_groups(options: argparse.Namespace) -> None:
    if options.split is not None and options.by is None:
        raise OptionError("--split needs --by: add it, or leave --split out")


def drawing_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options for random draws as keyword arguments."""
    return {name: getattr(options, name) for name in ("resamples", "confidence", "seed")}


def add_plot(group: argparse._ActionsContainer, what: str) -> None:
    add_options(
        group,
        f"""
        --plot FILE  draw {what} with their intervals as a figure for a paper (.pdf, .png or .svg)
        --plot-width  width of the figure: one column (3.3 in) or full width (6.9 in) (default:
            column)
        """,
        plot={"type": saved_file},
        plot_width={"choices": tuple(WIDTHS)},
    )


def check_plot(options: argparse.Namespace) -> None:
    """Refuse a figure with an unknown file ending, and --plot-width without --plot."""
    if options.plot is not None:
        from alignkit.show.canvas import ending

        ending(options.plot)
    elif options.plot_width:
        raise OptionError("--plot-width needs a figure: add --plot FILE, or leave it out")


def add_labels(group: argparse._ArgumentGroup) -> None:
    add_options(
        group,
        """
        --one-label  with --to joshua or ppdb, leave out rules whose two sides have different labels
            (default: both labels are written, [NP~S])
        """,
    )


def check_labels(options: argparse.Namespace, format: str | None) -> None:
    """Refuse --one-label for formats that can represent both labels."""
    if options.one_label and format not in ("joshua", "ppdb"):
        raise OptionError("--one-label only works with --to joshua and --to ppdb: leave it out")


def tell_written(
    output: str, written: WrittenRules, format: str, left_out: Counter[str] | None = None
) -> None:
    """Report how many types of rules were written, and what was left out."""
    where = "standard output" if output == "-" else output
    say(f"{where}: {_types(written.rules, 'type of rule', 'types of rules')}")
    tell(where, (left_out or Counter()) + written.left_out, "types left out: ")
    if lost := [f"{name} ({_types(n)})" for name, n in written.lost.items() if n]:
        say(f"{where}: {format} cannot represent: {', '.join(lost)}")
    if written.joined:
        say(
            f"{where}: {_types(written.joined)} with labels that differ between the sides; "
            "both are written, as in [NP~S] (--one-label leaves them out)"
        )


def _types(number: int, singular: str = "type", plural: str = "") -> str:
    """Return a number of types in words."""
    return how_many(number, singular, plural, commas=True)


def add_forms(group: argparse._ArgumentGroup) -> None:
    add_media(group, csv="print the rows of all tables as CSV")
    add_options(group, "--html FILE  also write a page with the tables", html={"type": saved_file})


def print_findings(findings: Result, options: argparse.Namespace, *, title: str) -> None:
    """Print a result in the form that the options name, and write its page."""
    if options.html is not None:
        page = findings.page(title)
        with replacing(options.html) as out:
            out.write(page)
    print_result(findings, options)
