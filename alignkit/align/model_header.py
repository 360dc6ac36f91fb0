"""The header of a model file: how it was trained, written as JSON and read with a check of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from math import isfinite
from typing import Any

from alignkit.align.encoder.encoding import EncoderUsed, VectorsUsed
from alignkit.align.model_learned import LearnedEntry
from alignkit.align.model_tables import require
from alignkit.align.parameters import Parameters, Round
from alignkit.align.settings import MODELS, Settings
from alignkit.errors import AlignerError, AlignkitError

_ENTRIES = {"casefold", "history", "null_shares", "settings"}
_LEAST_SHARE = 1e-15
_LONGEST = 1000  # letters of a prefix, and layers of an encoder, are fewer


@dataclass(frozen=True)
class ModelHeader:
    """The header of a model file."""

    settings: Settings  # how it was trained
    casefold: bool  # whether case was ignored
    history: tuple[Round, ...]  # the rounds of training
    null_shares: tuple[float, float] | None  # those of IBM 3 and 4, forward and reverse
    vectors: VectorsUsed | None = None  # the word vectors of the training, if there were some
    encoder: EncoderUsed | None = None  # the encoder of the training, if there was one
    agreement: float | None = None  # of the directions, in texts whose probabilities are calibrated
    learned: LearnedEntry | None = None  # what was learned from gold, if anything
    prefixes: Mapping[int, ModelHeader] = field(default_factory=dict)  # of models of cut words

    @property
    def jumping(self) -> bool:
        """Whether the HMM was trained."""
        return any(done.model == "hmm" for done in self.history)

    @classmethod
    def of(cls, known: Parameters) -> ModelHeader:
        """Return the header of a model."""
        null_shares = None
        if known.fertilities is not None:
            fertile = known.fertilities
            null_shares = (fertile.forward.null_share, fertile.reverse.null_share)
        return cls(
            settings=known.settings,
            casefold=known.casefold,
            history=known.history,
            null_shares=null_shares,
            vectors=known.vectors,
            encoder=known.encoder,
            agreement=None if known.text is None else known.text.agreement,
            learned=None if known.learned is None else LearnedEntry.of(known.learned),
            prefixes={size: cls.of(part) for size, part in known.prefixes.items()},
        )

    def to_json(self) -> dict[str, object]:
        """Return the header as JSON values; entries that few models have are left out."""
        content: dict[str, object] = {
            "null_shares": self.null_shares,
            "casefold": self.casefold,
            "settings": asdict(self.settings),
            "history": list(map(astuple, self.history)),
        }
        if self.vectors is not None:
            content["vectors"] = asdict(self.vectors)
        if self.encoder is not None:
            content["encoder"] = asdict(self.encoder)
        if self.agreement is not None:
            content["agreement"] = self.agreement
        if self.learned is not None:
            content["learned"] = self.learned.to_json()
        if self.prefixes:
            parts = self.prefixes.items()
            content["prefixes"] = {str(size): part.to_json() for size, part in parts}
        return content

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> ModelHeader:
        """Read the header of a file.

        Raises
        ------
        AlignerError : If an entry is not what a model of this version has.
        """
        known = {*_ENTRIES, *_OPTIONAL, "prefixes"}
        for name in sorted(_ENTRIES - content.keys()):
            raise AlignerError(f"{name} is missing")
        for name in sorted(content.keys() - known):
            raise AlignerError(f"{name[:40]} is not a known entry")
        settings = _settings(content["settings"])
        more: dict[str, Any] = {}
        for name, read in _OPTIONAL.items():
            if name in content:
                more[name] = read(content[name])
        header = cls(
            settings,
            _casefold(content["casefold"]),
            _history(content["history"]),
            _null_shares(content["null_shares"], settings),
            **more,
        )
        fits = ("prefixes" in content) == settings.best
        require(fits, "prefixes must be present if the setting best is true, and only then")
        if not settings.best:
            return header
        return replace(header, prefixes=_prefixes(content["prefixes"], header))


def _casefold(content: object) -> bool:
    """Read whether case was ignored."""
    if isinstance(content, bool):
        return content
    raise AlignerError(f"casefold is {_short(content)}; expected true or false")


def _settings(content: object) -> Settings:
    """Read how the model was trained."""
    if not isinstance(content, dict):
        raise AlignerError(f"settings are {_short(content)}; expected an object")
    known = {setting.name for setting in fields(Settings)}
    for name in sorted(content.keys() - known):
        raise AlignerError(f"settings: {name[:40]} is not a setting")
    try:
        settings = Settings(**content)
    except AlignkitError as problem:
        raise AlignerError(f"settings: {problem}") from None
    for name, value in content.items():
        require(value is not None, f"settings: {name} is null")
    return settings


def _history(content: object) -> tuple[Round, ...]:
    """Read the rounds of training."""
    if not isinstance(content, list):
        raise AlignerError(f"history is {_short(content)}; expected a list of rounds")
    return tuple(map(_round, content))


def _round(content: object) -> Round:
    """Read a round of training."""
    if isinstance(content, list) and len(content) == 4:
        model, number, *scores = content
        known = isinstance(model, str) and model in MODELS
        numbered = type(number) is int and number > 0
        finite = all(type(score) is float and isfinite(score) for score in scores)
        if known and numbered and finite:
            return Round(model, number, *scores)
    raise AlignerError(
        f"history has the round {_short(content)}; expected a model, a number from 1, and "
        "two log-likelihoods"
    )


def _null_shares(content: object, settings: Settings) -> tuple[float, float] | None:
    """Read the shares of words from NULL of both directions; IBM 3 and 4 have them."""
    if not settings.fertile:
        require(content is None, f"null_shares are {_short(content)}; {settings.model} has none")
        return None
    if isinstance(content, list) and len(content) == 2:
        forward, reverse = content
        most = 1 - _LEAST_SHARE
        if all(type(share) is float and _LEAST_SHARE <= share <= most for share in content):
            return forward, reverse
    raise AlignerError(f"null_shares are {_short(content)}; expected two numbers from 0 to 1")


def _vectors(content: object) -> VectorsUsed:
    """Read which word vectors the training used."""
    used = VectorsUsed(**_entries("vectors", content, {"dimensions": int, "spread": float}))
    dimensions = used.dimensions
    require(dimensions > 0, f"vectors: dimensions is {dimensions}; expected a number from 1")
    _check_spread("vectors", used.spread)
    return used


def _encoder(content: object) -> EncoderUsed:
    """Read which encoder the training used."""
    kinds = {"name": str, "layer": int, "layers": int, "digest": str, "spread": float}
    used = EncoderUsed(**_entries("encoder", content, kinds))
    layers = used.layer == used.layers == 0 or 1 <= used.layer <= used.layers < _LONGEST
    require(layers, f"encoder: layer {used.layer} of {used.layers}; expected one of its layers")
    _check_spread("encoder", used.spread)
    return used


def _entries(name: str, content: object, kinds: Mapping[str, type]) -> dict[str, Any]:
    """Return the object of an entry of the header, whose values must be of these kinds."""
    if not isinstance(content, dict) or content.keys() != kinds.keys():
        raise AlignerError(f"{name} is {_short(content)}; expected {', '.join(kinds)}")
    for key, kind in kinds.items():
        right = type(content[key]) is kind
        require(right, f"{name}: {key} is {_short(content[key])}; expected {kind.__name__}")
    return content


def _check_spread(name: str, spread: float) -> None:
    """Refuse a standard deviation that cosines cannot have."""
    require(0 < spread <= 2, f"{name}: spread is {spread}; expected a number up to 2")


def _agreement(content: object) -> float:
    """Read how far the directions agreed in training."""
    if type(content) is float and 0 <= content <= 1:
        return content
    raise AlignerError(f"agreement is {_short(content)}; expected a number from 0 to 1")


_OPTIONAL: Mapping[str, Callable[[object], object]] = {
    "vectors": _vectors,
    "encoder": _encoder,
    "agreement": _agreement,
    "learned": LearnedEntry.read,
}
"""What reads the entries that a model of whole words may have."""


def _prefixes(content: Any, whole: ModelHeader) -> dict[int, ModelHeader]:
    """Read the headers of models of cut words, by the number of letters that words keep.

    They were trained like the model of whole words, and have none of its optional entries.
    """
    sizes = {str(size) for size in range(1, _LONGEST)}
    fits = isinstance(content, dict) and bool(content) and content.keys() <= sizes
    require(fits, f"prefixes are {_short(content)}; expected models by numbers of letters")
    parts = {}
    for size in sorted(map(int, content)):
        entry = content[str(size)]
        is_object = isinstance(entry, dict)
        require(is_object, f"prefixes: {size} is {_short(entry)}; expected an object")
        plain = not (entry.keys() & _OPTIONAL.keys())
        require(plain, f"prefixes: {size} has entries that only whole words may have")
        part = ModelHeader.read(entry)
        same = part.settings == replace(whole.settings, best=False)
        same = same and part.casefold == whole.casefold
        require(same, f"prefixes: {size} has other settings than the model of whole words")
        parts[size] = part
    return parts


def _short(value: object) -> str:
    """Return a value of a header as short as a message can have it."""
    if isinstance(value, (list, dict)) and value:
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value)[:60]
