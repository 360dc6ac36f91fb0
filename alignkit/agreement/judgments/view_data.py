"""What is asked of the judgments in one view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from alignkit.agreement.judgments.consensus import Labels, majority_labels
from alignkit.agreement.judgments.null import NullQuestion
from alignkit.agreement.judgments.tables import apart
from alignkit.agreement.statistic import Floats
from alignkit.errors import OptionError


@dataclass(frozen=True, eq=False)
class ViewData:
    """The labels that annotators gave, and how they are to be compared."""

    name: str  # of the view
    annotators: tuple[str, ...]  # the A names
    labels: tuple[str, ...]  # the K names of the labels, in their order; used or not
    values: Labels
    ordered: bool = False  # whether the order of the labels means something
    weights: str = "nominal"  # of kappa: "nominal", "linear" or "quadratic"
    ties: str = "leave-out"
    adjudicated: Labels | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        apart(2, self.weights)
        if len(self.annotators) < 2:
            raise OptionError("agreement needs the judgments of two annotators, and there is one")
        if len(self.labels) < 2:
            raise OptionError(f"the view {self.name} has one label; take another view")
        if not self.ordered and (self.weights != "nominal" or self.ties == "lowest"):
            what = "ties='lowest'" if self.ties == "lowest" else f"weights={self.weights!r}"
            raise OptionError(
                f"{what} needs labels in an order, and those of the view {self.name} have none: "
                "take another view, or leave it out"
            )

    @property
    def has_majority(self) -> bool:
        """Whether annotators can be compared with a majority that is not their shared label."""
        return len(self.annotators) > 2 or self.ties in ("lowest", "adjudicated")

    @property
    def question(self) -> NullQuestion:
        """What chance would give."""
        return NullQuestion(self.values, len(self.labels), self.far, self.ties, self.adjudicated)

    @property
    def far(self) -> Floats:
        """How far labels are apart, (K, K)."""
        return apart(len(self.labels), self.weights)

    def part(self, members: NDArray[np.intp]) -> ViewData:
        """Return the same of some of the items."""
        adjudicated = None if self.adjudicated is None else self.adjudicated[members]
        values = np.ascontiguousarray(self.values[:, members])
        return replace(self, values=values, adjudicated=adjudicated)

    def check_ties(self) -> None:
        """Refuse ties where they are to be an error."""
        if self.ties == "error":
            majority_labels(self.values, len(self.labels), ties=self.ties)
