"""The header of a model's file, checked entry by entry: how the model was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from math import isfinite

from alignkit.aligner.parameters import Round
from alignkit.aligner.settings import MODELS, Settings
from alignkit.aligner.vector_prior import VectorsUsed
from alignkit.errors import AlignerError, AlignkitError

_LEAST_SHARE = 1e-15
_ENTRIES = {"casefold", "history", "null_shares", "settings"}
_MORE = {"learned", "prefixes", "vectors"}  # of models that have some
_LONGEST = 1000  # letters of a prefix


@dataclass(frozen=True)
class ModelHeader:
    """What a model says of itself."""

    settings: Settings  # how it was trained
    casefold: bool  # whether case was ignored
    history: tuple[Round, ...]  # the rounds of training
    null_shares: tuple[float, float] | None
    learned: object = None
    vectors: VectorsUsed | None = None  # what vectors told in training; None where there were none
    prefixes: Mapping[int, ModelHeader] = field(default_factory=dict)

    @property
    def jumping(self) -> bool:
        """Whether the HMM was trained."""
        return any(one.model == "hmm" for one in self.history)

    def to_json(self) -> dict[str, object]:
        """Return the header as JSON takes it."""
        found: dict[str, object] = {
            "null_shares": self.null_shares and list(self.null_shares),
            "casefold": self.casefold,
            "settings": asdict(self.settings),
            "history": [list(asdict(one).values()) for one in self.history],
        }
        if self.vectors is not None:
            found["vectors"] = asdict(self.vectors)
        if self.learned is not None:
            found["learned"] = self.learned
        if self.prefixes:
            found["prefixes"] = {str(size): one.to_json() for size, one in self.prefixes.items()}
        return found

    @classmethod
    def of(cls, found: Mapping[str, object]) -> ModelHeader:
        """Read the header that a file holds."""
        for name in sorted((found.keys() - _MORE) ^ _ENTRIES):
            known = name in _ENTRIES
            raise AlignerError(f"{name[:40]} is {'missing' if known else 'no entry of its header'}")
        casefold = found["casefold"]
        if not isinstance(casefold, bool):
            raise AlignerError(f"casefold is {_short(casefold)}; it is true or false")
        settings = _settings(found["settings"])
        history = found["history"]
        if not isinstance(history, list):
            raise AlignerError(f"history is {_short(history)}; it is a list of rounds")
        shares = _null_shares(found["null_shares"], settings)
        vectors = _vectors(found["vectors"]) if "vectors" in found else None
        rounds = tuple(map(_round, history))
        learned = found.get("learned")
        header = cls(settings, casefold, rounds, shares, learned, vectors)
        if ("prefixes" in found) != settings.best:
            raise AlignerError("prefixes are there where settings say best, and not elsewhere")
        if not settings.best:
            return header
        return replace(header, prefixes=dict(header._parts(found["prefixes"])))

    def _parts(self, found: object) -> Iterator[tuple[int, ModelHeader]]:
        sizes = [str(size) for size in range(1, _LONGEST)]
        if not isinstance(found, dict) or not found or found.keys() - set(sizes):
            raise AlignerError(
                f"prefixes are {_short(found)}; they are models by numbers of letters"
            )
        for name in sorted(found, key=int):
            if not isinstance(found[name], dict):
                raise AlignerError(f"prefixes: {name} is {_short(found[name])}; it is an object")
            one = ModelHeader.of(found[name])
            of_one = replace(self.settings, best=False)
            if (one.settings, one.casefold) != (of_one, self.casefold):
                raise AlignerError(f"prefixes: {name} was trained otherwise than whole words")
            if one.learned is not None or one.vectors is not None:
                raise AlignerError(f"prefixes: {name} has what whole words have alone")
            yield int(name), one


def _settings(found: object) -> Settings:
    if not isinstance(found, dict):
        raise AlignerError(f"settings are {_short(found)}; they are an object")
    for name in sorted(found.keys() - {one.name for one in fields(Settings)}):
        raise AlignerError(f"settings: {name[:40]} is no setting")
    try:
        return Settings(**found)
    except AlignkitError as problem:
        raise AlignerError(f"settings: {problem}") from None


def _round(found: object) -> Round:
    if isinstance(found, list) and len(found) == 4:
        model, number, *scores = found
        known = isinstance(model, str) and model in MODELS and type(number) is int and number > 0
        if known and all(type(one) is float and isfinite(one) for one in scores):
            return Round(model, number, *scores)
    raise AlignerError(
        f"history has the round {_short(found)}; a round is a model, its number from 1, and two "
        "log-likelihoods"
    )


def _null_shares(found: object, settings: Settings) -> tuple[float, float] | None:
    if settings.model not in ("ibm3", "ibm4"):
        if found is not None:
            raise AlignerError(f"null_shares are {_short(found)}; {settings.model} has none")
        return None
    if isinstance(found, list) and len(found) == 2:
        one, other = found
        if all(type(x) is float and _LEAST_SHARE <= x <= 1 - _LEAST_SHARE for x in found):
            return one, other
    raise AlignerError(f"null_shares are {_short(found)}; they are two numbers between 0 and 1")


def _vectors(found: object) -> VectorsUsed:
    names = [one.name for one in fields(VectorsUsed)]
    if not isinstance(found, dict) or found.keys() != set(names):
        raise AlignerError(f"vectors are {_short(found)}; they are {', '.join(names)}")
    vectors = VectorsUsed(**found)
    if not all(type(one) is int and one >= 0 for one in astuple(vectors)):
        raise AlignerError(f"vectors are {_short(list(found.values()))}; they are counts")
    return vectors


def _short(value: object) -> str:
    if isinstance(value, (list, dict)) and value:
        return f"a {type(value).__name__} of {len(value)}"
    return repr(value)[:60]
