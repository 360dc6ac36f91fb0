"""Hold what a chance-corrected agreement depends on besides the annotations, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from alignkit.agreement.chance import CHANCE_MODELS, ChanceModel, SampledChance, chance_model
from alignkit.agreement.correction import AGGREGATES, NORMALIZERS, check_ratios
from alignkit.agreement.edit_model import READINGS
from alignkit.agreement.items import UNITS
from alignkit.arguments import check_attributes
from alignkit.errors import OptionError, UnknownNameError
from alignkit.phrases import LINKS
from alignkit.scoring.bootstrap import check_drawing
from alignkit.scoring.signature import Signature

__all__ = ["BOOTSTRAPS", "CHOICES", "MISSING_INITIAL", "CorrectedSettings"]

BOOTSTRAPS = ("fixed", "refit", "none")
"""Whether a resample of the sentence pairs keeps the edit models or fits them anew."""

MISSING_INITIAL = ("error", "empty", "leave-out")
"""What becomes of a sentence pair without an initial alignment."""

CHOICES = {
    "chance": tuple(CHANCE_MODELS),
    "reading": READINGS,
    "unit": tuple(UNITS),
    "links": LINKS,
    "normalizer": tuple(NORMALIZERS),
    "aggregate": AGGREGATES,
    "bootstrap": BOOTSTRAPS,
    "missing_initial": MISSING_INITIAL,
}
"""The names that each option takes."""


@dataclass(frozen=True)
class CorrectedSettings:
    """Hold the options of `agreement`, which explains them.

    Raises
    ------
    UnknownNameError
        If an option names nothing.
    OptionError
        If a number is out of range.
    """

    initial: str | None = None
    missing_initial: str = "error"
    chance: str = "edit"
    reading: str = "count"
    unit: str = "phrases"
    links: str = "sure"
    normalizer: str = "min"
    aggregate: str = "macro"
    include_identical: bool = False
    exact_case: bool = False
    samples: int = 1000
    tolerance: float | None = None
    bootstrap: str = "fixed"
    resamples: int = 1000
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_attributes(self)
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise UnknownNameError(name.replace("_", " "), getattr(self, name), known)
        check_ratios(self.normalizer, self.aggregate)
        if self.samples < 2:
            raise OptionError(f"samples must be at least 2, not {self.samples}")
        if self.tolerance is not None and not self.tolerance > 0:
            raise OptionError(f"tolerance must be above 0, not {self.tolerance}")
        check_drawing(self.resamples, self.confidence)

    @property
    def model(self) -> ChanceModel:
        """The model of chance."""
        return chance_model(self.chance)

    @property
    def sampled(self) -> bool:
        """Whether chance is sampled, and initial alignments are needed."""
        return isinstance(self.model, SampledChance)

    def sign(self, seed: int) -> Signature:
        """Return the signature."""
        sampled, resampled = self.sampled, self.bootstrap != "none"
        return Signature(
            links=self.links,
            identical="kept" if self.include_identical else "left-out",
            case=None if self.include_identical else "exact" if self.exact_case else "folded",
            level="agreement",
            unit="atomic-phrases" if self.unit == "phrases" else self.unit,
            normalizer=self.normalizer,
            aggregate=self.aggregate,
            chance=self.chance,
            reading=self.reading if sampled else None,
            initial=(self.initial or "empty") if sampled else None,
            missing_initial=self.missing_initial if sampled else None,
            samples=self.samples if sampled else None,
            tolerance=self.tolerance if sampled else None,
            interval=f"bootstrap-{self.bootstrap}" if resampled else None,
            confidence=self.confidence if resampled else None,
            resamples=self.resamples if resampled else None,
            seed=seed,
        )
