"""Score one system against the gold standard, by the shortest way that its options allow."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from alignkit.alignment import Alignment
from alignkit.cli.choice import Choice, naming
from alignkit.cli.inputs import Input, detect_format, reading_options, tell
from alignkit.cli.messages import say
from alignkit.cli.order import NOT_ALL, hinting, in_order
from alignkit.cli.suspicion import BaseWatch
from alignkit.corpus import SentencePair, values_of
from alignkit.errors import AlignkitError, JoinError, OptionError, UnknownNameError
from alignkit.formats import get_format
from alignkit.in_step import OutOfStepError, have_blocks, link_blocks
from alignkit.join import Differences, join_pairs

if TYPE_CHECKING:
    from alignkit.scoring import Score

__all__ = ["Scoring"]


class Scoring:
    """Score one system; keep beside the score what its tables need.

    Parameters
    ----------
    path
        The system's alignments.
    options
        Those of the command.

    Attributes
    ----------
    score
        The score.
    ids, groups
        For each pair scored its id, and the values of the attribute to group by; empty where no
        table needs them.
    """

    def __init__(self, path: str, options: argparse.Namespace) -> None:
        self._path, self._options = path, options
        self._needs_words = bool(
            options.ignore_identical or options.split_identical or options.loose
        )
        self._needs_pairs = bool(self._needs_words or options.by or options.per_pair)
        try:
            self.score = self._run()
        except OutOfStepError:
            if "-" in (path, options.reference):
                raise
            self._needs_pairs = True  # which joins by id
            self.score = self._run()
        for watch in self._watches:
            watch.warn()

    def _run(self) -> Score:
        from alignkit.scoring import Signature, score_blocks

        options = self._options
        with_intervals = options.ci or options.plot is not None
        self.ids: list[str] = []
        self.groups: list[tuple[str, ...]] = []
        self._attributes: dict[str, None] = {}
        self._skipped = self._outside = 0
        self._hyp, self._ref = self._input(self._path, "hyp"), self._input(options.reference, "ref")
        hyp, ref = self._hyp, self._ref
        self._watches = BaseWatch(hyp, "--hyp-base"), BaseWatch(ref, "--ref-base")
        named = options.hyp_annotator is not None or options.ref_annotator is not None
        simple = not (self._needs_pairs or named) and have_blocks(hyp, ref)
        with naming(ref.path, hyp.path):
            score = score_blocks(
                self._plain() if simple else self._with_pairs(),
                level=options.level,
                ignore_identical=options.ignore_identical,
                exact_case=options.exact_case,
                loose=options.loose,
                max_length=options.max_length,
                links=options.possible,
                aggregate=options.aggregate,
                split_identical=options.split_identical,
                keep_rows=bool(with_intervals or options.compare or options.by or options.per_pair),
                signature=Signature(
                    format=f"{hyp.format}/{ref.format}",
                    base=f"{hyp.reading.base}/{ref.reading.base}",
                ),
            )
        score = replace(score, skipped=score.skipped + self._skipped)
        if with_intervals:
            score = score.with_intervals(
                resamples=options.resamples, confidence=options.confidence, rng=options.seed
            )
        return score

    def _input(self, path: str, side: str) -> Input:
        options = self._options
        get = vars(options).get
        base = get(f"{side}_base")
        format = get(f"{side}_format") or options.format
        declared = reading_options(
            options,
            base=options.base if base is None else base,
            transpose=options.transpose != get(f"{side}_transpose"),
        )
        format = detect_format(path, format, declared)
        if not get_format(format).text_beside:
            self._check_texts()
            declared = replace(declared, source=None, target=None)
        return Input(path, format, declared)

    def _check_texts(self) -> None:
        """Check that texts are for one of the two, where the other has words of its own."""
        options = self._options
        sides = (
            (self._path, options.hyp_format),
            (options.reference, options.ref_format),
        )
        if (options.source or options.target) and not any(
            self._words_beside(path, format or options.format) for path, format in sides
        ):
            raise OptionError(
                f"{self._path} and {options.reference} hold their own words: leave out --source "
                "and --target"
            )

    def _words_beside(self, path: str, format: str | None) -> bool:
        found = detect_format(path, format, reading_options(self._options))
        return get_format(found).text_beside

    def _plain(self) -> Iterator[Any]:
        for _, hyp, ref in link_blocks(
            self._hyp, self._ref, ordered=self._options.in_order, hint=NOT_ALL
        ):
            self._watch(hyp, ref)
            yield hyp, ref, None, None

    def _watch(self, *sides: Any) -> None:
        for watch, side in zip(self._watches, sides, strict=True):
            watch.add(side)

    def _with_pairs(self) -> Iterator[Any]:
        from alignkit.scoring.blocks import pair_blocks
        from alignkit.scoring.settings import Settings

        options = self._options
        settings = Settings(
            ignore_identical=self._needs_words, exact_case=options.exact_case, loose=options.loose
        )
        for block in pair_blocks(self._annotated(), "hyp", "ref", settings):
            self._watch(*block[:2])
            yield block

    def _annotated(self) -> Iterator[SentencePair]:
        """Yield the pairs that both sides have annotated, with the words of either."""
        options = self._options
        choices = (
            Choice(self._ref.path, options.ref_annotator, "--ref-annotator"),
            Choice(self._hyp.path, options.hyp_annotator, "--hyp-annotator"),
        )
        for ref, hyp in self._joined():
            reference, hypothesis = choices[0].of(ref), choices[1].of(hyp)
            if hypothesis is None or reference is None:
                self._skipped += 1
                continue
            if options.per_pair:
                self.ids.append(ref.id)
            if options.by:
                self.groups.append(self._group(ref, hyp))
            known = ref if ref.has_text else hyp
            alignments = {"hyp": hypothesis, "ref": reference}
            if options.drop_out_of_range and known.has_text:
                alignments = {
                    name: self._inside(one, known.lengths) for name, one in alignments.items()
                }
            try:
                yield SentencePair(ref.id, known.source, known.target, alignments)
            except AlignkitError as error:
                raise OptionError(
                    f"{error}; check the base and direction of 'hyp' {self._hyp.path} and "
                    f"'ref' {self._ref.path}"
                ) from None
        tell(self._hyp.path, Counter({"link out of range": self._outside}))
        for choice in choices:
            choice.check()
        self._check_groups()

    def _inside(self, alignment: Alignment, lengths: tuple[int, int]) -> Alignment:
        """Drop, and count, the links beyond words that the other side knows."""
        n, m = lengths
        kept = {link: sure for link, sure in alignment.items() if link.i < n and link.j < m}
        self._outside += len(alignment) - len(kept)
        return Alignment((link for link, sure in kept.items() if sure), kept)

    def _joined(self) -> Iterator[tuple[SentencePair, SentencePair]]:
        differences = Differences()
        refs, hyps = self._ref.pairs(), self._hyp.pairs()
        if self._options.in_order:
            refs, hyps = in_order(refs, hyps)
        try:
            yield from join_pairs(
                refs, hyps, partial=self._options.partial, differences=differences
            )
        except JoinError as error:
            raise hinting(error) from None
        if differences.tokens:  # those that are not in both, --partial has allowed
            told = replace(differences, missing=[], surplus=[])
            say(f"{self._ref.path} and {self._hyp.path}: {told}")

    def _group(self, ref: SentencePair, hyp: SentencePair) -> tuple[str, ...]:
        name = self._options.by
        self._attributes.update(dict.fromkeys([*ref.attributes, *hyp.attributes]))
        text = ref.attributes.get(name, hyp.attributes.get(name, ""))
        return values_of(text, self._options.split)

    def _check_groups(self) -> None:
        by = self._options.by
        if by is not None and self.groups and by not in self._attributes:
            raise UnknownNameError(f"attribute of {self._ref.path}:", by, self._attributes)
