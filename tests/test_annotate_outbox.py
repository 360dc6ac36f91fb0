"""What is edited while the server is away waits in the browser and arrives once (in Chromium)."""

import pytest
from annotate_browser import BROWSER, browser
from annotation_server import make, served

from alignkit.annotate.project.replay import replay
from alignkit.annotate.project.store import Store

pytestmark = BROWSER
_BEGIN = """async () => {
  const { enter } = await import("/page/wire.js");
  const wire = window.wire = await enter();
  window.told = { status: [], events: [], conflict: [] };
  for (const type of Object.keys(told)) {
    wire.addEventListener(type, ({ detail }) => told[type].push(detail));
  }
  window.edit = (k, i, j, before, after) => wire.push(k, 1, {
    id: wire.newId(), kind: "edit", v: 1, client_at: "",
    data: { how: "cell", cells: [[i, j, before, after]] } });
  const { pending, state } = await wire.pair(1);
  return { pending: pending.length, cells: state.cells };
}"""
_UNTIL_SAVED = """async () => {
  let stored = 0;
  const early = [], made = [];
  wire.addEventListener("acknowledged", ({ detail }) => { stored += detail.ids.length; });
  wire.addEventListener("status", ({ detail: { state } }) => {
    if (state === "saved" && stored < made.length) early.push([stored, made.length]);
  });
  for (let k = 0; k < 40; k += 1) {
    wire.changed(); // asked before the edit, answered after it
    made.push(k);
    edit(1, 0, 0, k % 2, (k + 1) % 2);
    await new Promise(resolve => setTimeout(resolve, k % 4));
  }
  const atOnce = told.status.at(-1).state;
  while (stored < made.length) await new Promise(resolve => setTimeout(resolve, 10));
  return { "at once": atOnce, early };
}"""
_REFRAIN = """() => {
  const { fetch } = window;
  window.fetch = (path, options) =>
    options.method === "POST" ? Promise.reject(new TypeError()) : fetch(path, options);
}"""
_SENT = """async statuses => {
  const { Queue } = await import("/page/queue.js");
  const entry = (k, id) => ({ k, rev: 1, event: { id: String(id) } });
  const kept = [...Array(150).keys()].map(id => entry(1, id)).concat([entry(2, 150)]);
  const posted = [], told = { stored: 0, refused: 0 };
  const outbox = { mine: kept, all: async () => kept.slice() };
  const queue = new Queue(outbox, async run => {
    posted.push([run[0].k, run.length]);
    return { status: statuses.shift() };
  });
  for (const type of Object.keys(told)) queue.hear(type, () => { told[type] += 1; });
  queue.farewell();
  const farewell = posted.splice(0);
  for (const _ of statuses.slice()) await queue.flush();
  return { farewell, posted, told, offline: queue.offline };
}"""

_ORDER = """async () => {
  const { Queue } = await import("/page/queue.js");
  const { Outbox } = await import("/page/outbox.js");
  const outbox = await Outbox.open("order");
  const data = { how: "cell", cells: [[0, 0, 0, 2]] };
  const event = id => ({ id, kind: "edit", v: 1, data });
  const entry = id => ({ k: 1, rev: 1, base: 0, tab: "t", event: event(id) });
  const statuses = [201, 409];
  const queue = new Queue(outbox, async run => {
    const events = run.map(({ event }) => ({ ...event, seq: 1 }));
    return { status: statuses.shift(), body: { events, message: "no" } };
  });
  const heard = [];
  let left = () => {};
  for (const type of ["stored", "refused"]) {
    queue.hear(type, async news => {
      const ids = news.ids ?? news.refused.map(({ id }) => id);
      heard.push([type, ids, (await outbox.all()).map(({ event }) => event.id)]);
      left();
    });
  }
  for (const id of ["a", "b"]) {
    const done = new Promise(resolve => { left = resolve; });
    await queue.add(entry(id));
    await done;
  }
  return heard;
}"""


