"""In a browser: differences are walked and settled by keyboard, and gold is what was decided."""

import json
import random
import re

import annotate_browser as web
import pytest
from adjudicated_project import ANNA, BEN, SOURCE, TARGET, two_annotators
from adjudicating import Bench
from annotate_browser import (
    BROWSER,
    Server,
    ask,
    browser,
    enter,
    eventually,
    press,
    saved,
    serious,
    until,
)
from annotation import Tab
from annotation import cell as link
from annotation_server import served
from playwright.sync_api import expect

from alignkit.annotate.adjudication.comparison import Ballot, GoldState, compare, grouped
from alignkit.annotate.project.events import JUDGMENT, Why, write_why
from alignkit.annotate.project.names import ADJUDICATOR, Visitor
from alignkit.annotate.project.project_events import Setting
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.invitations import invited
from alignkit.annotate.server.sessions import admit

pytestmark = BROWSER
JUDGED = [(), ("paraphrase",), ("partial", "unsure")]
_COMPARE = """async cases => {
    const {ballots, GoldPair, grouped, items, placeOf} = await import("/page/adjudicate-cases.js");
    return cases.map(({state, votes, majority}) => {
        const more = {bulk: [], rejected: [], comments: [], ...state};
        const pair = new GoldPair({source: ["a", "b", "c"], target: ["x", "y", "z"], state: more});
        const found = grouped(items(pair, ballots(votes), majority));
        return found.map(group => group.map(({key, state}) => [...placeOf(key), state]));
    });
}"""
PART = {"value": 0.91, "low": 0.85, "high": 1.0}
FIGURES = {
    "annotators": [
        {"name": name, "done": 112, "pairs": 1000, "seconds": 380, "left": 33000}
        for name in ("anna", "ben")
    ],
    "twos": [
        {
            "figures": dict.fromkeys(
                ["words.sure.f1", "words.possible.f1", "different.cells.all.kappa"], PART
            ),
            "beyond": {"phrases.sure": PART},
        }
    ],
    "mean": {},
    "at": "2026-11-22T14:02:00+00:00",
    "reason": "",
    "pull": {"pull": {"value": 0.09, "low": -0.05, "high": 0.13, "pairs": 100}},
}
"""What the strip shows of a dashboard that has everything."""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("gold") / "talks.alignkit")
    two_annotators(path)
    return path


@pytest.fixture(scope="module")
def server(project):
    options = "--annotator", "carla", "--adjudicate", "--suggestions", "none"
    with Server(project, *options) as server:
        yield server


@pytest.fixture(scope="module")
def context(server):
    with browser(viewport={"width": 1280, "height": 800}) as context:
        yield context


@pytest.fixture(scope="module")
def page(server, context):
    problems = []
    page = enter(context, server.url, problems)
    until(lambda: page.inner_text("#agreed-count") == "Settled by agreement: 8")
    yield page
    assert not problems


def test_a_mouse_over_a_cell_tells_the_votes_on_it(page):
    page.locator("#matrix .here").wait_for()  # where it is, the others are found from
    place, text = web.cursor(page), page.inner_text("#status-text")
    page.mouse.move(*web.middle(page, 7, 8))
    until(lambda: page.inner_text("#status-text") == "reached ~ at anna sure · ben possible")
    eventually(web.cursor, page, wanted=place)
    page.mouse.move(2, 2)
    until(lambda: page.inner_text("#status-text") == text)


def gold(page, k=1):
    saved(page)
    return {(i, j): value for i, j, value in ask(page, f"/api/gold/{k}")["state"]["cells"]}


def names(page, part="open"):
    return list(page.locator(f"#{part}-list b").all_inner_texts())


