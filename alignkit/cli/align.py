"""Align the words of sentence pairs, by an aligner trained on these very pairs or loaded.

SRC and TGT are two texts, line by line, with words divided by white space. One input may hold both:
lines of 'source ||| target', two columns, or a corpus in any format that holds words. Case is
ignored. A pair with an empty side is aligned to nothing. --tokenize divides texts into words first.

With --load and '-', lines are aligned as they come in; a bad line is told as '# line 7: ...' on
stderr, answered by an empty line, and makes the exit code 1.

SRC and TGT may have a '*' (in quotes), which stands for the same text in both: these parts are
aligned one by one, or at once by the workers of a cluster, each to a file that -o names with a '*'.

Before training, stderr tells how much memory the command will take at its peak besides the program
itself: Python, its libraries and the compiled kernels, about 160 MB.

For example:
  alignkit align fr.txt en.txt -o auto.align --save fr-en.model
  alignkit align new.fr new.en --load fr-en.model --probs -o new.align
  paste new.fr new.en | alignkit align - --load fr-en.model
  alignkit align train.bitext --identity 3 --symmetrize intersection -o train.align
  alignkit align train.bitext --identity 3 --vectors glove.6B.300d.txt -o train.align
  alignkit align raw.en new.en --tokenize --to alignkit-jsonl -o corpus.jsonl
  alignkit align 'in/*.fr.gz' 'in/*.en.gz' -o 'out/*.align.gz' --load fr-en.model --cluster local:4
  alignkit align corpus.jsonl --sure 0.9 --to alignkit-jsonl --annotator auto -o seeded.jsonl
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from alignkit.aligner.settings import LONGEST_PIECE, THRESHOLD
from alignkit.choice import naming
from alignkit.cli.align_input import Block, Sentences, read_dictionary
from alignkit.cli.align_learned import tell_replaced
from alignkit.cli.align_options import add_options, check
from alignkit.cli.align_parts import align_parts
from alignkit.cli.align_settings import settings_of
from alignkit.cli.cluster import of_parts
from alignkit.cli.messages import say, warn
from alignkit.errors import OptionError
from alignkit.output import replacing
from alignkit.texts import score_lines

if TYPE_CHECKING:
    from alignkit.aligner import AlignedLinks, Aligner
    from alignkit.aligner.refine import LearningReport
    from alignkit.aligner.settings import Settings
    from alignkit.corpus import Corpus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    check(options)
    settings = settings_of(options)  # a wrong one is told before anything is read
    if of_parts(options, options.input, options.second):
        return align_parts(options)
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
        print(summary(work.aligner, work.counts, work.seconds, options.tokenize, work.report))
    return 1 if sentences.refused else 0


def _spare_scipy() -> None:
    from alignkit.jit import load_without_scipy

    load_without_scipy()


class _Work:
    """Train or load an aligner, align with it, and keep count."""

    aligner: Aligner

    def __init__(self, options: argparse.Namespace, sentences: Sentences) -> None:
        self._options, self._sentences = options, sentences
        self.counts = dict.fromkeys(
            ("pairs", "empty", "cut", "source_words", "target_words", "links", "sure"), 0
        )
        self.seconds: dict[str, float] = {}
        self.report: LearningReport | None = None
        self._lap = time.perf_counter()

    def train(self, settings: Settings) -> Block:
        """Read all pairs and learn from them."""
        from alignkit.aligner import Bitext
        from alignkit.cli.align_models import train_aligner
        from alignkit.cli.align_output import tell_rounds, tell_size
        from alignkit.cli.align_vectors import read_two_vectors

        options = self._options
        casefold = not options.keep_case
        block = self._sentences.whole(casefold=casefold)
        bitext = block.bitext
        assert isinstance(bitext, Bitext)
        gold = self._gold(block)
        dictionary = None
        if options.dictionary is not None:
            dictionary = read_dictionary(options.dictionary, options, casefold=casefold)
        vectors = read_two_vectors(options, bitext)
        tell_size(bitext, settings, options.folder)
        self._took("reading")
        self.aligner = train_aligner(
            bitext, settings, options, vectors, dictionary=dictionary, folder=options.folder
        )
        words = len(bitext.source.ids), len(bitext.target.ids)
        tell_rounds(self.aligner.history, words)
        for letters, part in self.aligner.parameters.prefixes.items():
            tell_rounds(part.history, words, f"first {letters} letters, ")
        self._took("training")
        self._learn(gold)
        return block

    def _learn(self, gold: Corpus | None) -> None:
        """Learn from gold pairs, or take a prior by its name, where the options say so."""
        options = self._options
        if gold is not None:
            from alignkit.cli.align_learned import learned_of

            self.aligner, self.report = learned_of(self.aligner, gold, options.learn, options)
            for line in filter(None, str(self.report).splitlines()):
                say(line)
            self._took("learning")
        elif options.prior not in (None, "none"):
            from alignkit.aligner.refine.priors import Prior

            self.aligner = self.aligner.with_learned(Prior.read(options.prior).learned())
        self._check_sure()

    def _gold(self, block: Block) -> Corpus | None:
        """Return the pairs with gold among them, which are enough; None where none is learned."""
        if self._options.learn is None:
            return None
        from alignkit.cli.align_learned import check_gold
        from alignkit.corpus import Corpus

        corpus = Corpus(block.pairs or ())
        corpus.require(self._options.learn)
        check_gold(corpus, self._options.learn, self._sentences.name)
        return corpus

    def _check_sure(self) -> None:
        options, learned = self._options, self.aligner.parameters.learned
        least = THRESHOLD if learned is None else learned.lessons.threshold
        if options.threshold is None and options.sure is not None and options.sure <= least:
            raise OptionError(
                f"links are more probable than {least:g} anyway, so none of them would be only "
                f"possible: let --sure be more than that, not {options.sure:g}, or give a "
                "--threshold"
            )

    def load(self) -> Iterator[Block]:
        """Load an aligner; return what it is to align, some pairs at a time."""
        from alignkit.cli.align_models import load_aligner

        options = self._options
        self.aligner = load_aligner(options)
        if options.no_learned:
            self.aligner = self.aligner.with_learned(None)
        elif options.symmetrize != "posterior" and self.aligner.parameters.learned is not None:
            if self.aligner.parameters.learned.used:
                say(
                    f"{options.load}: what was learned from gold is for --symmetrize posterior "
                    "alone"
                )
            self.aligner = self.aligner.with_learned(None)
        if options.learn is None and options.prior in (None, "none"):
            self._check_vectors()
        else:
            tell_replaced(self.aligner, options)
        self._took("loading")
        if options.learn is not None:
            block = self._sentences.whole(casefold=self.aligner.parameters.casefold)
            self._learn(self._gold(block))
            return iter([block])
        self._learn(None)
        return self._sentences.blocks(casefold=self.aligner.parameters.casefold)

    def _check_vectors(self) -> None:
        """Refuse a model that looks at vectors where there are none, before anything is read."""
        learned = self.aligner.parameters.learned
        if learned is not None and learned.lessons.vectors and self.aligner.vectors is None:
            raise OptionError(
                f"{self._options.load}: what was learned from gold looks at vectors of words: give "
                "the same by --vectors, or leave it aside by --no-learned"
            )

    def aligned(self, blocks: Iterable[Block]) -> Iterator[tuple[Block, AlignedLinks]]:
        """Yield the links of each block; at the end write all but the alignments."""
        from alignkit.cli.align_output import write_lexicon

        options = self._options
        with ExitStack() as stack:
            scores = stack.enter_context(replacing(options.scores)) if options.scores else None
            for block in blocks:
                links = self.aligner.align_bitext(
                    block.bitext,
                    symmetrize=options.symmetrize,
                    threshold=options.threshold,
                    sure=options.sure,
                    threads=options.threads,
                )
                if scores is not None:
                    scores.write(score_lines(self.aligner.scores(block.bitext)))
                self._took("aligning")
                yield block, links
                self._count(block, links)  # who waits for an answer has it
                self._took("writing")
            if options.lexicon is not None:
                write_lexicon(self.aligner, options.lexicon)
            if options.save is not None:
                self.aligner.save(options.save)

    def _count(self, block: Block, links: AlignedLinks) -> None:
        source, target = block.lengths
        counts = self.counts
        counts["cut"] += sum(size > LONGEST_PIECE for size in map(max, source, target))
        counts["pairs"] += len(source)
        counts["empty"] += sum(size == 0 for size in map(min, source, target))
        counts["source_words"] += sum(source)
        counts["target_words"] += sum(target)
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
            warn(f"{name}: {refused:,} x bad line, answered by an empty line")
        if not counts["pairs"]:
            say(f"{name}: holds no sentence pairs")
        if empty:
            say(f"{name}: {empty:,} x pair with an empty side, aligned to nothing")
        if counts["cut"]:
            say(
                f"{name}: {counts['cut']:,} x pair with more than {LONGEST_PIECE} words "
                "on a side, aligned in pieces"
            )
