"""Why a cell of the gold standard is as it is: what stands beside each decision.

The decisions of adjudicators are events of the kind ``decide``: they write cells, and for each cell
a why, kept as a text of compact JSON. A cell with a why and without a value is decided to be no
link.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from alignkit.annotate.errors import BadEvent

_LONGEST_NAME, _LONGEST_NOTE, _MOST_VOTES = 200, 20_000, 1000

WhyWrite = tuple[int, int, str | None, str | None]
"""A cell, the text of its why before and after; None where there is none."""

JUDGMENT = (-1, -1)
"""The place of the judgment of a pair among its cells, where reasons of decisions are kept."""

Value = int | tuple[str, ...]
"""What is decided: 0 (no link), 1 (possible) or 2 (sure); a judgment's label and flags."""

_Name = Annotated[str, Meta(max_length=_LONGEST_NAME)]
_Judged = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=101)]
_Vote = tuple[Annotated[int, Meta(ge=0, le=2)] | _Judged, Annotated[int, Meta(ge=0)]]


class Why(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Why a cell is as it is."""

    why: Literal["agreed", "vote", "own"]
    as_: _Name = msgspec.field(default="", name="as")  # whose vote was taken
    votes: Annotated[dict[_Name, _Vote], Meta(max_length=_MOST_VOTES)] = {}
    note: Annotated[str, Meta(max_length=_LONGEST_NOTE)] = ""  # what the adjudicator adds


_decode = msgspec.json.Decoder(Why).decode


def read_why(text: str) -> Why:
    """Read the text of a why."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise BadEvent(f"whys: {text[:40]!r} is no reason of a decision: {problem}") from None


def write_why(why: Why) -> str:
    """Return the text of a why: the same for the same reason, votes by name.

    Examples
    --------
    >>> write_why(Why("vote", "anna", {"ben": (0, 3), "anna": (2, 5)}))
    '{"why":"vote","as":"anna","votes":{"anna":[2,5],"ben":[0,3]}}'
    """
    votes = dict(sorted(why.votes.items()))
    return msgspec.json.encode(msgspec.structs.replace(why, votes=votes)).decode()


def read_whys(writes: Sequence[WhyWrite]) -> tuple[WhyWrite, ...]:
    """Check the whys that a client sends; return them as they are stored."""
    return tuple((i, j, _same((i, j), was), _same((i, j), now)) for i, j, was, now in writes) or ()


def _same(place: tuple[int, int], text: str | None) -> str | None:
    if text is None:
        return None
    why = read_why(text)
    if any(isinstance(value, int) == (place == JUDGMENT) for value, _ in why.votes.values()):
        raise BadEvent(f"whys: the votes of {text[:40]!r} are none on {list(place)}")
    return write_why(why)
