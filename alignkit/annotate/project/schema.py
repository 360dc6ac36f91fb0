"""The tables of a project."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Boolean, Column, Float, ForeignKey

from alignkit.annotate.project.engines import INTEGER, TEXT

METADATA = sa.MetaData()

project = sa.Table(
    "project",
    METADATA,
    Column("key", TEXT, primary_key=True),
    Column("name", TEXT, nullable=False),
    Column("scheme", TEXT, nullable=False),
    Column("threshold", Float, nullable=False),
    Column("doubt", Float, nullable=False),
    Column("suggestions", TEXT, nullable=False),
    Column("gold", TEXT, nullable=False),
    Column("task", TEXT, nullable=False),
    Column("assigning", TEXT, nullable=False),
    Column("blind", INTEGER, nullable=False),
    Column("majority", INTEGER, nullable=False),
)
"""One row: its key is the project's own, the same in every copy; `gold` names the gold standard,
`doubt` is the least one of a word to be looked at, `assigning` the plan of assignment as JSON;
`blind` and `majority` (0 or 1) are the rules of adjudication."""

account = sa.Table(
    "account",
    METADATA,
    Column("id", INTEGER, primary_key=True, autoincrement=False),
    Column("name", TEXT, nullable=False, unique=True),
)
"""The annotators; 0 is the project itself."""

pair = sa.Table(
    "pair",
    METADATA,
    Column("k", INTEGER, primary_key=True, autoincrement=False),
    Column("id", TEXT, nullable=False, index=True),
    Column("attributes", TEXT, nullable=False),
    Column("rev", INTEGER, nullable=False),
    Column("search", TEXT, nullable=False),
    Column("trees", TEXT, nullable=False),
    Column("suggested", TEXT, nullable=False),
)
"""The pairs, from 1 (0 is the project); `search` is id and words for searching, `trees` are those
with which the pair was imported, as JSON, `suggested` is the learned set that is shown instead of
the project's own set."""

pair_text = sa.Table(
    "pair_text",
    METADATA,
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("rev", INTEGER, primary_key=True),
    Column("source", TEXT, nullable=False),
    Column("target", TEXT, nullable=False),
)
"""The words as JSON; a correction adds a row."""

stream = sa.Table(
    "stream",
    METADATA,
    Column("id", INTEGER, primary_key=True, autoincrement=False),
    Column("pair", ForeignKey("pair.k"), nullable=False),
    Column("account", ForeignKey("account.id"), nullable=False),
    Column("seq", INTEGER, nullable=False),
    Column("undo_top", INTEGER, nullable=False),
    Column("redo_top", INTEGER, nullable=False),
    Column("state", TEXT, nullable=False),
    Column("notes", TEXT, nullable=False),
    sa.UniqueConstraint("account", "pair"),
    sa.Index("stream_pair", "pair"),
)
"""The snapshot of each stream; `notes` are its comments for searching."""

event_table = sa.Table(
    "event",
    METADATA,
    Column("n", INTEGER, primary_key=True, autoincrement=False),
    Column("id", TEXT, nullable=False, unique=True),
    Column("stream", ForeignKey("stream.id", deferrable=True), nullable=False),
    Column("seq", INTEGER, nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("v", INTEGER, nullable=False),
    Column("actor", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
    Column("client_at", TEXT, nullable=False),
    Column("below", INTEGER, nullable=False),
    Column("sent", TEXT, nullable=False),
    Column("data", TEXT, nullable=False),
    sa.UniqueConstraint("stream", "seq"),
)
"""The log, in the order of `n`; rows are added, never changed."""

suggestion = sa.Table(
    "suggestion",
    METADATA,
    Column("set", TEXT, primary_key=True),
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("cells", TEXT, nullable=False),
)
"""The suggested cells of each pair as JSON, by set."""

learned_set = sa.Table(
    "learned_set",
    METADATA,
    Column("number", INTEGER, primary_key=True, autoincrement=False),
    Column("set", TEXT, nullable=False, unique=True),
    Column("parent", TEXT, nullable=False),
    Column("pairs", INTEGER, nullable=False),
    Column("made", TEXT, nullable=False),
    Column("before", Float, nullable=False),
    Column("after", Float, nullable=False),
)
"""The data from which each learned set of suggestions was learned; see `LearnedFrom`."""

pair_counts = sa.Table(
    "pair_counts",
    METADATA,
    Column("account", ForeignKey("account.id"), primary_key=True),
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("links", INTEGER, nullable=False),
    Column("nulls", INTEGER, nullable=False),
    Column("comments", INTEGER, nullable=False),
    Column("done", Boolean, nullable=False),
    sa.Index("pair_counts_done", "account", "done", "pair"),
)
"""The counts of each stream, for lists and totals that need no state."""

assignment = sa.Table(
    "assignment",
    METADATA,
    Column("account", ForeignKey("account.id"), primary_key=True),
    Column("pair", ForeignKey("pair.k"), primary_key=True),
    Column("place", INTEGER, nullable=False),
    Column("shown", Boolean, nullable=False),
    Column("arm", TEXT, nullable=False),
    Column("trial", Boolean, nullable=False),
    sa.Index("assignment_place", "account", "place"),
)
"""The order of each annotator's pairs; without a plan, everybody has all pairs."""

training = sa.Table(
    "training",
    METADATA,
    Column("number", INTEGER, primary_key=True, autoincrement=False),
    Column("size", INTEGER, nullable=False),
    Column("mark", Float, nullable=False),
    Column("gold", TEXT, nullable=False),
    Column("pairs", TEXT, nullable=False),
)
"""The training rounds, from 1; the last is in force, unless its size (of pairs) is 0. `pairs` are
`TrainingPair`s as JSON."""

training_answer = sa.Table(
    "training_answer",
    METADATA,
    Column("round", ForeignKey("training.number"), primary_key=True),
    Column("account", ForeignKey("account.id"), primary_key=True),
    Column("attempt", INTEGER, primary_key=True),
    Column("place", INTEGER, primary_key=True),
    Column("links", TEXT, nullable=False),
    Column("common", INTEGER, nullable=False),
    Column("drawn", INTEGER, nullable=False),
    Column("wanted", INTEGER, nullable=False),
    Column("at", TEXT, nullable=False),
)
"""The answers to training pairs: the links as JSON, and how many are right, drawn, and in gold."""

training_entry = sa.Table(
    "training_entry",
    METADATA,
    Column("round", ForeignKey("training.number"), primary_key=True),
    Column("account", ForeignKey("account.id"), primary_key=True),
    Column("how", TEXT, nullable=False),
    Column("attempt", INTEGER, nullable=False),
    Column("by", TEXT, nullable=False),
    Column("at", TEXT, nullable=False),
)
"""Who need not train (any more), and why: `how` is one of `project.training.HOWS`. The attempt is
the one that passed, else 0."""

in_use = sa.Table("in_use", METADATA, Column("inode", TEXT, primary_key=True))
"""The inode of the file while a server has it open: a plain copy has another."""
