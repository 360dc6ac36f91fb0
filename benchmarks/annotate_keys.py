"""Count the keys of correcting 20 pairs in Chromium: `python -m benchmarks.annotate_keys`.

A script that knows the gold presses them one by one on the samples, with suggestions of an aligner
that was trained on these pairs. A *change key* makes an edit that stays; all others are moves, `A`
too. Beside them stands what plain arrows would take for the same. With each pair the page must show
the gold in the end, and its cursor must be where the plan says. The left half has `A` (accept all
of .9), the right one goes without.

Ends with 1 where a pair takes more change keys than links differ, or where the moves are on average
more than half of those by arrows.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from annotate_browser import (
    browser,
    cursor,
    enter,
    links,
    pair,
    press,
    saved,
    serving,
    write_corpus,
)

ROOT = Path(__file__).parent.parent
PLAN = (Path(__file__).parent / "annotate_plan.js").read_text(encoding="utf-8")
PLAN = PLAN[PLAN.index("async (") :]
PAIRS = 20
HEAD = "links | change keys | moves | by arrows | ratio"


def main() -> int:
    """Print the table; return 1 where it misses what is wanted."""
    text = (ROOT / "samples" / "paraphrases.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()[1:]]
    golds = [_gold(row["annotations"]["gold"]) for row in rows]
    plain = [{key: row[key] for key in ("id", "source", "target")} for row in rows]
    tables = []
    for accept_all in (True, False):
        with tempfile.TemporaryDirectory() as place:
            corpus = write_corpus(Path(place) / "corpus.jsonl", plain)
            with serving(corpus, "--suggestions", "trained") as server, browser() as context:
                page = enter(context, server.url)
                tables.append(
                    [_played(page, k, golds[k - 1], accept_all) for k in range(1, PAIRS + 1)]
                )
    print(f"| | with A: {HEAD} | without: {HEAD} |")
    print("|" + " --: |" * (1 + 2 * len(HEAD.split("|"))))
    for k, rows in enumerate(zip(*tables, strict=True), 1):
        print(f"| {k} | {' | '.join(map(_cells, rows))} |")
    means = [[sum(column) / PAIRS for column in zip(*table, strict=True)] for table in tables]
    print(f"| mean | {' | '.join(map(_cells, means))} |")
    return int(any(map(_fails, tables)))


def _played(page: Any, k: int, gold: list[list[int]], accept_all: bool) -> list[float]:
    """Play a pair; return the links that differ, change keys, moves, and moves by arrows."""
    page.goto(page.url.split("?")[0] + f"?pair={k}")
    page.wait_for_selector(f"body[data-pair='{k}']")
    task = {"doc": pair(page, k), "gold": gold, "acceptAll": accept_all}
    arrows = page.evaluate(PLAN, {**task, "arrows": True})
    plan = page.evaluate(PLAN, {**task, "arrows": False})
    for step in plan["keys"]:
        press(page, step["key"])
    saved(page)
    assert [list(link) for link in links(page, k)] == sorted(gold), f"pair {k}"
    assert cursor(page) == tuple(plan["cursor"]), f"pair {k}: the cursor is elsewhere"
    return [plan["differ"], plan["changes"], plan["moves"], arrows["moves"]]


def _cells(row: list[float]) -> str:
    return " | ".join([*(f"{number:.3g}" for number in row), f"{row[2] / max(1, row[3]):.2f}"])


def _fails(table: list[list[float]]) -> bool:
    """Return whether a table misses what is wanted; say in which pair."""
    for k, (differ, changes, *_) in enumerate(table, 1):
        if changes > differ:
            print(f"pair {k}: {changes} change keys for {differ} links")
    moves, arrows = (sum(row[at] for row in table) for at in (2, 3))
    if moves > arrows / 2:
        print(f"{moves} moves where arrows take {arrows}: more than half")
    return moves > arrows / 2 or any(row[1] > row[0] for row in table)


def _gold(record: dict[str, Any]) -> list[list[int]]:
    values = {}
    for kind, value in (("possible", 1), ("sure", 2)):
        for link in record.get(kind, "").split():
            i, j = link.split("-")
            values[int(i), int(j)] = value
    return [[i, j, value] for (i, j), value in values.items()]


if __name__ == "__main__":
    raise SystemExit(main())
