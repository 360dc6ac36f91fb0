"""Test the drawings of two trees: right, safe, complete, and of any depth."""

import re
import unicodedata
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html
from refusals import refuses
from strategies import tree_of

from alignkit import Alignment, SentencePair, Tree
from alignkit.errors import MissingTextError, OptionError, UnknownNameError
from alignkit.rules import draw_tree_html, draw_tree_svg, draw_tree_text
from alignkit.rules.drawings.outline import (
    TreePair,
    children,
    lay_out,
    make_tree_pair,
    outline_tree,
)
from alignkit.rules.drawings.svg import pair_image, standalone_image
from alignkit.rules.drawings.text import pair_text
from alignkit.tables.text_width import char_width

SVG = {"s": "http://www.w3.org/2000/svg"}
SOURCE = Tree.parse("(S (NP (DT the) (NN car)) (ADVP (RB also)) (VP (VBD stopped)))")
TARGET = Tree.parse("(S (ADVP (RB Moreover)) (, ,) (NP (DT the) (NN car)) (VP (VBD stopped)))")
LINKS = Alignment.parse("0-2 1-3 2-0 3-4 2?1")
PAIR = SentencePair("p1", SOURCE.words, TARGET.words, {"gold": LINKS})
PAIR = PAIR.with_trees("parsed", source=SOURCE, target=TARGET)
DEEP = Tree.parse("(A (B y) " * 2500 + "(A x)" + ")" * 2500)

SIGNS = st.sampled_from("ab<&\"' ()\x00\x07\n\x1b\x85\u200b\u202e\u2028\ufeff\udc80\u0301漢א]")
ODD = st.text(SIGNS, min_size=1, max_size=5)
LABELS = st.sampled_from(["S", "NP", "a-long-label", ","])


def shapes(labels=LABELS):
    return st.lists(ODD, max_size=8).flatmap(lambda words: tree_of(words, labels))


def drawn(tree_pair):
    return etree.fromstring(standalone_image(tree_pair).encode())


def texts(root, kind):
    return root.xpath(f"//s:text[@class='{kind}']/text()", namespaces=SVG)


@given(shapes())
def test_an_outline_is_the_tree(tree):
    outline = outline_tree(tree)
    below = children(outline)
    assert [item.text for item in outline if item.kind == "word"] == list(tree.words)
    place = {item.place: k for k, item in enumerate(outline) if item.kind == "node"}
    assert len(place) == len(tree.labels)
    for u, k in place.items():
        assert outline[k].text == tree.labels[u]
        assert [
            (item.place, None) if item.kind == "node" else (None, item.place)
            for item in (outline[c] for c in below[k])
        ] == [tuple(child) for child in tree.children(u)]


@given(shapes())
def test_no_label_overlaps_another_and_no_line_crosses_one(tree):
    outline = outline_tree(tree)
    layout = lay_out(outline, lambda item: 7 * len(item.text), 3)
    boxes = [
        (level, x - 3.5 * len(item.text), x + 3.5 * len(item.text))
        for item, x, level in zip(outline, layout.middles, layout.levels, strict=True)
    ]
    for (level, left, right), (other, begin, end) in combinations(boxes, 2):
        assert level != other or right < begin or end < left
    assert all(left >= 0 and right <= layout.width for _, left, right in boxes)
    for k, item in enumerate(outline):
        parent = item.parent
        if parent >= 0:  # the line goes straight up from an item to the bar of its parent
            assert layout.levels[k] < layout.levels[parent]
            x = layout.middles[k]
            assert not any(
                layout.levels[k] < level < layout.levels[parent] and left <= x <= right
                for level, left, right in boxes
            )


def test_every_link_is_a_line_between_its_words():
    root = etree.fromstring(draw_tree_svg(PAIR).encode())
    said = {line[0].text: line for line in root.xpath("//s:path[s:title]", namespaces=SVG)}
    assert sorted(said) == [
        "also ~ ,: possible",
        "also ~ Moreover: sure",
        "car ~ car: sure",
        "stopped ~ stopped: sure",
        "the ~ the: sure",
    ]
    broken = [text for text, line in said.items() if line.get("stroke-dasharray")]
    assert broken == ["also ~ ,: possible"]
    places = {}
    for text in root.xpath("//s:text[@class='ak-ink' and @text-anchor]", namespaces=SVG):
        places.setdefault("".join(text.itertext()), []).append((text.get("x"), text.get("y")))
    x, y, end, foot = re.findall(r"[\d.]+", said["also ~ Moreover: sure"].get("d"))
    ((above, line),) = places["also"]
    ((below, other),) = places["Moreover"]
    assert (x, end) == (above, below)
    assert float(line) < float(y) < float(foot) < float(other)


def test_matched_nodes_have_the_same_number_and_colour_on_both_sides():
    shown = make_tree_pair(PAIR)
    root = drawn(shown)
    found = {}
    for text in root.xpath("//s:text[s:tspan]", namespaces=SVG):
        number = text.xpath("string(s:tspan)", namespaces=SVG)
        found.setdefault(number, []).append((text.xpath("text()")[0], text.get("class")))
    assert [len(one) for one in found.values()] == [2] * len(shown.matched)
    for (u, v), (first, second) in zip(shown.matched, found.values(), strict=True):
        assert (first[0], second[0]) == (SOURCE.labels[u], TARGET.labels[v])
        assert first[1] == second[1]
    assert texts(root, "ak-soft") == [","]  # the comma's own node; its word has a link
    sure, possible = make_tree_pair(PAIR), make_tree_pair(PAIR, links="possible")
    assert len(sure.matched) == 8
    assert len(possible.matched) == 6  # the adverb's links lead to two nodes
    assert [len(one.alignment) for one in (sure, possible)] == [5, 5]


