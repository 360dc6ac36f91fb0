"""Take a corpus into a project: corrected words, and annotations made elsewhere.

Where words differ, they are corrected here, and the work on the pair is carried over (see
`rewording`). An annotation of somebody who has none here becomes a stream; one that differs from
what is here becomes one edit with the difference; one that this stream has been at before is older
work, and left. What the file's format cannot hold is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import starmap

from msgspec import Raw
from sqlalchemy import Connection, insert, select, update

from alignkit.annotate.assignment.assignment import add_pairs
from alignkit.annotate.errors import ProjectError
from alignkit.annotate.exchange.joining import joined
from alignkit.annotate.exchange.project import import_id
from alignkit.annotate.log.clock import now
from alignkit.annotate.log.conversion import annotation_of, difference, trees_of
from alignkit.annotate.log.events import Event, LogEvent, Mark, decode_data, encode
from alignkit.annotate.log.project_events import Suggest, Suggestion, Text, Texts
from alignkit.annotate.log.rewording import Rewording, reword
from alignkit.annotate.log.state import PairState, copied
from alignkit.annotate.log.taking_over import merged
from alignkit.annotate.store import Store
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.appending import Batch, Writer, append_to_project, enrolled
from alignkit.annotate.tables.building import searched, suggestion_row, text_row
from alignkit.annotate.tables.queries import PairRow, StreamRow
from alignkit.annotation import Annotation
from alignkit.sentence_pair import SentencePair


@dataclass
class Imported:
    """Count what an import did."""

    pairs: int = 0  # how many pairs of the file are in the project
    reworded: int = 0
    carried: int = 0
    lost: list[tuple[int, str, str, Mark]] = field(default_factory=list)
    new: int = 0
    changed: int = 0
    same: int = 0
    older: int = 0
    added: int = 0  # how many pairs are new in the project
    surplus: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    trees: list[str] = field(default_factory=list)
    both: int = 0


def import_pairs(
    store: Store,
    others: Iterable[SentencePair],
    *,
    holds: frozenset[str],
    in_order: bool = False,
    add: bool = False,
    tell: Callable[[], None] | None = None,
) -> Imported:
    """Take words and annotations of a corpus into a project: all, or nothing."""
    result = Imported()
    with store.database.writing() as conn:
        pairs = list(queries.pair_rows(conn))
        surplus: list[SentencePair] = []
        matches = list(joined(pairs, others, in_order=in_order, surplus=surplus))
        texts = {text.k: text for text in starmap(_corrected, matches) if text is not None}
        batch = Batch(conn)
        if (texts or (add and surplus)) and queries.task_of(conn) == "extract":
            raise ProjectError(
                "documents of which pairs are extracted stay as they are; make another project of "
                "the corrected or further ones"
            )
        if texts:
            append_to_project(conn, "text", Texts(list(texts.values())))
            _move_suggestions(conn, {pair.k: pair for pair in pairs}, texts)
            names = dict(enumerate(queries.annotators(conn), 1))
            matches = [
                (_reword(batch, names, pair, texts[pair.k], result), other)
                if pair.k in texts
                else (pair, other)
                for pair, other in matches
            ]
            batch.flush()
            conn.execute(insert(schema.pair_text), [text_row(text) for text in texts.values()])
        if add:
            new = add_pairs(conn, (replace(pair, annotations={}) for pair in surplus))
            matches += zip(queries.pair_rows(conn, new), surplus, strict=True)
            result.added = len(new)
        else:
            result.surplus = [pair.id for pair in surplus]
        known = queries.trees_of(conn, 1, 1 + queries.count_pairs(conn))
        result.trees = [
            pair.id
            for pair, other in matches
            if (trees := trees_of(other)) and trees != known.get(pair.k)
        ]
        taking = _Taking(batch, holds, result)
        for pair, other in matches:
            taking.take(pair, other)
            if tell is not None:
                tell()
        batch.flush()
        result.pairs = len(matches)
    return result


def _corrected(pair: PairRow, other: SentencePair) -> Text | None:
    source = tuple(pair.source) if other.source is None else other.source
    target = tuple(pair.target) if other.target is None else other.target
    if (source, target) == (tuple(pair.source), tuple(pair.target)):
        return None
    return Text(pair.k, pair.rev + 1, source, target)


def _reword(
    batch: Batch, names: dict[int, str], pair: PairRow, text: Text, result: Imported
) -> PairRow:
    result.reworded += 1
    conn = batch.conn
    rewording = Rewording((pair.source, pair.target), (text.source, text.target))
    for account, stream in queries.streams_of(conn, pair).items():
        writer = Writer(batch, account, names[account], pair, stream)
        old, new = writer.state, reword(writer.state, rewording, text.rev)
        data = difference(old, new, how="text")
        data.from_, data.to, data.marks = pair.rev, text.rev, new.marks
        result.carried += len(new.cells)
        kept = 0 if old.done else len(old.marks)
        result.lost += [(pair.k, pair.id, names[account], mark) for mark in new.marks[kept:]]
        words = encode([pair.source, pair.target])
        writer.add(
            imported_event("text", import_id(pair.k, names[account], words, encode(text))), data
        )
        writer.save()
    changed = {"rev": text.rev, "search": searched(pair.id, *text.source, *text.target)}
    conn.execute(update(schema.pair).where(schema.pair.c.k == pair.k).values(**changed))
    return pair._replace(rev=text.rev, source=list(text.source), target=list(text.target))


def _move_suggestions(conn: Connection, pairs: dict[int, PairRow], texts: dict[int, Text]) -> None:
    table = schema.suggestion.c
    rows: dict[str, list[tuple[int, list[Suggestion]]]] = {}
    for name, k in conn.execute(select(table.set, table.pair)).all():
        if k not in texts:
            continue
        new = texts[k].source, texts[k].target
        rewording = Rewording((pairs[k].source, pairs[k].target), new)
        stored = queries.suggestions_of(conn, name, k)
        queries.check_cells(pairs[k], stored)
        cells = [
            (*place, p, strength)
            for i, j, p, strength in stored
            if (place := rewording.cell((i, j))) is not None
        ]
        rows.setdefault(name, []).append((k, cells))
        asked = update(schema.suggestion).where(table.set == name, table.pair == k)
        conn.execute(asked.values(**suggestion_row(name, k, cells)))
    for name, some in rows.items():
        append_to_project(conn, "suggest", Suggest(name, some))


class Accounts:
    """The numbers of the annotators; registers new ones."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._numbers = {name: id for id, name in enumerate(queries.annotators(batch.conn), 1)}

    def number(self, name: str) -> int:
        """Return the number of an annotator."""
        if name not in self._numbers:
            if not name:
                raise ProjectError("an annotator of the corpus has an empty name; give it one")
            self._batch.flush()
            self._numbers[name] = enrolled(self._batch.conn, name)
        return self._numbers[name]


