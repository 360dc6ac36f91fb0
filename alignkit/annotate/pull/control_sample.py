"""Read from a project who saw suggestions of which pairs, and what each drew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, select

from alignkit.alignment import Alignment
from alignkit.annotate.assignment.assignment import assigned_rows, read_items, read_plan
from alignkit.annotate.assignment.strata import CONTROL, stratum_of
from alignkit.annotate.errors import ProjectError
from alignkit.annotate.log.conversion import annotation_of
from alignkit.annotate.log.project_events import Assigned
from alignkit.annotate.log.state import decode_state
from alignkit.annotate.pull.control import ControlPair, Suggested, Work
from alignkit.annotate.tables import queries, schema


def control_pairs(conn: Connection) -> Iterator[ControlPair]:
    """Yield all pairs that are assigned to somebody, of the control sample and others.

    What annotators did counts where it is done, and was assigned to them before they began. The
    suggestions are those that the page shows: where they are learned, those of a pair stay from
    when it is first opened.
    """
    plan = read_plan(conn)
    if plan is None:
        raise ProjectError(
            "nothing is assigned, so that it is not known who saw suggestions; assign pairs first "
            "(alignkit assign)"
        )
    rows: defaultdict[int, list[Assigned]] = defaultdict(list)
    for row in assigned_rows(conn):
        rows[row.k].append(row)
    suggested, done = _suggested(conn), _done(conn)
    for item in read_items(conn):
        arm = next((row.arm for row in rows[item.k] if row.arm), "")
        own = [row for row in rows[item.k] if row.arm == arm]  # others had begun before
        if own:
            works = {
                row.annotator: Work(row.shown, *done[item.k, row.annotator])
                for row in own
                if (item.k, row.annotator) in done
            }
            yield ControlPair(
                item.id,
                arm,
                works,
                suggested.get(item.k, ()),
                " ".join(stratum_of(item, CONTROL, plan.cuts)),
                len(own) - len(works),
            )


def _suggested(conn: Connection) -> dict[int, list[Suggested]]:
    by_pair = queries.suggested_cells(conn).items()
    return {
        k: [cell for cell in cells if cell[0] >= 0 and cell[1] >= 0] for k, (_, cells) in by_pair
    }


def _done(conn: Connection) -> dict[tuple[int, str], tuple[Alignment, set[tuple[int, int]]]]:
    names = dict(enumerate(queries.annotators(conn), 1))
    table, counts = schema.stream, schema.pair_counts
    same = (counts.c.account == table.c.account) & (counts.c.pair == table.c.pair)
    asked = select(table.c.pair, table.c.account, table.c.state).select_from(
        table.join(counts, same)
    )
    works = {}
    for k, account, text in conn.execute(asked.where(counts.c.done.is_(True))):
        state = decode_state(text)
        said = annotation_of(state)
        if said is not None and said.alignment is not None:
            works[k, names[account]] = said.alignment, state.rejected
    return works
