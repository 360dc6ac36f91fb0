"""Whether a system may replace an annotator: the answer, the tables, JSON and a page."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cached_property

from alignkit._support.values import jsonable, named_json
from alignkit._support.wording import how_many, overlapping, visible
from alignkit.agreement.names import listed
from alignkit.agreement.replacement.answer import answer_sentences
from alignkit.agreement.replacement.decision import Decision
from alignkit.agreement.replacement.figures import ReplacementFigures
from alignkit.agreement.replacement.tables import replacement_tables
from alignkit.tables.media import Report, get_medium
from alignkit.tables.table import Table

_WIDTH = 100  # of the answer as text, in columns


class SystemReplacement(ReplacementFigures):
    """Whether a system may replace an annotator; printing it shows the tables of the command.

    Returned by `replaceable`.

    Parameters
    ----------
    system, annotators : The names.
    options : The options.
    pairs : The number of pairs that two or more annotators annotated.
    compared : The number of these in which the system is compared with somebody.
    units : The number of units of the test: pairs, copies counted once, or groups.
    decision : The decision at the epsilon of the options.
    decisions : The same for each epsilon of the table.
    parts : The same for kinds of links, and for values of an attribute.
    leaks : Why nothing can be decided on these pairs; usually nothing.
    near_copies : The annotators whom the system is more like than any person is.
    twins : Annotators who have the same links in nearly all longer pairs.
    likeness : How alike every two are.
    power : How many pairs are needed; None if no annotator has enough pairs.
    certain : The pairs of which the system is most certain; None without probabilities.
    left_out : The number of pairs, or judgments, that are left out, by reason.
    shown : In how many pairs annotators were shown the links of something else, by its name.
    several : The number of pairs with several values of the attribute `by`.
    learned : What the system learned from, if that is recorded and none of these pairs is among it.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.read_corpus("samples/paraphrases.jsonl")
    >>> result = alignkit.replaceable(corpus, "eflomal")
    >>> result.system, result.annotators, result.pairs
    ('eflomal', ('anna', 'ben'), 64)
    >>> result.may_replace
    False
    """

    @cached_property
    def _sentences(self) -> tuple[tuple[str, str], ...]:
        return tuple(answer_sentences(self))

    @property
    def answer(self) -> str:
        """The answer: a paragraph that can be quoted."""
        return " ".join(text for _, text in self._sentences)

    @property
    def codes(self) -> tuple[str, ...]:
        """What each sentence of the answer says, as a code."""
        return tuple(code for code, _ in self._sentences)

    @property
    def head(self) -> Sequence[str]:
        """The answer, who is compared, and what is left out."""
        names = listed(map(visible, self.annotators))
        pairs = how_many(self.pairs, "pair", commas=True)
        lines = [self.answer, f"{pairs} of two or more annotators ({names})"]
        if self.learned is not None:
            learned = how_many(self.learned.pairs, "pair", commas=True)
            of = listed(map(visible, self.learned.annotators))
            lines.append(
                f"{visible(self.system)} learned from {learned} of {of}, but not from these"
            )
        for name, count in self.shown.items():
            pairs = how_many(count, "pair", commas=True)
            lines.append(f"{pairs} in which annotators were shown the links of {visible(name)}")
        for reason, count in self.left_out.items():
            if count:
                lines.append(f"{count:,} {reason}")
        if self.several:
            lines.append(overlapping(self.several, self.pairs, str(self.options.by)))
        return lines

    def show(self, medium: str = "text") -> str:
        """Return all tables in a medium: ``"text"``, ``"markdown"``, ``"latex"`` or ``"html"``."""
        if medium != "text":
            return super().show(medium)
        head = []
        for line in self.head:
            head += textwrap.wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)
        sheets = [table.sheet() for table in self.tables()]
        return get_medium(medium).report(Report(head, sheets, (), self.settings))

    def tables(self) -> Sequence[Table]:
        """Return the tables in reading order."""
        return list(replacement_tables(self))

    @property
    def title(self) -> str:
        """The question, as the title of the page."""
        return f"May {visible(self.system)} replace an annotator?"

    def to_html(self, *, title: str | None = None) -> str:
        """Return an offline page without scripts: the answer and all tables."""
        return self.page(title or self.title)

    def to_json(self) -> dict[str, object]:
        """Return everything for JSON; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.read_corpus("samples/paraphrases.jsonl")
        >>> alignkit.replaceable(corpus, "eflomal").to_json()["system"]
        'eflomal'
        """
        parts = []
        for part in self.parts:
            known = named_json(part, ("by", "name", "pairs"))
            parts.append(known | _decision_json(part.decision))
        certain = None
        if self.certain is not None:
            certain = named_json(self.certain, ("threshold", "share", "passes", "unknown"))
            if self.certain.decision is not None:
                certain |= _decision_json(self.certain.decision)
        names = ("system", "annotators", "may_replace", "answer", "codes", "pairs", "compared")
        more = ("units", "leaks", "near_copies", "twins", "power", "left_out", "shown")
        return {
            **named_json(self, names),
            **_decision_json(self.decision),
            "by_epsilon": [_decision_json(decision) for decision in self.decisions],
            **named_json(self, more),
            "learned": self.learned and str(self.learned),
            "in_several_groups": self.several,
            "parts": parts,
            "certain": certain,
            "likeness": jsonable(self.tables()[-1].to_records()),
            "options": jsonable(self.asked),
            "signature": self.signature,
        }


def _decision_json(decision: Decision) -> dict[str, object]:
    """Return a decision as JSON values."""
    names = ("epsilon", "advantage", "winning_rate", "tests", "few")
    return {"passes": jsonable(decision.may_replace), **named_json(decision, names)}
