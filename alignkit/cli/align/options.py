"""The options of `alignkit align` and of `alignkit learn`, declared and checked."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields

from alignkit.align.settings import SYMMETRIZATIONS, THRESHOLD, Settings
from alignkit.cli.common.cluster import add_cluster
from alignkit.cli.common.inputs import add_reading_arguments
from alignkit.cli.parser import (
    add_options,
    format_name,
    number,
    output,
    output_file,
    real,
    saved_file,
)
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.atomic_files import refuse_unwritable, standard_stream
from alignkit.io.formats import FORMATS, WRITTEN, get_format
from alignkit.model.texts import TOKENIZERS

SETTINGS = {setting.name: setting for setting in fields(Settings)}
_FIRST = ("model", "best", "identity")  # those of the settings that belong to how words are aligned

TEXT_FORMATS = {"bitext": "lines of source ||| target", "tsv": "two columns, divided by a tab"}
"""The formats of one input that holds sentences and nothing else."""

_OF_LINKS = ("base", "transpose", "drop_out_of_range", "partial", "name")
_OBJECTIVES = ("links", "aer", "phrases")
_probability = real("a number from 0 to 1", 0, 1)


def add_settings(group: argparse._ArgumentGroup, names: Iterable[str] = SETTINGS) -> None:
    """Add the options of some of the fields of `Settings`."""
    kinds: dict[type, Callable[[str], object]] = {
        int: number(0),
        float: real("a number, 0 or more", 0),
        str: str,
    }
    for name in names:
        default, known = SETTINGS[name].default, SETTINGS[name].metadata
        if isinstance(default, bool):
            group.add_argument(
                flag(name), dest=name, action="store_const", const=not default, help=known["help"]
            )
        else:
            group.add_argument(
                flag(name), dest=name, type=kinds[type(default)], metavar=known["metavar"],
                help=f"{known['help']} (default: {default})",
            )  # fmt: skip


def flag(name: str) -> str:
    """Return how the option of a name is written."""
    no = "no-" if name in SETTINGS and SETTINGS[name].default is True else ""
    return f"--{no}{name.replace('_', '-')}"


def settings_of(options: argparse.Namespace) -> Settings:
    """Return how to train, as the options say."""
    given = {name: getattr(options, name) for name in SETTINGS}
    return Settings(**{name: value for name, value in given.items() if value is not None})


def refuse_settings(options: argparse.Namespace, *more: str, instead: str = "") -> None:
    """Refuse settings, case and `more` where --load names an aligner that is trained already."""
    names = [name for name in (*SETTINGS, *more) if getattr(options, name) is not None]
    given = [flag(name) for name in names] + ["--keep-case"] * options.keep_case
    if options.load is not None and given:
        why = "--load takes what was learned with other options"
        raise OptionError(f"{why}: leave out {', '.join(given)}{instead}")


def add_vectors(group: argparse._ArgumentGroup) -> None:
    """Add the options that name files of vectors."""
    add_options(group, """
        --vectors FILE  file of word vectors; as text (word2vec, fastText's .vec, GloVe), binary
            (word2vec) or .npz. Words that occur together get pseudo-counts that grow with the
            similarity of their vectors; with --load, only word pairs that did not occur in training
        --target-vectors FILE  vectors of the target words, if they are in a separate file; in the
            same space
        """)  # fmt: skip


def check_vectors(options: argparse.Namespace) -> None:
    """Refuse options of vectors without vectors, and one file for both sides."""
    names = ("target_vectors", "vector_weight", "vector_least")
    given = [flag(name) for name in names if getattr(options, name) is not None]
    if given and options.vectors is None:
        raise OptionError(f"{given[0]} stands beside --vectors: name the file of vectors by that")
    if options.vectors is not None and options.vectors == options.target_vectors:
        instead = "if one file holds the words of both sides, leave out --target-vectors"
        raise OptionError(f"{options.vectors} is named twice: {instead}")


def add_learning(group: argparse._ArgumentGroup, *, default: str | None) -> None:
    """Add the options of what is learned for, and from which start."""
    start = "samples" if default else "samples with --learn, else none"
    add_options(group, f"""
        --objective O  measure to optimise: links, aer or phrases. links: F1 of links; aer: the
            alignment error rate, which ignores links that are only possible; phrases: F1 of sure,
            non-identical phrase pairs (default: links)
        --ignore-identical  leave links of equal words out of the measure (phrases: always)
        --prior P  starting point of learning: samples, none, or a prior file. samples: learned from
            the samples of this package (default: {start})
        """, prior={"default": default}, objective={"choices": _OBJECTIVES})  # fmt: skip


def check_prior(options: argparse.Namespace) -> None:
    """Refuse a prior that is not there, or is none, before anything else is read."""
    prior = options.prior
    if prior in (None, "samples", "none"):
        return
    if not os.path.exists(prior):
        raise OptionError(f"--prior {prior}: no such file; expected samples, none, or a file")
    from alignkit.align.supervised.learned import Prior

    Prior.read(prior)


def add_align_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `alignkit align`."""
    add_options(parser, """
        SRC  source sentences, or both sides; - is stdin
        [TGT]  target sentences, if SRC does not have both sides
        """, SRC={"dest": "input"}, **{"[TGT]": {"dest": "second", "nargs": "?"}})  # fmt: skip
    _add_output(parser.add_argument_group("output"))
    _add_how(parser.add_argument_group("aligning"))
    _add_gold(parser.add_argument_group("learning from gold links"))
    add_cluster(parser)
    group = parser.add_argument_group("training (not with --load)")
    add_settings(group, (name for name in SETTINGS if name not in _FIRST))
    add_reading_arguments(
        parser,
        formats={**TEXT_FORMATS, **FORMATS},
        default="detected by the first line: alignkit's own, bitext or tsv",
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    add_options(group, """
        -o, --output FILE  file to write (default: stdout)
        --to F  format of the output (default: pharaoh); as for --format, except bitext and tsv
        --to-ids  write the id of each pair before its links (pharaoh)
        --probs  write the probability of each link, as in 0-0:0.93 (in formats with weights)
        --annotator NAME  name of the new alignments, in formats with several annotators (default:
            alignkit)
        --save FILE  save the trained aligner, for --load
        --scores FILE  write log P(target | source) and log P(source | target) of each pair
        --lexicon FILE  write word pairs with their probabilities in both directions
        --json  print counts, seconds, the log-likelihood of each round and the table of --learn as
            JSON on stdout; needs -o
        """, output={"type": output, "default": "-"},
        to={"type": format_name(WRITTEN), "default": "pharaoh"}, annotator={"default": "alignkit"},
        save={"type": saved_file}, scores={"type": output_file},
        lexicon={"type": output_file})  # fmt: skip


def _add_how(group: argparse._ArgumentGroup) -> None:
    add_options(group, "--load FILE  use an aligner saved by --save, without training")
    add_settings(group, ("model", "best"))
    add_options(group, f"""
        --symmetrize M  method to combine both directions (default: posterior); posterior takes the
            links that are probable in the mean of both, the others merge both best alignments or
            take one of them: {", ".join(SYMMETRIZATIONS)}
        --threshold P  keep links with a probability above P (posterior only; default: {THRESHOLD})
        --sure P  links with a probability above P are sure, others possible (default: all sure)
        --dictionary FILE  known word pairs, one a line; source word, tab, target word, and
            optionally a tab and a pseudo-count (default: 3)
        """, symmetrize={"choices": SYMMETRIZATIONS, "default": "posterior"},
        threshold={"type": _probability}, sure={"type": _probability})  # fmt: skip
    add_vectors(group)
    add_settings(group, ("identity",))
    names = "; ".join(f"{name} ({text})" for name, text in TOKENIZERS.items())
    add_options(group, f"""
        --tokenize T  divide texts into words with nltk; put it after the files, or name the
            tokenizer: {names} (default: split at white space). The attribute 'tokenizer' of the
            pairs records it
        --keep-case  distinguish upper and lower case (default: ignore case)
        --folder DIR  train from disk, with the training data in this folder (default: in memory;
            if that is too small, in the folder for temporary files)
        --threads N  number of threads; does not change the result (default: one for each core)
        """, tokenize={"nargs": "?", "const": "treebank"}, threads={"type": number(1)})  # fmt: skip


def _add_gold(group: argparse._ArgumentGroup) -> None:
    add_options(group, """
        --learn NAME  learn from the links of this annotator before aligning; see alignkit learn
        """)  # fmt: skip
    add_learning(group, default=None)
    add_options(group, "--no-learned  with --load, ignore what was learned from gold links")


def check(options: argparse.Namespace) -> None:
    """Check what the options of `alignkit align` say together, before anything is read."""
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
    refuse_settings(options, "dictionary", instead=", or train anew without --load")
    if options.load == "-":
        raise OptionError("--load needs the name of a file; standard input holds no model")
    if options.load is not None and options.save is not None:
        if options.learn or options.prior not in (None, "none"):
            raise OptionError("--load stands without --save: alignkit learn --load saves")
        raise OptionError("--load reads what is saved already: leave out --save")
    if options.second is None:
        return
    if options.format is not None:
        why = "--format is for one input that holds SRC and TGT"
        raise OptionError(f"{why}; the format of the output is named by --to")
    if options.source or options.target:
        raise OptionError("SRC and TGT hold the words: leave out --source and --target")
    refuse_links(options)


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
    check_prior(options)
    given = {"--objective": options.objective, "--ignore-identical": options.ignore_identical}
    learning = [flag for flag, value in given.items() if value]
    if learning and options.learn is None:
        raise OptionError(f"{learning[0]} stands beside --learn: name an annotator by that")
    if options.no_learned and options.load is None:
        raise OptionError("--no-learned is for --load, which may hold what was learned")
    if options.no_learned and (options.learn or options.prior):
        raise OptionError("--no-learned contradicts --learn and --prior: leave one of them out")
    if (options.learn or options.prior not in (None, "none")) and options.symmetrize != "posterior":
        why = "what is learned gives probabilities, which --symmetrize posterior takes"
        raise OptionError(f"{why}: leave out --symmetrize")


def _check_outputs(options: argparse.Namespace) -> None:
    paths = options.output, options.save, options.scores, options.lexicon
    places = [path for path in paths if path is not None]
    if options.json and any(standard_stream(path) is sys.stdout for path in places):
        raise OptionError("--json prints on standard output: write the rest to files, e.g. by -o")
    if os.path.isdir(options.output) and not get_format(options.to).folder:
        raise OptionError(f"{options.output} is a folder; name a file")
    refuse_unwritable(places)


def refuse_links(options: argparse.Namespace) -> None:
    """Refuse options about links that are read, where the input is text."""
    given = [flag(name) for name in _OF_LINKS if getattr(options, name) not in (None, False)]
    if given:
        raise OptionError(f"{given[0]} is about links that are read, and this input is text")
