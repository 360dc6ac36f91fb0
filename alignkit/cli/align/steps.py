"""The steps of `align` and `learn`: read pairs, train or load an aligner, learn from gold links."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from alignkit._support.wording import how_many, visible
from alignkit.align.numbered_texts import Lines, lines_of, numbered
from alignkit.align.settings import LONGEST_PIECE, Settings
from alignkit.cli.align.options import TEXT_FORMATS, refuse_links
from alignkit.cli.common.cluster import reading_of
from alignkit.cli.common.files import DISORDER
from alignkit.cli.common.inputs import Input, reading_options
from alignkit.cli.common.messages import ProgressBar, in_words_of, say, tell_raw, warn
from alignkit.cli.parser import Options
from alignkit.errors import AlignerError, FormatError, JoinError, OptionError
from alignkit.io.formats import get_format
from alignkit.io.inputs import Choice
from alignkit.io.opening import head_of
from alignkit.io.options import ReadOptions
from alignkit.io.parallel_text import is_tagged, text_pairs
from alignkit.io.text_files import TextFile
from alignkit.model.texts import (
    code_points,
    describe_tokenizer,
    spaces_beyond_ascii,
    split_words,
    tokenizer,
)

if TYPE_CHECKING:
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext
    from alignkit.align.encoder.transformer import Encoder
    from alignkit.align.evidence import Annotators, Evidence
    from alignkit.align.parameters import Round
    from alignkit.align.supervised.learned import Learned
    from alignkit.align.supervised.measures import LearningReport
    from alignkit.align.vectors.word_vectors import WordVectors
    from alignkit.model.alignment import Alignment
    from alignkit.model.corpus import Corpus
    from alignkit.model.sentence_pair import SentencePair

_PAIRS = 4096  # of a corpus at a time, where memory is not to grow
_WEIGHT = 3.0  # of an entry of a dictionary that has none
_FORM = "NAME[=FILE[:FORMAT][:base1][:transpose],FILE...]"
_MOST_REFUSED = 0.05  # of the pairs, whose sentences a system has otherwise


class InputBlock(NamedTuple):
    """Sentence pairs that are aligned together."""

    bitext: Bitext | list[tuple[list[str], list[str]]]
    pairs: Sequence[SentencePair] | None

    @property
    def lengths(self) -> tuple[list[int], list[int]]:
        """The number of words on both sides of each pair."""
        if isinstance(self.bitext, list):
            sources = [len(source) for source, _ in self.bitext]
            targets = [len(target) for _, target in self.bitext]
            return sources, targets
        return self.bitext.source.lengths.tolist(), self.bitext.target.lengths.tolist()


def needs_written(options: Options) -> bool:
    """Return whether words are needed as written too: by an encoder or by word vectors."""
    return options.encoder is not None or options.vectors is not None


class InputSentences:
    """The sentence pairs of the input."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._declared = reading_options(options)
        self._paths = [path for path in (options.input, options.second) if path is not None]
        self.name = " and ".join(self._paths)
        self.refused = 0
        if "-" in self._paths and sys.stdin is None:
            raise OptionError("standard input is closed; name a file")
        if len(self._paths) == 2 and self._paths[0] == self._paths[1]:
            raise OptionError(f"{self.name} is given twice; name one file for each language")
        self._is_text = len(self._paths) == 2 or _is_text(options)
        if self._is_text:
            refuse_links(options)
            if options.learn is not None:
                raise OptionError("--learn needs gold links, and this input is text")
        self._needs_pairs = options.to != "pharaoh" or options.to_ids or options.unescape
        self._needs_pairs = self._needs_pairs or bool(options.evidence)
        self._written = needs_written(options)
        self._divide = None
        self._attributes = {}
        if options.tokenize is not None:
            if not self._is_text:
                message = f"{self.name} is already divided into words: leave out --tokenize"
                raise OptionError(message)
            self._divide = tokenizer(options.tokenize)
            self._attributes = {"tokenizer": describe_tokenizer(options.tokenize)}

    def whole(self, *, casefold: bool) -> InputBlock:
        """Read all sentence pairs."""
        for block in self.blocks(casefold=casefold, whole=True):
            return block
        raise AlignerError(f"{self.name}: no sentence pairs to learn from")

    def blocks(self, *, casefold: bool, whole: bool = False) -> Iterator[InputBlock]:
        """Yield all sentence pairs at once, or some at a time in constant memory."""
        if not self._is_text:
            pairs = Input(self._paths[0], self._options.format, self._declared).pairs()
            while some := list(islice(pairs, None if whole else _PAIRS)):
                yield _packed(some, casefold, self._written)
            return
        format = self._options.format
        unescape = self._declared.unescape and self._divide is None  # which takes whole words
        plain = replace(reading_of(self._options), unescape=unescape)
        reading = TextFile(self._paths[0], plain)
        live = self._paths == ["-"] and not whole
        if len(self._paths) == 2 and any(is_tagged(reading, path) for path in self._paths):
            yield from self._of_tagged(plain, casefold=casefold, whole=whole)
            return
        for read in lines_of(
            self._paths, plain, format=format, whole=whole, refuse=self._refuse, watch=_watched
        ):
            lines = read
            if self._divide is not None:
                lines = _divided(read, self._divide, unescape=self._declared.unescape)
            if self._needs_pairs:
                of_lines = _pairs(lines, reading, self._attributes)
                block = _packed(of_lines, casefold, self._written)
            elif live and lines.size == 1:
                source = split_words(lines.source.removesuffix("\n"))
                target = split_words(lines.target.removesuffix("\n"))
                block = InputBlock([(source, target)], None)
            else:
                bitext = numbered(lines, casefold=casefold, written=self._written)
                block = InputBlock(bitext, None)
            sources, targets = block.lengths
            self._check_lengths(sources, lines.first, reading, self._paths[0])
            self._check_lengths(targets, lines.first, reading, self._paths[-1])
            yield block

    def _check_lengths(self, lengths: list[int], first: int, reading: TextFile, path: str) -> None:
        """Refuse a sentence with too many words; `first` is the number of the first line."""
        for number, size in enumerate(lengths, first):
            if size > reading.options.max_words:
                raise reading.too_long("a sentence", size, number, path)

    def _of_tagged(
        self, plain: ReadOptions, *, casefold: bool, whole: bool
    ) -> Iterator[InputBlock]:
        """Yield the pairs of two CoNLL-U files, whose words may contain spaces."""
        if self._divide is not None:
            raise OptionError(f"{self.name} is already divided into words: leave out --tokenize")
        source, target = self._paths
        pairs = text_pairs(TextFile(source, replace(plain, source=source, target=target)))
        while some := list(islice(pairs, None if whole else _PAIRS)):
            yield _packed(some, casefold, self._written)

    def _refuse(self, error: FormatError) -> None:
        """Report a bad line on stderr; its output is an empty line."""
        self.refused += 1
        column = f"column {error.column}: " if error.column else ""
        message = in_words_of(self._options, error.message)
        tell_raw(f"# line {error.line}: {visible(column + message)}\n")


