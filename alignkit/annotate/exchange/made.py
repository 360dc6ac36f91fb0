"""Export what annotators made: rewrites behind their pairs, extracted pairs in place of documents.

Rewrites of a pair ``ID`` are called ``ID/r1``, ``ID/r2``, ..., and pairs extracted from documents
``ID/x1``, ...; what several made alike is one pair. A rewrite is judged by its author as the best
label of the scheme, if that has an order.

Numbers go by the time at which a pair was first made, by anybody: they are the same in each export
of a project, and a number never comes to mean another pair, so there may be gaps. An id that a pair
of the project has is left out, and pairs of one id share their numbers: no id is given twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from alignkit.annotate.exchange.documents import divider
from alignkit.annotate.exchange.exporting import exported
from alignkit.annotate.log.events import decode_data
from alignkit.annotate.log.new_pairs import SOURCE_TEXT, TARGET_TEXT, document_texts, key_number
from alignkit.annotate.log.state import PairState, decode_state
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.last_changes import last_change
from alignkit.annotate.tables.pair_lists import PairList
from alignkit.annotate.tables.queries import PairRow
from alignkit.annotation import Annotation
from alignkit.labels import Scheme
from alignkit.labels.rewrites import REWRITE_OF
from alignkit.sentence_pair import SentencePair

ORIGIN = {"rewrites": REWRITE_OF, "extracts": "extracted_from"}
"""The attribute of a made pair that names the pair that it comes from."""

_LETTERS = {"rewrites": "r", "extracts": "x"}


class _Wanted(NamedTuple):
    """Whose work is exported."""

    account: int | None
    done: bool
    own: set[int] | None
    blind: bool
    names: Mapping[int, str]
    scheme: Scheme | None

    def has(self, k: int, account: int, state: PairState) -> bool:
        mine = self.account in (None, account) and (self.own is None or k in self.own)
        return mine and (state.done or not self.done)


def exported_work(
    store: Store,
    *,
    annotator: str | None = None,
    done: bool = False,
    unfinished: Counter[str] | None = None,
    assigned: bool = False,
    outdated: Counter[str] | None = None,
) -> Iterator[SentencePair]:
    """Yield all that is exported; the parameters are those of `exporting.exported`."""
    with store.database.reading() as conn:
        account = None if annotator is None else queries.account_of(conn, annotator)
        own = None if account is None or not assigned else PairList(conn, account).numbers()
        names = dict(enumerate(queries.annotators(conn), 1))
        wanted = _Wanted(account, done, own, assigned, names, queries.scheme_of(conn))
        if queries.task_of(conn) == "extract":
            for k, states in _made(conn, "extracts"):
                origin = queries.pair_row(conn, k)
                yield from _pairs(conn, origin, states, wanted, "extracts")
            return
        rewritten = dict(_made(conn, "rewrites"))
        numbers = count(1) if own is None else iter(sorted(own))
        options = {"annotator": annotator, "done": done, "assigned": assigned}
        counted = {"unfinished": unfinished, "outdated": outdated}
        for pair in exported(store, **counted, **options):  # type: ignore[arg-type]
            yield pair
            k = next(numbers, 0)
            if k in rewritten:
                origin = queries.pair_row(conn, k)
                yield from _pairs(conn, origin, rewritten[k], wanted, "rewrites")


def _made(conn: Connection, kind: str) -> Iterator[tuple[int, dict[int, PairState]]]:
    table = schema.stream.c
    asked = (
        select(table.pair, table.account, table.state)
        .where(table.pair > 0, table.state.contains(f'"{kind}":['))
        .order_by(table.pair, table.account)
    )
    k, states = 0, dict[int, PairState]()
    for pair, account, text in conn.execute(asked).all():
        if pair != k and states:
            yield k, states
            states = {}
        k = pair
        states[account] = decode_state(text)
    if states:
        yield k, states


def _pairs(
    conn: Connection, pair: PairRow, states: dict[int, PairState], wanted: _Wanted, kind: str
) -> Iterator[SentencePair]:
    times = _numbered(conn, pair, kind, wanted.account if wanted.blind else None)
    if wanted.blind:
        states = {account: states[account] for account in states if account == wanted.account}
    first: dict[Any, int] = {}
    by: dict[Any, dict[str, str | None]] = {}
    for account, state in states.items():
        for key, made in getattr(state, kind).items():
            number, when = times[account, key]
            first[made] = min(number, first.get(made, number))
            if wanted.has(pair.k, account, state):
                by.setdefault(made, {})[wanted.names[account]] = when
    for made in sorted(by, key=lambda made: first[made]):
        if kind == "rewrites":
            yield _rewrite(pair, made, first[made], by[made], wanted.scheme)
        else:
            yield _extract(pair, made, first[made], by[made])


def _rewrite(
    pair: PairRow,
    texts: tuple[str, str],
    number: int,
    times: Mapping[str, str | None],
    scheme: Scheme | None,
) -> SentencePair:
    best = scheme.order[-1] if scheme is not None and scheme.order else ""
    origin = f"rewrite of {pair.id}"
    said = {
        name: Annotation(None, judgment=best, provenance=origin, when=when)
        for name, when in times.items()
    }
    attributes = {**pair.attributes, ORIGIN["rewrites"]: pair.id, "rewritten_by": ",".join(times)}
    source, target = map(divider(pair.attributes), texts)
    return SentencePair(f"{pair.id}/r{number}", source, target, said, attributes)


def _extract(
    pair: PairRow, spans: tuple[int, int, int, int], number: int, names: Iterable[str]
) -> SentencePair:
    texts = document_texts(pair.attributes, pair.source, pair.target)
    whole = (SOURCE_TEXT, TARGET_TEXT)
    attributes = {name: text for name, text in pair.attributes.items() if name not in whole}
    attributes |= {ORIGIN["extracts"]: pair.id, "extracted_by": ",".join(names)}
    divided = divider(pair.attributes)
    spans_of = {"source": spans[:2], "target": spans[2:]}
    words = {}
    for (side, (begin, end)), text in zip(spans_of.items(), texts, strict=True):
        words[side] = divided(text[begin:end])
        attributes |= {f"{side}_start": str(begin), f"{side}_end": str(end)}
        attributes[f"{side}_line"] = str(1 + text.count("\n", 0, begin))
    return SentencePair(f"{pair.id}/x{number}", words["source"], words["target"], {}, attributes)


def _numbered(
    conn: Connection, pair: PairRow, kind: str, alone: int | None = None
) -> dict[tuple[int, str], tuple[int, str | None]]:
    """Return of all that was ever made of a pair its number, and when it was changed last."""
    begun: dict[tuple[int, int, str], int] = {}
    changed: dict[tuple[int, int, str], str | None] = {}
    for k in _of_one_id(conn, pair.id):
        for account, log in queries.pair_log(conn, k).items():
            for event, _ in log if alone in (None, account) else ():
                for key, _, after in getattr(decode_data(event.data), kind):
                    if after is not None:
                        begun.setdefault((k, account, key), event.n)
                        changed[k, account, key] = last_change([event])
    ordered = sorted(begun, key=lambda owner: (begun[owner], owner[1], key_number(owner[2])))
    numbers = zip(ordered, _free(conn, f"{pair.id}/{_LETTERS[kind]}"), strict=False)
    return {owner[1:]: (number, changed[owner]) for owner, number in numbers if owner[0] == pair.k}


def _of_one_id(conn: Connection, id: str) -> list[int]:
    table = schema.pair.c
    return list(conn.execute(select(table.k).where(table.id == id, table.k > 0)).scalars())


def _free(conn: Connection, begin: str) -> Iterator[int]:
    return (number for number in count(1) if not _of_one_id(conn, f"{begin}{number}"))
