"""The development texts of the aligner: sentence pairs, and the gold links of the first of them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from alignkit import Alignment, Corpus, read_corpus

Pair = tuple[list[str], list[str]]


class Text(NamedTuple):
    """Sentence pairs; the first of them, as many as `gold`, have gold links."""

    group: str  # texts of one group share a language, and are left out together
    pairs: list[Pair]
    gold: list[Alignment]
    monolingual: bool = False
    punctuation: bool = True  # whether the gold links are those of punctuation too


def data() -> Path:
    """Return the folder that ALIGNKIT_DATA names."""
    folder = Path(os.environ.get("ALIGNKIT_DATA", ""))
    if not (folder / "hansards").is_dir():
        sys.exit("ALIGNKIT_DATA names no folder with the development sets")
    return folder


def _of(group: str, corpus: Corpus, *, monolingual: bool = False) -> Text:
    pairs = [(list(pair.source or ()), list(pair.target or ())) for pair in corpus]
    gold = [next(iter(pair.alignments.values())) for pair in corpus]
    return Text(group, pairs, gold, monolingual)


def _lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text("utf-8").split("\n")[:-1]]


def _hansards() -> Text:
    folder = data() / "hansards"
    gold = read_corpus(folder / "dev.fr-en.align", format="pharaoh")
    sides = _lines(folder / "train.fr"), _lines(folder / "train.en")
    links = [next(iter(pair.alignments.values())) for pair in gold]
    return Text("fr", [pair for pair in zip(*sides, strict=True) if pair[0] or pair[1]], links)


def _greek() -> Text:
    folder = data() / "grc-eng"
    gold = read_corpus(folder / "alignment_grc_eng.txt", format="pharaoh")
    sides = _lines(folder / "grc.txt"), _lines(folder / "eng.txt")
    links = [next(iter(pair.alignments.values())) for pair in gold]
    return Text("grc", list(zip(*sides, strict=False))[: len(links)], links, punctuation=False)


def _romanian() -> Text:
    gold = read_corpus(data() / "roen" / "roen.gold", format="pharaoh", base=1)
    lines = (data() / "roen" / "roen.src-tgt").read_text("utf-8").splitlines()
    pairs = [(a.split(), b.split()) for a, b in (line.split("|||") for line in lines)]
    return Text("ro", pairs, [next(iter(pair.alignments.values())) for pair in gold])


def _xlwa(language: str) -> Text:
    folder = data() / "xl-wa" / language
    text = _of(language, read_corpus(folder / "dev.tsv", format="xlwa"))
    lines = (folder / "text.tsv").read_text("utf-8").splitlines()
    more = [line.split("\t")[:2] for line in lines]
    text.pairs.extend(
        (sides[0].split(), sides[1].split()) for sides in more if len(sides) == 2 and all(sides)
    )
    return text


def _align6(name: str, language: str) -> Text:
    folder = data() / "align6"
    pairs, gold = [], []
    for record in _records(folder / f"{name}.jsonl"):
        source, target = record["src_words"], record["tgt_words"]
        pairs.append((source, target))
        inside = {(i, j) for i, j in record["alignment"] if i < len(source) and j < len(target)}
        gold.append(Alignment(inside))
    more = _records(folder / f"{name}.text.jsonl")
    pairs.extend((record["src_words"], record["tgt_words"]) for record in more)
    return Text(language, pairs, gold)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    yield from map(json.loads, path.read_text("utf-8").splitlines())


def _edinburgh() -> Text:
    folder = data() / "edinburgh"
    sure, every = (
        _of("edinburgh", read_corpus(folder / f"gold.train.{name}.json", format="jacana"))
        for name in ("sure", "sure+poss")
    )
    both = zip(sure.gold, every.gold, strict=True)
    gold = [Alignment(a.sure, set(b.sure) - set(a.sure)) for a, b in both]
    return sure._replace(gold=gold, monolingual=True)


def _mtref() -> Text:
    names = ("mtref-train", "mtref-dev", "wiki-dev")
    parts = [
        _of("multimwa", read_corpus(data() / "multimwa" / f"{name}.tsv", format="multimwa"))
        for name in names
    ]
    pairs = [pair for part in parts for pair in part.pairs]
    return Text("multimwa", pairs, [links for part in parts for links in part.gold], True)


def _rte() -> Text:
    corpus = read_corpus(data() / "rte2" / "RTE2_dev_A.align.txt", format="rte")
    return _of("rte", corpus, monolingual=True)


def _texts() -> Iterator[tuple[str, Callable[[], Text]]]:
    for language in ("bg", "da", "es", "et", "hu", "it", "nl", "pt", "ru", "sl"):
        yield language, partial(_xlwa, language)
    for name, language in (("czenali", "cs"), ("swedish", "sv"), ("kftt", "ja")):
        yield language, partial(_align6, name, language)
    yield from (("ro", _romanian), ("grc", _greek), ("fr", _hansards))
    yield from (("edinburgh", _edinburgh), ("multimwa", _mtref), ("rte", _rte))


TEXTS = {name: cache(read) for name, read in _texts()}
"""Functions that read the texts, by name."""
