"""What the commands that write rules have in common: an option, and the report at the end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from alignkit._support.wording import how_many
from alignkit.cli.common.inputs import tell
from alignkit.cli.common.messages import say
from alignkit.cli.parser import Group, Options, add_options
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from alignkit.rules.files import WrittenRules


def add_labels(group: Group) -> None:
    """Add the option for rules whose sides have different labels."""
    add_options(
        group,
        """
        --one-label  with --to joshua or ppdb, leave out rules whose two sides have different labels
            (default: both labels are written, [NP~S])
        """,
    )


def check_labels(options: Options, format: str | None) -> None:
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