def _is_text(options: Options) -> bool:
    """Return whether the input is plain text, not sentence pairs with links."""
    if options.format is not None:
        return options.format in TEXT_FORMATS
    if options.source is not None or os.path.isdir(options.input):
        return False  # an alignment with its words beside, or a folder: it has to be named
    head = head_of(options.input).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not os.path.isfile(options.input):  # to be answered line by line: a mark is all one can see
        return not (head.startswith(b'{"alignkit"') or b"urn:alignkit:" in head)
    from alignkit.io.detection import fitting_formats  # two texts need none

    names = fitting_formats(options.input, encoding=options.encoding)
    return not any(get_format(name).holds >= {"text"} for name in names)


def _divided(lines: Lines, divide: Callable[[str], list[str]], *, unescape: bool) -> Lines:
    """Put spaces between the words of lines."""
    import html

    def divided(text: str) -> str:
        """Return the lines of a side with spaces between the words."""
        sentences = []
        for line in text.split("\n")[:-1]:
            plain = html.unescape(line) if unescape else line
            sentences.append(f"{' '.join(divide(plain))}\n")
        return "".join(sentences)

    return lines._replace(source=divided(lines.source), target=divided(lines.target))


def _pairs(lines: Lines, reading: TextFile, attributes: Mapping[str, str]) -> list[SentencePair]:
    """Return lines as sentence pairs, with their ids or else their numbers."""
    from alignkit.model.sentence_pair import SentencePair

    sources = map(reading.tokens, lines.source.split("\n")[:-1])
    targets = map(reading.tokens, lines.target.split("\n")[:-1])
    ids = lines.ids or map(str, range(lines.first, lines.first + lines.size))
    rows = zip(ids, sources, targets, strict=True)
    return [SentencePair(*row, attributes=attributes) for row in rows]


