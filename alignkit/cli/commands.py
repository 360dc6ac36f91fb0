"""The commands, and their parsers: only the module of the command that runs is imported."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from types import ModuleType
from typing import Any

from alignkit._support.addresses import SITE
from alignkit._support.docstrings import docstring
from alignkit.cli.common.files import require_extra
from alignkit.cli.parser import Group, Parser
from alignkit.errors import UnknownNameError
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


def parser_of(words: Sequence[str], *, every: bool = False) -> Parser:
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
        print(shtab.complete(parser_of([], every=True), shell))
        parser.exit()


def _add_commands(
    parser: Parser, known: Mapping[str, str], words: Sequence[str], *, every: bool = False
) -> None:
    """Add commands; import only the one that the first word names, or every one."""
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
        if not every and name != chosen:
            commands.add_parser(name, prog=prog, help=summary, description="")
            continue
        module = _module(prog)
        about, _, examples = docstring(module).partition("\nFor example:\n")
        command = commands.add_parser(
            name,
            prog=prog,
            help=summary,
            description=about,
            epilog=f"For example:\n{examples}" if examples else None,
        )
        if hasattr(module, "COMMANDS"):  # it has commands of its own
            command.set_defaults(parser=command)
            after = words[words.index(name) + 1 :] if name in words else ()
            _add_commands(command, module.COMMANDS, after, every=every)
        else:
            _add_arguments(command, module)


def _add_arguments(command: Parser, module: ModuleType) -> None:
    """Add what a command declares in its module, and what all commands have."""
    module.add_arguments(command)
    _add_common(command.add_argument_group("messages"))
    command.shorten_usage()
    command.rare |= frozenset(getattr(module, "RARE", "").split())
    command.set_defaults(run=module.run, parser=command)


def _add_common(group: Group) -> None:
    """Add the options of all commands; `main` looks for them itself."""
    for flag, text in _COMMON.items():
        group.add_argument(
            flag, action="store_const", const=True, default=argparse.SUPPRESS, help=text
        )


def _module(prog: str) -> ModuleType:
    """Return the module of a command: ``evaluate.audit_read`` for ``alignkit audit read``."""
    name = "_".join(prog.replace("-", "_").split()[1:])
    name = f"{name}_" if iskeyword(name) else name
    (path,) = Path(__file__).parent.glob(f"*/{name}.py")
    return import_module(f"alignkit.cli.{path.parent.name}.{name}")


def other_command(command: str | None, flag: str) -> str:
    """Return a command of the same group that has an option, if one has it, else ""."""
    for group in GROUPS.values():
        for name in group if command in group else ():
            module = _module(f"alignkit {name}")
            if name != command and hasattr(module, "add_arguments"):
                other = Parser(prog=name)
                module.add_arguments(other)
                if flag in other._option_string_actions:
                    return name
    return ""
