"""Write what `alignkit align` found: alignments, scores, the lexicon, and what it did."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING

from alignkit.annotation import Annotation
from alignkit.cli.align_input import Block
from alignkit.cli.cluster import size
from alignkit.cli.convert import tell_lost
from alignkit.cli.messages import json_text, say
from alignkit.errors import OptionError
from alignkit.formats import get_format, write_corpus
from alignkit.frozen import FrozenMap
from alignkit.output import replacing, replacing_bytes
from alignkit.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.aligner import AlignedLinks, Aligner, Bitext, Round, Settings
    from alignkit.aligner.refine import LearningReport

Aligned = Iterable["tuple[Block, AlignedLinks]"]


def write_alignments(aligned: Aligned, options: argparse.Namespace) -> None:
    """Write the alignments of all blocks; the file takes its place when all is written."""
    if options.to == "pharaoh" and not options.to_ids:
        _write_plain(aligned, options)
        return
    lost = write_corpus(
        _annotated(aligned, options),
        options.output,
        format=options.to,
        ids=options.to_ids,
        weights=options.probs,
    )
    tell_lost(options.output, options.to, lost)


def _write_plain(aligned: Aligned, options: argparse.Namespace) -> None:
    """Write Pharaoh lines from the arrays, without an object for each pair."""
    from alignkit.formats.pharaoh_lines import format_lines

    with replacing_bytes(options.output, text=True) as stream:
        for _, links in aligned:
            probabilities = links.probabilities if options.probs else None
            stream.write(format_lines(links.arrays, probabilities=probabilities))
            if options.output == "-":
                stream.flush()


def _annotated(aligned: Aligned, options: argparse.Namespace) -> Iterator[SentencePair]:
    name = options.annotator
    several = "annotators" in get_format(options.to).holds
    for block, links in aligned:
        for k, pair in enumerate(block.pairs or ()):
            if several and name in pair.alignments:
                raise OptionError(
                    f"pair {pair.id!r} has an alignment of {name!r} already: choose another name "
                    "by --annotator"
                )
            kept = dict(pair.annotations) if several else {}
            alignment = (  # as many digits as Pharaoh lines get
                links.alignment(k, digits=4) if options.probs else links.arrays.alignment(k)
            )
            mine = kept.get(name)  # who judged the pair may align it now
            again = mine and replace(mine, alignment=alignment, when=None)  # it was changed now
            kept[name] = again or Annotation(alignment)
            yield replace(pair, annotations=FrozenMap(kept))
        if options.output == "-":
            sys.stdout.flush()


def write_lexicon(aligner: Aligner, path: str) -> None:
    """Write word pairs and their probabilities, t(target | source) and t(source | target)."""
    with replacing(path) as stream:
        for source, target, forward, reverse in aligner.lexicon():
            stream.write(f"{source}\t{target}\t{forward:.6g}\t{reverse:.6g}\n")


def tell_size(bitext: Bitext, settings: Settings, folder: str | None) -> None:
    """Tell on stderr how large the bitext is, and how much memory training will take."""
    from alignkit.aligner.pieces import Pieces
    from alignkit.aligner.resources import bytes_of_training, bytes_on_disk, fits

    pairs = len(bitext)
    pieces = Pieces.of(bitext)  # long lines are cut
    cut = bitext if pieces is None else pieces.bitext
    bytes = bytes_of_training(cut, settings)
    text = f"{size(bytes)} besides the program, {size(bytes / max(pairs, 1))} a pair"
    if folder is not None or not fits(cut, settings):
        text += f", of which {size(bytes_on_disk(cut, settings))} are kept on disk"
    noun = "pair" if pairs == 1 else "pairs"
    say(
        f"{pairs:,} {noun} of {len(bitext.source.ids):,} x "
        f"{len(bitext.target.ids):,} "
        f"words; training takes about {text}"
    )


def tell_rounds(history: Iterable[Round], words: tuple[int, int], of: str = "") -> None:
    """Tell on stderr how the log-likelihood of a word rose, for each model `of` some words.

    `words` are those of the source and of the target texts.
    """
    words = max(1, words[1]), max(1, words[0])
    for model, group in groupby(history, key=lambda round: round.model):
        rounds = list(group)
        sides = [
            " ... ".join(
                f"{value / words[side]:.2f}"
                for value in dict.fromkeys(
                    (rounds[0].forward, rounds[-1].forward)
                    if side == 0
                    else (rounds[0].reverse, rounds[-1].reverse)
                )
            )
            for side in (0, 1)
        ]
        times = f"{len(rounds)} round{'s' if len(rounds) > 1 else ''}"
        say(
            f"{of}{model}, {times}: log-likelihood of a target word {sides[0]}, "
            f"of a source word {sides[1]}"
        )


def summary(
    aligner: Aligner,
    counts: dict[str, int],
    seconds: dict[str, float],
    tokenizer: str | None,
    report: LearningReport | None,
) -> str:
    """Return, as JSON, what the aligner was trained with, what it learned and what was done."""
    rounds = [
        {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(round).items()
        }
        for round in aligner.history
    ]
    record = {
        **counts,
        "tokenizer": tokenizer,
        "settings": asdict(aligner.settings),
        "rounds": rounds,
        "learned": None if report is None else report.to_json(),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
    }
    return json_text(record)
