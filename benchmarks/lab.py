"""Measure a lab: edits of many annotators, sign-ins beside them, the lists of a large project.

See benchmarks.annotators, which has the command.
"""

from __future__ import annotations

import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from statistics import median
from time import perf_counter, sleep, time
from typing import Any

import msgspec
from scipy.stats import mannwhitneyu

from alignkit.annotate.adjudication.adjudication_queue import Docket
from alignkit.annotate.adjudication.gold import settle
from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.lab import passwords, schema
from alignkit.annotate.lab.lab import Lab
from alignkit.annotate.lab.values import Actor, LabError, NewSession
from alignkit.annotate.project import queries
from alignkit.annotate.project.appending import Batch, Writer, new_event
from alignkit.annotate.project.events import Data, Turn
from alignkit.annotate.project.pair_lists import PairList, own_pair
from alignkit.annotate.project.store import Store
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from benchmarks.annotators import WORDS, Annotator, Link, Simulation, edit_all, serving

PASSWORD, HOME, SLUG = "of-simulated-annotators", "192.0.2.1", "simulation"
_OWNER = Actor("owner")
_CLIENTS = 30  # that try to sign in at once: more than may wait


@dataclass
class MadeLab:
    """A lab with a project, its annotators, and where it is served."""

    place: str
    key: str
    project: str
    sessions: dict[str, NewSession] = field(default_factory=dict)
    host: str = ""

    def headers(self, name: str) -> dict[str, str]:
        """Return what the page of somebody sends."""
        known = self.sessions[name]
        cookie = f"alignkit-{self.key}={known.cookie}"
        return {"Cookie": cookie, "X-CSRF-Token": known.csrf, "X-Forwarded-For": HOME}

    def sign_in(self, link: Link, name: str, address: str, password: str = "not theirs") -> int:
        """Try to sign in from an address; return the status."""
        body = msgspec.json.encode({"name": name, "password": password})
        headers = {"X-Forwarded-For": address}
        return link.ask("POST", "/api/v1/session", body, headers)[0]


def make_lab(place: str, annotators: Sequence[str], pairs: int, *, costly: bool = False) -> MadeLab:
    """Make a lab with a project of some pairs; unless `costly`, passwords are hashed quickly."""
    words = [f"w{at}" for at in range(WORDS)]
    passwords.COST = 4, 8, 1
    with closing(Lab.open(place)) as lab:
        first = lab.links.first_owner()
        assert first is not None, "give an empty place"
        owner = lab.links.use(first, PASSWORD, name="owner", address=HOME)
        row = lab.projects.make(SLUG, "align", "", _OWNER)
        made = MadeLab(place, lab.key, lab.project_place(row.key), {"owner": owner})
        corpus = Corpus(SentencePair(f"p{k}", words, words) for k in range(pairs))
        create_project(made.project, corpus)
        lab.projects.opened(row.key, _OWNER)
        for name in annotators:
            link = lab.links.create("invite", name, _OWNER, project=row.slug)
            made.sessions[name] = lab.links.use(link.token, PASSWORD, address=HOME)
        if costly:
            _set_passwords(lab, (15, 8, 3))
    return made


def names_of(annotators: int) -> list[str]:
    """Return the names of some annotators."""
    return [f"annotator{number}" for number in range(1, annotators + 1)]


