"""Measure what word vectors give to the aligner, on monolingual gold standards.

    python -m benchmarks.vectors [--vectors FILE] [--together] [--markdown]

`ALIGNKIT_DATA` names the folder of the corpora. Without --vectors they are those of wordllama
(`pip install wordllama`), the mean of the tokens of each word. Each corpus is trained on by itself,
with `identity=3`; with --together on all at once and on two English Bibles. Stars: the difference
to no vectors is significant at .05 and .01 by approximate randomization.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from alignkit import Alignment, Annotation, Corpus, SentencePair, read_corpus, score
from alignkit._support.values import FrozenMap
from alignkit.align import Aligner, Bitext
from alignkit.align.vectors import Vectors, WordVectors, read_vectors
from alignkit.scoring import Score, compare
from alignkit.tables.table import Table
from benchmarks.machine import machine

GOLD = {
    "MTRef, training part": "multimwa/mtref-train.tsv",
    "MTRef, development part": "multimwa/mtref-dev.tsv",
    "Wiki, development part": "multimwa/wiki-dev.tsv",
    "RTE-2, majority": "rte2/RTE2_dev_M.align.json",
}
EDINBURGH = "Edinburgh"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vectors", description=__doc__)
    parser.add_argument("--vectors", metavar="FILE", help="default: those of wordllama")
    parser.add_argument("--together", action="store_true", help="train on all at once")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    folder = Path(os.environ["ALIGNKIT_DATA"])
    corpora = dict(gold_standards(folder))
    extra = bibles(folder) if options.together else []
    words = {word for pairs in corpora.values() for pair in pairs for word in vocabulary(pair)}
    words |= {word for pair in extra for word in vocabulary(pair)}
    vectors = wordllama_vectors(words) if options.vectors is None else None
    vectors = vectors or read_vectors(options.vectors, words)
    print(f"{vectors}\n{machine(('alignkit', 'numpy', 'numba', 'wordllama'))}\n")
    rows = []
    texts = {"": [pair for pairs in corpora.values() for pair in pairs] + extra}
    if not options.together:
        texts = {name: list(pairs) for name, pairs in corpora.items()}
    for name, pairs in texts.items():
        scored = {name: corpora[name]} if name else corpora
        rows += compared(pairs, scored, vectors)
    table = Table.from_records(rows, title="What vectors give")
    print(table.show("markdown" if options.markdown else "text"))


def vocabulary(pair: SentencePair) -> Iterator[str]:
    """Give the words of a pair, as written and folded."""
    for side in pair.words:
        for word in side:
            yield word
            yield word.casefold()


def wordllama_vectors(words: set[str]) -> WordVectors:
    """Return the vectors of wordllama: the mean of the tokens of each word."""
    import wordllama

    llama = wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    return WordVectors(sorted(words), llama.embed(sorted(words)))


def gold_standards(folder: Path) -> Iterator[tuple[str, list[SentencePair]]]:
    """Read the gold standards; possible links of Edinburgh stand in a file of their own."""
    sure = read_corpus(folder / "edinburgh/gold.train.sure.json")
    every = read_corpus(folder / "edinburgh/gold.train.sure+poss.json")
    pairs = []
    for pair, other in zip(sure, every, strict=True):
        links, more = (one.alignment("alignment").sure for one in (pair, other))
        pairs.append(annotated(pair, "gold", Alignment(links, more - links)))
    yield EDINBURGH, pairs
    for name, path in GOLD.items():
        yield (
            name,
            [
                annotated(pair, "gold", next(iter(pair.alignments.values())))
                for pair in read_corpus(folder / path)
            ],
        )


def bibles(folder: Path) -> list[SentencePair]:
    """Read two English Bibles, verse by verse."""
    sides = [(folder / f"bible/text.{side}").read_text("utf-8").splitlines() for side in "fe"]
    verses = zip(*sides, strict=True)
    return [SentencePair(str(k), a.split(), b.split()) for k, (a, b) in enumerate(verses)]


def annotated(pair: SentencePair, name: str, alignment: Alignment) -> SentencePair:
    """Return a pair with one more alignment."""
    return replace(pair, annotations=FrozenMap({**pair.annotations, name: Annotation(alignment)}))


def compared(
    text: Sequence[SentencePair], scored: dict[str, list[SentencePair]], vectors: Vectors
) -> Iterator[dict[str, object]]:
    """Give the rows of gold standards that stand, one after the other, where a text begins."""
    bitext = Bitext.pack(text, written=True)
    ways: dict[str, Vectors | None] = {"without": None, "vectors": vectors}
    before: dict[str, dict[str, Score]] = {}
    for way, given in ways.items():
        begin = perf_counter()
        links = Aligner.train(bitext, identity=3.0, vectors=given).align_bitext(bitext)
        seconds = perf_counter() - begin
        first = 0
        for name, pairs in scored.items():
            aligned = Corpus(
                annotated(pair, "auto", links.arrays.alignment(first + k))
                for k, pair in enumerate(pairs)
            )
            first += len(pairs)
            scores = {
                "all": score(aligned, "auto", "gold", level="links"),
                "other": score(aligned, "auto", "gold", level="both", ignore_identical=True),
            }
            yield {
                "text": name,
                "pairs": len(pairs),
                "vectors": way,
                **figures(scores, before.setdefault(name, scores)),
                "s": f"{seconds:.1f}",
            }


def figures(scores: dict[str, Score], before: dict[str, Score]) -> dict[str, str]:
    """Return F1 of links, of non-identical ones, and of non-identical sure phrase pairs."""
    found = {}
    for name, kind, level in (
        ("F", "all", "links"),
        ("nF", "other", "links"),
        ("pF", "other", "phrases-sure"),
    ):
        new, old = scores[kind], before[kind]
        star = ""
        if new is not old:
            told = compare({"old": old, "new": new})
            p = next(x for x in told if (x.level, x.measure) == (level, "f1")).randomization_p
            star = "*" * ((p < 0.05) + (p < 0.01))
        found[name] = f"{100 * new.parts()[level].f1:.1f}{star}"
    return found


if __name__ == "__main__":
    main()
