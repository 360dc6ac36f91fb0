"""What two tabs, a corrected text and a closing tab must not lose (in Chromium)."""

import json
from uuid import uuid4

import annotate_browser as web
import pytest
from annotate_browser import drawn, enter, eventually, links, on_pair, pair, press, saved, until
from annotation import append
from annotation_server import served
from msgspec import Raw
from playwright.sync_api import expect

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.creation import create_project
from alignkit.annotate.importing import import_pairs
from alignkit.annotate.project.events import Sent

pytestmark = web.BROWSER
SOURCE, TARGET = ("the", "old", "house"), ("das", "alte", "haus")
_HELD = """keys => [...keys].forEach(key => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))"""


class Desk:
    """A server, a browser, and what went wrong in its pages."""

    def __init__(self, running, context):
        self.running, self.context, self.problems = running, context, []
        self.store = running.opening.opened.store
        self.address = f"http://127.0.0.1:{running.port}/"

    def enter(self):
        enter(self.context, self.running.url, self.problems).close()

    def tab(self, k, context=None):
        page = enter(context or self.context, f"{self.address}?pair={k}", self.problems)
        saved(page)
        return page

    def correct(self, k, source, target=TARGET):
        import_pairs(self.store, [SentencePair(f"p{k}", source, target)], holds=frozenset())


@pytest.fixture(scope="module")
def desks(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("tabs") / "work.alignkit")
    pairs = [SentencePair(f"p{k}", SOURCE, TARGET) for k in range(1, 12)]
    noted = Alignment([(0, 0)], labels={(0, 0): "one\r\ntwo"})
    pairs.append(SentencePair("p12", SOURCE, TARGET, {"anna": noted}))
    create_project(path, Corpus(pairs))
    with served(path) as running, web.browser() as context:
        desk = Desk(running, context)
        desk.enter()
        yield desk


@pytest.fixture
def desk(desks):
    desks.problems.clear()
    yield desks
    for page in desks.context.pages:
        page.close()
    desks.context.unroute_all()
    desks.context.set_offline(False)
    assert desks.problems == []


def comments(page, k):
    return pair(page, k)["state"]["comments"]


def asked(page):
    page.wait_for_selector("#conflict:not([hidden])")
    return page.inner_text("#conflict-text")


def test_a_comment_never_overwrites_one_that_came_while_it_was_typed(desk):
    left, right = desk.tab(1), desk.tab(1)
    on_pair(left)
    left.focus("#comment")
    left.keyboard.type("of the left")
    on_pair(right)
    right.fill("#comment", "of the right")
    right.press("#comment", "Enter")
    saved(right)
    until(lambda: "of the right" in left.inner_text("#comment-list"))
    left.press("#comment", "Enter")
    assert "“of the right” in your other tab; here “of the left”" in asked(left)
    assert comments(left, 1) == [["", "of the right"]]
    left.click("#keep-this")
    until(lambda: comments(left, 1) == [["", "of the left"]])


def test_a_refusal_by_a_corrected_text_names_the_words_of_then(desk):
    page = desk.tab(2)
    press(page, "ArrowDown s ArrowDown ArrowRight ArrowRight s d")
    saved(page)
    desk.context.set_offline(True)
    press(page, "s x ArrowUp ArrowLeft s f c")
    page.keyboard.type("of a word")
    press(page, "Escape")
    on_pair(page)
    page.fill("#comment", "of the pair")
    press(page, "Enter")
    desk.correct(2, ("house",), ("haus", "alte"))
    desk.context.set_offline(False)
    text = asked(page)
    assert "the text has changed" in text
    assert "was linked: old ~ alte" in text
    assert "was cleared: house ~ haus" in text
    assert "comment" not in text  # both go to the pair
    assert "other tab" not in text
    expect(page.locator("#keep-this")).to_be_hidden()
    page.reload()
    assert asked(page) == text  # until it is dismissed
    page.click("#keep-that")
    page.wait_for_selector("#conflict", state="hidden")
    saved(page)
    # they hold whatever the words are
    assert comments(page, 2) == [["", "of the pair\ncomment on old ~ alte: of a word"]]
    eventually(links, page, 2, wanted=drawn(page))
    page.reload()
    page.wait_for_selector("body[data-pair='2']")
    saved(page)
    expect(page.locator("#conflict")).to_be_hidden()


