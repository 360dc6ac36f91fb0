"""In a browser: keys go from one doubtful word to the next, and store what they say."""

import json
import re
from pathlib import Path

import annotate_browser as web
import pytest
from annotate_browser import (
    ask,
    browser,
    cursor,
    drawn,
    enter,
    eventually,
    links,
    pair,
    press,
    saved,
    until,
)
from annotation_server import served
from command import PARAPHRASES
from playwright.sync_api import expect

from alignkit import Alignment, Corpus, SentencePair
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.child import SuggestionPlan

pytestmark = web.BROWSER
LINKS = {"auto": Alignment.parse("0-0 1-1 2-2 3-3")}
WORDS = ["a", "b", "c", "d", "e"]
TEXT = ["v", "w", "x", "y", "z", "."]
LONG = [f"w{at}" for at in range(40)]
PAIRS = [
    SentencePair("one", WORDS, TEXT, LINKS),
    SentencePair("long", LONG, [*LONG, "more"], {"auto": Alignment((at, at) for at in range(20))}),
]
INITIAL = SuggestionPlan("initial", "auto")


@pytest.fixture
def project(tmp_path):
    path = str(tmp_path / "work.alignkit")
    create_project(path, Corpus(PAIRS))
    return path


@pytest.fixture
def page(project, problems):
    with served(project, plan=INITIAL) as server, browser() as context:
        yield enter(context, server.url, problems)


def events(page, kind):
    saved(page)
    every = ask(page, "/api/pairs/1/history")["events"]
    return [event["data"] for event in every if event["kind"] == kind]


@pytest.mark.slow
def test_an_annotator_who_knows_the_gold_stores_it_by_keys(tmp_path, problems):
    from benchmarks.annotate_keys import _gold, press_plan

    text = Path(PARAPHRASES).read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.splitlines()[1:]]
    rows = [{key: record[key] for key in ("id", "source", "target")} for record in records]
    golds = [_gold(record["annotations"]["gold"]) for record in records]
    corpus = web.write_corpus(tmp_path / "corpus.jsonl", rows)
    with web.serving(corpus, "--suggestions", "trained") as server, browser() as context:
        page = enter(context, server.url, problems)
        for k in (3, 5, 6):
            plan = press_plan(page, k, golds[k - 1])
            assert len(plan["keys"]) > plan["stops"] > 0
            assert [list(link) for link in links(page, k)] == sorted(golds[k - 1])
            assert pair(page, k)["state"]["done"]


def test_enter_keeps_what_is_shown_and_done_the_rest_as_one_step(page):
    expect(page.locator("#route-side")).to_have_text("Words of the source")
    at = cursor(page)[0]
    press(page, "Enter")
    settled = events(page, "edit")[-1]
    assert settled["how"] == "word"
    assert settled["settled"] == [[at, -1, 0, 1]]
    assert all(0 < q < 1 for *_, q in settled.get("q", []))
    press(page, "Shift+Digit1 Shift+Digit1 Control+Enter", to=2)
    press(page, "p", to=1)
    state = pair(page, 1)["state"]
    kept = events(page, "done")[-1]
    assert (state["done"], kept["how"], kept["threshold"]) == (True, "done", 0.1)
    assert state["bulk"] == [[i, j] for i, j, _, value in kept["bulk"] if value]
    assert {(i, j) for i, j, _ in kept["q"]} == {(i, j) for i, j, *_ in kept["cells"]}
    assert kept["p"] == [[i, j, None] for i, j, *_ in kept["cells"]]
    held = links(page)
    press(page, "u")
    saved(page)
    state = pair(page, 1)["state"]
    assert (state["done"], state["bulk"]) == (False, [])
    eventually(
        links,
        page,
        wanted=[link for link in held if list(link[:2]) not in [c[:2] for c in kept["cells"]]],
    )
    press(page, "r")
    saved(page)
    assert links(page) == held == drawn(page)


def test_the_side_stays_once_a_word_is_settled_also_after_a_reload(page):
    press(page, "a")
    expect(page.locator("#route-side")).to_have_text("Words of the target")
    j = cursor(page)[1]
    press(page, "0")
    saved(page)
    assert pair(page, 1)["state"]["settled"] == [[-1, j]]
    page.reload()
    page.wait_for_selector("body[data-pair='1']")
    expect(page.locator("#route-side")).to_have_text("Words of the target")
    assert cursor(page)[1] != j
    press(page, "u")
    saved(page)
    assert "settled" not in pair(page, 1)["state"]
    assert cursor(page)[1] == j


