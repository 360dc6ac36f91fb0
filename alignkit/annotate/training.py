"""Make a training round, let annotators answer its pairs, and say what differs and who passed.

A round has pairs whose links are known: pairs of the project that an annotator (such as the gold
standard) has finished, or pairs of a corpus. `project.training` says how answers are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isnan, nan
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, to_builtins
from sqlalchemy import Connection, select

from alignkit._support.wording import how_many
from alignkit.annotate.assignment import assigned_rows, write_rows
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.appending import append_to_project
from alignkit.annotate.project.conversion import state_of
from alignkit.annotate.project.events import comment_key, now, read_why
from alignkit.annotate.project.names import PASS_MARK, ProjectError, check_pass_mark
from alignkit.annotate.project.project_events import (
    Admit,
    AnswerTraining,
    BeginTraining,
    TrainingPair,
    Value,
)
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.training import (
    RoundInForce,
    Standing,
    TrainingCounts,
    compared,
    present_round,
    standing,
    standings,
    total,
)
from alignkit.annotate.reassignment import begun_pairs
from alignkit.errors import UnknownNameError
from alignkit.model.corpus import Corpus
from alignkit.tables.columns import Cell as TableCell
from alignkit.tables.columns import Column
from alignkit.tables.table import Table

MOST = 100  # pairs of a round
_LISTED = 5  # ids in a message
_LANGUAGES = ("source_language", "target_language")

# Making a round


class RoundMade(Struct):
    """A training round that was begun: its pairs, and what that changed."""

    pairs: list[str]  # their ids, in order
    links: int  # of gold, in all of them
    taken_back: int  # assigned pairs that are for training now, each counted for each annotator
    begun: list[str]  # who need not train, because they have begun to work
    left: int  # pairs of the project that are not for training


def begin_training(
    store: Store,
    *,
    gold: str,
    mark: float = PASS_MARK,
    ids: Sequence[str] = (),
    corpus: Corpus | None = None,
    assigned: bool = False,
    dry_run: bool = False,
    actor: str = "",
) -> RoundMade:
    """Begin a training round, instead of the one in force.

    Parameters
    ----------
    store : The project.
    gold : Whose links are right: an annotator of the project, or of the corpus.
    mark : The F1 of links, above 0 and at most 1, that passes.
    ids : The pairs, in order; without ids all that `gold` has finished.
    corpus : Where the pairs come from; None for the project.
    assigned : Whether pairs of the project may be taken only if pairs are assigned. Otherwise
        everybody would be given the training pairs to annotate, too.
    dry_run : Whether to store nothing.
    actor : Who does it.

    Raises
    ------
    ProjectError : If the round is impossible; the message says why.
    """
    with store.database.reading() if dry_run else store.database.writing() as conn:
        if queries.task_of(conn) != "align":
            raise ProjectError("a training round is for links; this project has another task")
        check_pass_mark(mark)
        if corpus is None:
            if assigned and not queries.has_assignments(conn):
                raise ProjectError(
                    "assign pairs first (alignkit project assign): without that, everybody is "
                    "given the training pairs to annotate, too"
                )
            pairs = _chosen(_pairs_of_project(conn, gold), ids, gold)
        else:
            pairs = _chosen(_pairs_of_corpus(corpus, gold), ids, gold)
        links = sum(len(pair.links) for pair in pairs)
        if not links:
            raise ProjectError(f"{gold} has no link in these pairs; choose others")
        begun = _begun(conn, gold)
        numbers = {pair.k for pair in pairs}
        kept = begun_pairs(conn)
        own = [row for row in assigned_rows(conn) if row.k in numbers]
        gone = [row for row in own if (row.k, row.annotator) not in kept]
        if not dry_run:
            if gone:
                write_rows(conn, [], None, gone, actor)
            append_to_project(conn, BeginTraining(pairs, gold, mark, begun), actor)
        left = queries.count_pairs(conn) - len(numbers - {0})
    return RoundMade([pair.id for pair in pairs], links, len(gone), begun, left)


def end_training(store: Store, actor: str = "") -> None:
    """End the training round: all may work."""
    with store.database.writing() as conn:
        if present_round(conn) is None:
            raise ProjectError("there is no training round")
        append_to_project(conn, BeginTraining(), actor)


def admit(store: Store, annotator: str, by: str, *, admitted: bool = True) -> None:
    """Let an annotator begin to work without passing, or take that back."""
    with store.database.writing() as conn:
        append_to_project(conn, Admit(annotator, by, now(), admitted), by)


def gold_names(conn: Connection) -> dict[str, int]:
    """Return the annotators of a project who have finished pairs, and how many; gold first."""
    counts = schema.pair_counts.c
    account = schema.account.c
    finished = select(account.name).where(account.id == counts.account, counts.done.is_(True))
    number = Counter(conn.execute(finished).scalars())
    gold = queries.gold_name(conn)
    ordered = sorted(number, key=lambda name: (name != gold, name))
    return {name: number[name] for name in ordered}


def _pairs_of_project(conn: Connection, gold: str) -> dict[str, TrainingPair | None]:
    """Return the pairs of a project by id; None if their links are not known."""
    account = queries.account_of(conn, gold)
    own = queries.states(conn, schema.stream.c.account == account)
    states = {k: state for k, _, state in own if state.done}
    pairs: dict[str, TrainingPair | None] = {}
    for row in queries.pair_rows(conn):
        if row.k in states:
            pairs[row.id] = _training_pair(
                row.id, row.source, row.target, states[row.k], row.attributes, row.k
            )
        else:
            pairs.setdefault(row.id, None)
    return pairs


def _pairs_of_corpus(corpus: Corpus, gold: str) -> dict[str, TrainingPair | None]:
    """Return the pairs of a corpus by id; None if their links are not known."""
    if gold not in corpus.annotators:
        raise UnknownNameError("annotator", gold, corpus.annotators)
    pairs: dict[str, TrainingPair | None] = {}
    for pair in corpus:
        annotation = pair.annotations.get(gold)
        if annotation is None or annotation.alignment is None:
            pairs.setdefault(pair.id, None)
            continue
        source, target = pair.words
        state = state_of(annotation)
        pairs[pair.id] = _training_pair(pair.id, source, target, state, pair.attributes)
    return pairs


def _training_pair(
    id: str,
    source: Sequence[str],
    target: Sequence[str],
    state: PairState,
    attributes: Mapping[str, str],
    k: int = 0,
) -> TrainingPair:
    """Return a pair with the links and the notes of a state."""
    links = [(i, j, value) for (i, j), value in sorted(state.cells.items()) if min(i, j) >= 0]
    notes = {}
    for (i, j), text in state.whys.items():
        note = read_why(text).note
        if note and min(i, j) >= 0:
            notes[f"{i}-{j}"] = note
    for key, text in state.comments.items():
        cell = comment_key(key)
        if cell is None or min(cell) >= 0:
            notes[key] = text
    languages = {name: attributes[name] for name in _LANGUAGES if name in attributes}
    return TrainingPair(id, tuple(source), tuple(target), links, notes, k, languages)


def _chosen(
    known: Mapping[str, TrainingPair | None], ids: Sequence[str], gold: str
) -> list[TrainingPair]:
    """Return the pairs with some ids, or all whose links are known."""
    if not ids:
        pairs = [pair for pair in known.values() if pair is not None]
        if not pairs:
            raise ProjectError(f"{gold} has not finished any pair")
        if len(pairs) > MOST:
            raise ProjectError(
                f"{gold} has finished {len(pairs):,} pairs; name up to {MOST} of them by their ids"
            )
        return pairs
    if len(ids) > MOST:
        raise ProjectError(f"a training round has at most {MOST} pairs; these are {len(ids):,}")
    twice = [id for id, count in Counter(ids).items() if count > 1]
    unknown = [id for id in ids if id not in known]
    missing = [id for id in ids if id in known and known[id] is None]
    for listed, what in (
        (twice, "named twice"),
        (unknown, "no pair has this id"),
        (missing, f"{gold} has not finished them"),
    ):
        if listed:
            raise ProjectError(f"{_some(listed)}: {what}")
    return [pair for pair in map(known.get, ids) if pair is not None]


def _some(ids: Sequence[str]) -> str:
    """Return the first of some ids, in words."""
    text = ", ".join(ids[:_LISTED])
    if len(ids) > _LISTED:
        text += f" and {len(ids) - _LISTED} more"
    return text


def _begun(conn: Connection, gold: str) -> list[str]:
    """Return who has begun to work on the project, in the order of entry."""
    event = schema.event_table.c
    stream = schema.stream.c
    account = schema.account.c
    asked = (
        select(account.name)
        .where(event.stream == stream.id, account.id == stream.account, stream.pair > 0)
        .where(event.sent != "", event.actor == account.name)
        .where(event.kind.not_in(("open", "text")))
        .distinct()
    )
    others = {gold, queries.gold_name(conn), *queries.sources(conn)}
    names = set(conn.execute(asked).scalars()) - others
    return [name for name in queries.annotators(conn) if name in names]


# Answering


Cell = tuple[
    Annotated[int, Meta(ge=0, le=10_000)],
    Annotated[int, Meta(ge=0, le=10_000)],
    Literal[1, 2],
]


class TrainingAnswer(Struct, forbid_unknown_fields=True):
    """The links of an annotator on a training pair; 1 is possible, 2 sure."""

    round: Annotated[int, Meta(ge=1, le=2**31)]
    attempt: Annotated[int, Meta(ge=1, le=2**31)]
    place: Annotated[int, Meta(ge=1, le=MOST)]
    links: Annotated[list[Cell], Meta(max_length=20_000)]


class CellDifference(Struct):
    """A cell in which an answer differs from gold: 0 no link, 1 possible, 2 sure."""

    cell: tuple[int, int]
    own: int
    gold: int
    note: str = ""  # why gold is right


class TrainingReport(Struct):
    """What came of an answer."""

    id: str
    attempt: int
    place: int
    f1: float | None  # of this pair; None if there is no link
    common: int  # links in the answer and in gold
    drawn: int  # links in the answer
    wanted: int  # links in gold
    differences: list[CellDifference]
    note: str  # on the pair, in gold
    so_far: float | None  # F1 of this attempt
    state: Literal["open", "failed", "passed"]


class TrainingSummary(Struct):
    """What a page needs to know to begin with the training."""

    size: int
    mark: float


class TrainingTurn(Struct):
    """The next training pair of an annotator; none if there is nothing to train."""

    round: int = 0
    size: int = 0
    mark: float = 0.0
    attempt: int = 0
    place: int = 0
    failed: float | None = None  # F1 of the attempt before, which did not pass
    so_far: float | None = None  # F1 of this attempt, up to the pair before
    pair: queries.PairView | None = None


def summary(conn: Connection, annotator: str) -> TrainingSummary | None:
    """Return what an annotator has to pass; None if there is nothing."""
    in_force = present_round(conn)
    if in_force is None:
        return None
    is_known = annotator in queries.annotators(conn)  # who is not has passed nothing
    if is_known and not queries.must_train(conn, queries.account_of(conn, annotator)):
        return None
    return TrainingSummary(len(in_force.pairs), in_force.mark)


def turn(conn: Connection, annotator: str) -> TrainingTurn:
    """Return the next training pair of an annotator, without anything of gold."""
    account = queries.account_of(conn, annotator)
    in_force = present_round(conn)
    if in_force is None or not queries.must_train(conn, account):
        return TrainingTurn()
    known = standing(conn, in_force.number, account)
    size = len(in_force.pairs)
    attempt, place = known.next(size)
    before = [given.counts for given in known.of_attempt(attempt)]
    failed = None
    if attempt > 1 and place == 1:
        failed = known_f1(total(given.counts for given in known.of_attempt(attempt - 1)))
    pair = in_force.pairs[place - 1]
    state, undo, redo = queries.viewed(conn, queries.StreamRow(None, PairState(rev=1)))
    view = queries.PairView(
        k=place,
        id=pair.id,
        pairs=size,
        done=place - 1,
        place=place,
        previous=None,
        next=None,
        next_open=None,
        rev=1,
        source=list(pair.source),
        target=list(pair.target),
        attributes=pair.languages,
        state=state,
        undo=undo,
        redo=redo,
        n=0,
        suggestions=None,
    )
    so_far = known_f1(total(before)) if before else None
    return TrainingTurn(in_force.number, size, in_force.mark, attempt, place, failed, so_far, view)


def answer(conn: Connection, annotator: str, sent: TrainingAnswer) -> TrainingReport:
    """Store an answer, unless it is stored already, and report what differs from gold."""
    in_force = present_round(conn)
    if in_force is None or in_force.number != sent.round:
        raise ProjectError("the training round was changed; load the page again")
    account = queries.account_of(conn, annotator)
    known = standing(conn, in_force.number, account)
    stored = [given for given in known.of_attempt(sent.attempt) if given.place == sent.place]
    links: list[Value] = sorted(sent.links)
    if not stored:
        event = AnswerTraining(annotator, sent.attempt, sent.place, links, now())
        append_to_project(conn, event, annotator)
        known = standing(conn, in_force.number, account)
    elif sorted(stored[0].links) != links:
        raise ProjectError("this training pair was answered already; load the page again")
    return _report(in_force, known, sent.attempt, sent.place, links)


def _report(
    in_force: RoundInForce, known: Standing, attempt: int, place: int, links: list[Value]
) -> TrainingReport:
    """Return what came of an answer."""
    pair = in_force.pairs[place - 1]
    counts = compared(links, pair.links)
    given = [each.counts for each in known.of_attempt(attempt) if each.place <= place]
    state: Literal["open", "failed", "passed"] = "open"
    if place == len(in_force.pairs):
        state = "failed" if known.entry is None else "passed"
    return TrainingReport(
        id=pair.id,
        attempt=attempt,
        place=place,
        f1=known_f1(counts),
        common=counts.common,
        drawn=counts.drawn,
        wanted=counts.wanted,
        differences=differences(links, pair),
        note=pair.notes.get("", ""),
        so_far=known_f1(total(given)),
        state=state,
    )


def differences(links: Iterable[Value], pair: TrainingPair) -> list[CellDifference]:
    """Return the cells in which links differ from gold, in reading order, with their notes."""
    own = {(i, j): value for i, j, value in links}
    gold = {(i, j): value for i, j, value in pair.links}
    differing = []
    for i, j in sorted(own.keys() | gold.keys()):
        drawn = own.get((i, j), 0)
        right = gold.get((i, j), 0)
        if drawn != right:
            note = pair.notes.get(f"{i}-{j}", "")
            differing.append(CellDifference((i, j), drawn, right, note))
    return differing


def known_f1(counts: TrainingCounts) -> float | None:
    """Return F1; None if there is no link."""
    return None if isnan(counts.f1) else counts.f1


# Who passed


class TrainingLine(Struct):
    """How far an annotator is in the training round."""

    name: str
    # `open` is in the middle of an attempt, `failed` has not passed and not begun again
    state: Literal["passed", "by hand", "begun", "failed", "open", "not begun"]
    attempt: int = 0
    done: int = 0  # answered pairs of this attempt
    f1: float | None = None  # over them
    at: str = ""  # when the annotator passed, or was let in
    by: str = ""  # who did that


class TrainingTable(Struct):
    """The training round in force, and how far all are."""

    round: int
    gold: str
    pairs: list[str]  # their ids
    mark: float
    lines: list[TrainingLine]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain values."""
        values: dict[str, Any] = to_builtins(self)
        return values


