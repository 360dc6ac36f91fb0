"""Draw many sentence pairs on several HTML pages that lead to each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import PurePath
from urllib.parse import quote

from alignkit.corpus import SentencePair
from alignkit.report.characters import isolated_text
from alignkit.report.html import draw_articles, draw_html, draw_totals, start_page

__all__ = ["draw_html_pages", "page_path"]


def page_path(path: str, number: int) -> str:
    """Return where a page is, when the first is at a path.

    Examples
    --------
    >>> page_path("out/gold.html", 1), page_path("out/gold.html", 2)
    ('out/gold.html', 'out/gold-page-2.html')
    """
    first = PurePath(path)
    if number == 1:
        return path
    return str(first.with_name(f"{first.stem}-page-{number}{first.suffix}"))


def draw_html_pages(
    pairs: Collection[SentencePair],
    annotators: Sequence[str] | None = None,
    *,
    title: str,
    path: str,
    pairs_a_page: int,
) -> Iterator[tuple[str, Iterator[str]]]:
    """Draw sentence pairs, so many a page; the first page counts them all.

    Parameters
    ----------
    pairs
        The sentence pairs. They are walked several times, and never held.
    annotators
        Whose annotations to draw; None for all that any of the pairs has.
    title
        The heading.
    path
        Where the first page goes; see `page_path`.
    pairs_a_page
        1 or more.

    Yields
    ------
    tuple
        The path of a page and its pieces, which are to be written before the next page is asked
        for.
    """
    if len(pairs) <= pairs_a_page:
        yield path, draw_html(pairs, annotators, title=title)
        return
    ends, names = _survey(pairs, pairs_a_page)
    if annotators is not None:
        names = tuple(dict.fromkeys(annotators))
    paths = [page_path(path, number) for number in range(1, len(ends) + 1)]
    rest = iter(pairs)
    for number, here in enumerate(paths, 1):
        said = f"{title}, page {number} of {len(paths)}"
        totals = draw_totals(pairs, names) if number == 1 else ""
        drawn = draw_articles(islice(rest, pairs_a_page), names)
        yield here, _page(said, totals, number, paths, ends, drawn)


def _survey(
    pairs: Collection[SentencePair], pairs_a_page: int
) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the first and last id of each page, and all who annotated."""
    ends: list[tuple[str, str]] = []
    names: dict[str, None] = {}
    for place, pair in enumerate(pairs):
        names.update(dict.fromkeys(pair.annotations))
        if place % pairs_a_page:
            ends[-1] = ends[-1][0], pair.id
        else:
            ends.append((pair.id, pair.id))
    return ends, tuple(names)


def _page(
    title: str,
    totals: str,
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
    yield start_page(title)
    yield totals
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