def _packed(pairs: Sequence[SentencePair], casefold: bool, written: bool) -> InputBlock:
    """Return sentence pairs, and their words as an aligner takes them, `written` as written too."""
    from alignkit.align.bitext import Bitext

    words = (pair.words for pair in pairs)
    return InputBlock(Bitext.pack(words, casefold=casefold, written=written), pairs)


@contextmanager
def _watched(file: TextFile) -> Iterator[Callable[[int], None]]:
    """Show the progress of reading a file."""
    with ProgressBar(file.path, file.fraction, "pairs") as progress:
        yield progress.step


def read_dictionary(options: Options, *, casefold: bool) -> dict[tuple[str, str], float] | None:
    """Read the word pairs of --dictionary with their pseudo-counts; report unusable ones."""
    if options.dictionary is None:
        return None
    reading = TextFile(options.dictionary, reading_of(options))
    weights: dict[tuple[str, str], float] = {}
    several = 0
    for number, line in reading.lines():
        if not line.strip():
            continue
        text = line.casefold() if casefold else line
        columns = text.split("\t")
        words = [column.strip() for column in columns[:2]]
        if len(columns) not in (2, 3) or not all(words):
            raise reading.error("expected source word, tab, target word", number)
        weight = _WEIGHT
        if len(columns) == 3:
            weight = _pseudo_count(columns[2], reading.path, number)
        if any(len(word.split()) > 1 for word in words):
            several += 1
        else:
            weights[words[0], words[1]] = weight
    if several:
        say(f"{options.dictionary}: {several:,} entries with several words are left out")
    return weights


def _pseudo_count(text: str, path: str, line: int) -> float:
    """Return the number in the third column of a dictionary."""
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < 1e9:
        message = f"{text[:40]!r} is not a pseudo-count; expected a number, 0 or more"
        raise FormatError(message, path, line)
    return weight


def read_evidence(
    options: Options, pairs: Sequence[SentencePair], gold: str | None
) -> tuple[Sequence[SentencePair], Annotators]:
    """Return the pairs with the links of --evidence added, and the annotators of each system."""
    from alignkit.align.evidence import channels_of
    from alignkit.align.supervised.gold import checked_annotators
    from alignkit.cli.common.named_files import evidence_files
    from alignkit.model.corpus import Corpus

    known = Corpus(pairs).aligners
    annotators = dict[str, list[str]]()
    for word in chain(options.evidence_source or (), options.evidence_target or ()):
        name, _, _ = word.partition("=")
        if not any(given.startswith(f"{name}=") for given in options.evidence):
            raise OptionError(f"{word}: no such --evidence NAME=FILE")
    for word in options.evidence:
        name, equals, rest = word.partition("=")
        if not name or name in annotators or (equals and not all(rest.split(","))):
            raise OptionError(f"--evidence {word}: expected {_FORM}, and each name once")
        files = evidence_files(word)
        if not files:
            channels = channels_of(name, known, f"annotator (or give --evidence {name}=FILE)")
        elif len(files) == 1:
            channels = [name]
        else:
            channels = [f"{name}/{k + 1}" for k in range(len(files))]
        annotators[name] = channels
        checked_annotators(annotators, gold or "")
        counts = Counter[str]()
        for channel, (path, parts) in zip(channels, files, strict=False):
            links = list(_links_of(path, parts, options, name, pairs, counts))
            pairs = _with_links(pairs, channel, links)
        complete = sum(pair.aligned_by(*channels) for pair in pairs)
        notes = [f"{name}: {complete:,} of {len(pairs):,} pairs"]
        if complete < len(pairs):
            notes.append(f"{len(pairs) - complete:,} without its evidence")
        if counts["refused"]:
            notes.append(f"the sentences of {how_many(counts['refused'], 'pair')} differ")
        if counts["empty"]:
            notes.append(f"{how_many(counts['empty'], 'line is', 'lines are', commas=True)} empty")
        say("; ".join(notes))
    return pairs, annotators


def _with_links(
    pairs: Sequence[SentencePair], annotator: str, links: Sequence[Alignment | None]
) -> list[SentencePair]:
    """Return the pairs with these links of an annotator, and without others of the same name."""
    changed = []
    for pair, alignment in zip(pairs, links, strict=True):
        if alignment is None:
            changed.append(pair.without_annotations(annotator))
        else:
            changed.append(pair.with_annotation(annotator, alignment))
    return changed


