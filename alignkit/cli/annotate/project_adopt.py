"""Bring a project into a lab: a copy with the same log, which lab owners see at once.

Annotators of the project who have no account in the lab are listed on its page People, and can be
invited there. The server of the lab may be running.

For example:
  alignkit project adopt corpus.jsonl.alignkit lab
"""

from __future__ import annotations

import os
from contextlib import closing

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.messages import say
from alignkit.cli.parser import Options, Parser, add_options


def add_arguments(parser: Parser) -> None:
    add_project_argument(parser)
    add_options(
        parser,
        """
        PLACE  folder of the lab, or a PostgreSQL database, as for 'alignkit serve'
        --name NAME  name in the lab (default: that of the project)
        """,
        PLACE="place",
    )


def run(options: Options) -> None:
    os.umask(0o077)  # what is written is for this user only
    from alignkit.annotate.lab.lab import Lab
    from alignkit.annotate.lab.values import Actor
    from alignkit.annotate.project.copies import copy_project
    from alignkit.annotate.project.names import shown_place

    actor = Actor("", "command")
    with closing(Lab.open(options.place)) as lab:
        with open_project(options, readonly=True) as store:
            info = store.project()
            row = lab.projects.make(options.name or info.name, info.task, "", actor)
            try:
                copy_project(store, lab.project_place(row.key))
            except BaseException:
                lab.projects.clear(row.key)
                raise
        lab.projects.opened(row.key, actor)
    place = shown_place(options.place)
    say(f"{place}: {info.name} is there as {row.slug}, with {info.pairs:,} pairs")
