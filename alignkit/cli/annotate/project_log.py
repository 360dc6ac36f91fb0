"""Print the log of a project as JSON lines, check it, or rebuild a project from it.

Each line is one event with everything that is known about it. Events of pair 0 belong to the
project itself: its pairs, settings, annotators and suggestions. A project can be rebuilt from these
lines alone. --check computes the state of the project from the log, and reports where the stored
state differs.

For example:
  alignkit project log corpus.jsonl.alignkit > log.jsonl
  alignkit project log corpus.jsonl.alignkit --check
  alignkit project log log.jsonl --rebuild again.alignkit

Exit code of --check: 0 if the project agrees with its log, else 1.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from alignkit.cli.annotate.project import ACCEPT_COPY, open_project
from alignkit.cli.common.messages import ProgressBar, counted, json_text, visible_lines
from alignkit.cli.parser import Options, Parser, add_options, output_file, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile

if TYPE_CHECKING:
    from alignkit.annotate.project.events import LogEvent


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit project log`."""
    add_options(
        parser,
        """
        PROJECT  file of the project; with --rebuild, also a log in JSON lines (- is stdin)
        -o, --output OUT  file for the log (default: stdout)
        """,
        PROJECT="project",
        output=output_file,
    )
    add_options(
        parser.add_mutually_exclusive_group(),
        """
        --check  check that the project agrees with its log
        --rebuild FILE  write a new project from the log
        """,
        rebuild=saved_file,
    )
    add_options(parser, f"--json  print the findings of --check as JSON\n{ACCEPT_COPY}")


def run(options: Options) -> int:
    """Print the log of a project, check it, or build a project from it."""
    if options.json and not options.check:
        raise OptionError("--json needs --check; the log is always JSON lines")
    if options.output is not None and (options.check or options.rebuild):
        raise OptionError("--output does not work with --check and --rebuild: leave it out")
    if options.check:
        return _check(options)
    if options.rebuild is not None:
        return _rebuild(options)
    from alignkit.annotate.project.events import encode

    with (
        open_project(options, readonly=True, log=True) as store,
        replacing(options.output or "-") as stream,
    ):
        for event in counted(store.log(), options.project, store.last_n(), "events"):
            stream.write(encode(event).decode() + "\n")
    return 0


def _check(options: Options) -> int:
    """Compare a project with what its log says; return 1 if they differ."""
    from alignkit.annotate.project.replay import replay

    with (
        open_project(options, readonly=True, log=True) as store,
        ProgressBar(options.project, store.last_n(), "events") as progress,
    ):
        replayed = replay(store, tell=progress.step)
    if options.json:
        print(json_text(vars(replayed) | {"ok": not replayed.differences}))
    else:
        lines = list(replayed.differences)
        if replayed.more:
            lines.append(f"... and {replayed.more} more")
        count = len(replayed.differences) + replayed.more
        state = f"{count} differences" if count else "the project agrees with the log"
        lines.append(f"{replayed.events} events, {replayed.streams} streams: {state}")
        print(visible_lines("\n".join(lines)))
    return 1 if replayed.differences else 0


def _rebuild(options: Options) -> int:
    """Build a project from the log of another, or from a file with a log."""
    from alignkit.annotate.project.database import is_project
    from alignkit.annotate.project.names import ProjectError
    from alignkit.annotate.project.rebuilding import build_project

    if os.path.lexists(options.rebuild):
        raise ProjectError(f"{options.rebuild} already exists; name another file")
    if options.project != "-" and is_project(options.project):
        with open_project(options, readonly=True, log=True) as store:
            total = store.last_n()
            build_project(options.rebuild, counted(store.log(), options.project, total, "events"))
    else:
        build_project(options.rebuild, _read_log(options.project))
    return 0


def _read_log(path: str) -> Iterator[LogEvent]:
    """Yield the events in a file, one a line."""
    from alignkit.annotate.project.events import decode_event
    from alignkit.annotate.project.names import BadEvent

    reading = TextFile(path, ReadOptions())
    with ProgressBar(path, reading.fraction, unit="events") as progress:
        for number, line in reading.lines():
            if line and not line.isspace():
                try:
                    yield decode_event(line)
                except BadEvent as problem:
                    raise reading.error(str(problem), number) from None
            progress.step()
