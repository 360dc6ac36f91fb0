"""Say on stderr what an output cannot hold of what was read."""

from __future__ import annotations

from collections import Counter

from alignkit.cli.common.files import DISORDER
from alignkit.cli.common.messages import say, warn


def tell_lost(path: str, format: str, lost: Counter[str]) -> None:
    """Report on stderr what a format cannot represent."""
    from alignkit.io.format import losses_in_words

    for what in losses_in_words(lost):
        say(f"{path}: format {format} cannot represent {what}")
    if lost["ids"]:
        warn_of_file_order(path)


def warn_of_file_order(path: str) -> None:
    """Warn that an output without ids has the order of an input whose numbers have another."""
    for name, disorder in DISORDER.items():
        warn(
            f"{path}: warning: in the order of {name}, without its sentence numbers: {disorder}. "
            "Line n is not sentence n of the texts; 'alignkit merge' joins pairs by their numbers"
        )
