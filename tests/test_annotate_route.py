"""The keyboard route of the annotation page: likelihoods, stops, keys, letters."""

import random

import pytest
from annotate_browser import BROWSER, modules
from reference_route import Words, side_to_stop_at

pytestmark = BROWSER
PAIRS = 60
ROUTE = """async ({docs, least}) => {
    const [{Pair}, {Route, sideOf}] = await Promise.all(
        ["model", "route"].map(name => import(`/page/${name}.js`)));
    const told = route => Array.from({length: route.count}, (_, at) => ({
        q: Array.from(route.q.subarray(at * route.others, (at + 1) * route.others)),
        doubt: route.doubt[at], settled: route.settled(at),
        shown: [...route.shown(at).keys()].filter(other => other < route.others),
        candidates: route.candidates(at)}));
    return docs.map(doc => {
        const pair = new Pair(doc);
        const sides = {};
        for (const side of ["source", "target"]) {
            const route = new Route(pair, side, least);
            sides[side] = {words: told(route), stops: route.stops()};
        }
        return {...sides, side: sideOf(pair, least)};
    });
}"""
SETTLE = """async ({doc, side, at, links, how}) => {
    const [{Pair}, {Route}] = await Promise.all(
        ["model", "route"].map(name => import(`/page/${name}.js`)));
    const pair = new Pair(doc);
    const route = new Route(pair, side, 0.1);
    const data = route.settle(at, new Map(links));
    const candidates = route.candidates(at);
    if (data) pair.apply({kind: "edit", id: "x", data});
    route.update(pair);
    const places = name => Array.from(pair[name], (value, k) => [...pair.cell(k), value])
        .filter(([, , value]) => value);
    const after = {cells: places("values"), settled: places("settled"), bulk: places("bulk"),
        rejected: places("rejected"), next: route.next(at) ?? null,
        same: String(candidates) === String(route.candidates(at))};
    if (data) pair.apply({kind: "undo", id: "y", data: pair.inverse("undo")});
    return {data, ...after, undone: [places("values"), places("settled"), places("bulk")]};
}"""
LETTERS = """async cases => {
    const {letters} = await import("/page/route.js");
    return cases.map(([count, middle]) => letters(count, middle));
}"""


@pytest.fixture(scope="module")
def page():
    with modules() as page:
        yield page


def random_pair(rng):
    """Return a pair as the server sends it, and its words as seen from each side."""
    n, m = rng.randint(1, 7), rng.randint(1, 12)
    cells = [(i, j) for i in range(n) for j in range(m)]
    p = {cell: rng.choice([0.05, 0.3, 0.7, 1.0, rng.random()]) for cell in cells}
    p = {cell: value for cell, value in p.items() if rng.random() < 0.5} or {(0, 0): 0.5}
    busy = rng.choice([0, 0.2, 0.6])
    links = {cell for cell in cells if rng.random() < busy / max(n, m) * 2}
    rejected = {cell for cell in p if cell not in links and rng.random() < busy / 4}
    marked = {
        "source": {i for i in range(n) if rng.random() < busy},
        "target": {j for j in range(m) if rng.random() < busy / 3},
    }
    state = {
        "cells": [[*cell, 2] for cell in sorted(links)],
        "bulk": [],
        "rejected": sorted(rejected),
        "comments": [],
        "settled": [[i, -1] for i in sorted(marked["source"])]
        + [[-1, j] for j in sorted(marked["target"])],
    }
    doc = {
        "source": ["x"] * n,
        "target": ["y"] * m,
        "state": state,
        "suggestions": {"cells": [[*cell, value] for cell, value in sorted(p.items())]},
    }
    in_columns = {cell for cell in cells if cell[1] in marked["target"]}
    in_rows = {cell for cell in cells if cell[0] in marked["source"]}
    source = Words(n, m, p, links, marked["source"], rejected | in_columns)
    target = Words(
        m,
        n,
        {turned(cell): value for cell, value in p.items()},
        {turned(cell) for cell in links},
        marked["target"],
        {turned(cell) for cell in rejected | in_rows},
    )
    return doc, {"source": source, "target": target}


def turned(cell):
    return cell[1], cell[0]


