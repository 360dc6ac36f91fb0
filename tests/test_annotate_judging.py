"""In a browser: pairs judged by two, adjudicated and read back; pairs taken from two texts."""

import copy
import json
import os
import random
from itertools import count

import annotate_browser as web
from annotate_log import Stream
from command import PARAPHRASES, process, run
from playwright.sync_api import expect

from alignkit import read_corpus

pytestmark = web.BROWSER
PAIRS = 8
REWRITTEN = "At least forty people were hurt in a blaze which erupted at a garment plant ."
ANNA = ["4", "4 i", "4 < s", "3", "2", "1", "4 > a", "x"]
"""The keys that she presses on each pair; ben presses other ones."""
TABLES = {"Agreement on labels": "#judged", "Pairs judged differently": "#differing"}
SOURCE = """They talked. Then they agreed, \U0001f600 and left.
It was late.

The talks had lasted for two days. Nobody had expected much of them.
On Friday both sides will meet again.
"""
TARGET = """Ils ont parlé. Puis ils étaient d’accord.

Il était tard.
On n’attendait pas grand-chose de ces deux jours.
Les deux parties se retrouveront vendredi."""
FOLDED = """async text => {
    const {MadePair} = await import("/page/made.js"), wrong = [];
    const held = pair => ["rewrites", "extracts"].map(name => [...pair[name]].sort());
    for (const {first, steps} of JSON.parse(text)) {
        const pair = new MadePair(first);
        for (const {event, expected, undone} of steps) {
            pair.apply(event);
            const copy = pair.copy(), data = copy.inverse("undo");
            if (data) copy.apply({id: "x", kind: "undo", data});
            const found = [held(pair), pair.judgment, held(copy), copy.judgment];
            const wanted = [...expected, ...undone];
            const same = JSON.stringify(found) === JSON.stringify(wanted);
            if (!same) wrong.push([event, found, wanted]);
        }
    }
    return wrong.slice(0, 2);
}"""
PLACED = """async texts => {
    const {linesOf, unitsIn, charactersOf, textOf} = await import("/page/spans.js"), wrong = [];
    for (const text of texts) {
        const units = linesOf(text).flat(), characters = Array.from(text);
        const joined = units.map(({from, to}) => characters.slice(from, to).join("")).join("");
        if (joined !== text.replace(/\\s/gu, "")) wrong.push([text, joined]);
        const shown = textOf(units), words = whole => whole.trim().split(/\\s+/).join(" ");
        if (words(shown) !== words(text)) wrong.push([text, shown]);
        units.forEach((unit, at) => {
            const back = String(unitsIn(units, ...charactersOf(units, [0, at])));
            const begins = unit.text.startsWith(characters[unit.from]);
            if (back !== String([0, at]) || !begins) wrong.push([text, unit, back]);
        });
    }
    return wrong.slice(0, 2);
}"""


def corpus(folder):
    rows = []
    for k, pair in enumerate(list(read_corpus(PARAPHRASES))[:PAIRS], 1):
        around = f"It was in the news . {' '.join(pair.source)} More is not known ."
        rows.append(
            {
                "id": f"p{k}",
                "source": pair.source,
                "target": pair.target,
                "attributes": {"source_context": around},
            }
        )
    return web.write_corpus(folder / "pairs.jsonl", rows)


def invitation(project, *words):
    return process("annotate", project, *words, "--no-browser").out.strip()


def on(page, name):
    web.until(lambda: page.inner_text("#pair-id") == name, 8)


def looked_at(page, name=""):
    for width in web.views(page, name):
        assert web.serious(page) == [], width


def judge_all(page, keys):
    for k, key in enumerate(keys, 1):
        on(page, f"p{k}")
        web.press(page, f"{key} Control+Enter")
    web.until(lambda: "all is done" in page.inner_text("#status-text"))
    web.saved(page)


