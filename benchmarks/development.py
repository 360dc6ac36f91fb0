"""Compare two settings, or two versions, of the aligner on all development sets.

    python -m benchmarks.development --change stem=3 stem_weight=2
    python -m benchmarks.development --change threshold=0.5 --sets hansards-10k romanian
    python -m benchmarks.development --save FOLDER       # with one version of alignkit
    python -m benchmarks.development --against FOLDER    # with another

Without --change and --against the defaults are measured. The sets are those of ALIGNKIT_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alignkit import Alignment, Corpus, LinkArrays, read_corpus
from alignkit.align import Aligner, Bitext, Settings
from alignkit.scoring import count_links, link_ratios
from alignkit.tables.table import Table
from benchmarks.bitext import find_bitext
from benchmarks.machine import load, machine
from benchmarks.texts import TEXTS

__all__ = ["SETS", "Measured", "Set", "difference", "measured"]

Pair = tuple[list[str], list[str]]
Rows = NDArray[np.int64]

_RESAMPLES = 10_000


class Set(NamedTuple):
    """Hold a text, and the gold links of some of its pairs.

    Where `words` is True, links of equal words are left out of both: they are found anyway.
    """

    pairs: list[Pair]
    gold: list[Alignment]
    places: list[int]
    words: bool = False

    def counts(self, found: list[Alignment]) -> Rows:
        """Return the counts of links of each pair with gold links; see `count_links`."""
        kept = (self._kept(links, place) for links, place in zip(found, self.places, strict=True))
        wanted = (self._kept(*both) for both in zip(self.gold, self.places, strict=True))
        return np.asarray(count_links(LinkArrays.pack(list(kept)), LinkArrays.pack(list(wanted))))

    def _kept(self, links: Alignment, place: int) -> Alignment:
        if not self.words:
            return links
        source, target = ([word.casefold() for word in side] for side in self.pairs[place])
        sure, possible = (
            {(i, j) for i, j in some if source[i] != target[j]}
            for some in (links.sure, links.possible)
        )
        return Alignment(sure, possible)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    options = _options(arguments)
    change = dict(map(_setting, options.change))
    print(machine(("alignkit", "numpy", "numba")))
    rows = []
    for name in options.sets:
        some = SETS[name](options.data)
        now = measured(some, options.runs)
        row: dict[str, object] = {"set": name, "pairs": f"{len(some.pairs):,}"}
        row["judged"] = len(some.gold)
        if options.against is not None:
            row |= _compared(_load(options.against, name), now)
        elif change:
            row |= _compared(now, measured(some, options.runs, **change))
        else:
            row |= {"AER": _error(now.counts), "seconds": now.seconds}
        if options.save is not None:
            options.save.mkdir(exist_ok=True)
            np.savez(options.save / f"{name}.npz", counts=now.counts, seconds=now.seconds)
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    print()
    table = Table.from_records(rows, digits=dict.fromkeys(rows[0], 2))
    print(table.show("markdown") if options.markdown else table)
    print(f"\nload after: {load()}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.development",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--change", nargs="+", default=[], metavar="NAME=VALUE", help="settings, or threshold"
    )
    parser.add_argument(
        "--sets",
        nargs="+",
        choices=SETS,
        default=list(SETS),
        metavar="NAME",
        help=f"which of {', '.join(SETS)} (all)",
    )
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="keep what is counted there")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="compare with what is there")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="for the time; default: 1")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args(arguments)
    options.data = Path(os.environ.get("ALIGNKIT_DATA", ""))
    if not (options.data / "hansards").is_dir():
        parser.error("ALIGNKIT_DATA names no folder with the development sets")
    return options


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    kinds: dict[str, Any] = {
        field.name: float if field.default is None else type(field.default)
        for field in fields(Settings)
    }
    kind: Any = kinds[name]
    return name, value == "True" if kind is bool else kind(value)


class Measured(NamedTuple):
    """Hold the counts of links of each judged pair, and the least processor seconds it took."""

    counts: Rows
    seconds: float


def measured(some: Set, runs: int = 1, threshold: float | None = None, **settings: Any) -> Measured:
    """Train on a set and align it, so many times."""
    bitext, seconds = Bitext.pack(some.pairs), []
    for _ in range(runs):
        start = time.process_time()
        aligner = Aligner.train(bitext, **settings)
        found = aligner.align_bitext(bitext, threshold=threshold)
        seconds.append(time.process_time() - start)
    return Measured(some.counts([found.arrays.alignment(k) for k in some.places]), min(seconds))


def _load(folder: Path, name: str) -> Measured:
    with np.load(folder / f"{name}.npz") as kept:
        return Measured(kept["counts"], float(kept["seconds"]))


def _compared(before: Measured, after: Measured) -> dict[str, object]:
    return {
        "before": _error(before.counts),
        "AER": _error(after.counts),
        **difference(before.counts, after.counts),
        "before, s": before.seconds,
        "s": after.seconds,
    }


def difference(before: Rows, after: Rows, seed: int = 0) -> dict[str, float]:
    """Return the difference of AER, and its 95% interval by the paired bootstrap, in points."""
    weights = np.random.default_rng(seed).multinomial(
        len(before), np.full(len(before), 1 / len(before)), _RESAMPLES
    )
    drawn = _errors(weights @ after) - _errors(weights @ before)
    low, high = 100 * np.quantile(drawn, [0.025, 0.975])
    return {
        "difference": _error(after) - _error(before),
        "from": float(low),
        "to": float(high),
    }


def _errors(rows: Rows) -> NDArray[np.float64]:
    return np.asarray(link_ratios(rows)["aer"])


def _error(rows: Rows) -> float:
    return 100 * float(_errors(rows.sum(axis=0, keepdims=True))[0])


def _links(corpus: Corpus) -> list[Alignment]:
    """Return the links of the one annotator."""
    return [next(iter(pair.alignments.values())) for pair in corpus]


def _hansards(data: Path, *, lines: int) -> Set:
    text = find_bitext(lines)
    gold = read_corpus(data / "hansards" / "dev.fr-en.align", format="pharaoh")
    pairs = [(a.split(), b.split()) for a, b in zip(text.source, text.target, strict=True)]
    return Set(pairs, _links(gold), list(range(len(gold))))


def _judged(data: Path, *, name: str) -> Set:
    """Return the pairs of a text that have gold links."""
    text = TEXTS[name]()
    count = len(text.gold)
    return Set(text.pairs[:count], text.gold, list(range(count)), text.monolingual)


def _paraphrases(data: Path) -> Set:
    """Join all texts in English; those of the Bibles are not judged."""
    judged = [_judged(data, name=name) for name in ("edinburgh", "multimwa")]
    pairs = [pair for one in judged for pair in one.pairs]
    gold = [links for one in judged for links in one.gold]
    sides = [(data / "bible" / f"text.{side}").read_text("utf-8").splitlines() for side in "ef"]
    bible = [(a.split(), b.split()) for a, b in zip(*sides, strict=True)]
    return Set(pairs + bible, gold, list(range(len(pairs))), words=True)


def _prefixes(data: Path, *, of: Callable[[Path], Set]) -> Set:
    """Cut the words to four letters, as is done for languages with many forms."""
    some = of(data)
    cut = [([a[:4] for a in source], [b[:4] for b in target]) for source, target in some.pairs]
    return some._replace(pairs=cut)


def _sets() -> Iterator[tuple[str, Callable[[Path], Set]]]:
    yield "hansards-10k", partial(_hansards, lines=10_000)
    yield "hansards-100k", partial(_hansards, lines=100_000)
    yield "greek", partial(_judged, name="grc")
    yield "romanian", partial(_judged, name="ro")
    for language in ("bg", "da", "es"):
        yield f"xlwa-{language}", partial(_judged, name=language)
    yield "edinburgh", partial(_judged, name="edinburgh")
    yield "mtref", partial(_judged, name="multimwa")
    yield "rte", partial(_judged, name="rte")
    yield "paraphrases", _paraphrases
    yield "hansards-10k-prefixes", partial(_prefixes, of=partial(_hansards, lines=10_000))
    yield "greek-prefixes", partial(_prefixes, of=partial(_judged, name="grc"))
    yield "romanian-prefixes", partial(_prefixes, of=partial(_judged, name="ro"))


SETS = dict(_sets())
"""The development sets, by name."""


if __name__ == "__main__":
    main()
