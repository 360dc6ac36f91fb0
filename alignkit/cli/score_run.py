"""Score one system against the gold standard, by the shortest way that its options allow."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from alignkit.cli.inputs import Input, detect_format, reading_options
from alignkit.cli.messages import say
from alignkit.cli.wording import in_words_of
from alignkit.corpus import SentencePair, values_of
from alignkit.errors import UnknownNameError

if TYPE_CHECKING:
    from alignkit.scoring import Score
    from alignkit.scoring.file_options import FileOptions

__all__ = ["Scoring"]


class Scoring:
    """Score one system; keep beside the score what its tables need.

    Parameters
    ----------
    path
        The system's alignments.
    options
        Those of the command.
    annotator
        Whose alignments the system is, if the file holds those of several.

    Attributes
    ----------
    score
        The score.
    ids, groups
        For each pair scored its id, and the values of the attribute to group by; empty where no
        table needs them.
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
        declared = self._declared()
        files = TwoFiles(
            lambda: self._open(declared),
            declared,
            pairwise=bool(options.by or options.per_pair),
            watch=self._note,
            tell=say,
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
        for path, suspicion in files.suspicions.items():
            say(in_words_of(options.parser, f"{path}: warning: {suspicion}"), once=True)
        if drawn:
            score = score.with_intervals(
                resamples=options.resamples, confidence=options.confidence, seed=options.seed
            )
        return score

    def _declared(self) -> FileOptions:
        from alignkit.scoring.file_options import FileOptions

        options = self._options
        return FileOptions(
            reading_options(options),
            options.format,
            hyp_format=options.hyp_format,
            hyp_base=options.hyp_base,
            hyp_transpose=options.transpose != options.hyp_transpose,
            hyp_annotator=self._annotator,
            ref_format=options.ref_format,
            ref_base=options.ref_base,
            ref_transpose=options.transpose != options.ref_transpose,
            ref_annotator=options.ref_annotator,
            in_order=options.in_order,
        )

    def _open(self, declared: FileOptions) -> tuple[Input, Input]:
        """Open both files; where one corpus holds both annotators, it is opened once."""
        self.ids: list[str] = []
        self.groups: list[tuple[str, ...]] = []
        self._attributes: dict[str, None] = {}
        reference = self._options.reference
        paths = [self._path] if reference is None else [self._path, reference]
        settled = declared.settled(paths, detect_format)
        opened = [Input(path, *one) for path, one in zip(paths, settled, strict=True)]
        return opened[0], opened[-1]

    def _note(self, ref: SentencePair, hyp: SentencePair) -> None:
        """Keep of a pair that is scored what the tables need."""
        options = self._options
        if options.per_pair:
            self.ids.append(ref.id)
        if options.by is not None:
            self._attributes.update(dict.fromkeys([*ref.attributes, *hyp.attributes]))
            text = ref.attributes.get(options.by, hyp.attributes.get(options.by, ""))
            self.groups.append(values_of(text, options.split))

    def _check_groups(self) -> None:
        by, path = self._options.by, self._options.reference or self._path
        if by is not None and self.groups and by not in self._attributes:
            raise UnknownNameError(f"attribute of {path}:", by, self._attributes)
