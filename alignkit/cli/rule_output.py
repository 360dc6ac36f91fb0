"""Give commands that write rules the same option for their labels, and tell what was written."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from alignkit.brief import how_many
from alignkit.cli.inputs import tell
from alignkit.cli.messages import say
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from alignkit.rules.files import WrittenRules


def add_labels(group: argparse._ArgumentGroup) -> None:
    """Add the option that leaves out what joshua and ppdb can only write with two labels."""
    group.add_argument(
        "--one-label",
        action="store_true",
        help="joshua and ppdb: leave out rules with a label that differs between the sides "
        "(default: both labels are written, [NP~S])",
    )


def joined_labels(options: argparse.Namespace, format: str | None) -> bool:
    """Return whether rules with a label that differs are written, with both."""
    if options.one_label and format not in ("joshua", "ppdb"):
        raise OptionError("--one-label is for --to joshua and --to ppdb: leave it out")
    return not options.one_label


def tell_written(
    output: str, written: WrittenRules, format: str, left_out: Counter[str] | None = None
) -> None:
    """Tell how many types of rules were written, and what was left out of them."""
    where = "standard output" if output == "-" else output
    say(f"{where}: {_types(written.rules, 'type of rule', 'types of rules')}")
    tell(where, (left_out or Counter()) + written.left_out, "types left out: ")
    if lost := [f"{name} ({_types(n)})" for name, n in written.lost.items() if n]:
        say(f"{where}: {format} does not hold: {', '.join(lost)}")
    if written.joined:
        say(
            f"{where}: {_types(written.joined)} with labels that differ between the sides; both "
            "are written, as in [NP~S] (--one-label leaves them out)"
        )


def _types(number: int, one: str = "type", more: str = "") -> str:
    return how_many(number, one, more, commas=True)
