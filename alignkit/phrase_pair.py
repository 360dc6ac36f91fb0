"""Define phrase pairs: a source span and a target span, and those of a sentence pair in a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from alignkit.arguments import words

if TYPE_CHECKING:
    from alignkit.report.table import Table

_SHOWN = 30  # phrase pairs, one a line
_WIDE = 40  # characters of a phrase


class PhrasePair(NamedTuple):
    """Join a source span and a target span, both half-open and 0-based.

    Examples
    --------
    >>> pair = PhrasePair(0, 1, 0, 2, True)
    >>> pair.kind, pair.words(["they", "left"], ["both", "parties", "went"])
    ('atomic', (('they',), ('both', 'parties')))
    """

    source_start: int
    source_end: int
    target_start: int
    target_end: int
    atomic: bool

    @property
    def kind(self) -> str:
        """``"atomic"`` or ``"composite"``."""
        return "atomic" if self.atomic else "composite"

    def words(
        self, source: Sequence[str], target: Sequence[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the source and the target words of the phrase pair."""
        return (
            words("source", source)[self.source_start : self.source_end],
            words("target", target)[self.target_start : self.target_end],
        )


class PairPhrases(list[PhrasePair]):
    """List the phrase pairs of one sentence pair, and show them by their words."""

    def __init__(
        self,
        phrases: Iterable[PhrasePair],
        source: Sequence[str] | None,
        target: Sequence[str] | None,
        id: str,
    ) -> None:
        super().__init__(phrases)
        self._source, self._target, self._id = source, target, id

    def table(self, most: int | None = None) -> Table:
        """Return a table of the phrase pairs, or of the first so many."""
        from alignkit.report.columns import Column
        from alignkit.report.table import Table

        spans = [f"{p.source_start}:{p.source_end}-{p.target_start}:{p.target_end}" for p in self]
        rows = [
            [*self._texts(phrase), phrase.kind, span]
            for phrase, span in zip(self[:most], spans[:most], strict=True)
        ]
        names = ("source", "target", "kind", "spans")
        title = f"{len(self)} phrase pair{'' if len(self) == 1 else 's'} of {self._id!r}"
        more = len(self) - len(rows)
        note = f"and {more} more" if more else ""
        return Table(title, [Column(name) for name in names], rows, note, ruled=False)

    def _texts(self, phrase: PhrasePair) -> list[str]:
        if self._source is None or self._target is None:
            return ["", ""]
        from alignkit.report.characters import cut_text

        sides = phrase.words(self._source, self._target)
        return [cut_text(" ".join(side), _WIDE) for side in sides]

    def __repr__(self) -> str:
        return str(self.table(_SHOWN))

    def _repr_html_(self) -> str:
        return self.table(_SHOWN)._repr_html_()