def serve_lab(made: MadeLab) -> Any:
    """Serve a lab as behind a proxy, so that each request can name its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        made.host = f"127.0.0.1:{free.getsockname()[1]}"
    words = ["--port", made.host.rpartition(":")[2], "--url", f"http://{made.host}"]
    return serving(["serve", made.place, *words, "--behind-proxy", "127.0.0.1"], stderr=True)


def simulate_lab(
    place: str,
    annotators: int,
    seconds: float,
    *,
    rate: float = 4.0,
    pairs: int = 200,
    sign_ins: int = 0,
) -> tuple[Simulation, list[str]]:
    """Let annotators of a new lab edit, with tries to sign in beside them; return their story."""
    names, simulation = names_of(annotators), Simulation()
    made = make_lab(place, names, pairs, costly=bool(sign_ins))
    with Store.open(made.project) as store:
        assign_pairs(store, names, double=0.5, trial=5)
    with serve_lab(made) as (process, _):
        people = [
            Annotator(
                name,
                made.host,
                f"/api/v1/projects/{SLUG}",
                simulation,
                rate,
                seconds,
                made.headers(name),
            )
            for name in names
        ]
        storm = _Storm(made, names, sign_ins, seconds)
        storm.start()
        edit_all(people, process.pid, simulation)
        return simulation, storm.end()


def lost(place: str, simulation: Simulation) -> int:
    """Return how many acknowledged events are not in the log, which must be free of faults."""
    with closing(Lab.open(place)) as lab:
        project = lab.project_place(lab.projects.get(SLUG).key)
    with Store.open(project) as store:
        logged = {event.id for event in store.log()}
    return sum(id not in logged for ids in simulation.sent.values() for id in ids)


class _Storm:
    """Many tries to sign in with wrong passwords, each from another address; and one owner."""

    def __init__(self, made: MadeLab, names: Sequence[str], tries: int, seconds: float) -> None:
        self._made, self._names, self._seconds = made, names, seconds
        self._left = iter(range(tries))
        self._statuses: Counter[int] = Counter()
        self._owner: list[str] = []
        makers = [self._try] * _CLIENTS + [self._enter]
        self._threads = [threading.Thread(target=make, daemon=True) for make in makers if tries]
        self._pause = _CLIENTS * seconds / tries * 0.8 if tries else 0.0

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> list[str]:
        for thread in self._threads:
            thread.join()
        if not self._threads:
            return []
        counts = ", ".join(f"{n} x {status}" for status, n in sorted(self._statuses.items()))
        return [f"{self._statuses.total()} sign-ins with wrong passwords: {counts}", *self._owner]

    def _try(self) -> None:
        with closing(Link(self._made.host)) as link:
            for k in self._left:
                name = self._names[k % len(self._names)] if k % 3 else f"nobody{k}"
                address = f"198.18.{k // 250}.{k % 250 + 1}"
                self._statuses[self._made.sign_in(link, name, address)] += 1
                sleep(self._pause)

    def _enter(self) -> None:
        """Sign in as one whose name is guessed, from home, again while the server is busy."""
        sleep(self._seconds / 3)
        start, refused = perf_counter(), 0
        with closing(Link(self._made.host)) as link:
            while (status := self._made.sign_in(link, self._names[0], HOME, PASSWORD)) == 429:
                refused += 1
                sleep(1)
        took = perf_counter() - start
        self._owner.append(
            f"{self._names[0]} with the right password: {status} after {took:.1f} s, "
            f"refused {refused} times before"
        )


def time_logins(place: str, tries: int) -> Iterator[str]:
    """Time wrong passwords for nobody, for closed accounts and for open ones.

    First all but scrypt, whose work is the same for all, in this process; then by HTTP.
    """
    kinds = {kind: [f"{kind}{k}" for k in range(10)] for kind in ("unknown", "closed", "known")}
    made = make_lab(place, [*kinds["closed"], *kinds["known"]], 1)
    order = [kind for kind in kinds for _ in range(tries)]
    random.Random(1).shuffle(order)
    with closing(Lab.open(place)) as lab:
        for name in kinds["closed"]:
            lab.accounts.change(name, _OWNER, state="closed")

        def refused(name: str, address: str) -> bool:
            try:
                lab.sessions.sign_in(name, "not theirs", address=address)
            except LabError as error:
                return error.code == "wrong"
            return False

        yield from _compared("without scrypt", _timed(kinds, order, refused))
        lab.database.clock = lambda: time() + 7200  # the failures are forgotten
        _set_passwords(lab, (15, 8, 3))
        lab.tidy()
    with serve_lab(made), closing(Link(made.host)) as link:
        times = _timed(kinds, order, lambda *who: made.sign_in(link, *who) == 401)
    yield from _compared("by HTTP", times)


def _timed(
    kinds: dict[str, list[str]], order: Sequence[str], refused: Callable[[str, str], bool]
) -> dict[str, list[float]]:
    """Return the milliseconds of tries, each from another address."""
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for k, kind in enumerate(order):
        name, address = kinds[kind][k % 10], f"198.18.{k // 250}.{k % 250 + 1}"
        start = perf_counter()
        assert refused(name, address), name
        times[kind].append(1000 * (perf_counter() - start))
    return times


def _compared(what: str, times: dict[str, list[float]]) -> Iterator[str]:
    told = ", ".join(f"{kind} {median(own):.2f} ms" for kind, own in times.items())
    yield f"{what}, medians of {len(times['known'])} tries: {told}"
    for kind in ("unknown", "closed"):
        p = mannwhitneyu(times[kind], times["known"]).pvalue
        yield f"{what}, {kind} or known: Mann-Whitney p {p:.2f}"


def _set_passwords(lab: Lab, cost: tuple[int, int, int]) -> None:
    """Give all accounts the password with the cost of real ones."""
    passwords.COST = cost
    new = passwords.hashed(PASSWORD)
    with lab.database.change() as step:
        step.update(schema.account, password=new)


# A month's work: 20 annotators, 20,000 pairs, about 250,000 events

_PEOPLE, _PAIRS, _SHARE, _SETTLED = 20, 20_000, 0.83, 1500
_START = datetime(2026, 10, 1, 8, tzinfo=timezone.utc)


def make_month(place: str) -> MadeLab:
    """Make a lab in which a project is nearly done."""
    names = names_of(_PEOPLE)
    made = make_lab(place, names, _PAIRS)
    rng = random.Random(1)
    with Store.open(made.project) as store:
        assign_pairs(store, names, double=0.2, trial=20)
        with store.database.writing() as conn:
            for account, name in enumerate(queries.annotators(conn), 1):
                if name in names:
                    _work_of(conn, account, name, rng)
        store.enrol(store.project().gold)
        agreed = [row.k for row in Docket(store).rows() if row.state == "agreed"]
        settle(store, agreed[:_SETTLED], "owner")
    return made


def _work_of(conn: Any, account: int, name: str, rng: random.Random) -> None:
    """Write the events of an annotator: links, a doubt now and then, and done."""
    own, batch, at = PairList(conn, account), Batch(conn), _START
    numbers = own.queue(0, _PAIRS).pairs
    for row in numbers[: int(_SHARE * len(numbers))]:
        _, pair, stream, _, _ = own_pair(conn, row.k, name)
        writer = Writer(batch, account, name, pair, stream)
        words = sorted(rng.sample(range(WORDS), rng.randint(7, 11)))
        edits = [Data(how="cell", cells=((i, i, 0, 2),)) for i in words]
        steps = [("open", Data(rev=1)), *(("edit", data) for data in edits)]
        if rng.random() < 0.1:
            doubt = "check the idiom"
            steps.append(("comment", Data(key="", before="", after=doubt)))
        steps.append(("done", Data(before=False, after=True, done=Turn(False, True))))
        for kind, data in steps:
            at += timedelta(seconds=rng.uniform(2, 9))
            event = new_event(kind, name, sent="x")
            event.at = at.isoformat(timespec="milliseconds")
            writer.add(event, data)
        at += timedelta(hours=14) * (at.hour >= 18)
        writer.save()
    batch.flush()


_REQUESTS = {
    "list of projects": ("owner", "projects"),
    "list of projects, annotator": ("annotator1", "projects"),
    "queue": ("annotator1", "projects/simulation/queue"),
    "queue, at its end": ("annotator1", "projects/simulation/queue?after=1000"),
    "find an id": ("annotator1", "projects/simulation/find?q=p77"),
    "find a comment": ("annotator1", "projects/simulation/find?q=idiom"),
    "find nothing": ("annotator1", "projects/simulation/find?q=nowhere"),
    "pair": ("annotator1", "projects/simulation/pairs/{k}"),
    "people": ("owner", "projects/simulation/people"),
    "project": ("owner", "projects/simulation"),
    "progress": ("owner", "projects/simulation/progress"),
    "to adjudicate": ("owner", "projects/simulation/gold"),
    "dashboard": ("owner", "projects/simulation/agreement"),
}


def time_month(place: str, tries: int = 20) -> Iterator[str]:
    """Time the lists of a large project: first, and again; between them somebody edits."""
    made = make_month(place)
    with Store.open(made.project) as store:
        info = store.project()
        yield f"{info.pairs:,} pairs, {info.n:,} events, {len(info.annotators)} annotators"
    with serve_lab(made), closing(Link(made.host)) as link:
        queue = _ask(made, link, "annotator1", "projects/simulation/queue")
        start = perf_counter()
        while "progress" in _ask(made, link, "owner", "projects/simulation/agreement"):
            sleep(1.0)
        yield f"dashboard: computed after {perf_counter() - start:.1f} s"
        editor = Annotator(
            "annotator2",
            made.host,
            f"/api/v1/projects/{SLUG}",
            Simulation(),
            4,
            0,
            made.headers("annotator2"),
        )
        for what, (name, path) in _REQUESTS.items():
            times = []
            for _ in range(tries):
                sleep(0.1)  # a session may ask 40 times a second
                editor.edit_once()
                start = perf_counter()
                _ask(made, link, name, path.format(k=queue["pairs"][-1]["k"]))
                times.append(1000 * (perf_counter() - start))
            rest = f"then median {median(times[1:]):.1f} ms, slowest {max(times[1:]):.1f} ms"
            yield f"{what}: first {times[0]:.0f} ms, {rest}"


def _ask(made: MadeLab, link: Link, name: str, path: str) -> Any:
    status, _, body = link.ask("GET", f"/api/v1/{path}", b"", made.headers(name))
    assert status == 200, (path, status, body)
    return msgspec.json.decode(body)
