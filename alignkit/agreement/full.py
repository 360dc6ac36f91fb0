"""Compute the article's report: overlap and agreement beyond chance, of words and of phrases.

Annotators are compared with each other, with an adjudicated version, with the majority of the
others, and with automatic alignments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from alignkit.agreement.corrected import agreement, choose_seed
from alignkit.agreement.corrected_result import CorrectedAgreement
from alignkit.agreement.corrected_settings import CorrectedSettings
from alignkit.agreement.everyone import parts, with_majorities
from alignkit.agreement.monte_carlo import Progress
from alignkit.agreement.overlap import Overlap, OverlapRow, overlap
from alignkit.agreement.report import AgreementReport, agreement_report
from alignkit.arguments import check_arguments
from alignkit.corpus import Corpus
from alignkit.errors import OptionError
from alignkit.frozen import FrozenMap

__all__ = ["LEVELS", "FullAgreement", "Pairing", "full_agreement"]

LEVELS = {
    f"{unit}-{links}": (unit, links)
    for unit in ("phrases", "links")
    for links in ("possible", "sure")
}
"""What is compared, by name: the unit, and the links that it is made of."""

AUTOMATIC_CHANCE = "kupper-hafner"
"""An automatic alignment is no annotator's edit of the initial one."""

ANNOTATORS, ADJUDICATED, CONSENSUS, AUTOMATIC = (
    "annotators",
    "adjudicated",
    "consensus",
    "automatic",
)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Hold what two have in common.

    Parameters
    ----------
    kind
        ``"annotators"``, or whom an annotator is compared with: the ``"adjudicated"`` version,
        the ``"consensus"`` of the others, or an ``"automatic"`` alignment (which then is first).
    first, second
        The two; the second is the reference.
    overlaps
        Precision, recall and F1: over all sentence pairs, then over each group; None where one of
        the two annotated nothing in the group.
    corrected
        The agreement beyond chance by level (`LEVELS`); empty if it was not asked for.
    """

    kind: str
    first: str
    second: str
    overlaps: tuple[Overlap | None, ...]
    corrected: FrozenMap[str, CorrectedAgreement]

    def row(self, level: str, section: int) -> OverlapRow | None:
        """Return precision, recall and F1 of a level; section 0 is all, then come the groups."""
        unit, links = LEVELS[level]
        found = self.overlaps[section]
        if found is None:
            return None
        return found.rows()[f"{'words' if unit == 'links' else unit}.{links}"]

    def one_sided(self, level: str) -> int:
        """Count the used sentence pairs in which one of the two has nothing: their ratio is 0."""
        return sum(
            not one.left_out and (one.first == 0) != (one.second == 0)
            for one in self.corrected[level].sentences
        )


@dataclass(frozen=True, eq=False)
class FullAgreement:
    """Hold the article's report.

    Parameters
    ----------
    report
        What needs no initial alignment.
    settings
        The settings of the agreement beyond chance; None without it.
    adjudicated
        The name of the adjudicated version; None without one.
    pairings
        Every two who are compared, see `Pairing`.
    seed
        The seed of all samples.
    """

    report: AgreementReport
    settings: CorrectedSettings | None
    adjudicated: str | None
    pairings: tuple[Pairing, ...]
    seed: int

    def of(self, kind: str) -> list[Pairing]:
        """Return the pairings of a kind."""
        return [one for one in self.pairings if one.kind == kind]

    @property
    def sections(self) -> tuple[str, ...]:
        """``"all"``, then the names of the groups."""
        return ("all", *(section.name for section in self.report.groups))

    @property
    def results(self) -> dict[str, CorrectedAgreement]:
        """The agreement beyond chance of the first two annotators, by level."""
        return dict(self.of(ANNOTATORS)[0].corrected)

    @property
    def signature(self) -> str:
        """The settings of the agreement beyond chance; empty without it."""
        if self.settings is None:
            return ""
        signed = self.settings.sign(self.seed)
        return str(replace(signed, links="possible/sure", unit="atomic-phrases/links"))

    def chance(self, kind: str) -> str:
        """Return the model of chance for the pairings of a kind; empty without one."""
        if self.settings is None:
            return ""
        return AUTOMATIC_CHANCE if kind == AUTOMATIC else self.settings.chance


def full_agreement(
    corpus: Corpus,
    annotators: Sequence[str] | None = None,
    *,
    settings: CorrectedSettings | None = None,
    include_identical: bool = False,
    adjudicated: str | None = None,
    systems: Sequence[str] | None = None,
    by: str | None = None,
    workers: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
) -> FullAgreement:
    """Compute the article's report.

    Parameters
    ----------
    corpus
        The sentence pairs, with their words.
    annotators
        Two or more names; None takes all of the corpus but the initial alignment, the adjudicated
        version and the systems.
    settings
        Those of the agreement beyond chance, of which `unit` and `links` are not looked at; None
        does without it.
    include_identical
        Whether identical items take part; `settings` has a say of its own.
    adjudicated
        The name of the version that was settled on.
    systems
        The automatic alignments that the annotators are compared with; None takes the initial
        one. As an automatic alignment is no annotator's edit of the initial one, chance is that
        of ``"kupper-hafner"`` here.
    by
        An attribute of the pairs: report each of its values as well.
    workers, rng, progress
        As in `agreement`; progress is that of all the sampling.

    Raises
    ------
    UnknownNameError, OptionError, MissingTextError
        As `agreement` and `agreement_report`.

    Examples
    --------
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import SentencePair
    >>> texts = ("he", "left", "early"), ("she", "went", "away", "soon")
    >>> pair = SentencePair("1", *texts, {
    ...     "initial": Alignment.parse("0-0"), "anna": Alignment.parse("0-0 1-1 1-2"),
    ...     "ben": Alignment.parse("0-0 1-1 1-2 2-3")})
    >>> found = full_agreement(Corpus([pair]), settings=CorrectedSettings("initial"), rng=1)
    >>> [(one.kind, one.first, one.second) for one in found.pairings][:2]
    [('annotators', 'anna', 'ben'), ('automatic', 'initial', 'anna')]
    >>> found.results["phrases-sure"].pi
    1.0
    """
    check_arguments(full_agreement, locals())
    initial = settings.initial if settings else None
    kept = settings.include_identical if settings else include_identical
    seed = choose_seed(rng)
    machines = tuple(systems if systems is not None else [initial] if initial is not None else ())
    chosen = _names(corpus, annotators, initial, adjudicated, machines)
    report = agreement_report(corpus, chosen, by=by, include_identical=kept)
    names = report.annotators
    corpus.require(*machines, *([] if adjudicated is None else [adjudicated]))
    twos: list[tuple[str, str, str]] = [
        (ANNOTATORS, *one.annotators) for one in report.overall.comparisons
    ]
    voted, labels = corpus, dict[str, str]()
    if settings is not None and len(names) > 2:
        voted, labels = with_majorities(corpus, names)
    if adjudicated is not None:
        twos += [(ADJUDICATED, name, adjudicated) for name in names]
    twos += [(CONSENSUS, name, label) for name, label in labels.items()]
    twos += [(AUTOMATIC, machine, name) for machine in machines for name in names]
    pairings = []
    stages = parts(progress, sum(kind != AUTOMATIC for kind, *_ in twos))
    for kind, first, second in twos:
        stage = None if kind == AUTOMATIC else next(stages)  # a closed form takes no time
        found: dict[str, CorrectedAgreement] = {}
        if settings is not None:
            options = _options(settings, kind) | {"by": by, "workers": workers, "rng": seed}
            found = _corrected(voted, first, second, options, stage)
        overlaps = tuple(_overlaps(voted, first, second, by, kept))
        pairings.append(Pairing(kind, first, second, overlaps, FrozenMap(found)))
    return FullAgreement(report, settings, adjudicated, tuple(pairings), seed)


def _names(
    corpus: Corpus,
    annotators: Sequence[str] | None,
    initial: str | None,
    adjudicated: str | None,
    machines: Sequence[str],
) -> Sequence[str] | None:
    """Return whom to compare; refuse one who has another part as well."""
    parts = {initial: "the initial alignment", adjudicated: "the adjudicated version"}
    parts.update({name: parts.get(name, "an automatic alignment") for name in machines})
    parts.pop(None, None)
    if annotators is None:
        return [name for name in corpus.aligners if name not in parts]
    for name in annotators:
        if name in parts:
            raise OptionError(f"{name!r} is {parts[name]}; do not name it among the annotators")
    return annotators


def _options(settings: CorrectedSettings, kind: str) -> dict[str, Any]:
    if kind == AUTOMATIC:
        settings = replace(settings, chance=AUTOMATIC_CHANCE)
    return {name: value for name, value in vars(settings).items() if name not in ("unit", "links")}


def _corrected(
    corpus: Corpus, first: str, second: str, options: dict[str, Any], progress: Progress | None
) -> dict[str, CorrectedAgreement]:
    stages = parts(progress, len(LEVELS))
    return {
        level: agreement(
            corpus, first, second, unit=unit, links=links, progress=next(stages), **options
        )
        for level, (unit, links) in LEVELS.items()
    }


def _overlaps(
    corpus: Corpus, first: str, second: str, by: str | None, include_identical: bool
) -> Iterator[Overlap | None]:
    for section in (corpus, *(corpus.groups(by).values() if by is not None else ())):
        if {first, second} <= set(section.annotators):
            yield overlap(section, first, second, include_identical=include_identical)
        else:
            yield None