def test_differences_are_settled_by_keyboard(page):
    assert names(page) == [
        "they ~ both",
        "the ~ a",
        "in detail ~ specific",
        "reached ~ at",
        "an ~ a",
        "extensive ~ general",
        "judgment",
    ]
    agreed = {place: value for place, value in ANNA.items() if BEN.get(place) == value}
    assert gold(page) == agreed
    votes = page.locator("#votes button").all_inner_texts()
    assert "anna: possible" in votes[0]
    assert "suggestions shown" in votes[0]
    assert "no suggestions shown" in votes[1]
    expect(page.locator("#effect-list")).to_contain_text("they ~ both parties")
    press(page, "1")  # and on to the next
    expect(page.locator("#about-name")).to_have_text("the ~ a")
    press(page, "x 2")  # one's own; both cells as ben
    assert names(page, "decided") == ["they ~ both", "the ~ a", "in detail ~ specific"]
    expect(page.locator("#about-name")).to_have_text("reached ~ at")
    expect(page.locator("#comment-list")).to_contain_text("is one verb")
    press(page, "c")
    page.keyboard.type("a verb and its preposition")
    press(page, "Enter 1 Control+Enter")
    expect(page.locator("#status-text")).not_to_contain_text("2 differences")
    expect(page.locator("#status-text")).to_contain_text("to settle first")
    press(page, "u")
    assert (page.inner_text("#about-name"), len(names(page))) == ("reached ~ at", 4)
    press(page, "r")  # done again
    until(lambda: "reached ~ at" in names(page, "decided"))
    press(page, "j s k")  # one's own on the next
    wanted = {(0, 0): 1, (4, 4): 2, (5, 4): 2, (7, 8): 2, (8, 9): 2}
    until(lambda: gold(page).items() >= {**agreed, **wanted}.items())
    assert (2, 9) not in gold(page)


def test_what_another_adjudicator_decided_is_told_and_not_lost(page, context, project):
    page.locator("#open-list button", has_text="extensive ~ general").click()
    saved(page)
    context.set_offline(True)
    press(page, "1")
    with Store.open(project) as store:
        admit(store, Visitor("dora", ADJUDICATOR))
        Bench(store, 1, "dora").take((9, 10), "ben", note="as usual")
        context.set_offline(False)
        told = "another adjudicator was faster"
        until(lambda: told in page.inner_text("#status-text"))
        expect(page.locator("#decided-list li:has-text('extensive')")).to_contain_text("sure")
        expect(page.locator("#note")).to_have_value("as usual")
        saved(page)  # it is told below, and the header is as it was
        expect(page.locator("#status-text")).to_contain_text(told)
        press(page, "1")
        until(lambda: gold(page)[9, 10] == 1)
        assert {event.actor for event in store.history(1, "gold")} == {"carla", "dora"}


def test_done_goes_on_to_the_next_pair_and_a_changed_vote_reopens(page, project):
    while page.get_attribute("body", "data-left") != "0":
        press(page, "j 2" if "judgment" not in page.inner_text("#about-name") else "2")
    decided = gold(page)
    press(page, "Control+Enter", to=3)
    until(lambda: page.inner_text("#progress-text") == "1 / 3 pairs")
    press(page, "p", to=1)
    assert (page.get_attribute("#done", "aria-pressed"), names(page)) == ("true", [])
    expect(page.locator("#open-list")).to_have_text("nothing: the pair is done")
    with Store.open(project) as store:
        Tab(store, 1, "ben").send(link(6, 6, 2, 1))
    until(lambda: names(page) == ["and ~ and"])
    expect(page.locator("#open-list")).to_contain_text("changed since")
    assert (page.get_attribute("#done", "aria-pressed"), gold(page)) == ("false", decided)
    page.locator("#open-list button").click()
    press(page, "2")
    assert gold(page) == {**decided, (6, 6): 1}
    expect(page.locator("#done")).to_have_attribute("aria-pressed", "true")


def test_what_all_come_to_agree_on_is_written_down_while_the_pair_is_open(page, project):
    decided = gold(page)
    with Store.open(project) as store:
        for name in ("anna", "ben"):
            Tab(store, 1, name).send(link(0, 10, 0, 2))
    until(lambda: gold(page) == {**decided, (0, 10): 2})
    until(lambda: page.get_attribute("#done", "aria-pressed") == "true")
    assert names(page) == []


