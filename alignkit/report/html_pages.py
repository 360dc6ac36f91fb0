"""Draw many sentence pairs on several HTML pages that lead to each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePath
from urllib.parse import quote

from alignkit.report.characters import isolated_text
from alignkit.report.html import draw_articles, draw_totals, start_page
from alignkit.sentence_pair import SentencePair


def page_path(path: str, number: int) -> str:
    """Return where a page is, when the first is at a path."""
    first = PurePath(path)
    if number == 1:
        return path
    return str(first.with_name(f"{first.stem}-page-{number}{first.suffix}"))


def draw_html_pages(
    pairs: Collection[SentencePair],
    annotators: Iterable[str] | None = None,
    *,
    title: str,
    path: str,
    pairs_a_page: int,
) -> Iterator[tuple[str, Iterator[str]]]:
    """Draw sentence pairs, so many a page; the first page counts them all."""
    if annotators is None:
        annotators = (name for pair in pairs for name in pair.annotations)
    names = tuple(dict.fromkeys(annotators))
    content = PageContent(
        lambda some: draw_totals(some, names), lambda some: draw_articles(some, names)
    )
    return draw_pages(pairs, content, title=title, path=path, pairs_a_page=pairs_a_page)


@dataclass(frozen=True)
class PageContent:
    """Return what stands on a page of sentence pairs."""

    totals: Callable[[Iterable[SentencePair]], str]
    articles: Callable[[Iterable[SentencePair]], Iterator[str]]  # draws sentence pairs
    style: str = ""  # further style rules


def draw_pages(
    pairs: Collection[SentencePair],
    content: PageContent,
    *,
    title: str,
    path: str,
    pairs_a_page: int,
) -> Iterator[tuple[str, Iterator[str]]]:
    """Draw sentence pairs on pages, as `draw_html_pages` does, whatever is shown of them."""
    if len(pairs) <= pairs_a_page:
        yield path, draw_page(pairs, content, title=title)
        return
    ends = _survey(pairs, pairs_a_page)
    paths = [page_path(path, number) for number in range(1, len(ends) + 1)]
    rest = iter(pairs)
    for number, here in enumerate(paths, 1):
        said = f"{title}, page {number} of {len(paths)}"
        start = start_page(said, content.style) + (content.totals(pairs) if number == 1 else "")
        drawn = content.articles(islice(rest, pairs_a_page))
        yield here, _page(start, number, paths, ends, drawn)


def draw_page(pairs: Iterable[SentencePair], content: PageContent, *, title: str) -> Iterator[str]:
    """Draw sentence pairs on one page; they are walked twice."""
    yield start_page(title, content.style)
    yield content.totals(pairs)
    yield "</header>\n<main>\n"
    yield from content.articles(pairs)
    yield "</main>\n</body>\n</html>\n"


def _survey(pairs: Collection[SentencePair], pairs_a_page: int) -> list[tuple[str, str]]:
    """Return the first and last id of each page."""
    ends: list[tuple[str, str]] = []
    for place, pair in enumerate(pairs):
        if place % pairs_a_page:
            ends[-1] = ends[-1][0], pair.id
        else:
            ends.append((pair.id, pair.id))
    return ends


def _page(
    start: str,
    number: int,
    paths: Sequence[str],
    ends: Sequence[tuple[str, str]],
    drawn: Iterator[str],
) -> Iterator[str]:
    steps = _steps(number, paths)
    spans = [f"{isolated_text(first)} to {isolated_text(last)}" for first, last in ends]
    places = "".join(
        f"<li>{_link(there, span, there == paths[number - 1])}</li>"
        for there, span in zip(paths, spans, strict=True)
    )
    yield start
    yield f'<nav aria-label="pages">{steps}\n<details><summary>all {len(paths)} pages, by the '
    yield f"ids of their pairs</summary><ol>{places}</ol></details></nav>\n</header>\n<main>\n"
    yield from drawn
    yield f'</main>\n<nav aria-label="pages, again">{steps}</nav>\n</body>\n</html>\n'


def _steps(number: int, paths: Sequence[str]) -> str:
    wanted = {"first": 1, "previous": number - 1, "next": number + 1, "last": len(paths)}
    links = [
        _link(paths[place - 1], name)
        for name, place in wanted.items()
        if 1 <= place <= len(paths) and place != number
    ]
    return f"<strong>page {number} of {len(paths)}</strong> {' '.join(links)}"


def _link(path: str, text: str, here: bool = False) -> str:
    current = ' aria-current="page"' if here else ""
    return f'<a href="./{quote(PurePath(path).name)}"{current}>{text}</a>'
