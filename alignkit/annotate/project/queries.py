"""The questions to the tables of a project, each written once.

`pair_lists` has those about the list of an annotator, `suggestions` those about suggested links.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import msgspec
import sqlalchemy as sa
from msgspec import Raw, Struct

from alignkit.annotate.project import names, schema
from alignkit.annotate.project.engines import Condition, Prepared
from alignkit.annotate.project.events import (
    SOURCE_TEXT,
    TARGET_TEXT,
    Data,
    Event,
    LogEvent,
    decode_data,
)
from alignkit.annotate.project.project_events import Account, Assign, Suggestion
from alignkit.annotate.project.schema import (
    ACCOUNT,
    COUNTS,
    ENTRY,
    EVENT,
    EVENT_IS_IN_STREAM,
    IS_DONE,
    PAIR,
    PAIR_TEXT,
    PROJECT,
    STREAM,
    STREAM_IS_OF_ACCOUNT,
    TRAINING,
)
from alignkit.annotate.project.state import PairState, StateView, decode_state, writes
from alignkit.errors import AlignkitError
from alignkit.model.annotation import read_moment
from alignkit.model.labels import DEFAULT, Scheme, get_scheme
from alignkit.model.roles import ROLES


class ProjectInfo(Struct):
    """Describe a project."""

    name: str
    key: str  # its own name for good, the same in every copy
    n: int  # its last event
    pairs: int
    threshold: float
    doubt: float  # from which doubt on a word is to be looked at; 0: each word
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


class ListPlace(NamedTuple):
    """Where a pair stands in a list; the fields have the names of those of `PairPage`."""

    pairs: int
    done: int
    place: int
    previous: int | None = None
    next: int | None = None
    next_open: int | None = None


class ShownState(NamedTuple):
    """A state as it is sent, and the events that undo and redo would take next."""

    state: StateView
    undo: list[Event]
    redo: list[Event]


class PairView(PairPage):
    """A pair as one annotator sees it."""

    suggestions: Suggested | None
    hidden: bool = False  # whether there are suggestions, and the assignment hides them


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

_MOST_PARAMETERS = 500
_MOST_UNDO = 100
END_OF_NUMBERS = 2**31  # drivers refuse some larger ones
_JUDGE_TASK = '"task":"judge"'  # as the data of events have it
_DONE_BY_JUDGING = '"how":"judge"'

# Statements that are asked for each stream stand before the function that asks them, for making
# them takes longer than asking them. Those that are asked most often are `Prepared`.


EVENT_COLUMNS = [EVENT[name] for name in Event.__struct_fields__]
PAIR_COLUMNS = PAIR.k, PAIR.id, PAIR.rev, PAIR.attributes, PAIR_TEXT.source, PAIR_TEXT.target
STREAM_COLUMNS = STREAM.id, STREAM.state, STREAM.undo_top, STREAM.redo_top

_EVENT_IS_IN_GIVEN_STREAM = EVENT.stream == sa.bindparam("stream")
_STREAM_IS_OF_GIVEN_PAIR = STREAM.pair == sa.bindparam("k")
PAIR_IS_GIVEN = PAIR.k == sa.bindparam("k")
TEXT_IS_PRESENT = sa.and_(PAIR_TEXT.pair == PAIR.k, PAIR_TEXT.rev == PAIR.rev)
_IS_OF_PROJECT = sa.and_(EVENT_IS_IN_STREAM, STREAM.pair == 0)
HAS_GIVEN_NAME = sa.and_(ACCOUNT.name == sa.bindparam("name"), ACCOUNT.id > 0)

LAST_NUMBER = sa.select(sa.func.max(EVENT.n))
PAIRS_WITH_TEXTS = schema.pair.join(schema.pair_text, TEXT_IS_PRESENT)
_SELECT_PAIRS = sa.select(*PAIR_COLUMNS).select_from(PAIRS_WITH_TEXTS)

words_of = msgspec.json.Decoder(list[str]).decode
_attributes = msgspec.json.Decoder(dict[str, str]).decode
_trees = msgspec.json.Decoder(dict[str, dict[str, str]]).decode


class PairRow(NamedTuple):
    """A pair with its words."""

    k: int
    id: str
    rev: int
    attributes: dict[str, str]
    source: list[str]
    target: list[str]

    @property
    def texts(self) -> tuple[str, str]:
        """The texts of a pair of documents; of a pair that only has words, the joined words."""
        source = self.attributes.get(SOURCE_TEXT) or " ".join(self.source)
        target = self.attributes.get(TARGET_TEXT) or " ".join(self.target)
        return source, target


class StreamRow(NamedTuple):
    """A stream and its state; the id is None before its first event."""

    id: int | None
    state: PairState


_SELECT_ACCOUNT = Prepared(sa.select(ACCOUNT.id).where(HAS_GIVEN_NAME))


def account_of(conn: sa.Connection, name: str) -> int:
    """Return the number of an annotator."""
    row = _SELECT_ACCOUNT.first(conn, name=name)
    if row is None:
        raise names.UnknownAnnotator(name, annotators(conn))
    return int(row[0])


def gold_account(conn: sa.Connection) -> int | None:
    """Return the number of the gold standard among the annotators; None before it is one."""
    row = _SELECT_ACCOUNT.first(conn, name=gold_name(conn))
    return None if row is None else int(row[0])


def annotators(conn: sa.Connection) -> list[str]:
    """Return the names of all annotators, in the order of their entry."""
    query = sa.select(ACCOUNT.name).where(ACCOUNT.id > 0).order_by(ACCOUNT.id)
    return list(conn.execute(query).scalars())


def roles(conn: sa.Connection) -> dict[str, str]:
    """Return the roles with which alignments were imported, of those that are not by people."""
    query = sa.select(EVENT.data).where(EVENT.kind == "account")
    role_by_name = {}
    for text in conn.execute(query).scalars():
        account = msgspec.json.decode(text, type=Account)
        if account.role in ROLES:
            role_by_name[account.name] = account.role
    return role_by_name


_SELECT_LAST_NUMBER = Prepared(LAST_NUMBER)


def last_n(conn: sa.Connection) -> int:
    """Return the number of the last event."""
    return int(_SELECT_LAST_NUMBER.first(conn)[0] or 0)


def highest(conn: sa.Connection, column: sa.Column[Any]) -> int:
    """Return the highest number in a column; 0 if it is empty."""
    return conn.execute(sa.select(sa.func.max(column))).scalar() or 0


_SELECT_LAST_PAIR = Prepared(sa.select(sa.func.max(PAIR.k)))


def count_pairs(conn: sa.Connection) -> int:
    """Return how many pairs there are; they are numbered without gaps."""
    return int(_SELECT_LAST_PAIR.first(conn)[0] or 0)


def settings(conn: sa.Connection) -> sa.Row[Any]:
    """Return the row of the project, which has its settings."""
    return conn.execute(sa.select(schema.project)).one()


def project_info(conn: sa.Connection) -> ProjectInfo:
    """Return the description of the project."""
    row = settings(conn)
    return ProjectInfo(
        name=row.name,
        key=row.key,
        n=last_n(conn),
        pairs=count_pairs(conn),
        threshold=row.threshold,
        doubt=row.doubt,
        scheme=row.scheme,
        suggestions=row.suggestions or None,
        annotators=annotators(conn),
        gold=row.gold,
        task=row.task,
    )


def suggesting(conn: sa.Connection) -> str | None:
    """Return the annotator whose links are suggested; None if suggestions come from elsewhere."""
    query = (
        sa.select(ACCOUNT.name)
        .where(ACCOUNT.name == PROJECT.suggestions)
        .where(COUNTS.account == ACCOUNT.id, IS_DONE)
        .limit(1)
    )
    return conn.execute(query).scalar()


def shown_set(conn: sa.Connection) -> str:
    """Return the set of suggestions that is shown; empty if there is none."""
    return str(settings(conn).suggestions)


def sources(conn: sa.Connection) -> set[str]:
    """Return the annotators and systems whose links are suggested, or vote on suggestions."""
    systems = names.vote_of(shown_set(conn))
    known = {*systems, *chain(*systems.values())}
    annotator = suggesting(conn)
    if annotator:
        known.add(annotator)
    return known


def gold_name(conn: sa.Connection) -> str:
    """Return the name of the gold standard."""
    return str(settings(conn).gold)


def not_annotating(conn: sa.Connection) -> set[str]:
    """Return the names whose work is not that of annotators: of gold, and of suggestions."""
    return {gold_name(conn), *sources(conn)}


def task_of(conn: sa.Connection) -> str:
    """Return the task of annotators; see `names.TASKS`."""
    return str(settings(conn).task)


def scheme_of(conn: sa.Connection) -> Scheme | None:
    """Return the scheme for judging pairs; None if this alignkit does not know it."""
    return known_scheme(settings(conn).scheme)


def known_scheme(name: str) -> Scheme | None:
    """Return a scheme (default: the one that pages offer); None if the name is unknown."""
    try:
        return get_scheme(name or DEFAULT)
    except AlignkitError:
        return None


def judged_pairs(conn: sa.Connection) -> set[tuple[int, int]]:
    """Return the pair and account of work that was last marked done by judging."""
    was_set = sa.and_(EVENT.kind == "setting", EVENT.data.contains(_JUDGE_TASK))
    judging = sa.select(EVENT.n).where(_IS_OF_PROJECT, was_set).limit(1)
    if conn.execute(judging).first() is None:
        return set()
    judged = (
        sa.select(STREAM.pair, STREAM.account)
        .select_from(_last_events(EVENT.kind == "done"))
        .where(EVENT.data.contains(_DONE_BY_JUDGING))
    )
    return {(k, account) for k, account in conn.execute(judged)}


def _last_events(*conditions: Condition) -> sa.FromClause:
    """Return the last event of each stream that meets the conditions, with its stream."""
    last = (
        sa.select(EVENT.stream, sa.func.max(EVENT.seq).label("seq"))
        .where(EVENT_IS_IN_STREAM, *conditions)
        .group_by(EVENT.stream)
        .subquery()
    )
    is_last = sa.and_(EVENT.stream == last.c.stream, EVENT.seq == last.c.seq)
    return last.join(schema.event_table, is_last).join(schema.stream, EVENT_IS_IN_STREAM)


_SELECT_PAIR = Prepared(_SELECT_PAIRS.where(PAIR_IS_GIVEN))


def pair_row(conn: sa.Connection, k: int) -> PairRow:
    """Return a pair and its words."""
    row = None
    if 0 < k < END_OF_NUMBERS:
        row = _SELECT_PAIR.first(conn, k=k)
    if row is None:
        raise names.UnknownPair(k, count_pairs(conn))
    return read_pair(row)


def pair_rows(conn: sa.Connection, some: Collection[int] | None = None) -> Iterator[PairRow]:
    """Yield all pairs, or those with some numbers, with their words, in order."""
    query = _SELECT_PAIRS.order_by(PAIR.k)
    if some is None:
        yield from map(read_pair, conn.execute(query.where(PAIR.k > 0)))
        return
    for portion in portions(sorted(set(some))):
        yield from map(read_pair, conn.execute(query.where(PAIR.k.in_(portion))))


def portions(values: Iterable[T], size: int | None = None) -> Iterator[list[T]]:
    """Yield values in portions of a size; by default they fit into one query."""
    if size is None:
        size = _MOST_PARAMETERS
    left = iter(values)
    portion = list(islice(left, size))
    while portion:
        yield portion
        portion = list(islice(left, size))


def read_pair(row: Any) -> PairRow:
    """Return the pair in the columns `PAIR_COLUMNS`."""
    k, id, rev, attributes, source, target = row
    return PairRow(k, id, rev, _attributes(attributes), words_of(source), words_of(target))


def trees_of(conn: sa.Connection, first: int, last: int) -> dict[int, dict[str, dict[str, str]]]:
    """Return the imported trees of pairs, as text by side and name; half-open numbers."""
    has_trees = PAIR.trees != "{}"
    query = sa.select(PAIR.k, PAIR.trees).where(PAIR.k >= first, PAIR.k < last, has_trees)
    return {k: _trees(text) for k, text in conn.execute(query)}


def texts_of(conn: sa.Connection, k: int) -> dict[int, tuple[list[str], list[str]]]:
    """Return the present and earlier source and target words of a pair, by revision."""
    query = sa.select(PAIR_TEXT.rev, PAIR_TEXT.source, PAIR_TEXT.target).where(PAIR_TEXT.pair == k)
    rows = conn.execute(query)
    return {rev: (words_of(source), words_of(target)) for rev, source, target in rows}


_LAST_ROUND = sa.select(sa.func.max(TRAINING.number)).scalar_subquery()
_SELECT_ROUND_TO_PASS = Prepared(
    sa.select(TRAINING.number)
    .select_from(
        schema.training.outerjoin(
            schema.training_entry,
            sa.and_(ENTRY.round == TRAINING.number, ENTRY.account == sa.bindparam("of")),
        )
    )
    .where(TRAINING.number == _LAST_ROUND, TRAINING.size > 0, ENTRY.account.is_(None))
)


def must_train(conn: sa.Connection, account: int) -> bool:
    """Return whether an annotator has a training round to pass before any other work."""
    return _SELECT_ROUND_TO_PASS.first(conn, of=account) is not None


_SELECT_STREAMS_OF_PAIR = (
    sa.select(STREAM.account, *STREAM_COLUMNS)
    .where(_STREAM_IS_OF_GIVEN_PAIR)
    .order_by(STREAM.account)
)


def streams_of(conn: sa.Connection, pair: PairRow) -> dict[int, StreamRow]:
    """Return all streams of a pair, by the number of the annotator."""
    rows = conn.execute(_SELECT_STREAMS_OF_PAIR, {"k": pair.k})
    return {account: read_stream(stored, pair) for account, *stored in rows}


def states(conn: sa.Connection, *conditions: Condition) -> Iterator[tuple[int, int, PairState]]:
    """Yield the pair, annotator and state of each stream that meets the conditions, in order."""
    query = (
        sa.select(STREAM.pair, STREAM.account, STREAM.state)
        .where(*conditions)
        .order_by(STREAM.pair, STREAM.account)
    )
    for k, account, text in conn.execute(query):
        yield k, account, decode_state(text)


def read_stream(row: Any, pair: PairRow) -> StreamRow:
    """Return the stream in the columns `STREAM_COLUMNS`; its cells must be of the pair."""
    id, text, undo, redo = row
    state = decode_state(text, undo, redo)
    marked = (*state.bulk, *state.rejected, *state.settled)
    check_cells(pair, (*state.cells, *marked, *state.weights, *state.whys))
    return StreamRow(id, state)


def page_fields(pair: PairRow, place: ListPlace, shown: ShownState, n: int) -> dict[str, Any]:
    """Return the fields of a `PairPage`, by name."""
    return {**pair._asdict(), **place._asdict(), **shown._asdict(), "n": n}


def viewed(conn: sa.Connection, stream: StreamRow) -> ShownState:
    """Return the state of a stream as it is sent."""
    undo = stack(conn, stream.id, stream.state.undo, _MOST_UNDO)
    redo = stack(conn, stream.id, stream.state.redo, _MOST_UNDO)
    undo_id = undo[0].id if undo else None
    redo_id = redo[0].id if redo else None
    return ShownState(stream.state.view(undo_id, redo_id), undo, redo)


def check_cells(pair: PairRow, cells: Iterable[tuple[Any, ...]]) -> None:
    """Refuse stored cells outside the words of their pair, like other broken JSON."""
    n = len(pair.source)
    m = len(pair.target)
    for i, j, *_ in cells:
        if not (-1 <= i < n and -1 <= j < m):
            raise msgspec.ValidationError(f"pair {pair.k}: [{i}, {j}] is no cell of its words")


_SELECT_LOG_OF_PAIR = (
    sa.select(STREAM.account, EVENT.sent, *EVENT_COLUMNS)
    .select_from(schema.event_table.join(schema.stream, EVENT_IS_IN_STREAM))
    .where(_STREAM_IS_OF_GIVEN_PAIR)
    .order_by(STREAM.id, EVENT.seq)
)


def pair_log(conn: sa.Connection, k: int) -> dict[int, list[LogEvent]]:
    """Return all events of a pair by the number of the annotator; the events have no name."""
    events: dict[int, list[LogEvent]] = {}
    for account, digest, *columns, data in conn.execute(_SELECT_LOG_OF_PAIR, {"k": k}):
        fields = (*columns, Raw(data), k, "", digest)
        events.setdefault(account, []).append(LogEvent(*fields))
    return events


_SELECT_EVENTS_AFTER = (
    sa.select(*EVENT_COLUMNS)
    .where(_EVENT_IS_IN_GIVEN_STREAM, EVENT.seq > sa.bindparam("after"))
    .order_by(EVENT.seq)
)


def events_after(conn: sa.Connection, stream: int | None, seq: int) -> list[Event]:
    """Return the events of a stream after a number, in order."""
    if not stream:
        return []
    rows = conn.execute(_SELECT_EVENTS_AFTER, {"stream": stream, "after": seq})
    return [event_of(row) for row in rows]


def event_of(row: Any) -> Event:
    """Return the event in the columns `EVENT_COLUMNS`."""
    *columns, data = row
    fields = (*columns, Raw(data))
    return Event(*fields)


_SELECT_IDS = sa.select(EVENT.seq, EVENT.id).where(
    _EVENT_IS_IN_GIVEN_STREAM, EVENT.seq.in_(sa.bindparam("seqs", expanding=True))
)


def event_ids(conn: sa.Connection, stream: int | None, *seqs: int) -> list[str | None]:
    """Return the ids of events of a stream; None for 0."""
    if not any(seqs):
        return [None for _ in seqs]
    rows = conn.execute(_SELECT_IDS, {"stream": stream, "seqs": seqs})
    ids = {row.seq: row.id for row in rows}
    return [ids.get(seq) for seq in seqs]


def _select_stack() -> sa.Select[Any]:
    """Return the statement that follows a stack of undo down: each event names the one below."""
    columns = EVENT.seq, EVENT.below
    top = (
        sa.select(*columns, sa.literal(1).label("depth"))
        .where(_EVENT_IS_IN_GIVEN_STREAM, EVENT.seq == sa.bindparam("top"))
        .cte("stack", recursive=True)
    )
    below = (
        sa.select(*columns, top.c.depth + 1)
        .where(_EVENT_IS_IN_GIVEN_STREAM, EVENT.seq == top.c.below)
        .where(top.c.depth < sa.bindparam("most"))
    )
    reached = top.union_all(below)
    return (
        sa.select(*EVENT_COLUMNS)
        .where(_EVENT_IS_IN_GIVEN_STREAM, EVENT.seq == reached.c.seq)
        .order_by(reached.c.depth)
    )


_SELECT_STACK = Prepared(_select_stack())


def stack(conn: sa.Connection, stream: int | None, top: int, most: int) -> list[Event]:
    """Return an event and those below it, the top first."""
    if not top:
        return []
    return [event_of(row) for row in _SELECT_STACK(conn, stream=stream, top=top, most=most)]


_SELECT_KNOWN = sa.select(EVENT.id, EVENT.stream, EVENT.sent).where(
    EVENT.id.in_(sa.bindparam("ids", expanding=True))
)


def known_events(conn: sa.Connection, ids: Iterable[str]) -> dict[str, tuple[int, str]]:
    """Return the stream and digest of those events that are stored already."""
    known = {}
    for portion in portions(ids):
        for id, stream, digest in conn.execute(_SELECT_KNOWN, {"ids": portion}):
            known[id] = stream, digest
    return known


def log_events(conn: sa.Connection, after: int = 0) -> Iterator[LogEvent]:
    """Yield the log after an event in order, in constant memory."""
    query = (
        sa.select(*EVENT_COLUMNS, STREAM.pair, ACCOUNT.name, EVENT.sent)
        .where(EVENT_IS_IN_STREAM, STREAM_IS_OF_ACCOUNT, EVENT.n > after)
        .order_by(EVENT.n)
        .execution_options(yield_per=1000)
    )
    with conn.execute(query) as rows:
        for *columns, data, k, name, sent in rows:
            fields = (*columns, Raw(data), k, name, sent)
            yield LogEvent(*fields)


def by_pair(rows: Iterable[tuple[int, Event]]) -> dict[int, list[Event]]:
    """Group events by their pairs."""
    pairs: dict[int, list[Event]] = {}
    for k, event in rows:
        pairs.setdefault(k, []).append(event)
    return pairs


def last_changes(conn: sa.Connection, first: int, end: int) -> dict[tuple[int, int], str | None]:
    """Return the time of the last change of each stream of the pairs from `first` to `end` - 1."""
    last = _last_events(STREAM.pair >= first, STREAM.pair < end, EVENT.kind != "open")
    columns = STREAM.pair, STREAM.account, STREAM.id, EVENT.kind, EVENT.at, EVENT.data
    times: dict[tuple[int, int], str | None] = {}
    for k, account, stream, kind, at, text in conn.execute(sa.select(*columns).select_from(last)):
        data = decode_data(text)
        if writes(kind, data):
            times[k, account] = _time_of(at, data)
        else:
            times[k, account] = last_change(events_after(conn, stream, 0))
    return times


def last_change(events: Iterable[Event]) -> str | None:
    """Return the time of a stream's last change, given its events in order."""
    last = last_writing(events)
    if last is None:
        return None
    return _time_of(last.at, decode_data(last.data))


def last_writing(events: Iterable[Event]) -> Event | None:
    """Return the last event that changed anything, given the events of a stream in order."""
    for event in reversed(list(events)):
        if writes(event.kind, decode_data(event.data)):
            return event
    return None


def _time_of(at: str, data: Data) -> str | None:
    """Return when something was done: of imported work the time in its file, if it has any."""
    if data.how == "import" or data.when:
        return data.when or None
    return read_moment(at, "the time of an event")


_SELECT_PLAN = Prepared(sa.select(PROJECT.assigning).where(PROJECT.assigning != ""))


def has_assignments(conn: sa.Connection) -> bool:
    """Return whether pairs of the project are assigned, even if all were taken back."""
    return _SELECT_PLAN.first(conn) is not None


_SELECT_ASSIGNMENTS = (
    sa.select(EVENT.data).where(_IS_OF_PROJECT, EVENT.kind == "assign").order_by(EVENT.seq)
)


def assignments(conn: sa.Connection) -> list[Assign]:
    """Return all events that assigned pairs or took them away, in order."""
    texts = conn.execute(_SELECT_ASSIGNMENTS).scalars()
    return [msgspec.json.decode(text, type=Assign) for text in texts]
