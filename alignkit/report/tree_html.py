"""Draw sentence pairs with their trees on an HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from alignkit.arguments import check_arguments
from alignkit.report.characters import isolated_text, safe_text
from alignkit.report.html_pages import PageContent, draw_page
from alignkit.report.tree_pair import TreePair, make_tree_pair
from alignkit.report.tree_svg import legend_entries, pair_image
from alignkit.sentence_pair import SentencePair


def draw_tree_html(
    pairs: Iterable[SentencePair],
    annotator: str | None = None,
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
    title: str = "Trees",
) -> Iterator[str]:
    """Draw sentence pairs with their trees, as `draw_tree_svg` does, on one self-contained page.

    The page needs neither network nor script and follows the reader's choice of light or dark.

    Parameters
    ----------
    pairs
        The sentence pairs, with words and trees, walked twice; an iterator is kept as a tuple.
    annotator, links, source_tree, target_tree
        As of `draw_tree_text`.
    title
        The heading.

    Yields
    ------
    str
        The page in pieces of one sentence pair at most, to be written in UTF-8.

    Raises
    ------
    MissingTextError, OptionError, UnknownNameError
        As of `draw_tree_text`.
    """
    check_arguments(draw_tree_html, locals())
    kept = tuple(pairs) if iter(pairs) is pairs else pairs
    content = tree_content(annotator, links=links, source_tree=source_tree, target_tree=target_tree)
    yield from draw_page(kept, content, title=title)


def tree_content(
    annotator: str | None,
    *,
    links: str = "sure",
    source_tree: str | None = None,
    target_tree: str | None = None,
) -> PageContent:
    """Return what stands on pages of trees; arguments as of `draw_tree_html`."""

    def shown(pairs: Iterable[SentencePair]) -> Iterator[TreePair]:
        for pair in pairs:
            yield make_tree_pair(
                pair, annotator, links=links, source_tree=source_tree, target_tree=target_tree
            )

    return PageContent(
        lambda pairs: _totals(shown(pairs)), lambda pairs: map(_article, shown(pairs)), tree_style()
    )


@cache
def tree_style() -> str:
    """Return the style sheet of trees in a page."""
    from importlib.resources import files  # takes 10 ms

    return files("alignkit.report").joinpath("trees.css").read_text(encoding="utf-8")


def _totals(shown: Iterable[TreePair]) -> str:
    pairs = both = sure = possible = matched = 0
    for drawing in shown:
        pairs += 1
        both += None not in drawing.trees
        more = drawing.counts()
        sure, possible = sure + more[0], possible + more[1]
        matched += len(drawing.matched)
    word = "sentence pair" if pairs == 1 else "sentence pairs"
    return (
        f'<p class="facts">{pairs:,} {word}, {both:,} with both trees; {sure:,} sure and '
        f"{possible:,} possible links; {matched:,} pairs of matched nodes, which have the same "
        "number and colour on both sides</p>\n"
    )


def _article(shown: TreePair) -> str:
    parts = [f"<article>\n<h2>{isolated_text(shown.id)}</h2>\n"]
    for side, words in enumerate(shown.words):
        note = "" if shown.trees[side] is not None else ' <span class="empty-word">(no tree)</span>'
        parts.append(f'<p class="sentence" dir="auto">{safe_text(" ".join(words))}{note}</p>\n')
    if shown.annotator:
        sure, possible = shown.counts()
        name = isolated_text(shown.annotator)
        parts.append(f'<p class="facts">{name}: {sure} sure, {possible} possible</p>\n')
    name = safe_text(f"trees of pair {shown.id}")
    parts.append(
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">\n'
        f"{pair_image(shown)}</div>\n"
    )
    items = []
    for said, broken in legend_entries(shown):
        kind = {None: "", True: '<span class="line broken"></span>'}.get(
            broken, '<span class="line"></span>'
        )
        items.append(f"<li>{kind}{safe_text(said)}</li>")
    if items:
        parts.append(f'<ul class="legend">{"".join(items)}</ul>\n')
    return "".join([*parts, "</article>\n"])
