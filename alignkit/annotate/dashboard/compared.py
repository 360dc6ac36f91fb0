"""Who is compared on the dashboard, and by which commands the same figures come out."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from sqlalchemy import Connection, select

from alignkit.annotate.tables import queries, schema
from alignkit.annotate.tables.pair_lists import has_assignments
from alignkit.labels import Scheme, View, get_view

SEED = 12345
"""Of all draws: what `alignkit agree` takes by default."""


class Compared(NamedTuple):
    """Who is compared."""

    annotators: dict[str, int]
    initial: str | None
    gold: str  # the name of the gold standard
    scheme: str  # of the judgments


def compared(conn: Connection) -> Compared:
    """Return who is compared in a project."""
    names = {name: number for number, name in enumerate(queries.annotators(conn), 1)}
    info = queries.project_info(conn)
    initial = queries.suggesting(conn)
    if has_assignments(conn):
        table = schema.assignment.c
        having = set(conn.execute(select(table.account).distinct()).scalars())
        names = {name: number for name, number in names.items() if number in having}
    apart = {initial, info.gold}
    kept = {name: number for name, number in names.items() if name not in apart}
    return Compared(kept, initial, info.gold, info.scheme)


def label_view(scheme: Scheme | None) -> View | None:
    """Return the view of a scheme that shows its labels, without flags; None without a scheme.

    Examples
    --------
    >>> from alignkit.labels import get_scheme
    >>> label_view(get_scheme("turku")).name, label_view(get_scheme("entailment")).name
    ('base', 'full')
    """
    if scheme is None:
        return None
    labels = {label.value for label in scheme.labels}
    views = [get_view(scheme, name) for name in scheme.views]
    return next((view for view in views if labels.issuperset(view.labels)), None)


def commands(
    project: str, annotators: list[str], initial: str | None = None, view: View | None = None
) -> list[str]:
    """Return the commands that print what the dashboard shows, of what is done.

    Examples
    --------
    >>> for line in commands("work.alignkit", ["anna", "ben"], "auto"):
    ...     print(line)
    alignkit export work.alignkit work.done.jsonl --to alignkit-jsonl --done
    alignkit agree work.done.jsonl --annotators anna ben --initial auto --missing-initial leave-out
    """
    # not the corpus itself, beside which the project is
    file = project.removesuffix(".alignkit").removesuffix(".jsonl") + ".done.jsonl"
    given = ["--annotators", *annotators]
    if initial is not None:
        given += ["--initial", initial, "--missing-initial", "leave-out"]
    if view is not None:
        given += ["--on", "judgments", "--scheme", view.scheme.name, "--view", view.name]
        given.append("--lenient-labels")
    return [
        shlex.join(["alignkit", "export", project, file, "--to", "alignkit-jsonl", "--done"]),
        shlex.join(["alignkit", "agree", file, *given]),
    ]
