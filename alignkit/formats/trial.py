"""Try how a format reads the first records of an input."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedReader
from itertools import islice
from typing import cast

from alignkit.errors import FormatError, OptionError
from alignkit.formats.format import Format
from alignkit.formats.intake import Reading
from alignkit.formats.options import ReadOptions
from alignkit.formats.registry import get_format
from alignkit.formats.sample import BEGINS, BY_STEM, Sample
from alignkit.sentence_pair import SentencePair

_RECORDS = 100


class _EnoughError(Exception):
    """There are too many broken records for this to be the format."""


class Head(Reading):
    """Read no more than the head of an input."""

    def __init__(self, sample: Sample, options: ReadOptions, base: int) -> None:
        super().__init__(sample.path, options, base=base)
        self._sample = sample
        self.cut = sample.more
        self.complaint = ""

    @contextmanager
    def open(self, path: str | None = None) -> Iterator[BufferedReader]:
        """Open the head where the input is wanted, else another file."""
        name = self.path if path is None else path
        if name != self.path or self._sample.head is None:
            with super().open(path) as stream:
                yield stream
            return
        yield cast("BufferedReader", io.BytesIO(self._sample.head))

    @classmethod
    def of(cls, sample: Sample, options: ReadOptions) -> Head:
        """Return the head of an input in the encoding that was declared."""
        return cls(sample, options, 0)

    def complain(self, error: FormatError) -> None:
        """Keep what is wrong first, in words: a traceback would keep files open."""
        line = "" if error.line is None else f"line {error.line}: "
        self.complaint = self.complaint or f"{line}{error.message}"

    def refuse(self, error: FormatError) -> None:
        """Count a broken record; too many are enough."""
        super().refuse(error)
        self.complain(error)
        if self.refused > _RECORDS:
            raise _EnoughError


@dataclass
class Trial:
    """Tell how one format reads the first records of an input."""

    name: str
    kind: Format
    reading: Head
    pairs: list[SentencePair] = field(default_factory=list)
    failed: bool = False

    @property
    def read(self) -> int:
        """How many records were read."""
        return len(self.pairs)

    @property
    def refused(self) -> int:
        """How many were not."""
        return self.reading.refused + self.failed

    @property
    def links(self) -> bool:
        """Whether there is a link, a null or a labelled cell, even one out of range."""
        found = (a for pair in self.pairs for a in pair.alignments.values())
        dropped = self.reading.counts["link out of range"]
        return bool(dropped) or any(len(a) or a.nulls or a.labels for a in found)

    @property
    def fits(self) -> bool:
        """Whether all records were read."""
        return bool(self.pairs) and not self.refused and self.surely is not False

    @property
    def surely(self) -> bool | None:
        """What a mark of the format's own says, see `Format.surely`."""
        return None if self.kind.surely is None else self.kind.surely(self.reading, self.pairs)


def best_trial(name: str, sample: Sample, options: ReadOptions) -> Trial:
    """Try a format under the base that is declared, or under each."""
    trial = _trial(name, sample, options)
    if trial.failed and name in BY_STEM:  # its other files may be encoded otherwise
        trial = _trial(name, replace(sample, encoding="latin-1"), options)
    for base in (0, 1) if options.base is None else ():
        if trial.fits:
            break
        other = _trial(name, sample, replace(options, base=base))
        if other.read - other.refused > trial.read - trial.refused:
            trial = other
    return trial


def _trial(name: str, sample: Sample, options: ReadOptions) -> Trial:
    kind = get_format(name)
    declared = ReadOptions(
        base=options.base,
        encoding=sample.encoding,
        drop_out_of_range=True,
        partial=True,
        lenient=True,
        max_size=options.max_size,
        max_words=options.max_words,
    )
    reading = Head(sample, declared, kind.base)
    trial = Trial(name, kind, reading)
    try:
        with closing(reading.pairs(kind.parse(reading))) as pairs:
            trial.pairs.extend(islice(pairs, _RECORDS))
    except (FormatError, OptionError, _EnoughError) as problem:
        if isinstance(problem, FormatError):
            reading.complain(problem)
        within = sample.more and trial.pairs and name in BEGINS and not reading.refused
        trial.failed = not within  # the head may end within a record
    return trial


def fitting_trials(trials: list[Trial]) -> list[Trial]:
    """Return those that fit: with links before those without, one that is sure before the rest."""
    fitting = [trial for trial in trials if trial.fits]
    if any(trial.links for trial in fitting):
        fitting = [trial for trial in fitting if trial.links]
    sure = [trial for trial in fitting if trial.surely]
    return sure if len(sure) == 1 else fitting
