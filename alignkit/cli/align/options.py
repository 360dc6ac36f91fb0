"""Declare and check the options of `alignkit align` and `alignkit learn`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields

from alignkit.align.settings import RULES, SYMMETRIZATIONS, Settings
from alignkit.cli import parser as parsing
from alignkit.cli.common.cluster import add_cluster
from alignkit.cli.common.encoders import add_encoder, check_encoder
from alignkit.cli.common.inputs import add_reading_arguments
from alignkit.cli.parser import Group, Options, Parser
from alignkit.errors import OptionError, UnknownNameError
from alignkit.io.atomic_files import refuse_unwritable, standard_stream
from alignkit.io.formats import FORMATS, WRITTEN, get_format
from alignkit.model.texts import TOKENIZERS

SETTINGS = {x.name: x for x in fields(Settings) if x.name != "threshold"}  # not of training
_FIRST = ("model", "best", "identity")  # those of the settings that belong to how words are aligned

TEXT_FORMATS = {"bitext": "lines of source ||| target", "tsv": "two columns, separated by a tab"}
"""The formats of a single input that has only sentences."""

_OF_LINKS = ("base", "transpose", "drop_out_of_range", "partial", "name")
_OBJECTIVES = ("links", "aer", "phrases")
_probability = parsing.real("a number from 0 to 1", 0, 1)


def add_settings(group: Group, names: Iterable[str] = SETTINGS) -> None:
    """Add the options for some fields of `Settings`."""
    real = parsing.real("a number, 0 or more", 0)
    kinds: dict[type, Callable[[str], object]] = {int: parsing.number(0), float: real, str: str}
    for name in names:
        default = SETTINGS[name].default
        known = SETTINGS[name].metadata
        rule = RULES.get(name)
        if isinstance(default, bool):
            group.add_argument(
                flag(name), dest=name, action="store_const", const=not default, help=known["help"]
            )
        else:
            group.add_argument(
                flag(name),
                dest=name,
                type=kinds[float if rule else type(default)],
                metavar=known["metavar"],
                help=f"{known['help']} (default: {rule.text if rule else default})",
            )


def flag(name: str) -> str:
    """Return the command-line form of an option name."""
    if name in SETTINGS and SETTINGS[name].default is True:
        no = "no-"
    else:
        no = ""
    return f"--{no}{name.replace('_', '-')}"


def settings_of(options: Options) -> Settings:
    """Return the training settings of the options."""
    given = parsing.option_values(options, *SETTINGS)
    return Settings(**{name: value for name, value in given.items() if value is not None})


def refuse_settings(options: Options, *more: str, instead: str = "") -> None:
    """Refuse training settings, case and `more` with --load, because the aligner is trained."""
    names = [name for name in (*SETTINGS, *more) if getattr(options, name) is not None]
    given = [flag(name) for name in names] + ["--keep-case"] * options.keep_case
    if options.load is not None and given:
        raise OptionError(
            f"--load uses an aligner that is already trained: leave out {', '.join(given)}{instead}"
        )


def add_vectors(group: Group) -> None:
    """Add the options of word vectors."""
    parsing.add_options(
        group,
        """
        --vectors FILE  file of word vectors; as text (word2vec, fastText's .vec, GloVe), binary
            (word2vec) or .npz. Words that occur together get pseudo-counts if their vectors fit
            each other best; with --load, only word pairs that did not occur in training
        --target-vectors FILE  vectors of the target words, if they are in a separate file; in the
            same space
        """,
    )


def add_no_encoder(group: Group) -> None:
    """Add the option that goes on without the encoder of a model."""
    text = "--no-encoder  with --load, go on without the encoder of the training"
    parsing.add_options(group, text)


def check_loaded_encoder(options: Options) -> None:
    """Refuse options of an encoder that do not fit together, to the model, or to vectors."""
    check_encoder(options)
    if options.encoder is not None and options.vectors is not None:
        raise OptionError("--encoder and --vectors do the same: leave one of them out")
    if options.encoder is not None and options.no_encoder:
        raise OptionError("--no-encoder contradicts --encoder: leave one of them out")
    if options.no_encoder and options.load is None:
        raise OptionError("--no-encoder needs --load FILE: add it, or leave --no-encoder out")


def check_vectors(options: Options) -> None:
    """Refuse options of vectors without vectors, and one file for both sides."""
    if options.vectors is None:
        if options.target_vectors is not None:
            what = "--target-vectors needs --vectors FILE"
            raise OptionError(f"{what}: add it, or leave --target-vectors out")
        if options.encoder is None and options.vector_weight is not None:
            what = "--vector-weight needs --encoder or --vectors"
            raise OptionError(f"{what}: add it, or leave --vector-weight out")
    if options.vectors is not None and options.vectors == options.target_vectors:
        raise OptionError(
            f"{options.vectors} is given twice: if one file has the words of both sides, "
            "leave out --target-vectors"
        )


def add_learning(group: Group, *, default: str | None) -> None:
    """Add the options of learning from gold links."""
    if default:
        start = "samples"
    else:
        start = "samples with --learn, else none"
    parsing.add_options(
        group,
        f"""
        --objective O  measure to optimise: 'links' for F1 of links, 'aer' for AER, 'phrases' for F1
            of phrase pairs; aer ignores links that are only possible, phrases uses sure links and
            leaves out pairs of equal phrases (default: links)
        --ignore-identical  leave links of equal words out of the measure (with phrases: always)
        --prior P  starting point of learning: samples, none, or a prior file. samples: learned from
            the samples of this package (default: {start})
        """,
        prior={"default": default},
        objective=_OBJECTIVES,
    )


def add_evidence(group: Group) -> None:
    """Add the options that name the links of other systems."""
    more = {"action": "append"}
    parsing.add_options(
        group,
        """
        --evidence NAME[=FILES]  links of another system, from an annotator of the corpus or from
            files (one, or one for each direction), each with :transpose, :base1 or :FORMAT behind
            it if needed; repeatable
        --evidence-source NAME=FILE  source sentences as the system NAME divided them into tokens
        --evidence-target NAME=FILE  the same for its target sentences
        """,
        evidence=more,
        evidence_source=more,
        evidence_target=more,
    )


def check_prior(options: Options) -> None:
    """Refuse a missing or invalid prior before anything else is read."""
    prior = options.prior
    if prior in (None, "samples", "none"):
        return
    if not os.path.exists(prior):
        raise OptionError(f"--prior {prior}: no such file; expected samples, none, or a file")
    from alignkit.align.supervised.prior import Prior

    Prior.read(prior)


def add_align_options(parser: Parser) -> None:
    """Declare the options of `alignkit align`."""
    parsing.add_options(
        parser,
        """
        SRC  file with the source sentences, or with both sentences of each pair; - is stdin
        TGT  file with the target sentences, if SRC has only the source sentences
        """,
        SRC="input",
        TGT={"dest": "second", "nargs": "?"},
    )
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


def _add_output(group: Group) -> None:
    """Add the options that name what is written."""
    parsing.add_options(
        group,
        """
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
        """,
        output={"type": parsing.output, "default": "-"},
        to={"type": parsing.format_name(WRITTEN), "default": "pharaoh"},
        annotator={"default": "alignkit"},
        save=parsing.saved_file,
        scores=parsing.output_file,
        lexicon=parsing.output_file,
    )


def _add_how(group: Group) -> None:
    """Add the options of choosing links."""
    parsing.add_options(group, "--load FILE  use an aligner saved by --save, without training")
    add_settings(group, ("model", "best"))
    parsing.add_options(
        group,
        f"""
        --symmetrize M  how to combine both directions: {", ".join(SYMMETRIZATIONS)}; posterior
            takes the links with a probability above --threshold, the other methods merge both best
            alignments or take one of them (default: posterior)
        --threshold P  keep links with a probability above P (posterior only; default:
            {RULES["threshold"].text})
        --sure P  links with a probability above P are sure, others possible (default: all sure)
        --dictionary FILE  known word pairs, one per line; source word, tab, target word, and
            optionally a tab and a pseudo-count (default: 3)
        """,
        symmetrize={"choices": SYMMETRIZATIONS, "default": "posterior"},
        threshold=_probability,
        sure=_probability,
    )
    add_encoder(group)
    add_no_encoder(group)
    add_vectors(group)
    add_settings(group, ("identity",))
    names = "; ".join(f"{name} ({text})" for name, text in TOKENIZERS.items())
    parsing.add_options(
        group,
        f"""
        --tokenize T  tokenize the texts with NLTK: {" or ".join(TOKENIZERS)}; put it after the
            files, or name the tokenizer: {names} (default: split at white space). The attribute
            'tokenizer' of the pairs records it
        --keep-case  distinguish upper and lower case (default: ignore case)
        --folder DIR  train from disk, with the training data in this folder (default: in memory;
            if that is too small, in the folder for temporary files)
        --threads N  number of threads; does not change the result (default: one for each core)
        """,
        tokenize={"nargs": "?", "const": "treebank"},
        threads=parsing.number(1),
    )


def _add_gold(group: Group) -> None:
    """Add the options of learning from gold links while aligning."""
    parsing.add_options(
        group,
        """
        --learn NAME  learn from the links of this annotator before aligning; see alignkit learn
        """,
    )
    add_learning(group, default=None)
    add_evidence(group)
    parsing.add_options(
        group,
        """
        --no-learned  with --load, ignore what was learned from gold links
        --no-evidence  with --load, align by what was learned without --evidence
        --vote  keep the links with more than half of the votes; the aligner and each system of
            --evidence vote; needs no gold links
        """,
    )


def check(options: Options) -> None:
    """Check the combination of options of `alignkit align` before anything is read."""
    _check_decoding(options)
    _check_learning(options)
    _check_outputs(options)
    if options.tokenize is not None and options.tokenize not in TOKENIZERS:
        if os.path.exists(options.tokenize):
            raise OptionError(
                f"--tokenize {options.tokenize} names a file: put --tokenize after the "
                f"files, or name the tokenizer ({', '.join(TOKENIZERS)})"
            )
        raise UnknownNameError("tokenizer", options.tokenize, TOKENIZERS)
    check_loaded_encoder(options)
    check_vectors(options)
    refuse_settings(options, "dictionary", instead=", or train again without --load")
    if options.load == "-":
        raise OptionError("--load needs the name of a file; standard input cannot be a model")
    if options.load is not None and options.save is not None:
        if options.learn or options.prior not in (None, "none"):
            raise OptionError("--load does not work with --save: use alignkit learn --load")
        raise OptionError("--load reads an aligner that is already saved: leave out --save")
    if options.second is None:
        return
    if options.format is not None:
        raise OptionError(
            "--format describes a single input with both sides, not SRC and TGT; for the "
            "format of the output, use --to"
        )
    if options.source or options.target:
        raise OptionError("SRC and TGT already have the words: leave out --source and --target")
    refuse_links(options)


def _check_decoding(options: Options) -> None:
    """Refuse options of choosing links that do not fit together."""
    if options.threshold is not None and options.symmetrize != "posterior":
        raise OptionError("--threshold needs --symmetrize posterior; leave one of them out")
    threshold = options.threshold or 0.0  # the default is known, and checked, after training
    if options.symmetrize == "posterior" and options.sure is not None and options.sure <= threshold:
        raise OptionError(
            f"all links are more probable than {threshold:g} (--threshold), so none of them "
            f"would be only possible: use a --sure above that, not {options.sure:g}"
        )
    if options.to_ids and options.to != "pharaoh":
        raise OptionError(f"--to-ids only works with --to pharaoh; {options.to} has its own ids")


def _check_learning(options: Options) -> None:
    """Refuse options about learning, priors and evidence that do not fit together."""
    check_prior(options)
    prior = options.prior not in (None, "none")
    posterior = options.symmetrize == "posterior"
    loaded = options.load and not (options.no_learned or prior)
    uses_evidence = (options.vote or options.learn or loaded) and posterior
    flag = parsing.given_flag(options, "objective", "ignore_identical")
    if flag and options.learn is None:
        raise OptionError(f"{flag} needs --learn NAME: add it, or leave {flag} out")
    if options.no_learned and options.load is None:
        raise OptionError("--no-learned needs --load FILE: add it, or leave --no-learned out")
    if options.evidence and not uses_evidence:
        raise OptionError(
            "--evidence needs --learn NAME, --vote, or --load with a model that learned from it, "
            "and --symmetrize posterior"
        )
    if options.vote and not options.evidence:
        raise OptionError("--vote needs --evidence NAME=FILE")
    if options.vote and (options.learn or prior):
        raise OptionError("--vote uses nothing learned: leave out --learn and --prior")
    if options.no_evidence and (options.evidence or not options.load):
        raise OptionError("--no-evidence needs --load, and contradicts --evidence")
    if options.no_learned and (options.learn or options.prior):
        raise OptionError("--no-learned contradicts --learn and --prior: leave one of them out")
    if (options.learn or prior) and not posterior:
        raise OptionError(
            "learning corrects probabilities, which only --symmetrize posterior uses: leave out "
            "--symmetrize"
        )


def _check_outputs(options: Options) -> None:
    """Refuse outputs that cannot be written, or that mix with JSON."""
    paths = options.output, options.save, options.scores, options.lexicon
    places = [path for path in paths if path is not None]
    if options.json and any(standard_stream(path) is sys.stdout for path in places):
        raise OptionError("--json prints on standard output: write links to a file with -o FILE")
    if os.path.isdir(options.output) and not get_format(options.to).folder:
        raise OptionError(f"{options.output} is a folder; name a file")
    refuse_unwritable(places)


def refuse_links(options: Options) -> None:
    """Refuse options for reading links if the input is plain text."""
    given = [flag(name) for name in _OF_LINKS if getattr(options, name) not in (None, False)]
    if options.evidence and "--partial" in given:  # says something of its files
        given.remove("--partial")
    if given:
        raise OptionError(f"{given[0]} is for reading links, but this input is text: leave it out")