def test_what_the_server_never_takes_is_not_said_of_the_other_tab(desk):
    page, statuses = desk.tab(3), [400, 404, 413, 422]
    body = json.dumps({"message": "this is not to be had"})
    desk.context.route(
        "**/api/pairs/3/events",
        lambda route: route.fulfill(status=statuses[0], body=body, content_type="application/json"),
    )
    while statuses:
        press(page, "s d")
        text = asked(page)
        assert "not saved: this is not to be had: was linked: the ~ das" in text
        assert "other tab" not in text
        expect(page.locator("#keep-this")).to_be_hidden()
        eventually(drawn, page, wanted=[])
        page.click("#keep-that")
        page.wait_for_selector("#conflict", state="hidden")
        statuses.pop(0)


def test_several_refused_edits_of_one_cell_are_asked_about_once(desk):
    window = desk.context.browser.new_context(storage_state=desk.context.storage_state())
    left, right = desk.tab(4), desk.tab(4, window)  # each with an outbox of its own
    desk.context.set_offline(True)
    press(left, "s d x ArrowRight s u ArrowRight s u")
    press(right, "d ArrowRight ArrowRight d")
    saved(right)
    desk.context.set_offline(False)
    text = asked(left)
    assert text == "the ~ das: set possible in your other tab; here no link."
    press(left, "_ Enter s x")  # keys that were on their way choose nothing
    assert asked(left) == text
    left.click("#keep-this")
    saved(left)
    expect(left.locator("#conflict")).to_be_hidden()
    until(lambda: links(left, 4) == [(0, 2, 1)])  # what was undone is not asked about
    until(lambda: drawn(left) == drawn(right) == [(0, 2, 1)])
    window.close()


def test_a_comment_that_is_being_typed_outlives_escape_reload_and_closing(desk):
    page = desk.tab(5)
    press(page, "s c")
    page.keyboard.type("typed")
    press(page, "Escape")
    saved(page)
    until(lambda: page.evaluate("!!document.activeElement.closest('#matrix')"))
    assert comments(page, 5) == [["0-0", "typed"]]
    press(page, "c")
    page.keyboard.type(" on")
    page.reload()
    page.wait_for_selector("body[data-pair='5']")
    until(lambda: comments(page, 5) == [["0-0", "typed on"]])
    press(page, "m a")  # to the first word
    until(lambda: page.input_value("#comment") == "typed on")
    other = desk.tab(6)
    page.focus("#comment")
    page.keyboard.type("!")
    page.close(run_before_unload=True)
    until(lambda: comments(other, 5) == [["0-0", "typed on!"]])


def held(page, keys):
    page.evaluate(_HELD, keys)


def test_undo_goes_on_beyond_what_the_page_knows(desk):
    page, refused = desk.tab(7), []
    page.on("response", lambda reply: refused.append(reply.status) if reply.status >= 400 else None)
    held(page, "sd" * 60 + "s")
    saved(page)
    page.reload()
    page.wait_for_selector("body[data-pair='7']")
    held(page, "u" * 121)
    until(lambda: pair(page, 7)["undo"] == [])
    saved(page)
    assert drawn(page) == links(page, 7) == []
    held(page, "u")
    until(lambda: "nothing to undo" in page.inner_text("#status-text"))
    held(page, "r" * 121)
    until(lambda: pair(page, 7)["redo"] == [])
    saved(page)
    assert drawn(page) == links(page, 7) == [(0, 0, 2)]
    assert refused == []


