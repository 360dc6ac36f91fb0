"""Import a corpus into a project: corrected words, and annotations made elsewhere.

`merging` has what is done with another project instead of a corpus.

If words differ, they are corrected in the project, and the work on the pair is carried over (see
`rewording`). The annotation of a new annotator becomes a stream. An annotation that differs from
the project becomes one edit with the difference. If it equals an earlier state of the stream, it is
older work and is ignored. Whatever the file's format cannot represent stays unchanged.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, select

from alignkit.annotate.assignment import add_pairs
from alignkit.annotate.creation import import_id
from alignkit.annotate.project import appending, queries
from alignkit.annotate.project import events as log
from alignkit.annotate.project.appending import Batch, Writer, append_to_project, new_event
from alignkit.annotate.project.conversion import annotation_of, difference, merged, trees_of
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.project_events import Suggest, Suggestion, Text, Texts
from alignkit.annotate.project.queries import PairRow, StreamRow
from alignkit.annotate.project.rewording import Rewording, reword
from alignkit.annotate.project.schema import SUGGESTION
from alignkit.annotate.project.state import PairState, copied
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.suggestions import suggestions_of
from alignkit.errors import JoinError
from alignkit.model.annotation import Annotation
from alignkit.model.sentence_pair import SentencePair


@dataclass
class Imported:
    """What came of an import: counts, and the ids of pairs that need a look."""

    pairs: int = 0  # pairs of the file that are in the project, also those that were added
    reworded: int = 0  # pairs with corrected words
    carried: int = 0  # links and nulls that stay on them
    lost: list[tuple[int, str, str, log.Mark]] = field(default_factory=list)
    """Those that do not: the pair and its id, the annotator, and what was lost."""
    new: int = 0  # annotations of which the project had nothing
    changed: int = 0  # annotations that differed
    same: int = 0  # annotations that were the same
    older: int = 0  # annotations that were an earlier state
    added: int = 0  # pairs that are new in the project
    surplus: list[str] = field(default_factory=list)  # pairs that the project does not have
    skipped: list[str] = field(default_factory=list)  # pairs with other words
    trees: list[str] = field(default_factory=list)  # pairs with other trees
    both: int = 0  # places that were changed here and in the file

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


P = TypeVar("P", PairRow, SentencePair)


def joined(
    pairs: Sequence[PairRow], others: Iterable[P], *, in_order: bool, surplus: list[P]
) -> Iterator[tuple[PairRow, P]]:
    """Yield the pairs of a project with those of the same id; if ids repeat, by their order.

    With `in_order`, all are joined by their order alone. Pairs that the project does not have are
    added to `surplus`.
    """
    if in_order:
        rest = list(others)
        if len(rest) != len(pairs):
            raise JoinError(
                f"the project has {len(pairs)} pairs, and the corpus has {len(rest)}: to join "
                "by order, the numbers must be equal"
            )
        yield from zip(pairs, rest, strict=True)
        return
    waiting: defaultdict[str, deque[PairRow]] = defaultdict(deque)
    for pair in pairs:
        waiting[pair.id].append(pair)
    for other in others:
        if waiting[other.id]:
            yield waiting[other.id].popleft(), other
        else:
            surplus.append(other)


@contextmanager
def writing_import(store: Store, *, dry: bool) -> Iterator[Connection]:
    """Open a connection for an import; a dry run is taken back at the end."""
    with store.writing() as conn:
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
    tell: Callable[[], None] = lambda: None,
) -> Imported:
    """Import words and annotations of a corpus into a project: all, or nothing if `dry`."""
    result = Imported()
    with writing_import(store, dry=dry) as conn:
        pairs = list(queries.pair_rows(conn))
        surplus: list[SentencePair] = []
        matches = list(joined(pairs, others, in_order=in_order, surplus=surplus))
        texts = {}
        for pair, other in matches:
            text = _corrected(pair, other)
            if text is not None:
                texts[pair.k] = text
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
            for place, (pair, other) in enumerate(matches):
                if pair.k in texts:
                    reworded = _reword(batch, names, pair, texts[pair.k], result)
                    matches[place] = (reworded, other)
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
        new = reword(old, rewording, text.rev)
        data = difference(old, new, how="text")
        data.from_ = pair.rev
        data.to = text.rev
        data.marks = new.marks
        result.carried += len(new.cells)
        kept = 0 if old.done else len(old.marks)  # marks of before stay until the pair is done
        result.lost += [(pair.k, pair.id, names[account], mark) for mark in new.marks[kept:]]
        before = log.encode([pair.source, pair.target])
        id = import_id(pair.k, names[account], before, log.encode(text))
        writer.add(new_event("text", id=id), data)
        writer.save()
    return pair._replace(rev=text.rev, source=list(text.source), target=list(text.target))


def _move_suggestions(conn: Connection, pairs: dict[int, PairRow], texts: dict[int, Text]) -> None:
    """Move the suggestions of pairs to their corrected words."""
    rows: dict[str, list[tuple[int, list[Suggestion]]]] = {}
    for name, k in conn.execute(select(SUGGESTION.set, SUGGESTION.pair)).all():
        if k not in texts:
            continue
        new = texts[k].source, texts[k].target
        rewording = Rewording((pairs[k].source, pairs[k].target), new)
        stored = suggestions_of(conn, name, k)[k]
        queries.check_cells(pairs[k], stored)
        cells: list[Suggestion] = []
        for i, j, p, strength in stored:
            place = rewording.cell((i, j))
            if place is not None:
                cells.append((*place, p, strength))
        rows.setdefault(name, []).append((k, cells))
    for name, some in rows.items():
        append_to_project(conn, Suggest(name, some))


class ImportAccounts(dict[str, int]):
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
        self._accounts = ImportAccounts(batch)
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
        if stream.id is None:
            self._result.new += 1
        else:
            self._result.changed += 1
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
