"""The result of an agreement, shown as tables, JSON, CSV or a page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import isnan
from typing import Any

from alignkit._support.options import stated
from alignkit._support.values import jsonable, named_json
from alignkit.agreement.answer import Answer, AnswerWriter
from alignkit.agreement.chance.result import BeyondChance
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.page import draw_agreement_page
from alignkit.agreement.plots import agreement_plot
from alignkit.agreement.report import agreement_head, draw_report
from alignkit.agreement.scale import ScalePlace
from alignkit.agreement.tables import agreement_tables
from alignkit.scoring.link_classes import FunctionWords
from alignkit.show.dot_plots import DotPlot
from alignkit.tables.result import Caution as Caution  # noqa: PLC0414 - `alignkit.agreement` has it
from alignkit.tables.table import Table

_LONG = ("sentences", "distribution")
"""Fields as long as the corpus or the samples: only for annotators, by their main model."""


class Agreement(AgreementFigures):
    """How far annotators agree; printing it shows the tables of the command.

    Returned by `agree`.

    Parameters
    ----------
    annotators : The annotators that are compared.
    options : The options, with every choice made.
    initial, adjudicated, systems : The initial alignment, the adjudicated version, the automatic
        alignments.
    sections : ``"all"``, then the names of the groups.
    pairings : Every two names that are compared.
    together : All annotators together, in each section.
    corpus : The sentence pairs.
    signature : The settings, in one line; print it with the figures.
    cautions : Warnings to read before the figures.
    several : The number of pairs with several values of the attribute `by`; these are in several
        groups.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.read_corpus("samples/paraphrases.jsonl")[:4]
    >>> agreement = alignkit.agree(corpus, ["anna", "ben"], bootstrap="none")
    >>> agreement
    Agreement(anna, ben; 4 pairs; words sure F1 100.0)
    >>> agreement.pairing("anna", "ben").section("all").figures["words.sure.f1"]
    1.0
    >>> agreement.together[0].used
    4
    """

    @cached_property
    def answer(self) -> Answer:
        """The answer: a paragraph that can be quoted."""
        return AnswerWriter(self).answer()

    @cached_property
    def scale(self) -> ScalePlace:
        """Where F1 stands among published corpora of the same kind, or why nobody can say."""
        return AnswerWriter(self).scale

    def tables(self) -> Sequence[Table]:
        """Return the tables in reading order."""
        return agreement_tables(self)

    def show(
        self,
        medium: str = "text",
        tables: Sequence[str] | str | None = None,
        *,
        label: str = "agreement",
    ) -> str:
        """Return the report in a medium.

        Parameters
        ----------
        medium : ``"text"``, ``"markdown"``, ``"latex"`` or ``"html"``.
        tables : The tables to show, of `alignkit.agreement.TABLES`; ``"all"`` for all of them, with
            the whole cautions; None for the answer, the two main tables and one line per caution
            (as LaTeX: one table for a paper).
        label : The label of the LaTeX table, after ``tab:``.

        Raises
        ------
        UnknownNameError : If there is no such medium or table.

        Examples
        --------
        >>> from alignkit import agree, read_corpus
        >>> corpus = read_corpus("samples/paraphrases.jsonl")
        >>> agreement = agree(corpus, ["anna", "ben"], resamples=20)
        >>> print(agreement.show(tables=["words"]).splitlines()[0])
        Words: anna ~ ben (the second is the reference; links of equal words left out)
        """
        return draw_report(self, self.answer, medium, tables, label)

    def plot(self, path: str | None = None, width: str = "column") -> DotPlot:
        """Return the figure of F1 and C for a paper, with its caption; notebooks show it.

        Parameters
        ----------
        path : A file to write it to: PDF, PNG or SVG, by the end of its name.
        width : The width of that file: ``"column"`` (3.3 inches) or ``"full"`` (6.9 inches).

        Raises
        ------
        OptionError : If there is nothing to draw, or the file has another ending.
        """
        figure = agreement_plot(self)
        if path is not None:
            figure.save(path, width)
        return figure

    @property
    def head(self) -> Sequence[str]:
        """Lines with the annotators, the pairs, and the meaning of the brackets."""
        return agreement_head(self)

    def to_html(
        self, *, title: str | None = None, function_words: FunctionWords | None = None
    ) -> str:
        """Return a page with all tables, figures and disagreements; see `draw_agreement_page`.

        Parameters
        ----------
        title : The heading of the page; None: one made of the names.
        function_words : The function words of both sides, whose links are also counted separately;
            None: no such table.
        """
        return "".join(draw_agreement_page(self, title=title, function_words=function_words))

    def to_json(self) -> dict[str, object]:
        """Return everything for JSON; NaN becomes None.

        Examples
        --------
        >>> import alignkit
        >>> corpus = alignkit.Corpus.from_texts(["a b"], ["c d"], anna=["0-0"], ben=["0-0 1-1"])
        >>> alignkit.agree(corpus, bootstrap="none").to_json()["annotators"]
        ['anna', 'ben']
        """
        fleiss_kappa = None
        if self.whole.fleiss:
            fleiss_kappa = jsonable(self.whole.fleiss.kappa)
        names = ("annotators", "initial", "adjudicated", "systems", "answer", "scale")
        together = (
            "pairs",
            "used",
            "left_out",
            "fleiss",
            "alpha",
            "mean_left_out",
            "automatic_left_out",
        )
        return {
            **named_json(self, names),
            "in_several_groups": self.several,
            "options": jsonable(stated(self.options)),
            "sections": list(self.sections),
            "fleiss_kappa": fleiss_kappa,
            "figures": _figures(self),
            "pairings": list(map(_pairing, self.pairings)),
            "votes": self.votes.to_json() if self.votes else None,
            "together": {part.name: named_json(part, together) for part in self.together},
            "cautions": jsonable(self.cautions),
            "signature": self.signature,
        }


def _pairing(two: Pairing) -> dict[str, object]:
    """Return a pairing as JSON values; only C of annotators by the main model is whole."""
    parts = ("pairs", "overlap", "cells", "different", "alpha")
    by_model = {}
    for model, levels in two.beyond.items():
        is_main = two.kind == "annotators" and model == two.chance
        by_model[model] = {level: _beyond(result, is_main) for level, result in levels.items()}
    names = ["kind", "first", "second", "chance", "no_edits", "same_start"]
    if two.unseen is not None:
        names.append("unseen")
    return {
        **named_json(two, names),
        "sections": {section.name: named_json(section, parts) for section in two.sections},
        "beyond_chance": by_model,
    }


def _figures(agreement: AgreementFigures) -> list[dict[str, Any]]:
    """Return a record of each two who are compared: their figures by section, level, statistic."""
    by_who: dict[tuple[str, str, str], dict[str, Any]] = {}
    for figure in agreement.figures():
        who = (figure.kind, figure.first, figure.second)
        if who not in by_who:
            by_who[who] = {
                "kind": figure.kind,
                "first": figure.first,
                "second": figure.second,
                "sections": {},
            }
        levels = by_who[who]["sections"].setdefault(figure.section, {})
        statistics = levels.setdefault(figure.level, {})
        record: dict[str, Any] = {"value": jsonable(figure.value)}
        if not isnan(figure.low):
            record["low"] = figure.low
            record["high"] = figure.high
        record["pairs"] = figure.pairs
        if figure.reason:
            record["reason"] = figure.reason
        statistics[figure.statistic] = record
    return list(by_who.values())


def _beyond(result: BeyondChance, is_main: bool) -> dict[str, object]:
    """Return C as JSON values; if this is not by the main model, without what is long."""
    everything: dict[str, Any] = result.to_json()
    if not is_main:
        for name in _LONG:
            del everything[name]
        for models in everything["models"].values():
            for model in models.values():
                del model["data"]
    return everything
