"""In a browser the dashboard follows the work without reloading, and leads to the pairs."""

from contextlib import closing

import annotate_browser as web
import pytest
from annotate_browser import BROWSER, browser, opened, serious, serving, until
from annotation_server import entered
from playwright.sync_api import expect

from alignkit.annotate.project.names import Visitor
from alignkit.annotate.server.invitations import invited

pytestmark = BROWSER
SAID = {"auto": "1-2 3-3 4-4", "anna": "1-2 2-2 3-3 4-4 6-6", "ben": "1-2 3-3 4-4 5-5 6-6 6-7"}
PAIRS = [
    {
        "id": f"p{k}",
        "source": web.SOURCE,
        "target": web.TARGET,
        "annotations": {name: {"sure": links} for name, links in SAID.items()},
    }
    for k in range(1, 5)
]
PAIRS[1]["annotations"]["ben"] = {"sure": "0-0", "possible": "7-8"}
ROW = "#twos tr td:nth-child(3) b"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    corpus = web.write_corpus(tmp_path_factory.mktemp("dashboard") / "corpus.jsonl", PAIRS)
    with serving(corpus, "--initial", "auto", "--adjudicate", annotator="cleo") as server:
        server.project = f"{corpus}.alignkit"  # type: ignore[attr-defined]
        yield server


def test_the_dashboard_follows_the_work_and_leads_to_the_pairs(server):
    anna, problems = entered(server, server.project, "anna"), []
    with closing(anna), browser() as context:
        page = opened(context, server.url.replace("/adjudicate#", "/dashboard#"), problems)
        page.wait_for_selector(ROW, timeout=180_000)
        page.evaluate("window.stays = true")
        before = page.text_content(ROW)
        assert anna.link(1, 2, 2, 2, 0).status == 201
        until(lambda: page.text_content(ROW) != before, 180)  # half a minute, and the computation
        page.wait_for_selector("body[data-at]:not([data-at=''])", timeout=180_000)
        ages = page.locator("h2:visible .as-of").all_inner_texts()
        assert len(ages) == page.locator("h2:visible").count()
        assert all(age.startswith(", as of ") for age in ages)
        expect(page.locator("#progress-text")).to_contain_text("as of")
        assert page.evaluate("window.stays") is True
        table = page.inner_text("#beyond")
        assert "anna ~ ben" in table
        assert " to " in table
        expect(page.locator("#care")).to_contain_text("anna ~ ben: there are few sentence pairs")
        until(lambda: page.inner_text("#annotators").count("of 4") == 2)
        expect(page.locator("#annotators tr:nth-child(2) td:last-child")).to_have_text(
            "done"
        )  # imported
        expect(page.locator("#pull")).to_contain_text("control sample")
        expect(page.locator("#commands")).to_contain_text("alignkit agree")
        found = {}
        for width, colours in ((1280, "light"), (768, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=colours)
            found[width, colours] = serious(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect(page.locator("#lowest tr:first-child a")).to_have_text("p2")
        page.click("#lowest tr:first-child a")
        page.wait_for_selector("#figures dd", timeout=30_000)
        page.wait_for_selector("#pair-id:text-is('p2')")
        until(lambda: page.locator("#figures dd").count() == 6)
        until(lambda: page.inner_text("#figures dl").startswith("F1, sure"))
        found["strip"] = serious(page)
        assert not any(found.values()), found
        assert page.get_attribute("header a[href='/dashboard']", "href")
    assert not problems


def test_annotators_see_no_dashboard(server):
    url = invited(server.project, Visitor("ben"))
    assert url is not None
    with browser() as context:
        page = opened(context, url.replace("/#", "/dashboard#"), [])
        page.wait_for_selector("body[data-state=failed]", timeout=30_000)
        expect(page.locator("#start-text")).to_contain_text("for adjudicators")
        until(lambda: not page.inner_text("main").strip())
