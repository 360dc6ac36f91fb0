"""Priors of learning: weights of features by name, learned elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from math import isfinite

from alignkit.aligner.refine.features import CELL, NEIGHBOURS, VECTORS, names_of
from alignkit.aligner.refine.learned import Learned, Lessons
from alignkit.aligner.refine.rounds import Round, StackedModel
from alignkit.errors import FormatError
from alignkit.input import open_input
from alignkit.output import replacing

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
        text = files("alignkit.aligner.refine").joinpath("samples.json").read_text("utf-8")
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
        return StackedModel(Round.named(names, self.first), Round.named(names, self.second))

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
