"""Declare and check the options of `alignkit align`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from alignkit.align.settings import SYMMETRIZATIONS, THRESHOLD
from alignkit.cli.align.settings import (
    SETTINGS,
    add_learning,
    add_setting,
    add_vectors,
    check_vectors,
    flag,
    given_settings,
    refuse_learning,
)
from alignkit.cli.common.cluster import add_cluster
from alignkit.cli.common.inputs import add_reading_arguments
from alignkit.cli.parser import format_name, number, output, output_file, saved_file
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.atomic_files import refuse_unwritable, standard_stream
from alignkit.io.format import FORMATS, WRITTEN, get_format
from alignkit.model.texts import TOKENIZERS

_FIRST = ("model", "best", "identity")  # those of the settings that belong to how words are aligned

TEXT_FORMATS = {"bitext": "lines of source ||| target", "tsv": "two columns, divided by a tab"}
"""The formats of one input that holds sentences and nothing else."""

_OF_LINKS = ("base", "transpose", "drop_out_of_range", "partial", "name")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare all options."""
    parser.add_argument("input", metavar="SRC", help="source sentences, or both; - is stdin")
    parser.add_argument(
        "second", nargs="?", metavar="[TGT]", help="target sentences, where SRC does not hold both"
    )
    _add_output(parser.add_argument_group("what is written"))
    _add_how(parser.add_argument_group("how words are aligned"))
    _add_gold(parser.add_argument_group("what is learned from gold links"))
    add_cluster(parser)
    group = parser.add_argument_group("training (not with --load)")
    for name in SETTINGS:
        if name not in _FIRST:
            add_setting(group, name)
    add_reading_arguments(
        parser,
        formats={**TEXT_FORMATS, **FORMATS},
        default="alignkit's own or bitext or tsv, as the first line says",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    def add(flag: str, text: str, kind: Callable[[str], str] = output_file) -> None:
        group.add_argument(flag, metavar="FILE", type=kind, help=text)

    group.add_argument(
        "-o", "--output", metavar="FILE", type=output, default="-", help="default: stdout"
    )
    group.add_argument(
        "--to",
        type=format_name(WRITTEN),
        default="pharaoh",
        metavar="F",
        help="its format, one of those of --format but bitext and tsv (default: pharaoh)",
    )
    group.add_argument(
        "--to-ids", action="store_true", help="write the pairs' ids before the links (pharaoh)"
    )
    group.add_argument(
        "--probs",
        action="store_true",
        help="write the probabilities of links too, as in 0-0:0.93 (in formats that hold weights)",
    )
    group.add_argument(
        "--annotator",
        metavar="NAME",
        default="alignkit",
        help="what the alignments are called beside those of the input, in formats that hold "
        "several (default: alignkit)",
    )
    add("--save", "write what was learned there, for --load", saved_file)
    add("--scores", "write log P(target | source) and log P(source | target) of each pair there")
    add("--lexicon", "write word pairs there, with their probabilities in both directions")
    group.add_argument(
        "--json",
        action="store_true",
        help="print counts, seconds, each round's log-likelihood and the table of --learn as JSON "
        "on stdout; needs -o",
    )


def _add_how(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--load", metavar="FILE", help="align with what was saved there, without training"
    )
    add_setting(group, "model")
    add_setting(group, "best")
    group.add_argument(
        "--symmetrize",
        choices=SYMMETRIZATIONS,
        default="posterior",
        metavar="M",
        help="take the links that are probable in the mean of both directions (posterior), merge "
        "both best alignments, or take one of them: " + ", ".join(SYMMETRIZATIONS) + " (default: "
        "posterior)",
    )
    group.add_argument(
        "--threshold",
        type=_probability,
        metavar="P",
        help=f"links are more probable than this (posterior alone; default: {THRESHOLD})",
    )
    group.add_argument(
        "--sure",
        type=_probability,
        metavar="P",
        help="links more probable than this are sure, others possible (default: all are sure)",
    )
    group.add_argument(
        "--dictionary",
        metavar="FILE",
        help="lines of source word, tab, target word, and perhaps a tab and a pseudo-count, which "
        "is 3 elsewhere",
    )
    add_vectors(group)
    add_setting(group, "identity")
    group.add_argument(
        "--tokenize",
        nargs="?",
        const="treebank",
        metavar="T",
        help="divide texts into words by nltk first, which the attribute 'tokenizer' of the pairs "
        "records; behind the files, or with a name: "
        + "; ".join(f"{name} ({text})" for name, text in TOKENIZERS.items())
        + " (default: at white space alone)",
    )
    group.add_argument(
        "--keep-case", action="store_true", help="tell words that differ in case alone apart"
    )
    group.add_argument(
        "--folder",
        metavar="DIR",
        help="train from disk: keep what grows with the corpus there, while it trains (default: "
        "in memory; where that does not suffice, in the folder for temporary files)",
    )
    group.add_argument(
        "--threads",
        type=number(1),
        metavar="N",
        help="the result does not depend on them (default: one for each core)",
    )


def _add_gold(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--learn",
        metavar="NAME",
        help="learn from the links of this annotator of the input, and align all pairs with what "
        "was learned; see alignkit learn",
    )
    add_learning(group, default=None)
    group.add_argument(
        "--no-learned", action="store_true", help="--load: align without what was learned from gold"
    )


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, not {text[:40]!r}")
    return value


def check(options: argparse.Namespace) -> None:
    """Check what the options say together, before anything is read."""
    _check_decoding(options)
    _check_learning(options)
    _check_outputs(options)
    if options.tokenize is not None and options.tokenize not in TOKENIZERS:
        if os.path.exists(options.tokenize):
            raise OptionError(
                f"--tokenize {options.tokenize} names a file: put --tokenize behind the files, or "
                f"name the tokenizer ({', '.join(TOKENIZERS)})"
            )
        raise UnknownNameError("tokenizer", options.tokenize, TOKENIZERS)
    check_vectors(options)
    if options.load is not None:
        given = given_settings(options, "dictionary")
        if given:
            raise OptionError(
                f"--load takes what was learned with other options: leave out {', '.join(given)}, "
                "or train anew without --load"
            )
        if options.load == "-":
            raise OptionError("--load needs the name of a file; standard input holds no model")
        if options.save is not None:
            if options.learn or options.prior not in (None, "none"):
                raise OptionError("--load stands without --save: alignkit learn --load saves")
            raise OptionError("--load reads what is saved already: leave out --save")
    if options.second is not None:
        _check_texts(options)


def _check_decoding(options: argparse.Namespace) -> None:
    if options.threshold is not None and options.symmetrize != "posterior":
        raise OptionError("--threshold is for --symmetrize posterior; leave one of them out")
    threshold = THRESHOLD if options.threshold is None else options.threshold
    if options.threshold is None and (options.load or options.learn or options.prior):
        threshold = 0.0  # as was learned, which is checked when it is known
    if options.symmetrize == "posterior" and options.sure is not None and options.sure <= threshold:
        raise OptionError(
            f"links are more probable than {threshold:g} anyway (--threshold), so none of them "
            f"would be only possible: let --sure be more than that, not {options.sure:g}"
        )
    if options.to_ids and options.to != "pharaoh":
        raise OptionError(f"--to-ids is for --to pharaoh; {options.to} has a way of its own")


def _check_learning(options: argparse.Namespace) -> None:
    refuse_learning(options)
    learning = [
        flag
        for flag, given in (
            ("--for", options.objective),
            ("--ignore-identical", options.ignore_identical),
        )
        if given
    ]
    if learning and options.learn is None:
        raise OptionError(f"{learning[0]} stands beside --learn: name an annotator by that")
    if options.no_learned and options.load is None:
        raise OptionError("--no-learned is for --load, which may hold what was learned")
    if options.no_learned and (options.learn or options.prior):
        raise OptionError("--no-learned contradicts --learn and --prior: leave one of them out")
    if (options.learn or options.prior not in (None, "none")) and options.symmetrize != "posterior":
        raise OptionError(
            "what is learned gives probabilities, which --symmetrize posterior takes: leave out "
            "--symmetrize"
        )


def _check_outputs(options: argparse.Namespace) -> None:
    places = [
        path
        for path in (options.output, options.save, options.scores, options.lexicon)
        if path is not None
    ]
    if options.json and any(standard_stream(path) is sys.stdout for path in places):
        raise OptionError("--json prints on standard output: write the rest to files, e.g. by -o")
    if os.path.isdir(options.output) and not get_format(options.to).folder:
        raise OptionError(f"{options.output} is a folder; name a file")
    refuse_unwritable(places)


def _check_texts(options: argparse.Namespace) -> None:
    if options.format is not None:
        raise OptionError(
            "SRC and TGT are texts, line by line: --format is for one input that holds both; the "
            "format of the output is named by --to"
        )
    if options.source or options.target:
        raise OptionError("SRC and TGT hold the words: leave out --source and --target")
    refuse_links(options)


def refuse_links(options: argparse.Namespace) -> None:
    """Refuse options about links that are read, where the input is text."""
    given = [flag(name) for name in _OF_LINKS if getattr(options, name) not in (None, False)]
    if given:
        raise OptionError(f"{given[0]} is about links that are read, and this input is text")
