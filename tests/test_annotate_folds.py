"""The page folds events as the server does: random logs, and random work of two tabs."""

import json
import random

import pytest
from annotate_browser import BROWSER, modules
from annotate_log import TEXTS, Player, Stream, View, sent_to

pytestmark = BROWSER
LOGS, STEPS = 60, 40
SHOWN = """async text => {
    const given = JSON.parse(text), wrong = [];
    const {Pair} = await import("/page/model.js"), {Session} = await import("/page/session.js");
    const order = (a, b) => a[0] - b[0] || a[1] - b[1];
    const shown = pair => {
        const places = name => Array.from(pair[name], (value, at) => [...pair.cell(at), value])
            .filter(([, , value]) => value).sort(order);
        const marks = name => places(name).map(([i, j]) => [i, j]);
        const ids = stack => stack.map(({id}) => id).reverse();
        const byKey = ([a], [b]) => a < b ? -1 : 1;
        return {
            cells: places("values"), bulk: marks("bulk"), rejected: marks("rejected"),
            settled: marks("settled"),
            comments: [...pair.comments].sort(byKey),
            judgment: pair.judgment, flags: pair.flags, done: pair.done,
            undo: ids(pair.undo), redo: ids(pair.redo)};
    };
    const same = (one, other) => Object.keys(other).every(
        name => JSON.stringify(one[name]) === JSON.stringify(other[name]));
    const extents = pair => JSON.stringify([[...pair.rows], [...pair.columns]]);
"""
FOLDED = """
    given.forEach(({first, steps}, log) => {
        let pair = new Pair(first);
        steps.every(({event, expected, reversed, document}, step) => {
            const told = (what, found, wanted) =>
                !wrong.push(JSON.stringify({log, step, what, event, found, wanted}));
            pair.apply(event);
            const found = shown(pair);
            // where the words were corrected the page opens the pair anew
            const kept = event.kind === "text" || same(found, expected);
            if (!kept) return told("fold", found, expected);
            if (document) pair = new Pair(document);
            if (!same(shown(pair), expected)) return told("document", shown(pair), expected);
            const fresh = pair.copy();
            for (let i = 0; i < pair.n; i++) fresh.extend("row", i);
            for (let j = 0; j < pair.m; j++) fresh.extend("column", j);
            if (extents(fresh) !== extents(pair)) return told("extents", extents(pair), "");
            for (const [kind, wanted] of Object.entries(reversed)) {
                const copy = pair.copy(), data = copy.inverse(kind);
                if (!data !== !wanted) return told(kind, data ?? null, wanted);
                if (!data) continue;
                copy.apply({id: "x", kind, data});
                const {undo, redo, ...rest} = wanted;
                if (!same(shown(copy), rest)) return told(kind, shown(copy), rest);
            }
            if (!same(shown(pair), expected)) return told("copy", shown(pair), expected);
            return true;
        });
    });
    return wrong.slice(0, 3); }"""
WORKED = """
    given.forEach(({first, steps}, play) => {
        let id;
        const pushed = [], wire = {newId: () => id, push: (k, rev, event) => pushed.push(event)};
        const session = new Session(first, wire);
        steps.every(({act, expected}, step) => {
            if (act.look) session.look(session.view.at(...act.look));
            else if (act.refuse) session.refuse(Object.assign([act.refuse], act.refuse));
            else if (act.confirm) session.confirm(act.confirm);
            else {
                id = act.commit.id;
                session.commit(act.commit.kind, act.commit.data);
                const {kind, data} = pushed.pop(), sent = JSON.stringify({id, kind, data});
                if (sent !== JSON.stringify(act.sent)) return !wrong.push(sent);
            }
            const found = shown(session.view);
            return same(found, expected)
                || !wrong.push(JSON.stringify({play, step, act, found, expected}));
        });
    });
    return wrong.length ? [wrong.length, ...wrong.slice(0, 2)] : []; }"""


@pytest.fixture(scope="module")
def page():
    with modules() as page:
        yield page


