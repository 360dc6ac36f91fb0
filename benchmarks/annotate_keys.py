"""Count the keys of annotating pairs, pressed by a script that knows the gold links.

    python -m benchmarks.annotate_keys --sets hu et nl [--encoder FOLDER] [--doubt 0.2]
    python -m benchmarks.annotate_keys --page [hu]

With --sets a quick model runs the page's own rules of the keyboard route (page/route.js) on sets of
ALIGNKIT_DATA: the first pairs of each, with suggestions of an aligner that was trained on these
pairs, as the server makes them. *Keys* are counted until all links are right, Ctrl+Enter too.
*Stops* are the words that the page asks one to look at. *Missed* are the links that would be wrong
or missing if one trusted what the page does not stop at. Shift is not counted.

With --page the keys are pressed in Chromium on the page itself, for the first ten pairs of a set of
XL-WA, or without a name of the samples; after each pair the server must have the gold links, and
nothing else. It ends with 1 where it has not.
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
    ask,
    browser,
    enter,
    links,
    modules,
    pair,
    press,
    ready,
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
ROUTE = (Path(__file__).parent / "annotate_route.js").read_text(encoding="utf-8")
ROUTE = ROUTE[ROUTE.index("async (") :]
MOST = 105  # pairs of a set
PAIRS = 10  # on the page


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
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--sets", nargs="+", choices=SETS, metavar="NAME")
    way.add_argument("--page", nargs="?", const="", metavar="LANGUAGE")
    parser.add_argument("--encoder", metavar="FOLDER", help="suggest with this encoder")
    parser.add_argument("--doubt", type=float, default=0.1, metavar="P", help="default: 0.1")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    if options.page is not None:
        return _on_the_page(options.page)
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


def _on_the_page(language: str) -> int:
    """Annotate pairs in Chromium, and print the table; return 1 if other links are stored."""
    if language:
        text = TEXTS[language]()
        words = zip(text.pairs, text.gold, strict=False)
        rows = []
        for k, ((source, target), alignment) in enumerate(words, 1):
            row = {"id": str(k), "source": source, "target": target}
            rows.append((row, _values(alignment)))
    else:
        lines = (ROOT / "samples" / "paraphrases.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines[1:]]
        rows = []
        for record in records:
            row = {key: record[key] for key in ("id", "source", "target")}
            rows.append((row, _gold(record["annotations"]["gold"])))
    played = []
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        corpus = write_corpus(Path(place) / "corpus.jsonl", [row for row, _ in rows])
        with serving(corpus, "--suggestions", "trained") as server, browser() as context:
            page = enter(context, server.url)
            for k in range(1, PAIRS + 1):
                gold = rows[k - 1][1]
                plan = press_plan(page, k, gold)
                stored = [list(link) for link in links(page, k) if -1 not in link]
                right = stored == sorted(gold)
                wrong += not right
                keys = len(plan["keys"])
                played.append(
                    {
                        "pair": k,
                        "keys": keys,
                        "stops": plan["stops"],
                        "missed": plan["missed"],
                        "stored": "gold" if right else "other links",
                    }
                )
    mean = {key: fmean(row[key] for row in played) for key in Planned._fields}
    print(Table.from_records([*played, {"pair": "mean", **mean}], digits={"missed": 2}))
    return int(wrong > 0)


def press_plan(page: Any, k: int, gold: list[list[int]]) -> dict[str, Any]:
    """Press the keys for a pair on the page, with the suggestions that it has now."""
    page.goto(page.url.split("?")[0] + f"?pair={k}")
    page.wait_for_selector(f"body[data-pair='{k}']")
    document = pair(page, k)
    task = {"doc": document, "gold": gold, "least": ask(page, "/api/project?at=pairs")["doubt"]}
    plan: dict[str, Any] = page.evaluate(ROUTE, task)
    assert plan["wrong"] == 0
    for key in plan["keys"]:
        ready(page)
        press(page, key)
    page.wait_for_selector(f"body:not([data-pair='{k}']), #export-dialog[open]")
    saved(page)
    return plan


def _gold(record: dict[str, Any]) -> list[list[int]]:
    values = {}
    for kind, value in (("possible", 1), ("sure", 2)):
        for link in record.get(kind, "").split():
            i, j = link.split("-")
            values[int(i), int(j)] = value
    return [[i, j, value] for (i, j), value in values.items()]


if __name__ == "__main__":
    raise SystemExit(main())
