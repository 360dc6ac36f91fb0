"""Time the annotation server: from the command to the first reply, pairs, edits.

From the top of the repository: python -m benchmarks.annotate [--pairs N] [--runs N]
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from uuid import uuid4

from alignkit.io import write_corpus
from alignkit.model.corpus import Corpus
from alignkit.model.sentence_pair import SentencePair
from alignkit.tables.table import Table
from benchmarks.machine import load, machine

_PACKAGES = ("alignkit", "sqlalchemy", "starlette", "uvicorn", "msgspec")
_LONGEST, _WORDS = 30, 5000


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.annotate", description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000, metavar="N", help="default: 10,000")
    parser.add_argument("--runs", type=int, default=200, metavar="N", help="default: 200")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    print(f"{machine(_PACKAGES)}\na project of {options.pairs:,} pairs\n")
    rows = []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "corpus.jsonl"
        write_corpus(_corpus(options.pairs), file, format="alignkit-jsonl")
        fresh = _Server(file)
        rows += [_row("command to first reply, new project", [fresh.listening])]
        rows += [_row("command to the page being let in, new project", [fresh.entered])]
        fresh.end()
        starts = [_Server(file)]
        for _ in range(4):
            starts[-1].end()
            starts.append(_Server(file))
        rows += [_row("command to first reply", [one.listening for one in starts])]
        rows += [_row("command to the page being let in", [one.entered for one in starts])]
        rows += _replies(starts[-1], options.pairs, options.runs)
        rows += [_row("Ctrl-C to the end", [starts[-1].end()])]
    print(Table.from_records(rows).show("markdown" if options.markdown else "text"))
    print(f"\nload after: {load()}")


def _replies(server: _Server, pairs: int, runs: int) -> list[dict[str, object]]:
    rng = random.Random(0)
    order = rng.sample(range(1, pairs + 1), min(runs, pairs))
    asks: dict[str, Callable[[int], object]] = {
        "open a pair": lambda k: server.ask("GET", f"/api/pairs/{k}"),
        "an edit": server.edit,
        "nothing has changed": lambda _: server.ask("GET", "/api/changes?after=999999999"),
        "a part of the list": lambda k: server.ask("GET", f"/api/queue?after={k}"),
        "find a word": lambda k: server.ask("GET", f"/api/find?q=w{k % _WORDS}"),
    }
    return [_row(name, [_timed(ask, k) for k in order]) for name, ask in asks.items()]


def _timed(ask: Callable[[int], object], k: int) -> float:
    start = perf_counter()
    ask(k)
    return perf_counter() - start


def _row(task: str, seconds: list[float]) -> dict[str, object]:
    late = quantiles(seconds, n=20)[-1] if len(seconds) > 19 else max(seconds)
    return {
        "task": task,
        "runs": len(seconds),
        "median ms": round(1000 * median(seconds), 1),
        "95 % or most ms": round(1000 * late, 1),
    }


def _corpus(pairs: int) -> Corpus:
    rng = random.Random(0)

    def words() -> list[str]:
        return [f"w{rng.randrange(_WORDS)}" for _ in range(rng.randrange(5, _LONGEST))]

    return Corpus(SentencePair(f"p{k}", words(), words()) for k in range(1, pairs + 1))


class _Server:
    """Run the command, and ask it as a browser would."""

    def __init__(self, file: Path) -> None:
        words = ["annotate", str(file), "--annotator", "anna", "--suggestions", "none"]
        start = perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "alignkit", *words, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        address, _, token = self._process.stdout.readline().strip().partition("/#")
        self._host = address.removeprefix("http://")
        self._link = http.client.HTTPConnection(self._host, timeout=600)
        self._headers: dict[str, str] = {}
        self.ask("GET", "/page/wire.js")
        self.listening = perf_counter() - start
        while (answer := self.ask("POST", "/enter", {"token": token})) is None:
            pass  # the project is still being made
        self._headers["X-CSRF-Token"] = answer["csrf"]
        self.entered = perf_counter() - start

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; return the JSON of the reply, None if it is not served yet."""
        headers = {"Content-Type": "application/json", **self._headers}
        self._link.request(method, path, None if body is None else json.dumps(body), headers)
        reply = self._link.getresponse()
        text = reply.read()
        if reply.status == 503:
            return None
        if reply.status >= 400:
            raise SystemExit(f"{method} {path}: {reply.status} {text.decode()}")
        cookie = reply.headers.get("Set-Cookie")
        if cookie:
            self._headers["Cookie"] = cookie.partition(";")[0]
        return json.loads(text) if reply.headers.get_content_subtype() == "json" else None

    def edit(self, k: int) -> None:
        """Make a link in a pair that has none."""
        id = str(uuid4())
        data = {"how": "cell", "cells": [[0, 0, 0, 2]]}
        event = {"id": id, "kind": "edit", "v": 1, "client_at": "", "data": data}
        self.ask("POST", f"/api/pairs/{k}/events", {"base": 0, "rev": 1, "events": [event]})

    def end(self) -> float:
        """Stop it; return how long that took."""
        self._link.close()
        start = perf_counter()
        self._process.send_signal(signal.SIGINT)
        self._process.communicate()
        return perf_counter() - start


if __name__ == "__main__":
    main()
