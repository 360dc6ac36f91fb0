"""Print the tables of docs/align/aligner.md: thresholds, parts of the model, little data.

    python -m benchmarks.options [thresholds] [parts] [little] [english]

The texts are those of ALIGNKIT_DATA. All four take about five minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from alignkit import Alignment, LinkArrays
from alignkit.align import Aligner, Bitext
from alignkit.scoring import count_links, link_ratios, score
from alignkit.tables.table import Table
from benchmarks import development
from benchmarks.texts import TEXTS, Text, data

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95)
SYMMETRIZED = ("intersection", "grow-diag-final-and", "union")
SEPARATE = {"inference": "em", "spelling": 0.0, "agree": False, "ibm1": 5}
PARTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "--best": {"best": True},
    "--model ibm3": {"model": "ibm3"},
    "--model ibm4": {"model": "ibm4"},
    "--stem-weight 0": {"stem_weight": 0.0},
    "--spelling 0": {"spelling": 0.0},
    "--inference em --spelling 0": {"inference": "em", "spelling": 0.0},
    "--inference em --spelling 0 --no-agree --ibm1 5": SEPARATE,
    "--inference vb --no-agree --spelling 0": {"inference": "vb", "agree": False, "spelling": 0.0},
    "--inference vb": {"inference": "vb"},
    "--inference vb --floor 0.1": {"inference": "vb", "floor": 0.1},
}
LITTLE = (("bg", 105), ("bg", 40), ("bg", 20), ("bg", 9), ("ro", 248), ("grc", 274), ("fr", 1000))


def scored(text: Text, found: Any, pairs: int) -> dict[str, float]:
    """Return precision, recall and AER of links, in percent."""
    gold = text.gold[:pairs]
    links = LinkArrays.pack([found.arrays.alignment(k) for k in range(len(gold))])
    ratios = link_ratios(count_links(links, LinkArrays.pack(gold)).sum(axis=0, keepdims=True))
    return {name: 100 * float(ratios[name][0]) for name in ("precision", "recall", "aer")}


def thresholds() -> Iterator[dict[str, object]]:
    """Yield what the links of 10,000 pairs of the Hansards are worth, by how they are chosen."""
    text = TEXTS["fr"]()
    bitext = Bitext.pack(text.pairs[:10_000])
    aligner = Aligner.train(bitext)
    for threshold in THRESHOLDS:
        found = aligner.align_bitext(bitext, threshold=threshold)
        yield {"links": f"threshold {threshold}"} | scored(text, found, 184)
    for name in SYMMETRIZED:
        found = aligner.align_bitext(bitext, symmetrize=name)
        yield {"links": name} | scored(text, found, 184)


def parts() -> Iterator[dict[str, object]]:
    """Yield the AER of the same text without parts of the model."""
    text = TEXTS["fr"]()
    bitext = Bitext.pack(text.pairs[:10_000])
    for name, settings in PARTS.items():
        aligner = Aligner.train(bitext, **settings)
        merged = aligner.align_bitext(bitext, symmetrize="grow-diag-final-and")
        aer = scored(text, aligner.align_bitext(bitext), 184)["aer"]
        yield {"options": name, "AER": aer, "merged": scored(text, merged, 184)["aer"]}


def little() -> Iterator[dict[str, object]]:
    """Yield precision and recall of small texts."""
    for name, pairs in LITTLE:
        text = TEXTS[name]()
        bitext = Bitext.pack(text.pairs[:pairs])
        row: dict[str, object] = {"text": name, "pairs": pairs}
        for label, settings in (("defaults", {}), ("em", {"inference": "em"})):
            found = scored(text, Aligner.train(bitext, **settings).align_bitext(bitext), pairs)
            row |= {f"{label}: {key}": found[key] for key in ("precision", "recall")}
        yield row


def english() -> Iterator[dict[str, object]]:
    """Yield precision and recall of phrase pairs of different words, of 33,353 English pairs."""
    text, judged = development.SETS["paraphrases"](data()), 714
    bitext = Bitext.pack(text.pairs)
    for identity in (0.0, 3.0):
        aligner = Aligner.train(bitext, identity=identity)
        for how in ("0.5", "0.55", "0.6", "0.7", "0.8", "intersection"):
            option = {"symmetrize": how} if how.isalpha() else {"threshold": float(how)}
            found = aligner.align_bitext(bitext, **option).arrays
            links = [found.alignment(k) for k in range(judged)]
            yield {"identity": identity, "links": how} | _phrases(text.pairs, links, text.gold)


def _phrases(
    pairs: Sequence[Any], found: Sequence[Alignment], gold: Sequence[Alignment]
) -> dict[str, float]:
    from alignkit import Corpus

    sides = [[words[k] for words in pairs[: len(found)]] for k in (0, 1)]
    corpus = Corpus.from_texts(*sides, gold=list(gold[: len(found)]), found=list(found))
    sure = score(corpus, "found", "gold", level="phrases", ignore_identical=True).phrases["sure"]
    return {"precision": 100 * sure.precision, "recall": 100 * sure.recall}


TABLES: dict[str, Callable[[], Iterator[dict[str, object]]]] = {
    "thresholds": thresholds,
    "parts": parts,
    "little": little,
    "english": english,
}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or list(TABLES):
        rows = list(TABLES[wanted]())
        digits = {key: 1 for key, value in rows[0].items() if isinstance(value, float)}
        print(f"{wanted}\n\n{Table.from_records(rows, digits=digits)}\n", flush=True)
