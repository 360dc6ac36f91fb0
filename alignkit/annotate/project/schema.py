"""The tables of a project."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Boolean, Float, ForeignKey

from alignkit.annotate.project.engines import INTEGER, TEXT, not_null, primary

METADATA = sa.MetaData()

project = sa.Table(
    "project",
    METADATA,
    primary("key", TEXT),
    not_null("name", TEXT),
    not_null("scheme", TEXT),
    not_null("threshold", Float),
    not_null("doubt", Float),
    not_null("suggestions", TEXT),
    not_null("gold", TEXT),
    not_null("task", TEXT),
    not_null("assigning", TEXT),
    not_null("blind", INTEGER),
    not_null("majority", INTEGER),
)
"""One row: its key is the project's own, the same in every copy; `gold` names the gold standard,
`doubt` is the least one of a word to be looked at, `assigning` the plan of assignment as JSON;
`blind` and `majority` (0 or 1) are the rules of adjudication."""

account = sa.Table(
    "account",
    METADATA,
    primary("id", INTEGER, autoincrement=False),
    not_null("name", TEXT, unique=True),
)
"""The annotators; 0 is the project itself."""

pair = sa.Table(
    "pair",
    METADATA,
    primary("k", INTEGER, autoincrement=False),
    not_null("id", TEXT, index=True),
    not_null("attributes", TEXT),
    not_null("rev", INTEGER),
    not_null("search", TEXT),
    not_null("trees", TEXT),
    not_null("suggested", TEXT),
)
"""The pairs, from 1 (0 is the project); `search` is id and words for searching, `trees` are those
with which the pair was imported, as JSON, `suggested` is the learned set that is shown instead of
the project's own set."""

pair_text = sa.Table(
    "pair_text",
    METADATA,
    primary("pair", ForeignKey("pair.k")),
    primary("rev", INTEGER),
    not_null("source", TEXT),
    not_null("target", TEXT),
)
"""The words as JSON; a correction adds a row."""

stream = sa.Table(
    "stream",
    METADATA,
    primary("id", INTEGER, autoincrement=False),
    not_null("pair", ForeignKey("pair.k")),
    not_null("account", ForeignKey("account.id")),
    not_null("seq", INTEGER),
    not_null("undo_top", INTEGER),
    not_null("redo_top", INTEGER),
    not_null("state", TEXT),
    not_null("notes", TEXT),
    sa.UniqueConstraint("account", "pair"),
    sa.Index("stream_pair", "pair"),
)
"""The snapshot of each stream; `notes` are its comments for searching."""

event_table = sa.Table(
    "event",
    METADATA,
    primary("n", INTEGER, autoincrement=False),
    not_null("id", TEXT, unique=True),
    not_null("stream", ForeignKey("stream.id", deferrable=True)),
    not_null("seq", INTEGER),
    not_null("kind", TEXT),
    not_null("v", INTEGER),
    not_null("actor", TEXT),
    not_null("at", TEXT),
    not_null("client_at", TEXT),
    not_null("below", INTEGER),
    not_null("sent", TEXT),
    not_null("data", TEXT),
    sa.UniqueConstraint("stream", "seq"),
)
"""The log, in the order of `n`; rows are added, never changed."""

suggestion = sa.Table(
    "suggestion",
    METADATA,
    primary("set", TEXT),
    primary("pair", ForeignKey("pair.k")),
    not_null("cells", TEXT),
)
"""The suggested cells of each pair as JSON, by set."""

learned_set = sa.Table(
    "learned_set",
    METADATA,
    primary("number", INTEGER, autoincrement=False),
    not_null("set", TEXT, unique=True),
    not_null("parent", TEXT),
    not_null("pairs", INTEGER),
    not_null("made", TEXT),
    not_null("before", Float),
    not_null("after", Float),
)
"""The data from which each learned set of suggestions was learned; see `LearnedFrom`."""

pair_counts = sa.Table(
    "pair_counts",
    METADATA,
    primary("account", ForeignKey("account.id")),
    primary("pair", ForeignKey("pair.k")),
    not_null("links", INTEGER),
    not_null("nulls", INTEGER),
    not_null("comments", INTEGER),
    not_null("done", Boolean),
    sa.Index("pair_counts_done", "account", "done", "pair"),
)
"""The counts of each stream, for lists and totals that need no state."""

assignment = sa.Table(
    "assignment",
    METADATA,
    primary("account", ForeignKey("account.id")),
    primary("pair", ForeignKey("pair.k")),
    not_null("place", INTEGER),
    not_null("shown", Boolean),
    not_null("arm", TEXT),
    not_null("trial", Boolean),
    sa.Index("assignment_place", "account", "place"),
)
"""The order of each annotator's pairs; without a plan, everybody has all pairs."""

training = sa.Table(
    "training",
    METADATA,
    primary("number", INTEGER, autoincrement=False),
    not_null("size", INTEGER),
    not_null("mark", Float),
    not_null("gold", TEXT),
    not_null("pairs", TEXT),
)
"""The training rounds, from 1; the last is in force, unless its size (of pairs) is 0. `pairs` are
`TrainingPair`s as JSON."""

training_answer = sa.Table(
    "training_answer",
    METADATA,
    primary("round", ForeignKey("training.number")),
    primary("account", ForeignKey("account.id")),
    primary("attempt", INTEGER),
    primary("place", INTEGER),
    not_null("links", TEXT),
    not_null("common", INTEGER),
    not_null("drawn", INTEGER),
    not_null("wanted", INTEGER),
    not_null("at", TEXT),
)
"""The answers to training pairs: the links as JSON, and how many are right, drawn, and in gold."""

training_entry = sa.Table(
    "training_entry",
    METADATA,
    primary("round", ForeignKey("training.number")),
    primary("account", ForeignKey("account.id")),
    not_null("how", TEXT),
    not_null("attempt", INTEGER),
    not_null("by", TEXT),
    not_null("at", TEXT),
)
"""Who need not train (any more), and why: `how` is one of `project.training.HOWS`. The attempt is
the one that passed, else 0."""

in_use = sa.Table("in_use", METADATA, primary("inode", TEXT))
"""The inode of the file while a server has it open: a plain copy has another."""

# The columns of the tables, and conditions that many queries have

ACCOUNT = account.c
ANSWER = training_answer.c
ASSIGNMENT = assignment.c
COUNTS = pair_counts.c
ENTRY = training_entry.c
EVENT = event_table.c
LEARNED_SET = learned_set.c
PAIR = pair.c
PAIR_TEXT = pair_text.c
PROJECT = project.c
STREAM = stream.c
SUGGESTION = suggestion.c
TRAINING = training.c

IS_DONE = COUNTS.done.is_(True)
EVENT_IS_IN_STREAM = EVENT.stream == STREAM.id
STREAM_IS_OF_ACCOUNT = STREAM.account == ACCOUNT.id
COUNTS_ARE_OF_STREAM = sa.and_(COUNTS.account == STREAM.account, COUNTS.pair == STREAM.pair)
