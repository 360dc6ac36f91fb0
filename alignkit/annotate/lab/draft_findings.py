"""The findings of a draft: what a person is told of its files, and decides about them.

A finding is, say, that two pairs have the same id. It has a code, and choices if there is something
to decide ("Number them" or "Stop"): the first is taken until a person chooses another. The record
of the draft keeps what was chosen, by the code; then the files are read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from alignkit._support.wording import how_many
from alignkit.annotate.lab.bodies import DraftFinding
from alignkit.corpora.validation import Examination
from alignkit.io.text_files import Finding

Choices = Sequence[tuple[str, str]]
"""The values that can be chosen, each with its name for people."""

NO_LINKS = ".no-links"
"""The empty file that stands for links where there are only texts; people do not see it."""
_MOST_PAIRS_SHOWN = 10  # of a finding

STOP = ("stop", "Stop")
_LEAVE = ("leave", "Leave out")
_CHECKED: dict[str, tuple[str, str, Choices]] = {
    "link out of range": ("link", "outside the sentence", (_LEAVE, STOP)),
    "repeated id": ("pair", "with the id of another", (("number", "Number them"), STOP)),
    "broken record": ("record", "cannot be read", (STOP, _LEAVE)),
}
"""The texts and the choices of findings of `check`, the safe choice first."""


def same(values: Iterable[str]) -> Choices:
    """Return choices that are shown as they are."""
    return [(value, value) for value in values]


@dataclass
class DraftFindings:
    """The findings of one reading of a draft, given what was chosen before, by code."""

    _chosen: Mapping[str, str]
    rows: list[DraftFinding] = field(default_factory=list)

    def add(self, kind: str, text: str, choices: Choices = (), at: Iterable[int] = ()) -> str:
        """Add a finding, and return what is chosen for it; `at` are the numbers of its pairs.

        A text of the same kind is added to the finding that there is.
        """
        code = kind.replace(" ", "-")
        values = [value for value, _ in choices] or [""]
        chosen = self._chosen.get(code, "")
        if chosen not in values:
            chosen = values[0]
        for finding in self.rows:
            if finding.code == code:
                finding.text += f"; {text}"
                return chosen
        self.rows.append(DraftFinding(code, text, [*at], [*choices], chosen))
        return chosen

    def add_checked(self, seen: Examination) -> None:
        """Add what `check` has found: of each kind how many there are, and the first one."""
        firsts: dict[str, Finding] = {}
        for finding in reversed(seen.findings):
            firsts[finding.kind] = finding
        for kind, first in firsts.items():
            if not kind.startswith("suspicious"):
                self._add_first(first, seen)

    def _add_first(self, first: Finding, seen: Examination) -> None:
        """Add a kind of finding of `check`, given the first one."""
        kind = first.kind
        count = seen.counts[kind]
        choices: Choices = ()
        if kind in _CHECKED:
            noun, rest, choices = _CHECKED[kind]
            text = f"{how_many(count, noun, commas=True)} {rest}"
        else:
            text = f"{kind.capitalize()} ({count:,})"
        if kind not in ("link out of range", "repeated id"):
            text += f"; {problem_text(first.message, first.path, first.line)}"
        self.add(kind, text, choices, at=seen.pairs.get(kind, ()))

    @property
    def stops(self) -> bool:
        """Whether a finding keeps the draft from being used."""
        return any(finding.chosen == "stop" for finding in self.rows)

    def finish(self, numbers: Mapping[int, int]) -> list[DraftFinding]:
        """Return the findings, those to decide first, given the numbers of pairs when written."""
        for finding in self.rows:
            written = [numbers[k] for k in finding.pairs if k in numbers]
            finding.pairs = list(dict.fromkeys(written))[:_MOST_PAIRS_SHOWN]
        return sorted(self.rows, key=lambda finding: not finding.choices)


def problem_text(message: str, path: str, line: int | None) -> str:
    """Return a message with its place, without advice about arguments of functions."""
    parts = [part for part in message.split("; ") if "`" not in part]
    if parts:
        message = "; ".join(parts)
    place = []
    if path not in ("", NO_LINKS):
        place.append(path)
    if line:
        place.append(f"line {line}")
    return f"{', '.join(place)}: {message}" if place else message
