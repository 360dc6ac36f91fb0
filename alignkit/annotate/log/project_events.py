"""The events of pair 0, the project itself: its pairs, settings, annotators, suggestions."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from alignkit.annotate.log.lessons import LearnedFrom


class Pair(Struct, omit_defaults=True):
    """A pair as it came into the project; `trees` are Penn brackets, by side and name."""

    k: int
    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    attributes: dict[str, str] = {}
    trees: dict[str, dict[str, str]] = {}


class Text(Struct):
    """Corrected words of a pair."""

    k: int
    rev: int
    source: tuple[str, ...]
    target: tuple[str, ...]


Suggestion = tuple[int, int, float | None, int]
"""A suggested cell: its place, its posterior if known, and what accepting it sets."""


class Setting(Struct, omit_defaults=True):
    """Change settings of the project; what is not named stays."""

    key: str = ""
    name: str | None = None
    scheme: str | None = None
    threshold: float | None = None
    suggestions: str | None = None
    gold: str | None = None
    task: str | None = None
    blind: bool | None = None
    majority: bool | None = None


class Import(Struct, omit_defaults=True):
    """Add pairs."""

    pairs: list[Pair] = []


class Suggest(Struct, omit_defaults=True):
    """Add suggestions to a set; with `new` the set is emptied before."""

    set: str
    rows: list[tuple[int, list[Suggestion]]] = []
    new: bool = False
    learned: LearnedFrom | None = None


class Account(Struct):
    """Register an annotator."""

    name: str


class Assigned(NamedTuple):
    """A row of an assignment: a pair that an annotator has."""

    k: int  # the pair, and whose it is
    annotator: str
    place: int  # where it stands in the list of the annotator, from 1
    shown: bool  # whether the annotator sees suggestions
    arm: str
    trial: bool  # whether it is of the set that all annotate first


class AssignmentPlan(Struct, frozen=True):
    """How pairs are assigned; new pairs are assigned likewise."""

    annotators: tuple[str, ...] = ()  # whose the pairs are
    double: float | None = None
    trial: int = 0  # how many pairs all annotate first
    seed: int = 0  # what is drawn follows from it and the ids of pairs
    stratify: tuple[str, ...] = ("length",)
    order: str = "hash"
    control: float = 0.1  # the share of pairs in the control sample, and how many it has at least
    least: int = 150
    cuts: dict[str, tuple[float, ...]] = {}


class Assign(Struct, omit_defaults=True):
    """Assign pairs; a plan takes the place of the one before, without one that stays."""

    rows: list[Assigned] = []
    plan: AssignmentPlan | None = None


class Texts(Struct):
    """Correct words of pairs."""

    pairs: list[Text]


PROJECT_KINDS: dict[str, type[Struct]] = {
    "setting": Setting,
    "import": Import,
    "suggest": Suggest,
    "account": Account,
    "text": Texts,
    "assign": Assign,
}
"""The kinds of events of pair 0, the project itself."""
