"""Draw a report of the agreement of two annotators as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from alignkit.agreement.corrected_result import CorrectedAgreement
from alignkit.agreement.report import AgreementReport
from alignkit.corpus import Corpus
from alignkit.errors import OptionError, UnknownNameError
from alignkit.report.agreement_figures import (
    chance_figures,
    edit_figures,
    interval_figure,
    kinds_figure,
    sentence_figures,
)
from alignkit.report.agreement_tables import (
    LABELS,
    automatic_table,
    cells_table,
    level_table,
    more_table,
    undefined_notes,
    used_table,
    warnings_of,
)
from alignkit.report.cells import make_grid
from alignkit.report.charts import CHART_STYLE
from alignkit.report.disagreements import Disagreements, PairOutcome, disagreements
from alignkit.report.html import draw_figure, isolated_text, safe_text, start_page
from alignkit.report.html_table import TABLE_STYLE, decimal, html_table
from alignkit.report.word_kinds import FUNCTION_WORDS

__all__ = ["draw_agreement"]

Results = Mapping[str, CorrectedAgreement]

_MOST_PAIRS, _MOST_BYTES = 200, 3_500_000
_LARGEST_MATRIX = 60_000
_MOST_WORDS = 30
_WIDTHS = (0.1, 0.05, 0.02)

_STYLE = """
.alignkit{--fill:#d3dbe3}
@media(prefers-color-scheme:dark){.alignkit{--fill:#414b54}}
body.alignkit>*{max-width:1240px;margin-left:auto;margin-right:auto}
nav ul{list-style:none;padding:0;margin:.6em 0;display:flex;flex-wrap:wrap;gap:.3em 1.3em}
a{color:var(--a)}
section{border-top:1px solid var(--line);padding:.6em 0 1em;margin-top:.8em}
section>h2{font-size:1.25em;margin:.3em 0 .5em}
section>p,.notes{max-width:75ch}
.notes{padding-left:1.2em;margin:.4em 0}
.warnings{border-left:4px solid var(--b);padding-left:1.8em}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,430px),1fr));
gap:1em 1.6em}
figure{margin:0;min-width:0}
figcaption{font-weight:700;overflow-wrap:anywhere}
details{font-size:14px}summary{color:var(--soft);cursor:pointer}
code{overflow-wrap:anywhere}
article h3{font-size:1.05em;margin:0 0 .2em;overflow-wrap:anywhere}
@media print{figure{break-inside:avoid}nav{display:none}}
"""

_READING = """
<p>pi is the share of what one annotator has that the other has too, and pi0 is the share to be
expected if each of them had changed as many cells of the initial alignment as they did, but had
chosen the cells at random; C = (pi &minus; pi0) / (1 &minus; pi0) is how much of the agreement that
chance leaves open they reach: 1 is full agreement, 0 no more than chance, below 0 less than
chance. The interval says how far C moves when other sentence pairs of the same kind are drawn, so
two values of C whose intervals overlap widely do not differ reliably. C depends on the initial
alignment, on what is compared (phrase pairs or links, sure or possible, identical ones in or out)
and on the model of chance, so compare it only with figures that have the same
<a href="#settings">signature</a>.</p>
"""


def draw_agreement(
    corpus: Corpus,
    results: Results,
    *,
    title: str,
    initial: str | None,
    report: AgreementReport,
    warnings: Iterable[str] = (),
    function_words: Collection[str] = FUNCTION_WORDS,
) -> Iterator[str]:
    """Draw a report that needs neither network nor script.

    Tables, figures from data with their numbers, and the sentence pairs in which the two differ
    most. Everything is told by shape, hatching or letter as well as by colour; the page follows
    the reader's choice of light or dark.

    Parameters
    ----------
    corpus
        The sentence pairs, with their words.
    results
        The agreements beyond chance of the same two annotators under the names ``"phrases-sure"``,
        ``"phrases-possible"``, ``"links-sure"``, ``"links-possible"``, or some of them. One that is
        not defined is shown as "-", with the reason.
    title
        The heading.
    initial
        The name of the initial alignment, which is compared with both annotators; None leaves
        this out.
    report
        The other statistics of the two.
    warnings
        What else has to be said beside the numbers.
    function_words
        The function words of the language, in small letters.

    Yields
    ------
    str
        The page in pieces, to be written in UTF-8: below 5 MB, unless there are thousands of
        groups. The matrices of at most 200 sentence pairs are drawn; the page says how many are
        left out.

    Raises
    ------
    OptionError
        If there is no result, or the results are of different annotators.
    UnknownNameError
        If the name of a result is not known.

    Examples
    --------
    >>> from alignkit.agreement import agreement, agreement_report
    >>> from alignkit.alignment import Alignment
    >>> from alignkit.corpus import SentencePair
    >>> texts = ("he", "left", "early"), ("she", "went", "away", "soon")
    >>> pair = SentencePair("1", *texts, {
    ...     "initial": Alignment.parse("0-0"), "anna": Alignment.parse("0-0 1-1 1-2"),
    ...     "ben": Alignment.parse("0-0 1-1 1-2 2-3")})
    >>> corpus = Corpus([pair])
    >>> found = {"phrases-sure": agreement(corpus, "anna", "ben", initial="initial", rng=1)}
    >>> report = agreement_report(corpus, ["anna", "ben"])
    >>> page = "".join(draw_agreement(
    ...     corpus, found, title="Anna & Ben", initial="initial", report=report))
    >>> page[:15], page.count("<figure>")
    ('<!DOCTYPE html>', 6)
    """
    names = _check(results)
    found = disagreements(corpus, *names, function_words=function_words)
    sections = {
        "numbers": ("Numbers", _numbers(corpus, results, report, initial)),
        "reading": ("How to read C", [_READING]),
        "sentences": ("Agreement by sentence pair", _sentences(results)),
        "edits": ("Edit models", _edits(results)),
        "chance": ("Agreement by chance", _chance(results)),
        "disagreements": ("Disagreements", _disagreements(found)),
        "more": ("How many more pairs", _more(results)),
        "pairs": ("Sentence pairs", _pairs(corpus, results, found)),
        "settings": ("Settings", _settings(results, report)),
    }
    yield start_page(title, TABLE_STYLE + CHART_STYLE + _STYLE)
    yield _head(results, found, [*warnings, *warnings_of(results)])
    links = "".join(f'<li><a href="#{key}">{name}</a>' for key, (name, _) in sections.items())
    yield f'<nav aria-label="sections"><ul>{links}</ul></nav>\n</header>\n<main>\n'
    for key, (name, parts) in sections.items():
        yield f'<section id="{key}" aria-labelledby="{key}-heading">\n'
        yield f'<h2 id="{key}-heading">{name}</h2>\n'
        yield from parts
        yield "</section>\n"
    yield "</main>\n</body>\n</html>\n"


def _check(results: Results) -> tuple[str, str]:
    """Return the two annotators."""
    if not results:
        raise OptionError("a report of agreement needs at least one result; measure it first")
    for name in results:
        if name not in LABELS:
            raise UnknownNameError("result", name, LABELS)
    names = {one.annotators for one in results.values()}
    if len(names) > 1:
        said = "; ".join(" and ".join(two) for two in sorted(names))
        raise OptionError(f"the results are of different annotators: {said}; draw one page of each")
    return names.pop()


def _head(results: Results, found: Disagreements, warnings: Sequence[str]) -> str:
    first, second = found.annotators
    one = next(iter(results.values()))
    said = "".join(f"<li>{safe_text(text)}" for text in dict.fromkeys(warnings))
    return (
        f"<p>{isolated_text(first)} (A) and {isolated_text(second)} (B): both annotated "
        f"{len(found.pairs):,} of {one.pairs:,} sentence {'pair' if one.pairs == 1 else 'pairs'}"
        "</p>\n"
    ) + (f'<ul class="notes warnings" aria-label="warnings">{said}</ul>\n' if said else "")


def _numbers(
    corpus: Corpus, results: Results, report: AgreementReport, initial: str | None
) -> Iterator[str]:
    names = next(iter(results.values())).annotators
    identical = "take part" if report.include_identical else "are left out"
    yield f'<div class="figures">{interval_figure(results)}</div>\n'
    yield (
        f"<p>Identical links and phrase pairs {identical} of overlap and C. B is the reference of "
        "precision and recall. Possible links are all links, the sure ones included; "
        "&ldquo;sure in possible&rdquo; is the share of the sure links of each among all links of "
        "the other.</p>\n"
    )
    yield level_table("words", report, results)
    yield level_table("phrases", report, results)
    yield undefined_notes(results)
    yield used_table(results)
    yield cells_table(report, names)
    yield (
        "<p>Kappa and AC1 count every cell, and nearly all cells are empty: much of what they call "
        "agreement is agreement on links that nobody would make.</p>\n"
    )
    if initial is not None:
        yield automatic_table(corpus, initial, names, report)


def _sentences(results: Results) -> Iterator[str]:
    yield (
        "<p>How many sentence pairs have which observed agreement. The first bar holds those at "
        "exactly 0, the last bar those at exactly 1; pairs in which neither annotator has anything "
        "to compare are left out. pi is marked by a full line, pi0 by a broken one.</p>\n"
    )
    yield _grid(sentence_figures(results))


def _edits(results: Results) -> Iterator[str]:
    one = next(iter(results.values()))
    if not one.models:
        yield "<p>This model of chance has a closed form: there are no edit models.</p>\n"
        return
    reading = next(model.reading for models in one.models.values() for model in models.values())
    shown = {
        "count": "The line is the expected number of edits, linear in N + M.",
        "probability": "The line is the rate of edits of a cell, linear in N + M, cut to 0 and 1.",
    }[reading]
    yield (
        "<p>What each annotator changed in the initial alignment. Each mark is a sentence pair, or "
        f"several at the same place: its area grows with their number. {shown} Chance changes as "
        "many cells as the line says.</p>\n"
    )
    yield _grid(edit_figures(results))


def _chance(results: Results) -> Iterator[str]:
    figures = list(chance_figures(results))
    if not figures:
        yield "<p>pi0 was not sampled: this model of chance has a closed form.</p>\n"
        return
    one = next(iter(results.values()))
    yield (
        f"<p>The agreement of the whole corpus in each of {one.samples:,} samples in which both "
        "annotators change cells at random. pi is marked by a full line, pi0 by a broken one. A pi "
        "to the right of all samples says that there is agreement beyond chance; how much there "
        "is says C. Where many samples leave nothing to compare in a sentence pair, pi0 lies "
        "beside the middle of the bars, since it gives all sentence pairs the same weight.</p>\n"
    )
    yield _grid(iter(figures))


def _disagreements(found: Disagreements) -> Iterator[str]:
    total = found.total
    yield (
        f"<p>Of {total.links:,} links that either has, both have {total.both + total.unsure:,}, "
        f"{total.unsure:,} of them sure for one and possible for the other; {total.first:,} are "
        f"those of A alone, {total.second:,} of B alone. Identical links are counted here. A link "
        "has one shape: 1-1, 1-n (one word with several) or block (several with several), as the "
        "larger of the two has it; it can be of several kinds of words.</p>\n"
    )
    yield _grid(iter([kinds_figure(found)]))
    rows = [
        [
            one.source,
            one.target,
            ", ".join(one.kinds),
            one.outcome.alone,
            one.outcome.first,
            one.outcome.second,
            one.outcome.both + one.outcome.unsure,
        ]
        for one in found.words[:_MOST_WORDS]
    ]
    left = len(found.words) - len(rows)
    caption = "Word pairs that one annotator alone links most often"
    headings = ["source", "target", "kind", "one only", "only A", "only B", "both"]
    yield html_table(caption, headings, rows, texts=3)
    if left:
        yield f"<p>{left:,} further word pairs are not shown.</p>\n"


def _more(results: Results) -> Iterator[str]:
    if all(one.interval is None for one in results.values()):
        yield "<p>There is no interval of C to start from; ask for a bootstrap.</p>\n"
        return
    yield (
        "<p>An extrapolation, not a promise: the width of the interval falls with the square root "
        "of the number of sentence pairs, if further pairs are like these, used as often as these, "
        "and annotated as these were. C &plusmn; 0.05 stands for an interval from 0.05 below to "
        "0.05 above.</p>\n"
    )
    yield more_table(results, _WIDTHS)


def _pairs(corpus: Corpus, results: Results, found: Disagreements) -> Iterator[str]:
    differing = [one for one in found.pairs if one.outcome.alone or one.outcome.unsure]
    drawn, large = _draw_pairs(corpus, results, found, differing)
    alike = len(found.pairs) - len(differing)
    left = len(differing) - len(drawn) - large
    number = "pair" if len(drawn) == 1 else "pairs"
    said = [f"{len(drawn):,} sentence {number} in which the two differ"]
    if alike:
        said.append(f"{alike:,} in which they do not differ are left out")
    if left:
        said.append(f"{left:,} that differ less are left out, to keep the page small")
    if large:
        said.append(f"{large:,} are left out because they are too long to draw")
    yield (
        f"<p>{'; '.join(said)}. Those with the most links of one annotator alone come first, then "
        "those with the most links that are sure for one only. Rows are source words, columns "
        "target words.</p>\n"
    )
    yield from drawn


def _draw_pairs(
    corpus: Corpus, results: Results, found: Disagreements, differing: Sequence[PairOutcome]
) -> tuple[list[str], int]:
    """Return the drawings that the page has room for, and how many pairs are too long for it."""
    known = {key: {row.place: row for row in one.sentences} for key, one in results.items()}
    drawn: list[str] = []
    large = room = 0
    for one in differing:
        pair = corpus[one.place]
        n, m = pair.lengths
        if n * m > _LARGEST_MATRIX:
            large += 1
            continue
        facts = [f"{one.outcome.alone} linked by one only, {one.outcome.unsure} sure for one only"]
        for key, rows in known.items():
            if one.place in rows and not rows[one.place].left_out:
                row = rows[one.place]
                facts.append(
                    f"{LABELS[key]}: {row.common} shared of {row.first} and {row.second} "
                    f"({decimal(row.observed)})"
                )
        figure = draw_figure(make_grid(pair, found.annotators))
        text = (
            f"<article>\n<h3>{isolated_text(pair.id)}</h3>\n"
            f'<p class="facts">{" · ".join(facts)}</p>\n{figure}</article>\n'
        )
        room += len(text.encode())
        if len(drawn) == _MOST_PAIRS or room > _MOST_BYTES:
            break
        drawn.append(text)
    return drawn, large


def _settings(results: Results, report: AgreementReport) -> Iterator[str]:
    said = [(LABELS[key], one.signature) for key, one in results.items()]
    said.append(("overlap, kappa, AC1 and alpha", report.signature))
    rows = "".join(
        f"<dt>{safe_text(name)}<dd><code>{safe_text(text)}</code>\n" for name, text in said
    )
    yield f"<dl>{rows}</dl>\n"


def _grid(figures: Iterator[str]) -> str:
    return f'<div class="figures">\n{"".join(figures)}</div>\n'
