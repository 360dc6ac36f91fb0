"""Read two files of alignments together: in the same order, or joined by ids."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from errno import ENOENT
from logging import getLogger
from types import SimpleNamespace
from typing import Any, Union

from alignkit._support.arguments import check_attributes, keywords_of
from alignkit.corpora.join import Differences, join_pairs
from alignkit.errors import (
    AlignkitError,
    AlignmentError,
    FileError,
    FormatError,
    JoinError,
    MissingFileError,
    OptionError,
    UnknownFormatError,
)
from alignkit.io import inputs
from alignkit.io.base_checks import BaseWatch
from alignkit.io.detection import find_format
from alignkit.io.formats import get_format
from alignkit.io.options import LinkReadKeywords, ReadOptions
from alignkit.io.reading import open_reading, read_pairs
from alignkit.model.alignment import Alignment
from alignkit.model.arrays import LinkArrays
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.scoring.counts import Block, pair_blocks
from alignkit.scoring.result import digest_of
from alignkit.scoring.settings import ScoreSettings, Signature

_SIDES = ("hyp", "ref")
_OPTION_OF_A_SIDE = re.compile("`(format|base|transpose|encoding)\\b")


@dataclass(frozen=True)
class FileOptions:
    """The declared format, base and so on of two files."""

    reading: ReadOptions  # what holds for both: the fields of ReadOptions
    format: str | None = None  # the format of both; None finds it
    hyp_format: str | None = None  # what holds for one of the two alone; None: as said for both
    hyp_base: int | None = None
    hyp_transpose: bool | None = None
    hyp_encoding: str | None = None
    hyp_annotator: str | None = None
    ref_format: str | None = None
    ref_base: int | None = None
    ref_transpose: bool | None = None
    ref_encoding: str | None = None
    ref_annotator: str | None = None
    in_order: bool = False  # the n-th pairs of both belong together, whatever their ids

    def __post_init__(self) -> None:
        check_attributes(self)
        for name in (self.format, self.hyp_format, self.ref_format):
            if name is not None:
                get_format(name)  # refuses an unknown name
        for side in _SIDES:
            self.of(side)  # `ReadOptions` refuses a wrong base

    @classmethod
    def of_words(cls, given: Mapping[str, Any]) -> FileOptions:
        """Make the options from keyword arguments."""
        own = {}
        reading = {}
        for name, value in given.items():
            if name in FileOptions.__annotations__:
                own[name] = value
            else:
                reading[name] = value
        return cls(ReadOptions(**reading), **own)

    def of(self, side: str) -> tuple[str | None, ReadOptions]:
        """Return the format, if known, and the options of ``"hyp"`` or ``"ref"``."""
        format = getattr(self, f"{side}_format")
        if format is None:
            format = self.format
        changed: dict[str, Any] = {}
        for name in ("base", "transpose", "encoding"):
            value = getattr(self, f"{side}_{name}")
            if value is not None:
                changed[name] = value
        if side == "ref":
            changed["link_weights"] = None  # they belong to the hypothesis
        return format, replace(self.reading, **changed)

    def settled(
        self, paths: Sequence[str], find: Callable[[str, str | None, ReadOptions], str]
    ) -> list[tuple[str, ReadOptions]]:
        """Return the format and the options of each file, or of the one file with both."""
        sides = _SIDES[: len(paths)]
        declared = [self.of(side) for side in sides]
        formats = []
        for path, side, of_side in zip(paths, sides, declared, strict=True):
            with _options_of(side):
                formats.append(find(path, *of_side))
        kinds = [get_format(format) for format in formats]
        texts = any(side.source or side.target for _, side in declared)
        if texts and not any(kind.text_beside for kind in kinds):
            both = " and ".join(paths)
            raise OptionError(f"{both} already have words: leave out `source` and `target`")
        any_languages = any(kind.languages for kind in kinds)
        settled = []
        for format, kind, (_, options) in zip(formats, kinds, declared, strict=True):
            reading = options
            if not kind.text_beside:
                reading = replace(reading, source=None, target=None)
            if any_languages and not kind.languages:
                reading = replace(reading, languages=None)
            settled.append((format, reading))
        return settled


@contextmanager
def _options_of(side: str) -> Iterator[None]:
    """Have errors name the options of one of the two files, such as `hyp_encoding`."""
    try:
        yield
    except FileError:
        raise
    except FormatError as error:
        message = _OPTION_OF_A_SIDE.sub(rf"`{side}_\1", error.message)
        if isinstance(error, UnknownFormatError):
            raise UnknownFormatError(message, error.path, error.fitting) from None
        raise FormatError(message, error.path, error.line, error.column) from None


class FileKeywords(LinkReadKeywords, total=False):
    """The options for reading two files, as a type checker sees them."""

    format: str | None
    hyp_format: str | None
    hyp_base: int | None
    hyp_transpose: bool | None
    hyp_annotator: str | None
    hyp_encoding: str | None
    ref_format: str | None
    ref_base: int | None
    ref_transpose: bool | None
    ref_annotator: str | None
    ref_encoding: str | None
    in_order: bool


NOT_HERE = ("reading", "lenient_labels", "unquote", "no_text")
"""The options of `FileOptions` and `ReadOptions` that functions do not take."""

_EVERY_KEYWORD = (*keywords_of(ReadOptions), *keywords_of(FileOptions))
READING = tuple(name for name in _EVERY_KEYWORD if name not in NOT_HERE)
"""The options of `score` for reading two files."""

Path = Union[str, "os.PathLike[str]"]
_LOGGER = getLogger("alignkit")


class LinkFile:
    """A file of alignments with its format and reading options."""

    def __init__(self, path: str, format: str, options: ReadOptions) -> None:
        self.path = path
        self.format = format
        self.kind, self.reading = open_reading(path, format=format, options=options)

    def blocks(self) -> Iterator[tuple[Sequence[object], LinkArrays]]:
        """Yield ids and links of many pairs at a time."""
        if self.kind.blocks is None:
            raise OptionError(f"format {self.format} cannot be read without its words")
        return self.kind.blocks(self.reading)

    def pairs(self) -> Iterator[SentencePair]:
        """Yield the sentence pairs."""
        return read_pairs(self.kind, self.reading)


class LinkCorpus:
    """A corpus used like a file of alignments."""

    # what `LinkFile` says of a file, so that messages and settings can name the corpus too
    path = "the corpus"
    format = "corpus"
    kind = SimpleNamespace(blocks=None)
    reading = SimpleNamespace(base=0, cautions=(), disorder="", options=ReadOptions())

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def blocks(self) -> Iterator[tuple[Sequence[object], LinkArrays]]:
        """Raise an error: a corpus cannot be read in blocks."""
        raise OptionError("a corpus can only be read pair by pair")

    def pairs(self) -> Iterator[SentencePair]:
        """Yield the sentence pairs."""
        return iter(self._corpus)


def open_two(
    hypothesis: Path | Corpus, reference: Path | Corpus, options: FileOptions
) -> tuple[inputs.LinkInput, inputs.LinkInput]:
    """Open two files, or a file and a corpus; log detected formats to ``alignkit``."""
    if isinstance(hypothesis, Corpus) or isinstance(reference, Corpus):
        both = list[inputs.LinkInput]()
        for side, given in (("hyp", hypothesis), ("ref", reference)):
            if isinstance(given, Corpus):
                both.append(LinkCorpus(given))
                continue
            declared, reading = options.of(side)
            path = os.fspath(given)
            both.append(LinkFile(path, _found(path, declared, reading), reading))
        return both[0], both[1]
    paths = [os.fspath(path) for path in (hypothesis, reference)]
    settled = options.settled(paths, _found)
    hyp, ref = (LinkFile(path, *file) for path, file in zip(paths, settled, strict=True))
    return hyp, ref


def _found(path: str, declared: str | None, options: ReadOptions) -> str:
    """Return the format of a file, declared or detected."""
    if not os.path.exists(path) and path.split():
        try:
            Alignment.parse(path)
        except AlignmentError:
            pass  # a path, which is reported where the file is opened
        else:
            raise MissingFileError(
                path,
                ENOENT,
                "no such file; to give links, use a list with a string for each sentence "
                f"pair: [{path!r}]",
            )
    if declared is not None:
        return declared
    format = find_format(path, encoding=options.encoding, base=options.base)
    _LOGGER.info("%s: read as %s", path, format)
    return format


def _parsed(known: SentencePair, hyp: SentencePair) -> SentencePair:
    """Return the pair with the trees to use: those of the hypothesis only if `known` has none."""
    if known.source_trees or known.target_trees:
        return known
    if (known.source, known.target) != (hyp.source, hyp.target):
        return known  # the trees of the hypothesis are of other words
    return hyp


@dataclass(eq=False)
class TwoFiles:
    """Two files: the alignments of a system and those of the gold standard."""

    open_both: Callable[[], tuple[inputs.LinkInput, inputs.LinkInput]]
    options: FileOptions
    pairwise: bool = False  # whether to read pair by pair, even if links suffice
    watch: Callable[[SentencePair, SentencePair], None] | None = None
    tell: Callable[[str], None] = _LOGGER.warning

    def __post_init__(self) -> None:
        self._open()

    def _open(self) -> None:
        """Open both files, again if they were read."""
        self.skipped = 0  # pairs that were left out
        self.scored = ""  # a digest of the ids of the scored pairs
        self._outside = 0  # links out of range that were dropped
        self._doubt = ""  # why the pairs may not belong together
        self.hyp, self.ref = self.open_both()
        self._bases = BaseWatch(self.hyp.reading.base), BaseWatch(self.ref.reading.base)

    @property
    def signature(self) -> Signature:
        """The formats and bases of the files."""
        hyp, ref = self.hyp, self.ref
        bases = f"{hyp.reading.base}/{ref.reading.base}"
        return Signature(format=f"{hyp.format}/{ref.format}", base=bases)

    @property
    def suspicions(self) -> dict[str, str]:
        """Warnings about a base that looks wrong, by path; complete after reading."""
        hyp_bases, ref_bases = self._bases
        if self.hyp is self.ref:
            texts = [hyp_bases.suspicion("`base=1`"), ref_bases.suspicion("`base=1`")]
        else:
            texts = [hyp_bases.suspicion("`hyp_base=1`"), ref_bases.suspicion("`ref_base=1`")]
        paths = (self.hyp.path, self.ref.path)
        return {path: text for path, text in zip(paths, texts, strict=True) if text}

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about how the files were read; complete after reading."""
        cautions = [f"{path}: {text}" for path, text in self.suspicions.items()]
        for side in dict.fromkeys((self.hyp, self.ref)):  # once if both are the same file
            cautions += side.reading.cautions
            if self.options.in_order and side.reading.disorder:
                cautions.append(f"{side.path}: joined in order, but {side.reading.disorder}")
        if self._doubt:
            cautions.append(self._doubt)
        if self._outside:
            cautions.append(f"{self.hyp.path}: {self._outside} links out of range were dropped")
        return tuple(cautions)

    @property
    def once(self) -> bool:
        """Whether one of the two files can be read only once."""
        return "-" in (self.hyp.path, self.ref.path)

    def blocks(self, settings: ScoreSettings, *, joined: bool = False) -> Iterator[Block]:
        """Yield blocks to count; use `joined` if the ids have different orders."""
        if joined:
            self._open()
        sides = (self.hyp, self.ref)
        ordered = self.options.in_order
        named = self.options.hyp_annotator is not None or self.options.ref_annotator is not None
        by_pair = joined or self.pairwise or settings.needs_words or named
        with inputs.naming(self.ref.path, self.hyp.path):
            if not by_pair and inputs.have_blocks(*sides):  # links alone suffice
                both = inputs.link_blocks(*sides, ordered=ordered, beyond=self._leave_out)
                for _, hyp, ref in both:
                    for watch, side in zip(self._bases, (hyp, ref), strict=True):
                        watch.add(side)
                    yield hyp, ref, None, None
            else:
                yield from pair_blocks(self.annotated(), "hyp", "ref", settings)

    def _leave_out(self, ids: Sequence[object]) -> None:
        self.skipped += len(ids)

    def annotated(self) -> Iterator[SentencePair]:
        """Yield the pairs that both annotated, as "hyp" and "ref", with the data of both files."""
        options = self.options
        of_ref = inputs.Choice(self.ref.path, options.ref_annotator, "ref_annotator")
        of_hyp = inputs.Choice(self.hyp.path, options.hyp_annotator, "hyp_annotator")
        ids: list[str] = []
        for ref, hyp in self._joined():
            reference = of_ref.of(ref)
            hypothesis = of_hyp.of(hyp)
            if hypothesis is None or reference is None:
                self.skipped += 1
                continue
            for watch, side in zip(self._bases, (hypothesis, reference), strict=True):
                watch.see(side)
            ids.append(ref.id)
            known = ref if ref.has_text else hyp
            parsed = _parsed(known, hyp)
            sides = {"hyp": hypothesis, "ref": reference}
            if options.reading.drop_out_of_range and known.has_text:
                for name, links in sides.items():
                    sides[name] = self._in_range(links, known.lengths)
            if self.watch is not None:
                self.watch(ref, hyp)
            try:
                yield SentencePair(
                    ref.id,
                    known.source,
                    known.target,
                    sides,
                    {**hyp.attributes, **ref.attributes},
                    source_trees=parsed.source_trees,
                    target_trees=parsed.target_trees,
                )
            except AlignkitError as error:
                raise OptionError(
                    f"{error}; check the base and direction of 'hyp' {self.hyp.path} and "
                    f"'ref' {self.ref.path}"
                ) from None
        self.scored = digest_of(ids)
        if self._outside:
            self.tell(f"{self.hyp.path}: {self._outside} x link out of range")
        for choice in (of_ref, of_hyp):
            choice.check()

    def _in_range(self, links: Alignment, lengths: tuple[int, int]) -> Alignment:
        """Return the links between words that there are; count the others."""
        n, m = lengths
        kept = {link: sure for link, sure in links.items() if link.i < n and link.j < m}
        self._outside += len(links) - len(kept)
        return Alignment((link for link, sure in kept.items() if sure), kept)

    def _joined(self) -> Iterator[tuple[SentencePair, SentencePair]]:
        """Yield the pairs of the reference with those of the hypothesis."""
        if self.hyp is self.ref:
            for pair in self.ref.pairs():
                yield (pair, pair)
            return
        differences = Differences()
        refs = self.ref.pairs()
        hyps = self.hyp.pairs()
        if self.options.in_order:
            refs, hyps = inputs.in_order(refs, hyps)
        partial = self.options.reading.partial
        try:
            yield from join_pairs(refs, hyps, partial=partial, differences=differences)
        except JoinError as error:
            raise inputs.hinting(error, self.ref, self.hyp) from None
        self.skipped += len(differences.missing) + len(differences.surplus)
        if differences.doubt:
            self._doubt = f"{self.ref.path} and {self.hyp.path}: {differences.doubt}"
        if differences.tokens or differences.doubt:
            tokens = replace(differences, missing=[], surplus=[])
            self.tell(f"{self.ref.path} and {self.hyp.path}: {tokens}")