def test_keys_go_on_after_a_list_under_which_the_matrix_was_drawn_anew(page, project):
    held, cell = page.inner_text("#progress-text"), "document.querySelector('#matrix .here')"
    press(page, "/")
    page.wait_for_selector("#find-list .current")
    page.click("#settle")  # all agree on the second pair
    until(lambda: page.inner_text("#progress-text") == held.replace("1", "2", 1))
    page.evaluate(f"window.before = {cell}")
    page.set_viewport_size({"width": 1000, "height": 800})
    until(lambda: page.evaluate(f"{cell} !== window.before"))
    with Store.open(project) as store:
        Tab(store, 1, "ben").send(link(1, 2, 2, 1))
    until(lambda: names(page) == ["discussed ~ discussed"])
    press(page, "Escape")
    until(lambda: page.evaluate(f"document.activeElement === {cell}"))
    expect(page.locator("#done")).to_have_text("Mark done")
    press(page, "j 1")
    until(lambda: names(page) == [])
    expect(page.locator("#done")).to_have_text("Done")
    page.set_viewport_size({"width": 1280, "height": 800})


def cases(count):
    rng, made = random.Random(7), []
    places = [(i, j) for i in range(3) for j in range(3)] + [(-1, 0), (2, -1)]
    for _ in range(count):
        votes = {
            name: {p: rng.choice([0, 0, 1, 2]) for p in places} | {JUDGMENT: rng.choice(JUDGED)}
            for name in ("anna", "ben", "carl")[: rng.randint(1, 3)]
        }
        whys, values = {}, {}
        for place in places:
            if rng.random() < 0.3:
                then = {name: (rng.choice([said[place], 0]), 3) for name, said in votes.items()}
                kind, who = rng.choice(["agreed", "own", "vote"]), rng.choice(list(then))
                whys[place] = Why(kind, who if kind == "vote" else "", then)
                values[place] = rng.choice([0, 1, 2, then[who][0], then[who][0]])
                if rng.random() < 0.1:
                    whys[place] = Why(kind, whys[place].as_)
        made.append((votes, GoldState({p: v for p, v in values.items() if v}, whys)))
    return made


def test_the_page_compares_votes_as_the_library_does(page):
    expected, sent = [], []
    for votes, held in cases(150):
        majority = len(sent) % 2 == 1
        ballots = {
            name: Ballot({place: value for place, value in said.items() if value}, 3)
            for name, said in votes.items()
        }
        items = compare(ballots, held, majority=majority)
        expected.append(
            [sorted([*item.place, item.state] for item in group) for group in grouped(items)]
        )
        cells = [[*place, value] for place, value in held.values.items()]
        whys = [[*place, write_why(why)] for place, why in held.whys.items()]
        shown = [
            {
                "id": name,
                "cells": [[*p, v] for p, v in said.items() if p != JUDGMENT and v],
                "judgment": "".join(said[JUDGMENT][:1]),
                "flags": said[JUDGMENT][1:],
            }
            for name, said in votes.items()
        ]
        state = {"cells": cells, "whys": whys}
        sent.append({"majority": majority, "state": state, "votes": shown})
    compared = page.evaluate(_COMPARE, sent)
    assert [[sorted(group) for group in groups] for groups in compared] == json.loads(
        json.dumps(expected)
    )


def test_the_strip_names_nobody_where_names_are_hidden_and_tells_no_time_of_no_figure(
    page, context, project
):
    with context.browser.new_context() as plain:
        figures = {**FIGURES, "twos": [{**FIGURES["twos"][0], "beyond": {}}]}
        plain.route("**/api/agreement", lambda route: route.fulfill(json=figures))
        other = enter(plain, invited(project, Visitor("erna", ADJUDICATOR)))
        other.wait_for_selector("#figures dt:text-is('anna')")
        assert "C, phrases" in other.locator("#figures dt").all_inner_texts()
        with Store.open(project) as store:
            store.settings(Setting(blind=True))
        try:
            other.reload()
            other.wait_for_selector("#figures dt:text-is('2 annotators')")
            expect(other.locator("#figures")).to_contain_text("224 of 2000")
            expect(other.locator("body")).not_to_contain_text("anna")
        finally:
            with Store.open(project) as store:
                store.settings(Setting(blind=False))


