"""What a format of rules is: a line for a rule, and a rule for a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from alignkit.rules.grammar import RuleType


class LeftOutError(Exception):
    """A rule that a format cannot hold; the text says what it has."""


@dataclass(frozen=True, kw_only=True)
class RuleFormat:
    """A format of rules.

    Parameters
    ----------
    line
        Makes the line of a rule, given its number from 1 and whether two labels of a symbol may be
        joined; raises `LeftOutError` for what it cannot hold.
    parse
        Makes the rule of a line, given the number of the rule from 1; None for a line that holds
        none. Its errors tell the column alone.
    holds
        Which attributes of a `RuleType`, beside the rule, survive being written; ``"trees"``: the
        nodes below the roots.
    """

    line: Callable[[RuleType, int, bool], str]
    parse: Callable[[str, int], RuleType | None]
    holds: frozenset[str]
