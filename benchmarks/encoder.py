"""Measure what an encoder gives to the aligner, on texts of 17 languages and within English.

    python -m benchmarks.encoder FOLDER [--pairs 20 40 100] [--sets et hu] [--markdown]
    python -m benchmarks.encoder FOLDER --learn 10 30 70 --draws 2 --sets et it ru cs ja ro
    python -m benchmarks.encoder FOLDER --english --layer 3 --pairs 400
    python -m benchmarks.encoder FOLDER --static

FOLDER is an encoder, as `alignkit align --encoder` takes it. Each text is cut to its first pairs
and trained on by itself. The table has the AER without and with the encoder, how often cells with a
probability of at least .9 are right, and which share of the gold links have one of at least .05, so
that the annotation page suggests them. With --learn, so many gold pairs at random are learned from,
and the AER is that of the others. With --english it is F1 of all links, possible ones included, and
of those between different words (nF). With --static, also with word vectors: those that the encoder
gives to each word by itself. ALIGNKIT_DATA names the folder of the corpora.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alignkit import Alignment, Corpus, SentencePair
from alignkit.align import Aligner
from alignkit.align.encoder import Encoder
from alignkit.align.supervised import Refiner
from alignkit.align.vectors import WordVectors
from alignkit.tables.table import Table
from benchmarks.machine import machine
from benchmarks.texts import TEXTS, Pair

BETWEEN = [name for name in TEXTS if name not in ("edinburgh", "multimwa", "rte")]
ENGLISH = ["edinburgh", "multimwa", "rte"]
MOST = 110  # of the pairs with gold links, where sizes are not named
SURE = 0.9
SUGGESTED = 0.05  # the least probability of a suggestion on the annotation page


class Gold(NamedTuple):
    """Pairs with gold links."""

    pairs: list[Pair]
    links: list[Alignment]
    monolingual: bool


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.encoder",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("encoder", metavar="FOLDER")
    parser.add_argument("--layer", type=int, metavar="K")
    parser.add_argument("--pairs", type=int, nargs="+", default=[MOST], metavar="N")
    parser.add_argument("--sets", nargs="+", choices=TEXTS, metavar="NAME")
    parser.add_argument("--english", action="store_true")
    parser.add_argument("--static", action="store_true", help="also with word vectors")
    parser.add_argument("--learn", type=int, nargs="+", metavar="N")
    parser.add_argument("--draws", type=int, default=1, metavar="N")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    encoder = Encoder(options.encoder, layer=options.layer)
    names = options.sets or (ENGLISH if options.english else BETWEEN)
    print(f"{encoder}\n{machine(('alignkit', 'numpy', 'torch', 'transformers'))}\n")
    records: list[dict[str, object]] = []
    for size in options.pairs:
        rows = []
        for name in names:
            gold = first_pairs(name, size)
            if options.learn:
                new = [learned(name, gold, encoder, n, options.draws) for n in options.learn]
            elif options.english:
                new = [within_english(name, gold, encoder)]
            else:
                new = [compared(name, gold, encoder, static=options.static)]
            rows += new
            print(new, flush=True)
        records += rows
        if not options.learn:
            records.append(mean_of(rows))
    print(Table.from_records(records).show("markdown" if options.markdown else "text"))


def first_pairs(name: str, size: int) -> Gold:
    """Return the first pairs with gold links of a text."""
    text = TEXTS[name]()
    size = min(size, len(text.gold))
    return Gold(text.pairs[:size], text.gold[:size], text.monolingual)


def train(gold: Gold, given: Encoder | WordVectors | None) -> Aligner:
    """Train on the pairs alone, with an encoder or with word vectors."""
    identity = 3.0 if gold.monolingual else 0.0
    if isinstance(given, WordVectors):
        return Aligner.train(gold.pairs, identity=identity, vectors=given)
    return Aligner.train(gold.pairs, identity=identity, encoder=given)


def static_vectors(encoder: Encoder, gold: Gold) -> WordVectors:
    """Return the vectors that an encoder gives to each word of a text by itself."""
    words = sorted({word for pair in gold.pairs for side in pair for word in side})
    vectors = encoder.vectors([[word] for word in words])
    return WordVectors(words, np.concatenate(vectors))


def aer(links: Sequence[Alignment], gold: Sequence[Alignment]) -> float:
    """Return the AER in percent (Och & Ney 2003)."""
    hits = total = 0
    for made, right in zip(links, gold, strict=True):
        hits += len(set(made) & set(right.sure)) + len(set(made) & set(right))
        total += len(made) + len(right.sure)
    return 100 - 100 * hits / max(total, 1)


def aligned(aligner: Aligner, pairs: Sequence[Pair]) -> list[Alignment]:
    """Align pairs; their weights are the probabilities."""
    links = aligner.align_bitext(pairs)
    return [links.alignment(k) for k in range(len(pairs))]


def compared(name: str, gold: Gold, encoder: Encoder, *, static: bool) -> dict[str, object]:
    """Return the figures of a text without and with the encoder, and with word vectors."""
    row: dict[str, object] = {"set": name, "pairs": len(gold.pairs)}
    ways: dict[str, Encoder | WordVectors | None] = {"alone": None, "encoder": encoder}
    if static:
        ways["static"] = static_vectors(encoder, gold)
    for what, given in ways.items():
        aligner = train(gold, given)
        row[f"AER {what}"] = aer(aligned(aligner, gold.pairs), gold.links)
        likely = aligner.align_bitext(gold.pairs, threshold=SUGGESTED)
        row[f"suggested {what}"] = 100 * suggested(likely, gold)
        row[f"right at .9 {what}"] = 100 * right_share(likely, gold)
        if given is encoder and aligner.encoding is not None:
            row["matched"] = 100 * aligner.encoding.matched_share
    return row


def suggested(likely: object, gold: Gold) -> float:
    """Return the share of the gold links that are among the likely links."""
    inside = total = 0
    for k, right in enumerate(gold.links):
        inside += len(set(likely.alignment(k)) & set(right))  # type: ignore[attr-defined]
        total += len(right)
    return inside / max(total, 1)


def right_share(likely: object, gold: Gold) -> float:
    """Return the share of right ones among the links with a probability of at least .9."""
    right = total = 0
    for k, links in enumerate(gold.links):
        weights = likely.alignment(k).weights  # type: ignore[attr-defined]
        sure = {link for link, weight in weights.items() if weight >= SURE}
        right += len(sure & set(links))
        total += len(sure)
    return right / total if total else float("nan")


def learned(name: str, gold: Gold, encoder: Encoder, count: int, draws: int) -> dict[str, object]:
    """Return the mean AER of the pairs that were not learned from."""
    plain = []
    refined = []
    aligner = train(gold, encoder)
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(gold.pairs))
        pairs = Corpus(
            SentencePair(str(k), *gold.pairs[k], {"gold": gold.links[k]}) for k in order[:count]
        )
        refiner = Refiner.train(aligner, pairs, objective="aer")
        others = [gold.pairs[k] for k in order[count:]]
        right = [gold.links[k] for k in order[count:]]
        plain.append(aer(aligned(aligner, others), right))
        refined.append(aer(aligned(refiner.aligner, others), right))
    return {
        "set": name,
        "learned from": count,
        "AER encoder": float(np.mean(plain)),
        "AER learned": float(np.mean(refined)),
    }


def within_english(name: str, gold: Gold, encoder: Encoder) -> dict[str, object]:
    """Return F1 of all links, and of those between different words."""
    row: dict[str, object] = {"set": name, "pairs": len(gold.pairs)}
    for what, given in (("alone", None), ("encoder", encoder)):
        links = aligned(train(gold, given), gold.pairs)
        counts = np.zeros((2, 3))
        for pair, made, right in zip(gold.pairs, links, gold.links, strict=True):
            words = [[word.casefold() for word in side] for side in pair]
            for place, identical in enumerate((True, False)):
                sets = [
                    {(i, j) for i, j in some if identical or words[0][i] != words[1][j]}
                    for some in (made, right)
                ]
                counts[place] += len(sets[0] & sets[1]), len(sets[0]), len(sets[1])
        for label, (shared, ours, theirs) in zip(("F", "nF"), counts, strict=True):
            row[f"{label} {what}"] = 100 * 2 * shared / (ours + theirs)
    return row


def mean_of(rows: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return the mean of rows."""
    mean: dict[str, object] = {"set": f"mean of {len(rows)}", "pairs": ""}
    for name in rows[0]:
        if name not in mean:
            mean[name] = float(np.nanmean([row[name] for row in rows]))  # type: ignore[misc]
    return mean


if __name__ == "__main__":
    main()
