"""Turn a project into sentence pairs that any format can write.

Each pair has the annotations of its annotators, each with the annotator's role (such as the initial
alignment, or the gold standard) and its *start*: the alignment that the annotator was shown to
begin with.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection, select

from alignkit.annotate.made_pairs import EXTRACTS, REWRITES, made_pairs, states_with
from alignkit.annotate.project import conversion, pair_lists, queries
from alignkit.annotate.project.schema import STREAM
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store
from alignkit.annotate.project.suggestions import Starts, read_starts
from alignkit.model.annotation import Annotation, shared_start
from alignkit.model.labels import Scheme
from alignkit.model.sentence_pair import SentencePair
from alignkit.model.trees import Tree

_CHUNK = 500  # pairs whose work is read at a time


def exported(
    store: Store,
    *,
    annotator: str | None = None,
    done: bool = False,
    unfinished: Counter[str] | None = None,
    assigned: bool = False,
    outdated: Counter[str] | None = None,
    made: bool = False,
    numbers: Collection[int] | None = None,
) -> Iterator[SentencePair]:
    """Yield the pairs of a project with their annotations.

    Parameters
    ----------
    annotator : Whose work; None: everybody's.
    done : Whether to leave out work that is not done.
    unfinished : Counts by annotator the alignments that are not done, also those left out.
    assigned : With `annotator`: whether to yield only the pairs in the annotator's list, as they
        are seen there. Pairs that others made are not even counted in numbers.
    outdated : Counts by side the trees that are left out, because words were corrected.
    made : Whether to yield the pairs that annotators made, too: rewrites after their original. If
        the task is to extract, the extracts are all that is yielded.
    numbers : The numbers of the only pairs to yield; None: all.
    """
    with store.reading() as conn:
        account = None
        if annotator is not None:
            account = queries.account_of(conn, annotator)
            if assigned:
                listed = pair_lists.PairList(conn, account).numbers()
                numbers = listed if numbers is None else listed.intersection(numbers)
        names = dict(enumerate(queries.annotators(conn), 1))
        wanted = _Wanted(account, done, None if numbers is None else set(numbers))
        scheme = queries.scheme_of(conn)
        make = partial(
            made_pairs,
            names=names,
            is_wanted=wanted.has,
            only=account if assigned else None,
            scheme=scheme,
        )
        if made and queries.task_of(conn) == "extract":
            for k, states in states_with(conn, EXTRACTS):
                yield from make(conn, queries.pair_row(conn, k), EXTRACTS, states)
            return
        rewritten = dict(states_with(conn, REWRITES)) if made else {}
        reading = _Reading(conn, names, scheme, unfinished)
        pairs = queries.pair_rows(conn)
        # pairs are numbered from 1 without gaps: so many rows are those of a chunk of numbers
        for first in range(1, queries.count_pairs(conn) + 1, _CHUNK):
            annotations = reading.annotations(first, first + _CHUNK, wanted)
            trees = queries.trees_of(conn, first, first + _CHUNK)
            for pair in islice(pairs, _CHUNK):
                if wanted.numbers is not None and pair.k not in wanted.numbers:
                    continue
                fitting = _fitting_trees(pair, trees.get(pair.k, {}), outdated)
                said = annotations.get(pair.k, {})
                yield SentencePair(
                    pair.id, pair.source, pair.target, said, pair.attributes, *fitting
                )
                if pair.k in rewritten:
                    yield from make(conn, pair, REWRITES, rewritten[pair.k])


exported_work = partial(exported, made=True)


class _Wanted(NamedTuple):
    """The work that is exported."""

    account: int | None  # of whom; None: of everybody
    done: bool  # only what is done
    numbers: set[int] | None  # on which pairs; None: on all

    def has(self, k: int, account: int, state: PairState) -> bool:
        """Return whether somebody's work on a pair is exported."""
        if self.account not in (None, account):
            return False
        if self.numbers is not None and k not in self.numbers:
            return False
        return state.done or not self.done


