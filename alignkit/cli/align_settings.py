"""Declare the options by which `align` and `learn` train: settings, and files of vectors."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import fields

from alignkit.aligner.settings import INFERENCES, MODELS, Settings
from alignkit.cli.parser import number
from alignkit.errors import OptionError

TRAINING = {
    "model": ("M", ", ".join(MODELS)),
    "best": (
        "",
        "take the mean of three models, of whole words and of their first 4 and 5 letters: "
        "better, in three times the time",
    ),
    "identity": ("W", "pseudo-count for equal words, as of a lexicon of identical words"),
    "spelling": ("W", "pseudo-count for words that are spelled alike"),
    "inference": ("I", ", ".join(INFERENCES)),
    "agree": ("", "train both directions apart; needs --inference em or vb"),
    "ibm1": ("N", "rounds of IBM 1"),
    "ibm2": ("N", "rounds of IBM 2, for --model ibm2"),
    "hmm": ("N", "rounds of the HMM"),
    "fertility": ("N", "rounds of IBM 3 or 4"),
    "null": ("P", "probability that a word has no counterpart, before it is seen"),
    "band": ("N", "longest jump that is told from longer ones"),
    "kinds": ("N", "how many of the most frequent words have jumps of their own"),
    "jump_smoothing": ("W", "weight of the common jumps in those of a word"),
    "prune": ("", "forget word pairs that IBM 1 links nowhere: smaller models, less to send"),
    "diagonal": ("", "IBM 2: take positions from the distance to the diagonal"),
    "stem": ("N", "letters of a word that make a stem; 0: 3 in small texts, 4 in others"),
    "stem_weight": ("W", "pseudo-count for other words of the same stems; 0: none"),
    "floor": ("W", "pseudo-count of each word pair that occurs"),
    "concentration": ("W", "pseudo-count of what does not occur with a word"),
    "vector_weight": ("W", "--vectors: pseudo-count of words with the same vector"),
    "vector_least": ("C", "--vectors: cosine from which on there is a pseudo-count"),
}
"""For each of `Settings`, what its value is called and what it does."""

SETTINGS = tuple(field.name for field in fields(Settings))


def add_vectors(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files of vectors."""
    group.add_argument(
        "--vectors",
        metavar="FILE",
        help="vectors of words, as text (word2vec, fastText's .vec, GloVe), binary (word2vec) or "
        ".npz: words that occur together get pseudo-counts as their vectors are near; with --load, "
        "those that were not trained on",
    )
    group.add_argument(
        "--target-vectors",
        metavar="FILE",
        help="those of the target words, in the same space, where they are in a file of their own",
    )


def add_settings(group: argparse._ArgumentGroup) -> None:
    """Add the options of `Settings`."""
    for name in SETTINGS:
        add_setting(group, name)


def given_settings(options: argparse.Namespace, *more: str) -> list[str]:
    """Return the options that were given of `Settings`, of `more`, and of case."""
    names = [name for name in (*SETTINGS, *more) if getattr(options, name) is not None]
    return [flag(name) for name in names] + ["--keep-case"] * options.keep_case


def add_setting(group: argparse._ArgumentGroup, name: str) -> None:
    """Add the option of one of `SETTINGS`."""
    metavar, text = TRAINING.get(name, ("X", "see the page on the models"))
    default = getattr(Settings, name)
    flag = name.replace("_", "-")
    if isinstance(default, bool):
        group.add_argument(
            f"--no-{flag}" if default else f"--{flag}",
            dest=name,
            action="store_const",
            const=not default,
            help=text,
        )
        return
    checkers: dict[type, Callable[[str], object]] = {int: number(0), float: _amount, str: str}
    group.add_argument(
        f"--{flag}",
        dest=name,
        type=checkers[type(default)],
        metavar=metavar,
        help=f"{text} (default: {default})",
    )


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, not {text[:40]!r}")
    return value


def settings_of(options: argparse.Namespace) -> Settings:
    """Return how to train, as the options say."""
    given = {name: getattr(options, name) for name in SETTINGS}
    return Settings(**{name: value for name, value in given.items() if value is not None})


def check_vectors(options: argparse.Namespace) -> None:
    """Refuse what stands beside vectors where there are none, and one file for both sides."""
    names = ("target_vectors", "vector_weight", "vector_least")
    given = [flag(name) for name in names if getattr(options, name) is not None]
    if given and options.vectors is None:
        raise OptionError(f"{given[0]} stands beside --vectors: name the file of vectors by that")
    if options.vectors is not None and options.vectors == options.target_vectors:
        raise OptionError(
            f"{options.vectors} is named twice: leave out --target-vectors where one file holds "
            "the words of both sides"
        )


def flag(name: str) -> str:
    """Return how the option of a name is written."""
    no = "no-" if name in SETTINGS and getattr(Settings, name) is True else ""
    return f"--{no}{name.replace('_', '-')}"