def test_a_side_without_a_tree_is_a_row_of_words():
    pair = PAIR.without_trees().with_trees("parsed", source=SOURCE)
    root = etree.fromstring(draw_tree_svg(pair).encode())
    assert not root.xpath("//s:tspan", namespaces=SVG)
    assert len(root.xpath("//s:text[@class='ak-ink' and @text-anchor]", namespaces=SVG)) == 4 + 5
    assert "target (no tree)\n  0  Moreover" in draw_tree_text(pair)
    bare = draw_tree_text(SentencePair("1", ["a"], []))
    assert bare == "1\n\nsource (no tree)\n  0  a\n\ntarget (no tree)"
    assert '<span class="empty-word">(no tree)</span>' in "".join(draw_tree_html([pair]))


def test_what_is_not_known_or_not_named_is_an_error():
    other = PAIR.with_trees("other", source=SOURCE)
    for pair, options, kind, told in (
        (PAIR.with_annotation("ben", LINKS), {}, OptionError, "gold, ben; name one"),
        (PAIR, {"annotator": "anna"}, UnknownNameError, "anna"),
        (PAIR, {"links": "all"}, UnknownNameError, "links"),
        (other, {}, OptionError, "source trees"),
        (SentencePair("1", None, None), {}, MissingTextError, "words"),
    ):
        refuses(kind, told, draw_tree_svg, pair, **options)
    assert "S[1]" in draw_tree_text(other, source_tree="other", target_tree="parsed")


def test_text_fits_a_terminal_and_colour_changes_nothing_else():
    drawing = draw_tree_text(PAIR, width=40)
    assert max(map(char_width, drawing.splitlines())) <= 40
    wide = draw_tree_text(PAIR)
    assert re.search(r"2  ├─ ADVP\[5\] ─ RB\[6\] ─ also +■ 0 Moreover  □ 1 ,\n", wide)
    assert re.findall(r"[■□] \d \S+", drawing) == re.findall(r"[■□] \d \S+", wide)
    coloured = draw_tree_text(PAIR, colour=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == draw_tree_text(PAIR)
    assert draw_tree_text(PAIR, ascii=True).isascii()


@given(shapes(labels=ODD), shapes(labels=ODD), st.none() | st.integers(1, 60))
def test_nothing_in_a_pair_acts(source, target, width):
    links = [(i, j) for i in range(len(source.words)) for j in range(len(target.words))][:3]
    shown = TreePair(
        "x\x1b",
        (source.words, target.words),
        (source, target),
        "<b>",
        Alignment(links[:2], links),
        "sure",
        [(0, 0)],
    )
    for unicode in (True, False):
        text = pair_text(shown, width=width, unicode=unicode)
        for char in text.replace("\n", ""):
            kind = unicodedata.category(char)
            assert char in "\u200c\u200d\u200e" or kind not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert all(line == line.rstrip() for line in text.splitlines())
    root = drawn(shown)  # well-formed, whatever the words are
    allowed = {"svg", "title", "desc", "style", "rect", "path", "text", "tspan"}
    assert {etree.QName(one).localname for one in root.iter()} <= allowed
    assert len(root.xpath("//s:path[s:title]", namespaces=SVG)) == len(links)
    assert not html.fromstring(f"<main>{pair_image(shown)}</main>").xpath("//b | //script")


def test_a_page_tells_and_draws_all_pairs():
    hostile = Tree.parse("(S (NP word))").with_words(["<script>alert(1)</script>"])
    other = SentencePair("<p2>", hostile.words, TARGET.words, {"gold": Alignment()})
    pairs = [PAIR, other.with_trees("parsed", source=hostile)]
    page = html.fromstring("".join(draw_tree_html(iter(pairs), title="Trees & links")))
    assert page.findtext(".//h1") == "Trees & links"
    assert page.xpath("//header/p/text()")[0].startswith(
        "2 sentence pairs, 1 with both trees; 4 sure and 1 possible links; 8 pairs of matched nodes"
    )
    assert [one.text_content() for one in page.xpath("//h2")] == ["p1", "<p2>"]
    assert not page.xpath("//script")
    assert page.xpath("//svg[@role='img']/title/text()") == [
        "trees of pair p1: gold",
        "trees of pair <p2>: gold",
    ]


def test_a_tree_of_any_depth_is_drawn_whole():
    shown = TreePair("d", (DEEP.words, TARGET.words), (DEEP, TARGET), matched=[(0, 0)])
    root = etree.fromstring(standalone_image(shown).encode(), etree.XMLParser(huge_tree=True))
    labels = root.xpath("count(//s:text[@text-anchor])", namespaces=SVG)
    assert labels == len(DEEP.labels) + len(DEEP.words) + len(TARGET.labels) + len(TARGET.words)
    text = pair_text(shown, width=80)
    assert len(text) < 100 * len(text.splitlines())  # no indent grows with the depth
    assert text.count("─ y\n") == 2500
    assert "+N: N levels further in" in text
