"""The events of the project itself: what each kind holds, and how it is read from the log.

They are the stream of pair 0. What an event changes is said in one place, `tables.apply`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from alignkit.annotate.project.events import BROKEN, LearnedFrom
from alignkit.annotate.project.names import PASS_MARK, ProjectError


class Pair(Struct, omit_defaults=True):
    """A pair as it was imported; `trees` are Penn brackets, by side and name."""

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
"""A suggested cell: its place, its posterior if known, and the value set by accepting it."""


Value = tuple[int, int, int]
"""A link: its source and target word, and 1 if it is possible, 2 if it is sure."""


class Assigned(NamedTuple):
    """A row of an assignment: a pair that an annotator has."""

    k: int  # the pair
    annotator: str  # who has it
    place: int  # where it stands in the list of the annotator, from 1
    shown: bool  # whether the annotator sees suggestions
    arm: str  # split, bare or coin (see `assignment_draw`); empty outside the control sample
    trial: bool  # whether it is of the set that all annotate first


class AssignmentPlan(Struct, frozen=True):
    """How pairs are assigned, also those added later; see `assignment_draw`.

    Without `double` and `each` all annotators have all pairs. An `each` that is not set is not
    stored, and plans from before there was `each` are read likewise.
    """

    annotators: tuple[str, ...] = ()  # who gets pairs
    double: float | None = None  # the share of pairs that two have; the others are of one
    trial: int = 0  # how many pairs all annotate first
    seed: int = 0  # what is drawn follows from it and the ids of pairs
    stratify: tuple[str, ...] = ("length",)  # by which measures and attributes pairs are divided
    order: str = "hash"  # of lists: hash, uncertainty, or an attribute
    control: float = 0.1  # the share of pairs in the control sample
    least: int = 150  # how many pairs it has at least
    cuts: dict[str, tuple[float, ...]] = {}  # where measures are cut; they stay as drawn first
    each: int | UnsetType = UNSET  # how many have each pair, instead of `double`


class ProjectEvent(Struct, omit_defaults=True):
    """The data of an event of the project; the log has it under the name of its kind."""

    kind: ClassVar[str]


class Setting(ProjectEvent):
    """Change settings of the project; missing fields stay."""

    kind = "setting"

    key: str = ""
    name: str | None = None
    scheme: str | None = None
    threshold: float | None = None
    doubt: float | None = None
    suggestions: str | None = None
    gold: str | None = None
    task: str | None = None
    blind: bool | None = None
    majority: bool | None = None


class Account(ProjectEvent):
    """Register an annotator; `role` is that of an imported alignment, empty for a person."""

    kind = "account"

    name: str
    role: str = ""


class Import(ProjectEvent):
    """Add pairs."""

    kind = "import"

    pairs: list[Pair] = []


class Texts(ProjectEvent):
    """Correct words of pairs."""

    kind = "text"

    pairs: list[Text]


class Suggest(ProjectEvent):
    """Add suggestions to a set; with `new` the set is emptied first.

    A learned set (its first event has `learned`) is shown for the pairs that it holds, instead of
    the set of the project.
    """

    kind = "suggest"

    set: str
    rows: list[tuple[int, list[Suggestion]]] = []
    new: bool = False
    learned: LearnedFrom | None = None


class Assign(ProjectEvent):
    """Take pairs away, then assign pairs; without a plan the earlier one stays."""

    kind = "assign"

    rows: list[Assigned] = []
    plan: AssignmentPlan | None = None
    gone: list[tuple[int, str]] = []  # what is taken away: pairs, and who had them


class TrainingPair(Struct, omit_defaults=True):
    """A pair of a training round: its words, its right links, and why they are right."""

    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: list[Value]
    notes: dict[str, str] = {}  # by "i-j" of a cell, or by "" for the pair
    k: int = 0  # its number in the project; 0 if it comes from elsewhere
    languages: dict[str, str] = {}  # attributes that name them


class BeginTraining(ProjectEvent):
    """Begin a training round, which replaces the one before; without pairs there is none."""

    kind = "training"

    pairs: list[TrainingPair] = []
    gold: str = ""  # whose links are right
    mark: float = PASS_MARK  # the F1 over all pairs that passes
    begun: list[str] = []  # annotators who have begun to work already, and need not train


class AnswerTraining(ProjectEvent):
    """Answer the next pair of the training round.

    Attempts are counted from 1, places in the round too. The last pair of an attempt decides
    whether the annotator passes.
    """

    kind = "answer"

    annotator: str
    attempt: int
    place: int
    links: list[Value]
    at: str


class Admit(ProjectEvent):
    """Let an annotator begin to work without passing, or take that back."""

    kind = "admit"

    annotator: str
    by: str
    at: str
    admitted: bool = True


class Copied(ProjectEvent):
    """A plain copy of a file in use was taken as the project; newer edits may be missing."""

    kind = "copy"


_KINDS = {event.kind: event for event in ProjectEvent.__subclasses__()}


def decode_event(kind: str, data: str | bytes | msgspec.Raw) -> ProjectEvent:
    """Read an event of the project from its kind and its data, as the log has them."""
    if kind not in _KINDS:
        raise ProjectError(f"unknown kind {kind[:40]!r}")
    try:
        return msgspec.json.decode(data, type=_KINDS[kind])
    except BROKEN as problem:
        raise ProjectError(str(problem)) from None
