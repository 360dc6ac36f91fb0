"""The pairs that annotators made of the pairs of a project: rewrites, and extracts of documents.

A rewrite is a pair in other words, an extract is a part of two documents. In the state of its
annotator each has a key, such as r1. In exports it is a pair with an id: what was made of the pair
p7 is p7/r1, p7/r2 and so on (extracts: p7/x1), by the following rules, so that what was exported
once keeps its id:

- all that annotators ever made of a pair is numbered in the order in which it was made, also what
  they deleted;
- pairs of the project with the same id are numbered together;
- a number is passed over if its id is that of a pair of the project;
- if several annotators made the same, it is one pair with the lowest of its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from alignkit.annotate.documents import divider
from alignkit.annotate.project import events as log
from alignkit.annotate.project import queries
from alignkit.annotate.project.queries import PairRow, last_change
from alignkit.annotate.project.schema import PAIR, STREAM
from alignkit.annotate.project.state import PairState
from alignkit.model.alignment import SIDES
from alignkit.model.annotation import Annotation
from alignkit.model.labels import Scheme
from alignkit.model.sentence_pair import REWRITE_OF, SentencePair

REWRITES = "rewrites"
EXTRACTS = "extracts"
"""The kinds of made pairs, as states and events name them."""

ORIGIN = {REWRITES: REWRITE_OF, EXTRACTS: "extracted_from"}
"""The attribute of a made pair that names its original pair, by kind."""


def states_with(conn: Connection, kind: str) -> Iterator[tuple[int, dict[int, PairState]]]:
    """Yield the pairs of which something was made, each with the states of its makers."""
    has_some = STREAM.state.contains(f'"{kind}":[')  # as JSON, in which an empty list is left out
    rows = list(queries.states(conn, STREAM.pair > 0, has_some))
    for k, states in groupby(rows, key=lambda row: row[0]):
        yield k, {account: state for _, account, state in states}


def made_pairs(
    conn: Connection,
    pair: PairRow,
    kind: str,
    states: Mapping[int, PairState],
    *,
    names: Mapping[int, str],
    is_wanted: Callable[[int, int, PairState], bool],
    only: int | None,
    scheme: Scheme | None,
) -> Iterator[SentencePair]:
    """Yield the pairs that annotators made of a pair, in the order of their numbers.

    Parameters
    ----------
    states : The states of their makers, by account.
    names : The names of the makers, by account.
    is_wanted : Says of a pair, an account and its state whether this work is wanted.
    only : The account whose work alone is looked at and numbered, as if nobody else had made
        anything; None: all.
    scheme : The scheme for judging pairs, in which a rewrite has the best label.
    """
    if only is not None:
        states = {account: state for account, state in states.items() if account == only}
    numbered = _numbered(conn, pair, kind, only)
    numbers: dict[Any, int] = {}  # by what was made
    makers: dict[Any, dict[str, str | None]] = {}  # by what was made: who made it, and when
    for account, state in states.items():
        for key, made in getattr(state, kind).items():
            number, when = numbered[account, key]
            numbers[made] = min(number, numbers.get(made, number))
            if is_wanted(pair.k, account, state):
                makers.setdefault(made, {})[names[account]] = when
    for made in sorted(makers, key=lambda made: numbers[made]):
        if kind == REWRITES:
            yield _rewrite(pair, made, numbers[made], makers[made], scheme)
        else:
            yield _extract(pair, made, numbers[made], makers[made].keys())


def _rewrite(
    pair: PairRow,
    texts: tuple[str, str],
    number: int,
    times: Mapping[str, str | None],
    scheme: Scheme | None,
) -> SentencePair:
    """Return a rewrite as a pair, judged by its authors as the best of the scheme."""
    best = ""
    if scheme is not None and scheme.order:
        best = scheme.order[-1]
    judged = Annotation(None, judgment=best, provenance=f"rewrite of {pair.id}")
    annotations = {name: replace(judged, when=when) for name, when in times.items()}
    attributes = {**pair.attributes, ORIGIN[REWRITES]: pair.id, "rewritten_by": ",".join(times)}
    source, target = map(divider(pair.attributes), texts)
    return SentencePair(f"{pair.id}/r{number}", source, target, annotations, attributes)


def _extract(
    pair: PairRow, spans: tuple[int, int, int, int], number: int, names: Collection[str]
) -> SentencePair:
    """Return a part of two documents as a pair, with its place in them as attributes."""
    places = (spans[:2], spans[2:])
    whole = (log.SOURCE_TEXT, log.TARGET_TEXT)
    attributes = {name: text for name, text in pair.attributes.items() if name not in whole}
    attributes[ORIGIN[EXTRACTS]] = pair.id
    attributes["extracted_by"] = ",".join(names)
    divided = divider(pair.attributes)
    words = []
    for side, text, (begin, end) in zip(SIDES, pair.texts, places, strict=True):
        words.append(divided(text[begin:end]))
        attributes[f"{side}_start"] = str(begin)
        attributes[f"{side}_end"] = str(end)
        attributes[f"{side}_line"] = str(1 + text.count("\n", 0, begin))
    source, target = words
    return SentencePair(f"{pair.id}/x{number}", source, target, {}, attributes)


class _Work(NamedTuple):
    """Something that was made: of which pair, by which account, and under which key."""

    k: int
    account: int
    key: str


def _numbered(
    conn: Connection, pair: PairRow, kind: str, only: int | None
) -> dict[tuple[int, str], tuple[int, str | None]]:
    """Return the number and the last change of all that was ever made of a pair.

    They are by account and key; the rules for numbers stand at the top.
    """
    begun: dict[_Work, int] = {}  # the event that made it
    changed: dict[_Work, str | None] = {}
    for k in _pairs_with_id(conn, pair.id):
        for account, events in queries.pair_log(conn, k).items():
            if only not in (None, account):
                continue
            for event in events:
                for key, _, after in getattr(log.decode_data(event.data), kind):
                    if after is not None:
                        work = _Work(k, account, key)
                        begun.setdefault(work, event.n)
                        changed[work] = last_change([event])
    prefix = f"{pair.id}/r" if kind == REWRITES else f"{pair.id}/x"
    number = 0
    numbered = {}
    for work in sorted(begun, key=lambda work: (begun[work], work.account, _key_number(work))):
        number = _next_free(conn, prefix, number)
        if work.k == pair.k:
            numbered[work.account, work.key] = (number, changed[work])
    return numbered


def _key_number(work: _Work) -> int:
    return log.key_number(work.key)


def _next_free(conn: Connection, prefix: str, number: int) -> int:
    """Return the next number after one that makes the id of no pair of the project."""
    number += 1
    while _pairs_with_id(conn, f"{prefix}{number}"):
        number += 1
    return number


def _pairs_with_id(conn: Connection, id: str) -> list[int]:
    """Return the numbers of the pairs with an id."""
    return list(conn.execute(select(PAIR.k).where(PAIR.id == id, PAIR.k > 0)).scalars())