def training_table(conn: Connection, names: Collection[str] = ()) -> TrainingTable | None:
    """Return how far annotators are, also those of some names or with pairs who have not begun.

    It is None if there is no round. Answers to training pairs are counted here alone.
    """
    in_force = present_round(conn)
    if in_force is None:
        return None
    size = len(in_force.pairs)
    known = standings(conn, in_force.number)
    names = {*names, *(row.annotator for row in assigned_rows(conn))}
    lines = []
    annotators = queries.annotators(conn)
    for account, name in enumerate(annotators, 1):
        if account in known:
            lines.append(_line(name, known[account], size))
        elif name in names:
            lines.append(TrainingLine(name, "not begun"))
    absent = sorted(names.difference(annotators))  # who were never here yet
    lines.extend(TrainingLine(name, "not begun") for name in absent)
    ids = [pair.id for pair in in_force.pairs]
    return TrainingTable(in_force.number, in_force.gold, ids, in_force.mark, lines)


def _line(name: str, known: Standing, size: int) -> TrainingLine:
    """Return how far an annotator is, who has answered or may work."""
    entry = known.entry
    attempt = known.last
    if entry is not None and entry.attempt:
        attempt = entry.attempt
    given = known.of_attempt(attempt)
    f1 = known_f1(total(each.counts for each in given)) if given else None
    line = TrainingLine(name, "open", attempt, len(given), f1)
    if entry is not None:
        line.state = entry.how  # type: ignore[assignment]
        line.at = entry.at
        line.by = entry.by
    elif len(given) == size:
        line.state = "failed"
    return line


