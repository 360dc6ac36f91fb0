"""The agreement on judgments, shown as tables, JSON, CSV, plots or a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan

from alignkit._support.options import stated
from alignkit._support.values import jsonable, named_json
from alignkit._support.wording import how_many, overlapping
from alignkit.agreement.judgments.all_figures import JudgmentFigures
from alignkit.agreement.judgments.answer import answer_sentences
from alignkit.agreement.judgments.plots import judgment_plot
from alignkit.agreement.judgments.ranks import rank_table
from alignkit.agreement.judgments.report_tables import disagreements_table, figure_tables
from alignkit.agreement.names import listed
from alignkit.corpora.labelled import NOT_JUDGED
from alignkit.tables.result import Picture
from alignkit.tables.table import Table
from alignkit.version import __version__


class JudgmentAgreement(JudgmentFigures):
    """How far annotators agree on judgments; printing it shows the tables of the command.

    Returned by `agree_on_judgments`.

    Parameters
    ----------
    annotators : The annotators that are compared.
    options : The options.
    sections : ``"all"``, then the names of the groups.
    pairs : The number of pairs judged by at least one annotator.
    repeated : The number of these that repeat others word by word.
    rewrites : The number of rewrites by annotators; they are left out because nobody judged them
        independently.
    left_out : The number of judgments left out, by reason.
    shares : For each view, the share of each label among all judgments.
    all_figures : Every figure, as `figures` returns them.
    disagreements : The pairs with different judgments; those that differ in more views first.
    cautions : Warnings to read before the figures.
    several : The number of pairs with several values of the attribute `by`; these are in several
        groups.
    unjudged : The number of pairs of the corpus that none of them judged.
    coefficients : AC2, Brennan-Prediger and Conger's kappa of all, and of every two.
    concordances : Kendall's W of each group of texts that were ranked together; NaN if undefined.

    Examples
    --------
    >>> import alignkit
    >>> corpus = alignkit.read_corpus("samples/paraphrases.jsonl")
    >>> names = ["anna", "ben"]
    >>> agreement = alignkit.agree_on_judgments(corpus, names, scheme="paraphrase", resamples=100)
    >>> agreement
    JudgmentAgreement(paraphrase, 64 pairs; anna, ben)
    >>> dict(agreement.shares["binary"])
    {'0': 0.1796875, '1': 0.8203125}
    """

    @property
    def signature(self) -> str:
        """The settings behind the numbers, in one line."""
        asked = self.options
        groups = "|groups:given" if asked.groups else ""
        by = f"|by:{asked.by}" if asked.by else ""
        if asked.split:
            by += f"|split:{asked.split}"
        return (
            f"level:judgments|scheme:{self.scheme}|views:{'/'.join(self.views)}"
            f"|weights:{asked.weights}|consensus:{asked.consensus}|ties:{asked.ties}"
            f"|null:{asked.null}{groups}{by}|permutations:{asked.permutations}|interval:bootstrap"
            f"|confidence:{asked.confidence:g}|resamples:{asked.resamples}|seed:{asked.seed}"
            f"|version:{__version__}"
        )

    def tables(self) -> Sequence[Table]:
        """Return the tables that have rows, in reading order."""
        tables = figure_tables(self)
        if self.coefficients:
            tables.append(self.coefficients)
        if self.concordances:
            tables.append(rank_table(self.concordances))
        return tables

    @property
    def answer(self) -> str:
        """A paragraph to quote, about the first view: kappa of every two, and alpha."""
        shares = self.shares[self.options.views[0].name]
        sentences = answer_sentences(
            self.annotators, self.pairs, self.all_figures, shares, self.options
        )
        return " ".join(sentences)

    @property
    def head(self) -> Sequence[str]:
        """Lines with the annotators, the pairs, and the meaning of the brackets."""
        options = self.options
        pairs = how_many(self.pairs, "pair")
        who = ", ".join(self.annotators)
        lines = [f"Agreement of {who} on judgments of {pairs} ({self.scheme})", self.answer]
        if self.unjudged:
            more = how_many(self.unjudged, "further pair")
            lines.append(f"  {more} without a judgment by any of them")
        if self.several:
            lines.append(
                f"  {overlapping(self.several, self.pairs + self.unjudged, str(options.by))}"
            )
        for reason, count in self.left_out.items():
            if count and reason != NOT_JUDGED:
                lines.append(f"  {count} judgments {reason}")
        for views in options.alike:
            names = [view.name for view in views]
            if len(names) > 1:
                lines.append(
                    f"The views {', '.join(names)} give the same labels: only {names[0]} is shown"
                )
        if options.weights != "nominal":
            lines.append(
                f"Kappa and AC1: {options.weights} weights over the order of all labels of a view "
                "(AC1 with weights is AC2)"
            )
        lines.append(
            f"In brackets, {100 * options.confidence:g}% intervals: for kappa, AC1 and alpha from "
            "bootstrap resamples of pairs; for a null from permutations; for a share of items "
            "Wilson's interval"
        )
        return lines

    def to_json(self) -> dict[str, object]:
        """Return everything for JSON; NaN becomes None.

        Examples
        --------
        >>> from alignkit import Corpus, agree_on_judgments
        >>> judged = {"ann": ["0", "1"] * 4, "ben": ["0", "1"] * 3 + ["1", "1"]}
        >>> corpus = Corpus.from_texts(["a"] * 8, ["b"] * 8, judgments=judged)
        >>> agree_on_judgments(corpus, scheme="binary", resamples=100).to_json()["annotators"]
        ['ann', 'ben']
        """
        alike = [[view.name for view in views] for views in self.options.alike]
        own = {"scheme": self.scheme, "view": list(self.views), "alike": alike}
        coefficients = self.coefficients.to_records() if self.coefficients else []
        counts = ("concordances", "pairs", "unjudged", "repeated", "rewrites", "left_out", "shares")
        return {
            "annotators": list(self.annotators),
            "answer": self.answer,
            "in_several_groups": self.several,
            "options": jsonable(stated(self.options) | own),
            **named_json(self, ("sections", *counts)),
            "figures": jsonable(self.to_records()),
            "coefficients": jsonable(coefficients),
            **named_json(self, ("cautions", "signature")),
        }

    def images(self) -> Iterator[Picture]:
        """Yield a picture of the kappas of each table."""
        plot = judgment_plot(self)
        for k, panel in enumerate(plot.panels):
            # series without a dot in this panel need no legend; only the first one may have all
            others = [value for row in panel.values for value in row[1:]]
            series = plot.series
            if all(isnan(value.value) for value in others):
                series = series[:1]
            image = replace(plot, panels=[panel], series=series).image(f"kappas-{k}", panel.label)
            yield Picture(panel.label.capitalize(), image)

    def page_tables(self) -> Sequence[Table]:
        """Return the tables, and the table of pairs with different judgments."""
        return [*self.tables(), disagreements_table(self, whole=False)]

    def to_html(self, *, title: str | None = None) -> str:
        """Return an offline page without scripts: all tables, figures and disagreements."""
        return self.page(title or f"Agreement of {listed(self.annotators)} on judgments")
