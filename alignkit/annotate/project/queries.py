"""The questions to the tables of a project, each written once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import msgspec
import sqlalchemy as sa
from msgspec import Raw, Struct

from alignkit._support.wording import how_many
from alignkit.align.settings import FEW, SMALL
from alignkit.annotate.project import names, schema
from alignkit.annotate.project.engines import Prepared
from alignkit.annotate.project.events import Data, Event, LogEvent, decode_data
from alignkit.annotate.project.fold import Account, Assign, Suggestion
from alignkit.annotate.project.state import PairState, StateView, decode_state, writes
from alignkit.model.annotation import ROLES, read_moment
from alignkit.model.labels import DEFAULT, SCHEMES, Scheme


class ProjectInfo(Struct):
    """Describe a project."""

    name: str
    key: str  # its own name for good, the same in every copy
    n: int  # its last event
    pairs: int
    threshold: float
    scheme: str
    suggestions: str | None
    annotators: list[str]
    gold: str = names.GOLD  # the name under which the decisions of adjudicators stand
    task: str = "align"  # what annotators do: align, judge or extract


class Suggested(Struct):
    """The suggestions of one set for a pair: place, posterior, and the value set by accepting."""

    set: str
    cells: list[Suggestion]
    by: str  # what the probabilities are, in words
    bulk: str = ""  # why they cannot be accepted in bulk, if so
    links: list[tuple[str, list[tuple[int, int]]]] = []  # which of them each system links


class PairPage(Struct):
    """The data of a pair that annotators and adjudicators see."""

    k: int
    id: str
    pairs: int  # how many there are in the list, and how many of them are done
    done: int
    place: int  # where this pair stands in the list, from 1
    previous: int | None
    next: int | None
    next_open: int | None
    rev: int
    source: list[str]
    target: list[str]
    attributes: dict[str, str]
    state: StateView
    undo: list[Event]  # what would be undone and redone, the next first, 100 at most
    redo: list[Event]
    n: int


class PairView(PairPage):
    """A pair as one annotator sees it."""

    suggestions: Suggested | None
    hidden: bool = False  # whether there are suggestions, and the assignment hides them


class QueueRow(Struct, omit_defaults=True):
    """A row of the list of pairs."""

    k: int
    id: str
    done: bool
    links: int
    comments: int
    text: str = ""


class Queue(Struct):
    """A part of the list of pairs; `total` is the number in the whole list."""

    pairs: list[QueueRow]
    total: int
    done: int


class Progress(Struct):
    """The progress of an annotator: done pairs, and all pairs to do."""

    annotator: str
    done: int
    pairs: int


class Changes(Struct):
    """Events by pair, up to `n`."""

    n: int
    pairs: dict[int, list[Event]]


class Appended(Struct):
    """The answer to a request of events."""

    seq: int  # the last event of the stream, and of the project
    n: int
    events: list[Event]  # all of the stream that the sender had not seen, in order
    state_undo: str | None  # the ids of what would be undone and redone next
    state_redo: str | None


T = TypeVar("T")

EVENT = [
    getattr(schema.event_table.c, name)
    for name in ("id", "seq", "n", "kind", "v", "actor", "at", "client_at", "below", "data")
]
_MOST_PARAMETERS = 500
_MOST_UNDO = 100
_MOST_CHANGES = 2000
# as events hold them
_JUDGE = '"task":"judge"'
_JUDGED = '"how":"judge"'

# statements that are asked for each stream: to make one takes longer than to ask it
_table = schema.event_table.c
_of = schema.stream.c
_here = _table.stream == sa.bindparam("stream")
_PROJECT = _table.stream == _of.id, _of.pair == 0
_STORED = _of.id, _of.state, _of.undo_top, _of.redo_top
_theirs = sa.select(_of.account, *_STORED).where(_of.pair == sa.bindparam("k"))
_STREAMS = _theirs.order_by(_of.account)
_later = sa.select(*EVENT).where(_here, _table.seq > sa.bindparam("after"))
_EVENTS_AFTER = _later.order_by(_table.seq)
_PAIR_LOG = (
    sa.select(_of.account, _table.sent, *EVENT)
    .select_from(schema.event_table.join(schema.stream, _table.stream == _of.id))
    .where(_of.pair == sa.bindparam("k"))
    .order_by(_of.id, _table.seq)
)
_IDS = sa.select(_table.seq, _table.id).where(
    _here, _table.seq.in_(sa.bindparam("seqs", expanding=True))
)
_KNOWN = sa.select(_table.id, _table.stream, _table.sent).where(
    _table.id.in_(sa.bindparam("ids", expanding=True))
)
_text = schema.pair_text.c
_own = schema.pair.c
_present = sa.and_(_text.pair == _own.k, _text.rev == _own.rev)
_words = _own.k, _own.id, _own.rev, _own.attributes, _text.source, _text.target
_worded = schema.pair.join(schema.pair_text, _present)
_PAIRS = sa.select(*_words).select_from(_worded)
_PAIR = Prepared(_PAIRS.where(_own.k == sa.bindparam("k")))
_account = schema.account.c
_NAMED = _account.name == sa.bindparam("name"), _account.id > 0
_ACCOUNT = Prepared(sa.select(_account.id).where(*_NAMED))
_LAST, _COUNT = (Prepared(sa.select(sa.func.max(column))) for column in (_table.n, _own.k))
_ANY = Prepared(sa.select(schema.project.c.assigning).where(schema.project.c.assigning != ""))
_plans = sa.select(_table.data).where(*_PROJECT, _table.kind == "assign")
_ASSIGNING = _plans.order_by(_table.seq)
_SET = sa.select(schema.project.c.suggestions).scalar_subquery()
_SETS = sa.select(_SET, schema.pair.c.suggested).where(schema.pair.c.k == sa.bindparam("k"))
_top = sa.select(_table.seq, _table.below, sa.literal(1).label("depth"))
_first = _top.where(_here, _table.seq == sa.bindparam("top")).cte("stack", recursive=True)
_below = sa.select(_table.seq, _table.below, _first.c.depth + 1)
_chain = _first.union_all(
    _below.where(_here, _table.seq == _first.c.below, _first.c.depth < sa.bindparam("most"))
)
_STACK = Prepared(
    sa.select(*EVENT).where(_here, _table.seq == _chain.c.seq).order_by(_chain.c.depth)
)
_row = schema.assignment.c
_sent_table = schema.event_table.alias()
_sent = _sent_table.c
_OWN = Prepared(
    sa.select(
        *(_account.id, *_STORED),
        sa.or_(_row.pair.is_not(None), schema.project.c.assigning == ""),
        *(sa.select(sa.func.max(_table.n)).scalar_subquery(), _sent.id, _sent.stream, _sent.sent),
        *_words,
    )
    .select_from(
        _worded.join(schema.account, sa.and_(*_NAMED))
        .join(schema.project, sa.true())
        .outerjoin(_sent_table, _sent.id == sa.bindparam("id"))
        .outerjoin(schema.stream, sa.and_(_of.account == _account.id, _of.pair == _own.k))
        .outerjoin(schema.assignment, sa.and_(_row.account == _account.id, _row.pair == _own.k))
    )
    .where(_own.k == sa.bindparam("k"))
)
_mine = _row.account == sa.bindparam("of")
_THERE = Prepared(sa.select(_own.k, sa.literal(True)).where(_own.k == sa.bindparam("k")))
_ASSIGNED = Prepared(sa.select(_row.place, _row.shown).where(_mine, _row.pair == sa.bindparam("k")))
_AFTER = (
    sa.select(_of.pair, *EVENT)
    # + 0: the few events after a number are looked through, not all of one's streams
    .where(_table.stream + 0 == _of.id, _of.pair > 0, _of.account == sa.bindparam("account"))
    .where(_table.n > sa.bindparam("after"))
    .order_by(_table.n)
    .limit(sa.bindparam("most"))
)
_CHANGES = Prepared(_AFTER)
_OWN_CHANGES = Prepared(_AFTER.where(_row.account == _of.account, _row.pair == _of.pair))
words_of = msgspec.json.Decoder(list[str]).decode
_attributes = msgspec.json.Decoder(dict[str, str]).decode
_trees = msgspec.json.Decoder(dict[str, dict[str, str]]).decode
_suggestions = msgspec.json.Decoder(list[Suggestion]).decode


class PairRow(NamedTuple):
    """A pair with its words."""

    k: int
    id: str
    rev: int
    attributes: dict[str, str]
    source: list[str]
    target: list[str]


class StreamRow(NamedTuple):
    """A stream and its state; the id is None before its first event."""

    id: int | None
    state: PairState


def account_of(conn: sa.Connection, name: str) -> int:
    """Return the number of an annotator."""
    if (row := _ACCOUNT.first(conn, name=name)) is None:
        raise names.UnknownAnnotator(name, annotators(conn))
    return int(row[0])


def annotators(conn: sa.Connection) -> list[str]:
    """Return the names of all annotators, in the order of their entry."""
    own = schema.account.c
    return list(conn.execute(sa.select(own.name).where(own.id > 0).order_by(own.id)).scalars())


def roles(conn: sa.Connection) -> dict[str, str]:
    """Return the roles with which alignments were imported, of those that are not by people."""
    data = conn.execute(sa.select(_table.data).where(_table.kind == "account")).scalars()
    accounts = (msgspec.json.decode(text, type=Account) for text in data)
    return {account.name: account.role for account in accounts if account.role in ROLES}


def last_n(conn: sa.Connection) -> int:
    """Return the number of the last event."""
    return int(_LAST.first(conn)[0] or 0)


def count_pairs(conn: sa.Connection) -> int:
    """Return how many pairs there are; they are numbered without gaps."""
    return int(_COUNT.first(conn)[0] or 0)


def project_info(conn: sa.Connection) -> ProjectInfo:
    """Return the description of the project."""
    row = conn.execute(sa.select(schema.project)).one()
    return ProjectInfo(
        row.name,
        row.key,
        last_n(conn),
        count_pairs(conn),
        row.threshold,
        row.scheme,
        row.suggestions or None,
        annotators(conn),
        row.gold,
        row.task,
    )


def suggesting(conn: sa.Connection) -> str | None:
    """Return the annotator whose links are suggested; None if suggestions come from elsewhere."""
    counts = schema.pair_counts.c
    name = schema.account.c.name
    asked = sa.select(name).where(counts.account == schema.account.c.id, counts.done.is_(True))
    return conn.execute(asked.where(name == schema.project.c.suggestions).limit(1)).scalar()


def shown_set(conn: sa.Connection) -> str:
    """Return the set of suggestions that is shown; empty if there is none."""
    return str(conn.execute(sa.select(_SET)).scalar())


def sources(conn: sa.Connection) -> set[str]:
    """Return the annotators and systems whose links are suggested, or vote on suggestions."""
    systems = names.vote_of(shown_set(conn))
    return {*systems, *chain(*systems.values()), *filter(None, [suggesting(conn)])}


def gold_name(conn: sa.Connection) -> str:
    """Return the name of the gold standard."""
    return str(conn.execute(sa.select(schema.project.c.gold)).scalar())


def task_of(conn: sa.Connection) -> str:
    """Return the task of annotators; see `names.TASKS`."""
    return str(conn.execute(sa.select(schema.project.c.task)).scalar())


def scheme_of(conn: sa.Connection) -> Scheme | None:
    """Return the scheme for judging pairs; None if this alignkit does not know it."""
    return known_scheme(conn.execute(sa.select(schema.project.c.scheme)).scalar() or "")


def known_scheme(name: str) -> Scheme | None:
    """Return a scheme (default: the one that pages offer); None if the name is unknown."""
    return SCHEMES.get(name or DEFAULT)


def judged_pairs(conn: sa.Connection) -> set[tuple[int, int]]:
    """Return the pair and account of work that was last marked done by judging."""
    settings = sa.select(_table.n).where(*_PROJECT, _table.kind == "setting")
    settings = settings.where(_table.data.contains(_JUDGE))
    if conn.execute(settings.limit(1)).first() is None:
        return set()
    asked = sa.select(_of.pair, _of.account).select_from(_latest(_table.kind == "done"))
    return {(k, who) for k, who in conn.execute(asked.where(_table.data.contains(_JUDGED)))}


def _latest(*conditions: sa.ColumnElement[bool]) -> sa.FromClause:
    """Return the last event of each stream that meets the conditions, with its stream."""
    last = (
        sa.select(_table.stream, sa.func.max(_table.seq).label("seq"))
        .where(_table.stream == _of.id, *conditions)
        .group_by(_table.stream)
        .subquery()
    )
    same = sa.and_(_table.stream == last.c.stream, _table.seq == last.c.seq)
    return last.join(schema.event_table, same).join(schema.stream, _of.id == _table.stream)


def pair_row(conn: sa.Connection, k: int) -> PairRow:
    """Return a pair and its words."""
    row = _PAIR.first(conn, k=k) if 0 < k < 2**31 else None
    if row is None:
        raise names.UnknownPair(k, count_pairs(conn))
    return _pair(row)


def pair_rows(conn: sa.Connection, some: Collection[int] | None = None) -> Iterator[PairRow]:
    """Yield all pairs, or those with some numbers, with their words, in order."""
    chosen = [_own.k > 0] if some is None else map(_own.k.in_, portions(sorted(set(some))))
    for condition in chosen:
        yield from map(_pair, conn.execute(_PAIRS.where(condition).order_by(_own.k)))


def portions(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield portions of values that fit into one query."""
    for start in range(0, len(values), _MOST_PARAMETERS):
        yield values[start : start + _MOST_PARAMETERS]


