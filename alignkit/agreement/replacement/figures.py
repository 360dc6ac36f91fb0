"""The figures behind the answer whether a system may replace an annotator."""

from __future__ import annotations

from dataclasses import dataclass

from alignkit._support.options import stated
from alignkit._support.values import FrozenMap
from alignkit.agreement.replacement.comparison import Closeness
from alignkit.agreement.replacement.confidence import CertainPairs
from alignkit.agreement.replacement.decision import Decision
from alignkit.agreement.replacement.leaks import NearCopy, ReplacementLeak, Twins
from alignkit.agreement.replacement.options import ReplaceOptions
from alignkit.agreement.replacement.power import Power
from alignkit.model.gold_record import GoldRecord
from alignkit.model.labels import Scheme
from alignkit.tables.result import Result
from alignkit.version import __version__


@dataclass(frozen=True)
class ReplacementPart:
    """The decision for some pairs, or for a kind of link.

    Parameters
    ----------
    by, name : What the part is of (``"link"``, or the attribute of pairs), and its value.
    pairs : The number of pairs in which the system is compared with somebody.
    decision : The decision, at the epsilon of the options.
    """

    by: str
    name: str
    pairs: int
    decision: Decision


@dataclass(frozen=True, eq=False)
class ReplacementFigures(Result):
    """The figures of a system in place of annotators; see `SystemReplacement`, which shows them."""

    system: str
    annotators: tuple[str, ...]
    options: ReplaceOptions
    pairs: int
    compared: int
    units: int
    decision: Decision
    decisions: tuple[Decision, ...]
    parts: tuple[ReplacementPart, ...]
    leaks: tuple[ReplacementLeak, ...]
    near_copies: tuple[NearCopy, ...]
    twins: tuple[Twins, ...]
    likeness: Closeness
    power: Power | None
    certain: CertainPairs | None
    left_out: FrozenMap[str, int]
    shown: FrozenMap[str, int]
    several: int = 0
    learned: GoldRecord | None = None

    @property
    def may_replace(self) -> bool | None:
        """Whether the system may replace an annotator; None if it cannot be decided here."""
        return None if self.leaks else self.decision.may_replace

    @property
    def winning_rate(self) -> float:
        """The share of annotators that the system may replace."""
        return self.decision.winning_rate

    @property
    def advantage(self) -> float:
        """The mean advantage: the share of pairs in which the system is at least as good."""
        return self.decision.advantage

    @property
    def ordered(self) -> bool:
        """Whether judgments are compared by their distance, which is minus their similarity."""
        return self.options.measure == "judgments" and self.options.labels.order is not None

    @property
    def unit(self) -> str:
        """What the test is over: ``"pair"``, or ``"group"``."""
        return "pair" if self.options.keep_together is None else "group"

    @property
    def asked(self) -> dict[str, object]:
        """The options that a report states."""
        options = stated(self.options)
        if self.options.measure != "judgments":
            for name in ("scheme", "view", "lenient_labels"):
                del options[name]
        scheme = options.get("scheme")
        if isinstance(scheme, Scheme):
            options["scheme"] = scheme.name
        return options

    @property
    def signature(self) -> str:
        """The settings behind the numbers, in one line."""
        parts = ["replace"]
        for name, value in self.asked.items():
            if value is not None:
                parts.append(f"{name.replace('_', '-')}:{_setting(value)}")
        return "|".join([*parts, f"version:{__version__}"])


def _setting(value: object) -> str:
    """Return the value of an option as a signature has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
