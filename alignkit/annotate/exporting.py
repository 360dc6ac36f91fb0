"""Turn a project into sentence pairs that any format can write."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from itertools import count, groupby, islice
from math import nan
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, select

from alignkit.annotate.creation import divider
from alignkit.annotate.project import events as log
from alignkit.annotate.project import queries, schema
from alignkit.annotate.project.conversion import annotation_of
from alignkit.annotate.project.names import ProjectError
from alignkit.annotate.project.queries import PairList, PairRow, last_change, last_changes
from alignkit.annotate.project.state import PairState
from alignkit.annotate.project.store import Store
from alignkit.errors import JoinError
from alignkit.model.annotation import Annotation, shared_start
from alignkit.model.labels import Scheme
from alignkit.model.sentence_pair import REWRITE_OF, SentencePair
from alignkit.model.trees import Tree
from alignkit.tables.columns import Cell, Column, Value
from alignkit.tables.result import TableResult
from alignkit.tables.table import Table

_CHUNK = 500


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
    """Yield pairs with their annotations; with `made`, also the pairs that annotators made."""
    with store.database.reading() as conn:
        account = None if annotator is None else queries.account_of(conn, annotator)
        own = None if account is None or not assigned else PairList(conn, account).numbers()
        if numbers is not None:
            own = {*numbers} if own is None else own.intersection(numbers)
        names = dict(enumerate(queries.annotators(conn), 1))
        roles, beginnings = _roles(conn, names)
        scheme = queries.scheme_of(conn)
        wanted = _Wanted(account, done, own, assigned, names, scheme, roles, beginnings)
        if made and queries.task_of(conn) == "extract":
            for k, states in _made(conn, "extracts"):
                yield from _pairs(conn, queries.pair_row(conn, k), states, wanted, "extracts")
            return
        rewritten = dict(_made(conn, "rewrites")) if made else {}
        judged = queries.judged_pairs(conn)
        pairs = queries.pair_rows(conn)
        for start in range(1, queries.count_pairs(conn) + 1, _CHUNK):
            said = _said(conn, start, wanted, judged, unfinished)
            trees = queries.trees_of(conn, start, start + _CHUNK)
            for pair in islice(pairs, _CHUNK):
                if own is not None and pair.k not in own:
                    continue
                kept: list[dict[str, Tree]] = [{}, {}]
                for side, named in trees.get(pair.k, {}).items():
                    target = side == "target"
                    for name, text in named.items():
                        tree = Tree.parse(text)
                        if list(tree.words) == (pair.target if target else pair.source):
                            kept[target][name] = tree
                        elif outdated is not None:
                            outdated[side] += 1
                words = pair.source, pair.target
                yield SentencePair(pair.id, *words, said[pair.k], pair.attributes, *kept)
                if pair.k in rewritten:
                    yield from _pairs(conn, pair, rewritten[pair.k], wanted, "rewrites")


exported_work = partial(exported, made=True)


def _roles(conn: Connection, names: Mapping[int, str]) -> tuple[dict[str | None, str], _Beginnings]:
    """Return the roles by name, and what annotators were shown.

    The alignment that is suggested is the initial one. An alignment that nobody was shown is none.
    """
    suggesting = queries.suggesting(conn)
    roles: dict[str | None, str] = {suggesting: "initial"}
    roles[queries.gold_name(conn)] = "adjudicated"
    taken = {role for name, role in roles.items() if name in names.values()}
    roles = {**dict.fromkeys(queries.sources(conn), "system"), **roles}
    for name, role in queries.roles(conn).items():  # the project's own keep theirs alone
        roles.setdefault(name, "system" if role in taken else role)
    people = {number for number, name in names.items() if name not in roles}
    beginnings = _Beginnings.read(conn, people)
    starts = [name for name, role in roles.items() if role == "initial"]
    for start in starts:
        if not beginnings.include(start):
            roles[start] = "system"
    return roles, beginnings


class _Beginnings(NamedTuple):
    """What annotators were shown to begin with, as far as it is known."""

    starts: Mapping[tuple[int, int], str]  # by pair and account
    people: Mapping[int, set[int]]  # for each pair the accounts of its annotators

    @classmethod
    def read(cls, conn: Connection, accounts: Collection[int]) -> _Beginnings:
        """Read what these accounts, of annotators, were shown."""
        people: defaultdict[int, set[int]] = defaultdict(set)
        table = schema.stream.c
        asked = select(table.pair, table.account).where(table.pair > 0)
        for k, account in conn.execute(asked):
            if account in accounts:
                people[k].add(account)
        return cls(queries.starts(conn), people)

    def of(self, k: int, account: int, role: str) -> str | None:
        """Return the start of an annotation; of the gold standard, what its annotators share."""
        own = self.people.get(k, set())
        if role == "adjudicated":
            return shared_start(self.starts.get((k, other)) for other in own)
        if account in own:
            return self.starts.get((k, account))
        return None

    def include(self, name: str | None) -> bool:
        """Return whether somebody started from an alignment, or this is not known."""
        places = [(k, account) for k, own in self.people.items() for account in own]
        known = {self.starts.get(place) for place in places}
        return not known or None in known or name in known


class _Wanted(NamedTuple):
    """The annotators whose work is exported."""

    account: int | None
    done: bool
    own: set[int] | None
    blind: bool
    names: Mapping[int, str]
    scheme: Scheme | None
    roles: Mapping[str | None, str]
    beginnings: _Beginnings

    def has(self, k: int, account: int, state: PairState) -> bool:
        mine = self.account in (None, account) and (self.own is None or k in self.own)
        return mine and (state.done or not self.done)


def _said(
    conn: Connection,
    start: int,
    wanted: _Wanted,
    judged: set[tuple[int, int]],
    unfinished: Counter[str] | None,
) -> defaultdict[int, dict[str, Annotation]]:
    """Return the annotations of a chunk of pairs, by pair and annotator."""
    table = schema.stream.c
    end = start + _CHUNK
    conditions = [table.pair >= start, table.pair < end]
    if wanted.account is not None:
        conditions.append(table.account == wanted.account)
    changed = last_changes(conn, start, end)
    said: defaultdict[int, dict[str, Annotation]] = defaultdict(dict)
    for k, account, state in queries.states(conn, *conditions):
        name = wanted.names[account]
        place = (k, account)
        annotation = annotation_of(state, wanted.scheme, changed.get(place), judged=place in judged)
        if annotation is None:
            continue
        if unfinished is not None and annotation.alignment is not None and not state.done:
            unfinished[name] += 1
        if state.done or not wanted.done:
            role = wanted.roles.get(name, "")
            aligned = annotation.alignment is not None
            if aligned:
                begun = wanted.beginnings.of(k, account, role)
            else:
                begun = None
            said[k][name] = replace(annotation, role=role, start=begun)
    return said


P = TypeVar("P", PairRow, SentencePair)


def joined(
    pairs: Sequence[PairRow], others: Iterable[P], *, in_order: bool, surplus: list[P]
) -> Iterator[tuple[PairRow, P]]:
    """Yield the pairs of a project with those of the same id; if ids repeat, by their order."""
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


@dataclass(frozen=True)
class Harvest:
    """The counts of the pairs that one annotator took."""

    annotator: str  # who
    documents: int  # how many pairs of documents are theirs
    done: int  # how many of them are marked done; of these, how many gave a pair, and how many none
    with_pairs: int
    without: int
    pairs: int  # the pairs taken from documents that are done
    open: int  # the pairs taken from others so far
    characters: int  # how many the texts of done documents have; how many of them are in a pair
    covered: int
    taken: int  # how many the texts of all pairs have

    @property
    def ratios(self) -> dict[str, float | None]:
        """The ratios of done documents; None if undefined."""
        parts = self.pairs, self.pairs, self.without, self.covered, self.taken
        wholes = self.done, self.with_pairs, self.done, self.characters, 2 * self.pairs
        terms = zip(_RATIOS, parts, wholes, strict=True)
        return {name: part / whole if whole else None for name, part, whole in terms}


_RATIOS = {
    "pairs_per_document": "number",
    "pairs_per_nonempty": "number",
    "empty": "percent",
    "coverage": "percent",
    "length": "number",
}


@dataclass(frozen=True)
class Yield(TableResult):
    """The pairs that all annotators of a project took from its documents."""

    rows: tuple[Harvest, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rows = [{**asdict(row), **row.ratios} for row in self.rows]
        return {"annotators": rows}

    def table(self) -> Table:
        """Return the table that is printed."""
        counts = ("documents", "done", "with pairs", "without", "pairs", "pairs of open ones")
        columns = [Column("annotator", "text"), *(Column(name, "count") for name in counts)]
        ratios = [Column(name.replace("_", " "), kind) for name, kind in _RATIOS.items()]
        rows: list[list[Cell]] = []
        for row in self.rows:
            if row.done:
                why = "no pair is taken"
            else:
                why = "no document is done yet"
            shown = (Value(nan, reason=why) if x is None else x for x in row.ratios.values())
            rows.append([*astuple(row)[: len(columns)], *shown])
        note = "coverage, length: characters of done documents in pairs, and of an extracted text"
        return Table("pairs taken from documents", [*columns, *ratios], rows, note)


def count_yield(store: Store) -> Yield:
    """Count the pairs taken from the documents of a project."""
    with store.database.reading() as conn:
        if (task := queries.task_of(conn)) != "extract":
            raise ProjectError(
                f"{store.path}: is a project to {task}; only projects made by `alignkit annotate "
                "--task extract` have pairs to count"
            )
        table = schema.stream.c
        rows: list[Harvest] = []
        gold = queries.gold_name(conn)
        for account, name in enumerate(queries.annotators(conn), 1):
            numbers = PairList(conn, account).numbers()
            own = queries.states(conn, table.account == account, table.pair > 0)
            states = [(k, state) for k, _, state in own if k in numbers]
            if states or (numbers and name != gold):
                done = {k: [*state.extracts.values()] for k, state in states if state.done}
                left = sum(len(state.extracts) for _, state in states if not state.done)
                without = sum(not spans for spans in done.values())
                pairs = sum(map(len, done.values()))
                counts = len(done), len(done) - without, without, pairs, left
                rows.append(Harvest(name, len(numbers), *counts, *_characters(conn, done)))
    return Yield(tuple(rows))


def _characters(conn: Connection, done: dict[int, list[log.Spans]]) -> tuple[int, int, int]:
    """Count the characters of documents, those in a pair, and those of the texts of all pairs."""
    characters = covered = taken = 0
    for k, spans in done.items():
        pair = queries.pair_row(conn, k)
        characters += sum(map(len, log.document_texts(pair.attributes, pair.source, pair.target)))
        for side in (0, 2):
            places = [range(*span[side : side + 2]) for span in spans]
            taken += sum(map(len, places))
            covered += len(set().union(*places))
    return characters, covered, taken


ORIGIN = {"rewrites": REWRITE_OF, "extracts": "extracted_from"}
"""The attribute of a made pair that names its original pair."""


def _made(conn: Connection, kind: str) -> Iterator[tuple[int, dict[int, PairState]]]:
    table = schema.stream.c
    rows = list(queries.states(conn, table.pair > 0, table.state.contains(f'"{kind}":[')))
    for k, own in groupby(rows, key=lambda row: row[0]):
        yield k, {account: state for _, account, state in own}


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
    make = partial(_rewrite, scheme=wanted.scheme) if kind == "rewrites" else _extract
    for made in sorted(by, key=lambda made: first[made]):
        yield make(pair, made, first[made], by[made])


def _rewrite(
    pair: PairRow,
    texts: tuple[str, str],
    number: int,
    times: Mapping[str, str | None],
    scheme: Scheme | None,
) -> SentencePair:
    if scheme is not None and scheme.order:
        best = scheme.order[-1]
    else:
        best = ""
    rewritten = Annotation(None, judgment=best, provenance=f"rewrite of {pair.id}")
    said = {name: replace(rewritten, when=when) for name, when in times.items()}
    attributes = {**pair.attributes, ORIGIN["rewrites"]: pair.id, "rewritten_by": ",".join(times)}
    source, target = map(divider(pair.attributes), texts)
    return SentencePair(f"{pair.id}/r{number}", source, target, said, attributes)


def _extract(
    pair: PairRow, spans: tuple[int, int, int, int], number: int, names: Iterable[str]
) -> SentencePair:
    texts = log.document_texts(pair.attributes, pair.source, pair.target)
    whole = (log.SOURCE_TEXT, log.TARGET_TEXT)
    attributes = {name: text for name, text in pair.attributes.items() if name not in whole}
    attributes |= {ORIGIN["extracts"]: pair.id, "extracted_by": ",".join(names)}
    divided = divider(pair.attributes)
    places = {"source": spans[:2], "target": spans[2:]}
    words = {}
    for (side, (begin, end)), text in zip(places.items(), texts, strict=True):
        words[side] = divided(text[begin:end])
        attributes |= {f"{side}_start": str(begin), f"{side}_end": str(end)}
        attributes[f"{side}_line"] = str(1 + text.count("\n", 0, begin))
    return SentencePair(f"{pair.id}/x{number}", words["source"], words["target"], {}, attributes)


def _numbered(
    conn: Connection, pair: PairRow, kind: str, alone: int | None = None
) -> dict[tuple[int, str], tuple[int, str | None]]:
    """Return the number and last change of everything that was ever made of a pair."""
    begun: dict[tuple[int, int, str], int] = {}
    changed: dict[tuple[int, int, str], str | None] = {}
    for k in _numbers(conn, pair.id):
        for account, events in queries.pair_log(conn, k).items():
            for event in events if alone in (None, account) else ():
                for key, _, after in getattr(log.decode_data(event.data), kind):
                    if after is not None:
                        begun.setdefault((k, account, key), event.n)
                        changed[k, account, key] = last_change([event])
    ordered = sorted(begun, key=lambda owner: (begun[owner], owner[1], log.key_number(owner[2])))
    begin = f"{pair.id}/{'r' if kind == 'rewrites' else 'x'}"
    free = (number for number in count(1) if not _numbers(conn, f"{begin}{number}"))
    numbers = zip(ordered, free, strict=False)
    return {owner[1:]: (number, changed[owner]) for owner, number in numbers if owner[0] == pair.k}


def _numbers(conn: Connection, id: str) -> list[int]:
    table = schema.pair.c
    return list(conn.execute(select(table.k).where(table.id == id, table.k > 0)).scalars())
