"""The page of running text: whole without network, by mouse and by keys, on paper and for axe."""

import json
import os
import re
from pathlib import Path

import pytest
from annotate_browser import BROWSER, chromium, shrink
from command import PARAPHRASES, run
from hypothesis import given
from playwright.sync_api import expect
from strategies import corpora

from alignkit import Alignment, Annotation, Corpus, SentencePair, read_corpus
from alignkit.show import draw_interlinear

PAIRS = Corpus(
    [
        SentencePair(
            "p<1>",
            ["they", "left"],
            ["both", "sides", "went"],
            {
                "anna": Annotation(Alignment.parse("0-0 0-1 1?2"), comment="see </script>"),
                "ben": Alignment.parse("1-2 -0"),
            },
        ),
        SentencePair(
            "ar",
            ["ذهب", "الولد", "London"],
            ["the", "boy", "went"],
            {"anna": Alignment.parse("0-2 1-0 1-1")},
        ),
        SentencePair("3", ["a", "b"], ["c"], {"ben": Alignment.parse("0-0")}),
    ]
)
HOLDS = {"text", "no text", "annotators", "names", "absent", "empty", "ids", "spaces", "comments"}


def data(page):
    return json.loads(re.search('id="data">\n(.*?)</script>', page, re.DOTALL)[1])


@given(corpora(HOLDS))
def test_a_page_holds_all_links_and_cannot_be_broken_by_text(corpus):
    page = "".join(draw_interlinear(corpus))
    assert page.count("</script>") == 2
    page.encode()
    record = data(page)
    assert tuple(record["names"]) == corpus.aligners
    for pair, (_, words, links, _) in zip(corpus, record["pairs"], strict=True):
        for name, text in zip(record["names"], links, strict=False):
            aligned = pair.alignments.get(name, Alignment())
            assert Alignment.parse(text) == Alignment(
                aligned.sure,
                aligned.possible,
                nulls=aligned.sure_nulls,
                possible_nulls=aligned.nulls,
            )
        if pair.has_text:
            assert [len(side) for side in words] == list(pair.lengths)


def test_the_command_writes_the_page_of_some_annotators(capsys, tmp_path):
    path = tmp_path / "text.html"
    ran = run(
        capsys,
        "show",
        PARAPHRASES,
        "--interlinear",
        path,
        "--annotators",
        "gold",
        "--limit",
        3,
        "--pairs-a-page",
        2,
    )
    assert (ran.code, ran.out) == (0, "")
    record = data(path.read_text("utf-8"))
    assert (record["names"], record["size"], len(record["pairs"])) == (["gold"], 2, 3)
    assert not re.search(r"""(?:src|href)=|url\(""", path.read_text("utf-8"))
    ran = run(capsys, "show", PARAPHRASES, "--interlinear", path, "--trees")
    assert "does not draw trees" in ran.err
    assert PAIRS.to_html(interlinear=True) == "".join(draw_interlinear(PAIRS))


@pytest.fixture
def opened(tmp_path):
    said = []

    def open_page(pairs=PAIRS, *, at_a_time=50, **options):
        path = tmp_path / "text.html"
        path.write_text("".join(draw_interlinear(pairs, pairs_a_page=at_a_time)), "utf-8")
        page = chromium()[1].new_page(**options)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or said.append(request))
        page.goto(path.as_uri())
        return page

    yield open_page
    assert said == []


def lit(page):
    return {
        kind: page.locator(f"main .{kind}").all_text_contents()
        for kind in ("here", "sure", "possible", "with")
        if page.locator(f"main .{kind}").count()
    }


class TestInTheBrowser:
    pytestmark = BROWSER

    def test_pointing_lights_counterparts_both_ways(self, opened):
        page = opened()
        word = page.locator("main").get_by_role("button")
        word.get_by_text("they", exact=True).hover()
        assert lit(page) == {"here": ["they"], "sure": ["both", "sides"]}
        word.get_by_text("sides", exact=True).hover()
        assert lit(page) == {"here": ["sides"], "sure": ["they"], "with": ["both"]}
        word.get_by_text("went", exact=True).first.click()
        page.mouse.move(0, 0)
        assert lit(page) == {"here": ["went"], "possible": ["left"]}
        expect(page.locator("#said")).to_have_text("went: left (possible)")
        page.select_option("#annotator", label="ben")
        word.get_by_text("both", exact=True).hover()
        expect(page.locator("#said")).to_have_text("both: aligned to nothing")
        word.get_by_text("sides", exact=True).hover()
        expect(page.locator("#said")).to_have_text("sides: no link")

    def test_keys_move_choose_phrases_and_follow_the_direction(self, opened):
        page = opened()
        page.locator("main [tabindex='0']").first.focus()
        press = page.keyboard.press
        assert lit(page) == {"here": ["they"], "sure": ["both", "sides"]}
        press("Shift+ArrowRight")
        assert lit(page)["here"] == ["they", "left"]
        assert lit(page)["possible"] == ["went"]
        press("ArrowDown")
        assert lit(page)["here"] == ["went"]
        press("Tab")
        assert lit(page)["here"] == ["ذهب"]
        press("ArrowLeft")
        assert lit(page)["here"] == ["الولد"]
        press("Escape")
        assert lit(page) == {}
        press("Enter")
        expect(page.locator("main [aria-pressed=true]")).to_have_text("الولد")

    def test_pages_are_drawn_as_they_are_turned_to(self, opened):
        many = Corpus(SentencePair(str(k), ["a"], ["b"]) for k in range(10_000))
        page = opened(many)
        expect(page.locator("#place")).to_have_text("pairs 1 to 50 of 10,000")
        page.fill("#page", "200")
        page.locator("#page").press("Enter")
        expect(page.locator("#place")).to_have_text("pairs 9,951 to 10,000 of 10,000")
        expect(page.locator("article")).to_have_count(50)
        expect(page.locator("#next")).to_be_disabled()

    def test_paper_has_numbers_and_a_page_without_script_has_text(self, opened):
        page = opened()
        page.emulate_media(media="print")
        marks = page.locator("article").first.locator("[data-marks]")
        assert [x.get_attribute("data-marks") for x in marks.all()] == ["1", "2", "1", "1", "2?"]
        shown = page.evaluate(
            "getComputedStyle(document.querySelector('[data-marks]'), '::after').content"
        )
        assert shown in ('"1"', "attr(data-marks)")
        expect(page.locator("#controls")).to_be_hidden()
        plain = chromium()[1].new_context(java_script_enabled=False).new_page()
        plain.goto(page.url)
        expect(plain.locator("article").first).to_contain_text("they left")

    def test_a_picture_of_the_samples(self, opened, tmp_path):
        corpus = read_corpus(PARAPHRASES).map(
            lambda pair: pair.without_annotations(*{*pair.annotations} - {"gold"})
        )
        page = opened(corpus, viewport={"width": 900, "height": 560})
        page.locator("main [role=button]").get_by_text("said").first.hover()
        assert lit(page)["sure"] == ["according", "to"]
        picture = Path(os.environ.get("ALIGNKIT_PICTURES") or tmp_path, "interlinear.png")
        page.screenshot(path=picture)
        shrink(picture)

    @pytest.mark.parametrize("width", [1280, 390])
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_it_fits_and_axe_finds_nothing(self, opened, width, scheme):
        axe = pytest.importorskip("axe_playwright_python.sync_playwright")
        page = opened(viewport={"width": width, "height": 700}, color_scheme=scheme)
        page.locator("main [role=button]").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        result = axe.Axe().run(page)
        assert result.violations_count == 0, result.generate_report()
