"""Count the keys of annotating pairs, pressed by a script that knows the gold links.

    python -m benchmarks.annotate_keys
    python -m benchmarks.annotate_keys --sets hu et nl [--encoder FOLDER] [--doubt 0.2]

With --sets a quick model runs the page's own rules of the keyboard route (page/route.js) on sets of
ALIGNKIT_DATA: the first pairs of each, with suggestions of an aligner that was trained on these
pairs, as the server makes them. *Keys* are counted until all links are right, Ctrl+Enter too.
*Stops* are the words that the page asks one to look at. *Missed* are the links that would be wrong
or missing if one trusted what the page does not stop at. Shift is not counted.

Without --sets 20 pairs of the samples are corrected in Chromium. A *change key* makes an edit that
stays; all others are moves, `A` too. Beside them stands what plain arrows would take for the same.
With each pair the page must show the gold in the end, and its cursor must be where the plan says.
The left half has `A` (accept all of .9), the right one goes without. It ends with 1 where a pair
takes more change keys than links differ, or where the moves are on average more than half of those
by arrows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from annotate_browser import (
    browser,
    cursor,
    enter,
    links,
    modules,
    pair,
    press,
    saved,
    serving,
    write_corpus,
)

from alignkit import Alignment, read_corpus
from alignkit.align import Aligner, Bitext
from alignkit.align.encoder import Encoder
from alignkit.annotate.server.worker import LEAST, identity_weight
from alignkit.tables.table import Table
from benchmarks.texts import TEXTS, Pair, Text, data

ROOT = Path(__file__).parent.parent
PLAN = (Path(__file__).parent / "annotate_plan.js").read_text(encoding="utf-8")
PLAN = PLAN[PLAN.index("async (") :]
ROUTE = (Path(__file__).parent / "annotate_route.js").read_text(encoding="utf-8")
ROUTE = ROUTE[ROUTE.index("async (") :]
MOST = 105  # pairs of a set
PAIRS = 20
HEAD = "links | change keys | moves | by arrows | ratio"


def _more(path: str, **how: Any) -> Callable[[], Text]:
    """Return a function that reads a set of English pairs with the links of one annotator."""

    def read() -> Text:
        name = how.pop("annotator", None)
        pairs = []
        gold = []
        for read_pair in read_corpus(data() / path, **how):
            alignments = read_pair.alignments
            alignment = alignments.get(name) if name else next(iter(alignments.values()))
            if alignment is not None:
                pairs.append((list(read_pair.source or ()), list(read_pair.target or ())))
                gold.append(alignment)
        return Text("en", pairs, gold, monolingual=True)

    return read


SETS = {
    **TEXTS,
    "goldalign": _more("goldalign", format="goldalign", annotator="arbit"),
    "rte-merged": _more("rte2/RTE2_dev_M.align.json", format="jacana"),
    "wiki": _more("multimwa/wiki-dev.tsv", format="multimwa"),
}
"""The development texts, and more of one language."""


class Planned(NamedTuple):
    """The keys that a pair takes."""

    keys: int
    stops: int
    missed: int


def main() -> int:
    """Run the command; return 1 where the page misses what is wanted."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.annotate_keys",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, metavar="NAME")
    parser.add_argument("--encoder", metavar="FOLDER", help="suggest with this encoder")
    parser.add_argument("--doubt", type=float, default=0.1, metavar="P", help="default: 0.1")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    if not options.sets:
        return _on_the_page()
    rows = []
    with modules() as page:
        for name in options.sets:
            planned = list(_planned(page, name, options.encoder, options.doubt))
            rows.append({"set": name, "pairs": len(planned), **_means(planned)})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    mean = {key: fmean(float(row[key]) for row in rows) for key in Planned._fields}
    table = Table.from_records([*rows, {"set": "mean", **mean}], digits={"missed": 2})
    print(table.show("markdown") if options.markdown else table)
    return 0


def _means(planned: list[Planned]) -> dict[str, float]:
    columns = zip(*planned, strict=True)
    return {key: fmean(column) for key, column in zip(Planned._fields, columns, strict=True)}


def _planned(page: Any, name: str, encoder: str | None, doubt: float) -> Iterator[Planned]:
    """Plan the keys for the first pairs of a set."""
    text = SETS[name]()
    gold = text.gold[:MOST]
    pairs = text.pairs[: len(gold)]
    for words, suggested, alignment in zip(pairs, _suggested(pairs, encoder), gold, strict=True):
        doc = {
            "source": list(words[0]),
            "target": list(words[1]),
            "state": {"cells": [], "bulk": [], "rejected": [], "comments": []},
            "suggestions": {"cells": suggested},
        }
        task = {"doc": doc, "gold": _values(alignment), "least": doubt}
        plan = page.evaluate(ROUTE, task)
        assert plan["wrong"] == 0
        yield Planned(len(plan["keys"]), plan["stops"], plan["missed"])


def _suggested(pairs: list[Pair], encoder: str | None) -> Iterator[list[list[float]]]:
    """Yield what the server suggests for each pair: source word, target word, probability."""
    aligner = Aligner.train(
        Bitext.pack(pairs, written=encoder is not None),
        identity=identity_weight(pairs),
        encoder=Encoder(encoder) if encoder else None,
    )
    links = aligner.align_bitext(pairs, threshold=LEAST)
    offsets = links.arrays.offsets.tolist()
    places = links.arrays.links.tolist()
    probabilities = links.probabilities.tolist()
    for begin, end in pairwise(offsets):
        yield [[*places[at], round(min(probabilities[at], 1.0), 4)] for at in range(begin, end)]


def _values(alignment: Alignment) -> list[list[int]]:
    """Return the links with their values, 1 for possible and 2 for sure."""
    return [[i, j, 2 if (i, j) in alignment.sure else 1] for i, j in sorted(alignment.possible)]


def _on_the_page() -> int:
    """Correct the samples in Chromium, and print the table."""
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
