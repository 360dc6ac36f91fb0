"""The tables of an agreement by name; each function yields the tables that it can fill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from alignkit.agreement.chance_tables import edits_table, models_tables, pairs_table
from alignkit.agreement.coefficient_tables import (
    alpha_tables,
    cell_tables,
    fleiss_table,
    unseen_table,
)
from alignkit.agreement.compared_tables import main_table, pairings_tables
from alignkit.agreement.figures import KINDS, AgreementFigures
from alignkit.tables.table import Table


def _chance_tables(agreement: AgreementFigures) -> Iterator[Table]:
    yield from models_tables(agreement)
    yield from pairs_table(agreement)


def _other_pairings_tables(agreement: AgreementFigures) -> Iterator[Table]:
    """Yield the tables of pairings that are not between annotators."""
    for kind in KINDS:
        if kind != "annotators":
            yield from pairings_tables(agreement, kind)


TABLES: Mapping[str, Callable[[AgreementFigures], Iterable[Table]]] = {
    "words": lambda agreement: [main_table(agreement, "words")],
    "phrases": lambda agreement: [main_table(agreement, "phrases")],
    "pairings": pairings_tables,
    "chance": _chance_tables,
    "others": _other_pairings_tables,
    "cells": cell_tables,
    "alpha": alpha_tables,
    "fleiss": fleiss_table,
    "edits": edits_table,
    "unseen": unseen_table,
    "votes": lambda agreement: agreement.votes.tables() if agreement.votes else (),
}
"""The tables by name; `others` are pairings that are not between annotators.

The report alone has `groups_table` and `others_table`: they select from these.
"""

MAIN = ("words", "phrases")
"""The main tables; `pairings` has all of their rows."""


def agreement_tables(agreement: AgreementFigures) -> list[Table]:
    """Return the tables with all figures, in reading order."""
    shown = list[Table]()
    for name, tables in TABLES.items():
        if name not in MAIN:
            shown += tables(agreement)
    return shown
