"""Look at tables in a real browser: on a phone, in the dark, on paper, by keyboard."""

import pytest
from annotate_browser import BROWSER, chromium

from alignkit.tables import Column, Table, Value

pytestmark = BROWSER

KINDS = {"P": "percent", "R": "percent", "C": "decimal"}
COLUMNS = [Column("who"), Column("pairs", "count")] + [
    Column(name, kind, span) for span in ("possible", "sure") for name, kind in KINDS.items()
]
ROW = [64, 0.95, 0.94, Value(0.975, 0.95, 0.992), 0.83, 0.99, Value(0.9, 0.8, 1.0)]
TITLE = "Phrase pairs, identical ones left out; the second annotator is the reference"
WIDE = Table(TITLE, COLUMNS, [["anna ~ ben", *ROW], ["anna ~ שלום", *ROW]], "a note", apart=[1])
NARROW = Table("narrow", COLUMNS[:2], [["anna", 64]])
HEAD = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>t</title>'
PAGE = (
    f'{HEAD}<meta name="viewport" content="width=device-width"><style>{Table.style()}</style>'
    f"<main><h1>t</h1>{WIDE.show('html')}{NARROW.show('html')}</main>"
)


def opened(width, scheme="light", media="screen"):
    page = chromium()[1].new_page(viewport={"width": width, "height": 600})
    page.emulate_media(media=media, color_scheme=scheme)
    page.set_content(PAGE)
    return page


def right_edge(page, number):
    """Return the picture of the last places of a frame, in which nothing but its edge is drawn."""
    page.add_style_tag(content="table{visibility:hidden}")
    box = page.locator(".frame").nth(number).bounding_box()
    clip = {"x": box["x"] + box["width"] - 12, "y": box["y"], "width": 12, "height": box["height"]}
    return page.screenshot(clip=clip)


def plain(page, number):
    page.add_style_tag(content=".alignkit-table .frame{background:none}")
    return right_edge(page, number)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_at_400_pixels_a_table_that_goes_on_shows_that_it_does(scheme):
    page = opened(400, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 400  # the page stays
    frame = page.locator(".frame").first
    assert frame.evaluate("f => f.scrollWidth > f.clientWidth + 100")
    going_on, ended = right_edge(page, 0), right_edge(page, 1)
    frame.evaluate("f => f.scrollLeft = 9999")
    at_the_end = right_edge(page, 0)
    without = plain(page, 0)
    assert going_on != without
    assert at_the_end == without
    assert ended == plain(page, 1)


def test_a_keyboard_scrolls_it_and_its_title_and_names_stay():
    page = opened(400)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == TITLE
    page.keyboard.press("End")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.frame').scrollLeft > 100")
    left = page.locator(".frame").first.bounding_box()["x"]
    for there in ("caption span", "tbody th"):
        assert abs(page.locator(there).first.bounding_box()["x"] - left) < 2
    assert page.locator("caption span").first.bounding_box()["width"] <= 400


def test_it_is_legible_in_the_dark_and_on_paper():
    colours = "f => [getComputedStyle(f).color, getComputedStyle(f).backgroundColor]"
    dark = opened(1280, "dark").locator(".alignkit-table").first.evaluate(colours)
    assert dark == ["rgb(236, 236, 236)", "rgb(24, 26, 27)"]
    paper = opened(700, "dark", "print")
    assert paper.locator(".alignkit-table").first.evaluate(colours) == [
        "rgb(0, 0, 0)",
        "rgb(255, 255, 255)",
    ]
    assert paper.locator(".frame").first.evaluate("f => getComputedStyle(f).overflowX") == "visible"


def test_axe_finds_nothing():
    found = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(opened(400))
    assert found.violations_count == 0, found.generate_report()