def test_what_was_looked_at_outlives_a_reload(desk):
    cells, bulk = [[0, 0, 0, 2], [1, 1, 0, 2]], [[0, 0, 0, 1], [1, 1, 0, 1]]
    taken = json.dumps({"how": "accept-all", "cells": cells, "bulk": bulk}).encode()
    event = Sent(str(uuid4()), "edit", Raw(taken))
    append(desk.store, 8, "anna", base=0, rev=1, events=[event])
    page = desk.tab(8)
    press(page, "m a")  # to the first word
    page.reload()
    page.wait_for_selector("body[data-pair='8']")
    until(lambda: pair(page, 8)["state"]["bulk"] == [[1, 1]])
    saved(page)


def test_the_last_pair_done_ends_with_the_export(desk, tmp_path):
    path = str(tmp_path / "work.alignkit")
    create_project(path, Corpus(SentencePair(f"p{k}", SOURCE, TARGET) for k in range(1, 5)))
    with served(path) as running:
        short = Desk(running, desk.context)
        short.enter()
        page, other = short.tab(1), short.tab(2)
        page.wait_for_load_state("networkidle")  # the next pair is at hand, not done as yet
        other.click("#done")
        saved(other)
        for k in (3, 4):
            press(page, "Control+Enter")
            page.wait_for_selector(f"body[data-pair='{k}']")
        press(page, "Control+Enter")
        page.wait_for_selector("#export-dialog[open]")
        expect(page.locator("#export-dialog h2")).to_have_text("All 4 pairs are done")
        expect(page.locator("#progress-text")).to_have_text("4 / 4")
        press(page, "Escape Control+Enter")
        page.wait_for_selector("#export-dialog[open]")
        expect(page.locator("body")).to_have_attribute("data-pair", "4")
        page.close(), other.close()
    assert short.problems == []


def test_on_a_full_disk_the_page_says_what_the_server_says_and_keeps_the_edits(desk, monkeypatch):
    page, database = desk.tab(9), desk.store.database
    with monkeypatch.context() as patch:
        pragmas = [*database._pragmas(), "max_page_count=1"]  # as large as it is
        patch.setattr(database, "_pragmas", lambda: pragmas)
        database.engine.dispose()
        on_pair(page)
        page.fill("#comment", "much " * 3000)
        page.press("#comment", "Enter")
        full = "the disk is full: free some space; nothing was changed: 1 edit kept in this browser"
        until(lambda: page.inner_text("#saved") == full)
        assert all(full in page.inner_text(part) for part in ("#status-text", "#live"))
        page.wait_for_timeout(2500)  # polls are answered, which is no reason to call it stored
        expect(page.locator("#saved")).to_have_text(full)
    database.engine.dispose()
    saved(page)
    assert comments(page, 9) == [["", ("much " * 3000).strip()]]


def test_a_comment_stays_as_it_was_stored(desk):
    page = desk.tab(12)
    for key, k in (("p", 11), ("n", 12)):
        press(page, key)
        page.wait_for_selector(f"body[data-pair='{k}']")
    saved(page)
    assert comments(page, 12) == [["0-0", "one\r\ntwo"]]  # looking at it wrote nothing
    on_pair(page)
    page.focus("#comment")
    page.keyboard.type("abc ")
    page.evaluate("dispatchEvent(new Event('pagehide'))")
    until(lambda: ["", "abc"] in comments(page, 12))
    page.keyboard.type("d\x01ef")
    page.keyboard.press("Enter")
    until(lambda: ["", "abc def"] in comments(page, 12))
    expect(page.locator("#conflict")).to_be_hidden()


def test_no_key_leads_into_the_corner_of_the_nulls(desk):
    page = desk.tab(10)
    press(page, "Control+ArrowDown Control+ArrowDown Control+ArrowRight ArrowRight")
    i, j = web.cursor(page)
    assert (i == 3) != (j == 3)
    press(page, "s ArrowDown ArrowRight s")
    saved(page)
    expect(page.locator("#conflict")).to_be_hidden()