def marked(page, kind):
    """Return the words of the sentences that have a mark."""
    return page.locator(f".sentence .{kind}").all_inner_texts()


def bars(page):
    """Return the words that have a bar, with the colours of its parts."""
    found = page.locator(".sentence span").evaluate_all(
        "all => all.filter(one => one.style.background)"
        ".map(one => [one.textContent, one.style.background])"
    )
    return {text: re.findall(r"(repeating-)?linear[^)]*\((--\w+)", css) for text, css in found}


@pytest.fixture
def fresh(tmp_path):
    """Open the page of a project in which nothing is decided."""
    path = str(tmp_path / "talks.alignkit")
    two_annotators(path)
    problems = []
    with served(path) as server, browser(bypass_csp=True) as context:
        token = server.invite("carla", ADJUDICATOR)
        page = enter(context, f"http://127.0.0.1:{server.port}/adjudicate#{token}", problems)
        yield page
    assert not problems


def test_the_sentences_show_differences_and_whose_partner_a_word_is(fresh):
    expect(fresh.locator("#about-name")).to_have_text("they ~ both")
    assert marked(fresh, "open") == [
        *["they", "the", "in", "detail", "reached", "an", "extensive"],
        *["both", "specific", "at", "a", "general"],
    ]
    assert marked(fresh, "here") == ["they", "both"]
    assert (marked(fresh, "possible"), marked(fresh, "bare")) == (["parties"], [])
    striped, whole, none = ("repeating-", "--hue0"), ("", "--hue1"), ("repeating-", "--panel")
    assert bars(fresh) == {"they": [striped, none], "both": [striped, none]}
    press(fresh, "j j")
    expect(fresh.locator("#about-name")).to_have_text("in detail ~ specific")
    assert marked(fresh, "here") == ["in", "detail", "specific"]
    assert bars(fresh) == {word: [striped, whole] for word in ("in", "detail", "specific")}


def test_a_word_leads_to_its_next_difference_and_links_nothing(fresh):
    def click(side, at):
        fresh.locator(".sentence").nth(side).locator("span").nth(at).click()
        return fresh.inner_text("#about-name")

    before = gold(fresh)
    assert click(0, 5) == "in detail ~ specific"
    assert click(1, 9) == "the ~ a"  # of two differences the first
    assert click(1, 9) == "an ~ a"
    assert click(1, 9) == "the ~ a"
    assert click(0, 10) == "agreement ~ a"  # no difference: its row
    fresh.locator("#matrix text[data-row='7']").click()
    expect(fresh.locator("#about-name")).to_have_text("reached ~ at")
    assert gold(fresh) == before


def test_words_whose_links_are_not_settled_are_not_marked_as_unlinked(fresh):
    heads = fresh.locator("#matrix circle").evaluate_all(
        "all => all.map((one, at) => one.classList.contains('bare') ? at : -1)"
    )
    linked = {(side, place[side]) for links in (ANNA, BEN) for place in links for side in (0, 1)}
    words = [(0, at) for at in range(len(SOURCE))] + [(1, at) for at in range(len(TARGET))]
    order = [words[len(SOURCE) :], words[: len(SOURCE)]]  # columns stand before rows
    bare = [[*order[0], *order[1]][at] for at in heads if at >= 0]
    assert bare == [word for side in order for word in side if word not in linked]


def test_the_last_row_is_in_sight_before_and_after_the_figures_arrive(fresh):
    main = fresh.locator("main").bounding_box()
    fresh.wait_for_selector("#figures a")
    assert fresh.locator("main").bounding_box() == main
    assert fresh.locator("#figures").bounding_box()["height"] == 34


