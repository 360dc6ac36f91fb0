"""Run a command, and turn every failure into a clear line and exit code 2."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence

from alignkit._support.signals import before_stop
from alignkit._support.wording import visible
from alignkit.cli.commands import other_command, parser_of
from alignkit.cli.common import messages, streams
from alignkit.cli.common.files import DISORDER, OPENED, check_files, require_extra
from alignkit.cli.parser import Options
from alignkit.errors import AlignkitError, JudgmentError, PartsError
from alignkit.io.atomic_files import WriteError, standard_stream, together


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code; errors are printed, not raised.

    Parameters
    ----------
    arguments : The words after ``alignkit``; None: those of the process.

    Returns
    -------
    int
        0: done; 1: done, with findings; 2: error; 130: interrupted. See ``alignkit --help``.

    Examples
    --------
    >>> main(["stats", "samples/paraphrases.jsonl", "--no-such-option"])
    2
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    own = arguments is None  # the process is ours alone: nobody runs another command in it
    if own:
        # Spare Python from walking over millions of tokens again and again: hardly anything here
        # is in a cycle, and what is left at the end goes with the process.
        gc.set_threshold(200_000, 50, 100)
        atexit.register(gc.freeze)
    ran = _Ran(words)
    messages.begin(quiet="--quiet" in words)
    # what a command before this one noted about its inputs
    OPENED.clear()
    DISORDER.clear()
    try:
        streams.prepare_streams(own=own)
        return _act(ran, own=own)
    except KeyboardInterrupt as error:
        ran.failed(error, "interrupted; no file was changed")
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader of our output has enough, e.g. head
        streams.silence(sys.stdout)
        return 0
    except Exception as error:
        if isinstance(error, OSError):
            streams.silence(sys.stdout)
        return ran.failed(error, _message(error))


def _message(error: Exception) -> str:
    """Return the message for the user about an error."""
    if isinstance(error, JudgmentError):
        from alignkit.cli.corpora.labels import placed

        return placed(error)
    if isinstance(error, AlignkitError):
        return str(error)
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object[error.start : error.end]!r} cannot be written as UTF-8"
    if isinstance(error, MemoryError):
        return "out of memory; split the corpus or free memory; with score, leave out --ci"
    if isinstance(error, ImportError) or (isinstance(error, OSError) and error.errno is None):
        text = " ".join(str(error).split())
        return (
            f"a library cannot be loaded: {text[:200]}; is there enough memory (ulimit -v)? If "
            "so, reinstall alignkit"
        )
    if isinstance(error, OSError):
        if error.errno == errno.ENOENT and error.filename is None:
            return "the current folder was deleted; change to another one"
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    if frames:
        place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"
    else:
        place = "?"
    return (
        f"this is a fault in alignkit, not in your files: {type(error).__name__} in {place}: "
        f"{str(error)[:200]}; please report it with the command and, if you can, the file"
    )


class _Ran:
    """The running command, and its error messages."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.options: Options | None = None

    def failed(self, error: BaseException, message: str) -> int:
        """Print an error (with --debug, also its traceback) and return the exit code."""
        streams.finish_output()
        if "--debug" in self.words:
            from traceback import format_exception

            messages.tell_raw(messages.visible_lines("".join(format_exception(error))))
        if isinstance(error, PartsError):
            messages.say(f"error: {error.what}:", error=True)
            for part in error.errors:
                messages.tell_raw(f"  {visible(self._worded(part))}\n")
        else:
            messages.say(f"error: {self._worded(message)}", error=True)
        return 2

    def _worded(self, message: str) -> str:
        """Return a message with the command's own options."""
        return messages.in_words_of(self.options, message)


def _act(ran: _Ran, *, own: bool) -> int:
    """Run a command; put its output, also standard output, in place when all is done.

    If the reader of standard output goes away while the command runs, a command that writes files
    fails, and one that does not ends silently (in `main`). When the command is done already, its
    files are put in place all the same.
    """
    with together() as outputs:

        def stopped() -> str:
            """Remove unfinished files when a signal ends the process; say what there is then."""
            outputs.discard()
            if outputs.placed:
                placed = "all files were already written"
            else:
                placed = "no file was changed"
            return outputs.kept_note or placed

        with before_stop(stopped, for_good=own):
            try:
                code = _run(ran, own=own)
            except BrokenPipeError:
                if len(outputs):
                    raise WriteError(
                        "standard output was closed by its reader; no file was changed"
                    ) from None
                raise
            try:
                sys.stdout.flush()
            except BrokenPipeError:
                streams.silence(sys.stdout)
            outputs.place()
        for note in outputs.notes:
            messages.say(note)
    return code


def _run(ran: _Ran, *, own: bool) -> int:
    """Run a command; return its exit status, with errors as messages."""
    try:
        options = _options(ran.words)
    except SystemExit as end:  # --help, --version, or a wrong option that was told
        return int(end.code or 0)
    if "run" not in options:
        options.parser.print_help(sys.stderr)
        return 2
    ran.options = options
    outputs = check_files(options)
    if "-" in outputs:
        streams.require_output()
    writes_files = any(standard_stream(path) is None for path in outputs)
    if own and writes_files:
        streams.outlive_reader()
    if options.run.__module__.startswith("alignkit.cli.annotate."):
        require_extra("annotate")
    options.own = own
    with messages.heard():
        code: int = options.run(options) or 0  # a command without a verdict returns nothing
    return code


def _options(words: Sequence[str]) -> Options:
    """Return the options of a command, with its parser; words that do not belong end the process.

    A command that is only the name of commands, such as `alignkit project`, has no `run`.
    """
    parser = parser_of([] if "--print-completion" in words else words)
    options, unknown = parser.parse_known_args(words)
    options.parser = getattr(options, "parser", parser)
    left = options.parser.place_late_word(options, unknown)  # an argument after options
    if left:
        before = _word_before(words, left[0])
        options.parser.refuse_unknown(left, _hint(words, options, left), before)
    return options


def _word_before(words: Sequence[str], word: str) -> str:
    """Return the word before another one, which may be an option that takes no value."""
    if word not in words[1:]:  # it is the first, or was only a part of a word
        return ""
    return words[words.index(word, 1) - 1]


def _hint(words: Sequence[str], options: Options, left: Sequence[str]) -> str:
    """Return what to write instead of the words that are left, if we can tell."""
    if left[0].startswith("-"):
        other = other_command(options.command, left[0].partition("=")[0])
        return f"it is an option of {other}" if other else ""
    if "stray" in options:  # the command's own hint
        return str(options.stray(options, left))
    return _sides_hint(words)


def _sides_hint(words: Sequence[str]) -> str:
    """Return the command that reads two CoNLL-U files as the words of both sides, if it has two."""
    import shlex

    from alignkit.io.tagged_words import two_sides

    sides = two_sides(words)
    if sides is None:
        return ""
    rest = [word for word in words if word not in (*sides, "--source", "--target")]
    command = ["alignkit", *rest, "--source", sides[0], "--target", sides[1]]
    return f"to read the words of both sides: {shlex.join(command)}"
