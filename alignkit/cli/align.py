"""Align the words of sentence pairs, by an aligner trained on these very pairs or loaded.

SRC and TGT are two texts, line by line, with words divided by white space. One input may hold both:
lines of 'source ||| target', two columns, or a corpus in any format that holds words. Case is
ignored. A pair with an empty side is aligned to nothing. --tokenize divides texts into words first.

With --load and '-', lines are aligned as they come in; a bad line is told as '# line 7: ...' on
stderr, answered by an empty line, and makes the exit code 1.

Before training, stderr tells how much memory the command will take at its peak besides the program
itself: Python, its libraries and the compiled kernels, about 160 MB.

For example:
  alignkit align fr.txt en.txt -o auto.align --save fr-en.model
  alignkit align new.fr new.en --load fr-en.model --probs -o new.align
  paste new.fr new.en | alignkit align - --load fr-en.model
  alignkit align train.bitext --identity 3 --symmetrize intersection -o train.align
  alignkit align raw.en new.en --tokenize --to alignkit-jsonl -o corpus.jsonl
  alignkit align corpus.jsonl --sure 0.9 --to alignkit-jsonl --annotator auto -o seeded.jsonl
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from alignkit.aligner.settings import LONGEST_PIECE
from alignkit.choice import naming
from alignkit.cli.align_input import Block, Sentences, read_dictionary
from alignkit.cli.align_options import add_options, check, settings_of
from alignkit.cli.messages import say
from alignkit.cli.progress import Progress
from alignkit.output import replacing

if TYPE_CHECKING:
    from alignkit.aligner import AlignedLinks, Aligner, Bitext
    from alignkit.aligner.settings import Settings

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    check(options)
    settings = settings_of(options)  # a wrong one is told before anything is read
    sentences = Sentences(options)
    if options.own:
        _spare_scipy()
    from alignkit.cli.align_output import summary, write_alignments

    work = _Work(options, sentences)
    with naming(sentences.name):
        if options.load is None:
            blocks: Iterable[Block] = [work.train(settings)]
        else:
            blocks = work.load()
        write_alignments(work.aligned(blocks), options)
    work.tell()
    if options.json:
        print(summary(work.aligner, work.counts, work.seconds, options.tokenize))
    return 1 if sentences.refused else 0


def _spare_scipy() -> None:
    from alignkit.jit import load_without_scipy

    load_without_scipy()


class _Work:
    """Train or load an aligner, align with it, and keep count.

    Parameters
    ----------
    options
        Those of the command.
    sentences
        What is aligned.
    """

    aligner: Aligner

    def __init__(self, options: argparse.Namespace, sentences: Sentences) -> None:
        self._options, self._sentences = options, sentences
        self.counts = dict.fromkeys(
            ("pairs", "empty", "cut", "source_words", "target_words", "links", "sure"), 0
        )
        self.seconds: dict[str, float] = {}
        self._lap = time.perf_counter()

    def train(self, settings: Settings) -> Block:
        """Read all pairs and learn from them."""
        from alignkit.aligner import Aligner
        from alignkit.cli.align_output import tell_rounds, tell_size

        options = self._options
        casefold = not options.keep_case
        block = self._sentences.whole(casefold=casefold)
        dictionary = None
        if options.dictionary is not None:
            dictionary = read_dictionary(options.dictionary, options, casefold=casefold)
        tell_size(block.bitext, settings, options.folder)
        self._took("reading")
        share = 0.0

        def tell(done: int, total: int, text: str) -> None:
            nonlocal share
            share = done / max(total, 1)
            progress.detail = text
            progress.step(256)

        with Progress("training", lambda: share, None) as progress:
            self.aligner = Aligner.train(
                block.bitext,
                settings=settings,
                dictionary=dictionary,
                threads=options.threads,
                folder=options.folder,
                progress=tell,
            )
        if dictionary is not None:
            say(
                f"dictionary: {self.aligner.entries_met:,} of {len(dictionary):,} "
                "entries occur together in the text"
            )
        tell_rounds(self.aligner.history, block.bitext)
        self._took("training")
        return block

    def load(self) -> Iterator[Block]:
        """Load an aligner; return what it is to align, some pairs at a time."""
        from alignkit.aligner import Aligner

        self.aligner = Aligner.load(self._options.load)
        self._took("loading")
        return self._sentences.blocks(casefold=self.aligner.parameters.casefold)

    def aligned(self, blocks: Iterable[Block]) -> Iterator[tuple[Block, AlignedLinks]]:
        """Yield the links of each block; at the end write all but the alignments."""
        from alignkit.aligner import THRESHOLD
        from alignkit.cli.align_output import write_lexicon, write_scores

        options = self._options
        with ExitStack() as stack:
            scores = stack.enter_context(replacing(options.scores)) if options.scores else None
            for block in blocks:
                links = self.aligner.align_bitext(
                    block.bitext,
                    symmetrize=options.symmetrize,
                    threshold=THRESHOLD if options.threshold is None else options.threshold,
                    sure=options.sure,
                    threads=options.threads,
                )
                self._count(block.bitext, links)
                if scores is not None:
                    write_scores(self.aligner.scores(block.bitext), scores)
                self._took("aligning")
                yield block, links
                self._took("writing")
            if options.lexicon is not None:
                write_lexicon(self.aligner, options.lexicon)
            if options.save is not None:
                self.aligner.save(options.save)

    def _count(self, bitext: Bitext, links: AlignedLinks) -> None:
        lengths = bitext.source.lengths, bitext.target.lengths
        counts = self.counts
        counts["cut"] += int(((lengths[0] > LONGEST_PIECE) | (lengths[1] > LONGEST_PIECE)).sum())
        counts["pairs"] += len(bitext)
        counts["empty"] += bitext.empty
        counts["source_words"] += len(bitext.source.ids)
        counts["target_words"] += len(bitext.target.ids)
        counts["links"] += len(links.arrays.links)
        counts["sure"] += int(links.arrays.sure.sum())

    def _took(self, what: str) -> None:
        now = time.perf_counter()
        self.seconds[what] = self.seconds.get(what, 0.0) + now - self._lap
        self._lap = now

    def tell(self) -> None:
        """Tell on stderr what was odd."""
        self._took("writing")
        if self._options.tokenize and self._options.to == "pharaoh":
            say(
                f"{self._options.output}: the links are between words that --tokenize made, and "
                "format pharaoh holds no words; --to alignkit-jsonl keeps them"
            )
        name, counts, refused = self._sentences.name, self.counts, self._sentences.refused
        empty = counts["empty"] - refused
        if refused:
            say(f"{name}: {refused:,} x bad line, answered by an empty line")
        if not counts["pairs"]:
            say(f"{name}: holds no sentence pairs")
        if empty:
            say(f"{name}: {empty:,} x pair with an empty side, aligned to nothing")
        if counts["cut"]:
            say(
                f"{name}: {counts['cut']:,} x pair with more than {LONGEST_PIECE} words "
                "on a side, aligned in pieces"
            )
