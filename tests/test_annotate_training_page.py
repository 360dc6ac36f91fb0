"""A training round in the browser: an owner sets it, an annotator fails, tries again and begins."""

import os
from pathlib import Path

import annotate_browser as web
import pytest
from lab_server import serving
from playwright.sync_api import expect
from test_lab_pages import ROOT, SITE, said, window

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.lab import passwords
from alignkit.annotate.server.assets import load_assets

pytestmark = web.BROWSER
SOURCE = ["the", "old", "plan", "failed", "."]
TARGET = ["der", "alte", "Plan", "scheiterte", "."]
CASE = "Case 2.4: full stops correspond."
WORDS_OF_GOLD = [(0, 0, 2), (1, 1, 2), (2, 2, 2), (3, 3, 1), (4, 4, 2)]
FOLDER = os.environ.get("ALIGNKIT_PICTURES")


def corpus():
    sure = [(i, i) for i in (0, 1, 2, 4)]
    gold = Alignment(sure, [(3, 3), *sure], labels={(4, 4): CASE})
    pairs = [SentencePair(f"p{k}", SOURCE, TARGET, {"gold": gold}) for k in (1, 2)]
    return Corpus([*pairs, *(SentencePair(f"p{k}", SOURCE, TARGET, {}) for k in (3, 4, 5))])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", (2, 1, 1))
        with serving(tmp_path_factory.mktemp("training"), SITE + ROOT) as server:
            yield server


def picture(page, name):
    if FOLDER:
        page.screenshot(path=str(Path(FOLDER) / f"training-{name}.png"))


def draw(page, cells):
    """Draw sure links on the diagonal, and mark the pair as done."""
    for k in cells:
        web.reach(page, k, k)
        web.press(page, "s")
    web.press(page, "Control+Enter")


def test_an_annotator_fails_tries_again_passes_and_begins(server):
    slug = server.project(corpus=corpus())
    with window(server, bypass_csp=True) as carla, window(server, "anna", bypass_csp=True) as anna:
        settings = carla.open(f"p/{slug}/settings")
        expect(settings.locator("#round-now")).to_have_text("There is no training round.")
        settings.fill("#round-pairs", "p1\np9")
        settings.click("#round button:not([type])")
        expect(settings.locator("#round .fault")).to_have_text("p9: no pair has this id")
        settings.fill("#round-pairs", "p1\np2\n")
        settings.click("#round button:not([type])")
        settings.wait_for_selector("dialog p:has-text('2 pairs, 10 links; F1 of 80.0% passes')")
        settings.click("dialog .main")
        said(settings, "The training round has begun.")
        expect(settings.locator("#round-now")).to_contain_text(
            "In force: 2 pairs, the links of gold"
        )
        assert not web.serious(settings)
        assign_pairs(server.desks.get(server.lab.projects.get(slug)).store, ["anna"], control=0)

        mine = anna.open("")
        card = mine.locator("#cards article")
        expect(card).to_contain_text("A training round comes first.")
        expect(card).to_contain_text("3 to go")
        card.locator("a").click()
        page = mine
        page.wait_for_selector("body[data-pair='1']")
        panel = page.locator("#training")
        expect(panel.locator("h2")).to_have_text("Training, pair 1 of 2, attempt 1")
        status = (
            "async path => (await fetch(path, {headers: {'X-CSRF-Token': "
            "localStorage['alignkit k']}})).status"
        )
        for path in ("queue", "pairs/3", "pairs/1", "find"):
            assert page.evaluate(status, f"{ROOT}api/v1/projects/{slug}/{path}") in (404, 423)

        for width in (390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 720})
            web.ready(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert not web.serious(page)
        draw(page, [0, 1])
        expect(panel.locator("h3")).to_have_text("What differs: 3 cells")
        expect(panel).to_contain_text("p1: F1 57.1 %; 2 of 2 links right, gold has 5.")
        expect(panel.locator("li").last).to_contain_text(CASE)
        assert not web.serious(page)
        picture(page, "report")
        for width in (768, 390):
            page.set_viewport_size({"width": width, "height": 800})
            web.ready(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert not web.serious(page)
        page.set_viewport_size({"width": 1280, "height": 720})
        panel.locator(".main").focus()
        web.press(page, "Enter", to=2)  # the button has the focus
        web.reach(page, 0, 0)
        web.press(page, "s")
        page.reload()  # what was drawn is kept in the tab
        page.wait_for_selector("body[data-pair='2']")
        assert web.drawn(page) == [(0, 0, 2)]
        web.press(page, "Control+Enter")
        expect(panel.locator("h2")).to_have_text("You have not passed yet.")
        expect(panel).to_contain_text("F1 over 2 pairs: 46.2 %. 80.0 % passes.")
        web.press(page, "Escape")
        web.reach(page, 3, 3)
        web.press(page, "s")
        expect(page.locator("#status-text")).to_contain_text("this pair is answered")
        panel.locator(".main").click()
        page.wait_for_selector("body[data-pair='1']")
        expect(panel).to_contain_text("Attempt 1 reached 46.2 %. Here is attempt 2.")

        draw(page, [0, 1, 2, 3, 4])
        expect(panel.locator("h3")).to_have_text("What differs: 1 cell")
        expect(panel.locator("li")).to_contain_text("sure here, possible in gold")
        web.press(page, "Enter", to=2)
        draw(page, [0, 1, 2, 3, 4])
        expect(panel.locator("h2")).to_have_text("You have passed.")
        web.press(page, "Enter")
        page.wait_for_selector("body[data-pair]:not([data-training])")
        expect(page.locator("#progress-text")).to_have_text("0 / 3")
        assert panel.is_hidden()

        people = carla.open(f"p/{slug}/people")
        row = people.locator("tr[data-key=anna]")
        expect(row).to_contain_text("passed: 100.0 % in attempt 2")
        expect(people.locator("tr[data-key=ben]")).to_contain_text("not begun")
        people.click("[aria-label='More about ben']")
        people.click("text=Let begin without passing")
        said(people, "ben may begin without having passed.")
        expect(people.locator("tr[data-key=ben]")).to_contain_text("let in by carla")
        people.click("#toast button")
        said(people, "Undone.")
        expect(people.locator("tr[data-key=ben]")).to_contain_text("not begun")
        assert not web.serious(people)
        board = carla.open(f"p/{slug}/dashboard")
        expect(board.locator("#trained")).to_contain_text(
            "passed: 100.0 % in attempt 2", timeout=60_000
        )
        assets = load_assets()
        assert sum(len(assets[name].compressed) for name in {*anna.files}) < 100_000
