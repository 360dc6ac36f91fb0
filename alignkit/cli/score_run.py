"""Score one system against the gold standard, by the shortest way that its options allow."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from alignkit.cli.inputs import Input
from alignkit.cli.messages import warn
from alignkit.cli.two_sides import declared_sides, open_sides
from alignkit.cli.wording import in_words_of
from alignkit.corpus import group_text, no_group, values_of
from alignkit.moment import PERIODS
from alignkit.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.scoring import Score
    from alignkit.scoring.file_options import FileOptions


class Scoring:
    """Score one system; keep its `score`, and for each pair scored its id and groups for tables.

    `annotator` says whose alignments the system is, if the file holds those of several.
    """

    def __init__(self, path: str, options: argparse.Namespace, annotator: str | None) -> None:
        self._path, self._options, self._annotator = path, options, annotator
        self.score = self._run()

    def _run(self) -> Score:
        from alignkit.scoring.files import TwoFiles
        from alignkit.scoring.scores import score_files
        from alignkit.scoring.settings import Settings

        options = self._options
        drawn = options.ci or options.plot is not None
        declared = declared_sides(options, self._annotator)
        files = TwoFiles(
            lambda: self._open(declared),
            declared,
            pairwise=bool(options.by or options.per_pair),
            watch=self._note,
            tell=warn,
        )
        settings = Settings(
            level=options.level,
            ignore_identical=options.ignore_identical,
            exact_case=options.exact_case,
            loose=options.loose,
            max_length=options.max_length,
            links=options.possible,
            aggregate=options.aggregate,
            split_identical=options.split_identical,
        )
        keep = bool(drawn or options.compared or options.by or options.per_pair)
        score = score_files(files, settings, keep_rows=keep)
        self._check_groups()
        told = tuple(in_words_of(options.parser, one) for one in score.suspicions)
        score = replace(score, suspicions=told)
        for path, suspicion in files.suspicions.items():
            warn(in_words_of(options.parser, f"{path}: warning: {suspicion}"))
        for suspicion in told[len(files.cautions) :]:
            warn(f"warning: {suspicion}")
        if drawn:
            score = score.with_intervals(
                resamples=options.resamples, confidence=options.confidence, seed=options.seed
            )
        return score

    def _open(self, declared: FileOptions) -> tuple[Input, Input]:
        self.ids: list[str] = []
        self.groups: list[tuple[str, ...]] = []
        self._attributes: dict[str, None] = {}
        return open_sides(self._path, self._options.reference, declared)

    def _note(self, ref: SentencePair, hyp: SentencePair) -> None:
        """Keep of a pair that is scored what the tables need."""
        options = self._options
        if options.per_pair:
            self.ids.append(ref.id)
        if options.by is not None:
            self._attributes.update(dict.fromkeys([*ref.attributes, *hyp.attributes]))
            sides = (ref, options.ref_annotator), (hyp, self._annotator)
            texts = [group_text(pair, options.by, name and [name]) for pair, name in sides]
            known = [text for text in texts if text is not None] or [""]
            text = max(known) if options.by in PERIODS else known[0]
            self.groups.append(values_of(text, options.split))

    def _check_groups(self) -> None:
        by, path = self._options.by, self._options.reference or self._path
        if by is not None and by not in self._attributes and self.groups and not self._timed():
            raise no_group(by, self._attributes, f"attribute of {path}:")

    def _timed(self) -> bool:
        return self._options.by in PERIODS and any(any(values) for values in self.groups)
