"""Every figure of an agreement on judgments, and what it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from alignkit.agreement.figures import Figure, FigureResult
from alignkit.agreement.judgments.disagreements import JudgmentDisagreements
from alignkit.agreement.judgments.options import JudgmentOptions
from alignkit.errors import UnknownNameError
from alignkit.tables.result import Caution
from alignkit.tables.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class JudgmentFigures(FigureResult):
    """The annotators, and every figure; see `JudgmentAgreement`, which can also be shown."""

    annotators: tuple[str, ...]
    options: JudgmentOptions
    sections: tuple[str, ...]
    pairs: int
    repeated: int
    rewrites: int
    left_out: Mapping[str, int]
    shares: Mapping[str, Mapping[str, float]]
    all_figures: tuple[Figure, ...]
    disagreements: JudgmentDisagreements
    cautions: tuple[Caution, ...] = ()
    several: int = 0
    unjudged: int = 0
    concordances: tuple[float, ...] = ()
    coefficients: Table | None = None

    def __repr__(self) -> str:
        return f"JudgmentAgreement({self.scheme}, {self.pairs} pairs; {', '.join(self.annotators)})"

    @property
    def scheme(self) -> str:
        """The name of the scheme."""
        return self.options.views[0].scheme.name

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the annotators, then that of the adjudicated version."""
        settled = self.options.settled
        if settled is None:
            return self.annotators
        return (*self.annotators, settled)

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views."""
        return tuple(self.shares)

    def figures(self) -> tuple[Figure, ...]:
        """Return every figure; its level is ``judgments.VIEW``.

        Kinds: ``"pairing"``, ``"mean"``, ``"groups"``, ``"joint"``, ``"consensus"``, ``"mean
        consensus"``, ``"pooled consensus"``, ``"leave-one-out"``, ``"mean leave-one-out"``,
        ``"adjudicated"``, ``"mean adjudicated"``. Statistics: ``"kappa"``, ``"observed"``,
        ``"ac1"``; of a consensus ``"null"`` and ``"corrected"`` too; shares of items.

        Examples
        --------
        >>> from alignkit import Corpus, agree_on_judgments
        >>> judged = {"ann": ["0", "1"] * 4, "ben": ["0", "1"] * 3 + ["1", "1"]}
        >>> corpus = Corpus.from_texts(["a"] * 8, ["b"] * 8, judgments=judged)
        >>> figures = agree_on_judgments(corpus, scheme="binary", resamples=100).figures()
        >>> [figure.statistic for figure in figures if figure.kind == "pairing"]
        ['kappa', 'observed', 'ac1']
        """
        return self.all_figures

    def figure(
        self, kind: str, statistic: str, *who: str, view: str = "", section: str = "all"
    ) -> Figure:
        """Return one figure, by kind and statistic (see `figures`) and by annotators.

        `view` is empty for the first view; `section` is ``"all"`` or a group.

        Examples
        --------
        >>> from alignkit import Corpus, agree_on_judgments
        >>> judged = {"ann": ["0", "1"] * 4, "ben": ["0", "1"] * 3 + ["1", "1"]}
        >>> corpus = Corpus.from_texts(["a"] * 8, ["b"] * 8, judgments=judged)
        >>> agreement = agree_on_judgments(corpus, scheme="binary", resamples=100)
        >>> agreement.figure("pairing", "observed", "ann", "ben").value
        0.875
        """
        first = who[0] if who else ""
        second = who[1] if len(who) > 1 else ""
        level = f"judgments.{self._shown_view(view)}"
        wanted = (kind, first, second, section, level, statistic)
        figures = {figure.at: figure for figure in self.all_figures}
        if wanted not in figures:
            known = [" ".join(filter(None, place)) for place in figures]
            raise UnknownNameError("figure", " ".join(filter(None, wanted)), known)
        return figures[wanted]

    def _shown_view(self, name: str) -> str:
        """Return the view that is shown for one, which may be alike; "" is the first view."""
        if not name:
            return self.views[0]
        for views in self.options.alike:
            if name in [view.name for view in views]:
                return views[0].name
        return name
