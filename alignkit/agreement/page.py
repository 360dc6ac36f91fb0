"""An agreement as one self-contained HTML page, from the template `page.html.j2`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any, NamedTuple

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many
from alignkit.agreement import plots
from alignkit.agreement.answer import AnswerWriter
from alignkit.agreement.chance.models import CHANCE_MODELS
from alignkit.agreement.disagreements import Disagreements, PairOutcome, disagreements
from alignkit.agreement.figures import AgreementFigures, Pairing
from alignkit.agreement.report import agreement_head, agreement_notes
from alignkit.agreement.tables import agreement_tables, main_table, others_table
from alignkit.model.corpus import Corpus
from alignkit.scoring.link_classes import FunctionWords
from alignkit.show.cells import letters, make_grid
from alignkit.show.html import draw_figure, page_template
from alignkit.tables.columns import Cell, Column
from alignkit.tables.media import style_sheet
from alignkit.tables.table import Table

SECTIONS = {
    "cautions": "Cautions",
    "others": "Other alignments",
    "overview": "Every value with its interval",
    "tables": "All tables",
    "reading": "How to read this",
    "chance-models": "Models of chance",
    "sentences": "Agreement by sentence pair",
    "edit-models": "Edit models",
    "chance-samples": "Agreement by chance",
    "disagreements": "Where they differ",
    "matrices": "Pairs that differ most",
    "settings": "Settings",
}
"""The folded sections of the page, by their anchors; no table has one of these."""

_MOST_PAIRINGS, _MOST_WORDS = 6, 30
_INTERVAL = re.compile(r"\S+ \[-?[\d.]+, -?[\d.]+\]")
_NO_WORDS = "The words of these sentence pairs are not known"


def draw_agreement_page(
    agreement: AgreementFigures, *, title: str | None = None,
    function_words: FunctionWords | None = None,
) -> Iterator[str]:  # fmt: skip
    """Draw a page of all annotators that needs neither network nor script."""
    check_arguments(draw_agreement_page, locals())
    drawn = _figures(agreement) | _differences(agreement, function_words)
    words = _words(agreement, title) | drawn
    counted = {"cautions": len(agreement.cautions), "matrices": drawn["differing"]}
    words["sections"] = {
        key: f"{name} ({counted[key]:,})" if key in counted else name
        for key, name in SECTIONS.items() if key != "others" or words["others"]
    }  # fmt: skip
    yield from page_template("page.html.j2", letters=letters).generate(words)


def _words(agreement: AgreementFigures, title: str | None) -> dict[str, Any]:
    options = agreement.options
    models = dict.fromkeys(two.chance for two in agreement.of("annotators") if two.beyond)
    says = "; ".join(CHANCE_MODELS[name].description for name in models)
    answer = AnswerWriter(agreement).answer()
    mains = [main_table(agreement, unit, narrow=False) for unit in ("words", "phrases")]
    given = all(two.given for two in agreement.of("annotators"))
    *names, last = answer.names.values()
    of = f"{', '.join(names)} and {last}" if len(names) < 4 else f"{len(names) + 1} annotators"
    return {
        "title": title or f"Agreement of {of}",
        "style": "".join(map(style_sheet, ("matrix", "drawings", "table", "page"))),
        "head": [line.strip() for line in agreement_head(agreement)],
        "answer": [_INTERVAL.sub(_unbroken, text)
                   for text in (" ".join(answer.sentences), answer.report)],
        "mains": mains,
        "others": list(others_table(agreement)),
        "facts": list(_facts(agreement)),
        "wide": {"precision", "recall", "used", *(() if given else ("kappa",))},
        "cautions": agreement.cautions,
        "tables": agreement_tables(agreement),
        "chance_says": says or "what two who know nothing of each other would share",
        "micro": options.aggregate == "micro",
        "normalizer": options.normalizer,
        "reading": options.reading,
        "intervals": options.bootstrap != "none",
        "settings": list(_settings(agreement)),
        "signature": agreement.signature,
        "several": len(agreement.of("annotators")) > 1,
        "beyond": any(two.beyond for two in agreement.pairings),
        "no_beyond": f"{_NO_WORDS}: there is no agreement beyond chance.",
    }  # fmt: skip


def _unbroken(match: re.Match[str]) -> str:
    """Return a figure and its interval with spaces at which no line ends."""
    return match[0].replace(" ", "\N{NO-BREAK SPACE}")


def _facts(agreement: AgreementFigures) -> Iterator[str]:
    """Yield what is compared, in a few words each."""
    whole = agreement.together[0]
    who = "both" if len(agreement.annotators) == 2 else "two or more"
    yield f"{how_many(whole.pairs, 'sentence pair')}, {whole.used} annotated by {who}"
    yield from agreement_notes(agreement)
    named = {"initial alignment": agreement.initial, "adjudicated": agreement.adjudicated}
    yield from (f"{what}: {name}" for what, name in named.items() if name)
    if agreement.options.bootstrap != "none":
        yield f"{100 * agreement.options.confidence:g}% bootstrap intervals"


def _settings(agreement: AgreementFigures) -> Iterator[tuple[str, object]]:
    models = dict.fromkeys(two.chance for two in agreement.of("annotators") if two.beyond)
    unused: set[str] = set()
    if not any(result.samples for two in agreement.pairings for *_, result in two.results()):
        unused |= {"reading", "samples", "tolerance", "missing_initial"}
    if agreement.options.bootstrap == "none":
        unused |= {"resamples", "confidence"}
    settings = {
        "annotators": ", ".join(agreement.annotators),
        "initial alignment": agreement.initial,
        "adjudicated version": agreement.adjudicated,
        "automatic alignments": ", ".join(agreement.systems),
        "groups": agreement.by,
        "values divided by": agreement.split,
        **{k.replace("_", " "): v for k, v in vars(agreement.options).items() if k not in unused},
        "chance": ", ".join(models),
        "seed": agreement.seed,
    }
    for name, value in settings.items():
        if value not in (None, ""):
            yield name, ("yes" if value else "no") if isinstance(value, bool) else value


def _figures(agreement: AgreementFigures) -> dict[str, Any]:
    """Return the figures; histograms of those pairings first whose F1 is lowest."""
    first = plots.agreement_plot(agreement)
    known = [two for two in agreement.of("annotators") if two.chance in two.beyond]
    known.sort(key=_likeness)
    drawn = list(enumerate(known[:_MOST_PAIRINGS]))
    sentences = [(two.name, list(plots.sentence_plots(f"sentences-{k}", two))) for k, two in drawn]
    samples = [(two.name, list(plots.chance_plots(f"chance-{k}", two))) for k, two in drawn]
    return {
        "overview": list(plots.interval_plots(agreement)),
        "first_figure": first.image("first", "How far they agree") if first.panels else "",
        "models": list(plots.model_plots(agreement)),
        "sentences": [(name, drawn) for name, drawn in sentences if drawn],
        "samples": [(name, drawn) for name, drawn in samples if drawn],
        "unshown": len(known) - len(drawn),
        "edits": list(plots.edit_plots(agreement)),
    }


def _likeness(pairing: Pairing) -> float:
    """Return the F1 of all words; those without one come last."""
    value = pairing.sections[0].figures.get("words.possible.f1", 2.0)
    return 2.0 if isnan(value) else value


# where two differ
class PairDifference(NamedTuple):
    """Where two differ: the counts, a figure of kinds of links, a table of word pairs."""

    pairing: Pairing
    counts: Disagreements
    kinds: plots.PairingPlot
    words: Table


def _differences(
    agreement: AgreementFigures, function_words: FunctionWords | None
) -> dict[str, Any]:
    """Return where every two annotators differ, those who differ most first."""
    corpus, differences = agreement.corpus, list[PairDifference]()
    known = all(pair.has_text for pair in corpus)
    for pairing in sorted(agreement.of("annotators"), key=_likeness) if known else ():
        if pairing.sections[0].pairs:
            counts = disagreements(
                corpus, pairing.first, pairing.second,
                function_words=function_words, exact_case=agreement.options.exact_case,
            )  # fmt: skip
            kinds = plots.kinds_plot(f"kinds-{len(differences)}", counts)
            differences.append(PairDifference(pairing, counts, kinds, _word_table(counts)))
    places = {pair.place for each in differences for pair in each.counts.pairs
              if pair.outcome.alone or pair.outcome.unsure}  # fmt: skip
    none = "No two annotators have a sentence pair in common."
    return {
        "differences": differences,
        "differing": len(places),
        "matrices": list(_draw_pairs(corpus, differences)),
        "no_words": none if known else f"{_NO_WORDS}: nothing can be drawn.",
    }


def _word_table(counts: Disagreements) -> Table:
    first, second = letters(*counts.annotators)
    rows: list[list[Cell]] = []
    for words in counts.words[:_MOST_WORDS]:
        outcome = words.outcome
        numbers = outcome.alone, outcome.first, outcome.second, outcome.both + outcome.unsure
        rows.append([words.source, words.target, ", ".join(words.kinds), *numbers])
    left = len(counts.words) - len(rows)
    headings = ("one only", f"only {first}", f"only {second}", "both")
    columns = [Column(name) for name in ("source", "target", "kind")]
    columns += [Column(name, "count") for name in headings]
    note = f"{left:,} further word pairs are not shown." if left else ""
    return Table("Word pairs that one annotator alone links most often", columns, rows, note)


# the sentence pairs, drawn
_MOST_PAIRS, _MOST_BYTES, _LARGEST_MATRIX = 180, 3_500_000, 60_000


def _draw_pairs(corpus: Corpus, differences: Sequence[PairDifference]) -> Iterator[dict[str, Any]]:
    """Draw the sentence pairs in which two differ most; every two have the same room."""
    for difference in differences:
        counts = difference.counts.pairs
        differing = [pair for pair in counts if pair.outcome.alone or pair.outcome.unsure]
        drawn, large = _draw(corpus, difference, differing, share=len(differences))
        alike = len(counts) - len(differing)
        left = len(differing) - len(drawn) - large
        verb = "sentence pair differs" if len(differing) == 1 else "sentence pairs differ"
        said = [f"{len(differing):,} {verb}, {alike:,} {'does' if alike == 1 else 'do'} not"]
        if left:
            said.append(
                f"the {len(drawn):,} that differ most are drawn, {left:,} that differ less are "
                "left out, to keep the page small"
            )
        if large:
            said.append(f"{large:,} are left out because they are too long to draw")
        yield {"pairing": difference.pairing, "said": "; ".join(said), "articles": drawn}


def _draw(
    corpus: Corpus, difference: PairDifference, differing: Sequence[PairOutcome], *, share: int
) -> tuple[list[dict[str, str]], int]:
    """Return the drawings there is room for, and how many pairs are too long for any."""
    most, room = max(_MOST_PAIRS // share, 5), _MOST_BYTES // share
    drawn, large, pairing = list[dict[str, str]](), 0, difference.pairing
    known = {
        title: {row.place: row for row in pairing.main(level).sentences if not row.left_out}
        for level, title in plots.LEVEL_TITLES.items() if pairing.chance in pairing.beyond
    }  # fmt: skip
    for counts in differing:
        pair = corpus[counts.place]
        n, m = pair.lengths
        if n * m > _LARGEST_MATRIX:
            large += 1
            continue
        figure = draw_figure(make_grid(pair, difference.counts.annotators))
        room -= len(figure.encode())
        if len(drawn) == most or room < 0:
            break
        alone, unsure = counts.outcome.alone, counts.outcome.unsure
        facts = [f"{alone} linked by one only, {unsure} sure for one only"]
        for title, rows in known.items():
            if row := rows.get(counts.place):
                facts.append(
                    f"{title}: {row.common} shared, of {row.first} of the one and {row.second} of "
                    f"the other ({plots.decimal(row.observed)})"
                )
        drawn.append({"id": pair.id, "facts": " · ".join(facts), "figure": figure})
    return drawn, large
