"""Let simulated annotators edit at once, and time each edit.

From the top of the repository: python -m benchmarks.annotators [--annotators N] [--seconds N]
With --lab, they sign in to a lab in a new folder, or with --lab postgresql+psycopg://... in a new
PostgreSQL database.

Each makes edits at a steady rate in pairs assigned to them, marks pairs done, opens the next and
asks every two seconds what has changed, as pages do. What was sent is kept, so that a test can
compare it with the log.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any
from uuid import uuid4

from alignkit.annotate.assignment import assign_pairs
from alignkit.annotate.creation import create_project
from alignkit.annotate.project.names import Visitor
from alignkit.annotate.project.store import Store
from alignkit.annotate.server.invitations import invited
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from benchmarks.machine import load, machine

_PACKAGES = ("alignkit", "sqlalchemy", "starlette", "uvicorn", "msgspec")
WORDS, _EDITS, _POLL = 20, 30, 2.0


@dataclass
class Simulation:
    """Hold what was sent and answered.

    Parameters
    ----------
    sent
        The ids of events by pair and annotator, in order.
    statuses
        How often each status was answered, by request.
    latencies
        Seconds from an edit to its answer.
    memory
        kB that the server held, at each second; empty where that cannot be known.
    work
        Seconds that the server computed; 0 where that cannot be known.
    """

    sent: dict[tuple[int, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    work: float = 0.0


def simulate(
    project: str, annotators: int, seconds: float, *, rate: float = 4.0, pairs: int = 200
) -> Simulation:
    """Make a project, serve it, and let annotators edit it.

    Parameters
    ----------
    project
        The file to make.
    rate
        Edits a second of each.
    """
    names = [f"annotator{number}" for number in range(1, annotators + 1)]
    words = [f"w{at}" for at in range(WORDS)]
    create_project(project, Corpus(SentencePair(f"p{k}", words, words) for k in range(pairs)))
    with Store.open(project) as store:
        assign_pairs(store, names, double=0.5, trial=5)
    simulation = Simulation()
    command = ["annotate", project, "--annotator", names[0], "--suggestions", "none"]
    with serving([*command, "--no-browser"]) as (process, url):
        urls = [url, *(invited(project, Visitor(name)) or "" for name in names[1:])]
        ways = [url.partition("/#") for url in urls]
        people = [Annotator(name, ways[0][0], "/api", simulation, rate, seconds) for name in names]
        for person, (_, _, token) in zip(people, ways, strict=True):
            person.enter(token)
        edit_all(people, process.pid, simulation)
    return simulation


def edit_all(people: Sequence[Annotator], process: int, simulation: Simulation) -> None:
    """Let annotators edit until their time is over."""
    simulation.statuses.clear()
    before = _work(process)
    for person in people:
        person.start()
    while any(person.is_alive() for person in people):
        simulation.memory += _memory(process)
        sleep(1)
    simulation.work = _work(process) - before
    problems = [person.problem for person in people if person.problem is not None]
    if problems:
        raise problems[0]


@contextmanager
def serving(
    words: Sequence[str], *, stderr: bool = False
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command in a process of its own; yield it with its first line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "alignkit", *words],
        stdout=subprocess.DEVNULL if stderr else subprocess.PIPE,
        stderr=subprocess.PIPE if stderr else subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        lines = process.stderr if stderr else process.stdout
        assert lines is not None
        yield process, lines.readline().strip()
    finally:
        ended = process.poll()
        process.send_signal(signal.SIGTERM)
        told = process.communicate()[stderr]
        if ended is not None:
            print(f"the server ended with {ended}: {told}")


def _memory(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS:")]


def _work(process: int) -> float:
    try:
        numbers = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2]
    except OSError:
        return 0.0
    return sum(map(int, numbers.split()[11:13])) / os.sysconf("SC_CLK_TCK")


class Annotator(threading.Thread):
    """Edit at a steady rate."""

    def __init__(
        self,
        name: str,
        url: str,
        base: str,
        simulation: Simulation,
        rate: float,
        seconds: float,
        headers: Mapping[str, str] = {},
    ) -> None:
        super().__init__(daemon=True)
        self._who, self._base, self._simulation = name, base, simulation
        self._link = Link(url.removeprefix("http://"))
        self._step, self._seconds = 1 / rate, seconds
        self._headers = dict(headers)
        self._rng = random.Random(name)
        self._polled = self._n = 0.0
        self.problem: BaseException | None = None

    def run(self) -> None:
        """Edit until the time is over."""
        try:
            self._work()
        except BaseException as problem:
            self.problem = problem
        finally:
            self._link.close()

    def enter(self, token: str) -> None:
        """Begin a session."""
        self._headers["X-CSRF-Token"] = self._ask("POST", "/enter", {"token": token})["csrf"]

    def edit_once(self) -> None:
        """Edit the last pair of the list."""
        k = self._ask("GET", f"{self._base}/queue")["pairs"][-1]["k"]
        state = self._ask("GET", f"{self._base}/pairs/{k}")["state"]
        cells = {(i, j): value for i, j, value in state["cells"]}
        self._send(k, state["seq"], "edit", self._edit(cells))

    def _work(self) -> None:
        queue = self._ask("GET", f"{self._base}/queue")["pairs"]
        start = due = perf_counter() + self._rng.random() * self._step
        while True:
            for row in queue:
                view = self._ask("GET", f"{self._base}/pairs/{row['k']}")
                cells = {(i, j): value for i, j, value in view["state"]["cells"]}
                seq, done = view["state"]["seq"], view["state"]["done"]
                last = self._rng.randrange(2 * _EDITS)
                for count in range(last + 1):
                    if perf_counter() - start > self._seconds:
                        return
                    sleep(max(0.0, due - perf_counter()))
                    due += self._step
                    if count == last:
                        data: dict[str, Any] = {"before": done, "after": not done}
                        seq = self._send(row["k"], seq, "done", data)
                    else:
                        seq = self._send(row["k"], seq, "edit", self._edit(cells))
                    self._poll()

    def _edit(self, cells: dict[tuple[int, int], int]) -> dict[str, Any]:
        cell = self._rng.randrange(WORDS), self._rng.randrange(WORDS)
        before = cells.get(cell, 0)
        cells[cell] = (before + 1) % 3
        return {"how": "cell", "cells": [[*cell, before, cells[cell]]]}

    def _send(self, k: int, seq: int, kind: str, data: dict[str, Any]) -> int:
        id = str(uuid4())
        event = {"id": id, "kind": kind, "v": 1, "client_at": "", "data": data}
        start = perf_counter()
        reply = self._ask(
            "POST", f"{self._base}/pairs/{k}/events", {"base": seq, "rev": 1, "events": [event]}
        )
        self._simulation.latencies.append(perf_counter() - start)
        self._simulation.sent[k, self._who].append(id)
        return int(reply["seq"])

    def _poll(self) -> None:
        if perf_counter() - self._polled > _POLL:
            self._polled = perf_counter()
            found = self._ask("GET", f"{self._base}/changes?after={self._n:.0f}")
            self._n = found["n"] if found else self._n

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        status, cookie, text = self._link.ask(method, path, data, self._headers)
        self._simulation.statuses[f"{method} {path.partition('?')[0]}", status] += 1
        if status >= 400:
            raise RuntimeError(f"{method} {path}: {status} {text.decode()}")
        if cookie:
            self._headers["Cookie"] = cookie
        return json.loads(text) if text else None


class Link:
    """A connection that stays open: http.client would need more time than the server."""

    def __init__(self, host: str) -> None:
        self._host = host
        name, _, port = host.rpartition(":")
        self._socket = socket.create_connection((name, int(port)), 60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[int, str, bytes]:
        """Return the status, a cookie and the body of an answer."""
        lines = {"Host": self._host, "Content-Type": "application/json", **headers}
        lines["Content-Length"] = str(len(body))
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._socket.sendall(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        while b"\r\n\r\n" not in self._rest:
            self._read()
        told, _, self._rest = self._rest.partition(b"\r\n\r\n")
        first, *rows = told.decode().split("\r\n")
        known = {row.partition(":")[0].lower(): row.partition(": ")[2] for row in rows}
        length = int(known.get("content-length", 0))
        while len(self._rest) < length:
            self._read()
        text, self._rest = self._rest[:length], self._rest[length:]
        return int(first.split()[1]), known.get("set-cookie", "").partition(";")[0], text

    def _read(self) -> None:
        piece = self._socket.recv(1 << 16)
        if not piece:
            raise ConnectionError("the server has closed the connection")
        self._rest += piece

    def close(self) -> None:
        """Close it."""
        self._socket.close()


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.annotators", description=__doc__)
    parser.add_argument("--annotators", type=int, default=20, metavar="N", help="default: 20")
    parser.add_argument("--seconds", type=float, default=60, metavar="N", help="default: 60")
    parser.add_argument("--rate", type=float, default=4, metavar="N", help="edits a second each")
    parser.add_argument("--lab", nargs="?", const="", metavar="PLACE", help="serve a lab")
    parser.add_argument("--sign-ins", type=int, default=0, metavar="N", help="that fail, beside")
    parser.add_argument("--logins", type=int, metavar="N", help="time N tries of each kind of name")
    parser.add_argument("--month", action="store_true", help="time the lists of a large project")
    options = parser.parse_args()
    sys.setswitchinterval(0.0005)  # what is timed is the server, not how our threads wait
    print(machine(_PACKAGES))
    with TemporaryDirectory() as folder:
        for line in _lines(options, options.lab or str(Path(folder) / "place")):
            print(line, flush=True)
    print(f"load after: {load()}")


def _lines(options: argparse.Namespace, place: str) -> Iterator[str]:
    from benchmarks import lab

    who = options.annotators, options.seconds
    if options.month:
        yield from lab.time_month(place)
    elif options.logins:
        yield from lab.time_logins(place, options.logins)
    elif options.lab is not None or options.sign_ins:
        simulation, storm = lab.simulate_lab(
            place, *who, rate=options.rate, sign_ins=options.sign_ins
        )
        yield told(simulation)
        yield f"acknowledged and lost: {lab.lost(place, simulation)}"
        yield from storm
    else:
        yield told(simulate(place, *who, rate=options.rate))


def told(simulation: Simulation) -> str:
    """Return the latencies and the memory in a line."""
    times = sorted(simulation.latencies)
    memory, asked = simulation.memory or [0], simulation.statuses.total()
    return (
        f"{len(times):,} edits: median {1000 * median(times):.1f} ms, 99 % in "
        f"{1000 * quantiles(times, n=100)[-1]:.1f} ms, slowest {1000 * times[-1]:.0f} ms; server "
        f"from {memory[0] // 1024} to {memory[-1] // 1024} MB, "
        f"{1000 * simulation.work / asked:.2f} ms of computing for each of {asked:,} requests"
    )


if __name__ == "__main__":
    main()