def test_letters_lead_to_any_word_and_link_any_word(page):
    at = cursor(page)[0]
    press(page, "i")
    signs = page.locator("#matrix .signs text").all_text_contents()
    assert signs == list("abcdef")
    expect(page.locator(".sentence.spelled")).to_have_count(1)
    press(page, "f")
    assert (at, 5, 2) in drawn(page)
    expect(page.locator("#matrix .signs .letter")).to_have_count(0)
    press(page, "m e")
    assert cursor(page)[0] == 4
    press(page, "i Shift+A i Shift+B")
    assert {(4, 0, 2), (4, 1, 2)} <= set(drawn(page))
    press(page, "i Shift+A Escape")
    assert (4, 0, 2) not in drawn(page)
    press(page, "i Escape Digit1")
    until(lambda: len([link for link in drawn(page) if link[0] == 4]) == 1)


def test_the_second_letter_of_a_code_is_shown_after_the_first(page):
    press(page, "n", to=2)
    press(page, "m")
    codes = page.locator(".sentence >> nth=0 >> span").evaluate_all(
        "all => all.map(one => one.dataset.sign)"
    )
    assert codes.count("y") == 16
    at = len(LONG) - 1
    press(page, "y")
    rest = page.locator(".sentence >> nth=0 >> span").evaluate_all(
        "all => all.map(one => one.dataset.sign ?? '')"
    )
    assert sorted(filter(None, rest)) == sorted("abcdefghijklmnop")
    press(page, rest[at])
    assert cursor(page)[0] == at


def test_digits_act_by_the_place_of_the_key(page):
    at = cursor(page)[0]
    for shift, held in ((False, 1), (True, 2)):
        press(page, f"m {'abcde'[at]}")
        page.evaluate(
            """shift => document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
            {bubbles: true, cancelable: true, key: "&", code: shift ? "Digit3" : "Digit2",
            shiftKey: shift}))""",
            shift,
        )
        assert len([link for link in drawn(page) if link[0] == at]) == held


def test_a_screen_reader_hears_the_word_its_candidates_and_what_is_stored(page):
    here = "document.activeElement.getAttribute('aria-label')"
    at = cursor(page)[0]
    said = page.evaluate(here)
    assert said.startswith(f"{WORDS[at]}, {at + 1} of 5 source words; shown: ")
    assert re.search(r"; 1 \S, \d+ percent; 2 \S, \d+ percent", said)
    press(page, "Digit2")
    until(lambda: f"{WORDS[at]}: " in page.inner_text("#live"))
    web.settle(page)
    until(lambda: "No doubtful word" in page.inner_text("#live"))
    until(lambda: page.evaluate(here).startswith("No doubtful word"))
    hidden = "getComputedStyle(document.querySelector('.sentence span'), '::after').content"
    eventually(page.evaluate, hidden, wanted="none")


def test_in_forced_colours_frame_digits_and_stops_remain(page):
    page.emulate_media(forced_colors="active")
    style = "(one, name) => getComputedStyle(one)[name]"
    text = page.evaluate("getComputedStyle(document.body).color")
    eventually(page.locator("#matrix .signs text").first.evaluate, style, "fill", wanted=text)
    eventually(page.locator("#matrix circle.stop").first.evaluate, style, "fill", wanted=text)
    assert page.locator("#matrix .word").evaluate(style, "stroke") != "none"
    eventually(page.locator(".sentence .at").evaluate, style, "outlineStyle", wanted="solid")


def test_phrase_pairs_count_shown_links_and_words_with_them_are_not_bare(page):
    until(lambda: page.inner_text("#phrase-count") == "Phrase pairs: 4 atomic")
    bare = page.locator(".sentence .bare").all_inner_texts()
    assert bare == ["e", "z", "."]


def test_each_word_is_a_stop_where_a_project_asks_for_it_or_nothing_is_suggested(project, problems):
    with Store.open(project) as store:
        store.settings(Setting(doubt=0))
    with served(project, plan=INITIAL) as server, browser() as context:
        page = enter(context, server.url, problems)
        expect(page.locator("#to-look")).to_have_text("5 to look at")
        press(page, "h")
        until(lambda: page.inner_text("#hide") == "Show")
        expect(page.locator("#to-look")).to_have_text("5 to look at")
        expect(page.locator("#matrix .signs text")).to_have_count(0)
        press(page, "Enter i c")
        eventually(drawn, page, wanted=[(1, 2, 2)])
        press(page, "Control+Enter", to=2)
        press(page, "p", to=1)
        eventually(links, page, wanted=[(1, 2, 2)])


def test_what_is_shown_of_too_few_pairs_is_not_kept_unseen(tmp_path, problems):
    rows = [{"id": str(k), "source": WORDS, "target": TEXT} for k in range(3)]
    corpus = web.write_corpus(tmp_path / "corpus.jsonl", rows)
    with web.serving(corpus, "--suggestions", "trained") as server, browser() as context:
        page = enter(context, server.url, problems)
        expect(page.locator("#to-look")).to_have_text("5 to look at")
        expect(page.locator("#suggested-by")).to_contain_text("Too few pairs")
        press(page, "Control+Enter", to=2)
        press(page, "p", to=1)
        eventually(links, page, wanted=[])