def test_pairs_are_judged_by_two_adjudicated_and_read_back(tmp_path, problems, capsys):
    project = str(tmp_path / "pairs.jsonl.alignkit")
    with web.serving(corpus(tmp_path), "--task", "judge", "--scheme", "turku") as server:
        with web.browser(bypass_csp=True) as first:
            page = web.enter(first, server.url, problems)
            expect(page.locator("#source-context")).to_contain_text("It was in the news .")
            web.press(page, "Control+Enter 3 i")
            expect(page.locator("#status-text")).to_contain_text("needs the label 4")
            web.press(page, "3")  # again: no label
            web.press(page, "4 w")
            page.fill("#new-target", REWRITTEN.replace(" ", "   ", 1))
            web.press(page, "Control+Enter e Escape u r")
            web.saved(page)
            expect(page.locator("#rewrite-list li")).to_have_count(1)
            looked_at(page, "judge")
            web.press(page, "4")
            judge_all(page, ANNA)
            assert web.ask(page, "/api/pairs/1")["state"]["rewrites"][0][1][1] == REWRITTEN
        with web.browser(bypass_csp=True) as second:
            page = web.enter(second, invitation(project, "--annotator", "ben"), problems)
            expect(page.locator("#rewrite-list li")).to_have_count(0)
            assert "rewrites" not in web.ask(page, "/api/pairs/1")["state"]
            judge_all(page, ["4", "4 i", "4 s", "2", "2", "1", "4 >", "x"])
        with web.browser(bypass_csp=True) as third:
            page = web.enter(
                third, invitation(project, "--annotator", "carla", "--adjudicate"), problems
            )
            looked_at(page)
            dashboard(third, page)
            adjudicate(page)
    check_export(capsys, project, tmp_path)


def dashboard(context, page):
    expect(page.locator("header a[href='/dashboard']")).to_be_visible()
    expect(page.locator("#hints")).to_contain_text("take a vote")
    board = context.new_page()
    board.goto(page.url.partition("/adjudicate")[0] + "/dashboard")
    web.until(lambda: board.locator("#differing tr").count() == 3, 180)
    expect(board.locator("#differing tr:first-child a")).to_have_text("p4")
    expect(board.locator("#judged th")).to_have_text("anna ~ ben")
    expect(board.locator("#judged td:nth-child(3)")).to_have_text(
        ".86"
    )  # what was skipped is left out
    expect(board.locator("main")).not_to_contain_text("F1", use_inner_text=True)
    above = [board.locator(f"h2:has-text('{name}')").bounding_box() for name in TABLES]
    tables = [board.locator(f"table:has({body})").bounding_box() for body in TABLES.values()]
    assert all(
        head["y"] + head["height"] <= table["y"] for head, table in zip(above, tables, strict=True)
    )
    rows = board.locator("#differing tr").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert max(rows) < 60  # two texts of a line each
    looked_at(board, "dashboard-judged")
    board.close()


def adjudicate(page):
    web.press(page, "/")
    page.click("#settle")  # all on which both agree, but for the pair with the rewrite
    web.until(lambda: f"{PAIRS - 4} done" in page.inner_text("#find-message"))
    web.press(page, "Escape")
    on(page, "p1")
    web.press(page, "Shift+Digit1")
    web.until(lambda: page.locator("#rewrite-list li").count() == 1)
    web.press(page, "Control+Enter")
    for k, keys, who in (
        (3, "2 1", "as anna"),  # anna: 4 < s, ben: 4 s
        (4, "f", "by adjudicators"),  # 3, 2; "f" is the fourth label
        (7, "2", "as ben"),
    ):  # 4 > and unsure, 4 >
        on(page, f"p{k}")
        if k == 4:
            web.press(page, "Control+Enter")
            web.until(lambda: "first decide" in page.inner_text("#status-text"))
        web.press(page, keys)
        expect(page.locator("#decided")).to_have_text(f"Decided {who}.")
        web.press(page, "Control+Enter")
    web.until(lambda: "all is done" in page.inner_text("#status-text"))
    web.saved(page)


