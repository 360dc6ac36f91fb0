"""In a browser: adjudicators of judgments wait for the first pair, and take votes as they are."""

import pytest
from annotate_browser import BROWSER, ask, browser, press, ready, saved, serious, until, views
from annotation import Tab, project, sent
from annotation_server import served
from playwright.sync_api import expect

from alignkit import Corpus, SentencePair
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.project.names import ADJUDICATOR
from alignkit.annotate.project.store import Store

pytestmark = BROWSER

NAMES = ("anna", "ben", "cora")


@pytest.fixture
def path(tmp_path):
    """Make a project of four pairs that three judge."""
    pairs = (SentencePair(f"p{k:02}", ["they", "talked"], ["they", "spoke"]) for k in range(1, 5))
    store = project(tmp_path, Corpus(pairs), "talks.alignkit", None, scheme="turku", task="judge")
    assign_pairs(store, list(NAMES), control=0)
    store.close()
    return str(tmp_path / "talks.alignkit")


@pytest.fixture
def page(path):
    """Open the page of an adjudicator before anything is ready."""
    problems = []
    with served(path) as server, browser(bypass_csp=True) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        token = server.invite("carla", ADJUDICATOR)
        page.goto(f"http://127.0.0.1:{server.port}/adjudicate#{token}")
        page.wait_for_selector("body[data-state=waiting]")
        yield page
    assert not problems


def judged(path, k, *said, rewrites=False):
    """Let each annotator judge a pair, and mark it done."""
    with Store.open(path) as store:
        for name, (label, *flags) in zip(NAMES, said, strict=True):
            tab = Tab(store, k, name)
            if rewrites:
                tab.send(sent("rewrite", rewrites=[["r1", None, [f"a {name}", "b"]]]))
            tab.send(sent("judge", label=["", label], flags=[[], flags]))
            tab.send(sent("done", before=False, after=True))


def test_a_page_that_is_opened_too_early_waits_for_the_first_pair(page, path):
    for width in views(page):
        expect(page.locator("#start-text")).to_contain_text("None of the 4 pairs is ready yet")
        until(lambda: page.inner_text("#project").endswith(": adjudicate"))
        expect(page.locator("header a[href='/dashboard']")).to_be_visible()
        expect(page.locator("#annotator")).to_have_text("carla, adjudicator")
        expect(page.locator("#done")).to_be_hidden()
        assert serious(page) == [], width
    judged(path, 2, ("4",), ("3",), ("4", "i"))
    page.wait_for_selector("body[data-state=ready][data-pair='2']")
    expect(page.locator("#hints .votes-only")).to_have_text("1 2 3 take a vote")


def test_votes_are_taken_with_flags_that_the_scheme_does_not_allow(page, path):
    judged(path, 1, ("1", "i"), ("1", "i", "s"), ("4",), rewrites=True)
    page.wait_for_selector("body[data-state=ready][data-pair='1']")
    refuse = {"status": 422, "json": {"message": "this is what a long reason looks like " * 3}}
    page.context.route("**/events", lambda route: route.fulfill(**refuse))
    press(page, "3")
    page.wait_for_selector("#conflict:not([hidden])")
    seen = "one => one.clientWidth > 10 && one.scrollWidth <= one.clientWidth"
    assert page.eval_on_selector("#pair-id", seen)  # beside the reason
    page.context.unroute("**/events")
    press(page, "Escape")
    page.wait_for_selector("#conflict", state="hidden")
    for key, label, flags in (("1", "1", ["i"]), ("2", "1", ["i", "s"]), ("3", "4", [])):
        press(page, key)
        saved(page)
        state = ask(page, "/api/gold/1")["state"]
        assert (state["judgment"], state["flags"]) == (label, flags)
        expect(page.locator("#decided")).to_have_text(f"Decided as {NAMES[int(key) - 1]}.")
    for _ in views(page):  # the texts of a rewrite stand beside each other, as those of gold do
        left, right = (
            page.locator("#offer-list li").nth(1).locator("p").nth(at).bounding_box()
            for at in (0, 1)
        )
        assert left["y"] == right["y"]
        assert left["x"] < right["x"]


def test_keys_act_on_after_a_dialog_and_the_count_follows_what_is_settled(page, path):
    for k in (1, 3, 4):
        judged(path, k, ("4",), ("3",) if k == 1 else ("4",), ("4",))
    page.wait_for_selector("body[data-state=ready][data-pair='1']")
    page.click("header .votes-only[data-action=find]")
    page.click("#settle")
    until(lambda: page.inner_text("#progress-text") == "2 / 3")
    press(page, "Escape")
    page.wait_for_selector("#find-dialog", state="hidden")
    until(lambda: page.evaluate("document.activeElement.id") == "text")
    press(page, "1 Control+Enter")
    until(lambda: page.inner_text("#progress-text") == "3 / 3")
    ready(page)
    press(page, "c Escape u")
    until(lambda: page.inner_text("#progress-text") == "2 / 3")
