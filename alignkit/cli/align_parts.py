"""Align parts of a corpus, here or on a cluster: the face of `alignkit.cluster.aligning`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from alignkit.aligner.settings import LONGEST_PIECE
from alignkit.brief import how_many
from alignkit.cli.align_input import read_dictionary
from alignkit.cli.align_output import tell_rounds
from alignkit.cli.align_settings import settings_of
from alignkit.cli.cluster import PartsProgress, opened_session, reading_of, refuse_options, size
from alignkit.cli.messages import json_text, say
from alignkit.errors import OptionError

_NOT_HERE: dict[str, object] = {
    "to": "pharaoh",
    "to_ids": False,
    "lexicon": None,
    "tokenize": None,
    "unescape": False,
    "learn": None,
    "prior": None,
    "vectors": None,
    "target_vectors": None,
    "format": None,
    "source": None,
    "target": None,
}


def align_parts(options: argparse.Namespace) -> int:
    """Run the command on parts."""
    refuse_options(options, _NOT_HERE, "texts of words go to Pharaoh lines there")
    if options.second is None:
        raise OptionError("parts are two texts each: name SRC and TGT, as in 'in/*.fr' 'in/*.en'")
    if options.estimate:
        return _estimate(options)
    if options.load is None:
        return _train(options)
    if options.output == "-":
        raise OptionError("the links of parts go to files: name them by -o, as in 'out/*.align.gz'")
    from alignkit.cluster.aligning import align_parts
    from alignkit.cluster.outputs import Links
    from alignkit.cluster.parts import find_parts

    parts = find_parts(options.input, options.second)
    how = Links(options.symmetrize, options.threshold, options.sure, options.probs)
    with opened_session(options) as session, PartsProgress("aligning") as progress:
        counts = align_parts(
            session,
            parts,
            options.output,
            options.load,
            how,
            scores=options.scores,
            learned=not options.no_learned,
            reading=reading_of(options),
            threads=options.threads,
            work=options.work,
            progress=progress,
        )
    name = f"{options.input} and {options.second}"
    if counts.empty:
        say(f"{name}: {counts.empty:,} x pair with an empty side, aligned to nothing")
    if counts.cut:
        say(
            f"{name}: {counts.cut:,} x pair with more than {LONGEST_PIECE} words on a side, "
            "aligned in pieces"
        )
    say(f"{name}: {len(parts):,} parts, {counts.pairs:,} pairs, {counts.links:,} links")
    if options.json:
        print(json_text(vars(counts)))
    return 0


def _estimate(options: argparse.Namespace) -> int:
    """Print about how large the texts are, and what they take."""
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
        print(f"aligning takes about {size(memory_of(options.load))} of memory a worker")
    else:
        print(
            f"training on one machine takes about {size(result.memory)} of memory, and "
            f"{size(result.disk)} of disk (--folder); on these parts, with --work, "
            f"{size(result.worker)} of memory a worker"
        )
    return 0


def _train(options: argparse.Namespace) -> int:
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
        result = train_parts(
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
            f"dictionary: {result.entries_met:,} of {len(dictionary):,} entries occur together in "
            "the text"
        )
    tell_rounds(result.history, (result.source_words, result.target_words))
    shards = how_many(result.shards, "shard")
    say(
        f"{options.input} and {options.second}: {result.parts:,} parts, {result.pairs:,} pairs, "
        f"{result.word_pairs:,} word pairs in {shards}"
    )
    if options.json:
        print(json_text(asdict(result)))
    return 0