@pytest.fixture
def context():
    with browser() as context:
        yield context


@pytest.fixture
def project(tmp_path):
    return make(tmp_path)


@pytest.fixture
def serve(project):
    return lambda port=0: served(project, port=port, names=["lab.example"])


def opened(context, url):
    page = context.new_page()
    page.goto(url.replace("/#", "/page/wire.js#"))
    page.begun_with = page.evaluate(_BEGIN)
    return page


def wait(page, condition):
    """Ask again and again; Playwright's own way needs eval, which the policy forbids."""
    for _ in range(400):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{condition}: {page.evaluate('told')}")


def until(page, text):
    wait(page, f"told.status.at(-1)?.text === {text!r}")


def stored(file):
    with Store.open(file, readonly=True) as store:
        assert not replay(store).differences
        return sorted(map(list, store.pair(1, "anna").state.cells))


@pytest.mark.parametrize("host", ["127.0.0.1", "lab.example"])
def test_edits_made_while_the_server_is_away_arrive_once(context, serve, project, host):
    with serve() as server:
        page = opened(context, server.url.replace("127.0.0.1", host))
        page.evaluate("edit(1, 0, 0, 0, 2)")
        wait(page, "told.events.length === 1")
        assert page.evaluate("isSecureContext") == (host == "127.0.0.1")
    page.evaluate("for (let i = 0; i < 3; i += 1) edit(1, i, 1, 0, 1)")
    until(page, "Offline: 3 edits kept in this browser")
    with serve(server.port):
        until(page, "Saved")  # by the session of before
        assert len(page.evaluate("told.events.flatMap(({ events }) => events)")) == 4
    page.evaluate("edit(1, 3, 2, 0, 2); edit(1, 0, 0, 2, 0)")
    until(page, "Offline: 2 edits kept in this browser")
    page.close()
    with serve(server.port) as server:
        page = opened(context, server.url.replace("127.0.0.1", host))
        until(page, "Saved")
    assert page.begun_with["pending"] in (0, 2)
    assert stored(project) == [[0, 1, 1], [1, 1, 1], [2, 1, 1], [3, 2, 2]]


def test_no_edit_is_called_saved_before_it_is(context, serve):
    with serve() as server:
        page = opened(context, server.url)
        until(page, "Saved")
        told = page.evaluate(_UNTIL_SAVED)
    assert told["at once"] == "saving"
    assert not told["early"]


def test_two_tabs_share_the_outbox_and_tell_each_other(context, serve, project):
    with serve() as server:
        one, two = (opened(context, url) for url in [server.url] * 2)
        one.evaluate("edit(1, 0, 0, 0, 2)")
        wait(two, "told.events.length === 1")
        assert two.evaluate("told.events[0].events[0].data.cells") == [[0, 0, 0, 2]]
        two.evaluate("edit(1, 0, 0, 1, 0); edit(1, 1, 1, 0, 2)")
        wait(two, "told.conflict.length === 1 && told.events.length === 2")
        assert two.evaluate("told.conflict[0]")["refused"][0]["data"]["cells"] == [[0, 0, 1, 0]]
        assert one.evaluate("told.conflict") == []
        wait(one, "told.events.length === 2")
    assert stored(project) == [[0, 0, 2], [1, 1, 2]]


def test_a_tab_sends_what_a_closed_one_has_left(context, serve, project):
    with serve() as server:
        one, two = (opened(context, url) for url in [server.url] * 2)
    one.evaluate("edit(1, 0, 0, 0, 2)")
    until(one, "Offline: 1 edit kept in this browser")
    one.close()
    until(two, "Offline: 1 edit kept in this browser")  # not "Saved": both have one outbox
    with serve(server.port):
        wait(two, "told.events.length === 1")
        until(two, "Saved")
    assert stored(project) == [[0, 0, 2]]


