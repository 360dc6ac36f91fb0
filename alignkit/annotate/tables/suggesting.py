"""Store sets of suggestions: whole ones, and what is learned while pairs are annotated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from alignkit.annotate.errors import ProjectError, UnknownPair
from alignkit.annotate.log.clock import now
from alignkit.annotate.log.lessons import LearnedFrom, Lesson
from alignkit.annotate.log.project_events import Suggest, Suggestion
from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.appending import append_to_project
from alignkit.annotate.tables.building import learned_row, suggestion_row

LEARNED = "learned-"
"""How the names of learned sets begin; a number follows."""

Rows = Iterable[tuple[int, Sequence[Suggestion]]]

_CHUNK = 256
_table = schema.suggestion.c


def put_set(conn: Connection, name: str, rows: Rows) -> int:
    """Store a set in the place of one of that name; return how many pairs it holds."""
    stored = 0
    left = iter(rows)
    lengths = _lengths(queries.pair_rows(conn))
    conn.execute(delete(schema.suggestion).where(_table.set == name))
    if name == conn.execute(select(schema.project.c.suggestions)).scalar():
        show_base(conn)
    new = True
    while (some := list(islice(left, _CHUNK))) or new:
        chunk = [(k, _checked(k, cells, lengths)) for k, cells in some]
        append_to_project(conn, "suggest", Suggest(name, chunk, new))
        if chunk:
            conn.execute(insert(schema.suggestion), [suggestion_row(name, *row) for row in chunk])
        stored, new = stored + len(chunk), False
    return stored


def show_base(conn: Connection) -> None:
    """Show all pairs what the project's own set has for them."""
    pair = schema.pair
    conn.execute(update(pair).where(pair.c.suggested != "").values(suggested=""))


def add_learned(conn: Connection, name: str, rows: Rows, lesson: Lesson) -> str:
    """Store what was learned for some pairs, and show it in place of what was; return its set."""
    given = dict(rows)
    pairs = [pair for pair in queries.pair_rows(conn, given) if pair.rev == lesson.revs[pair.k]]
    lengths = _lengths(pairs)
    checked = [(k, _checked(k, given[k], lengths)) for k in lengths]
    if not checked:
        return name
    learned = None
    if not name:
        number, parent = _following(conn)
        name = f"{LEARNED}{number}"
        learned = LearnedFrom(parent, lesson.pairs, now(), lesson.before, lesson.after)
        conn.execute(insert(schema.learned_set).values(learned_row(number, name, learned)))
    append_to_project(conn, "suggest", Suggest(name, checked, learned=learned))
    _show(conn, name, checked)
    return name


def _show(conn: Connection, name: str, rows: Sequence[tuple[int, list[Suggestion]]]) -> None:
    own = schema.pair.c
    numbers = [{"of": k} for k, _ in rows]
    shown = select(own.suggested).where(own.k == bindparam("of"), own.suggested != name)
    before = delete(schema.suggestion).where(
        _table.pair == bindparam("of"), _table.set == shown.scalar_subquery()
    )
    conn.execute(before, numbers)
    conn.execute(
        update(schema.pair).where(own.k == bindparam("of")).values(suggested=name), numbers
    )
    conn.execute(insert(schema.suggestion), [suggestion_row(name, *row) for row in rows])


def _following(conn: Connection) -> tuple[int, str]:
    table = schema.learned_set.c
    last = conn.execute(select(table.number, table.set).order_by(table.number.desc())).first()
    any_shown = select(schema.pair.c.k).where(schema.pair.c.suggested != "").limit(1)
    if last is None or conn.execute(any_shown).first() is None:  # or the project's own came since
        base = conn.execute(select(schema.project.c.suggestions)).scalar()
        return 1 if last is None else last.number + 1, str(base)
    return last.number + 1, str(last.set)


def opened(conn: Connection, some: Sequence[int] | None = None) -> set[int]:
    """Return the pairs, or which of some, of which any page has sent something."""
    events, streams = schema.event.c, schema.stream.c
    asked = select(streams.pair).where(streams.id == events.stream, events.sent != "").distinct()
    if some is None:
        return set(conn.execute(asked).scalars())
    numbers: set[int] = set()
    for part in queries.portions(some):
        numbers.update(conn.execute(asked.where(streams.pair.in_(part))).scalars())
    return numbers


def _lengths(pairs: Iterable[queries.PairRow]) -> dict[int, tuple[int, int]]:
    return {pair.k: (len(pair.source), len(pair.target)) for pair in pairs}


def _checked(
    k: int, cells: Sequence[Suggestion], lengths: dict[int, tuple[int, int]]
) -> list[Suggestion]:
    if k not in lengths:
        raise UnknownPair(k, len(lengths))
    n, m = lengths[k]
    checked = []
    for i, j, p, strength in cells:
        if not (-1 <= i < n and -1 <= j < m) or i == j == -1 or strength not in (1, 2):
            raise ProjectError(f"pair {k}: a suggestion [{i}, {j}, {p}, {strength}] cannot be")
        checked.append((int(i), int(j), None if p is None else float(p), int(strength)))
    return checked