def _pair(row: Any) -> PairRow:
    k, id, rev, attributes, source, target = row
    return PairRow(k, id, rev, _attributes(attributes), words_of(source), words_of(target))


def trees_of(conn: sa.Connection, first: int, last: int) -> dict[int, dict[str, dict[str, str]]]:
    """Return the imported trees of pairs, as text by side and name; half-open numbers."""
    asked = sa.select(_own.k, _own.trees).where(_own.k >= first, _own.k < last, _own.trees != "{}")
    return {k: _trees(text) for k, text in conn.execute(asked)}


def texts_of(conn: sa.Connection, k: int) -> dict[int, tuple[list[str], list[str]]]:
    """Return the present and earlier source and target words of a pair, by revision."""
    rows = conn.execute(sa.select(_text.rev, _text.source, _text.target).where(_text.pair == k))
    return {rev: (words_of(source), words_of(target)) for rev, source, target in rows}


OwnPair = tuple[int, PairRow, StreamRow, int, dict[str, tuple[int, str]]]
"""The number of an annotator, a pair with the annotator's stream, the last event of the project,
and the stream and digest of the event with an id, if stored."""


def own_pair(
    conn: sa.Connection, k: int, name: str, *, everything: bool = False, id: str = ""
) -> OwnPair:
    """Return a pair of an annotator's list, or any."""
    if 0 < k < 2**31:
        row = _OWN.first(conn, k=k, name=name, id=id)
    else:
        row = None
    if row is None or not (everything or row[5]):
        PairList(conn, account_of(conn, name), everything=everything).check(k)  # says why not
        raise names.UnknownPair(k, count_pairs(conn))
    account, *stream, _, n, id, stored, digest = row[:10]
    pair = _pair(row[10:])
    sent = {id: (stored, digest)} if id else {}
    if stream[0]:
        known = _stream(stream, pair)
    else:
        known = StreamRow(None, PairState(rev=pair.rev))
    return account, pair, known, n or 0, sent


