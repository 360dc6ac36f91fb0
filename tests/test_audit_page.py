"""Fill a sheet in a real browser: by keyboard and buttons, kept over a reload, saved and read."""

from pathlib import Path

import pytest
from annotate_browser import BROWSER, chromium
from audit_sheets import ODD, odd_audit, read, sample_audit
from playwright.sync_api import expect

from alignkit import Annotation, Corpus, SentencePair
from alignkit.audit import draw_pairs, read_audit, write_audit

pytestmark = BROWSER


@pytest.fixture
def opened(tmp_path):
    """Open the page of an audit; what it tells on its console fails the test."""
    told = []

    def open_page(audit, formats=("html",), **options):
        *sheets, key = write_audit(audit, tmp_path, judges=["anna"], sheets=formats)
        page = chromium()[1].new_page(**options)
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on(
            "request",
            lambda request: (
                told.append(request.url) if not request.url.startswith(("file:", "blob:")) else None
            ),
        )
        page.goto(Path(sheets[-1]).as_uri())
        return page, key

    yield open_page
    assert told == []


def saved(page, tmp_path):
    with page.expect_download() as download:
        page.get_by_role("button", name="save the sheet").click()
    path = tmp_path / f"saved-{download.value.suggested_filename}"
    download.value.save_as(path)
    return path


def test_a_judge_fills_a_sheet_by_keyboard(opened, tmp_path):
    page, key = opened(sample_audit(n=12))
    assert page.locator("#place").inner_text().startswith("item 1 of 12, ")
    expect(page.locator("mark")).to_have_count(2)
    for pressed in ("1", "2", "3", "c", "u", "i", "C"):
        page.keyboard.press(pressed)
    expect(page.locator("#progress")).to_have_text("7 of 12 judged")
    for pressed in ("ArrowLeft", "0", "r"):  # taken back, and remarked on
        page.keyboard.press(pressed)
    page.keyboard.type("=1 why? 2")
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    assert page.locator("#place").inner_text().startswith("item 8 of 12, ")
    page.get_by_role("button", name="3 incorrect").click()
    page.reload()
    expect(page.locator("#progress")).to_have_text("7 of 12 judged")
    assert page.locator("#place").inner_text().startswith("item 7 of 12, ")
    path = saved(page, tmp_path)
    rows = read(path)
    said = ["correct", "uncertain", "incorrect"] * 2 + ["", "incorrect", "", "", "", ""]
    assert [row["judgment"] for row in rows] == said
    found = read_audit(path, key)
    assert found.filled.judges == ("anna",)
    assert found.filled.remarks["anna"] == {rows[6]["item"]: "=1 why? 2"}
    judged = {row["item"]: row["judgment"] for row in rows if row["judgment"]}
    assert found.filled.judgments["anna"] == judged


@pytest.mark.parametrize("view", ["binary", "base"])
def test_a_label_that_is_a_number_is_judged_by_its_own_key(opened, tmp_path, view):
    said = {"carl": Annotation(None, judgment="4")}
    corpus = Corpus(SentencePair(str(k), ("one", str(k)), ("two",), said) for k in range(4))
    audit = draw_pairs(corpus, n=4, mix=0, judges=["anna"], each=1, view=view, scheme="turku")
    page, key = opened(audit)
    expect(page.locator("#sentences p")).to_have_count(2)
    expect(page.locator("#sentences")).to_contain_text("two")
    keys = "0 1 1 0" if view == "binary" else "1 4 3 2"
    for pressed in keys.split():
        page.keyboard.press(pressed)
    page.keyboard.press("Backspace")
    path = saved(page, tmp_path)
    assert " ".join(row["judgment"] for row in read(path)) == keys[:-1]
    assert len(read_audit(path, key).filled.judgments["anna"]) == 3
    first = {"binary": "0 no paraphrase", "base": "1 unrelated"}[view]
    expect(page.locator("#judgments button").first).to_have_text(first)


@pytest.mark.parametrize("format", ["tsv", "csv"])
def test_what_it_saves_is_the_sheet(opened, tmp_path, format):
    audit = odd_audit()
    page, _ = opened(audit, formats=(format, "html"))
    shown = set()
    for _ in audit.items:
        shown.update(page.locator("#parts bdi").all_text_contents())
        assert (
            page.locator("mark").all_text_contents()
            == page.locator("#parts bdi").all_text_contents()
        )
        page.keyboard.press("ArrowRight")
    path = saved(page, tmp_path)
    assert path.read_text("utf-8") == (tmp_path / f"sheet-anna.{format}").read_text("utf-8")
    assert shown >= set(ODD)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_axe_finds_nothing(opened, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    phone = {"viewport": {"width": 400, "height": 700}, "color_scheme": scheme}
    page, _ = opened(sample_audit(n=12), **phone)
    page.keyboard.press("1")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    expect(page.locator("button[aria-pressed=true]")).to_have_text("1 correct")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
