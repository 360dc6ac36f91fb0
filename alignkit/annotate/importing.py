"""Import a corpus into a project: corrected words, and annotations made elsewhere.

If words differ, they are corrected in the project, and the work on the pair is carried over (see
`rewording`). The annotation of a new annotator becomes a stream. An annotation that differs from
the project becomes one edit with the difference. If it equals an earlier state of the stream, it is
older work and is ignored. Whatever the file's format cannot represent stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from alignkit.annotate.assignment import add_pairs
from alignkit.annotate.creation import import_id
from alignkit.annotate.exporting import joined
from alignkit.annotate.project import appending, queries, schema
from alignkit.annotate.project import events as log
from alignkit.annotate.project.appending import Batch, Writer, append_to_project, new_event
from alignkit.annotate.project.conversion import annotation_of, difference, merged, trees_of
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Suggest, Suggestion, Text, Texts
from alignkit.annotate.project.queries import PairRow, StreamRow, last_change, last_writing
from alignkit.annotate.project.rewording import Rewording, reword
from alignkit.annotate.project.state import PairState, copied
from alignkit.annotate.project.store import Store
from alignkit.model.alignment import NULL
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair


@dataclass
class Imported:
    """The counts of an import."""

    pairs: int = 0  # how many pairs of the file are in the project
    reworded: int = 0
    carried: int = 0
    lost: list[tuple[int, str, str, log.Mark]] = field(default_factory=list)
    new: int = 0
    changed: int = 0
    same: int = 0
    older: int = 0
    added: int = 0  # how many pairs are new in the project
    surplus: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    trees: list[str] = field(default_factory=list)
    both: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        lost = []
        for k, id, name, mark in self.lost:
            lost.append({"k": k, "id": id, "annotator": name, **msgspec.structs.asdict(mark)})
        return {**vars(self), "lost": lost}

    def removed(self) -> Iterator[str]:
        """Yield a line for each link that was removed."""
        for k, id, name, mark in self.lost:
            i, j, value = mark.was
            what = ("comment", "possible", "sure")[value]
            note = f" ({mark.note})" if mark.note else ""
            yield f"pair {k} {id}, {name}: link removed: {mark.text} [{i}, {j}] {what}{note}"

    def warnings(self) -> Iterator[str]:
        """Yield a line for each kind of pairs that were left out or overwritten."""
        if self.both:
            yield f"{self.both} cells differ: those of the file are used; undo reverts this"
        for ids, outcome in (
            (self.surplus, "are not in the project and were left out"),
            (self.skipped, "have other words in the project and were left out; import words first"),
            (self.trees, "have other trees in the project, which were kept"),
        ):
            if ids:
                yield f"{len(ids)} pairs {outcome} (the first: {ids[0]})"


@contextmanager
def _writing(store: Store, *, dry: bool) -> Iterator[Connection]:
    """Open a connection for an import; a dry run is taken back at the end."""
    with store.database.writing() as conn:
        yield conn
        if dry and (transaction := conn.get_transaction()) is not None:
            transaction.rollback()


def import_pairs(
    store: Store,
    others: Iterable[SentencePair],
    *,
    holds: frozenset[str],
    in_order: bool = False,
    add: bool = False,
    dry: bool = False,
    tell: Callable[[], None] | None = None,
) -> Imported:
    """Import words and annotations of a corpus into a project: all, or nothing if `dry`."""
    result = Imported()
    with _writing(store, dry=dry) as conn:
        pairs = list(queries.pair_rows(conn))
        surplus: list[SentencePair] = []
        matches = list(joined(pairs, others, in_order=in_order, surplus=surplus))
        texts = {text.k: text for text in starmap(_corrected, matches) if text is not None}
        batch = Batch(conn)
        if (texts or (add and surplus)) and queries.task_of(conn) == "extract":
            raise ProjectError(
                "documents for extraction cannot be changed; make another project for corrected or "
                "further documents"
            )
        if texts:
            append_to_project(conn, Texts(list(texts.values())))
            _move_suggestions(conn, {pair.k: pair for pair in pairs}, texts)
            names = dict(enumerate(queries.annotators(conn), 1))
            for at, (pair, other) in enumerate(matches):
                if pair.k in texts:
                    matches[at] = _reword(batch, names, pair, texts[pair.k], result), other
            batch.flush()
        if add:
            new = add_pairs(conn, (replace(pair, annotations={}) for pair in surplus))
            matches += zip(queries.pair_rows(conn, new), surplus, strict=True)
            result.added = len(new)
        else:
            result.surplus = [pair.id for pair in surplus]
        known = queries.trees_of(conn, 1, 1 + queries.count_pairs(conn))
        taking = _Taking(batch, holds, result)
        for pair, other in matches:
            if (trees := trees_of(other)) and trees != known.get(pair.k):
                result.trees.append(pair.id)
            taking.take(pair, other)
            if tell is not None:
                tell()
        batch.flush()
        result.pairs = len(matches)
    return result


def _corrected(pair: PairRow, other: SentencePair) -> Text | None:
    """Return the words of a pair as a corpus corrects them; None if they are the same."""
    old = tuple(pair.source), tuple(pair.target)
    source, target = old
    if other.source is not None:
        source = other.source
    if other.target is not None:
        target = other.target
    if (source, target) == old:
        return None
    return Text(pair.k, pair.rev + 1, source, target)


def _reword(
    batch: Batch, names: dict[int, str], pair: PairRow, text: Text, result: Imported
) -> PairRow:
    """Move the work of all annotators on a pair to its corrected words; return the pair."""
    result.reworded += 1
    conn = batch.conn
    rewording = Rewording((pair.source, pair.target), (text.source, text.target))
    for account, stream in queries.streams_of(conn, pair).items():
        writer = Writer(batch, account, names[account], pair, stream)
        old = writer.state
        new = reword(writer.state, rewording, text.rev)
        data = difference(old, new, how="text")
        data.from_ = pair.rev
        data.to = text.rev
        data.marks = new.marks
        result.carried += len(new.cells)
        kept = 0 if old.done else len(old.marks)
        result.lost += [(pair.k, pair.id, names[account], mark) for mark in new.marks[kept:]]
        before = log.encode([pair.source, pair.target])
        id = import_id(pair.k, names[account], before, log.encode(text))
        writer.add(new_event("text", id=id), data)
        writer.save()
    return pair._replace(rev=text.rev, source=list(text.source), target=list(text.target))


def _move_suggestions(conn: Connection, pairs: dict[int, PairRow], texts: dict[int, Text]) -> None:
    """Move the suggestions of pairs to their corrected words."""
    table = schema.suggestion.c
    rows: dict[str, list[tuple[int, list[Suggestion]]]] = {}
    for name, k in conn.execute(select(table.set, table.pair)).all():
        if k not in texts:
            continue
        new = texts[k].source, texts[k].target
        rewording = Rewording((pairs[k].source, pairs[k].target), new)
        stored = queries.suggestions_of(conn, name, k)[k]
        queries.check_cells(pairs[k], stored)
        cells: list[Suggestion] = []
        for i, j, p, strength in stored:
            place = rewording.cell((i, j))
            if place is not None:
                cells.append((*place, p, strength))
        rows.setdefault(name, []).append((k, cells))
    for name, some in rows.items():
        append_to_project(conn, Suggest(name, some))


class _Accounts(dict[str, int]):
    """The numbers of the annotators; a new annotator is registered when looked up."""

    def __init__(self, batch: Batch) -> None:
        super().__init__((name, id) for id, name in enumerate(queries.annotators(batch.conn), 1))
        self._batch = batch
        self.roles: dict[str, str] = {}  # of those who may be new

    def __missing__(self, name: str) -> int:
        if not name:
            raise ProjectError("an annotator of the corpus has an empty name; give it a name")
        self._batch.flush()
        self[name] = number = appending.enrolled(self._batch.conn, name, self.roles.get(name, ""))
        return number


class _Taking:
    """Import the annotations of pairs into their streams."""

    def __init__(self, batch: Batch, holds: frozenset[str], result: Imported) -> None:
        self._batch = batch
        self._holds = holds
        self._result = result
        self._accounts = _Accounts(batch)
        self._scheme = queries.scheme_of(batch.conn)
        self._log: dict[int, list[log.LogEvent]] | None = None  # of a pair, once it is asked

    def take(self, pair: PairRow, other: SentencePair) -> None:
        """Import all annotations of a pair."""
        if not other.annotations:
            return
        streams = queries.streams_of(self._batch.conn, pair)
        self._log = None
        for name, annotation in other.annotations.items():
            self._accounts.roles[name] = annotation.role
            try:
                account = self._accounts[name]
                stream = streams.get(account) or StreamRow(None, PairState(rev=pair.rev))
                self._merge(pair, account, name, stream, annotation)
            except ProjectError as problem:
                raise ProjectError(f"pair {pair.id!r}, {name!r}: {problem}") from None

    def _merge(
        self, pair: PairRow, account: int, name: str, stream: StreamRow, annotation: Annotation
    ) -> None:
        """Import an annotation into a stream, unless it says nothing new or is older."""
        wanted = merged(stream.state, annotation, self._holds, self._scheme)
        if stream.id is not None and self._says_nothing_new(stream.state, wanted):
            self._result.same += 1
            return
        if stream.id is not None and self._is_older(pair, account, annotation):
            self._result.older += 1
            return
        self._result.new += stream.id is None
        self._result.changed += stream.id is not None
        writer = Writer(self._batch, account, name, pair, stream)
        data = difference(stream.state, wanted, how="import")
        data.when = annotation.when or ""
        data.start = annotation.start
        if stream.state.seq:
            last = str(stream.state.seq).encode()
        else:
            last = pair.id.encode()
        id = import_id(pair.k, name, last, log.encode(data))
        writer.add(new_event("edit", name, id=id), data)
        writer.save()

    def _is_older(self, pair: PairRow, account: int, annotation: Annotation) -> bool:
        """Return whether an earlier state of the stream had all that an annotation says."""
        if self._log is None:
            self._log = queries.pair_log(self._batch.conn, pair.k)
        state = PairState()
        for event in self._log.get(account, ()):
            state.apply(event.kind, log.decode_data(event.data))
            if self._says_nothing_new(state, merged(state, annotation, self._holds, self._scheme)):
                return True
        return False

    def _says_nothing_new(self, state: PairState, wanted: PairState) -> bool:
        """Return whether a state differs from a wanted one in nothing but being done."""
        if annotation_of(state) is None:
            return False
        return difference(state, wanted) == difference(state, copied(state, done=wanted.done))


_Judged = tuple[str, tuple[str, ...]]
_Held = tuple[int | _Judged, str | None]  # a value with its reason


def with_both(mine: PairState, old: PairState, theirs: PairState) -> tuple[PairState, int]:
    """Return a state with the changes from `old` to `theirs`; and how many places both changed."""
    new = copied(mine)
    judged = any(log.JUDGMENT in state.whys for state in (mine, old, theirs))
    places = {log.JUDGMENT} if judged else set()
    places |= old.cells.keys() | old.whys.keys() | theirs.cells.keys() | theirs.whys.keys()
    places = {place for place in places if _held(old, place) != _held(theirs, place)}
    rest = msgspec.structs.replace(difference(old, theirs), how="import", cells=(), whys=())
    if judged:
        rest.label = rest.flags = None
    new.apply("edit", rest)
    both = 0
    for place in places:
        held = _held(mine, place)
        there = _held(theirs, place)
        if held == _held(old, place):
            _put(new, place, there)
        elif held[0] != there[0]:
            both += 1
            _put(new, place, (there[0], _without_votes(there[1] or held[1])))
        elif held[1] is None:
            _put(new, place, there)
    nulls = set()
    for i, j in new.cells:
        if NULL in (i, j):
            continue
        for null in ((i, NULL), (NULL, j)):
            if null in new.cells and not places.isdisjoint((null, (i, j))):
                nulls.add(null)
    for null in nulls:
        _put(new, null, (0, _without_votes(new.whys.get(null))))
    new.rejected -= new.cells.keys()
    new.bulk &= new.cells.keys()
    new.weights = {cell: weight for cell, weight in new.weights.items() if cell in new.cells}
    return new, both


def _held(state: PairState, place: log.Cell) -> _Held:
    if place == log.JUDGMENT:
        return (state.judgment, tuple(state.flags)), state.whys.get(place)
    return state.cells.get(place, 0), state.whys.get(place)


def _put(state: PairState, place: log.Cell, held: _Held) -> None:
    value, why = held
    if not isinstance(value, int):
        state.judgment = value[0]
        state.flags = list(value[1])
    else:
        log.put(state.cells, [(place, None, value or None)])
    log.put(state.whys, [(place, None, why)])


def _without_votes(text: str | None) -> str | None:
    return text and log.write_why(msgspec.structs.replace(log.read_why(text), votes={}))


def merge_project(
    store: Store,
    other: Store,
    *,
    in_order: bool = False,
    dry: bool = False,
    tell: Callable[[], None] | None = None,
) -> Imported:
    """Merge the work of another project into this one: all, or nothing if `dry`."""
    result = Imported()
    with _writing(store, dry=dry) as conn, other.database.reading() as there:
        others = list(queries.pair_rows(there))
        pairs = list(queries.pair_rows(conn))
        merging = _Merging(conn, there, result)
        surplus: list[PairRow] = []
        for pair, twin in joined(pairs, others, in_order=in_order, surplus=surplus):
            result.pairs += 1
            if (pair.source, pair.target) == (twin.source, twin.target):
                merging.merge(pair, twin)
            else:
                result.skipped.append(pair.id)
            if tell is not None:
                tell()
        merging.batch.flush()
        result.surplus = [twin.id for twin in surplus]
    return result


class _Merging:
    """Merge the streams of pairs of another project into those of the same pairs here."""

    def __init__(self, conn: Connection, there: Connection, result: Imported) -> None:
        self.batch = Batch(conn)
        self._conn = conn
        self._there = there
        self._result = result
        self._names = queries.annotators(there)
        self._starts = queries.starts(there)
        self._accounts = _Accounts(self.batch)
        self._accounts.roles |= queries.roles(there)

    def merge(self, pair: PairRow, twin: PairRow) -> None:
        """Merge all streams of a pair, given the same pair of the other project."""
        same_texts = self._have_same_texts(pair, twin)
        streams = queries.streams_of(self._conn, pair)
        for account, events in queries.pair_log(self._there, twin.k).items():
            name = self._names[account - 1]
            number = self._accounts[name]
            stream = streams.get(number) or StreamRow(None, PairState(rev=pair.rev))
            new = self._new_events(pair, name, events)
            if not new:
                self._result.same += 1
                continue
            writer = Writer(self.batch, number, name, pair, stream)
            shared = events[: len(events) - len(new)]
            if same_texts and self._is_at(stream, shared):
                for event in new:
                    writer.add(event, log.decode_data(event.data))
                changed = True
            else:
                start = self._starts.get((twin.k, account))
                changed = self._add_difference(writer, pair, name, shared, events, start)
            writer.save()
            if stream.id is None:
                self._result.new += 1
            elif changed:
                self._result.changed += 1
            else:
                self._result.same += 1

    def _have_same_texts(self, pair: PairRow, twin: PairRow) -> bool:
        """Return whether all revisions of the words of a pair are the same in both projects."""
        if pair.rev != twin.rev:
            return False
        if pair.rev == 1:
            return True
        return queries.texts_of(self._conn, pair.k) == queries.texts_of(self._there, twin.k)

    def _new_events(
        self, pair: PairRow, name: str, events: Sequence[log.LogEvent]
    ) -> Sequence[log.LogEvent]:
        """Return the events after the last that is here, itself or as an imported difference."""
        ids = [event.id for event in events]
        merged_ids = [import_id(pair.k, name, id.encode()) for id in ids]
        known = queries.known_events(self._conn, [*ids, *merged_ids])
        shared = 0
        for count, (id, merged_id) in enumerate(zip(ids, merged_ids, strict=True), 1):
            if id in known or merged_id in known:
                shared = count
        return events[shared:]

    def _is_at(self, stream: StreamRow, shared: Sequence[log.LogEvent]) -> bool:
        """Return whether a stream ends with the last of the events that both projects have."""
        last = queries.event_ids(self._conn, stream.id, stream.state.seq)[0]
        return last == (shared[-1].id if shared else None)

    def _add_difference(
        self,
        writer: Writer,
        pair: PairRow,
        name: str,
        shared: Sequence[log.LogEvent],
        events: Sequence[log.LogEvent],
        start: str | None,
    ) -> bool:
        """Add an edit with what the other project changed; return whether anything differs."""
        old = PairState()
        new = PairState()
        for count, event in enumerate(events, 1):
            new.apply(event.kind, log.decode_data(event.data))
            if count == len(shared):
                old = copied(new)
        if old.rev != new.rev:
            old = PairState(rev=new.rev)
        state, both = with_both(writer.state, old, new)
        self._result.both += both
        data = difference(writer.state, state)
        if data == log.Data():
            return False
        data.how = "import"
        data.when = last_change(events) or ""
        data.start = start
        id = import_id(pair.k, name, events[-1].id.encode())
        last = last_writing(events)
        actor = last.actor if last and last.actor else name
        writer.add(new_event("edit", actor, id=id), data)
        return True
