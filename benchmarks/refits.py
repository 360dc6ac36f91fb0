"""Measure what learning costs: cross-validation, one more pair, and aligning with what was learned.

    python -m benchmarks.refits [SET] [--pairs 10 30 100 300 700] [--objective O]

SET is one of `python -m benchmarks.learning`. Seconds and milliseconds of processor time, on one
thread: `validate` tries all ways; `update` is of one pair more, the least of three (those that are
not used are only kept); `align` is of all pairs of the set, `alone` of one by itself, without and
with what was learned; `kB` is what the features of a pair take.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

from alignkit import SentencePair
from alignkit.align import Aligner, Bitext
from alignkit.align.supervised import OBJECTIVES, Refiner
from alignkit.tables.table import Table
from benchmarks.learning import SETS, gold_pairs

_NAME = "alignment"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refits", description=__doc__)
    parser.add_argument("set", nargs="?", choices=SETS, default="edinburgh", metavar="SET")
    parser.add_argument("--pairs", type=int, nargs="+", default=[10, 30, 100, 300, 700])
    parser.add_argument("--objective", choices=tuple(OBJECTIVES), default="links")
    options = parser.parse_args()
    pairs, text = gold_pairs(options.set)
    within = options.set in ("edinburgh", "mtref", "rte2")
    aligner = Aligner.train(text, identity=3.0 if within else 0.0)
    Refiner.train(aligner, pairs[:40], _NAME, threads=1)  # kernels are compiled
    records = []
    for count in options.pairs:
        if count + 3 <= len(pairs):
            refiner = Refiner.begin(aligner, _NAME, options.objective, ignore_identical=within)
            refiner.update(pairs[:count])
            records.append({"pairs": count} | _costs(refiner, aligner, pairs, count))
            print(Table.from_records(records), flush=True)


def _costs(
    refiner: Refiner, aligner: Aligner, pairs: Sequence[SentencePair], count: int
) -> dict[str, object]:
    validating = _seconds(lambda: refiner.validate(1))
    updating = min(
        _seconds(lambda pair=pair: refiner.update([pair]))  # type: ignore[misc]
        for pair in pairs[count : count + 3]
    )
    refined, plain = refiner.aligner, aligner.with_learned(None)
    bitext = Bitext.pack(pairs)
    few = [pair.words for pair in pairs[:200]]
    found: dict[str, object] = {
        "kind": refiner.learned.lessons.kind,
        "validate s": validating,
        "update ms": 1000 * updating,
        "kB": refiner.size / 1000 / len(refiner.ids),
    }
    for name, one in (("plain", plain), ("learned", refined)):
        together = _seconds(lambda one=one: one.align_bitext(bitext, threads=1))  # type: ignore[misc]
        alone = _seconds(lambda one=one: [one.align(*words) for words in few])  # type: ignore[misc]
        found[f"align {name} ms"] = 1000 * together / len(bitext)
        found[f"alone {name} ms"] = 1000 * alone / len(few)
    return found


def _seconds(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
