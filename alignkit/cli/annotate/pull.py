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
from alignkit.cli.parser import add_options, number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, """
        PROJECT  the project's file
        --least P  the least probability of suggestions that count (default: 0)
        --resamples N  how many times to draw pairs for intervals (default: 2000)
        --confidence C  of intervals (default: 0.95)
        --seed N  of the draws (default: 12345)
        """, PROJECT={"dest": "project"}, least={"type": float, "default": 0.0},
        resamples={"type": number(1), "default": 2000}, confidence={"type": float, "default": 0.95},
        seed={"type": number(0), "default": 12345})  # fmt: skip
    add_media(parser, csv=None)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require_extra("annotate")
    from alignkit.annotate.preannotation_bias import PullOptions, control_pairs, estimate_pull
    from alignkit.annotate.project.store import Store

    names = ("least", "resamples", "confidence", "seed")
    chosen = PullOptions(**{name: getattr(options, name) for name in names})
    with Store.open(options.project, readonly=True) as store, store.database.reading() as conn:
        estimate = estimate_pull(control_pairs(conn), chosen)
    print(json_text(estimate.to_dict()) if options.json else estimate.show(options.medium))
    return 0
