"""What `alignkit.agree` found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from alignkit.agreement.figures import edit_figures, pairing_figures, together_figures
from alignkit.agreement.options import AgreementOptions
from alignkit.agreement.result_parts import Caution, Figure, Pairing, Together, named
from alignkit.corpus import Corpus


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """How far annotators agree; printed, it is the tables of the command.

    Parameters
    ----------
    annotators : Who is compared.
    options : The options.
    initial, adjudicated, systems : The initial alignment, the adjudicated version, the automatic
        alignments.
    by : The attribute that makes the groups; None without groups.
    seed : Of all draws.
    sections : ``"all"``, then the names of the groups.
    pairings : Every two who are compared.
    together : All annotators together, in each section.
    cautions : What to know before reading the figures.
    signature : The settings, in one line; print it beside the figures.
    corpus : The sentence pairs.
    split, several : What divides the values of `by`, and how many pairs have several: groups
        overlap by these.
    """

    annotators: tuple[str, ...]
    options: AgreementOptions
    initial: str | None
    adjudicated: str | None
    systems: tuple[str, ...]
    by: str | None
    seed: int
    sections: tuple[str, ...]
    pairings: tuple[Pairing, ...]
    together: tuple[Together, ...]
    cautions: tuple[Caution, ...]
    signature: str
    corpus: Corpus = field(repr=False)
    split: str | None = None
    several: int = 0

    def of(self, kind: str) -> tuple[Pairing, ...]:
        """Return the pairings of a kind."""
        return tuple(pairing for pairing in self.pairings if pairing.kind == kind)

    def pairing(self, first: str, second: str) -> Pairing:
        """Return the pairing of two, in this order."""
        return named("pairing", f"{first} ~ {second}", {one.name: one for one in self.pairings})

    def figures(self) -> Iterator[Figure]:
        """Yield every figure."""
        for pairing in self.pairings:
            yield from pairing_figures(pairing)
        yield from edit_figures(self.pairings)
        for together in self.together:
            yield from together_figures(together)

    def to_records(self) -> list[dict[str, object]]:
        """Return every figure as a dictionary, as a DataFrame takes them; see `Figure`."""
        return [dict(vars(figure)) for figure in self.figures()]

    def __repr__(self) -> str:
        who = ", ".join(self.annotators)
        phrase = next(iter(self.of("annotators"))).sections[0].figures
        f1 = phrase.get("words.sure.f1", nan)
        shown = "-" if isnan(f1) else f"{100 * f1:.1f}"
        return f"Agreement({who}; {self.together[0].used} pairs; words sure F1 {shown})"

    def __str__(self) -> str:
        return self.show()

    def _repr_html_(self) -> str:
        return f'<div style="max-height:80vh;overflow:auto">{self.show("html")}</div>'

    def show(self, medium: str = "text") -> str:
        """Return the tables in a medium: ``"text"``, ``"markdown"``, ``"latex"`` or ``"html"``."""
        from alignkit.report.agreement import agreement_report

        return agreement_report(self, medium)

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON takes it; NaN is None."""
        from alignkit.report.agreement_json import agreement_json

        return agreement_json(self)

    def to_html(self, **options: Any) -> str:
        """Return a page with all tables, figures and disagreements; see `agreement_page`."""
        from alignkit.report.page import agreement_page

        return agreement_page(self, **options)