class _Reading:
    """Reads the annotations of a project; `unfinished` counts those that are not done."""

    def __init__(
        self,
        conn: Connection,
        names: Mapping[int, str],
        scheme: Scheme | None,
        unfinished: Counter[str] | None,
    ) -> None:
        self._conn = conn
        self._names = names
        self._scheme = scheme
        self._unfinished = unfinished
        self._judged = queries.judged_pairs(conn)
        self._roles = _given_roles(conn, names.values())
        people = {account for account, name in names.items() if name not in self._roles}
        self._starts = _Starts.read(conn, people)
        for name, role in self._roles.items():
            if role == "initial" and not self._starts.may_have(name):
                self._roles[name] = "system"  # nobody was shown it

    def annotations(
        self, first: int, end: int, wanted: _Wanted
    ) -> defaultdict[int, dict[str, Annotation]]:
        """Return the annotations of the pairs from `first` to `end` - 1, by pair and annotator."""
        conditions = [STREAM.pair >= first, STREAM.pair < end]
        if wanted.account is not None:
            conditions.append(STREAM.account == wanted.account)
        changed = queries.last_changes(self._conn, first, end)
        annotations: defaultdict[int, dict[str, Annotation]] = defaultdict(dict)
        for k, account, state in queries.states(self._conn, *conditions):
            name = self._names[account]
            place = (k, account)
            annotation = conversion.annotation_of(
                state, self._scheme, changed.get(place), judged=place in self._judged
            )
            if annotation is None:
                continue
            is_aligned = annotation.alignment is not None
            if self._unfinished is not None and is_aligned and not state.done:
                self._unfinished[name] += 1
            if state.done or not wanted.done:
                role = self._roles.get(name, "")
                start = self._starts.of(k, account, role) if is_aligned else None
                annotations[k][name] = replace(annotation, role=role, start=start)
        return annotations


def _fitting_trees(
    pair: queries.PairRow, trees: Mapping[str, Mapping[str, str]], outdated: Counter[str] | None
) -> tuple[dict[str, Tree], dict[str, Tree]]:
    """Return the source and target trees that have the pair's words now; count the others."""
    fitting: dict[str, dict[str, Tree]] = {"source": {}, "target": {}}
    words = {"source": pair.source, "target": pair.target}
    for side, named in trees.items():
        for name, text in named.items():
            tree = Tree.parse(text)
            if list(tree.words) == words[side]:
                fitting[side][name] = tree
            elif outdated is not None:
                outdated[side] += 1
    return fitting["source"], fitting["target"]


def _given_roles(conn: Connection, annotators: Collection[str]) -> dict[str, str]:
    """Return the roles of annotators who are not people, or make the gold standard.

    The first that fits:

    - adjudicated: the gold standard of the project;
    - initial: the alignment that is suggested;
    - system: whatever else suggestions come from;
    - the role with which an alignment was imported. If an annotator of the project has this role by
      the rules above, it is a system.
    """
    gold = queries.gold_name(conn)
    suggesting = queries.suggesting(conn)
    roles = {gold: "adjudicated"}
    if suggesting is not None:
        roles.setdefault(suggesting, "initial")
    taken = {role for name, role in roles.items() if name in annotators}
    for name in queries.sources(conn):
        roles.setdefault(name, "system")
    for name, role in queries.roles(conn).items():
        roles.setdefault(name, "system" if role in taken else role)
    return roles


class _Starts(NamedTuple):
    """What annotators were shown to begin with, as far as it is known."""

    shown: Starts  # by pair and account; see `read_starts`
    people: Mapping[int, set[int]]  # for each pair the accounts of its annotators

    @classmethod
    def read(cls, conn: Connection, accounts: Collection[int]) -> _Starts:
        """Read what these accounts, of annotators, were shown."""
        people: defaultdict[int, set[int]] = defaultdict(set)
        asked = select(STREAM.pair, STREAM.account).where(STREAM.pair > 0)
        for k, account in conn.execute(asked):
            if account in accounts:
                people[k].add(account)
        return cls(read_starts(conn), people)

    def of(self, k: int, account: int, role: str) -> str | None:
        """Return the start of an annotation; of the gold standard, what its annotators share."""
        people = self.people.get(k, set())
        if role == "adjudicated":
            return shared_start(self.shown.get((k, other)) for other in people)
        if account in people:
            return self.shown.get((k, account))
        return None

    def may_have(self, name: str) -> bool:
        """Return whether somebody was shown an alignment, or perhaps was."""
        starts = set[str | None]()
        for k, accounts in self.people.items():
            starts.update(self.shown.get((k, account)) for account in accounts)
        is_unknown = not starts or None in starts
        return is_unknown or name in starts
