"""What was learned from gold, and its application to a bitext."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from alignkit.align.bitext import Bitext
from alignkit.align.decoding import AlignedLinks, Decoding, check_thresholds
from alignkit.align.expectation import Workers, parts_of
from alignkit.align.supervised.cells import (
    CELL,
    NEIGHBOURS,
    VECTORS,
    Cells,
    GoldLexicon,
    Spelled,
    names_of,
)
from alignkit.align.supervised.fitting import StackedModel, SupervisedRound
from alignkit.align.vectors.word_vectors import TwoVectors
from alignkit.errors import AlignerError, FormatError
from alignkit.io.atomic_files import replacing
from alignkit.io.opening import open_input
from alignkit.model.arrays import LinkArrays

I8 = NDArray[np.int64]

UNSUPERVISED = "unsupervised"
"""The kind of what was learned where nothing gained: the aligner's own alignment."""

_PART = 500_000  # cells whose features are held at a time by each thread


@dataclass(frozen=True)
class Lessons:
    """How, and from what, was learned."""

    kind: str  # how the rounds were fitted; one of KINDS, prior, or unsupervised
    objective: str  # one of OBJECTIVES
    threshold: float  # links are more probable than this
    pairs: int  # how many pairs taught it
    vectors: bool  # whether it looks at vectors of words


