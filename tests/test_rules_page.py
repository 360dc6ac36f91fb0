"""Test the page of rules: what it says, what it draws, that nothing acts, that it stays small."""

import pytest
from lxml import etree, html

from alignkit.errors import AlignkitError, OptionError
from alignkit.rules import draw_rules_page, write_rules_page
from alignkit.rules import page as rules_page
from alignkit.rules.grammar import Example, Grammar, Node, Rule, RuleType, Variable

OF = Rule(
    Node("NP", (Variable(0, "NP"), Node("PP", (Node("IN", ("of",)), Variable(1, "NP"))))),
    Node("NP", (Variable(1, "NP"), Node("POS", ("'s",)), Variable(0, "NN"))),
)
ROSE = Rule(
    Node("VP", (Node("VBD", ("rose",)),)),
    Node("VP", (Node("VBD", ("stood",)), Node("PRT", (Node("RP", ("up",)),)))),
)
HOSTILE = Rule(
    Node("<b>", ("<script>alert(1)</script>", "\u202e")), Node('"', ("&amp;", "\x1b", "漢"))
)
GONE = Rule(Node("NP", (Variable(0, "NP"), Variable(0, "PP", "d"))), (Variable(0), "too"))
PLACE = Example("<p1>", ("he", "<i>", "rose", "."), ("he", "stood", "up", "."), (2, 3), (1, 3))
GRAMMAR = Grammar(
    (
        RuleType(OF, 1200, 7, 0.75, 0.5, 0.001, 0.25, 0.125),
        RuleType(ROSE, 2.5, examples=(PLACE, PLACE)),
        RuleType(GONE, 1),
        RuleType(HOSTILE),
    ),
    dropped={"more than 5 variables": 1234, "none": 0},
    pairs=714,
    passed_over={"no source tree": 3},
)


def page(grammar, **options):
    return html.fromstring("".join(draw_rules_page(grammar, **options)))


def text(root):
    return " ".join(root.text_content().split())


def test_rules_stand_by_kind_and_what_is_not_shown_is_counted():
    root = page(GRAMMAR, title="Rules & more")
    assert root.findtext(".//h1") == "Rules & more"
    assert root.xpath("//nav//a/text()") == [
        "phrasal (2)",
        "monotone+words (1)",
        "reordering+words (1)",
    ]
    for link in root.xpath("//nav//a/@href"):
        assert len(root.xpath(f"//section[@id='{link[1:]}']")) == 1
    first = root.get_element_by_id("kind-reordering-with-words")
    assert text(first.find(".//article/p")) == (
        "seen 1,200 times · in 7 pairs · p(t|s) 0.75 · p(s|t) 0.5 · p(rule|roots) 0.001 "
        "· lex(t|s) 0.25 · lex(s|t) 0.125"
    )
    assert text(first.find(".//code")).startswith('NP(x0:NP PP(IN("of") x1:NP)) ||| NP(x1:NP ')
    rose = root.get_element_by_id("kind-phrasal").find(".//article")
    assert text(rose.find("p")) == "seen 2.50 times"  # what is not known is not told
    head = text(root.find(".//header"))
    assert "4 types of tree rules, learned from 714 sentence pairs, seen 1,203.50 times" in head
    assert "1 of them once" in head
    assert "more than 5 variables (1,234)" in head
    assert "no source tree (3)" in head
    root = page(Grammar(GRAMMAR.types[1:3], pairs=714), whole=GRAMMAR)
    head = text(root.find(".//header"))
    assert "4 types of tree rules, learned from 714 sentence pairs, seen 1,203.50 times." in head
    assert "2 types, seen 3.50 times" in head
    rows = {text(row[0]): [text(cell) for cell in row[1:]] for row in root.find(".//tbody")}
    assert rows["reordering+words"] == ["1,200", "1"]
    assert root.xpath("//nav//a/text()") == ["phrasal (1)", "monotone+words (1)"]
    assert "None is shown." in text(page(Grammar(()), whole=GRAMMAR).find(".//header"))


