"""Draw an agreement as one self-contained HTML page, from the template `page.html.j2`."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any, NamedTuple

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many
from alignkit.agreement.answer import AnswerWriter
from alignkit.agreement.chance.result import LEVELS, SentenceAgreement
from alignkit.agreement.compared_tables import all_given, main_table, others_table
from alignkit.agreement.disagreements import SHAPES, Disagreements, differences_csv, disagreements
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.names import listed
from alignkit.agreement.numbers import ALL, f1_of
from alignkit.agreement.plots import agreement_plot, model_plot
from alignkit.agreement.report import agreement_head, agreement_notes, legend
from alignkit.agreement.scale import ScalePlace
from alignkit.agreement.scale_page import (
    kinds_table,
    printed_table,
    scale_plot,
    scale_table,
    sources,
)
from alignkit.agreement.tables import agreement_tables
from alignkit.scoring.link_classes import WORD_KINDS, FunctionWords
from alignkit.show.cells import letters, make_grid
from alignkit.show.html import draw_figure, page_template
from alignkit.tables.columns import Column, Row
from alignkit.tables.media import style_sheet
from alignkit.tables.table import Table

SECTIONS = {
    "cautions": "Cautions",
    "others": "Other alignments",
    "differences": "Pairs that differ most",
    "kinds": "Links and words that differ",
    "chance-models": "Models of chance",
    "scale": "Published corpora",
    "tables": "All tables",
    "reading": "How to read this",
    "settings": "Settings",
}
"""The folded sections of the page, by anchor; tables have other anchors."""

_MOST_WORDS = 30  # pairs of words that a table shows
_INTERVAL = re.compile(r"\S+ \[-?[\d.]+, -?[\d.]+\]")


class PairDifference(NamedTuple):
    """The differences of two annotators: counts, tables, a sentence, and drawn pairs."""

    counts: Disagreements
    tables: Sequence[Table]
    says: str
    articles: Sequence[dict[str, str]]


class PublishedScale(NamedTuple):
    """Published corpora: where this one stands, a figure, tables and sources."""

    place: ScalePlace
    plot: str
    tables: Sequence[Table]
    sources: Sequence[str]


def draw_agreement_page(
    agreement: AgreementFigures,
    *,
    title: str | None = None,
    function_words: FunctionWords | None = None,
) -> Iterator[str]:
    """Draw an offline page of all annotators, without scripts."""
    check_arguments(draw_agreement_page, locals())
    writer = AnswerWriter(agreement)
    answer = writer.answer()
    names = agreement.short_names.values()
    who = listed(names) if len(names) < 5 else f"{len(names)} annotators"
    mains = [main_table(agreement, unit, narrow=False) for unit in ("words", "phrases")]
    wide = {"precision", "recall", "used"}  # the columns that narrow screens do not show
    if not all_given(agreement.every_two):
        wide.add("kappa")
    differences = list(_differences(agreement, function_words))
    words: dict[str, Any] = {
        "title": title or f"Agreement of {who}",
        "style": "".join(map(style_sheet, ("matrix", "drawings", "table", "page"))),
        "facts": list(_facts(agreement)),
        "answer": _unbroken(" ".join(answer.sentences)),
        "mains": mains,
        "wide": wide,
        "first_figure": agreement_plot(agreement).image("first", "Agreement"),
        "cautions": agreement.cautions,
        "others": list(others_table(agreement)),
        "differences": differences,
        "csv": _csv_link(agreement, differences),
        "several": len(agreement.every_two) > 1,
        "models": model_plot(agreement).image("models", "C by every model of chance"),
        "scale": _published_scale(writer.scale),
        "tables": agreement_tables(agreement),
        "legend": legend(agreement, [table.sheet() for table in mains]),
        "intervals": agreement.options.bootstrap != "none",
        "head": [line.strip() for line in agreement_head(agreement)],
        "signature": agreement.signature,
    }
    differing = set()
    for each in differences:
        for pair in each.counts.differing:
            differing.add(pair.place)
    words["counted"] = {"cautions": len(agreement.cautions), "differences": len(differing)}
    needs = {
        "others": "others",
        "kinds": "differences",
        "chance-models": "models",
        "scale": "scale",
    }
    left_out = {section for section, needed in needs.items() if not words[needed]}
    words["sections"] = {key: name for key, name in SECTIONS.items() if key not in left_out}
    yield from page_template("page.html.j2", letters=letters).generate(words)


def _published_scale(place: ScalePlace) -> PublishedScale | None:
    """Return what the page shows of published corpora; None without an F1 to compare."""
    if isnan(place.f1):
        return None
    tables = [scale_table(place.kind.equal_words), printed_table(), kinds_table(str(place.kind))]
    image = scale_plot(place).images("scale", "F1 of this corpus and of published ones")
    return PublishedScale(place, image, tables, sources())


def _unbroken(text: str) -> str:
    """Return a text in which no line break may part a number and its interval."""
    return _INTERVAL.sub(lambda match: match[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


def _csv_link(agreement: AgreementFigures, differences: Sequence[PairDifference]) -> str:
    """Return the differences as the address of a CSV file, or "" if that is too large."""
    counts = [each.counts for each in differences]
    csv = differences_csv(agreement.corpus, counts).encode()
    if len(csv) >= _LARGEST_CSV:
        return ""
    return f"data:text/csv;base64,{b64encode(csv).decode()}"


def _facts(agreement: AgreementFigures) -> Iterator[str]:
    """Yield short facts about the comparison."""
    whole = agreement.whole
    who = "both" if len(agreement.annotators) == 2 else "two or more"
    yield f"{how_many(whole.pairs, 'sentence pair')}, {whole.used} annotated by {who}"
    yield from agreement_notes(agreement)
    named = {"initial alignment": agreement.initial, "adjudicated": agreement.adjudicated}
    for what, name in named.items():
        if name:
            yield f"{what}: {name}"
    if agreement.options.bootstrap != "none":
        yield f"{100 * agreement.options.confidence:g}% intervals over sentence pairs"


# where two differ
def _differences(
    agreement: AgreementFigures, function_words: FunctionWords | None
) -> Iterator[PairDifference]:
    """Yield the differences of every two annotators; those who differ most come first."""
    corpus = agreement.corpus
    pairings = [two for two in agreement.every_two if two.whole.pairs]
    if not all(pair.has_text for pair in corpus):
        return
    for pairing in sorted(pairings, key=_likeness):
        counts = disagreements(
            corpus,
            pairing.first,
            pairing.second,
            function_words=function_words,
            exact_case=agreement.options.exact_case,
        )
        tables = [_kind_table(counts)]
        if counts.words:
            tables.append(_word_table(counts))
        says, articles = _draw(agreement, pairing, counts, pairings=len(pairings))
        yield PairDifference(counts, tables, says, articles)


def _likeness(pairing: Pairing) -> float:
    """Return the F1 of all words, or 2 if undefined, which sorts last."""
    value = f1_of(pairing, ALL).value
    return 2.0 if isnan(value) else value


def _kind_table(counts: Disagreements) -> Table:
    """Return the table of kinds of links: how many both have, and how many only one."""
    A, B = letters(*counts.annotators)
    rows: list[Row] = []
    kinds = [*SHAPES, *(kind for kind in WORD_KINDS if kind in counts.kinds)]
    for kind in kinds:
        has = counts.kinds[kind]
        alone = has.alone / has.links if has.links else None
        rows.append([kind, has.links, has.both, has.unsure, has.first, has.second, alone])
    names = ("links", "both alike", "sure for one", f"only {A}", f"only {B}")
    columns = [Column("", key="kind")]
    columns += [Column(name, "count") for name in names]
    columns.append(Column("% of one only", "percent"))
    return Table("Links by kind: who has them", columns, rows, apart=[len(SHAPES)])


def _word_table(counts: Disagreements) -> Table:
    """Return the word pairs that most often only one annotator linked."""
    A, B = letters(*counts.annotators)
    rows: list[Row] = []
    for words in counts.words[:_MOST_WORDS]:
        has = words.outcome
        row: Row = [words.source, words.target, ", ".join(words.kinds)]
        row += [has.alone, has.first, has.second, has.both + has.unsure]
        rows.append(row)
    columns = [Column(name) for name in ("source", "target", "kind")]
    columns += [Column(name, "count") for name in ("one only", f"only {A}", f"only {B}", "both")]
    note = ""
    left = len(counts.words) - len(rows)
    if left:
        note = f"{left:,} further word pairs are not shown."
    return Table("Word pairs most often linked by only one annotator", columns, rows, note)


# the sentence pairs, drawn
_MOST_PAIRS = 180  # drawn, of all pairings together
_MOST_BYTES = 3_500_000  # of the drawings, of all pairings together
_LARGEST_MATRIX = 60_000  # cells of a pair that is drawn
_LARGEST_CSV = 1_000_000  # bytes of the CSV file in the page


def _draw(
    agreement: AgreementFigures, pairing: Pairing, counts: Disagreements, *, pairings: int
) -> tuple[str, list[dict[str, str]]]:
    """Draw the sentence pairs in which two differ most; each of the pairings has the same space."""
    most = max(_MOST_PAIRS // pairings, 5)
    bytes_left = _MOST_BYTES // pairings
    drawn = list[dict[str, str]]()
    large = 0
    # by the title of the level, and by place in the corpus
    sentences_by_level: dict[str, dict[int, SentenceAgreement]] = {}
    for chance, level, result in pairing.results():
        if chance == pairing.chance:
            unit, _ = level.split(".")
            title = f"{unit}, {LEVELS[level][1]}"
            sentences_by_level[title] = {sentence.place: sentence for sentence in result.sentences}
    for differing_pair in counts.differing:
        pair = agreement.corpus[differing_pair.place]
        n, m = pair.lengths
        if n * m > _LARGEST_MATRIX:
            large += 1
            continue
        figure = draw_figure(make_grid(pair, counts.annotators))
        bytes_left -= len(figure.encode())
        if len(drawn) == most or bytes_left < 0:
            break
        outcome = differing_pair.outcome
        facts = [f"{outcome.alone} linked by one only, {outcome.unsure} sure for one only"]
        for title, rows in sentences_by_level.items():
            row = rows.get(differing_pair.place)
            if row is not None and not row.left_out:
                facts.append(
                    f"{title}: {row.common} shared, of {row.first} by the one and "
                    f"{row.second} by the other ({row.observed:.3f})"
                )
        drawn.append({"id": pair.id, "facts": " · ".join(facts), "figure": figure})
    differing = len(counts.differing)
    alike = len(counts.pairs) - len(counts.differing)
    differ = how_many(differing, "sentence pair differs", "sentence pairs differ", commas=True)
    says = [f"{differ}, {how_many(alike, 'does', 'do', commas=True)} not"]
    left = differing - len(drawn) - large
    if left:
        says.append(
            f"the {len(drawn):,} that differ most are drawn; {left:,} that differ less are "
            "left out to keep the page small"
        )
    if large:
        says.append(f"{large:,} are left out because they are too long to draw")
    return "; ".join(says), drawn
