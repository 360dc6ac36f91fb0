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
from alignkit.model.alignment import SIDES
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
        account = None
        own: set[int] | None = None
        if annotator is not None:
            account = queries.account_of(conn, annotator)
            if assigned:
                own = PairList(conn, account).numbers()
        if numbers is not None:
            own = set(numbers) if own is None else own.intersection(numbers)
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
                fitting = _fitting_trees(pair, trees.get(pair.k, {}), outdated)
                yield SentencePair(
                    pair.id, pair.source, pair.target, said[pair.k], pair.attributes, *fitting
                )
                if pair.k in rewritten:
                    yield from _pairs(conn, pair, rewritten[pair.k], wanted, "rewrites")


exported_work = partial(exported, made=True)


def _fitting_trees(
    pair: PairRow, trees: Mapping[str, Mapping[str, str]], outdated: Counter[str] | None
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
        known = set[str | None]()
        for k, accounts in self.people.items():
            known.update(self.starts.get((k, account)) for account in accounts)
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
        """Return whether somebody's work on a pair is exported."""
        if self.account not in (None, account):
            return False
        if self.own is not None and k not in self.own:
            return False
        return state.done or not self.done


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
        aligned = annotation.alignment is not None
        if unfinished is not None and aligned and not state.done:
            unfinished[name] += 1
        if state.done or not wanted.done:
            role = wanted.roles.get(name, "")
            begun = wanted.beginnings.of(k, account, role) if aligned else None
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
        terms = {
            "pairs_per_document": (self.pairs, self.done),
            "pairs_per_nonempty": (self.pairs, self.with_pairs),
            "empty": (self.without, self.done),
            "coverage": (self.covered, self.characters),
            "length": (self.taken, 2 * self.pairs),
        }
        return {name: part / whole if whole else None for name, (part, whole) in terms.items()}


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
            reason = "no pair is taken" if row.done else "no document is done yet"
            undefined = Value(nan, reason=reason)
            shown = [undefined if ratio is None else ratio for ratio in row.ratios.values()]
            rows.append([*astuple(row)[: len(columns)], *shown])
        note = "coverage, length: characters of done documents in pairs, and of an extracted text"
        return Table("pairs taken from documents", [*columns, *ratios], rows, note)


def count_yield(store: Store) -> Yield:
    """Count the pairs taken from the documents of a project."""
    with store.database.reading() as conn:
        task = queries.task_of(conn)
        if task != "extract":
            raise ProjectError(
                f"{store.path}: is a project to {task}; only projects made by `alignkit annotate "
                "--task extract` have pairs to count"
            )
        table = schema.stream.c
        rows: list[Harvest] = []
        gold = queries.gold_name(conn)
        for account, name in enumerate(queries.annotators(conn), 1):
            numbers = PairList(conn, account).numbers()
            stored = queries.states(conn, table.account == account, table.pair > 0)
            states = [(k, state) for k, _, state in stored if k in numbers]
            if states or (numbers and name != gold):
                rows.append(_harvest(conn, name, len(numbers), states))
    return Yield(tuple(rows))


def _harvest(
    conn: Connection, name: str, documents: int, states: Iterable[tuple[int, PairState]]
) -> Harvest:
    """Count what an annotator took from documents, given the state of each that was opened."""
    done: dict[int, list[log.Spans]] = {}
    pairs_of_open = 0
    for k, state in states:
        if state.done:
            done[k] = list(state.extracts.values())
        else:
            pairs_of_open += len(state.extracts)
    without = sum(not spans for spans in done.values())
    characters, covered, taken = _characters(conn, done)
    return Harvest(
        annotator=name,
        documents=documents,
        done=len(done),
        with_pairs=len(done) - without,
        without=without,
        pairs=sum(map(len, done.values())),
        open=pairs_of_open,
        characters=characters,
        covered=covered,
        taken=taken,
    )


def _characters(conn: Connection, done: dict[int, list[log.Spans]]) -> tuple[int, int, int]:
    """Count the characters of documents, those in a pair, and those of the texts of all pairs."""
    characters = covered = taken = 0
    for k, spans in done.items():
        pair = queries.pair_row(conn, k)
        texts = log.document_texts(pair.attributes, pair.source, pair.target)
        characters += sum(map(len, texts))
        sources = [range(begin, end) for begin, end, _, _ in spans]
        targets = [range(begin, end) for _, _, begin, end in spans]
        for places in (sources, targets):
            taken += sum(map(len, places))
            covered += len(set().union(*places))
    return characters, covered, taken


ORIGIN = {"rewrites": REWRITE_OF, "extracts": "extracted_from"}
"""The attribute of a made pair that names its original pair."""


def _made(conn: Connection, kind: str) -> Iterator[tuple[int, dict[int, PairState]]]:
    """Yield the pairs that have rewrites, or extracts, with the states of who made them."""
    table = schema.stream.c
    rows = list(queries.states(conn, table.pair > 0, table.state.contains(f'"{kind}":[')))
    for k, states in groupby(rows, key=lambda row: row[0]):
        yield k, {account: state for _, account, state in states}


def _pairs(
    conn: Connection, pair: PairRow, states: dict[int, PairState], wanted: _Wanted, kind: str
) -> Iterator[SentencePair]:
    """Yield the pairs that annotators made of a pair, in the order of their numbers."""
    times = _numbered(conn, pair, kind, wanted.account if wanted.blind else None)
    if wanted.blind:
        states = {account: states[account] for account in states if account == wanted.account}
    numbers: dict[Any, int] = {}  # if several made the same, the number of the first
    makers: dict[Any, dict[str, str | None]] = {}  # who made it, and when
    for account, state in states.items():
        for key, made in getattr(state, kind).items():
            number, when = times[account, key]
            numbers[made] = min(number, numbers.get(made, number))
            if wanted.has(pair.k, account, state):
                makers.setdefault(made, {})[wanted.names[account]] = when
    make = partial(_rewrite, scheme=wanted.scheme) if kind == "rewrites" else _extract
    for made in sorted(makers, key=lambda made: numbers[made]):
        yield make(pair, made, numbers[made], makers[made])


def _rewrite(
    pair: PairRow,
    texts: tuple[str, str],
    number: int,
    times: Mapping[str, str | None],
    scheme: Scheme | None,
) -> SentencePair:
    """Return a rewrite as a pair, judged by its authors as the best of the scheme."""
    best = ""
    if scheme is not None and scheme.order:
        best = scheme.order[-1]
    rewritten = Annotation(None, judgment=best, provenance=f"rewrite of {pair.id}")
    said = {name: replace(rewritten, when=when) for name, when in times.items()}
    attributes = {**pair.attributes, ORIGIN["rewrites"]: pair.id, "rewritten_by": ",".join(times)}
    source, target = map(divider(pair.attributes), texts)
    return SentencePair(f"{pair.id}/r{number}", source, target, said, attributes)


def _extract(
    pair: PairRow, spans: tuple[int, int, int, int], number: int, names: Iterable[str]
) -> SentencePair:
    """Return a part of two documents as a pair, with its place in them as attributes."""
    texts = log.document_texts(pair.attributes, pair.source, pair.target)
    places = (spans[:2], spans[2:])
    whole = (log.SOURCE_TEXT, log.TARGET_TEXT)
    attributes = {name: text for name, text in pair.attributes.items() if name not in whole}
    attributes[ORIGIN["extracts"]] = pair.id
    attributes["extracted_by"] = ",".join(names)
    divided = divider(pair.attributes)
    words = []
    for side, text, (begin, end) in zip(SIDES, texts, places, strict=True):
        words.append(divided(text[begin:end]))
        attributes[f"{side}_start"] = str(begin)
        attributes[f"{side}_end"] = str(end)
        attributes[f"{side}_line"] = str(1 + text.count("\n", 0, begin))
    source, target = words
    return SentencePair(f"{pair.id}/x{number}", source, target, {}, attributes)


def _numbered(
    conn: Connection, pair: PairRow, kind: str, alone: int | None = None
) -> dict[tuple[int, str], tuple[int, str | None]]:
    """Return the number and last change of everything that was ever made of a pair."""
    begun: dict[tuple[int, int, str], int] = {}
    changed: dict[tuple[int, int, str], str | None] = {}
    for k in _numbers(conn, pair.id):
        for account, events in queries.pair_log(conn, k).items():
            if alone not in (None, account):
                continue
            for event in events:
                for key, _, after in getattr(log.decode_data(event.data), kind):
                    if after is not None:
                        begun.setdefault((k, account, key), event.n)
                        changed[k, account, key] = last_change([event])

    def age(owner: tuple[int, int, str]) -> tuple[int, int, int]:
        _, account, key = owner
        return begun[owner], account, log.key_number(key)

    begin = f"{pair.id}/r" if kind == "rewrites" else f"{pair.id}/x"
    free = (number for number in count(1) if not _numbers(conn, f"{begin}{number}"))
    numbered = {}
    for owner, number in zip(sorted(begun, key=age), free, strict=False):
        k, account, key = owner
        if k == pair.k:
            numbered[account, key] = (number, changed[owner])
    return numbered


def _numbers(conn: Connection, id: str) -> list[int]:
    """Return the numbers of the pairs with an id."""
    table = schema.pair.c
    return list(conn.execute(select(table.k).where(table.id == id, table.k > 0)).scalars())
