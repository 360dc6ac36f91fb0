"""Priors of learning: the weights of both rounds that learning starts from, and their files.

A file is JSON, with the weight of each feature by its name, as in ``{"logit_mean": 1.0, "bias":
-0.2}``: so it serves with other features too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from alignkit.align.evidence import EvidenceSystem
from alignkit.align.supervised import cells
from alignkit.align.supervised.learned import Learned, Lessons, StackedModel, SupervisedRound
from alignkit.errors import FormatError
from alignkit.io.atomic_files import replacing
from alignkit.io.opening import open_input

_VERSION = 1  # of the files
_FIRST = {*cells.CELL, *cells.VECTORS, "bias"}  # the names of weights in a file
_SECOND = {*_FIRST, *cells.NEIGHBOURS}
_MOST = 1 << 20  # bytes of a file
_LARGEST = 1e6  # weight in a file


@dataclass(frozen=True)
class Prior:
    """The weights of both rounds by feature name.

    Parameters
    ----------
    first, second : Weights by name; ``bias`` is one of the names, and missing features have weight
        0.
    threshold : Links have a higher probability than this, if nothing more is learned.
    made : Its maker, its source, and its licence.

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
        """Return a prior that only uses the aligner's probabilities."""
        return cls({"logit_mean": 1.0}, {"logit_first": 1.0}, 0.5, {})

    @classmethod
    def samples(cls) -> Prior:
        """Return the prior learned from the samples of this package."""
        text = files("alignkit.align.supervised").joinpath("samples.json").read_text("utf-8")
        return cls.decoded(text, "samples.json")

    @classmethod
    def read(cls, name: str) -> Prior:
        """Return the prior named ``samples`` or ``none``, or read one from a file.

        Raises
        ------
        FormatError : If the file is not a prior.
        """
        if name == "samples":
            return cls.samples()
        if name == "none":
            return cls.none()
        with open_input(name) as stream:
            text = stream.read(_MOST).decode("utf-8", "replace")
        return cls.decoded(text, name)

    def rounds(self, *, vectors: bool, evidence: Iterable[EvidenceSystem] = ()) -> StackedModel:
        """Return both rounds, with or without the features of vectors and of evidence."""
        names = cells.names_of(vectors=vectors, evidence=evidence)
        first = SupervisedRound.named(names, self.first)
        second = SupervisedRound.named(names, self.second)
        return StackedModel(first, second)

    def learned(self) -> Learned:
        """Return a refinement that uses no gold links."""
        lessons = Lessons("prior", "links", self.threshold, 0, vectors=False)
        return Learned(lessons, self.rounds(vectors=False))

    def encoded(self) -> str:
        """Return the prior as JSON."""
        content = {
            "alignkit": "prior",
            "version": _VERSION,
            "made": dict(self.made),
            "threshold": self.threshold,
            "first": dict(self.first),
            "second": dict(self.second),
        }
        return json.dumps(content, indent=1, allow_nan=False) + "\n"

    def save(self, path: str) -> None:
        """Write the prior to a file."""
        with replacing(path) as stream:
            stream.write(self.encoded())

    @classmethod
    def decoded(cls, text: str, path: str) -> Prior:
        """Read a prior from JSON.

        Raises
        ------
        FormatError : If the text is not a prior.
        """
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or content.get("alignkit") != "prior":
            other = "is not a prior of alignkit; give a file with one, or 'samples' or 'none'"
            raise FormatError(other, path)
        if content.get("version") != _VERSION:
            version = str(content.get("version"))[:40]
            raise FormatError(
                f"is a prior of version {version}; this alignkit reads version {_VERSION}", path
            )
        threshold = content.get("threshold")
        if not (isinstance(threshold, float) and 0 <= threshold <= 1):
            raise FormatError("its threshold is not a probability", path)
        made = content.get("made")
        if not isinstance(made, dict) or not all(isinstance(text, str) for text in made.values()):
            raise FormatError("its entry 'made' is not an object of texts", path)
        first = _weights(content.get("first"), "first", _FIRST, path)
        second = _weights(content.get("second"), "second", _SECOND, path)
        return cls(first, second, threshold, made)


def _weights(weights: object, name: str, known: set[str], path: str) -> dict[str, float]:
    """Return the weights of an entry of a file; refuse unknown features, and what is no number."""
    if not isinstance(weights, dict):
        raise FormatError(f"its entry {name!r} is not an object", path)
    for key, value in weights.items():
        if key not in known:
            raise FormatError(f"its entry {name!r} has the unknown feature {key[:40]!r}", path)
        if type(value) not in (int, float) or not abs(value) < _LARGEST:
            raise FormatError(f"its entry {name!r} has no number for {key!r}", path)
    return {key: float(value) for key, value in weights.items()}