@pytest.mark.parametrize("least", [0.1, 0])
def test_likelihoods_stops_and_candidates_are_those_of_the_formulas(page, least):
    rng = random.Random(1)
    pairs = [random_pair(rng) for _ in range(PAIRS)]
    answers = page.evaluate(ROUTE, {"docs": [doc for doc, _ in pairs], "least": least})
    for (_, sides), answer in zip(pairs, answers, strict=True):
        for side, words in sides.items():
            for i, word in enumerate(answer[side]["words"]):
                wanted = [words.q(i, j) for j in range(words.columns)]
                assert word["q"] == pytest.approx(wanted, rel=1e-9)
                assert word["doubt"] == pytest.approx(words.doubt(i), rel=1e-9, abs=1e-12)
                assert word["settled"] == words.is_settled(i)
                assert word["shown"] == words.shown(i)
                ranked = [words.q(i, j) for j in word["candidates"]]
                best = [words.q(i, j) for j in words.candidates(i)]
                assert ranked == pytest.approx(best, rel=1e-9)
            assert answer[side]["stops"] == words.stops(least)
        assert answer["side"] == side_to_stop_at(sides["source"], sides["target"], least)
    assert any(answer["side"] == "target" for answer in answers)
    assert any(answer["side"] == "source" for answer in answers)


def settled(page, at, links, side="source", **state):
    doc = {
        "source": ["a", "b", "c"],
        "target": ["x", "y", "z"],
        "state": {"cells": [], "bulk": [], "rejected": [], "comments": [], **state},
        "suggestions": {"cells": [[0, 0, 0.9], [0, 1, 0.2], [1, 1, 0.6, 1], [2, 1, 0.5]]},
    }
    return page.evaluate(SETTLE, {"doc": doc, "side": side, "at": at, "links": links})


def test_a_key_stores_the_links_of_a_word_and_its_mark_as_one_step(page):
    answer = settled(page, 0, [[0, 2], [1, 1]])
    assert answer["data"] == {
        "how": "word",
        "cells": [[0, 0, 0, 2], [0, 1, 0, 1]],
        "settled": [[0, -1, 0, 1]],
    }
    assert answer["undone"] == [[], [], []]
    assert answer["next"] == 1


def test_a_word_without_link_is_settled_by_its_mark_alone(page):
    answer = settled(page, 1, [])
    assert answer["data"] == {"how": "word", "cells": [], "settled": [[1, -1, 0, 1]]}
    assert answer["cells"] == []
    assert answer["undone"] == [[], [], []]


def test_words_of_the_target_have_marks_of_their_own(page):
    answer = settled(page, 2, [[1, 2]], side="target")
    assert answer["cells"] == [[1, 2, 2]]
    assert answer["settled"] == [[-1, 2, 1]]


def test_what_a_word_loses_is_rejected_and_what_it_keeps_is_looked_at(page):
    state = {"cells": [[0, 0, 2], [0, 1, 2]], "bulk": [[0, 0], [0, 1]]}
    answer = settled(page, 0, [[0, 2]], **state)
    assert answer["cells"] == [[0, 0, 2]]
    assert (answer["bulk"], answer["rejected"]) == ([], [[0, 1, 1]])
    assert answer["undone"] == [[[0, 0, 2], [0, 1, 2]], [], [[0, 0, 1], [0, 1, 1]]]


def test_nothing_is_stored_for_a_word_that_is_so_already(page):
    state = {"cells": [[0, 0, 2]], "settled": [[0, -1]]}
    assert settled(page, 0, [[0, 2]], **state)["data"] is None


def test_candidates_keep_their_order_while_one_is_at_a_word(page):
    for links in ([], [[0, 2]], [[1, 2]], [[0, 2], [2, 2]]):
        assert settled(page, 0, links)["same"]


@pytest.mark.parametrize("count", [1, 26, 27, 60, 76, 77, 126, 127, 676])
def test_letters_name_each_word_and_no_code_begins_another(page, count):
    middles = [0, count // 2, count - 1]
    for codes in page.evaluate(LETTERS, [[count, middle] for middle in middles]):
        assert len(set(codes)) == count
        assert all(codes)
        assert not any(b != a and b.startswith(a) for a in codes for b in codes)
        assert codes[0] == "a" or count > 26


def test_the_words_nearest_to_the_likeliest_partner_have_one_letter(page):
    [codes] = page.evaluate(LETTERS, [[60, 30]])
    assert [at for at, code in enumerate(codes) if len(code) == 1] == list(range(18, 42))
    assert codes[18:42] == list("abcdefghijklmnopqrstuvwx")
    assert (codes[0], codes[17], codes[42], codes[59]) == ("ya", "yr", "ys", "zj")
