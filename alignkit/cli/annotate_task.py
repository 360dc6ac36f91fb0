"""Say what is done in a project, and of which documents pairs are to be extracted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from alignkit.annotate.names import check_adjudicable
from alignkit.errors import OptionError, UnknownNameError
from alignkit.tokenization import TOKENIZERS

_LINKS = ("initial", "model", "suggestions")


def add_task_arguments(parser: argparse.ArgumentParser, tasks: Sequence[str]) -> None:
    """Declare what is to be done."""
    group = parser.add_argument_group("what is to be done")
    group.add_argument(
        "--task",
        choices=tasks,
        help="align: draw links; judge: give pairs a label, flags, corrected texts; extract: "
        "take pairs from documents (default: what is done in the project, or align)",
    )
    group.add_argument(
        "--tokenize",
        nargs="?",
        const="treebank",
        metavar="T",
        help="with --task extract, behind the documents: divide texts into words by nltk: "
        + "; ".join(f"{name} ({text})" for name, text in TOKENIZERS.items())
        + " (default: at white space alone)",
    )


def check_task(options: argparse.Namespace) -> None:
    """Refuse what does not go together with the task."""
    if options.documents is not None and options.task != "extract":
        raise OptionError(
            f"{options.documents}: only --task extract takes two folders or files; name one corpus"
        )
    if options.adjudicate and options.task is not None:
        check_adjudicable(options.task)
    if options.tokenize is not None and options.task != "extract":
        raise OptionError("--tokenize is for --task extract: add it, or leave --tokenize out")
    if options.tokenize is not None and options.tokenize not in TOKENIZERS:
        if os.path.exists(options.tokenize):
            raise OptionError(
                f"--tokenize {options.tokenize} names a file: put --tokenize behind the documents"
            )
        raise UnknownNameError("tokenizer", options.tokenize, TOKENIZERS)
    given = [f"--{name}" for name in _LINKS if getattr(options, name) not in (None, "none")]
    if given and options.task in ("judge", "extract"):
        raise OptionError(
            f"{given[0]} suggests links, and --task {options.task} draws none; leave it out"
        )
    if options.task == "extract" and options.corpus is None:
        raise OptionError(
            "--task extract needs documents: two folders with files of the same names, two files, "
            "or a file of JSON lines"
        )


def documents_of(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the documents that are named; none where a corpus is."""
    if options.task != "extract" or (options.documents is None and options.format is not None):
        return ()
    paths = tuple(path for path in (options.corpus, options.documents) if path is not None)
    for path in paths:
        if not os.path.exists(path):
            raise OptionError(f"{path}: there is no such file or folder; name documents")
    return paths