def test_both_sides_are_drawn_and_examples_mark_the_span():
    article = page(GRAMMAR).get_element_by_id("kind-reordering-with-words").find(".//article")
    source, target = article.findall(".//svg")
    drawn = [{x.text: x.get("class") for x in side.findall("text")} for side in (source, target)]
    assert drawn[0] == {
        "NP": "ak-soft",
        "x0:NP": "ak-hue0",
        "PP": "ak-soft",
        "IN": "ak-soft",
        "of": "ak-ink",
        "x1:NP": "ak-hue1",
    }
    assert (drawn[1]["x1:NP"], drawn[1]["x0:NN"]) == ("ak-hue1", "ak-hue0")
    assert source.get("aria-label") == 'NP(x0:NP PP(IN("of") x1:NP))'
    gone = page(GRAMMAR).get_element_by_id("kind-monotone-with-words")
    boxes = {one.getnext().text: one.get("stroke-dasharray") for one in gone.iter("rect")}
    assert boxes == {"x0:NP": None, "d0:PP": "3 3", "x0": None}
    assert "A box with a dashed edge" in text(page(GRAMMAR))
    phrasal = page(GRAMMAR).get_element_by_id("kind-phrasal")
    sentences = [text(one) for one in phrasal.xpath(".//article[1]/p[@class='sentence']")]
    assert sentences == ["he <i> rose .", "he stood up ."]
    assert phrasal.xpath(".//article[1]/p/mark/text()") == ["rose", "stood up"]
    assert phrasal.xpath(".//article[1]/p/bdi/text()") == ["<p1>"]
    assert len(phrasal.xpath(".//article[1]//details//mark")) == 2  # the other example


def test_nothing_of_a_rule_acts():
    written = "".join(draw_rules_page(GRAMMAR, title="<script>"))
    assert "<script" not in written.lower()
    assert not {"\u202e", "\x1b"} & set(written)
    root = html.fromstring(written)
    assert not root.xpath("//i | //script | //b | //*[@onload or @onclick] | //*[@src]")
    for image in root.xpath("//svg"):
        etree.fromstring(html.tostring(image, method="xml"))


def test_a_page_of_many_rules_stays_small_and_says_so(monkeypatch):
    words = [Rule(Node("NN", (f"a{k}",)), Node("NN", (f"b{k}",))) for k in range(300)]
    wide = Node("S", tuple(Node(f"N{k}", (f"w{k}",)) for k in range(250)))
    types = [RuleType(Rule(wide, Node("S", ("x",))), 9), *(RuleType(one, 1) for one in words)]
    root = page(Grammar(tuple(types)), limit=20)
    lexical = root.get_element_by_id("kind-lexical")
    assert len(lexical.findall(".//article")) == 20
    assert "the first 20 are drawn, 280" in text(lexical)
    phrasal = root.get_element_by_id("kind-phrasal")
    assert "503 symbols" in text(phrasal)
    assert len(text(phrasal.find(".//code"))) < 4_100
    middle = Node("S", tuple(Node(f"N{k}", (f"w{k}",)) for k in range(90)))
    many = Grammar(tuple(RuleType(Rule(middle, Node(f"S{k}", ("x",))), 1) for k in range(20)))
    assert "keep the page small" not in "".join(draw_rules_page(many, limit=20))
    monkeypatch.setattr(rules_page, "_MOST_CHARACTERS", 100_000)
    whole = "".join(draw_rules_page(many, limit=20))
    assert len(whole) < 200_000
    assert "keep the page small" in whole


def test_a_grammar_without_rules_has_a_page_and_what_cannot_be_is_an_error(tmp_path):
    write_rules_page(Grammar(()), str(tmp_path / "none.html"))
    assert "no rules" in (tmp_path / "none.html").read_text("utf-8")
    with pytest.raises(OptionError, match="`limit` is 0"):
        write_rules_page(GRAMMAR, str(tmp_path / "page.html"), limit=0)
    assert not (tmp_path / "page.html").exists()
    with pytest.raises(AlignkitError, match="cannot be written"):
        write_rules_page(GRAMMAR, str(tmp_path / "no" / "page.html"))


@pytest.mark.browser
def test_the_page_fits_a_phone_and_axe_finds_nothing():
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    from annotate_browser import browser  # skips where there is no browser

    with browser(viewport={"width": 400, "height": 900}, color_scheme="dark") as context:
        view = context.new_page()
        view.set_content("".join(draw_rules_page(GRAMMAR)))
        assert view.evaluate("document.documentElement.scrollWidth") == 400
        boxes = [one.bounding_box() for one in view.locator("svg.trees").all()]
        assert all(box["x"] + box["width"] <= 400 for box in boxes)
        assert boxes[1]["y"] == boxes[0]["y"]
        assert boxes[3]["y"] > boxes[2]["y"]  # below, where there is no room beside
        hue = view.locator(".ak-hue1").first.evaluate("one => getComputedStyle(one).fill")
        assert hue == "rgb(255, 157, 87)"
        found = axe.Axe().run(view)
        assert found.violations_count == 0, found.generate_report()
