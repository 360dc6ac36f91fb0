"""Make a training round, end it, and let annotators begin without it.

A round has pairs whose links are known: pairs of the project that an annotator (such as the gold
standard) has finished, or pairs of a corpus. `training_answers` has what annotators do with it,
`training_table` how far they are; `project.training` says how answers are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import Connection, select

from alignkit._support.wording import how_many
from alignkit.annotate.assignment import assigned_rows, write_rows
from alignkit.annotate.project import conversion, queries
from alignkit.annotate.project.appending import append_to_project
from alignkit.annotate.project.events import comment_key, now, read_why
from alignkit.annotate.project.names import PASS_MARK, ProjectError, check_pass_mark
from alignkit.annotate.project.project_events import Admit, BeginTraining, TrainingPair
from alignkit.annotate.project.schema import (
    ACCOUNT,
    COUNTS,
    EVENT,
    EVENT_IS_IN_STREAM,
    IS_DONE,
    STREAM,
    STREAM_IS_OF_ACCOUNT,
)
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.training import MOST, round_to_change
from alignkit.annotate.reassignment import begun_pairs
from alignkit.errors import UnknownNameError
from alignkit.model.corpus import Corpus

_LISTED = 5  # ids in a message
_LANGUAGES = ("source_language", "target_language")
"""The attributes of a pair that annotators see in a round."""
_PairsById = dict[str, TrainingPair | None]
"""Pairs by id; None if their links are not known."""


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
    with store.reading() if dry_run else store.writing() as conn:
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
    with store.writing() as conn:
        round_to_change(conn)
        append_to_project(conn, BeginTraining(), actor)


def admit(store: Store, annotator: str, by: str, *, admitted: bool = True) -> None:
    """Let an annotator begin to work without passing, or take that back."""
    with store.writing() as conn:
        append_to_project(conn, Admit(annotator, by, now(), admitted), by)


def gold_names(conn: Connection) -> dict[str, int]:
    """Return the annotators of a project who have finished pairs, and how many; gold first."""
    finished = select(ACCOUNT.name).where(ACCOUNT.id == COUNTS.account, IS_DONE)
    number = Counter(conn.execute(finished).scalars())
    gold = queries.gold_name(conn)
    ordered = sorted(number, key=lambda name: (name != gold, name))
    return {name: number[name] for name in ordered}


def _pairs_of_project(conn: Connection, gold: str) -> _PairsById:
    """Return the pairs of a project by id; None if their links are not known."""
    account = queries.account_of(conn, gold)
    own = queries.states(conn, STREAM.account == account)
    states = {k: state for k, _, state in own if state.done}
    pairs: _PairsById = {}
    for row in queries.pair_rows(conn):
        if row.k in states:
            pairs[row.id] = _training_pair(row, states[row.k])
        else:
            pairs.setdefault(row.id, None)
    return pairs


def _pairs_of_corpus(corpus: Corpus, gold: str) -> _PairsById:
    """Return the pairs of a corpus by id; None if their links are not known."""
    if gold not in corpus.annotators:
        raise UnknownNameError("annotator", gold, corpus.annotators)
    pairs: _PairsById = {}
    for pair in corpus:
        annotation = pair.annotations.get(gold)
        if annotation is None or annotation.alignment is None:
            pairs.setdefault(pair.id, None)
            continue
        source, target = map(list, pair.words)
        row = queries.PairRow(0, pair.id, 1, dict(pair.attributes), source, target)
        pairs[pair.id] = _training_pair(row, conversion.state_of(annotation))
    return pairs


def _training_pair(pair: queries.PairRow, state: PairState) -> TrainingPair:
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
    known = pair.attributes
    languages = {name: known[name] for name in _LANGUAGES if name in known}
    source = tuple(pair.source)
    target = tuple(pair.target)
    return TrainingPair(pair.id, source, target, links, notes, pair.k, languages)


def _chosen(known: _PairsById, ids: Sequence[str], gold: str) -> list[TrainingPair]:
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
    asked = (
        select(ACCOUNT.name)
        .where(EVENT_IS_IN_STREAM, STREAM_IS_OF_ACCOUNT, STREAM.pair > 0)
        .where(EVENT.sent != "", EVENT.actor == ACCOUNT.name)
        .where(EVENT.kind.not_in(("open", "text")))
        .distinct()
    )
    names = set(conn.execute(asked).scalars()) - queries.not_annotating(conn) - {gold}
    return [name for name in queries.annotators(conn) if name in names]


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
