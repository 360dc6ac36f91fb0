"""The page in a real browser: keyboard, mouse, touch, undo, tabs, a server that stops."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import annotate_browser as web
import pytest
from annotate_browser import (
    browser,
    cursor,
    drawn,
    enter,
    eventually,
    links,
    pair,
    press,
    reach,
    saved,
    settle,
    until,
)
from annotation_server import served
from playwright.sync_api import expect

from alignkit import Alignment, Corpus, SentencePair, write_corpus
from alignkit.annotate.assignment import assign_pairs, assigned_rows
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import SuggestionPlan

pytestmark = web.BROWSER
HOSTILE = "<img src=x onerror=alert(1)>"
LINKS = {"auto": Alignment.parse("1-2 3-3 4-4 5-5 6-7 7-8")}
PAIRS = [
    SentencePair("one", web.SOURCE, web.TARGET, LINKS),
    SentencePair(
        HOSTILE,
        [HOSTILE, "<script>alert(2)</script>", "c"],
        ["javascript:alert(3)", "\u202eabc", '"><svg onload=alert(4)>'],
    ),
    SentencePair("three", ["one", "two"], ["اثنان", "واحد"]),
]
INITIAL = SuggestionPlan("initial", "auto")
TABLET = {"viewport": {"width": 768, "height": 1024}, "has_touch": True}


@pytest.fixture
def project(tmp_path):
    path = str(tmp_path / "work.alignkit")
    create_project(path, Corpus(PAIRS))
    return path


@pytest.fixture
def page(project, problems):
    with served(project, plan=INITIAL) as server, browser() as context:
        yield enter(context, server.url, problems)


@pytest.mark.parametrize("hidden", [False, True])
def test_the_focus_names_the_systems_that_vote(tmp_path, problems, hidden):
    said = {
        name: Alignment.parse(links)
        for name, links in (("auto", "0-0 3-3"), ("two/1", "3-3 4-4"), ("two/2", "3-3"))
    }
    corpus = tmp_path / "corpus.jsonl"
    write_corpus(Corpus([SentencePair("1", web.SOURCE, web.TARGET, said)]), str(corpus))
    words = ["--suggestions", "vote", "--evidence", "auto", "--evidence", "two"]
    more = ["--hide-systems"] * hidden
    with web.serving(corpus, *words, *more) as server, browser() as context:
        page = enter(context, server.url, problems)
        voting = "2 systems" if hidden else "auto, two"
        page.wait_for_selector(f"#suggested-by:has-text('Vote of {voting} and the aligner.')")
        reach(page, 3, 3)
        ends = r"" if hidden else ": auto, two/1, two/2"
        wanted = re.compile(rf"suggested, \d+ percent of votes{ends}$")
        until(lambda: wanted.search(page.get_attribute("#matrix .here", "aria-label")))
        until(lambda: wanted.search(page.inner_text("#status-text")))
        press(page, "Enter")
        saved(page)
        assert (3, 3, 2) in links(page)


@pytest.fixture
def blank(project, problems):
    with served(project) as server, browser() as context:
        yield enter(context, server.url, problems)


def test_edits_by_key_and_undo_across_a_restart(project, problems):
    with browser() as context:
        with served(project, plan=INITIAL) as server:
            page = enter(context, server.url, problems)
            expect(page.locator("#suggestions")).to_contain_text("Words of the target")
            press(page, "a")
            before = cursor(page)
            press(page, "Enter")  # the first doubtful word as it is shown
            assert cursor(page) != before
            reach(page, 0, 1)
            press(page, "d Shift+ArrowLeft d w Control+Enter", to=2)
            press(page, "p", to=1)
            saved(page)
            eventually(links, page, wanted=drawn(page))
            assert {(0, 0, 1), (0, 1, 1)} <= set(links(page))
            state = pair(page, 1)["state"]
            kept = {tuple(cell) for cell in state["bulk"]}
            assert kept
            assert not kept & {(0, 0), (0, 1)}
            assert [0, -1] in state["settled"]
            held = links(page)
            page.close()
        with served(project) as server:
            page = enter(context, server.url, problems)
            page.goto(page.url.split("?")[0] + "?pair=1")
            page.wait_for_selector("body[data-pair='1']")
            eventually(drawn, page, wanted=held)
            expect(page.locator("#suggestions")).to_contain_text("Words of the source")
            press(page, "u u u u")
            saved(page)
            assert links(page) == drawn(page) == []
            expect(page.locator("#status-text")).to_contain_text("undone")
            press(page, "r r r r")
            saved(page)
            assert links(page) == drawn(page) == held
            kinds = [event["kind"] for event in history(page) if event["kind"] != "open"]
            assert kinds[-8:] == ["undo"] * 4 + ["redo"] * 4


def test_blocked_boxes_name_the_link_that_blocks_them(page):
    settle(page)
    reach(page, 0, 2)
    press(page, "s ArrowDown Shift+ArrowLeft")
    expect(page.locator("#matrix .cells")).to_have_attribute("data-box-kind", "blocked")
    text = page.inner_text("#status-text")
    told = r"not a phrase pair: (\S+) is also linked to (\S+), outside the box"
    inside, outside = re.search(told, text).groups()  # type: ignore[union-attr]
    top, bottom, left, right = map(int, page.get_attribute("#matrix .cells", "data-box").split(","))
    saved(page)
    blocking = {(i, j) for i, j, _ in links(page) if (top <= i <= bottom) != (left <= j <= right)}
    assert (inside, outside) in {
        (web.SOURCE[i], web.TARGET[j]) if top <= i <= bottom else (web.TARGET[j], web.SOURCE[i])
        for i, j in blocking
    }
    visited = []
    for _ in blocking:
        press(page, "o")
        visited.append(cursor(page))
    assert sorted(visited) == sorted(blocking)
    press(page, "b")
    expect(page.locator("#matrix .cells")).to_have_attribute("data-box-kind", "phrase")
    press(page, "Escape")
    until(lambda: page.get_attribute("#matrix .cells", "data-box") is None)


def test_keys_go_on_after_the_window_has_changed_its_size(page):
    cell = "document.querySelector('#matrix .here')"
    page.evaluate(f"window.before = {cell}")
    before = cursor(page)
    page.set_viewport_size({"width": 700, "height": 500})
    until(lambda: page.evaluate(f"{cell} !== window.before"))
    until(lambda: page.evaluate(f"document.activeElement === {cell}"))
    press(page, "Enter")
    assert cursor(page) != before


def test_edits_by_mouse_and_by_touch(project, problems):
    with served(project) as server:
        with browser() as context:
            page = enter(context, server.url, problems)
            page.mouse.click(*web.middle(page, 2, 2))
            page.mouse.click(*web.middle(page, 2, 2))
            eventually(drawn, page, wanted=[(2, 2, 1)])
            web.drag(page, web.middle(page, 0, 0), web.middle(page, 1, 1), steps=4)
            eventually(drawn, page, wanted=[(0, 0, 2), (0, 1, 2), (1, 0, 2), (1, 1, 2), (2, 2, 1)])
            web.drag(page, web.middle(page, 0, 0), web.middle(page, 1, 1), steps=4)
            saved(page)
            assert links(page) == drawn(page) == [(2, 2, 1)]
            plain = page.evaluate("fetch('/api/project').then(reply => reply.status)")
            assert plain == 403  # it had the cookie alone
            state = context.storage_state()
        with browser(storage_state=state, **TABLET) as context:
            page = enter(context, server.url.split("#")[0], problems)
            page.touchscreen.tap(*web.middle(page, 4, 4))
            expect(page.locator("#matrix .hover")).to_have_count(0)
            assert (4, 4, 2) in drawn(page)
            page.tap("#tools [data-action=possible]")
            page.tap("#tools [data-action=undo]")
            saved(page)
            assert links(page) == drawn(page) == [(2, 2, 1), (4, 4, 2)]
            shown = page.locator("#tools button:visible")
            boxes = [button.bounding_box() for button in shown.all()]
            assert min(box["height"] for box in boxes) >= 48


def test_no_click_and_no_block_scrolls_a_matrix_that_is_larger_than_the_page(tmp_path, problems):
    words, large = [f"w{at}" for at in range(60)], str(tmp_path / "large.alignkit")
    create_project(large, Corpus([SentencePair("long", words, words)]))
    with served(large) as server, browser(viewport={"width": 900, "height": 600}) as context:
        page = enter(context, server.url, problems)
        box = page.locator("#matrix").bounding_box()
        x, y = box["x"] + box["width"] - 25, box["y"] + box["height"] - 25
        for step in range(2):
            page.mouse.click(x, y)  # the second time on the same cell
            page.mouse.click(x, y)
            assert [value for *_, value in drawn(page)] == [1] * (1 + step)
            assert scrolled(page) == [30 * step] * 2
            page.eval_on_selector("#matrix", "part => part.scrollTo(30, 30)")
        web.drag(page, (x - 50, y - 50), (x, y), steps=5)
        assert len(drawn(page)) >= 9
        assert scrolled(page) == [30, 30]
        place = cursor(page)
        press(page, "ArrowDown ArrowDown ArrowRight ArrowRight")  # keys do
        eventually(cursor, page, wanted=(place[0] + 2, place[1] + 2))
        assert min(scrolled(page)) > 30


def scrolled(page):
    places = "part => [part.scrollLeft, part.scrollTop].map(Math.round)"
    return page.eval_on_selector("#matrix", places)


def test_a_null_says_which_links_it_drops_and_undo_brings_them_back(blank):
    press(blank, "s ArrowRight d")
    held = drawn(blank)
    press(blank, "Control+ArrowRight Control+ArrowRight s")  # the first word has no partner
    eventually(drawn, blank, wanted=[(0, -1, 2)])
    said = "they ~ ∅: null, sure; dropped: they ~ both, they ~ sides (u undoes)"
    expect(blank.locator("#status-text")).to_contain_text(said)
    expect(blank.locator("#live")).to_contain_text(said)
    press(blank, "ArrowLeft s")
    expect(blank.locator("#live")).to_contain_text("dropped: they ~ ∅")
    press(blank, "u u")
    eventually(drawn, blank, wanted=held)
    saved(blank)
    eventually(links, blank, wanted=held)


def test_export_equals_the_links_drawn(blank):
    press(blank, "s ArrowDown ArrowRight d Control+Enter", to=2)
    press(blank, "Control+Enter")
    saved(blank)
    blank.click("[data-action=export]")
    box = [blank.locator(part).bounding_box() for part in ("#export-dialog", "#export-format")]
    assert box[1]["x"] + box[1]["width"] < box[0]["x"] + box[0]["width"] - 8
    blank.select_option("#export-format", "alignkit-jsonl")
    with blank.expect_download() as download:
        blank.click("#export-link")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    found = {row["id"]: row.get("annotations", {}).get("anna") for row in rows[1:]}
    assert (found["one"]["sure"], found["one"]["possible"]) == ("0-0", "1-1")
    assert found[HOSTILE] is not None  # done without links
    assert not found["three"]


def test_works_over_http_on_another_host_name(project, problems):
    with served(project, names=["lab.example"]) as server, browser() as context:
        page = enter(context, server.url.replace("127.0.0.1", "lab.example"), problems)
        assert page.evaluate("isSecureContext") is False
        press(page, "s")
        saved(page)
        assert len(links(page)) >= 1


def test_hostile_words_and_comments_stay_text(blank):
    press(blank, "n", to=2)
    press(blank, "s f c")
    blank.keyboard.type(HOSTILE)
    press(blank, "Enter")
    saved(blank)
    until(lambda: HOSTILE in blank.inner_text("#comment-list"))
    assert blank.query_selector("img") is None
    for action in ("history", "find", "help"):
        blank.evaluate("name => document.querySelector(`[data-action=${name}]`).click()", action)
        blank.wait_for_timeout(200)
        blank.keyboard.press("Escape")
    expect(blank.locator("#pair-id")).to_have_text(HOSTILE)
    assert pair(blank, 2)["state"]["comments"] == [["0-0", HOSTILE]]


def test_a_screen_reader_is_told_of_cells_and_edits(blank):
    press(blank, "s ArrowRight")
    here = blank.evaluate("document.activeElement.getAttribute('aria-label')")
    assert here == "they, 1 of 8; sides, 2 of 9: no link"
    before = blank.evaluate_handle("document.activeElement")
    press(blank, "d")
    expect(blank.locator("#live")).to_contain_text("they ~ sides: possible")
    press(blank, "ArrowDown")
    assert blank.evaluate("one => document.activeElement !== one", before)
    expect(blank.locator("#matrix .cells")).to_have_attribute("aria-rowcount", "9")


def test_columns_of_a_right_to_left_target_are_mirrored(blank):
    press(blank, "n", to=2)
    press(blank, "n", to=3)
    for keys, column in (("", 0), ("ArrowLeft", 1), ("ArrowRight ArrowRight", 2)):
        press(blank, keys)
        eventually(cursor, blank, wanted=(0, column))  # the nulls, at the right


def history(page):
    return web.ask(page, "/api/pairs/1/history")["events"]


def test_a_finger_pans_and_draws_after_resting(project, problems):
    with served(project) as server, browser(**TABLET) as context:
        page = enter(context, server.url, problems)
        touch = context.new_cdp_session(page)

        def draw(rest):
            cells = web.middle(page, 1, 1), web.middle(page, 2, 3)
            places = [dict(zip("xy", place, strict=True)) for place in cells]
            for kind, points in (("Start", places[:1]), ("Move", places[1:]), ("End", [])):
                event = {"type": f"touch{kind}", "touchPoints": points}
                touch.send("Input.dispatchTouchEvent", event)
                page.wait_for_timeout(rest)

        draw(0)
        eventually(drawn, page, wanted=[])
        draw(400)
        eventually(drawn, page, wanted=[(i, j, 2) for i in (1, 2) for j in (1, 2, 3)])
        page.tap("#block")
        draw(0)
        eventually(drawn, page, wanted=[])  # a full block is cleared
        page.locator(".sentence").first.locator("span").nth(3).tap()
        assert cursor(page)[0] == 3


def dispatch(page, **key):
    page.evaluate(
        "key => document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
        " { bubbles: true, cancelable: true, ...key }))",
        key,
    )


def test_keys_act_by_place_where_the_script_has_no_latin_letters(blank):
    for key, held in (
        ({"key": "ы", "code": "KeyS"}, [(0, 0, 2)]),
        ({"key": "ч", "code": "KeyX"}, []),
        ({"key": "s", "code": "KeyS", "altKey": True}, []),
        ({"key": "S", "code": "KeyS", "modifierCapsLock": True}, [(0, 0, 2)]),
    ):
        dispatch(blank, **key)
        assert drawn(blank) == held, key
    blank.locator("#comment").focus()
    blank.keyboard.type("x")
    eventually(drawn, blank, wanted=[(0, 0, 2)])


def test_a_refused_comment_is_asked_about_even_after_another_pair(project, problems):
    with served(project, plan=INITIAL) as server, browser() as context:
        left, right = enter(context, server.url, problems), context.new_page()
        right.goto(left.url)
        right.wait_for_selector("body[data-pair]")
        saved(left), saved(right)
        context.route("**/api/pairs/1/events", lambda route: route.abort())
        for tab, text in ((left, "of the left"), (right, "of the right")):
            web.on_pair(tab)
            tab.fill("#comment", text)
            tab.press("#comment", "Enter")
            tab.evaluate("document.activeElement.blur()")
        right.focus("#matrix .here")
        press(right, "n", to=2)
        context.unroute("**/api/pairs/1/events")
        until(lambda: pair(left, 1)["state"]["comments"])
        until(lambda: any("not saved" in tab.inner_text("#status-text") for tab in (left, right)))
        for tab in (left, right):
            tab.goto(tab.url.split("?")[0] + "?pair=1")
            tab.wait_for_selector("body[data-pair='1']")
            if tab.is_visible("#conflict"):
                break
        expect(tab.locator("#conflict-text")).to_contain_text("in your other tab; here")
        (first,) = pair(tab, 1)["state"]["comments"]
        tab.click("#keep-this")
        until(lambda: pair(tab, 1)["state"]["comments"] != [first])
        saved(tab)
        tab.reload()
        tab.wait_for_selector("body[data-pair='1']")
        expect(tab.locator("#conflict")).to_be_hidden()


def test_keys_of_words_go_on_and_those_of_cells_stay(page):
    shown = "#matrix .mark.likely"
    press(page, "a")
    assert (page.locator(shown).count(), drawn(page)) == (6, [])
    reach(page, 1, 2)
    press(page, "Escape")  # at the word again
    press(page, "Digit1")
    eventually(drawn, page, wanted=[(1, 2, 2)])
    assert cursor(page)[0] > 1
    press(page, "k")
    reach(page, 3, 3)
    press(page, "Escape Backspace")
    assert (drawn(page), page.locator(shown).count()) == ([(1, 2, 2)], 4)
    press(page, "Control+z")
    assert (cursor(page)[0], page.locator(shown).count()) == (3, 5)
    press(page, "Shift+Digit2")  # adds to what is shown, and stays
    assert {cell[:2] for cell in drawn(page)} > {(1, 2), (3, 3)}
    assert len(drawn(page)) == 3
    press(page, "d")  # the link that was added alone
    assert sorted(value for *_, value in drawn(page)) == [1, 2, 2]
    press(page, "Shift+Digit2 Enter")
    eventually(drawn, page, wanted=[(1, 2, 2), (3, 3, 2)])
    reach(page, 4, 4)
    press(page, "Escape e")  # the partners of the word before
    eventually(drawn, page, wanted=[(1, 2, 2), (3, 3, 2), (4, 3, 2)])
    press(page, "u")
    for key, at, most in (("w", 0, 8), ("t", 1, 9)):
        bare = page.evaluate(BARE, at)
        assert bare
        reach(page, 0, 0)
        for name, step in ((key, 1), (key, 1), (key.upper(), -1), (key.upper(), -1)):
            before = cursor(page)[at]
            press(page, name)
            later = [(before + step * k) % (most + 1) for k in range(1, most + 1)]
            assert cursor(page)[at] == next(word for word in later if word in bare), name
    saved(page)
    assert drawn(page) == links(page) == [(1, 2, 2), (3, 3, 2)]
    outlines = "document.querySelector('#matrix .phrase.all').getAttribute('d')"
    press(page, "f")
    until(lambda: page.evaluate(outlines))
    expect(page.locator("#status-text")).to_contain_text("all atomic phrase pairs")
    press(page, "f f")
    until(lambda: not page.evaluate(outlines))


BARE = """side => [...document.querySelectorAll(".sentence")[side].querySelectorAll("span")]
    .flatMap((word, at) => word.classList.contains("bare") ? [at] : [])"""


def test_keys_that_lead_elsewhere(project, problems):
    with served(project, plan=INITIAL) as server, browser() as context:
        page = enter(context, server.url, problems)
        press(page, "n", to=2)
        press(page, "p", to=1)
        press(page, "l")
        until(lambda: page.evaluate("document.activeElement.closest('#judgment') !== null"))
        press(page, "Escape")
        until(lambda: page.evaluate("document.activeElement.matches('#matrix .here')"))
        press(page, "/")
        page.keyboard.type("three")
        page.click("#find-list button:has-text('three')")
        page.wait_for_selector("body[data-pair='3']")
        dispatch(page, key=".", code="Slash")  # Russian
        page.wait_for_selector("#find-dialog[open]")
        press(page, "Escape")
        with context.expect_page() as guidelines:
            page.focus("#matrix .here")
            press(page, "g")
        assert guidelines.value.url.endswith("/guidelines")


def test_who_must_not_see_suggestions_is_told_why_there_are_none(tmp_path, problems):
    project = str(tmp_path / "work.alignkit")
    create_project(project, Corpus(replace(PAIRS[0], id=str(k)) for k in range(1, 4)))
    with Store.open(project) as store:
        assign_pairs(store, ["anna", "ben"], control=1.0)
        with store.database.reading() as conn:
            shown = {row.k: row.shown for row in assigned_rows(conn) if row.annotator == "anna"}
    assert {*shown.values()} == {True, False}
    with served(project, plan=INITIAL) as server, browser() as context:
        page = enter(context, server.url, problems)
        for k, seen in shown.items():
            page.goto(f"{page.url.split('?')[0]}?pair={k}")
            page.wait_for_selector(f"body[data-pair='{k}']")
            there, other = "#hide", "#without-suggestions"
            if not seen:
                there, other = other, there
            page.wait_for_selector(there)
            expect(page.locator(other)).to_be_hidden()
            if not seen:
                why = page.inner_text("#without-suggestions p")
                assert why.startswith("No links are suggested")


def test_hidden_suggestions_are_neither_shown_nor_rejected(page):
    press(page, "a")
    reach(page, 1, 2)
    press(page, "x h")
    until(lambda: page.inner_text("#hide") == "Show")
    expect(page.locator("#matrix .mark")).to_have_count(0)
    expect(page.locator("#matrix .signs text")).to_have_count(0)
    here = "document.activeElement.getAttribute('aria-label')"
    reach(page, 3, 3)
    press(page, "x _ _ _ x")
    until(lambda: page.evaluate(here).endswith(": no link"))
    expect(page.locator("#live")).not_to_contain_text("reject")
    press(page, "d")
    until(lambda: page.evaluate(here).endswith(": possible"))
    saved(page)
    state = pair(page, 1)["state"]
    assert (state["cells"], state["rejected"]) == ([[3, 3, 1]], [])
    assert state["settled"] == [[1, -1], [3, -1]]
    edits = [event["data"] for event in history(page) if event["kind"] == "edit"]
    assert not any({"p", "set", "rejected"} & data.keys() for data in edits[1:])
    press(page, "h")
    until(lambda: page.locator("#matrix .mark.likely").count() == 4)


def test_a_finger_chooses_among_candidates_and_adds_words_of_the_sentence(project, problems):
    with served(project, plan=INITIAL) as server, browser(**TABLET) as context:
        page = enter(context, server.url, problems)
        buttons = "#finger-choices button"
        page.tap("#tools [data-action=side]")
        word = cursor(page)[0]
        expect(page.locator("#finger-word b")).to_have_text(web.SOURCE[word])
        page.tap(f"{buttons}:has-text('none')")
        until(lambda: page.inner_text("#finger-word b") != web.SOURCE[word])
        while cursor(page)[0] != 3:
            page.tap("#tools [data-action=doubtful]")
        until(lambda: page.inner_text(f"{buttons}.main") == "✓ the")
        heights = [one.bounding_box()["height"] for one in page.locator(buttons).all()]
        assert min(heights) >= 44
        page.locator(".sentence >> nth=1 >> span").nth(5).tap()
        eventually(drawn, page, wanted=[(3, 3, 2), (3, 5, 2)])
        page.locator(".sentence >> nth=1 >> span").nth(3).tap()
        eventually(drawn, page, wanted=[(3, 5, 2)])
        page.locator(".sentence >> nth=0 >> span").nth(5).tap()
        assert cursor(page)[0] == 5
        until(lambda: page.inner_text("#finger-word b") == web.SOURCE[5])
        page.tap(f"{buttons}.main")
        for action in ("undo", "redo"):
            page.tap(f"#tools [data-action={action}]")
        saved(page)
        assert links(page) == drawn(page) == [(3, 5, 2), (5, 5, 2)]
        settle(page)
        left = [set(page.evaluate(BARE, side)) for side in (0, 1)]
        assert all(left)
        places = []
        for _ in range(2 * len(left[0]) + len(left[1])):
            page.tap("#tools [data-action=unaligned]")
            places.append(cursor(page))
        assert all({place[side] for place in places} >= words for side, words in enumerate(left))
        page.tap("#comment")
        boxes = [page.locator(name).bounding_box() for name in ("aside", "#flags", "#comment")]
        panel, *parts = boxes
        low = panel["y"] + panel["height"]
        assert all(part["y"] + part["height"] <= low for part in parts), boxes


def test_a_mouse_over_a_cell_names_its_words_and_changes_nothing(page):
    place, text = cursor(page), page.inner_text("#status-text")
    page.evaluate(WATCHED)
    page.mouse.move(*web.middle(page, 4, 6))
    until(lambda: page.inner_text("#status-text") == "plan ~ reached no link")
    words = page.locator("#matrix .near").evaluate_all("all => all.map(one => one.firstChild.data)")
    assert words == ["reached", "plan"]
    expect(page.locator("#matrix .hover")).to_have_count(2)
    eventually(
        page.evaluate, "[...window.seen].sort()", wanted=["circle", "rect", "text"]
    )  # no cell
    eventually(cursor, page, wanted=place)
    until(lambda: page.evaluate("document.activeElement === window.focused"))
    page.mouse.move(2, 2)
    until(lambda: page.inner_text("#status-text") == text)
    page.mouse.move(*web.middle(page, 4, 6))
    until(lambda: page.locator("#matrix .hover").count() == 2)
    press(page, "ArrowDown")  # the keys have a cursor of their own
    expect(page.locator("#matrix .hover")).to_have_count(0)
    row, column = cursor(page)
    named = f"{web.SOURCE[row]} ~ {web.TARGET[column]}"
    until(lambda: page.inner_text("#status-text").startswith(named))


WATCHED = """() => {
    window.seen = new Set(), window.focused = document.activeElement;
    const note = rows => rows.forEach(({target, addedNodes, removedNodes}) =>
        window.seen.add(addedNodes.length + removedNodes.length ? "node" : target.localName));
    new MutationObserver(note).observe(document.querySelector("#matrix"),
        {attributes: true, childList: true, subtree: true});
}"""


def test_the_foot_shows_the_keys_that_act_now_and_says_what_enter_does(page):
    def shown():
        return page.locator("#hints span").all_inner_texts()

    press(page, "a")
    settled = ["m go to word", "j next word", "u undo", "? keys", "Ctrl+↵ done"]
    reach(page, 1, 2)
    until(lambda: shown()[:4] == ["↵ accept", "s sure", "d possible", "x no link"])
    press(page, "Escape")
    until(lambda: shown()[:3] == ["↵ keep", "⇧1-9 add, remove", "m go to word"])
    until(lambda: page.inner_text("#status-text").startswith("talked → discussed "))
    press(page, "s")
    until(lambda: shown() == ["↵ next", "⇧1-9 add, remove", *settled])
    press(page, "x")
    until(lambda: page.inner_text("#status-text").startswith("talked → no link"))
    high = page.locator("footer").bounding_box()["height"]
    settle(page)
    until(lambda: shown() == ["m go to word", "u undo", "? keys", "Ctrl+↵ done"])
    expect(page.locator("#status-text")).to_contain_text("No doubtful word is left. Ctrl+Enter")
    assert page.locator("footer").bounding_box()["height"] == high == 42
    expect(page.locator("#matrix .signs text")).to_have_count(0)


def test_marks_of_suggestions_differ_in_the_smallest_cell():
    with web.modules() as page:
        sizes = page.evaluate(RINGS)
    assert all(later - earlier >= 2 for earlier, later in pairwise(sizes)), sizes
    assert sizes[0] >= 4
    assert sizes[-1] <= 18 - 3


RINGS = """async () => {
    const {shapes} = await import("/page/shapes.js");
    const {svg, set, path} = await import("/page/dom.js");
    const root = document.body.appendChild(svg("svg"));
    return shapes(18).rings.map(d => root.appendChild(set(path(""), {d})).getBBox().width);
}"""


def test_find_lists_all_pairs_and_those_of_a_kind(blank):
    def listed():
        return blank.locator("#find-list [data-k] > span").all_inner_texts()

    press(blank, "s /")
    until(lambda: listed() == ["one", HOSTILE, "three"])
    expect(blank.locator("#find-list .current span")).to_have_text("one")
    for kind, names in (("Mine", ["one"]), ("Done", []), ("Open", ["one", HOSTILE, "three"])):
        blank.click(f".kinds button:text-is('{kind}')")
        until(lambda names=names: listed() == names)
        assert bool(blank.inner_text("#find-message")) == (not names)
    blank.fill("#find-text", "three")
    until(lambda: listed() == ["three"])
    press(blank, "Enter", to=3)


def test_the_button_in_the_header_goes_on_and_reopens_what_is_done(blank):
    blank.click("#done")
    blank.wait_for_selector("body[data-pair='2']")
    press(blank, "p", to=1)
    expect(blank.locator("#done")).to_have_attribute("aria-pressed", "true")
    blank.click("#done")
    expect(blank.locator("#done")).to_have_attribute("aria-pressed", "false")
    saved(blank)
    assert (blank.get_attribute("body", "data-pair"), pair(blank, 1)["state"]["done"]) == (
        "1",
        False,
    )