def _links_of(
    path: str,
    parts: list[str],
    options: Options,
    name: str,
    pairs: Sequence[SentencePair],
    counts: Counter[str],
) -> Iterator[Alignment | None]:
    """Yield the links of a file for each pair: by line, or by id if the file has ids.

    `counts` gets how many alignments are empty, and how many are refused because their sentences
    differ.
    """
    from alignkit.align.evidence import weights_of
    from alignkit.corpora.remapping import remap

    read = _evidence_input(path, parts, options, name)
    choice = Choice(path, None)
    records = list(enumerate(read.pairs(), 1))
    by_line = read.format == "pharaoh" or "ids" not in get_format(read.format).holds
    by_line = by_line and all(record.id == str(number) for number, record in records)
    others = {record.id: (number, record) for number, record in records}
    if len(others) < len(records):
        raise JoinError(f"{path}: two pairs have the same id")
    DISORDER.pop(path, None)  # its links are joined by id
    missing = 0
    refused = 0
    for line, pair in enumerate(pairs, 1):
        number, other = others.pop(str(line) if by_line else pair.id, (0, pair))
        alignment = choice.of(other) if number else None
        if alignment is None:
            missing += 1
            yield None
            continue
        counts["empty"] += not alignment
        weights_of(alignment, f"{path}:{number}")
        if other.has_text and other.words != pair.words:
            alignment = remap(alignment, other.words, pair.words)
            refused += alignment is None
        else:
            _check_inside(alignment, pair, read, number)
        yield alignment
    counts["refused"] += refused
    total = f"{len(pairs):,} pairs"
    for number, other in others.values():  # those that no pair took
        what = f"pair {other.id!r}"
        if by_line:
            what = f"line {number} ({what})"
        raise JoinError(f"{path}: {what} is about none of the {total}")
    if missing and not options.partial:
        raise JoinError(
            f"{path} has links for {len(pairs) - missing:,} of {total}; if the rest was not "
            "aligned, add --partial"
        )
    if refused > _MOST_REFUSED * len(pairs):
        raise JoinError(
            f"{path}: the sentences of {refused:,} of {total} differ, not only their tokens: "
            "is it the same text?"
        )


def _evidence_input(path: str, parts: list[str], options: Options, name: str) -> Input:
    """Return the input of a file of evidence, with the texts of the system if they are given."""
    from alignkit.cli.corpora.merge import input_of

    declared = reading_options(
        options,
        source=_text_of(name, options.evidence_source),
        target=_text_of(name, options.evidence_target),
        base=None,
        transpose=False,
        name=None,
        partial=True,
        drop_out_of_range=False,
    )
    return input_of(path, parts, declared, _FORM)


def _text_of(name: str, given: Iterable[str] | None) -> str | None:
    """Return the file that NAME=FILE options give to a name, the last one if there are several."""
    path = None
    for word in given or ():
        key, _, value = word.partition("=")
        if key == name:
            path = value
    return path


def _check_inside(alignment: Alignment, pair: SentencePair, read: Input, number: int) -> None:
    """Refuse links outside of a pair, with what may be wrong; `number` is their line."""
    n, m = pair.lengths
    for i, j in alignment:
        if i < n and j < m:
            continue
        wrong = f"link {i}-{j} (source-target, from 0) lies outside"
        first = "target" if read.reading.options.transpose else "source"
        base = read.reading.base
        advice = f"it was read with base {base}, {first} first: check :base1 and :transpose"
        spaces = code_points(set(spaces_beyond_ascii(" ".join(chain(*pair.words)))))
        if spaces:
            advice = f"the words contain {spaces}: see --token-separators; {advice}"
        raise FormatError(f"{wrong} the pair of {n} x {m} words; {advice}", read.path, number)


def check_needed(model: str, learned: Learned | None, annotators: Annotators) -> None:
    """Refuse evidence of other systems than those that a loaded model was learned with.

    A model that was learned without evidence does not use any, which is no error.
    """
    from alignkit.align.evidence import check_systems, systems_of
    from alignkit.align.supervised.learned import OBJECTIVES

    if learned is not None and not learned.lessons.evidence:
        return
    systems = () if learned is None else learned.lessons.evidence
    try:
        check_systems(systems, systems_of(annotators))
    except OptionError as error:
        advice = "give exactly these systems"
        missing = [system for system in systems if system.name not in annotators]
        if learned and missing:
            files = ",".join(["FILE"] * missing[0].channels)
            option = f"--evidence {missing[0].name}={files}"
            advice = f"add {option}, or --no-evidence to align without any"
            if measures := learned.lessons.measures:
                now, without = (f"{100 * measure:.1f}" for measure in measures)
                name = OBJECTIVES[learned.lessons.objective].measure
                advice += f" (learned so too: {name} {without} instead of {now})"
        raise OptionError(f"{model}: {error}: {advice}") from None