def streams_of(conn: sa.Connection, pair: PairRow) -> dict[int, StreamRow]:
    """Return all streams of a pair, by the number of the annotator."""
    return {row[0]: _stream(row[1:], pair) for row in conn.execute(_STREAMS, {"k": pair.k})}


def states(
    conn: sa.Connection, *conditions: sa.ColumnElement[bool]
) -> Iterator[tuple[int, int, PairState]]:
    """Yield the pair, annotator and state of each stream that meets the conditions, in order."""
    asked = sa.select(_of.pair, _of.account, _of.state).where(*conditions)
    for k, account, text in conn.execute(asked.order_by(_of.pair, _of.account)):
        yield k, account, decode_state(text)


def _stream(row: Any, pair: PairRow) -> StreamRow:
    id, text, undo, redo = row
    state = decode_state(text, undo, redo)
    check_cells(pair, (*state.cells, *state.bulk, *state.rejected, *state.weights, *state.whys))
    return StreamRow(id, state)


def viewed(conn: sa.Connection, stream: StreamRow) -> tuple[StateView, list[Event], list[Event]]:
    """Return a state as it is sent, and the events that undo and redo would take next."""
    id, state = stream
    undo, redo = (stack(conn, id, top, _MOST_UNDO) for top in (state.undo, state.redo))
    return state.view(undo[0].id if undo else None, redo[0].id if redo else None), undo, redo