def log(seed):
    rng = random.Random(seed)
    player, stream = Player(rng), Stream(*rng.choices(TEXTS, k=2))
    steps, first = [], stream.document()
    while len(steps) < STEPS:
        if rng.random() < 0.03:
            event = stream.correct(player.id(), *rng.choices(TEXTS, k=2))
        else:
            made = player.event(stream.state, stream.tops(), *map(len, stream.words))
            if (event := sent_to(stream, made)) is None:
                continue
        again = event["kind"] == "text" or rng.random() < 0.1
        steps.append(
            {
                "event": event,
                "expected": stream.shown(),
                "reversed": {kind: stream.reversed(kind) for kind in ("undo", "redo")},
                "document": stream.document() if again else None,
            }
        )
    return {"first": first, "steps": steps}


def test_random_logs_fold_to_the_same_on_the_page_and_on_the_server(page):
    logs = [log(seed) for seed in range(LOGS)]
    kinds = {step["event"]["kind"] for log in logs for step in log["steps"]}
    assert kinds == {"edit", "reject", "comment", "judge", "done", "undo", "redo", "open", "text"}
    assert page.evaluate(SHOWN + FOLDED, json.dumps(logs)) == []


class Tab:
    def __init__(self, stream):
        self.stream, self.told, self.seen = stream, 0, set()
        self.pending, self.unsent, self.steps = [], [], []

    def view(self):
        return View(self.stream.events[: self.told], self.pending)

    def step(self, **act):
        self.steps.append({"act": act, "expected": self.view().shown(self.seen)})

    def commit(self, player):
        view = self.view()
        view.state.bulk -= self.seen
        made = player.event(view.state, view.tops(), *map(len, self.stream.words))
        if made["data"].get("of") == "none":
            return
        made["data"].pop("seen", None)
        event = {**made, "data": dict(made["data"])}
        if self.seen:
            event["data"]["seen"] = [list(cell) for cell in self.seen]
        self.seen = set()
        self.pending.append(event)
        self.unsent.append(event)
        self.step(commit=made, sent=event)

    def look(self, rng):
        bulk = sorted(self.view().state.bulk - self.seen)
        if bulk and not self.seen:
            self.seen.add(rng.choice(bulk))
            self.step(look=next(iter(self.seen)))

    def send(self):
        if not self.unsent:
            return
        event = self.unsent.pop(0)
        if sent_to(self.stream, event) is None:
            self.hear(len(self.stream.events))
            self.pending.remove(event)
            self.step(refuse=event)

    def hear(self, upto):
        news = self.stream.events[self.told : upto]
        if news:
            self.told = upto
            ids = {event["id"] for event in news}
            self.pending = [event for event in self.pending if event["id"] not in ids]
            self.step(confirm=news)


def play(seed):
    rng = random.Random(seed)
    stream = Stream(*rng.choices(TEXTS[:4], k=2))
    first, tab, player, other = stream.document(), Tab(stream), Player(rng), Player(rng)
    other.id = lambda: f"other-{player.id()}"  # type: ignore[method-assign]
    while len(tab.steps) < STEPS:
        turn = rng.choice(["commit", "commit", "send", "hear", "other", "look"])
        if turn == "commit":
            tab.commit(player)
        elif turn == "send":
            tab.send()
        elif turn == "hear":
            tab.hear(rng.randint(tab.told, len(stream.events)))
        elif turn == "look":
            tab.look(rng)
        else:
            sent_to(stream, other.event(stream.state, stream.tops(), *map(len, stream.words)))
    while tab.unsent:
        tab.send()
    tab.hear(len(stream.events))
    assert not tab.pending
    return {"first": first, "steps": tab.steps}


def test_what_is_stored_and_what_is_on_its_way_make_the_view(page):
    plays = [play(seed) for seed in range(LOGS)]
    acts = [next(iter(step["act"])) for play in plays for step in play["steps"]]
    assert set(acts) == {"commit", "look", "confirm", "refuse"}
    assert page.evaluate(SHOWN + WORKED, json.dumps(plays)) == []
