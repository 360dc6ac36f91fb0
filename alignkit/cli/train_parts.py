"""Train on parts of a corpus, here or on a cluster: the face of `alignkit.cluster.training`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from alignkit.brief import how_many
from alignkit.cli.align_input import read_dictionary
from alignkit.cli.align_output import tell_rounds
from alignkit.cli.align_settings import settings_of
from alignkit.cli.cluster import PartsProgress, opened_session, reading_of
from alignkit.cli.messages import json_text, say
from alignkit.errors import OptionError


def train_parts(options: argparse.Namespace) -> int:
    """Run the command on parts, without a saved model."""
    output = None if options.output == "-" else options.output
    if output is None and options.save is None:
        raise OptionError(
            "name where the links of parts go by -o, as in 'out/*.align.gz', or where the model "
            "goes by --save"
        )
    if options.work is None:
        raise OptionError(
            "training on parts keeps what is done in a folder that all workers see: name it by "
            "--work; with a saved model (--load), it is not needed"
        )
    from alignkit.cluster.outputs import Links, Outputs
    from alignkit.cluster.parts import find_parts
    from alignkit.cluster.training import train_parts

    casefold = not options.keep_case
    dictionary = None
    if options.dictionary is not None:
        dictionary = read_dictionary(options.dictionary, options, casefold=casefold)
    how = Links(options.symmetrize, options.threshold, options.sure, options.probs)
    parts = find_parts(options.input, options.second)
    outputs = Outputs(output, options.scores, how)
    outputs.check(parts, options.save, *filter(None, [options.dictionary]))
    with opened_session(options) as session, PartsProgress("training") as progress:
        found = train_parts(
            session,
            parts,
            settings_of(options),
            work=options.work,
            save=options.save,
            outputs=outputs,
            dictionary=dictionary,
            casefold=casefold,
            reading=reading_of(options),
            threads=options.threads,
            progress=progress,
        )
    if dictionary is not None:
        say(
            f"dictionary: {found.entries_met:,} of {len(dictionary):,} entries occur together in "
            "the text"
        )
    tell_rounds(found.history, (found.source_words, found.target_words))
    shards = how_many(found.shards, "shard")
    say(
        f"{options.input} and {options.second}: {found.parts:,} parts, {found.pairs:,} pairs, "
        f"{found.word_pairs:,} word pairs in {shards}"
    )
    if options.json:
        print(json_text(asdict(found)))
    return 0