def test_on_a_phone_all_is_one_page_and_the_rest_is_in_a_list(fresh):
    fresh.set_viewport_size({"width": 390, "height": 844})
    fresh.wait_for_selector("#docket #more", state="attached")
    assert fresh.evaluate("document.documentElement.scrollHeight") <= 844
    expect(fresh.locator("#matrix .here")).to_have_attribute("width", "28")
    assert fresh.locator("main").bounding_box()["height"] >= 350
    for part in ("#votes", "#own", "#tools", "footer"):
        box = fresh.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 844
    tops = {one.bounding_box()["y"] for one in fresh.locator("#votes button").all()}
    assert len(tops) == 1
    fresh.set_viewport_size({"width": 390, "height": 640})
    until(lambda: fresh.locator("main").bounding_box()["height"] < 300)
    press(fresh, "j j j j j")
    assert fresh.eval_on_selector("#matrix", "one => one.scrollTop") > 20
    matrix, heads = (fresh.locator(part).bounding_box() for part in ("#matrix", "#matrix .tops"))
    assert heads["y"] == pytest.approx(matrix["y"], abs=1)  # they do not scroll away
    for part in ("#open-list", "#comment-list", "#judgments", "#sources"):
        expect(fresh.locator(part)).to_be_hidden()
    fresh.click("#list")
    for part in ("#open-list", "#comment-list", "#judgments", "#sources"):
        expect(fresh.locator(part)).to_be_visible()
    assert fresh.locator("#docket").bounding_box() == fresh.locator("main").bounding_box()
    assert not serious(fresh)
    fresh.click("#open-list button:has-text('the ~ a')")
    expect(fresh.locator("#open-list")).to_be_hidden()
    until(lambda: fresh.inner_text("#status-text").startswith("the ~ a"))
    fresh.set_viewport_size({"width": 1280, "height": 800})
    until(lambda: fresh.locator("#panel #sources").is_visible())


def test_three_votes_share_a_bar():
    with web.modules() as page:
        shown = page.evaluate(
            """async () => {
                const {voteMarks} = await import("/page/adjudicate-marks.js");
                const pair = {source: ["a"], target: ["x", "y"]};
                const places = [
                    {key: "0,0", votes: [2, 1, 0], value: 0, state: "open"},
                    {key: "0,1", votes: [2, 2, 2], value: 2, state: "agreed"},
                ];
                return voteMarks(pair, places, {group: [places[0]], word: null, cell: null});
            }"""
        )
    kinds, grounds = shown
    assert kinds == [["open here"], ["open here", "sure"]]
    (ground,) = {*grounds[0], *grounds[1]} - {""}
    parts = re.findall(r"(\d[\d.]*)% 100% / (\d[\d.]*)% 5px", ground)
    assert [round(float(left)) for left, _ in parts] == [0, 50, 100]
    assert {round(float(share)) for _, share in parts} == {33}


def test_axe_finds_nothing_serious(page, context, project):
    with context.browser.new_context(bypass_csp=True) as plain:
        plain.route("**/api/agreement", lambda route: route.fulfill(json=FIGURES))
        other = enter(plain, invited(project, Visitor("erna", ADJUDICATOR)))
        other.set_viewport_size({"width": 1280, "height": 800})
        other.wait_for_selector("#figures dt:text-is('pull of suggestions')")
        tops = "all => new Set(all.map(one => one.getBoundingClientRect().top)).size"
        assert other.eval_on_selector_all("#figures dl > div", tops) == 1
        other.goto(f"{other.url.split('?')[0]}?pair=99")
        other.wait_for_selector("body[data-state=failed]")
        expect(other.locator("#start a[href='/dashboard']")).to_be_visible()
        other.click("#start-first")
        other.wait_for_selector("body[data-state=ready][data-pair]")
        found = {}
        for width, colours, k in ((1280, "light", 3), (768, "dark", 1), (400, "light", 2)):
            other.set_viewport_size({"width": width, "height": 900})
            other.emulate_media(color_scheme=colours)
            other.goto(f"{other.url.split('?')[0]}?pair={k}")
            other.wait_for_selector(f"body[data-pair='{k}']")
            other.eval_on_selector("#agreed", "one => (one.open = true)")
            press(other, "l")
            eventually(other.evaluate, "document.activeElement.name", wanted="judgment")
            found[width] = serious(other)
            assert other.evaluate("document.documentElement.scrollWidth") <= width
        for key, name in (("?", "help"), ("/", "find")):
            press(other, "Escape")
            other.keyboard.press(key)
            other.wait_for_selector(f"#{name}-dialog[open] button")
            found[name] = serious(other)
            press(other, "Escape")
    assert not any(found.values()), found
