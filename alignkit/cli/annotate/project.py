"""Manage an annotation project: assign pairs, import and export work, and look at the results.

A project is the file that `alignkit annotate` makes next to a corpus. The server may be running.

For example:
  alignkit project assign corpus.jsonl.alignkit --annotators anna ben
  alignkit project export corpus.jsonl.alignkit gold.jsonl --to alignkit-jsonl --done
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alignkit.cli.parser import Options, Parser, add_options

if TYPE_CHECKING:
    from alignkit.annotate.project.store import Store

COMMANDS = {
    "assign": "assign pairs to annotators, order the pairs, and take a control sample",
    "training": "let annotators pass a training round first, and show who has",
    "import": "import corrected words, work done elsewhere, or more pairs",
    "export": "write the annotations as a corpus",
    "bias": "measure how far suggestions pull annotators",
    "pairs": "list judged pairs to look at again",
    "yield": "count the pairs taken from documents",
    "backup": "save a project in a file, also while a server edits it",
    "copy": "copy a project to another place, such as PostgreSQL",
    "adopt": "bring a project into a lab",
    "log": "print the log, check it, or rebuild a project from it",
}
"""The subcommands; each has a module."""

ACCEPT_COPY = "--accept-copy  open even a copy made while the file was in use; it may lack edits"


def add_project_argument(parser: Parser) -> None:
    """Declare the project of a command."""
    add_options(
        parser,
        f"PROJECT  file of the project, or its place in PostgreSQL\n{ACCEPT_COPY}",
        PROJECT="project",
    )


def open_project(options: Options, **more: Any) -> Store:
    """Open the project of a command; messages then name it without a password."""
    from alignkit.annotate.project.names import shown_place
    from alignkit.annotate.project.store import Store

    place = options.project
    options.project = shown_place(options.project)
    return Store.open(place, accept_copy=options.accept_copy, **more)