class _Taking:
    """Take the annotations of pairs into their streams."""

    def __init__(self, batch: Batch, holds: frozenset[str], result: Imported) -> None:
        self._batch, self._holds, self._result = batch, holds, result
        self._accounts = Accounts(batch)
        self._scheme = queries.scheme_of(batch.conn)
        self._log: dict[int, list[tuple[Event, str]]] | None = None  # of a pair, once it is asked

    def take(self, pair: PairRow, other: SentencePair) -> None:
        """Take all annotations of a pair."""
        """Take all annotations of a pair."""
        if not other.annotations:
            return
        streams = queries.streams_of(self._batch.conn, pair)
        self._log = None
        for name, annotation in other.annotations.items():
            try:
                account = self._accounts.number(name)
                stream = streams.get(account) or StreamRow(None, PairState(rev=pair.rev))
                self._merge(pair, account, name, stream, annotation)
            except ProjectError as problem:
                raise ProjectError(f"pair {pair.id!r}, {name!r}: {problem}") from None

    def _merge(
        self, pair: PairRow, account: int, name: str, stream: StreamRow, annotation: Annotation
    ) -> None:
        wanted = merged(stream.state, annotation, self._holds, self._scheme)
        if stream.id is None:
            self._result.new += 1
        elif self._says_nothing_new(stream.state, wanted):
            self._result.same += 1
            return
        elif self._is_older(pair, account, annotation):
            self._result.older += 1
            return
        else:
            self._result.changed += 1
        writer = Writer(self._batch, account, name, pair, stream)
        data = difference(stream.state, wanted, how="import")
        data.when = annotation.when or ""
        last = str(stream.state.seq).encode() if stream.state.seq else pair.id.encode()
        writer.add(imported_event("edit", import_id(pair.k, name, last, encode(data)), name), data)
        writer.save()

    def _is_older(self, pair: PairRow, account: int, annotation: Annotation) -> bool:
        if self._log is None:
            self._log = queries.pair_log(self._batch.conn, pair.k)
        state = PairState()
        for event, _ in self._log.get(account, ()):
            state.apply(event.kind, decode_data(event.data))
            wanted = merged(state, annotation, self._holds, self._scheme)
            if self._says_nothing_new(state, wanted):
                return True
        return False

    def _says_nothing_new(self, state: PairState, wanted: PairState) -> bool:
        if annotation_of(state) is None:
            return False
        return difference(state, wanted) == difference(state, copied(state, done=wanted.done))


def imported_event(kind: str, id: str, actor: str = "") -> LogEvent:
    """Return an event that no client has sent; its place and data come with `Writer.add`."""
    return LogEvent(id, 0, 0, kind, 1, actor, now(), "", 0, Raw(b"{}"))