def check_export(capsys, project, folder):
    out = str(folder / "out.jsonl")
    assert run(capsys, "project", "export", project, out, "--to", "alignkit-jsonl").code == 0
    pairs = {pair.id: pair for pair in read_corpus(out)}
    assert len(pairs) == PAIRS + 1
    for k, gold in enumerate(["4", "4i", "4<s", "4", "2", "1", "4>", "x"], 1):
        said = pairs[f"p{k}"].annotations
        assert set(said) == {"anna", "ben", "gold"}
        assert all(annotation.alignment is None for annotation in said.values())
        assert said["gold"].judgment == gold
    assert pairs["p3"].annotation("anna").judgment == "4<s"
    assert pairs["p7"].annotation("anna").flags == {"unsure"}
    made = pairs["p1/r1"]
    assert (" ".join(made.words[1]), made.attributes["rewrite_of"]) == (REWRITTEN, "p1")
    best = {name: (said.judgment, said.alignment) for name, said in made.annotations.items()}
    assert best == dict.fromkeys(("anna", "gold"), ("4", None))
    told = run(capsys, "project", "log", project, "--check").out
    assert "the project agrees with the log" in told


def test_spans_of_two_texts_become_pairs_with_their_places(tmp_path, problems, capsys):
    for side, text in (("en", SOURCE), ("fr", TARGET)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text(text, encoding="utf-8")
        (tmp_path / side / "b.txt").write_text("Nothing.", encoding="utf-8")
    words = "--task", "extract", "en", "fr", "--annotator", "anna"
    with web.Server(*words, folder=tmp_path) as server, web.browser(bypass_csp=True) as context:
        page = web.enter(context, server.url, problems)
        web.press(page, "Control+Shift+ArrowRight Enter")  # by keyboard: the first sentences
        expect(page.locator("#status-text")).to_contain_text("now select a span of the target")
        web.press(page, "s Enter ArrowDown s Enter ArrowDown s Enter")
        words = page.locator("#source span")  # They talked . Then they agreed , ...
        begin, end = (words.nth(at).bounding_box() for at in (3, 5))
        web.drag(page, *((box["x"] + 3, box["y"] + 8) for box in (begin, end)), steps=5)
        page.locator("#target span", has_text="étaient").dblclick()
        looked_at(page, "extract")
        page.click("#take")
        web.saved(page)
        expect(page.locator("#taken-list li")).to_have_count(3)
        web.press(page, "x")  # the pair at the cursor, and back again
        web.press(page, "u")
        expect(page.locator("#taken-list li")).to_have_count(3)
        web.press(page, "Control+Enter")
        on(page, "b")
        web.press(page, "Control+Enter")
        web.until(lambda: "all is done" in page.inner_text("#status-text"))
        web.saved(page)
    project, out = str(tmp_path / "en.alignkit"), str(tmp_path / "out.jsonl")
    (row,) = run(capsys, "project", "yield", project, "--json").json["annotators"]
    assert (row["documents"], row["done"], row["without"], row["pairs"]) == (2, 2, 1, 3)
    assert run(capsys, "project", "export", project, out, "--to", "alignkit-jsonl").code == 0
    found = []
    for pair in read_corpus(out):
        places = [
            int(pair.attributes[f"{side}_{end}"])
            for side in ("source", "target")
            for end in ("start", "end")
        ]
        texts = SOURCE[places[0] : places[1]], TARGET[places[2] : places[3]]
        assert pair.words == tuple(tuple(text.split()) for text in texts)
        assert pair.attributes["extracted_from"] == "a"
        assert pair.attributes["source_document"] == os.path.join("en", "a.txt")
        found.append(texts)
    assert found == [
        ("They talked.", "Ils ont parlé."),
        ("It was late.", "Il était tard."),
        ("Then they agreed", "Puis ils étaient d’accord."),
    ]


def play(seed):
    rng, stream, ids = random.Random(seed), Stream("a b", "w x"), count()
    first, steps = stream.document(), []
    for _ in range(30):
        kind = rng.choice(["rewrite", "extract", "judge", "undo", "undo", "redo"])
        state, undo, redo = stream.state, *stream.tops()
        if kind in ("undo", "redo"):
            data = {"of": undo if kind == "undo" else redo}
            if data["of"] is None:
                continue
        elif kind == "judge":
            data = {"label": [state.judgment, rng.choice("abc")]}
        else:
            held = state.rewrites if kind == "rewrite" else state.extracts
            key = f"{'r' if kind == 'rewrite' else 'x'}{rng.randint(1, 3)}"
            new = ["p q", "s"] if kind == "rewrite" else [0, rng.randint(1, 3), 0, 1]
            data = {f"{kind}s": [[key, held.get(key), rng.choice([new, new, None])]]}
        event = stream.send({"id": f"e{next(ids)}", "kind": kind, "data": data})
        steps.append({"event": event, "expected": held_by(stream), "undone": undone(stream)})
    return {"first": first, "steps": steps}


def held_by(stream):
    maps = stream.state.rewrites, stream.state.extracts
    return [
        [sorted([key, list(made)] for key, made in one.items()) for one in maps],
        stream.state.judgment,
    ]


def undone(stream):
    top = stream.tops()[0]
    if top is None:
        return held_by(stream)
    other = copy.deepcopy(stream)
    other.send({"id": "undone", "kind": "undo", "data": {"of": top}})
    return held_by(other)


SENTENCES = """async ([language, text]) => {
    const {linesOf, sentenceAt, textOf} = await import("/page/spans.js");
    const units = linesOf(text, language).flat(), found = [];
    for (let at = 0; at < units.length; at = sentenceAt(units, at)[1] + 1)
        found.push(textOf(units.slice(at, sentenceAt(units, at)[1] + 1)));
    return found.join(" | ");
}"""
SPLIT = {
    "en": "Mr. J. R. Smith met Dr. Jones. | So do I. | The U.S. Senate met at 4.5 p.m. | "
    "Then “Go!” he said. | He is in the U.S. | He left, etc. | The end.",
    "de": "Am 3. Mai kam er z. B. nach Hause. | Dann, d.h. später, ging er bzw. sie usw. | Es war.",
    "fr": "M. Dupont et Mme. Curie sont là. | Cf. Proust, p. 5. | Il part.",
    "es": "El Sr. García y la Sra. Paz vinieron. | ¿Y Ud. Pepe? | Hola.",
    "ru": "В 1999 г. Иванов, т.е. он, жил на ул. Ленина. | «Иди!» — сказал он. | Потом уехал.",
    "ar": "هل هذا صحيح؟ | قال د. أحمد نعم. | شكرا۔ | حسنا",
    "hi": "यह है। | वह है।",
    None: "The kbm. five came. | Then kbm. Seven left. | It began.",  # the text tells of "kbm."
    "zh": "他说好。|然后走了！|真的？",
}


def test_sentences_do_not_end_behind_abbreviations():
    with web.modules() as page:
        for language, text in SPLIT.items():
            given = [language, text.replace(" | ", " ").replace("|", "")]
            assert page.evaluate(SENTENCES, given).replace(" ", "") == text.replace(" ", "")


def test_texts_use_the_room_and_no_label_is_named_twice(tmp_path, problems):
    given = [corpus(tmp_path), "--task", "judge", "--scheme", "parade"]
    with web.serving(*given) as server, web.browser() as context:
        page = web.enter(context, server.url, problems)
        page.set_viewport_size({"width": 1280, "height": 800})
        hints = page.locator("#hints span:visible kbd")
        assert page.locator("#labels label").nth(0).inner_text().startswith("0 The lowest grade")
        assert page.locator("#text").bounding_box()["height"] > 600
        size = "one => getComputedStyle(one).fontSize"
        assert page.eval_on_selector("#source-text", size) == "26px"
        expect(hints).to_have_text(["w", "n"])
        web.press(page, "0")
        expect(hints).to_have_text(["u", "w", "n", "Ctrl+↵"])
        page.set_viewport_size({"width": 390, "height": 844})
        fits = "one => one.scrollHeight <= one.clientHeight"
        assert page.eval_on_selector("main", fits)  # both texts are in sight


def test_pages_fold_and_place_as_the_server_does():
    rng, signs = random.Random(3), "aé\u0301 .,\n'-\U0001f600\u4e2d\u0627\u200d\u0e01\u0e34\t5"
    texts = ["".join(rng.choices(signs, k=rng.randint(1, 40))) for _ in range(300)]
    with web.modules() as page:
        web.eventually(
            page.evaluate, FOLDED, json.dumps([play(seed) for seed in range(40)]), wanted=[]
        )
        web.eventually(page.evaluate, PLACED, [*texts, SOURCE, TARGET], wanted=[])
