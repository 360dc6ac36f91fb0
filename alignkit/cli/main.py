"""Find the command, run it, and turn every failure into one clear line and exit code 2."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from types import FrameType

from alignkit.errors import AlignkitError
from alignkit.version import __version__

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "convert": "turn a corpus from one format into another",
    "check": "examine a file: counts, base, direction, duplicates, texts; and mend it",
    "show": "draw alignments as matrices, in the terminal or as HTML or SVG",
    "phrases": "extract phrase pairs, atomic and composite",
    "score": "score alignments against a gold standard",
    "score-phrases": "score a list of phrase pairs against a gold standard",
    "symmetrize": "merge alignments of both directions into one",
    "merge": "put several annotations of the same pairs into one corpus",
    "agree": "report how far annotators agree",
    "stats": "count what a corpus holds",
}

_EPILOG = """\
Run 'alignkit COMMAND --help' for the options and examples of a command.
'-' stands for standard input or output. Exit codes: 0 done, 1 findings (check), 2 error.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments
        The words after ``alignkit``; None takes those of the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(next((word for word in words if not word.startswith("-")), None))
    options = parser.parse_args(words)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        _prepare()
        code: int = options.run(options)
        sys.stdout.flush()
    except AlignkitError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted; no output was changed")
    except BrokenPipeError:  # the reader of our output has enough, e.g. head
        _silence()
        return 0
    except UnicodeEncodeError as error:
        return _fail(f"{error.object[error.start : error.end]!r} cannot be written as UTF-8")
    except MemoryError:
        return _fail("out of memory; split the corpus, or leave out --ci and per-pair tables")
    except OSError as error:
        name = error.filename or "standard output"
        _silence()
        return _fail(f"{name}: {error.strerror or error}")
    return code


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="alignkit",
        description="Build, check and use gold-standard word and phrase alignments.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"alignkit {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(
            name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == chosen:  # only the command that runs pays for its imports
            module = import_module(f"alignkit.cli.{name.replace('-', '_')}")
            command.description = module.__doc__
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _prepare() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            errors = "strict" if stream is sys.stdout else "backslashreplace"
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")
    if hasattr(signal, "SIGTERM"):
        signal.signal(signal.SIGTERM, _stop)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _silence() -> None:
    """Keep the interpreter from failing once more on the unwritten rest at its exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> int:
    print(f"alignkit: error: {message}", file=sys.stderr)
    return 2
