"""The output options of commands that print tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alignkit.cli.common.messages import json_text
from alignkit.cli.parser import Group, Options, add_options, option_values, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing
from alignkit.show.names import MEDIA_OPTIONS, WIDTHS

if TYPE_CHECKING:
    from alignkit.tables.result import Result


def add_media(group: Group, *, csv: str | None = "print CSV, one row for each value") -> None:
    """Add the options for the output form of tables: `json`, `csv`, or `medium`."""
    form = group.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON (default: tables as text)")
    if csv is not None:
        form.add_argument("--csv", action="store_true", help=csv)
    for name, help in MEDIA_OPTIONS.items():
        form.add_argument(f"--{name}", action="store_const", const=name, dest="medium", help=help)
    group.set_defaults(medium="text")


def print_result(result: Result, options: Options) -> None:
    """Print a result in the form that the options of `add_media` name."""
    if options.json:
        print(json_text(result.to_json()))
    elif options.csv:
        print(result.csv())
    else:
        print(result.show(options.medium))


def add_groups(group: Group) -> None:
    """Add the options that show groups of pairs apart."""
    add_options(
        group,
        """
        --by ATTRIBUTE  add a row for each value of this attribute of the pairs (genre, document,
            ...), or for each day, week or month if annotations have times
        --split TEXT  separator of several values in that attribute, such as a comma; a pair counts
            in each (default: one value)
        """,
    )


def add_separator(group: Group) -> None:
    """Add the option for attributes with several values, such as those of --group."""
    add_options(
        group, "--separator S  separator of several values in one such attribute, such as ,"
    )


def check_groups(options: Options) -> None:
    """Refuse --split without --by."""
    if options.split is not None and options.by is None:
        raise OptionError("--split needs --by: add it, or leave --split out")


def drawing_of(options: Options) -> dict[str, Any]:
    """Return the options for random draws as keyword arguments."""
    return option_values(options, "resamples", "confidence", "seed")


def add_plot(group: Group, what: str) -> None:
    """Add the options for a figure."""
    add_options(
        group,
        f"""
        --plot FILE  draw {what} with their intervals as a figure for a paper (.pdf, .png or .svg)
        --plot-width  width of the figure: one column (3.3 in) or full width (6.9 in) (default:
            column)
        """,
        plot=saved_file,
        plot_width=tuple(WIDTHS),
    )


def check_plot(options: Options) -> None:
    """Refuse a figure with an unknown file ending, and --plot-width without --plot."""
    if options.plot is not None:
        from alignkit.show.canvas import ending

        ending(options.plot)
    elif options.plot_width:
        raise OptionError("--plot-width needs a figure: add --plot FILE, or leave it out")


def add_forms(group: Group) -> None:
    """Add the options for the output form of tables, and for a page with them."""
    add_media(group, csv="print the rows of all tables as CSV")
    add_options(group, "--html FILE  also write a page with the tables", html=saved_file)


def print_findings(findings: Result, options: Options, *, title: str) -> None:
    """Print a result in the form that the options name, and write its page."""
    if options.html is not None:
        page = findings.page(title)
        with replacing(options.html) as out:
            out.write(page)
    print_result(findings, options)
