"""The options of agreement on alignments and on judgments, with defaults, choices and help.

The command line is made from the fields, so this module imports nothing slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, cast

from alignkit._support.arguments import check_attributes, check_known
from alignkit.errors import OptionError
from alignkit.model.labels import Scheme, View, get_scheme, get_view

if TYPE_CHECKING:
    from alignkit.scoring.settings import Signature


CLOSED = "kupper-hafner"  # the model of chance that needs no initial alignment
# the groups of options
CHANCE = "chance"
CERTAINTY = "certainty"
WHAT = "what"


def option(default: Any, help: str, **more: Any) -> Any:
    """Return a field with help, group, choices and metavar, used for the command line."""
    plain = {"group": "", "choices": (), "metavar": ""}
    return field(default=default, metadata={"help": help, **plain, **more})


def check_choices(options: Any) -> None:
    """Raise an error for values that are not among the choices of their field."""
    for option in fields(options):
        if known := option.metadata["choices"]:
            check_known(option.name.replace("_", " "), getattr(options, option.name), known)


def _check_drawing(resamples: int, confidence: float) -> None:
    if resamples < 1:
        raise OptionError(f"`resamples` must be at least 1, not {resamples}")
    if not 0 < confidence < 1:
        raise OptionError(f"`confidence` must lie between 0 and 1 (such as 0.95), not {confidence}")


@dataclass(frozen=True)
class AgreementOptions:
    """The options of `alignkit.agree`.

    The metadata of each field has its ``help``, ``choices`` (empty for free values), ``group`` and
    ``metavar``. An unknown choice raises an UnknownNameError, a number out of range an OptionError.
    """

    ignore_identical: bool = option(
        True, "leave out links, phrase pairs and cells of equal words", group=WHAT
    )
    exact_case: bool = option(False, "distinguish upper and lower case in words", group=WHAT)
    universe: str = option(
        "all",
        "cells for kappa, AC1 and C with an edit model: all, or those that the annotators judged, "
        "if the corpus records them",
        group=WHAT,
        choices=("all", "judged"),
    )
    missing_initial: str = option(
        "error",
        "pairs without an initial alignment are an error, have an empty one, or are left out; "
        "empty, if no initial alignment is named, means that all pairs started without links",
        group=CHANCE,
        choices=("error", "empty", "leave-out"),
    )
    chance: str = option(
        "edit",
        "model of chance: edit, edit-split, edit-strata or kupper-hafner. The first three edit the "
        "initial alignment at random, as often as the annotator: at one rate (edit), at separate "
        "rates for adding and deleting (edit-split), or also for equal and other words "
        "(edit-strata). kupper-hafner, the only one without initial alignment, draws random links",
        group=CHANCE,
        choices=("edit", "edit-split", "edit-strata", CLOSED),
    )
    reading: str = option(
        "count",
        "what grows with the words of a pair: the number of edits, or their probability",
        group=CHANCE,
        choices=("count", "probability"),
    )
    normalizer: str = option(
        "min",
        "divide the overlap by the smaller or the larger set",
        group=CHANCE,
        choices=("min", "max"),
    )
    aggregate: str = option(
        "macro",
        "average the ratios of the sentence pairs, or take the ratio of their sums",
        group=CHANCE,
        choices=("macro", "micro"),
    )
    samples: int = option(1000, "most samples for each sentence pair", group=CERTAINTY, metavar="N")
    tolerance: float | None = option(
        None,
        "stop sampling when the Monte-Carlo error of C is at most E (default: take all samples)",
        group=CERTAINTY,
        metavar="E",
    )
    bootstrap: str = option(
        "fixed",
        "bootstrap intervals over sentence pairs; for C, the edit models are fixed or refitted to "
        "each resample (slow); or no intervals",
        group=CERTAINTY,
        choices=("fixed", "refit", "none"),
    )
    resamples: int = option(1000, "resamples of the bootstrap", group=CERTAINTY, metavar="N")
    confidence: float = option(0.95, "confidence of the intervals", group=CERTAINTY, metavar="P")

    def __post_init__(self) -> None:
        check_attributes(self)
        check_choices(self)
        if self.samples < 2:
            raise OptionError(f"`samples` must be at least 2, not {self.samples}")
        if self.tolerance is not None and not self.tolerance > 0:
            raise OptionError(f"`tolerance` must be above 0, not {self.tolerance}")
        _check_drawing(self.resamples, self.confidence)

    @property
    def case(self) -> str:
        """``"exact"`` or ``"folded"``."""
        return "exact" if self.exact_case else "folded"

    def signed_by(self, chance: str, seed: int, initial: str | None = None) -> Signature:
        """Return the signature of figures by one model of chance."""
        if chance == CLOSED:  # it knows no edits
            return replace(self, chance=chance, missing_initial="error").sign(seed)
        return replace(self, chance=chance).sign(seed, initial)

    def sign(self, seed: int, initial: str | None = None) -> Signature:
        """Return the signature of these options and a seed."""
        from alignkit.scoring.settings import Signature

        sampled = edits_known(initial, self.missing_initial)
        resampled = self.bootstrap != "none"
        names = ["universe", "normalizer", "aggregate", "chance"]
        if sampled:
            names += ["reading", "missing_initial", "samples", "tolerance"]
        if resampled:
            names += ["confidence", "resamples"]
        return Signature(
            links="possible/sure",
            identical="left-out" if self.ignore_identical else "kept",
            case=self.case if self.ignore_identical or sampled else None,
            level="agreement",
            phrases="tight",
            unit="atomic-phrases/links",
            initial=(initial or "empty") if sampled else None,
            interval=f"bootstrap-{self.bootstrap}" if resampled else None,
            seed=seed,
            **{name: getattr(self, name) for name in names},
        )


def edits_known(initial: str | None, missing_initial: str) -> bool:
    """Return whether there is an initial alignment that annotators may have edited."""
    return initial is not None or missing_initial == "empty"


def contradictions(given: Mapping[str, object], initial: str | None) -> None:
    """Raise an error for options that contradict each other or have no effect."""
    AgreementOptions(**cast("dict[str, Any]", dict(given)))
    edits = edits_known(initial, str(given.get("missing_initial", "")))
    _check_sampling(given, edits)
    for name in ("resamples", "confidence") if given.get("bootstrap") == "none" else ():
        if name in given:
            raise OptionError(
                f"`{name}` is about intervals, but `bootstrap='none'` gives none: remove one"
            )
    if given.get("exact_case") and given.get("ignore_identical") is False and not edits:
        raise OptionError(
            "`exact_case` decides which words are equal, but has no effect with "
            "`ignore_identical=False`: remove one of the two"
        )


def _check_sampling(given: Mapping[str, object], edits: bool) -> None:
    chance = given.get("chance", "edit" if edits else CLOSED)
    if not edits:
        if chance != CLOSED:
            raise OptionError(
                f"`chance={chance!r}` needs an initial alignment, and none is named: name it with "
                "`initial` (the aligner makes one, `merge` adds it), start from an empty one with "
                f"`missing_initial='empty'`, or use `chance={CLOSED!r}`"
            )
        for name in ("missing_initial", "reading", "samples", "tolerance"):
            if name in given:
                raise OptionError(
                    f"`{name}` is about edits of an initial alignment, and none is named: name it "
                    f"with `initial`, or remove `{name}`"
                )
    if chance == CLOSED and given.get("bootstrap") == "refit":
        raise OptionError(
            f"`bootstrap='refit'` refits edit models, but `chance={CLOSED!r}` has none: use "
            "`bootstrap='fixed'`, or an edit model of chance with an initial alignment"
        )


MAJORITY = "majority"  # the consensus that is no adjudicated version


@dataclass(frozen=True)
class JudgmentOptions:
    """The options of `alignkit.agree` on judgments of pairs.

    The metadata of each field has its ``help``, ``choices`` (empty for free values) and
    ``metavar``. An unknown choice raises an UnknownNameError. A number out of range raises an
    OptionError, and so does a view without an order if one is needed.
    """

    scheme: Scheme | str = option("", "scheme of the judgments", metavar="S")  # noqa: RUF009
    view: str | Sequence[str] | None = option(
        None,
        "views of the scheme, which merge its labels into fewer (default: all; with weights, or "
        "ties decided by the order, only those with ordered labels)",
        metavar="V",
    )
    weights: str = option(
        "nominal",
        "weights for kappa: none, or by the distance of labels in their order",
        choices=("nominal", "linear", "quadratic"),
    )
    consensus: str = option(
        MAJORITY,
        "version to compare annotators with: the majority, or also an adjudicated version, which "
        "has no test against chance",
        metavar="majority|NAME",
    )
    ties: str = option(
        "leave-out",
        "how to decide a tied majority: leave the pair out and count it, report an error, take "
        "the lowest of the tied labels, or take the adjudicated label",
        choices=("leave-out", "error", "lowest", "adjudicated"),
    )
    null: str = option(
        "all",
        "labels that chance permutes: of all annotators, or only of the one being tested",
        choices=("all", "one"),
    )
    groups: Mapping[str, str] | None = option(
        None,
        "group of each annotator; annotators are compared within and between groups",
        metavar="FILE",
    )
    lenient_labels: bool = option(
        False, "leave out and count labels that are not in the scheme (default: an error)"
    )
    permutations: int = option(1000, "permutations for the test against chance", metavar="N")
    resamples: int = option(1000, "resamples of the bootstrap over pairs", metavar="N")
    confidence: float = option(0.95, "confidence of the intervals", metavar="P")

    def __post_init__(self) -> None:
        check_attributes(self)
        if not self.scheme:
            raise OptionError("judgments need a scheme: name it with `scheme`")
        if isinstance(self.scheme, str):
            object.__setattr__(self, "scheme", get_scheme(self.scheme))
        check_choices(self)
        if self.permutations < 1:
            raise OptionError(f"`permutations` must be at least 1, not {self.permutations}")
        _check_drawing(self.resamples, self.confidence)
        if self.ties == "adjudicated" and self.settled is None:
            raise OptionError(
                "`ties='adjudicated'` needs the adjudicated version: name it with `consensus`"
            )
        _ = self.views

    @property
    def settled(self) -> str | None:
        """The name of the adjudicated version; None without one."""
        return None if self.consensus == MAJORITY else self.consensus

    @property
    def views(self) -> tuple[View, ...]:
        """The requested views; if views are alike, only the first."""
        return tuple(view for view, *_ in self.alike)

    @property
    def alike(self) -> tuple[tuple[View, ...], ...]:
        """The requested views, grouped if they map all judgments to the same labels."""
        if isinstance(self.scheme, str):
            scheme = get_scheme(self.scheme)
        else:
            scheme = self.scheme
        named = [self.view] if isinstance(self.view, str) else self.view
        chosen = tuple(get_view(scheme, name) for name in dict.fromkeys(named or scheme.views))
        needed = self.weights != "nominal" or self.ties == "lowest"
        if not named and needed:
            chosen = tuple(view for view in chosen if view.order is not None)
            if not chosen:
                raise OptionError(
                    f"no view of {scheme.name} has ordered labels: leave out `weights` and "
                    "`ties='lowest'`"
                )
        rows = [(view.labels, view.order, dict(view.rows)) for view in chosen]
        return tuple(
            tuple(view for view, other in zip(chosen, rows, strict=True) if other == mine)
            for k, mine in enumerate(rows)
            if rows.index(mine) == k
        )
