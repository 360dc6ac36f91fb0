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
    """Draw sentence pairs with their trees on one page that needs neither network nor script.

    The drawings are those of `draw_tree_svg`. The page follows the reader's choice of light or
    dark.

    Parameters
    ----------
    pairs
        The sentence pairs, with words and trees. They are walked twice, for the counts at the top
        and for the drawings; an iterator is kept as a tuple for that.
    annotator
        Whose links to draw; None for the only one who aligned a pair.
    links
        The links by which nodes are matched: ``"sure"``, or ``"possible"`` for all.
    source_tree, target_tree
        The names of the trees to draw; None for the only one of that side.
    title
        The heading.

    Yields
    ------
    str
        The page in pieces of one sentence pair at most, to be written in UTF-8.

    Raises
    ------
    MissingTextError
        If the words are not known.
    OptionError
        If there are several annotators or trees, and none is named.
    UnknownNameError
        If there is no annotator, tree or kind of links of that name.
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
        lambda pairs: _totals(shown(pairs)), lambda pairs: _articles(shown(pairs)), tree_style()
    )


@cache
def tree_style() -> str:
    """Return the style sheet of trees in a page."""
    from importlib.resources import files  # takes 10 ms

    return files("alignkit.report").joinpath("trees.css").read_text(encoding="utf-8")


def _totals(shown: Iterable[TreePair]) -> str:
    pairs = both = sure = possible = matched = 0
    for one in shown:
        pairs += 1
        both += None not in one.trees
        counts = one.counts()
        sure, possible = sure + counts[0], possible + counts[1]
        matched += len(one.matched)
    word = "sentence pair" if pairs == 1 else "sentence pairs"
    return (
        f'<p class="facts">{pairs:,} {word}, {both:,} with both trees; {sure:,} sure and '
        f"{possible:,} possible links; {matched:,} pairs of matched nodes, which have the same "
        "number and colour on both sides</p>\n"
    )


def _articles(shown: Iterable[TreePair]) -> Iterator[str]:
    for one in shown:
        yield f"<article>\n<h2>{isolated_text(one.id)}</h2>\n{_figure(one)}</article>\n"


def _figure(shown: TreePair) -> str:
    parts = []
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
    return "".join(parts)
