"""Measure how far suggestions pull annotators, from the control sample of a project.

For each pair of the control sample, chance decides which annotators see suggestions. The pull is
how much higher the F1 with the suggestions is for those who saw them, as a mean over these pairs.
Pairs count as soon as they are done. The server may be running.

For example:
  alignkit project bias corpus.jsonl.alignkit
  alignkit project bias corpus.jsonl.alignkit --least 0.5 --json
"""

from __future__ import annotations

from alignkit.cli.annotate.project import add_project_argument, open_project
from alignkit.cli.common.media import add_media
from alignkit.cli.common.messages import json_text
from alignkit.cli.parser import Options, Parser, add_options, number, option_values
from alignkit.stats.defaults import CONFIDENCE, SEED


def add_arguments(parser: Parser) -> None:
    """Declare the arguments of `alignkit project bias`."""
    add_project_argument(parser)
    add_options(
        parser,
        f"""
        --least P  minimum probability of suggestions that count (default: 0)
        --resamples N  number of resamples for the intervals (default: 2000)
        --confidence C  confidence of the intervals (default: {CONFIDENCE})
        --seed N  seed of all random draws (default: {SEED})
        """,
        least={"type": float, "default": 0.0},
        resamples={"type": number(1), "default": 2000},
        confidence={"type": float, "default": CONFIDENCE},
        seed={"type": number(0), "default": SEED},
    )
    add_media(parser, csv=None)


def run(options: Options) -> None:
    from alignkit.annotate.control_sample import control_pairs
    from alignkit.annotate.preannotation_bias import estimate_pull
    from alignkit.annotate.pull_result import PullOptions

    given = option_values(options, "least", "resamples", "confidence", "seed")
    with open_project(options, readonly=True) as store, store.database.reading() as conn:
        estimate = estimate_pull(control_pairs(conn), PullOptions(**given))
    print(json_text(estimate.to_dict()) if options.json else estimate.show(options.medium))
