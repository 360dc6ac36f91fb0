"""Write down all the settings of a score in one line, so that it can be computed again."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from alignkit.version import __version__


@dataclass(frozen=True)
class Signature:
    """The settings of a score; its text is the line to print beside the score.

    What does not apply is None and left out of the line.

    Parameters
    ----------
    format, base, direction
        How the files were read, hypothesis before reference: ``"pharaoh/naacl"``, ``"0/1"``.
    links
        Which links counted: ``"given"`` (sure and possible as annotated), ``"sure-only"`` or
        ``"all-sure"``.
    identical
        Whether identical links and phrase pairs were ``"kept"`` or ``"left-out"``.
    case
        How words were compared where that matters: ``"folded"`` or ``"exact"``.
    level
        What was scored: ``"links"``, ``"phrases"``, ``"both"`` or ``"list"``.
    phrases
        ``"tight"`` or ``"loose"`` phrase pairs.
    min_length, max_length
        The bounds on both sides of a phrase pair.
    unit, universe, normalizer, aggregate, chance, reading, initial, missing_initial, tolerance
        The settings of an agreement, see `alignkit.agree`.
    interval, confidence, samples, resamples, trials, seed
        How intervals and p-values were drawn.
    version
        The version of alignkit.

    Examples
    --------
    >>> print(Signature(format="pharaoh/naacl", base="0/1", links="given", version="0.1.0"))
    format:pharaoh/naacl|base:0/1|links:given|version:0.1.0
    """

    format: str | None = None
    base: str | None = None
    direction: str | None = None
    links: str | None = None
    identical: str | None = None
    case: str | None = None
    level: str | None = None
    phrases: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    unit: str | None = None
    universe: str | None = None
    normalizer: str | None = None
    aggregate: str | None = None
    chance: str | None = None
    reading: str | None = None
    initial: str | None = None
    missing_initial: str | None = None
    tolerance: float | None = None
    interval: str | None = None
    confidence: float | None = None
    samples: int | None = None
    resamples: int | None = None
    trials: int | None = None
    seed: int | None = None
    version: str | None = __version__

    def drawn(
        self, resamples: int, confidence: float, seed: int, *, trials: int | None = None
    ) -> Signature:
        """Return the signature of what is drawn by a bootstrap, and by shuffles where there are."""
        return replace(
            self,
            interval="bootstrap",
            confidence=confidence,
            resamples=resamples,
            trials=self.trials if trials is None else trials,
            seed=int(seed),
        )

    def __str__(self) -> str:
        settings = ((field.name, getattr(self, field.name)) for field in fields(self))
        return "|".join(
            f"{name.replace('_', '-')}:{value}" for name, value in settings if value is not None
        )