def report_doubts(aligner: Aligner, pairs: Iterable[SentencePair], evidence: Evidence) -> None:
    """Warn of evidence that lost its weights, or fits better in another direction or base."""
    from alignkit.align.evidence import doubts

    learned = aligner.parameters.learned
    plain = {system.name for system in evidence.systems if not system.weighted}
    if learned is not None:
        for system in learned.lessons.evidence:
            if system.weighted and system.name in plain:
                warn(f"learned from weights of {system.name}, but now all its links weigh 1")
    for doubt in doubts(aligner.decoder, aligner.packed(pairs), evidence):
        warn(f"evidence {doubt}")


def check_gold(corpus: Corpus, gold: str, name: str) -> None:
    """Refuse a corpus with too few gold pairs or no sure link, before training."""
    from alignkit.align.supervised.gold import FOLDS, different, is_learnable

    pairs = [pair for pair in corpus if pair.aligned_by(gold) and is_learnable(pair)]
    if (count := different(pairs)) < FOLDS:
        raise AlignerError(
            f"{name}: {gold!r} aligned {count} different pairs with 1 to {LONGEST_PIECE} "
            f"words on both sides; learning needs at least {FOLDS}"
        )
    if not any(pair.alignment(gold).sure for pair in pairs):
        raise AlignerError(f"{name}: {gold!r} made no sure links there; learning needs some")


def report_replaced(aligner: Aligner, options: Options) -> None:
    """Report that the corrections of a loaded aligner are replaced."""
    learned = aligner.parameters.learned
    if learned is not None and learned.used:
        say(f"{options.load}: its corrections from gold links are replaced, not extended")


def learned_of(
    aligner: Aligner, corpus: Corpus, gold: str, options: Options, systems: Annotators
) -> tuple[Aligner, LearningReport]:
    """Learn from the pairs of a corpus that the annotator `gold` aligned."""
    from alignkit.align.supervised.refiner import Refiner

    vectors = aligner.vectors
    if systems:
        from alignkit.align.evidence import Evidence

        report_doubts(aligner, corpus, Evidence.pack(corpus, systems))
    refiner = Refiner.train(
        aligner,
        corpus,
        gold,
        options.objective or "links",
        options.prior or "samples",
        vectors and vectors[0],
        target_vectors=vectors and vectors[1],
        ignore_identical=options.ignore_identical,
        evidence=systems,
        threads=options.threads,
    )
    report = refiner.report
    assert report is not None  # it was cross-validated just now
    if report.left_out:
        say(
            f"{report.left_out:,} x annotated pair not used for learning: a side has no words "
            f"or more than {LONGEST_PIECE}, or a million word pairs came before it"
        )
    return refiner.aligner, report


def read_two_vectors(
    options: Options, bitext: Bitext | None = None
) -> tuple[WordVectors | None, WordVectors | None]:
    """Read the vectors of the source (or of both sides) and of the target."""
    if options.vectors is None:
        return None, None
    source = target = None
    if bitext is not None:
        source, target = _words_to_read(bitext)
    if options.target_vectors is None:
        both = None
        if source is not None and target is not None:
            both = source | target
        return _read(options.vectors, both, options.max_size), None
    first = _read(options.vectors, source, options.max_size)
    second = _read(options.target_vectors, target, options.max_size)
    if first.dimensions != second.dimensions:
        problem = (
            f"has vectors of {second.dimensions} dimensions, but {options.vectors} has "
            f"{first.dimensions}: both sides need vectors in the same space"
        )
        raise FormatError(problem, options.target_vectors)
    return first, second


def _words_to_read(bitext: Bitext) -> tuple[set[str], set[str]]:
    """Return the words of both sides, folded, for learning, and as written, for shares."""
    written = bitext.as_written
    assert written is not None
    source, target = written
    return {*bitext.source.words, *source.words}, {*bitext.target.words, *target.words}


