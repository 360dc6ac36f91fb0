"""The options of agreement on judgments, each with its default, its choices and its help.

The command line is made from the fields, so this imports nothing that takes time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alignkit.agreement.options import check_choices, check_names, option
from alignkit.errors import OptionError
from alignkit.model.labels import Scheme, View, get_scheme, get_view

MAJORITY = "majority"  # the consensus that is no adjudicated version


@dataclass(frozen=True)
class JudgmentOptions:
    """The options of `alignkit.agree` on judgments of pairs.

    The metadata of each field hold its ``help``, its ``choices`` (empty for free values), and its
    ``metavar``. An unknown choice raises an UnknownNameError, a number out of range, or a view
    without an order that needs one, an OptionError.
    """

    scheme: Scheme | str = option("", "of the judgments", metavar="S")  # noqa: RUF009
    view: str | Sequence[str] | None = option(
        None,
        "views of the scheme (default: all; with weights, or ties that go by the order, those "
        "whose labels have an order)",
        metavar="V",
    )
    weights: str = option(
        "nominal",
        "of kappa: any two labels are as far apart, or by their places in the order",
        choices=("nominal", "linear", "quadratic"),
    )
    consensus: str = option(
        MAJORITY,
        "whom annotators are compared with: the majority, or an adjudicated version as well, "
        "which has no null",
        metavar="majority|NAME",
    )
    ties: str = option(
        "leave-out",
        "what becomes of a tied majority: it is left out and counted, is an error, or is the "
        "lowest of its labels, or the adjudicated one",
        choices=("leave-out", "error", "lowest", "adjudicated"),
    )
    null: str = option(
        "all",
        "whose labels chance permutes: of all annotators, or of the one alone who is tested",
        choices=("all", "one"),
    )
    groups: Mapping[str, str] | None = option(
        None,
        "the group of each annotator: they are compared within groups and between them",
        metavar="FILE",
    )
    lenient: bool = option(
        False, "what is no judgment of the scheme is left out and counted, where it is an error"
    )
    permutations: int = option(1000, "of the null", metavar="N")
    resamples: int = option(1000, "of the bootstrap over pairs", metavar="N")
    confidence: float = option(0.95, "of the intervals", metavar="P")

    def __post_init__(self) -> None:
        from alignkit._support.arguments import check_attributes
        from alignkit.stats.resampling import check_drawing

        check_attributes(self)
        if not self.scheme:
            raise OptionError("judgments are read by a scheme: name it by `scheme`")
        if isinstance(self.scheme, str):
            object.__setattr__(self, "scheme", get_scheme(self.scheme))
        check_choices(self)
        if self.permutations < 1:
            raise OptionError(f"permutations must be at least 1, not {self.permutations}")
        check_drawing(self.resamples, self.confidence)
        if self.ties == "adjudicated" and self.settled is None:
            raise OptionError(
                "ties='adjudicated' asks for the adjudicated version: name it by `consensus`"
            )
        _ = self.views

    @property
    def settled(self) -> str | None:
        """The name of the adjudicated version; None without one."""
        return None if self.consensus == MAJORITY else self.consensus

    @property
    def views(self) -> tuple[View, ...]:
        """The views that are asked for; of those that are alike the first."""
        return tuple(view for view, *_ in self.alike)

    @property
    def alike(self) -> tuple[tuple[View, ...], ...]:
        """The views that are asked for, those together that map all judgments to the same."""
        scheme = get_scheme(self.scheme) if isinstance(self.scheme, str) else self.scheme
        named = [self.view] if isinstance(self.view, str) else self.view
        chosen = tuple(get_view(scheme, name) for name in dict.fromkeys(named or scheme.views))
        needed = self.weights != "nominal" or self.ties == "lowest"
        if not named and needed:
            chosen = tuple(view for view in chosen if view.order is not None)
            if not chosen:
                raise OptionError(
                    f"no view of {scheme.name} has labels in an order: leave weights out, and "
                    "ties='lowest'"
                )
        rows = [(view.labels, view.order, dict(view.rows)) for view in chosen]
        return tuple(
            tuple(view for view, other in zip(chosen, rows, strict=True) if other == mine)
            for k, mine in enumerate(rows)
            if rows.index(mine) == k
        )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> JudgmentOptions:
        """Make them of what was given by name."""
        check_names(given, cls, "option of agreement on judgments")
        return cls(**given)
