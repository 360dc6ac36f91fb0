"""Draw an agreement on judgments as one self-contained HTML page: figures, tables, settings."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from alignkit.agreement.judgments.result import JudgmentAgreement
from alignkit.arguments import check_arguments
from alignkit.report.characters import isolated_text, safe_text
from alignkit.report.html import start_page
from alignkit.report.judgment_disagreements import draw_disagreements
from alignkit.report.judgment_plots import judgment_plots
from alignkit.report.medium import CARE
from alignkit.report.table import Table


def judgment_page(agreement: JudgmentAgreement, *, title: str | None = None) -> str:
    """Return the page as one text; see `draw_judgment_page`."""
    return "".join(draw_judgment_page(agreement, title=title))


def draw_judgment_page(agreement: JudgmentAgreement, *, title: str | None = None) -> Iterator[str]:
    """Draw a page that needs neither network nor script."""
    check_arguments(draw_judgment_page, locals())
    *others, last = agreement.annotators
    heading = title or f"Agreement of {', '.join(others)} and {last} on judgments"
    style = files("alignkit.report").joinpath("page.css").read_text(encoding="utf-8")
    yield start_page(heading, Table.style() + style)
    yield from (f'<p class="facts">{safe_text(line.strip())}</p>\n' for line in agreement.head)
    yield from _cautions(agreement)
    yield "</header>\n<main>\n"
    yield _heading("overview", "Overview")
    yield "<p>Every kappa with its interval, if it has one; the tables have all figures.</p>\n"
    yield '<div class="figures three">\n'
    for caption, image in judgment_plots(agreement):
        yield f"<figure><figcaption>{isolated_text(caption)}</figcaption>\n{image}</figure>\n"
    yield "</div>\n</section>\n"
    yield _heading("tables", "Tables")
    yield from (table.show("html") for table in agreement.tables())
    yield "</section>\n"
    yield _heading("disagreements", "Disagreements")
    yield from draw_disagreements(agreement)
    yield "</section>\n"
    yield _heading("settings", "Settings")
    yield f"<p><code>{safe_text(agreement.signature)}</code></p>\n</section>\n"
    yield "</main>\n</body>\n</html>\n"


def _heading(anchor: str, name: str) -> str:
    heading = f'<h2 id="{anchor}-heading">{name}</h2>\n'
    return f'<section id="{anchor}" aria-labelledby="{anchor}-heading">\n{heading}'


def _cautions(agreement: JudgmentAgreement) -> Iterator[str]:
    if not agreement.cautions:
        return
    yield '<div class="cautions" role="region" aria-labelledby="cautions">\n'
    yield f'<h2 id="cautions">{CARE}</h2>\n<ul>\n'
    for caution in agreement.cautions:
        whom = "; ".join(caution.pairings)
        about = f'<bdi class="who">{safe_text(whom)}</bdi>: ' if whom else ""
        instead = f'<span class="instead">{safe_text(caution.instead)}</span>'
        yield f"<li>{about}{safe_text(caution.says)}: {instead}</li>\n"
    yield "</ul>\n</div>\n"