def test_only_the_tab_that_made_an_edit_says_that_it_was_refused(context, serve):
    with serve() as server:
        one, two = (opened(context, url) for url in [server.url] * 2)
    one.evaluate("edit(1, 0, 0, 0, 2)")
    until(one, "Offline: 1 edit kept in this browser")
    two.evaluate("edit(1, 0, 0, 0, 1)")
    until(two, "Offline: 2 edits kept in this browser")
    two.evaluate(_REFRAIN)
    with serve(server.port):
        wait(two, "told.conflict.length === 1")
        assert two.evaluate("told.conflict[0].refused[0].data.cells") == [[0, 0, 0, 1]]
        until(two, "changed in another tab: one place; keep the change, or set yours again")
        until(one, "Saved")
        assert one.evaluate("told.conflict") == []


def test_without_a_database_the_browser_says_to_keep_the_tab(context, serve, project):
    for name in ("indexedDB", "localStorage"):
        context.add_init_script(f"Object.defineProperty(window, '{name}', {{ value: undefined }})")
    with serve() as server:
        page = opened(context, server.url)
    page.evaluate("edit(1, 0, 0, 0, 2)")
    until(page, "Offline: 1 edit kept in this tab only: do not close it")
    with serve(server.port):
        until(page, "Saved")
    assert stored(project) == [[0, 0, 2]]


def test_an_ended_session_keeps_what_waits_until_the_next(context, serve, project):
    with serve() as server:
        page = opened(context, server.url)
        page.evaluate("edit(1, 0, 0, 0, 2)")
        wait(page, "told.events.length === 1")
        cookies = context.cookies()
        context.clear_cookies()
        page.evaluate("edit(1, 1, 1, 0, 2)")
        wait(page, "told.status.at(-1).state === 'left'")
        assert page.evaluate("told.status.at(-1).waiting") == 1
        context.add_cookies(cookies)
        until(page, "Saved")
    assert stored(project) == [[0, 0, 2], [1, 1, 2]]


def test_a_tab_goes_on_when_another_has_entered_anew(context, serve, project):
    with serve() as server:
        one, two = opened(context, server.url), opened(context, server.url)
        one.evaluate("edit(1, 0, 0, 0, 2)")
        wait(one, "told.events.length === 1")  # "Saved" may be of before
        two.evaluate("localStorage.clear()")  # nothing is left but the cookie
        two.close()
        two = context.new_page()
        two.goto(server.url.partition("#")[0])
        two.wait_for_selector("#start-text:text('open the URL')")
    assert stored(project) == [[0, 0, 2]]


def test_what_may_be_taken_later_waits_and_a_farewell_keeps_the_order(context, serve):
    with serve() as server:
        page = opened(context, server.url)
        sent = page.evaluate(_SENT, [0, 0, 408, 0, 405, 429, 500])
        page.close()
    assert sent["farewell"] == [[1, 100], [2, 1]]  # no two of one pair at once
    assert (sent["posted"], sent["told"]) == ([[1, 100]] * 5, {"stored": 0, "refused": 0})
    assert sent["offline"] == "Offline"


def test_what_is_told_is_out_of_the_outbox(context, serve):
    with serve() as server:
        page = opened(context, server.url)
        heard = page.evaluate(_ORDER)
        page.close()
    assert heard == [["stored", ["a"], []], ["refused", ["b"], []]]


_FIRST = """async () => {
  const channel = new BroadcastChannel(wire.project.box);
  const { postMessage } = BroadcastChannel.prototype;
  const order = [];
  BroadcastChannel.prototype.postMessage = function (message) {
    order.push(`channel: ${message.kind}`);
    return postMessage.call(this, message);
  };
  const stored = new Promise(resolve => {
    wire.addEventListener("acknowledged", () => { order.push("page"); resolve(); });
  });
  edit(1, 0, 0, 0, 2);
  await stored;
  channel.close();
  return order;
}"""


def test_other_tabs_hear_what_is_stored_before_this_page(context, serve):
    with serve() as server:
        page = opened(context, server.url)
        order = page.evaluate(_FIRST)
        page.close()
    assert order == ["channel: stored", "page"]
