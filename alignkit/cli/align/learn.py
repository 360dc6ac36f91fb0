"""Learn from gold links to align better, and measure the gain by cross-validation.

CORPUS has words, and links of an annotator for some of its pairs. An aligner is loaded, or trained
on all pairs. Its probability of each link is then corrected by what the annotated pairs teach. The
report estimates the quality on new pairs, and how well the probabilities match the shares of
correct links. The less certain the gain, the nearer the saved aligner stays to what it was; if
there is no gain, the report says so, and it aligns as before.

For example:
  alignkit learn corpus.jsonl --gold anna --save learned.model
  alignkit align new.en other.en --load learned.model -o new.align
  alignkit learn dev.align --source dev.fr --target dev.en --load fr-en.model --save better.model
  alignkit learn corpus.jsonl --objective aer
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.cli.align import options as shared
from alignkit.cli.align import steps
from alignkit.cli.common.encoders import add_encoder, encoder_with_progress
from alignkit.cli.common.inputs import Input, add_reading_arguments
from alignkit.cli.common.media import add_media, print_result
from alignkit.cli.common.messages import warn
from alignkit.cli.parser import Options, Parser, add_options, number, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable

if TYPE_CHECKING:
    from alignkit.align.evidence import Annotators
    from alignkit.model.corpus import Corpus


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit learn`."""
    parser.add_argument("input", metavar="CORPUS", help="words and gold links; - is stdin")
    group = parser.add_argument_group("learning")
    add_options(
        group,
        """
        --gold NAME  annotator whose links are learned (default: gold, or the only annotator)
        """,
    )
    shared.add_learning(group, default="samples")
    shared.add_evidence(group)
    add_encoder(group)
    shared.add_no_encoder(group)
    shared.add_vectors(group)
    add_options(
        group,
        """
        --save FILE  save the aligner with what it learned, for align --load (default: only print
            the report)
        """,
        save=saved_file,
    )
    add_media(group)
    add_options(
        group,
        "--threads N  number of threads; does not change the result (default: one for each core)",
        threads=number(1),
    )
    group = parser.add_argument_group("the aligner to improve")
    add_options(
        group,
        """
        --load FILE  saved aligner to start from (default: train one on all pairs of CORPUS)
        --keep-case  distinguish upper and lower case (default: ignore case)
        """,
    )
    shared.add_settings(group)
    add_reading_arguments(parser)


def run(options: Options) -> None:
    settings = shared.settings_of(options)
    shared.check_prior(options)
    shared.check_loaded_encoder(options)
    shared.check_vectors(options)
    shared.refuse_settings(options)
    if options.save is not None:
        refuse_unwritable([options.save])
    encoder = encoder_with_progress(options, options.threads or 1)
    corpus = Input.of(options).corpus(needed=True)
    gold = _gold(corpus, options)
    steps.check_gold(corpus, gold, options.input)
    from alignkit.align.bitext import Bitext

    bitext = Bitext.pack(
        (pair.words for pair in corpus),
        casefold=not options.keep_case,
        written=steps.needs_written(options),
    )
    systems: Annotators = {}
    if options.evidence:
        pairs, systems = steps.read_evidence(options, tuple(corpus), gold)
        corpus = type(corpus)(pairs)
    if options.load is not None:
        aligner = steps.load_aligner(options, encoder, bitext)
        steps.report_replaced(aligner, options)
        if caution := aligner.known_words(bitext).caution:
            warn(f"{options.load}: warning: {caution}")
    else:
        vectors = steps.read_two_vectors(options, bitext)
        aligner = steps.train_aligner(bitext, settings, options, vectors, encoder=encoder)
    aligner, report = steps.learned_of(aligner, corpus, gold, options, systems)
    steps.report_encoding(aligner)
    try:
        if options.save is not None:
            aligner.save(options.save)
    finally:  # the report is printed even where the aligner cannot be saved
        print_result(report, options)


def _gold(corpus: Corpus, options: Options) -> str:
    """Return the annotator to learn from."""
    if options.gold is not None:
        corpus.require(options.gold)
        return str(options.gold)
    names = corpus.aligners
    if "gold" in names:
        return "gold"
    if not names:
        raise OptionError(f"{options.input}: no pair is aligned, so there is nothing to learn from")
    if len(names) > 1:
        raise OptionError(f"{options.input}: aligned by {', '.join(names)}; choose one with --gold")
    return names[0]