def check_cells(pair: PairRow, cells: Iterable[tuple[Any, ...]]) -> None:
    """Refuse stored cells outside the words of their pair, like other broken JSON."""
    n, m = len(pair.source), len(pair.target)
    for i, j, *_ in cells:
        if not (-1 <= i < n and -1 <= j < m):
            raise msgspec.ValidationError(f"pair {pair.k}: [{i}, {j}] is no cell of its words")


def pair_log(conn: sa.Connection, k: int) -> dict[int, list[LogEvent]]:
    """Return all events of a pair by the number of the annotator; the events have no name."""
    events: dict[int, list[LogEvent]] = {}
    for account, digest, *columns, data in conn.execute(_PAIR_LOG, {"k": k}):
        event = LogEvent(*(*columns, Raw(data.encode()), k, "", digest))
        events.setdefault(account, []).append(event)
    return events


def events_after(conn: sa.Connection, stream: int | None, seq: int) -> list[Event]:
    """Return the events of a stream after a number, in order."""
    rows = conn.execute(_EVENTS_AFTER, {"stream": stream, "after": seq}) if stream else ()
    return [event_of(row) for row in rows]


def event_of(row: Any) -> Event:
    """Return the event in the columns `EVENT`."""
    *columns, data = row
    return Event(*(*columns, Raw(data.encode())))


