"""Score the rules learned from alignments against the rules of a gold standard.

Both are learned over the same trees. Precision is the share of minimal rules of the hypothesis that
are found in the reference, as a minimal rule or as a combination of up to three; recall is the
reverse. The same is computed for pairs of matched nodes: are they consistent with the links of the
other side? Both measures are also given without identities (rules with two equal sides).

For example:
  alignkit score-rules a.align gold.jsonl --ref-annotator gold --in-order --both-trees both.trees
  alignkit score-rules corpus.jsonl --hyp-annotator anna --ref-annotator gold --ci
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from alignkit.cli.common import inputs, sides
from alignkit.cli.common.media import add_media, drawing_of, print_result
from alignkit.cli.common.messages import in_words_of, warn
from alignkit.cli.common.trees import add_tree_options, one_tree_a_side, tree_name, with_trees
from alignkit.cli.evaluate.score import add_draws, settle_draws
from alignkit.cli.parser import Options, Parser, add_options
from alignkit.errors import OptionError

if TYPE_CHECKING:
    from alignkit.io.inputs import LinkInput
    from alignkit.model.sentence_pair import SentencePair


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit score-rules`."""
    sides.add_sides(parser, "alignments to score; - is stdin")
    add_tree_options(parser)
    group = parser.add_argument_group("scoring")
    add_options(
        group,
        "--links  sure: use sure links, possible: use sure and possible links (default: sure)",
        links={"choices": ("sure", "possible"), "default": "sure"},
    )
    inputs.add_order_argument(group)
    group = parser.add_argument_group("intervals")
    add_options(group, "--ci  print bootstrap intervals over sentence pairs (default: none)")
    add_draws(group, "for --ci")
    add_media(parser.add_argument_group("output"))
    inputs.add_reading_arguments(parser)


def run(options: Options) -> int:
    """Learn rules from both alignments, and print how well they agree."""
    settle_draws(options, drawn=options.ci, wanting="add --ci")
    if options.reference is None and not (options.hyp_annotator and options.ref_annotator):
        raise OptionError(
            f"name REF, or, if {options.hypothesis} has both alignments, name their "
            "annotators with --hyp-annotator and --ref-annotator"
        )
    from alignkit.rules.rule_score import UNANNOTATED, score_rules
    from alignkit.scoring.files import TwoFiles

    declared = sides.declared_sides(options, options.hyp_annotator)

    def parsed(pairs: Iterator[SentencePair]) -> Iterator[SentencePair]:
        return one_tree_a_side(options, with_trees(options, pairs))

    def open_both() -> tuple[LinkInput, LinkInput]:
        hyp, ref = sides.open_sides(options.hypothesis, options.reference, declared)
        ref.way = parsed
        return hyp, ref

    files = TwoFiles(open_both, declared, pairwise=True, tell=warn)
    score = score_rules(
        files.annotated(),
        "hyp",
        "ref",
        links=options.links,
        source_tree=tree_name(options),
        target_tree=tree_name(options),
        signature=files.signature,
    )
    cautions = tuple(in_words_of(options, caution) for caution in files.cautions)
    score = replace(score, suspicions=cautions)
    for path, suspicion in files.suspicions.items():
        warn(in_words_of(options, f"{path}: warning: {suspicion}"))
    if files.skipped:
        score = score.with_skipped(UNANNOTATED, files.skipped)
    if not score.pairs:
        raise OptionError(
            f"{options.reference or options.hypothesis}: no sentence pair has trees on both "
            "sides and both alignments; name files of trees with --source-trees and "
            "--target-trees"
        )
    if options.ci:
        score = score.with_intervals(**drawing_of(options))
    print_result(score, options)
    return 0
