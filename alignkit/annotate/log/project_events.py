"""Define the events of pair 0, the project itself: its pairs, settings, annotators, suggestions."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "PROJECT_KINDS",
    "Account",
    "Import",
    "Pair",
    "Setting",
    "Suggest",
    "Suggestion",
    "Text",
    "Texts",
]


class Pair(Struct, omit_defaults=True):
    """Hold a pair as it came into the project."""

    k: int
    id: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    attributes: dict[str, str] = {}


class Text(Struct):
    """Hold corrected words of a pair."""

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


class Import(Struct, omit_defaults=True):
    """Add pairs."""

    pairs: list[Pair] = []


class Suggest(Struct, omit_defaults=True):
    """Add suggestions to a set; with `new` the set is emptied before."""

    set: str
    rows: list[tuple[int, list[Suggestion]]] = []
    new: bool = False


class Account(Struct):
    """Register an annotator."""

    name: str


class Texts(Struct):
    """Correct words of pairs."""

    pairs: list[Text]


PROJECT_KINDS: dict[str, type[Struct]] = {
    "setting": Setting,
    "import": Import,
    "suggest": Suggest,
    "account": Account,
    "text": Texts,
}
"""The kinds of events of pair 0, the project itself."""
