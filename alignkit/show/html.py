"""Draw sentence pairs as matrices in HTML: a whole page, or a fragment for a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from itertools import chain, islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from alignkit._support.arguments import check_arguments
from alignkit._support.wording import how_many, visible
from alignkit.model.alignment import NULL, Link
from alignkit.model.sentence_pair import SentencePair
from alignkit.show.cells import EMPTY_WORD, CellMark, Grid, legend, make_grid, tally
from alignkit.tables.media import style_sheet
from alignkit.tables.text_width import is_wide, isolated_text, safe_text

if TYPE_CHECKING:
    from jinja2 import Template

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def draw_html(
    pairs: Iterable[SentencePair],
    annotators: Iterable[str] | None = None,
    *,
    title: str = "Alignments",
) -> Iterator[str]:
    """Draw sentence pairs on one page that needs neither network nor script.

    Rows are source words, columns are target words. Marks differ in shape or letter as well as in
    colour. The page follows the reader's choice of light or dark. It is yielded in pieces of at
    most one sentence pair; write them in UTF-8.

    Parameters
    ----------
    pairs : The sentence pairs. They are iterated twice, for the counts at the top and for the
        drawings; an iterator is first stored in a tuple.
    annotators : The annotators to draw; None for all in the pairs.
    title : The heading.

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> pair = SentencePair("1", ("they",), ("they",), {"gold": Alignment.parse("0-0")})
    >>> page = "".join(draw_html([pair], title="One <pair>"))
    >>> page[:15], "<h1>One &lt;pair&gt;</h1>" in page
    ('<!DOCTYPE html>', True)
    >>> 'title="they ~ they: sure (gold)"' in page
    True
    """
    check_arguments(draw_html, locals())
    kept = tuple(pairs) if iter(pairs) is pairs else pairs
    yield from draw_page(kept, matrices(kept, annotators), title=title)


def draw_html_fragment(pair: SentencePair, annotators: Iterable[str] | None = None) -> str:
    """Draw one sentence pair as a ``div`` with its own style, for example for a notebook.

    Parameters
    ----------
    pair : The sentence pair.
    annotators : The annotators to draw; None for all.

    Examples
    --------
    >>> from alignkit import Alignment, SentencePair
    >>> pair = SentencePair("1", ["rain"], ["showers"], {"gold": Alignment.parse("0-0")})
    >>> draw_html_fragment(pair).count("showers") > 0
    True
    """
    check_arguments(draw_html_fragment, locals())
    grid = make_grid(pair, annotators)
    heading = f"<p><strong>{isolated_text(pair.id)}</strong></p>"
    style = style_sheet("matrix")
    return f'<div class="alignkit"><style>{style}</style>{heading}\n{draw_figure(grid)}</div>'


def start_page(title: str, style: str = "", policy: str = "") -> str:
    """Return the start of a page up to its heading; `policy` may allow a script in the page."""
    style = style_sheet("matrix") + style_sheet("drawings") + style
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{safe_text(title)}</title>\n<style>{style}</style>\n"
        f'</head>\n<body class="alignkit">\n<header>\n<h1>{safe_text(title)}</h1>\n'
    )


def _totals(names: Sequence[str], pairs: Iterable[SentencePair]) -> str:
    """Draw the top of a page: the numbers of pairs and links, and the legend."""
    count_of_pairs = 0
    heads = ("pairs", "sure", "possible", "nulls")
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    cells, nulls = tally(())
    for pair in pairs:
        count_of_pairs += 1
        grid = make_grid(pair, names)
        for k, name in enumerate(grid.annotators):
            sure, possible = grid.counts(k)
            nulls_of_name = len(grid.alignments[k].nulls)
            counts[name].update(pairs=1, sure=sure, possible=possible, nulls=nulls_of_name)
        more_cells, more_nulls = tally([grid])
        cells += more_cells
        nulls += more_nulls
    body = ""
    for name, of_name in counts.items():
        numbers = "".join(f"<td>{of_name[head]}" for head in heads)
        body += f"<tr><th scope=row>{isolated_text(name)}{numbers}\n"
    table = ""
    if body:
        head = "".join(f"<th scope=col>{text}" for text in ("annotator", *heads))
        table = f'<table class="totals"><thead><tr>{head}<tbody>\n{body}</table>'
    facts = (
        f"{how_many(count_of_pairs, 'sentence pair')}; rows are source words, columns target words"
    )
    table = f'<div class="scroll">{table}</div>'
    return f'<p class="facts">{facts}</p>\n{table}\n{_legend(cells, nulls)}'


def _legend(cells: Counter[CellMark], nulls: int) -> str:
    """Draw the legend of the marks that are used; nothing without any."""
    items = ""
    for mark, text in legend(cells, nulls):
        items += f"<li>{_sign(mark)} {safe_text(text)}" if mark else f"<li>{text}"
    return f'<ul class="legend">{items}</ul>\n' if items else ""


def draw_figure(grid: Grid) -> str:
    """Draw a grid as HTML: sentences, numbers of links, matrix, legend and remarks."""
    parts = []
    facts = [f"{isolated_text(x)}: {isolated_text(text)}" for x, text in grid.attributes.items()]
    if facts:
        parts.append(f'<p class="facts">{" · ".join(facts)}</p>\n')
    if grid.has_source:
        parts.append(_sentence(grid.rows))
    if grid.has_target:
        parts.append(_sentence(grid.columns))
    who = " · ".join(grid.who(isolated_text))
    parts += [f'<p class="facts">{who}</p>\n', _matrix(grid), _legend(*tally([grid]))]
    remarks = ""
    for name, kind, text in grid.remarks():
        lines = "\n".join(map(safe_text, text.splitlines()))
        remarks += f'<dt>{isolated_text(name)}, {kind}<dd dir="auto">{lines}\n'
    if remarks:
        parts.append(f"<dl>{remarks}</dl>\n")
    return "".join(parts)


def _sentence(words: Sequence[str]) -> str:
    """Draw a sentence as a line of text."""
    return f'<p class="sentence" dir="auto">{safe_text(" ".join(words))}</p>\n'


def _matrix(grid: Grid) -> str:
    """Draw the matrix of a grid: a row for each source word, a column for each target word."""
    rows, columns = grid.places
    name = safe_text(f"alignment matrix of pair {grid.id}")
    lines = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        f'<table class="matrix" aria-label="{name}"><thead><tr><td>'
    ]
    lines += [f"<th scope=col>{_word(grid.columns, j, column=True)}" for j in columns]
    lines.append("<tbody>\n")
    for i in rows:
        cells = ""
        for j in columns:
            link = Link(i, j)
            mark = grid.mark(link)
            cells += "<td>"
            if mark:
                cells += _sign(mark, grid.describe(link))
        lines.append(f"<tr><th scope=row>{_word(grid.rows, i)}{cells}\n")
    lines.append("</table></div>\n")
    return "".join(lines)


def _word(words: Sequence[str], index: int, *, column: bool = False) -> str:
    """Draw a word at the edge of a matrix, with its number as a title."""
    is_null = index == NULL
    if is_null:
        word = EMPTY_WORD
        title = "aligned to nothing"
    else:
        word = words[index]
        title = f"{index}: {word}"
    names = []
    if column and (is_null or is_wide(word)):
        names.append("upright")
    if is_null:
        names.append("empty-word")
    look = f' class="{" ".join(names)}"' if names else ""
    return f'<bdi{look} title="{safe_text(title)}">{safe_text(word)}</bdi>'


def _sign(mark: CellMark, title: str = "") -> str:
    """Draw a mark; without a title only for the eye, next to a text that says the same."""
    if title:
        role = f' role="img" title="{safe_text(title)}"'
    else:
        role = ' aria-hidden="true"'
    return f'<b class="{mark.kind}"{role}>{mark.sign}</b>'


@cache
def page_template(name: str, **functions: Callable[..., Any]) -> Template:
    """Load a template of this package."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        """Escape hidden characters of a text; keep markup."""
        if isinstance(value, Markup):
            return value
        return visible(str(value))

    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=shown)
    environment.filters["markup"] = Markup
    environment.filters["table"] = lambda table: Markup(table.show("html"))
    environment.filters.update(functions)
    environment.globals.update(functions)
    text = files("alignkit.show").joinpath(name).read_text(encoding="utf-8")
    return environment.from_string(text)


@dataclass(frozen=True)
class PageContent:
    """The parts of a page of sentence pairs."""

    totals: Callable[[Iterable[SentencePair]], str]
    articles: Callable[[Iterable[SentencePair]], Iterator[str]]  # draws sentence pairs
    style: str = ""  # further style rules


def matrices(every: Iterable[SentencePair], annotators: Iterable[str] | None) -> PageContent:
    """Return the content of pages of matrices; `every` are the pairs of all pages."""
    if annotators is None:
        annotators = chain.from_iterable(pair.annotations for pair in every)
    names = tuple(dict.fromkeys(annotators))

    def articles(pairs: Iterable[SentencePair]) -> Iterator[str]:
        for pair in pairs:
            figure = draw_figure(make_grid(pair, names))
            yield f"<article>\n<h2>{isolated_text(pair.id)}</h2>\n{figure}</article>\n"

    return PageContent(partial(_totals, names), articles)


def draw_pages(
    pairs: Collection[SentencePair],
    content: PageContent,
    *,
    title: str,
    path: str,
    pairs_a_page: int,
) -> Iterator[tuple[str, Iterator[str]]]:
    """Draw sentence pairs on several pages; the first page has the counts of all."""
    if len(pairs) <= pairs_a_page:
        yield path, draw_page(pairs, content, title=title)
        return
    ids = [pair.id for pair in pairs]
    first = PurePath(path)
    paths: list[str] = []
    ends: list[tuple[str, str]] = []  # the first and the last id on each page
    for start in range(0, len(ids), pairs_a_page):
        ids_of_page = ids[start : start + pairs_a_page]
        ends.append((ids_of_page[0], ids_of_page[-1]))
        if not paths:
            paths.append(path)
        else:
            name = f"{first.stem}-page-{len(paths) + 1}{first.suffix}"
            paths.append(str(first.with_name(name)))
    rest = iter(pairs)
    for number, path_of_page in enumerate(paths, 1):
        top = start_page(f"{title}, page {number} of {len(paths)}", content.style)
        if number == 1:
            top += content.totals(pairs)
        drawn = content.articles(islice(rest, pairs_a_page))
        yield path_of_page, _page(top, number, paths, ends, drawn)


def draw_page(pairs: Iterable[SentencePair], content: PageContent, *, title: str) -> Iterator[str]:
    """Draw sentence pairs on one page; they are iterated twice."""
    yield start_page(title, content.style)
    yield content.totals(pairs)
    yield "</header>\n<main>\n"
    yield from content.articles(pairs)
    yield "</main>\n</body>\n</html>\n"


def _page(
    start: str,
    number: int,
    paths: Sequence[str],
    ends: Sequence[tuple[str, str]],
    drawn: Iterator[str],
) -> Iterator[str]:
    """Yield a page of several, with links to the others above and below the pairs."""
    links = []
    if number > 1:
        links.append(_link(paths[0], "first"))
        links.append(_link(paths[number - 2], "previous"))
    if number < len(paths):
        links.append(_link(paths[number], "next"))
        links.append(_link(paths[-1], "last"))
    steps = f"<strong>page {number} of {len(paths)}</strong> {' '.join(links)}"
    places = ""
    for k, (path, (first, last)) in enumerate(zip(paths, ends, strict=True), 1):
        span = f"{isolated_text(first)} to {isolated_text(last)}"
        places += f"<li>{_link(path, span, here=k == number)}</li>"
    yield start
    yield f'<nav aria-label="pages">{steps}\n<details><summary>all {len(paths)} pages, by the '
    yield f"ids of their pairs</summary><ol>{places}</ol></details></nav>\n</header>\n<main>\n"
    yield from drawn
    yield f'</main>\n<nav aria-label="pages, again">{steps}</nav>\n</body>\n</html>\n'


def _link(path: str, text: str, *, here: bool = False) -> str:
    """Draw a link to a page in the same folder; `here` is the page itself."""
    current = ' aria-current="page"' if here else ""
    return f'<a href="./{quote(PurePath(path).name)}"{current}>{text}</a>'
