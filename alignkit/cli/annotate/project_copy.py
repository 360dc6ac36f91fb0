"""Copy a project to another place: to a file, or into PostgreSQL, or back.

The copy has the same log, and goes on as a project of its own. Nobody is signed in there. Nothing
is overwritten. A place in PostgreSQL is a schema, which this command makes. Stop the server first:
later edits go to the old place. Passwords belong in ~/.pgpass, not in the place.

For example:
  alignkit project copy corpus.jsonl.alignkit postgresql+psycopg://carla@db.example/lab#p_corpus
  alignkit project copy postgresql+psycopg://carla@db.example/lab#p_corpus corpus.alignkit
"""

from __future__ import annotations

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.messages import say
from alignkit.cli.parser import Options, Parser, add_options


def add_arguments(parser: Parser) -> None:
    add_project_argument(parser)
    add_options(parser, "TO  new file, or place in PostgreSQL", TO="place")


def run(options: Options) -> None:
    from alignkit.annotate.project.copies import copy_project
    from alignkit.annotate.project.names import shown_place

    with open_project(options, readonly=True) as store:
        events = copy_project(store, options.place)
    say(f"{shown_place(options.place)}: copied; all {events:,} events are equal")
