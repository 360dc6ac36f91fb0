"""Tell how far suggestions pull annotators, from the control sample of a project.

On the pairs that `assign` puts into it, some see suggestions and some do not, by a coin. The pull
is the mean over these pairs of what F1 with the suggestions is higher for who saw them. Pairs
count as soon as they are done. A server may be running.

For example:
  alignkit pull corpus.jsonl.alignkit
  alignkit pull corpus.jsonl.alignkit --least 0.5 --json
"""

from __future__ import annotations

import argparse

from alignkit.cli.common.files import require_extra
from alignkit.cli.common.media import add_media
from alignkit.cli.common.messages import json_text
from alignkit.cli.parser import number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("project", metavar="PROJECT", help="the project's file")
    parser.add_argument(
        "--least",
        metavar="P",
        type=float,
        default=0.0,
        help="the least probability of suggestions that count (default: 0)",
    )
    parser.add_argument(
        "--resamples",
        metavar="N",
        type=number(1),
        default=2000,
        help="how many times to draw pairs for intervals (default: 2000)",
    )
    parser.add_argument(
        "--confidence", metavar="C", type=float, default=0.95, help="of intervals (default: 0.95)"
    )
    parser.add_argument(
        "--seed", metavar="N", type=number(0), default=12345, help="of the draws (default: 12345)"
    )
    add_media(parser, csv=None)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("annotate")
    from alignkit.annotate.preannotation_bias import PullOptions, control_pairs, estimate_pull
    from alignkit.annotate.project.store import Store

    chosen = PullOptions(
        least=options.least,
        resamples=options.resamples,
        confidence=options.confidence,
        seed=options.seed,
    )
    with Store.open(options.project, readonly=True) as store, store.database.reading() as link:
        pairs = list(control_pairs(link))
    estimate = estimate_pull(pairs, chosen)
    print(json_text(estimate.to_dict()) if options.json else estimate.show(options.medium))
    return 0
