"""Test the drawings in HTML and SVG: right, safe and complete in themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from alignkit import Alignment, Annotation, Corpus, SentencePair
from alignkit._support.wording import visible
from alignkit.show import draw_html, draw_html_fragment, draw_svg

SVG = "{http://www.w3.org/2000/svg}"
ANNA = Annotation(Alignment.parse("0-0 1-1 1?2"), "first\nsecond")
BOTH = {"anna": ANNA, "ben": Alignment.parse("0?0 1-1 -2")}
PAIR = SentencePair("p1", ("they", "left"), ("they", "went", "away"), BOTH, {"genre": "news"})
HEBREW = SentencePair("h", ("ספר", "בגן"), ("a", "book"), {"anna": Alignment.parse("0-0 0-1")})


def page(*pairs, **options):
    return html.fromstring("".join(draw_html(pairs, **options)))


def titles(tree, path):
    return [mark.get("title") for mark in tree.xpath(path)]


def test_every_link_is_a_cell_below_the_headers_of_its_words():
    tree = page(PAIR)
    assert titles(tree, "//table[@class='matrix']//b") == [
        "they ~ they: sure (anna), possible (ben)",
        "left ~ went: sure (anna), sure (ben)",
        "left ~ away: possible (anna)",
        "∅ ~ away: sure (ben)",
    ]
    kinds = [mark.get("class") for mark in tree.xpath("//table[@class='matrix']//b")]
    assert kinds == ["first-surer", "sure", "first-possible", "second-sure"]
    assert tree.xpath("//table[@class='matrix']//th[@scope='col']/bdi/text()") == list(PAIR.target)
    rows = tree.xpath("//table[@class='matrix']//th[@scope='row']/bdi/text()")
    assert [row.strip() for row in rows] == [*PAIR.source, "∅"]
    for row in tree.xpath("//table[@class='matrix']/tbody/tr"):
        assert len(row.xpath("td")) == 3
    rows = page(PAIR, annotators=["anna"]).xpath("//table[@class='matrix']/tbody/tr")
    assert [
        (i, j) for i, row in enumerate(rows) for j, cell in enumerate(row.xpath("td")) if len(cell)
    ] == [(0, 0), (1, 1), (1, 2)]


def test_the_head_counts_and_attributes_and_absence_are_shown():
    tree = page(PAIR, HEBREW, title="Two")
    rows = tree.xpath("//table[@class='totals']/tbody/tr")
    cells = [[text.strip() for text in row.itertext() if text.strip()] for row in rows]
    assert cells == [["anna", "2", "4", "1", "0"], ["ben", "1", "1", "1", "1"]]
    assert "2 sentence pairs" in tree.xpath("string(//header)")
    assert tree.xpath("string(//h1)") == "Two" == tree.xpath("string(//title)")
    text = page(PAIR, HEBREW).text_content()
    for shown in ("genre: news", "first\nsecond", "ben: not annotated", "only anna, possible (1)"):
        assert shown in text


def test_an_iterator_gives_the_same_page_in_pieces():
    pieces = list(draw_html(iter([PAIR, HEBREW])))
    assert (pieces, len(pieces)) == (list(draw_html(Corpus([PAIR, HEBREW]))), 6)


def test_text_gets_its_direction():
    tree = page(HEBREW)
    assert tree.xpath("//p[@dir='auto']/text()")[0] == "ספר בגן"
    assert tree.xpath("//th[@scope='row']/bdi/text()")[-2:] == ["ספר", "בגן"]  # bdi is auto
    words = etree.fromstring(draw_svg(HEBREW)).findall(f"{SVG}text")
    turned = etree.fromstring(draw_svg(HEBREW.transpose())).findall(f"{SVG}text")
    directions = [[word.get("direction") for word in some[:3]] for some in (words, turned)]
    assert directions == [["rtl", "rtl", None], [None, None, "rtl"]]
    anchors = [{word.get("text-anchor") for word in some[:3]} for some in (words, turned)]
    assert anchors == [{"start"}, {"end"}]
    pair = SentencePair("1", ("book",), ("図書",), {"g": Alignment.parse("0-0")})
    assert page(pair).xpath("//bdi[@class='upright']/text()") == ["図書"]
    letters = etree.fromstring(draw_svg(pair)).findall(f"{SVG}text")[1:3]
    assert [letter.text for letter in letters] == ["図", "書"]
    assert float(letters[0].get("y")) < float(letters[1].get("y"))


def test_the_fragment_is_one_element_with_its_style():
    fragment = html.fragment_fromstring(draw_html_fragment(PAIR))
    assert fragment.tag == "div"
    rules = re.sub(r"@media[^{]*\{", "", fragment.xpath("string(style)"))
    selectors = re.findall(r"([^{}]+)\{", rules)
    assert all(selector.strip().startswith(".alignkit") for selector in selectors)


@pytest.mark.parametrize("pair", [PAIR, HEBREW])
def test_nothing_is_fetched_and_nothing_runs(pair):
    drawn = "".join(draw_html([pair])) + draw_svg(pair).replace(SVG.strip("{}"), "")
    assert not re.search(r"https?:|//|url\(|@import|<script|<link|src=|href=|\son\w+=", drawn)


def test_svg_draws_every_link_inside_its_frame():
    tree = etree.fromstring(draw_svg(PAIR))
    found = tree.findall(f"{SVG}g/{SVG}title")
    assert [title.text for title in found] == titles(page(PAIR), "//table[@class='matrix']//b")
    _, _, width, height = map(float, tree.get("viewBox").split())
    for shape in tree.iter(f"{SVG}rect"):
        x, y = float(shape.get("x", 0)), float(shape.get("y", 0))
        assert 0 <= x <= x + float(shape.get("width")) <= width
        assert 0 <= y <= y + float(shape.get("height")) <= height


def test_svg_marks_differ_in_shape_alone():
    states = [(a, b) for a in "-? " for b in "-? " if (a, b) != (" ", " ")]
    first, second = (
        Alignment.parse(" ".join(f"0{s[k]}{j}" for j, s in enumerate(states) if s[k] != " "))
        for k in (0, 1)
    )
    pair = SentencePair("1", ("x",), tuple("abcdefgh"), {"anna": first, "ben": second})
    titled = "//*[local-name()='g'][*[local-name()='title']]"
    groups = etree.fromstring(draw_svg(pair)).xpath(titled)

    def shape(group):
        left = float(group.find(f"{SVG}rect").get("x"))
        return [
            (
                part.tag,
                part.get("class").endswith("edge"),
                part.text,
                part.get("rx"),
                float(part.get("x")) - left,
            )
            for part in group.iter(f"{SVG}rect", f"{SVG}text")
        ]

    assert len(groups) == len({str(shape(group)) for group in groups}) == 8


ODD_CHARACTERS = "ab<>&\"'\\;{} \x00\x07\n\r\x1b\x7f\x85\u200b\u202e\u2028\ufeff\udc80\uffff"
ODD = st.text(st.sampled_from(ODD_CHARACTERS) | st.characters(), max_size=6)


@given(words=st.lists(ODD | st.just("</bdi><script>"), min_size=8, max_size=8))
def test_text_stays_text(words):
    identity, name, value, comment, *tokens = words
    links = Alignment([(0, 0), (1, 1)], labels={(0, 0): value})
    annotation = Annotation(links, comment, frozenset({comment}), value, comment)
    pair = SentencePair(identity, tokens[:2], tokens[2:], {name: annotation}, {name: value})
    drawn = "".join(draw_html([pair], title=value))
    drawn.encode()
    tree = html.fromstring(drawn, parser=html.HTMLParser(huge_tree=True))
    assert not tree.xpath("//script")
    for scope, words in (("row", tokens[:2]), ("col", tokens[2:])):
        shown = tree.xpath(f"//table[@class='matrix']//th[@scope='{scope}']/bdi")
        assert [item.text or "" for item in shown] == [visible(word) for word in words]
    image = etree.fromstring(draw_svg(pair).encode())
    known = {"svg", "title", "style", "rect", "text", "path", "g"}
    assert {part.tag.removeprefix(SVG) for part in image.iter()} <= known
    assert visible(tokens[0]) in [item.text or "" for item in image.iter(f"{SVG}text")]
