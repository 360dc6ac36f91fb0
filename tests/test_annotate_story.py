"""The walk of docs/annotate/projects.md from two annotators to gold and a table, in Chromium."""

import json
import re
import shlex
import shutil

from annotate_browser import (
    BROWSER,
    Server,
    browser,
    cursor,
    drawn,
    enter,
    eventually,
    links,
    pair,
    press,
    saved,
    settle_all,
    until,
    views,
)
from command import PARAPHRASES, process
from console import printed, walk
from playwright.sync_api import expect

from alignkit import read_corpus

pytestmark = BROWSER

CHOSEN, SUGGESTED, STARTED, ASSIGNED, ANNA, BEN, CARLA, EXPORTED, AGREED = walk()

HIDDEN = {"anna": {"p08", "p26", "p40"}, "ben": {"p05", "p08"}}
"""On which pairs the control sample shows them no suggestions; on p08 neither sees any."""

SETTLED = {
    "p05": {  # the difference as the page names it: keys, and what is decided by them
        "Who ~ to": ("x", {"0-4": "none"}, "own"),
        "'s ~ Marchetti": ("2", {"4-1": "possible"}, "ben"),
        "'s husband ~ married to": ("1", {"4-3": "sure", "4-4": "sure", "5-4": "sure"}, "anna"),
        "husband ~ married": ("d", {"5-3": "possible"}, "own"),
        "judgment": ("1", {"": "partial"}, "anna"),
    },
    "p08": {
        "when ~ between": ("s", {"6-4": "sure"}, "own"),
        "options ~ between": ("1", {"8-4": "possible"}, "anna"),
        "look ~ good": ("1", {"9-6": "none"}, "anna"),
    },
    "p40": {"faster ~ sooner": ("2", {"5-5": "possible"}, "ben")},
}
NOTE = "“married to” as a whole"
"""Kept with the third difference of p05."""


def run(line, folder):
    """Run a command of the walk; return what it prints."""
    ran = process(*shlex.split(line)[1:], cwd=folder)
    assert ran.code == 0, ran.err
    return ran.out


def invited(context, command, problems, folder):
    """Let somebody in, in a context of their own, by the URL that the command gets."""
    url = run(f"{command} --no-browser", folder).strip()
    return enter(context.browser.new_context(), url, problems)


def wanted(corpus, id, name):
    """Return the links that somebody draws: those of the samples."""
    alignment = corpus[id].alignment(name)
    return sorted((i, j, 1 + ((i, j) in alignment.sure)) for i, j in alignment.possible)


def go(page, i, j):
    """Move the cursor by arrows."""
    row, column = cursor(page)
    press(page, "ArrowDown " * (i - row) + "ArrowUp " * (row - i))
    press(page, "ArrowRight " * (j - column) + "ArrowLeft " * (column - j))
    eventually(cursor, page, wanted=(i, j))


def annotate(page, name, samples):
    """Draw all pairs by keys, and mark them done."""
    for count in range(1, 5):
        id, k = page.inner_text("#pair-id"), page.get_attribute("body", "data-pair")
        shown = id not in HIDDEN[name]
        assert bool((pair(page, int(k))["suggestions"] or {}).get("cells")) == shown
        settle_all(page)
        assert bool(drawn(page)) == shown
        draw(page, wanted(samples, id, name))
        if id == "p05":
            remark(page, name)
        saved(page)
        eventually(links, page, int(k), wanted=wanted(samples, id, name))
        press(page, "Control+Enter")
        on_to_the_next(page, k, count)


def on_to_the_next(page, k, done):
    """Wait until so many pairs are done and another one is there, if one is left."""
    page.wait_for_selector(f"#progress-text:text-matches('^{done} / 4')")
    if done < 4:
        page.wait_for_selector(f"body[data-pair]:not([data-pair='{k}'])")


def draw(page, goal):
    values = {(i, j): value for i, j, value in goal}
    held = {(i, j): value for i, j, value in drawn(page)}
    for place in sorted(values.keys() | held.keys()):
        if held.get(place) != values.get(place):
            go(page, *place)
            press(page, {None: "x", 1: "d", 2: "s"}[values.get(place)])
    eventually(drawn, page, wanted=goal)


def remark(page, name):
    """Comment on a link that both have, and judge the pair: the two say something else."""
    go(page, 5, 3)
    press(page, "c")
    page.keyboard.type(f"so says {name}")
    press(page, "Enter l " + ("ArrowRight" if name == "anna" else "Space") + " Escape")


def adjudicate(page):
    """Settle all differences by keys, and mark the pairs done."""
    press(page, "/")
    page.click("#settle")  # p26, on which both agree
    until(lambda: "1 done" in page.inner_text("#find-message"))
    press(page, "Escape")
    for count in range(2, 5):
        id, k = page.inner_text("#pair-id"), page.get_attribute("body", "data-pair")
        settled = SETTLED[id]
        assert set(page.locator("#open-list b").all_inner_texts()) == set(settled)
        for at in range(len(settled)):
            name = page.inner_text("#about-name")
            if settled[name][1].keys() == {"4-3", "4-4", "5-4"}:
                press(page, "c")
                page.keyboard.type(NOTE)
                press(page, "Enter")
            press(page, settled[name][0])
            if at == 0:
                press(page, "u " + settled[name][0])  # back, and the same again
            if (id, at) == ("p05", 1):
                list(views(page, "adjudicate"))
        expect(page.locator("body")).to_have_attribute("data-left", "0")
        press(page, "Control+Enter")
        on_to_the_next(page, k, count)