def event_ids(conn: sa.Connection, stream: int | None, *seqs: int) -> list[str | None]:
    """Return the ids of events of a stream; None for 0."""
    if not any(seqs):
        return [None for _ in seqs]
    ids = {row.seq: row.id for row in conn.execute(_IDS, {"stream": stream, "seqs": seqs})}
    return [ids.get(seq) for seq in seqs]


def stack(conn: sa.Connection, stream: int | None, top: int, most: int) -> list[Event]:
    """Return an event and those below it, the top first."""
    rows = _STACK(conn, stream=stream, top=top, most=most) if top else ()
    return [event_of(row) for row in rows]


def known_events(conn: sa.Connection, ids: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return the stream and digest of those events that are stored already."""
    return {
        id: (stream, digest)
        for some in portions(list(ids))
        for id, stream, digest in conn.execute(_KNOWN, {"ids": some})
    }


def suggested(conn: sa.Connection, pair: PairRow, *, hide_systems: bool) -> Suggested | None:
    """Return the suggestions shown for a pair; None if none are shown."""
    name, learned = conn.execute(_SETS, {"k": pair.k}).one()
    if not name:
        return None
    shown = learned or name
    systems = names.vote_of(name)
    cells = suggestions_of(conn, shown, pair.k).get(pair.k, [])
    by, bulk = _made_by(conn, shown, hide_systems=hide_systems)
    if hide_systems:
        channels = []
    else:
        channels = list(chain(*systems.values()))
    known = annotators(conn)
    linked = {
        known[account - 1]: {x for x in state.cells if state.weights.get(x, 1) > 0}
        for account, (_, state) in (streams_of(conn, pair) if channels else {}).items()
    }
    places = [(i, j) for i, j, *_ in cells]
    links = [(x, [y for y in places if y in linked[x]]) for x in channels if x in linked]
    return Suggested(names.VOTE if shown == name and systems else shown, cells, by, bulk, links)


def _made_by(conn: sa.Connection, name: str, *, hide_systems: bool) -> tuple[str, str]:
    """Return what made a set of suggestions, and why it is not accepted in bulk, if so."""
    table = schema.learned_set.c
    taught = conn.execute(sa.select(table.pairs).where(table.set == name)).scalar_one_or_none()
    pairs = count_pairs(conn)
    why = f"Too few pairs ({pairs}) to trust probabilities: accept links one by one"
    why = why if pairs < FEW else ""
    if taught is not None:
        return f"learned from {taught:,} done pairs", why
    if systems := names.vote_of(name):
        if hide_systems:
            voting = how_many(len(systems), "system")
        else:
            voting = ", ".join(systems)
        return f"vote of {voting} and the aligner", why
    if name != "trained":
        return f"suggested by {'the given model' if name == 'model' else name}", ""
    calibrated = ", calibrated" if FEW <= pairs <= SMALL else ""
    return f"aligner trained on these {pairs:,} pairs{calibrated}", why


def suggested_cells(conn: sa.Connection) -> dict[int, tuple[str, list[Suggestion]]]:
    """Return by pair the set that is shown and its suggestions; pairs without them are left out."""
    row = schema.suggestion.c
    shown = sa.func.coalesce(sa.func.nullif(_own.suggested, ""), _SET)
    asked = sa.select(row.pair, row.set, row.cells).where(row.pair == _own.k, row.set == shown)
    return {k: (name, _suggestions(x)) for k, name, x in conn.execute(asked.where(_SET != ""))}


def suggestions_of(
    conn: sa.Connection, name: str, k: int | None = None
) -> dict[int, list[Suggestion]]:
    """Return the suggestions of a set, by pair; of all pairs, or of one."""
    table = schema.suggestion.c
    asked = sa.select(table.pair, table.cells).where(table.set == name)
    rows = conn.execute(asked if k is None else asked.where(table.pair == k))
    return {number: _suggestions(cells) for number, cells in rows}


def log_events(conn: sa.Connection, after: int = 0) -> Iterator[LogEvent]:
    """Yield the log after an event in order, in constant memory."""
    account = schema.account.c
    asked = (
        sa.select(*EVENT, _of.pair, account.name, _table.sent)
        .where(_table.stream == _of.id, account.id == _of.account, _table.n > after)
        .order_by(_table.n)
        .execution_options(yield_per=1000)
    )
    with conn.execute(asked) as rows:
        for *columns, text, k, name, sent in rows:
            yield LogEvent(*(*columns, Raw(text.encode()), k, name, sent))


def starts(conn: sa.Connection) -> dict[tuple[int, int], str]:
    """Return what annotators were shown to begin with, by pair and account, if it is known.

    It is the name of the set of suggestions, and empty if no suggestions were shown. Pages record
    it when they open a pair. For the work of programs that do not, it is what the server offered:
    the suggestions, unless the assignment hides them. Imported work has the start of its file.
    """
    kinds = sa.or_(_table.kind == "open", _table.data.contains('"start":'))
    asked = sa.select(_of.pair, _of.account, _table.kind, _table.data)
    asked = asked.where(_table.stream == _of.id, _of.pair > 0, kinds).order_by(_table.n)
    offered = _offered(conn)
    shown: dict[tuple[int, int], str] = {}
    hidden: dict[tuple[int, int], str] = {}
    imported: dict[tuple[int, int], str] = {}
    for k, account, kind, text in conn.execute(asked):
        data = decode_data(text.encode())
        if kind == "open" and data.suggestions:
            shown.setdefault((k, account), data.set or offered.get((k, account), ""))
        elif kind == "open" and data.suggestions is False:
            hidden[k, account] = ""
        elif data.start is not None:
            imported[k, account] = data.start
    return offered | imported | hidden | shown


def _offered(conn: sa.Connection) -> dict[tuple[int, int], str]:
    """Return the set that the server offers, by pair and account, of all work that clients sent."""
    sets = sa.select(_own.k, sa.func.coalesce(sa.func.nullif(_own.suggested, ""), _SET))
    offered = {k: names.VOTE if names.vote_of(name) else name for k, name in conn.execute(sets)}
    unshown = sa.select(_row.pair, _row.account).where(_row.shown.is_(False))
    hidden = {(k, account) for k, account in conn.execute(unshown)}
    sent = sa.select(_of.pair, _of.account).distinct()
    sent = sent.where(_table.stream == _of.id, _of.pair > 0, _table.sent != "")
    return {
        (k, account): "" if (k, account) in hidden else offered[k]
        for k, account in conn.execute(sent)
    }


def by_pair(rows: Iterable[tuple[int, Event]]) -> dict[int, list[Event]]:
    """Group events by their pairs."""
    pairs: dict[int, list[Event]] = {}
    for k, event in rows:
        pairs.setdefault(k, []).append(event)
    return pairs


def last_changes(conn: sa.Connection, first: int, end: int) -> dict[tuple[int, int], str | None]:
    """Return the time of the last change of each stream of the pairs from `first` to `end` - 1."""
    joined = _latest(_of.pair >= first, _of.pair < end, _table.kind != "open")
    columns = _of.pair, _of.account, _of.id, _table.kind, _table.at, _table.data
    times: dict[tuple[int, int], str | None] = {}
    for k, account, id, kind, at, text in conn.execute(sa.select(*columns).select_from(joined)):
        data = decode_data(text.encode())
        changed = writes(kind, data)
        if changed:
            times[k, account] = _when(at, data)
        else:
            times[k, account] = last_change(events_after(conn, id, 0))
    return times


def last_change(events: Iterable[Event]) -> str | None:
    """Return the time of a stream's last change, given its events in order."""
    last = last_writing(events)
    if last is None:
        return None
    return _when(last.at, decode_data(last.data))


def last_writing(events: Iterable[Event]) -> Event | None:
    """Return the last event that changed anything, given the events of a stream in order."""
    return next((x for x in reversed(list(events)) if writes(x.kind, decode_data(x.data))), None)


def _when(at: str, data: Data) -> str | None:
    if data.how == "import" or data.when:
        return data.when or None
    return read_moment(at, "the time of an event")


class _Listing:
    """The statements for a list of pairs: their number, their place, and what is in the list."""

    def __init__(self, k: Any, place: Any, mine: sa.ColumnElement[bool]) -> None:
        here: Any = sa.bindparam("place")
        before = sa.select(k).where(place < here, mine).order_by(place.desc()).limit(1)
        after = sa.select(k).where(place > here, mine).order_by(place).limit(1)
        is_open = ~sa.select(_counted.pair).where(*_DONE, _counted.pair == k).exists()
        first = sa.select(k).where(place < here, mine).order_by(place).limit(1)
        self.near = Prepared(sa.select(before.scalar_subquery(), after.scalar_subquery()))
        self.open = [Prepared(some.where(is_open)) for some in (after, first)]
        self.rank = Prepared(sa.select(sa.func.count(k)).where(place <= here, mine))
        self.count = Prepared(sa.select(sa.func.count(k)).where(mine))


_counted = schema.pair_counts.c
_DONE = _counted.account == sa.bindparam("of"), _counted.done.is_(True)
_ALL_DONE = sa.select(sa.func.count(_counted.pair)).where(*_DONE)
_OWN_DONE = Prepared(_ALL_DONE.where(_counted.pair == _row.pair, _mine))
_COUNT_DONE = Prepared(_ALL_DONE)
_ALL = _Listing(_own.k, _own.k, _own.k > 0)
_ASSIGNMENT = _Listing(_row.pair, _row.place, _mine)


class PairList:
    """The pairs of an annotator, in order."""

    def __init__(self, conn: sa.Connection, account: int, *, everything: bool = False) -> None:
        self._conn = conn
        self._account = account
        self.assigned = not everything and has_assignments(conn)
        self._statements = _ASSIGNMENT if self.assigned else _ALL

    @cached_property
    def _listed(self) -> sa.FromClause:
        if not self.assigned:
            columns = _own.k.label("k"), _own.k.label("place"), sa.literal(True).label("shown")
            return sa.select(*columns).where(_own.k > 0).subquery("own")
        named = _row.pair.label("k"), _row.place, _row.shown
        return sa.select(*named).where(_row.account == self._account).subquery("own")

    def check(self, k: int) -> Any:
        """Check that a pair is in the list; return its place, and whether suggestions are shown."""
        asked = _ASSIGNED if self.assigned else _THERE
        known = 0 < k < 2**31
        if known:
            row = asked.first(self._conn, of=self._account, k=k)
        else:
            row = None
        if row is None:
            if known and self.assigned:
                mine = schema.account.c.id == self._account
                name = self._conn.execute(sa.select(schema.account.c.name).where(mine)).scalar()
                if any((k, name) in event.gone for event in assignments(self._conn)):
                    raise names.MovedPair(k)
            raise names.UnknownPair(k, None if self.assigned else count_pairs(self._conn))
        return row

    def place(self, k: int) -> tuple[int, bool, int, int | None, int | None]:
        """Return the place (there may be gaps), if suggestions are shown, the rank, neighbours."""
        place, shown = self.check(k)
        if self.assigned:
            rank = self._first(_ASSIGNMENT.rank, place)[0]
        else:
            rank = place
        return place, bool(shown), rank, *self._first(self._statements.near, place)

    def count(self) -> int:
        """Return how many pairs are in the list."""
        return int(self._first(_ASSIGNMENT.count)[0] if self.assigned else count_pairs(self._conn))

    def numbers(self) -> set[int]:
        """Return the numbers of all pairs in the list."""
        return set(self._conn.execute(sa.select(self._listed.c.k)).scalars())

    def count_done(self) -> int:
        """Return how many of them the annotator has done."""
        return int(self._first(_OWN_DONE if self.assigned else _COUNT_DONE)[0])

    def next_open(self, place: int) -> int | None:
        """Return the next pair that is not done, from the first again after the last."""
        rows = (self._first(asked, place) for asked in self._statements.open)
        return next((int(row[0]) for row in rows if row is not None), None)

    def _first(self, asked: Prepared, place: int = 0) -> Any:
        return asked.first(self._conn, of=self._account, place=place)

    def queue(self, after: int, limit: int, query: str = "", only: str = "") -> Queue:
        """Return a part of the list, or of the pairs in it that a search and a filter leave."""
        pair = schema.pair
        own = self._listed
        counts = schema.pair_counts
        stream = schema.stream
        mine = [sa.and_(x.c.pair == _own.k, x.c.account == self._account) for x in (counts, stream)]
        joined = own.join(pair, _own.k == own.c.k).outerjoin(counts, mine[0])
        joined = joined.join(schema.pair_text, _present).outerjoin(stream, mine[1])
        conditions = [*_containing(query), *_filtered(only)]
        columns = [sa.func.coalesce(counts.c.done, False)]
        columns += [sa.func.coalesce(counts.c[name], 0) for name in ("links", "comments")]
        asked = sa.select(_own.k, _own.id, *columns, _text.source, _text.target).select_from(joined)
        asked = asked.where(*conditions).order_by(_own.id != query, own.c.place)
        rows = [
            QueueRow(*(*row, " ".join((*words_of(source), "/", *words_of(target)))))
            for *row, source, target in self._conn.execute(asked.offset(max(after, 0)).limit(limit))
        ]
        total = sa.select(sa.func.count()).select_from(joined).where(*conditions)
        if conditions:
            count = self._conn.execute(total).scalar()
        else:
            count = self.count()
        return Queue(rows, int(count or 0), self.count_done())

    def changes(self, n: int) -> tuple[int, list[tuple[int, Event]]]:
        """Return the annotator's events after a number, each with its pair, and up to which."""
        asked = _OWN_CHANGES if self.assigned else _CHANGES
        rows = asked(self._conn, after=n, account=self._account, most=_MOST_CHANGES)
        changes = [(row[0], event_of(row[1:])) for row in rows]
        full = len(changes) == _MOST_CHANGES
        return changes[-1][1].n if full else last_n(self._conn), changes


def _containing(query: str) -> list[sa.ColumnElement[bool]]:
    """Return what a search asks: id, words or comments contain a text, ignoring case."""
    held = [x.contains(query.casefold(), autoescape=True) for x in (_own.search, _of.notes)]
    return [sa.or_(*held)] if query else []


def _filtered(only: str, actor: str | None = None) -> list[sa.ColumnElement[bool]]:
    """Return what a filter asks of a stream, and `mine` of the events that somebody sent."""
    done = schema.pair_counts.c.done
    if only == "mine":
        sent = [_table.stream == _of.id, _table.kind != "open"]
        if actor is not None:
            sent += [_table.actor == actor]
        return [sa.select(_table.n).where(*sent).correlate(schema.stream).exists()]
    conditions = {
        "open": done.is_not(True),
        "done": done.is_(True),
        "flagged": _of.state.contains('"flags":["'),
        "commented": _of.notes != "",
    }
    return [conditions[only]] if only else []


def pairs_with(conn: sa.Connection, query: str, only: str, actor: str) -> set[int]:
    """Return the pairs that a search and a filter leave, of all streams; `mine`: decided by one."""
    asked = sa.select(_own.k).select_from(schema.pair.outerjoin(schema.stream, _of.pair == _own.k))
    asked = asked.where(*_containing(query), *_filtered(only, actor))
    if only == "mine":
        gold = sa.select(schema.account.c.id).where(schema.account.c.name == gold_name(conn))
        asked = asked.where(_of.account == gold.scalar_subquery())
    return set(conn.execute(asked).scalars())


def has_assignments(conn: sa.Connection) -> bool:
    """Return whether pairs of the project are assigned, even if all were taken back."""
    return _ANY.first(conn) is not None


def assignments(conn: sa.Connection) -> list[Assign]:
    """Return all events that assigned pairs or took them away, in order."""
    return [msgspec.json.decode(x, type=Assign) for x in conn.execute(_ASSIGNING).scalars()]
