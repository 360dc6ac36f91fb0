"""Measure what other aligners give as evidence, on the Romanian-English pairs of ALIGNKIT_DATA.

    python -m benchmarks.evidence [--pairs 10 30 100] [--draws 10] [--systems awesome ...]

Each draw learns from so many pairs at random and aligns the rest; the figures are means of AER in
percent over the draws, with the standard deviation. The first table has no gold links: each system
alone and the vote.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alignkit import Corpus, SentencePair, read_corpus
from alignkit.align import Aligner
from alignkit.align.evidence import Evidence
from alignkit.align.supervised import Refiner
from alignkit.align.supervised.learned import Learned
from alignkit.scoring import aer
from alignkit.tables.table import Table

CHANNELS = {
    "awesome": ("roen.awesome-align.out", False),
    "giza/1": ("giza/test.roen.talp", False),
    "giza/2": ("giza/test.roen.reverse.talp", True),
    "fast/1": ("fastalign/test.roen.talp", False),
    "fast/2": ("fastalign/test.roen.reverse.talp", True),
}
"""The file of each annotator, and whether it is transposed."""
SETS = {
    "none": (),
    "awesome": ("awesome",),
    "directions": ("giza", "fast"),
    "all": ("awesome", "giza", "fast"),
}
SYSTEMS = {"awesome": ["awesome"], "giza": ["giza/1", "giza/2"], "fast": ["fast/1", "fast/2"]}


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="*", default=[10, 30, 100], metavar="N")
    parser.add_argument("--draws", type=int, default=10, metavar="N")
    parser.add_argument("--systems", nargs="+", choices=tuple(SETS), default=list(SETS))
    options = parser.parse_args()
    pairs = romanian()
    aligner = Aligner.train(pairs)
    rows: list[dict[str, object]] = [
        {
            "alone": "aligner",
            "AER": error(pairs, list(aligner.align_bitext(pairs).arrays.alignments())),
        }
    ]
    rows += [{"alone": n, "AER": error(pairs, [p.alignment(n) for p in pairs])} for n in CHANNELS]
    for name in options.systems:
        if SETS[name]:
            rows.append({"alone": f"vote, {name}", "AER": voted(aligner, pairs, SETS[name])})
    print(Table.from_records(rows), flush=True)
    records = []
    for count in options.pairs:
        for name in options.systems:
            records.append(draws(aligner, pairs, count, name, options.draws))
            print(Table.from_records(records), flush=True)


def romanian() -> list[SentencePair]:
    """Return the pairs with the links of all systems, and those of the annotator gold."""
    folder = Path(os.environ["ALIGNKIT_DATA"]) / "roen"
    lines = (folder / "roen.src-tgt").read_text("utf-8").splitlines()
    files = {"gold": read_corpus(folder / "roen.gold", format="pharaoh", base=1)}
    for name, (path, turned) in CHANNELS.items():
        files[name] = read_corpus(folder / path, format="pharaoh", transpose=turned)
    return [
        SentencePair(
            str(k),
            *(side.split() for side in line.split("|||")),
            {name: corpus[k].alignment("alignment") for name, corpus in files.items()},
        )
        for k, line in enumerate(lines)
    ]


def error(pairs: Sequence[SentencePair], alignments: Sequence[object]) -> float:
    """Return AER in percent."""
    gold = [pair.alignment("gold") for pair in pairs]
    return 100 * float(aer(alignments, gold))


def voted(aligner: Aligner, pairs: Sequence[SentencePair], systems: Sequence[str]) -> float:
    """Return AER of the vote."""
    evidence = Evidence.pack(pairs, {name: SYSTEMS[name] for name in systems})
    voting = aligner.with_learned(Learned.vote(evidence.systems))
    return error(pairs, list(voting.align_bitext(pairs, evidence=evidence).arrays.alignments()))


def draws(
    aligner: Aligner, pairs: Sequence[SentencePair], count: int, name: str, number: int
) -> dict[str, object]:
    """Return the figures of some draws of gold pairs."""
    evidence = {system: SYSTEMS[system] for system in SETS[name]}
    after, single, kinds = [], [], []
    for draw in range(number):
        order = np.random.default_rng(draw).permutation(len(pairs))
        taught = [pairs[k] for k in order[:count]]
        rest = [pairs[k] for k in order[count:]]
        refiner = Refiner.train(aligner, Corpus(taught), objective="aer", evidence=evidence)
        kind = refiner.learned.lessons
        needed = {system.name: evidence[system.name] for system in kind.evidence}
        links = refiner.aligner.align_bitext(rest, evidence=needed or None)
        after.append(error(rest, list(links.arrays.alignments())))
        names = [channel for system in evidence.values() for channel in system]
        single.append(min((error(rest, [p.alignment(n) for p in rest]) for n in names), default=0))
        kinds.append(kind.kind + "+" * bool(kind.evidence))
    return {
        "gold": count,
        "evidence": name,
        "best single": statistics.mean(single),
        "AER": statistics.mean(after),
        "sd": statistics.pstdev(after),
        "worst": max(after),
        "kinds": " ".join(f"{kind}:{kinds.count(kind)}" for kind in dict.fromkeys(kinds)),
    }


if __name__ == "__main__":
    main()
