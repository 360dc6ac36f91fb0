"""Find the command, run it, and turn every failure into a clear line and exit code 2."""

from __future__ import annotations

import argparse
import atexit
import errno
import gc
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Any

from alignkit._support.addresses import SITE
from alignkit._support.docstrings import docstring
from alignkit._support.signals import before_stop
from alignkit._support.wording import visible
from alignkit.cli.common import messages
from alignkit.cli.common.files import DISORDER, OPENED, check_files, require_extra
from alignkit.cli.parser import Parser
from alignkit.errors import AlignkitError, JudgmentError, PartsError, UnknownNameError
from alignkit.io.atomic_files import WriteError, standard_stream, together
from alignkit.version import __version__

GROUPS = {
    "look": {
        "check": "check a file: errors, duplicates, base and direction of links; fix it",
        "stats": "count the pairs, words and links of a corpus",
        "show": "draw alignments as matrices: terminal, HTML or SVG",
        "concordance": "list what words are linked to, with context",
        "convert": "convert a corpus from one format into another",
    },
    "corpora": {
        "merge": "merge several annotations of the same pairs into one corpus",
        "concat": "join several corpora of different pairs into one",
        "select": "select pairs by id, by annotator or at random, or split a corpus into parts",
        "pairs": "pair several translations of the same sentences with each other",
        "retokenize": "carry a corpus over to other words of the same texts, such as subwords",
        "transfer": "carry labels of words over the links to the other side, and score them",
    },
    "align": {
        "align": "align words: train an aligner on sentence pairs, or load one",
        "learn": "learn from gold links to align better, and measure how much better",
        "symmetrize": "merge alignments of both directions into one",
    },
    "extract": {
        "phrases": "extract phrase pairs, atomic and composite",
    },
    "paraphrases": {
        "candidates": "find candidates: documents, sentences, texts of a group",
        "identify": "train systems that judge whether pairs are paraphrases, and compare them",
        "pivot": "find paraphrases: phrases with the same translations",
        "cotrain": "find paraphrases: phrases in the same contexts, without links",
        "rules": "learn synchronous paraphrase rules from aligned, parsed pairs",
        "paraphrase": "rewrite parsed sentences with learned rules",
    },
    "score": {
        "score": "score alignments against a gold standard",
        "score-phrases": "score a list of phrase pairs against a gold standard",
        "score-labels": "score judgments of pairs against a reference",
        "score-rules": "score the rules learned from alignments against a gold standard",
        "errors": "count the errors of a system by kind of link",
        "profile": "compare systems by phenomenon, with tests of ranks",
    },
    "agree": {
        "agree": "measure how well annotators agree on links and phrases",
        "agree-judgments": "measure how well annotators agree on judgments of pairs",
        "agree-sets": "measure how well annotators agree on sets of items",
        "agree-plan": "plan how many pairs annotators must share",
        "agree-replace": "test whether a system may replace an annotator",
        "labels": "count the labels that annotators gave to pairs",
        "quality": "measure how well a crowd judges pairs, and find pairs to judge again",
        "audit": "have people judge errors blindly: write sheets, and read them back",
    },
    "annotate": {
        "annotate": "annotate in the browser: correct suggested links, or draw your own",
        "serve": "serve a lab: accounts, projects and pages for many annotators",
        "project": "manage a project: assign, import, export, pairs, bias, yield, copy, log",
    },
    "install": {
        "samples": "copy the samples into a folder, to try commands with",
        "compile": "compile all kernels now, so that no later command has to",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}

_COMMON = {
    "--quiet": "print only warnings and errors (default: notes and progress too)",
    "--debug": "show where in the program an error came from (default: one line)",
}

_ABOUT = """\
Build, check and use gold-standard word and phrase alignments.

Start here: 'alignkit samples' copies samples into a folder, to try commands with; 'alignkit check
FILE' checks one of your files; 'alignkit annotate' opens the annotation page.
"""
_EPILOG = f"""\
'alignkit COMMAND --help' explains a command; 'alignkit COMMAND --help-all' lists all its options.
'alignkit --help-all' describes each command in one line. '-' means standard input or output.

Exit codes:
  0  done
  1  done, but there are findings (check) or bad input lines (align - --load)
  2  error; no file was changed (if parts were already written, the message names them)
  130  interrupted by Ctrl-C (143 by SIGTERM); no file was changed, unless the message says so

Documentation: {SITE}
"""


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
    if arguments is None:  # spare Python from walking over millions of tokens again and again:
        gc.set_threshold(200_000, 50, 100)  # hardly anything here is in a cycle,
        atexit.register(gc.freeze)  # and what is left at the end goes with the process
    ran = _Ran(words)
    messages.begin(quiet="--quiet" in words)
    OPENED.clear()
    DISORDER.clear()
    try:
        messages.prepare_streams(own=arguments is None)
        return _act(ran, own=arguments is None)
    except KeyboardInterrupt as error:
        ran.failed(error, "interrupted; no file was changed")
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader of our output has enough, e.g. head
        messages.silence(sys.stdout)
        return 0
    except Exception as error:
        if isinstance(error, OSError):
            messages.silence(sys.stdout)
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
        self.options: argparse.Namespace | None = None

    def failed(self, error: BaseException, message: str) -> int:
        """Print an error (with --debug, also its traceback) and return the exit code."""
        messages.finish_output()
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
        return messages.in_words_of(None if self.options is None else self.options.parser, message)


def _act(ran: _Ran, *, own: bool) -> int:
    """Run a command; put its output, also standard output, in place when all is done."""
    with together() as outputs:

        def stopped() -> str:
            outputs.discard()
            if outputs.placed:
                placed = "all files were already written"
            else:
                placed = "no file was changed"
            return outputs.kept_note or placed

        with before_stop(stopped, for_good=own):
            try:
                code = _run(ran, own=own)
            except BrokenPipeError:  # the reader of our output has enough, e.g. head
                if len(outputs):
                    raise WriteError(
                        "standard output was closed by its reader; no file was changed"
                    ) from None
                raise
            try:
                sys.stdout.flush()
            except BrokenPipeError:
                messages.silence(sys.stdout)
            outputs.place()
        for note in outputs.notes:
            messages.say(note)
    return code


def _sides_hint(words: Sequence[str]) -> str:
    """Return the command that reads two CoNLL-U files as the words of both sides, if it has two."""
    from alignkit.io.tagged_words import two_sides

    sides = two_sides(words)
    if sides is None:
        return ""
    rest = [word for word in words if word not in (*sides, "--source", "--target")]
    command = ["alignkit", *rest, "--source", sides[0], "--target", sides[1]]
    return f"to read the words of both sides: {shlex.join(command)}"


def _elsewhere(command: str | None, flag: str) -> str:
    """Return a hint that another command of the same group has an option, if one has it."""
    for group in GROUPS.values():
        for name in group if command in group else ():
            module = import_module(f"alignkit.cli.{_module(f'alignkit {name}')}")
            if name != command and hasattr(module, "add_arguments"):
                other = Parser(prog=name)
                module.add_arguments(other)
                if flag in other._option_string_actions:
                    return f"it is an option of {name}"
    return ""


def _run(ran: _Ran, *, own: bool) -> int:
    """Run a command; return its exit status, with errors as messages."""
    words = ran.words
    parser = _parser([] if "--print-completion" in words else words)
    try:
        options, unknown = parser.parse_known_args(words)
        own_parser = getattr(options, "parser", parser)
        if left := own_parser.late(options, unknown):
            stray = getattr(options, "stray", None)
            before = words[words.index(left[0]) - 1] if left[0] in words[1:] else ""
            if left[0].startswith("-"):
                hint = _elsewhere(options.command, left[0].partition("=")[0])
            elif stray:
                hint = stray(options, left)
            else:
                hint = _sides_hint(words)
            own_parser.unknown(left, hint, before)
    except SystemExit as end:  # --help, --version, or a wrong option that was told
        return int(end.code or 0)
    if "run" not in options:
        getattr(options, "parser", parser).print_help(sys.stderr)
        return 2
    ran.options = options
    outputs = check_files(options)
    if "-" in outputs:
        messages.require_output()
    if own and any(standard_stream(path) is None for path in outputs):
        messages.outlive_reader()
    if options.run.__module__.startswith("alignkit.cli.annotate."):
        require_extra("annotate")
    options.own = own  # whether the process is ours alone
    with messages.heard():
        code: int = options.run(options) or 0  # a command without a verdict returns nothing
    return code


def _parser(words: Sequence[str], *, every: bool = False) -> Parser:
    """Return the parser of the command that the words name, or of every command."""
    parser = Parser(prog="alignkit", description=_ABOUT, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"alignkit {__version__}")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        metavar="SHELL",
        help="print a script that completes commands and options in bash, zsh or tcsh",
    )
    _add_common(parser)
    _add_commands(parser, COMMANDS, words, every=every)
    parser.groups = GROUPS
    return parser