@dataclass(frozen=True, eq=False)
class WordsKnown:
    """What is known of the distinct words of a bitext."""

    spelled: tuple[Spelled, Spelled]  # how they are written
    numbers: tuple[I8, I8] | None  # those of the gold lexicon; None where there is none


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned from gold."""

    lessons: Lessons  # from what, and how
    rounds: StackedModel | None = (
        None  # what makes probabilities of features; None where nothing gained
    )
    lexicon: GoldLexicon | None = field(default=None)

    @property
    def used(self) -> bool:
        """Whether anything was gained."""
        return self.rounds is not None

    def known(self, bitext: Bitext) -> WordsKnown:
        """Return what is known of the words of a bitext."""
        words = bitext.source.words, bitext.target.words
        return WordsKnown(
            (Spelled(words[0]), Spelled(words[1])),
            None if self.lexicon is None else self.lexicon.numbers(*words),
        )

    def cells(
        self,
        decoder: Decoding,
        bitext: Bitext,
        begin: int,
        end: int,
        vectors: TwoVectors | None,
        known: WordsKnown,
    ) -> tuple[Cells, NDArray[np.float32]]:
        """Return cells of a bitext, of whose words this is `known`, and their probabilities."""
        cells = Cells.of(
            decoder, bitext, begin, end, vectors if self.lessons.vectors else None, known.spelled
        )
        if self.lexicon is not None and known.numbers is not None:
            self.lexicon.set_features(cells, known.numbers)
        if self.rounds is None:
            return cells, cells.features[:, 0].copy()
        return cells, self.rounds.probabilities(cells)

    def align(
        self,
        decoder: Decoding,
        bitext: Bitext,
        workers: Workers,
        threshold: float | None,
        sure: float | None,
        vectors: TwoVectors | None,
    ) -> AlignedLinks:
        """Return the links of a bitext that are more probable than a threshold."""
        if self.lessons.vectors and self.used and vectors is None:
            raise AlignerError(
                "this was learned with vectors of words, and needs them: give the same vectors"
            )
        least = self.lessons.threshold if threshold is None else threshold
        check_thresholds(least, sure)
        known = self.known(bitext)

        def links_of(_: int, begin: int, end: int) -> AlignedLinks:
            cells, probabilities = self.cells(decoder, bitext, begin, end, vectors, known)
            kept = probabilities > np.float32(least)
            before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
            chosen = probabilities[kept]
            flags = (chosen > np.float32(-1 if sure is None else sure)).astype(np.uint8)
            arrays = LinkArrays.trusted(
                cells.places[kept], flags, before[cells.ends], cells.lengths
            )
            return AlignedLinks(arrays, chosen)

        parts = parts_of(bitext.starts, max(64, int(bitext.starts[-1]) // _PART))
        return AlignedLinks.joined(workers.map(links_of, parts))


_VERSION = 1
_FIRST = {*CELL, *VECTORS, "bias"}
_SECOND = {*_FIRST, *NEIGHBOURS}
_MOST = 1 << 20  # bytes
_LARGEST = 1e6


@dataclass(frozen=True)
class Prior:
    """The weights of both rounds by name of feature.

    Parameters
    ----------
    first, second
        ``bias`` is one of the names; what is missing is 0.
    threshold
        Links are more probable than this, where nothing more is learned.
    made
        Who made it, from what, under which licence.

    Examples
    --------
    >>> Prior.samples().made["licence"]
    'Apache-2.0'
    """

    first: Mapping[str, float]
    second: Mapping[str, float]
    threshold: float
    made: Mapping[str, str]

    @classmethod
    def none(cls) -> Prior:
        """Return the start that knows nothing but what the aligner thinks."""
        return cls({"logit_mean": 1.0}, {"logit_first": 1.0}, 0.5, {})

    @classmethod
    def samples(cls) -> Prior:
        """Return what was learned from the samples of this package."""
        text = files("alignkit.align.supervised").joinpath("samples.json").read_text("utf-8")
        return cls.decoded(text, "samples.json")

    @classmethod
    def read(cls, name: str) -> Prior:
        """Return the prior of a name, ``samples`` or ``none``, or of a file.

        Raises
        ------
        FormatError
            If the file is no prior.
        """
        if name == "samples":
            return cls.samples()
        if name == "none":
            return cls.none()
        with open_input(name) as stream:
            text = stream.read(_MOST).decode("utf-8", "replace")
        return cls.decoded(text, name)

    def rounds(self, *, vectors: bool) -> StackedModel:
        """Return the rounds, of features with or without those of vectors."""
        names = names_of(vectors=vectors, second=True)
        return StackedModel(
            SupervisedRound.named(names, self.first), SupervisedRound.named(names, self.second)
        )

    def learned(self) -> Learned:
        """Return what aligns without any gold."""
        return Learned(
            Lessons("prior", "links", self.threshold, 0, vectors=False), self.rounds(vectors=False)
        )

    def encoded(self) -> str:
        """Return it as JSON."""
        weights = {"first": dict(self.first), "second": dict(self.second)}
        content = {"made": dict(self.made), "threshold": self.threshold, **weights}
        content = {"alignkit": "prior", "version": _VERSION, **content}
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def save(self, path: str) -> None:
        """Write it into a file."""
        with replacing(path) as stream:
            stream.write(self.encoded())

    @classmethod
    def decoded(cls, text: str, path: str) -> Prior:
        """Read it from JSON.

        Raises
        ------
        FormatError
            If it is none.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or content.get("alignkit") != "prior":
            raise FormatError(
                "is no prior of alignkit; name a file that holds one, or 'samples' or 'none'", path
            )
        if content.get("version") != _VERSION:
            raise FormatError(
                f"is a prior of version {str(content.get('version'))[:40]}; this alignkit reads "
                f"version {_VERSION}",
                path,
            )
        threshold = content.get("threshold")
        if not (isinstance(threshold, float) and 0 <= threshold <= 1):
            raise FormatError("its threshold is no probability", path)
        made = content.get("made")
        if not isinstance(made, dict) or not all(isinstance(one, str) for one in made.values()):
            raise FormatError("its entry 'made' is no object of texts", path)
        first = _weights(content.get("first"), "first", _FIRST, path)
        second = _weights(content.get("second"), "second", _SECOND, path)
        return cls(first, second, threshold, made)


def _weights(found: object, name: str, known: set[str], path: str) -> dict[str, float]:
    if not isinstance(found, dict):
        raise FormatError(f"its entry {name!r} is no object", path)
    for key, value in found.items():
        if key not in known:
            raise FormatError(f"its entry {name!r} has {key[:40]!r}, which is no feature", path)
        if not _is_number(value) or not abs(value) < _LARGEST:
            raise FormatError(f"its entry {name!r} has no number for {key!r}", path)
    return {key: float(value) for key, value in found.items()}


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and isfinite(value)  # type: ignore[arg-type]
