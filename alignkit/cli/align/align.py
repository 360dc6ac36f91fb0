"""Align the words of sentence pairs: train an aligner on these pairs, or load one with --load.

SRC and TGT are two texts, one sentence a line, with words separated by white space. A single input
can have both sides: lines of 'source ||| target', two columns, or a corpus in any format with
words. Case is ignored. A pair with an empty side gets no links. --tokenize divides texts into words
first.

With --load and '-', each line is aligned as soon as it comes in. For a bad line, alignkit prints
'# line 7: ...' on stderr and an empty line on stdout; the exit code is then 1.

SRC and TGT may contain a '*' (in quotes), which stands for the same text in both. Such parts are
aligned one after the other, or in parallel by the workers of a cluster. Each part has its own
output file; -o names them with a '*'.

Before training, alignkit prints on stderr how much memory the command needs at its peak. The
program itself (Python, libraries, compiled kernels) needs about 160 MB more.

For example:
  alignkit align fr.txt en.txt -o auto.align --save fr-en.model
  alignkit align new.fr new.en --load fr-en.model --probs -o new.align
  alignkit align et.txt en.txt --encoder models/multilingual-e5-small -o et-en.align
  paste new.fr new.en | alignkit align - --load fr-en.model
  alignkit align train.bitext --identity 3 --symmetrize intersection -o train.align
  alignkit align train.bitext --identity 3 --vectors glove.6B.300d.txt -o train.align
  alignkit align raw.en new.en --tokenize --to alignkit-jsonl -o corpus.jsonl
  alignkit align 'in/*.fr.gz' 'in/*.en.gz' -o 'out/*.align.gz' --load fr-en.model --cluster local:4
  alignkit align corpus.jsonl --sure 0.9 --to alignkit-jsonl --annotator auto -o seeded.jsonl
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from alignkit._support.wording import how_many
from alignkit.align.numbered_texts import score_lines
from alignkit.align.settings import FEW, LONGEST_PIECE, MAJORITY, check_sure
from alignkit.cli.align import steps
from alignkit.cli.align.options import add_align_options, check, settings_of
from alignkit.cli.common import cluster
from alignkit.cli.common.cluster import size
from alignkit.cli.common.encoders import encoder_of, encoder_with_progress
from alignkit.cli.common.losses import tell_lost, warn_of_file_order
from alignkit.cli.common.messages import json_text, say, warn
from alignkit.cli.parser import Options, option_values
from alignkit.errors import OptionError
from alignkit.io.atomic_files import replacing, replacing_bytes
from alignkit.io.formats import get_format
from alignkit.io.inputs import naming

if TYPE_CHECKING:
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext
    from alignkit.align.decoders import AlignedLinks
    from alignkit.align.encoder.encoding_counts import EncodingCounts
    from alignkit.align.encoder.transformer import Encoder
    from alignkit.align.evidence import Annotators, Evidence
    from alignkit.align.known_words import KnownWords
    from alignkit.align.settings import Settings
    from alignkit.align.supervised.measures import LearningReport
    from alignkit.model.corpus import Corpus
    from alignkit.model.sentence_pair import SentencePair


_LITTLE = 5_000
"""Texts with fewer pairs are told that an encoder would help."""

Aligned = Iterable["tuple[steps.InputBlock, AlignedLinks]"]


add_arguments = add_align_options
RARE = (
    "--annotator --dictionary --json --lexicon --no-encoder --no-learned --objective --scores "
    "--target-vectors --threads --ignore-identical"
)
"""Options that only --help-all shows."""


def run(options: Options) -> int:
    check(options)
    settings = settings_of(options)  # a wrong one is refused before anything is read
    if cluster.of_parts(options, options.input, options.second):
        return _run_parts(options)
    sentences = steps.InputSentences(options)
    work = _Work(options, sentences)
    with naming(sentences.name):
        blocks = [work.train(settings)] if options.load is None else work.load()
        _write_alignments(work, blocks, options)
    work.report_all()
    if options.json:
        print(_summary(work, options.tokenize))
    return 1 if sentences.refused else 0


class _Work:
    """Train or load an aligner, align with it, and count what was done."""

    aligner: Aligner

    def __init__(self, options: Options, sentences: steps.InputSentences) -> None:
        self._options = options
        self._sentences = sentences
        # a wrong one is refused before much is read
        self._encoder = encoder_with_progress(options, options.threads or 1)
        self.counts = dict.fromkeys(
            ("pairs", "empty", "cut", "source_words", "target_words", "links", "sure"), 0
        )
        self.known: KnownWords | None = None  # of a loaded aligner
        self.seconds: dict[str, float] = {}
        self.report: LearningReport | None = None
        self.systems: list[str] = []
        self.cautions: list[str] = []
        self._pairs: Sequence[SentencePair] = ()  # with evidence, all of them
        self._annotators: Annotators = {}  # of the systems of evidence
        self._lap = time.perf_counter()

    def train(self, settings: Settings) -> steps.InputBlock:
        """Read all pairs and learn from them."""
        from alignkit.align.bitext import Bitext

        options = self._options
        casefold = not options.keep_case
        block = self._whole(casefold)
        bitext = block.bitext
        assert isinstance(bitext, Bitext)
        gold = self._gold(block)
        dictionary = steps.read_dictionary(options, casefold=casefold)
        vectors = steps.read_two_vectors(options, bitext)
        if gold is None and options.prior in (None, "none"):
            least = settings.settled(len(bitext)).threshold
            check_sure(options, MAJORITY if options.vote else least)  # not after the training
        report_size(bitext, settings, options.folder)
        self._took("reading")
        self.aligner = steps.train_aligner(
            bitext,
            settings,
            options,
            vectors,
            encoder=self._encoder,
            dictionary=dictionary,
            folder=options.folder,
        )
        words = len(bitext.source.ids), len(bitext.target.ids)
        steps.report_rounds(self.aligner.history, words)
        for letters, part in self.aligner.parameters.prefixes.items():
            steps.report_rounds(part.history, words, f"first {letters} letters, ")
        self._took("training")
        if self._encoder is None and options.vectors is None and len(bitext) < _LITTLE:
            few = how_many(len(bitext), "pair is", "pairs are", commas=True)
            say(
                f"{few} few: --encoder NAME, a multilingual model that knows what words mean, "
                "makes far fewer errors on them"
            )
        self._learn(gold)
        return block

    def _learn(self, gold: Corpus | None) -> None:
        """Learn from gold pairs, or use a named prior, if the options ask for it."""
        options = self._options
        if gold is not None:
            how = gold, options.learn, options, self._annotators
            self.aligner, self.report = steps.learned_of(self.aligner, *how)
            for line in filter(None, str(self.report).splitlines()):
                say(line)
            self._took("learning")
        elif options.prior not in (None, "none"):
            from alignkit.align.supervised.prior import Prior

            self.aligner = self.aligner.with_learned(Prior.read(options.prior).learned())
        learned = self.aligner.parameters.learned
        settled = self.aligner.settings if learned is None else learned.lessons
        check_sure(options, MAJORITY if options.vote else settled.threshold)

    def _gold(self, block: steps.InputBlock) -> Corpus | None:
        """Return the gold pairs after checking that they suffice; None if nothing is learned."""
        if self._options.learn is None:
            return None
        from alignkit.model.corpus import Corpus

        corpus = Corpus(self._pairs or block.pairs or ())
        corpus.require(self._options.learn)
        steps.check_gold(corpus, self._options.learn, self._sentences.name)
        return corpus

    def _whole(self, casefold: bool) -> steps.InputBlock:
        """Read all pairs, and the evidence on them."""
        block = self._sentences.whole(casefold=casefold)
        if self._options.evidence:
            known = self._options, block.pairs or (), self._options.learn
            self._pairs, self._annotators = steps.read_evidence(*known)
        return block

    def _evidence(self) -> tuple[Aligner, Evidence | None]:
        """Return what aligns, and the evidence that it needs; warn of what looks wrong."""
        aligner = self.aligner
        options = self._options
        learned = self.aligner.parameters.learned
        if not self._annotators:
            return aligner, None
        from alignkit.align.evidence import Evidence
        from alignkit.align.supervised.learned import Learned

        evidence = Evidence.pack(self._pairs, self._annotators)
        self.systems = [str(system) for system in evidence.systems]
        if options.learn is None:  # else learning looked at it
            steps.report_doubts(aligner, self._pairs, evidence)
        if options.vote:
            return aligner.with_learned(Learned.vote(evidence.systems)), evidence
        return aligner, evidence if learned is not None and learned.lessons.evidence else None

    def load(self) -> Iterator[steps.InputBlock]:
        """Load an aligner; return the pairs to align, some at a time."""
        options = self._options
        self.aligner = steps.load_aligner(options, self._encoder)
        if options.no_learned or options.vote:
            self.aligner = self.aligner.with_learned(None)
        elif options.symmetrize != "posterior":
            learned = self.aligner.parameters.learned
            if learned is not None and learned.used:
                say(
                    f"{options.load}: its corrections from gold links only work with "
                    "--symmetrize posterior"
                )
            self.aligner = self.aligner.with_learned(None)
        learned = self.aligner.parameters.learned
        if options.learn is not None or options.prior not in (None, "none"):
            steps.report_replaced(self.aligner, options)
        elif learned is not None and learned.lessons.vectors and self.aligner.vectors is None:
            raise OptionError(
                f"{options.load}: its corrections from gold links need word vectors: give "
                "the same ones with --vectors, or ignore the corrections with --no-learned"
            )
        kept = options.learn is None and options.prior in (None, "none")
        kept = kept and not (options.no_learned or options.vote)
        if kept and options.no_evidence and learned is not None and learned.without is not None:
            self.aligner = self.aligner.with_learned(learned.without)
        elif kept and learned is not None and not options.evidence:
            steps.check_needed(options.load, learned, {})
        self._took("loading")
        casefold = self.aligner.parameters.casefold
        if options.learn is None and not options.evidence:
            self._learn(None)
            return self._sentences.blocks(casefold=casefold)
        block = self._whole(casefold)
        if kept:
            steps.check_needed(options.load, learned, self._annotators)
            if learned is not None and not learned.lessons.evidence:
                from alignkit.align.evidence import not_used

                self.cautions.append(f"{options.load}: {not_used(self._annotators)}")
                warn(self.cautions[-1])
                self._annotators = {}
        self._learn(self._gold(block))
        return iter([block])

    def aligned(self, blocks: Iterable[steps.InputBlock]) -> Aligned:
        """Yield the links of each block; at the end, write all other outputs."""
        options = self._options
        with ExitStack() as stack:
            scores = None
            if options.scores:
                scores = stack.enter_context(replacing(options.scores))
            for block in blocks:
                aligner, evidence = self._evidence()
                links = aligner.align_bitext(
                    block.bitext,
                    evidence=evidence,
                    **option_values(options, "symmetrize", "threshold", "sure", "threads"),
                )
                if scores is not None:
                    scores.write(score_lines(self.aligner.scores(block.bitext)))
                self._took("aligning")
                yield block, links
                counts = self.counts  # who waits for an answer has it
                if options.load is not None:
                    self._count_known(block)
                sizes = block.lengths
                counts["cut"] += sum(size > LONGEST_PIECE for size in map(max, *sizes))
                counts["pairs"] += len(sizes[0])
                counts["empty"] += sum(size == 0 for size in map(min, *sizes))
                counts["source_words"] += sum(sizes[0])
                counts["target_words"] += sum(sizes[1])
                counts["links"] += len(links.arrays.links)
                counts["sure"] += int(links.arrays.sure.sum())
                self._took("writing")
            if options.lexicon is not None:
                with replacing(options.lexicon) as stream:  # t(target | source) and the reverse
                    for source, target, forward, reverse in self.aligner.lexicon():
                        stream.write(f"{source}\t{target}\t{forward:.6g}\t{reverse:.6g}\n")
            if options.save is not None:
                self.aligner.save(options.save)

    def _count_known(self, block: steps.InputBlock) -> None:
        """Count known words; warn as soon as the texts seem to have the other direction."""
        counted = self.aligner.known_words(block.bitext)
        warned = self.known is not None and self.known.exchanged
        if self.known is None:
            self.known = counted
        else:
            self.known = self.known + counted
        if self.known.exchanged and not warned:
            warn(f"{self._options.load}: warning: {self.known.caution}")

    def gold_record(self, pair: SentencePair) -> str:
        """Return what the links of a pair were learned from; see `Annotation.learned`."""
        return "" if self._options.vote else self.aligner.gold_record(pair)

    @property
    def calibrated(self) -> bool:
        """Whether the probabilities say how often such links are right."""
        return self.aligner.calibrated and not self._options.vote

    def _took(self, what: str) -> None:
        """Add the time since the last call to that of a step."""
        now = time.perf_counter()
        self.seconds[what] = self.seconds.get(what, 0.0) + now - self._lap
        self._lap = now

    def report_all(self) -> None:
        """Report everything unusual."""
        self._took("writing")
        steps.report_encoding(self.aligner)
        steps.report_calibration(self._options, calibrated=self.calibrated)
        if self._options.tokenize and self._options.to == "pharaoh":
            say(
                f"{self._options.output}: --tokenize made the words of these links, but "
                "format pharaoh has no words; --to alignkit-jsonl keeps them"
            )
        name = self._sentences.name
        counts = self.counts
        refused = self._sentences.refused
        if refused:
            warn(f"{name}: {refused:,} x bad line; the output has an empty line for it")
        if not counts["pairs"]:
            say(f"{name}: no sentence pairs")
        steps.report_odd(name, counts["empty"] - refused, counts["cut"])


def _write_alignments(work: _Work, blocks: Iterable[steps.InputBlock], options: Options) -> None:
    """Write the alignments of all blocks; the file is replaced when all is written."""
    output = options.output
    aligned = work.aligned(blocks)
    if options.to != "pharaoh" or options.to_ids:
        from alignkit.io.reading import write_corpus

        pairs = _annotated(work, aligned, options)
        how = {"ids": options.to_ids, "weights": options.probs}
        tell_lost(output, options.to, write_corpus(pairs, output, format=options.to, **how))
        return
    from alignkit.io.link_lines import format_lines

    with replacing_bytes(output) as stream:  # without an object for each pair
        for _, links in aligned:
            probabilities = links.probabilities if options.probs else None
            stream.write(format_lines(links.arrays, probabilities=probabilities))
            if output == "-":
                stream.flush()
    warn_of_file_order(output)


def _annotated(work: _Work, aligned: Aligned, options: Options) -> Iterator[SentencePair]:
    """Yield the pairs of all blocks with the new alignments, by the annotator of the options."""
    from alignkit._support.values import FrozenMap
    from alignkit.model.annotation import Annotation

    name = options.annotator
    several = "annotators" in get_format(options.to).holds
    for block, links in aligned:
        for k, pair in enumerate(block.pairs or ()):
            if several and name in pair.alignments:
                raise OptionError(
                    f"pair {pair.id!r} already has an alignment by {name!r}: choose another "
                    "name with --annotator"
                )
            kept = dict(pair.annotations) if several else {}
            if options.probs:  # as many digits as Pharaoh lines get
                alignment = links.alignment(k, digits=4)
            else:
                alignment = links.arrays.alignment(k)
            judged = kept.get(name)
            learned = work.gold_record(pair)
            if judged is None:
                kept[name] = Annotation(alignment, role="system", learned=learned)
            else:  # this annotator judged the pair, and aligns it now
                kept[name] = replace(judged, alignment=alignment, when=None, learned=learned)
            yield replace(pair, annotations=FrozenMap(kept))
        if options.output == "-":
            sys.stdout.flush()


def report_size(bitext: Bitext, settings: Settings, folder: str | None) -> None:
    """Report the size of the bitext, and the memory that training needs."""
    from alignkit.align.bitext import Pieces
    from alignkit.align.cooccurrence import bytes_of_training, bytes_on_disk, fits

    pairs = len(bitext)
    pieces = Pieces.of(bitext)  # long lines are cut
    cut = bitext if pieces is None else pieces.bitext
    bytes = bytes_of_training(cut, settings)
    text = f"{size(bytes)} in addition to the program, {size(bytes / max(pairs, 1))} a pair"
    if folder is not None or not fits(cut, settings):
        text += f"; {size(bytes_on_disk(cut, settings))} of it on disk"
    words = f"{len(bitext.source.ids):,} x {len(bitext.target.ids):,} words"
    say(f"{how_many(pairs, 'pair', commas=True)} of {words}; training takes about {text}")


def _summary(work: _Work, tokenizer: str | None) -> str:
    """Return the settings, the learned corrections and the counts as JSON."""
    from alignkit._support.values import jsonable

    record: dict[str, object] = {
        **work.counts,
        "tokenizer": tokenizer,
        "settings": asdict(work.aligner.settings),
        "rounds": jsonable(work.aligner.history),
        "calibrated": work.calibrated,
    }
    if work.systems:
        record["evidence"] = work.systems
    if work.cautions:
        record["cautions"] = work.cautions
    aligner = work.aligner
    if aligner.encoder is not None and aligner.encoding is not None:
        record["encoder"] = {
            "name": aligner.encoder.name,
            "layer": aligner.encoder.layer,
            "layers": aligner.encoder.layers,
            "digest": aligner.encoder.digest,
            **aligner.encoding.to_json(),
        }
    elif aligner.encoding is not None:
        record["vectors"] = aligner.encoding.to_json()
    record["learned"] = None if work.report is None else work.report.to_json()
    if work.known is not None:
        record["known_words"] = work.known.to_json()
    record["seconds"] = {name: round(value, 3) for name, value in work.seconds.items()}
    return json_text(record)


_NOT_OF_PARTS = (
    "lexicon",
    "tokenize",
    "learn",
    "prior",
    "vectors",
    "target_vectors",
    "format",
    "source",
    "target",
    "to",
    "evidence",
    "evidence_source",
    "evidence_target",
    "to_ids",
    "vote",
    "no_evidence",
    "unescape",
)


def _run_parts(options: Options) -> int:
    """Align parts with a saved model or one trained on them, or estimate the resources."""
    cluster.refuse_options(
        options, _NOT_OF_PARTS, "parts are plain texts, and the output is in format pharaoh"
    )
    if options.second is None:
        raise OptionError("parts need SRC and TGT, such as 'in/*.fr' 'in/*.en'")
    if options.estimate:
        return _estimate(options)
    if options.load is None:
        return _train_parts(options)
    return _align_parts(options)


def _align_parts(options: Options) -> int:
    """Align parts with a saved model, and report the counts."""
    if options.output == "-":
        raise OptionError("the links of parts go to files: name them, as in -o 'out/*.align.gz'")
    from alignkit.cluster.aligning import align_parts
    from alignkit.cluster.part_outputs import LinkOutput, PartOutputs
    from alignkit.cluster.parts import find_parts

    encoder = encoder_of(options)  # workers show no progress of their own
    parts = find_parts(options.input, options.second)
    how = LinkOutput(options.symmetrize, options.threshold, options.sure, options.probs)
    outputs = PartOutputs(options.output, options.scores, how)
    with cluster.opened_session(options) as session, cluster.PartsProgress("aligning") as progress:
        counts = align_parts(
            session,
            parts,
            options.load,
            outputs,
            learned=not options.no_learned,
            encoder=False if options.no_encoder else encoder,
            reading=cluster.reading_of(options),
            threads=options.threads,
            work=options.work,
            progress=progress,
        )
    name = f"{options.input} and {options.second}"
    steps.report_odd(name, counts.empty, counts.cut)
    if counts.known_words.exchanged:
        warn(f"{options.load}: warning: {counts.known_words.caution}")
    say(f"{name}: {len(parts):,} parts, {counts.pairs:,} pairs, {counts.links:,} links")
    steps.report_calibration(options, calibrated=counts.calibrated)
    record = {**vars(counts), "known_words": counts.known_words.to_json()}
    _tell_encoding(encoder, counts.encoding, record)
    if options.json:
        print(json_text(record))
    return 0


def _estimate(options: Options) -> int:
    """Print estimates of the size of the texts and of the resources."""
    from alignkit.cluster.aligning import memory_of
    from alignkit.cluster.encoding import memory_of_encoder
    from alignkit.cluster.estimate import estimate_texts
    from alignkit.cluster.parts import find_parts

    result = estimate_texts(find_parts(options.input, options.second), cluster.reading_of(options))
    encoder = encoder_of(options)  # workers show no progress of their own
    for_encoder = 0 if encoder is None else memory_of_encoder(encoder)
    parts = how_many(result.parts, "part", commas=True)
    print(
        f"about {result.pairs:,} pairs of {result.source_words:,} x {result.target_words:,} words "
        f"in {parts}, the largest with {result.largest:,}; {result.cells:,} cells"
    )
    if options.load is not None:
        memory = memory_of(options.load) + for_encoder
        print(f"aligning needs about {size(memory)} of memory for each worker")
    else:
        print(
            f"training on one machine needs about {size(result.memory + for_encoder)} of memory, "
            f"and {size(result.disk)} of disk (--folder); on these parts, with --work, "
            f"{size(result.worker + for_encoder)} of memory for each worker"
        )
    return 0


def _train_parts(options: Options) -> int:
    """Run the command on parts, without a saved model."""
    output = None if options.output == "-" else options.output
    if output is None and options.save is None:
        raise OptionError(
            "name the files for the links, as in -o 'out/*.align.gz', or the file for the "
            "model with --save"
        )
    if options.work is None:
        raise OptionError(
            "training on parts needs a folder that all workers can access: name it with "
            "--work (not needed with a saved model, --load)"
        )
    from alignkit.cluster.part_outputs import LinkOutput, PartOutputs
    from alignkit.cluster.parts import find_parts
    from alignkit.cluster.training import train_parts

    casefold = not options.keep_case
    dictionary = steps.read_dictionary(options, casefold=casefold)
    how = LinkOutput(options.symmetrize, options.threshold, options.sure, options.probs)
    parts = find_parts(options.input, options.second)
    settings = settings_of(options)
    outputs = PartOutputs(output, options.scores, how)
    outputs.check(parts, options.save, *filter(None, [options.dictionary]))
    encoder = encoder_of(options)  # workers show no progress of their own
    with cluster.opened_session(options) as session, cluster.PartsProgress("training") as progress:
        result = train_parts(
            session,
            parts,
            settings,
            work=options.work,
            save=options.save,
            outputs=outputs,
            dictionary=dictionary,
            casefold=casefold,
            encoder=encoder,
            threads=options.threads,
            reading=cluster.reading_of(options),
            progress=progress,
        )
    if dictionary is not None:
        steps.report_entries(result.entries_met, dictionary)
    steps.report_rounds(result.history, (result.source_words, result.target_words))
    shards = how_many(result.shards, "shard")
    say(
        f"{options.input} and {options.second}: {result.parts:,} parts, {result.pairs:,} "
        f"pairs, {result.word_pairs:,} word pairs in {shards}"
    )
    calibrated = settings.calibrated and result.pairs >= FEW
    steps.report_calibration(options, calibrated=calibrated)
    record = asdict(result)
    _tell_encoding(encoder, result.encoding, record)
    if options.json:
        print(json_text(record))
    return 0


def _tell_encoding(
    encoder: Encoder | None, encoding: EncodingCounts | None, record: dict[str, Any]
) -> None:
    """Report what the encoder did in all parts, and put it into a record."""
    if encoder is None or encoding is None:
        del record["encoding"]
        return
    record["encoding"] = encoding.to_json()
    say(f"encoder: {encoder}; {encoding}")
    if caution := encoding.caution(encoder.name):
        warn(caution)