class _Completion(argparse.Action):
    """Print the completion of a shell."""

    def __call__(self, parser: Any, _: object, shell: Any, *__: object) -> None:
        require_extra("completion")
        import shtab

        if shell not in shtab.SUPPORTED_SHELLS:
            raise UnknownNameError("shell", shell, shtab.SUPPORTED_SHELLS)
        print(shtab.complete(_parser([], every=True), shell))
        parser.exit()


def _add_commands(
    parser: Parser, known: Mapping[str, str], words: Sequence[str], *, every: bool = False
) -> None:
    """Add commands; import only the one that the first word names."""
    chosen = next((word for word in words if not word.startswith("-")), None)
    if chosen is not None and chosen not in known:
        before = f"{parser.prog} ".partition(" ")[2]
        raise UnknownNameError("command", before + chosen, [before + name for name in known])
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", parser_class=Parser
    )
    # all are listed where none is chosen, or where --help may stand before the one that is
    listed = {words[0]: known[words[0]]} if words and words[0] == chosen else known
    for name, summary in listed.items():
        prog = f"{parser.prog} {name}"
        module = None
        text = ""
        if every or name == chosen:
            module = import_module(f"alignkit.cli.{_module(prog)}")
            text = docstring(module)
        about, _, examples = text.partition("\nFor example:\n")
        command = commands.add_parser(
            name,
            prog=prog,
            help=summary,
            description=about,
            epilog=f"For example:\n{examples}" if examples else None,
        )
        if module is None:
            continue
        if hasattr(module, "COMMANDS"):  # it has commands of its own
            command.set_defaults(parser=command)
            if name in words:
                rest = words[words.index(name) + 1 :]
            else:
                rest = []
            _add_commands(command, module.COMMANDS, rest, every=every)
            continue
        module.add_arguments(command)
        _add_common(command.add_argument_group("messages"))
        command.shorten_usage()
        command.rare |= frozenset(getattr(module, "RARE", "").split())
        command.set_defaults(run=module.run, parser=command)


def _add_common(group: argparse._ActionsContainer) -> None:
    """Add the options of all commands; `main` looks for them itself."""
    for flag, text in _COMMON.items():
        group.add_argument(
            flag, action="store_const", const=True, default=argparse.SUPPRESS, help=text
        )


def _module(prog: str) -> str:
    """Return the module of a command: ``evaluate.audit_read`` for ``alignkit audit read``."""
    name = "_".join(prog.replace("-", "_").split()[1:])
    name = f"{name}_" if iskeyword(name) else name
    (path,) = Path(__file__).parent.glob(f"*/{name}.py")
    return f"{path.parent.name}.{name}"