def _read(path: str, words: Collection[str] | None, max_size: int) -> WordVectors:
    """Read the vectors of these words, None for all, and report how many they are."""
    from alignkit.align.vectors.vector_files import read_vectors

    with ProgressBar(path) as progress:
        vectors = read_vectors(path, words, max_size=max_size, progress=progress.reach)
    size = f"{vectors.array.nbytes / 1e6:,.1f} MB"
    say(f"{path}: {len(vectors):,} vectors of {vectors.dimensions} dimensions, {size}")
    return vectors


def train_aligner(
    bitext: Bitext,
    settings: Settings,
    options: Options,
    vectors: tuple[WordVectors | None, WordVectors | None],
    *,
    encoder: Encoder | None = None,
    dictionary: Mapping[tuple[str, str], float] | None = None,
    folder: str | None = None,
) -> Aligner:
    """Train an aligner on a bitext; see `Aligner.train`."""
    from alignkit.align.aligner import Aligner

    with ProgressBar("training") as progress:
        aligner = Aligner.train(
            bitext,
            settings=settings,
            dictionary=dictionary,
            vectors=vectors[0],
            target_vectors=vectors[1],
            encoder=encoder,
            threads=options.threads,
            folder=folder,
            progress=lambda done, total, text: progress.reach(done / max(total, 1), text),
        )
    if dictionary is not None:
        report_entries(aligner.entries_met, dictionary)
    return aligner


def load_aligner(
    options: Options, encoder: Encoder | None, bitext: Bitext | None = None
) -> Aligner:
    """Load the aligner of --load, with the vectors of --vectors or an encoder."""
    from alignkit.align.aligner import Aligner

    vectors, target_vectors = read_two_vectors(options, bitext)
    aligner = Aligner.load(
        options.load,
        vectors=vectors,
        target_vectors=target_vectors,
        encoder=False if options.no_encoder else encoder,
    )
    used = aligner.parameters.vectors
    if used is not None and vectors is not None and used.dimensions != vectors.dimensions:
        warn(
            f"{options.load} was trained with vectors of {used.dimensions} dimensions, but "
            f"{options.vectors} has {vectors.dimensions}: use the vectors of the training"
        )
    if used is not None and vectors is None:
        say(
            f"{options.load} was trained with vectors; without --vectors, word pairs that did "
            "not occur in training get no pseudo-counts from them"
        )
    return aligner


def report_encoding(aligner: Aligner) -> None:
    """Report what the encoder did, or how well word vectors knew the words, if there are any."""
    if aligner.encoder is not None:
        say(f"encoder: {aligner.encoder}; {aligner.encoding}")
    elif aligner.encoding is not None:
        say(f"vectors: {aligner.encoding.about_words}")


def report_calibration(options: Options, *, calibrated: bool) -> None:
    """Report whether probabilities say how often such links are right, if they are used."""
    if not options.probs and options.sure is None:
        return
    if calibrated:
        say("probabilities are calibrated: they say how often such links are right")
    else:
        say("probabilities are not calibrated: they do not say how often such links are right")


def report_entries(met: int, dictionary: Mapping[tuple[str, str], float]) -> None:
    """Report how many entries of a dictionary were used."""
    say(f"dictionary: {met:,} of {len(dictionary):,} entries occur together in the text")


def report_rounds(history: Iterable[Round], words: tuple[int, int], of: str = "") -> None:
    """Report the log-likelihood per word; `words` counts both texts, `of` names the part."""
    for model, group in groupby(history, key=lambda round: round.model):
        rounds = list(group)
        source_words, target_words = (max(1, count) for count in words)
        first = rounds[0]
        last = rounds[-1]
        target = _from_to(first.forward / target_words, last.forward / target_words)
        source = _from_to(first.reverse / source_words, last.reverse / source_words)
        say(
            f"{of}{model}, {how_many(len(rounds), 'round')}: log-likelihood of a target word "
            f"{target}, of a source word {source}"
        )


def _from_to(first: float, last: float) -> str:
    """Return two numbers, or one if they are equal."""
    if first == last:
        return f"{first:.2f}"
    return f"{first:.2f} ... {last:.2f}"


def report_odd(name: str, empty: int, cut: int) -> None:
    """Report pairs with an empty side, and pairs aligned in pieces."""
    if empty:
        say(f"{name}: {empty:,} x pair with an empty side, without links")
    if cut:
        say(
            f"{name}: {cut:,} x pair with more than {LONGEST_PIECE} words on a side, aligned "
            "in pieces"
        )
