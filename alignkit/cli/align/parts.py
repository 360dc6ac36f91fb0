"""Run `alignkit align` on parts of a corpus, one by one or on the workers of a cluster."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from alignkit._support.wording import how_many
from alignkit.cli.align.input import read_dictionary
from alignkit.cli.align.options import settings_of
from alignkit.cli.align.training import report_entries, report_odd, report_rounds
from alignkit.cli.common.cluster import (
    PartsProgress,
    opened_session,
    reading_of,
    refuse_options,
    size,
)
from alignkit.cli.common.messages import json_text, say
from alignkit.errors import OptionError

_NOT_HERE: dict[str, object] = {
    **dict.fromkeys(("lexicon", "tokenize", "learn", "prior", "vectors", "target_vectors")),
    **dict.fromkeys(("format", "source", "target")),
    "to": "pharaoh",
    **dict.fromkeys(("evidence", "evidence_source", "evidence_target")),
    **dict.fromkeys(("to_ids", "vote", "no_evidence"), False),
    "unescape": False,
}


def run_parts(options: argparse.Namespace) -> int:
    """Align parts with a saved model or one trained on them, or estimate the resources."""
    refuse_options(options, _NOT_HERE, "parts are plain texts, and the output is in format pharaoh")
    if options.second is None:
        raise OptionError("parts need SRC and TGT, such as 'in/*.fr' 'in/*.en'")
    if options.estimate:
        return _estimate(options)
    return _train(options) if options.load is None else _align(options)


def _align(options: argparse.Namespace) -> int:
    if options.output == "-":
        raise OptionError("the links of parts go to files: name them, as in -o 'out/*.align.gz'")
    from alignkit.cluster.aligning import align_parts
    from alignkit.cluster.parts import LinkOutput, find_parts

    parts = find_parts(options.input, options.second)
    how = LinkOutput(options.symmetrize, options.threshold, options.sure, options.probs)
    with opened_session(options) as session, PartsProgress("aligning") as progress:
        counts = align_parts(
            session, parts, options.output, options.load, how, scores=options.scores,
            learned=not options.no_learned, reading=reading_of(options), threads=options.threads,
            work=options.work, progress=progress,
        )  # fmt: skip
    name = f"{options.input} and {options.second}"
    report_odd(name, counts.empty, counts.cut)
    say(f"{name}: {len(parts):,} parts, {counts.pairs:,} pairs, {counts.links:,} links")
    if options.json:
        print(json_text(vars(counts)))
    return 0


def _estimate(options: argparse.Namespace) -> int:
    """Print estimates of the size of the texts and of the resources."""
    from alignkit.cluster.aligning import memory_of
    from alignkit.cluster.estimate import estimate_texts
    from alignkit.cluster.parts import find_parts

    result = estimate_texts(find_parts(options.input, options.second), reading_of(options))
    noun = "part" if result.parts == 1 else "parts"
    print(
        f"about {result.pairs:,} pairs of {result.source_words:,} x {result.target_words:,} words "
        f"in {result.parts:,} {noun}, the largest with {result.largest:,}; {result.cells:,} cells"
    )
    if options.load is not None:
        print(f"aligning needs about {size(memory_of(options.load))} of memory for each worker")
    else:
        print(
            f"training on one machine needs about {size(result.memory)} of memory, and "
            f"{size(result.disk)} of disk (--folder); on these parts, with --work, "
            f"{size(result.worker)} of memory for each worker"
        )
    return 0


def _train(options: argparse.Namespace) -> int:
    """Run the command on parts, without a saved model."""
    output = None if options.output == "-" else options.output
    if output is None and options.save is None:
        links = "name the files for the links, as in -o 'out/*.align.gz'"
        raise OptionError(f"{links}, or the file for the model with --save")
    if options.work is None:
        raise OptionError(
            "training on parts needs a folder that all workers can access: name it with --work "
            "(not needed with a saved model, --load)"
        )
    from alignkit.cluster.parts import LinkOutput, PartOutputs, find_parts
    from alignkit.cluster.training import train_parts

    casefold = not options.keep_case
    dictionary = read_dictionary(options, casefold=casefold)
    how = LinkOutput(options.symmetrize, options.threshold, options.sure, options.probs)
    parts = find_parts(options.input, options.second)
    outputs = PartOutputs(output, options.scores, how)
    outputs.check(parts, options.save, *filter(None, [options.dictionary]))
    with opened_session(options) as session, PartsProgress("training") as progress:
        result = train_parts(
            session, parts, settings_of(options), work=options.work, save=options.save,
            outputs=outputs, dictionary=dictionary, casefold=casefold, reading=reading_of(options),
            threads=options.threads, progress=progress,
        )  # fmt: skip
    if dictionary is not None:
        report_entries(result.entries_met, dictionary)
    report_rounds(result.history, (result.source_words, result.target_words))
    shards = how_many(result.shards, "shard")
    say(
        f"{options.input} and {options.second}: {result.parts:,} parts, {result.pairs:,} pairs, "
        f"{result.word_pairs:,} word pairs in {shards}"
    )
    if options.json:
        print(json_text(asdict(result)))
    return 0
