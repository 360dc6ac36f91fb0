"""Save a project in a file, also while a server edits it.

A plain copy of a file in use may lack the newest edits. This command saves all that the server had
acknowledged when it began, compares the file with its log, and then says "saved". An earlier backup
of the same project is replaced; any other file is not. The backup has no sessions, so it lets
nobody in. It is a project: to restore it, stop the server, and put the backup in place of the
project (into PostgreSQL by `alignkit project copy`).

For example:
  alignkit project backup corpus.jsonl.alignkit backups/corpus.alignkit
  alignkit project backup postgresql+psycopg://carla@db.example/lab#p_corpus corpus.alignkit
"""

from __future__ import annotations

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.messages import say
from alignkit.cli.parser import Options, Parser, add_options


def add_arguments(parser: Parser) -> None:
    add_project_argument(parser)
    add_options(parser, "FILE  file to write", FILE="file")


def run(options: Options) -> None:
    from alignkit.annotate.project.copies import back_up

    with open_project(options, readonly=True) as store:
        events = back_up(store, options.file)
    say(f"{options.file}: saved, {events:,} events")