FIGURES = {
    "twos": ["words.sure.f1", "words.possible.f1", "different.cells.all.kappa", "cells.all.kappa"],
    "beyond": [
        f"{level}.C"
        for level in ("phrases.sure", "phrases.possible", "words.sure", "words.possible")
    ],
}
"""The figures that the dashboard shows, in the order of its columns."""

SHOWN = """async rows => {
    const {figure} = await import("/page/figures.js");
    return rows.map(row => row.map(one => figure(one).map(part => part.textContent).join("")));
}"""


def check_dashboard(page, folder):
    """The dashboard shows what `agree` finds on the export."""
    page.click("header a[href='/dashboard']")
    page.wait_for_selector("#progress-text:text-matches('4 of 4 .*[0-9]$')", timeout=180_000)
    until(lambda: page.inner_text("#progress-text").startswith("4 of 4 pairs adjudicated, as of "))
    list(views(page, "dashboard"))
    found = json.loads(run(f"{AGREED} --json", folder))
    levels = next(two for two in found["figures"] if two["kind"] == "annotators")["sections"]["all"]
    figures = {f"{at}.{name}": one for at, said in levels.items() for name, one in said.items()}
    rows = [[figures[name] for name in names] for names in FIGURES.values()]
    columns = {"twos": slice(1, 5), "beyond": slice(4)}
    for kind, expected in zip(FIGURES, page.evaluate(SHOWN, rows), strict=True):
        texts = page.locator(f"#{kind} tr td").all_text_contents()[columns[kind]]
        assert texts == expected
        assert all(re.match(r"\.\d\d|1\.00", text) for text in texts)
    commands = [shlex.split(line)[1:4] for line in page.text_content("#commands").splitlines()]
    assert commands[0] == ["project", "export", str(folder / "four.xml.alignkit")]
    assert commands[1][:2] == ["agree", str(folder / "four.xml.done.jsonl")]


def check_gold(folder, samples):
    """Gold is what both drew and what was decided, and why is told beside it."""
    said = {pair.id: pair.annotations for pair in read_corpus(folder / "gold.jsonl")}
    text = (folder / "gold.jsonl.provenance.jsonl").read_text(encoding="utf-8")
    lines = {
        (line["id"], f"{line['i']}-{line['j']}" if "i" in line else ""): line
        for line in map(json.loads, text.splitlines())
    }
    for id, made in said.items():
        anna, ben = (dict_of(samples[id].alignment(name)) for name in ("anna", "ben"))
        for name, drawn_by in (("anna", anna), ("ben", ben)):
            assert dict_of(made[name].alignment) == drawn_by
            told = {(5, 3): f"so says {name}"} if id == "p05" else {}
            assert made[name].alignment.labels == told
        decided = {
            place: (value, why)
            for _, places, why in SETTLED.get(id, {}).values()
            for place, value in places.items()
        }
        expected = {place: value for place, value in anna.items() if ben.get(place) == value}
        agreed = set(expected)
        for place, (value, why) in decided.items():
            line = lines[id, place]
            assert line.get("link", line.get("judgment")) == value
            assert (line["as"] or line["why"], line["adjudicator"]) == (why, "carla")
            assert line["note"] == (NOTE if place in ("4-3", "4-4", "5-4") else "")
            if place:
                expected[place] = value
        linked = {place: value for place, value in expected.items() if value != "none"}
        assert dict_of(made["gold"].alignment) == linked
        assert {place for of, place in lines if of == id} == agreed | set(decided)
        assert made["gold"].judgment == ("partial" if id == "p05" else "")


def dict_of(alignment):
    """Return the strength of each link."""
    assert alignment is not None
    return {
        f"{link.i}-{link.j}": "sure" if link in alignment.sure else "possible"
        for link in alignment.possible
    }


def test_two_annotate_and_a_third_makes_gold(tmp_path):
    samples = read_corpus(PARAPHRASES)
    (tmp_path / "samples").mkdir()
    shutil.copy(PARAPHRASES, tmp_path / "samples")
    run(CHOSEN, tmp_path), run(SUGGESTED, tmp_path)
    problems = []
    with Server(*shlex.split(STARTED)[2:], folder=tmp_path) as server, browser() as first:
        boss = first.new_page()
        boss.goto(server.url)
        boss.wait_for_selector("#start-text:text-matches('None of the 4 pairs is ready yet')")
        boss.close()
        assigned, agreed = printed()
        assert run(ASSIGNED, tmp_path).startswith(assigned)
        pages = [invited(first, command, problems, tmp_path) for command in (ANNA, BEN)]
        annotate(pages[0], "anna", samples)
        annotate(pages[1], "ben", samples)
        page = invited(first, CARLA, problems, tmp_path)
        adjudicate(page)
        run(EXPORTED, tmp_path)
        check_dashboard(page, tmp_path)
    assert not problems
    check_gold(tmp_path, samples)
    assert agreed in run(AGREED, tmp_path)
    told = run("alignkit project log four.xml.alignkit --check", tmp_path)
    assert "agrees with the log" in told