def printed(table: TrainingTable) -> Table:
    """Return who has passed, as a table."""
    columns = [
        Column("annotator"),
        Column("training"),
        Column("attempt", "count"),
        Column("pairs", "count"),
        Column("F1", "percent"),
        Column("at"),
        Column("by"),
    ]
    rows: list[list[TableCell]] = []
    for line in table.lines:
        f1 = nan if line.f1 is None else line.f1
        rows.append([line.name, line.state, line.attempt, line.done, f1, line.at[:10], line.by])
    title = (
        f"Training round: {how_many(len(table.pairs), 'pair')} with the links of {table.gold}; "
        f"F1 of {100 * table.mark:.1f}% passes"
    )
    return Table(title, columns, rows, "" if rows else "nobody has begun yet")


def made_in_words(made: RoundMade, mark: float) -> list[str]:
    """Return what came of beginning a round, in sentences."""
    said = [
        f"Training round: {how_many(len(made.pairs), 'pair')}, {how_many(made.links, 'link')}; "
        f"F1 of {100 * mark:.1f}% passes."
    ]
    if made.taken_back:
        said.append(f"Back to nobody, for training: {how_many(made.taken_back, 'pair')} not begun.")
    if not made.left:
        said.append("No other pair is left to annotate: choose fewer pairs for training.")
    if made.begun:
        said.append(f"Have begun to work, and need not train: {', '.join(made.begun)}.")
    return said
