"""A small made-up corpus of active and passive sentences, with everything that commands read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

PAIRS = 40
_NOUNS = ["cat", "dog", "child", "woman", "bridge", "letter", "teacher", "river", "house", "garden"]
_VERBS = ["saw/seen", "took/taken", "drew/drawn", "hid/hidden"]
_LINKS = [(0, 5), (1, 6), (2, 3), (3, 0), (4, 1), (5, 7)]
"""The|cat|saw|the|dog|. and the|dog|was|seen|by|the|cat|."""


class MadeUp(NamedTuple):
    """A sentence pair: its words and its trees."""

    source: list[str]
    target: list[str]
    source_tree: str
    target_tree: str


def write_corpus(folder: Path) -> None:
    """Write the corpus, its texts, links and trees, and vectors of its words."""
    pairs = [_pair(number) for number in range(PAIRS)]
    records = [_record(number, pair) for number, pair in enumerate(pairs)]
    corpus = [json.dumps(record) for record in [{"alignkit": "corpus", "version": 1}, *records]]
    gold = [_pharaoh(record["annotations"]["gold"]) for record in records]
    forward = [_pharaoh(record["annotations"]["eflomal"]) for record in records]
    sources = [" ".join(pair.source) for pair in pairs]
    targets = [" ".join(pair.target) for pair in pairs]
    texts = {
        "pairs.jsonl": corpus,
        "source.txt": sources,
        "target.txt": targets,
        "gold.align": gold,
        "forward.align": forward,
        "reverse.align": [_pharaoh(record["annotations"]["anna"]) for record in records],
        "source.trees": [pair.source_tree for pair in pairs],
        "target.trees": [pair.target_tree for pair in pairs],
        "words.vec": _vectors({word for pair in pairs for word in pair.source + pair.target}),
        "words.tsv": [f"{word}\t{word}" for word in _NOUNS],
    }
    half = PAIRS // 2
    for number, part in enumerate([slice(half), slice(half, PAIRS)]):
        texts[f"part{number}.source"] = sources[part]
        texts[f"part{number}.target"] = targets[part]
        texts[f"part{number}.gold"] = gold[part]
    for name, lines in texts.items():
        text = "".join(f"{line}\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8")


def _pair(number: int) -> MadeUp:
    """Return a sentence and its passive."""
    agent = _NOUNS[number % len(_NOUNS)]
    other = _NOUNS[(3 * number + 1) % len(_NOUNS)]
    active, passive = _VERBS[number % len(_VERBS)].split("/")
    subject = f"(NP (DT the) (NN {agent}))"
    given = f"(NP (DT the) (NN {other}))"
    return MadeUp(
        f"The {agent} {active} the {other} .".split(),
        f"The {other} was {passive} by the {agent} .".split(),
        f"(S {subject.replace('the', 'The')} (VP (VBD {active}) {given}) (. .))",
        f"(S {given.replace('the', 'The')} (VP (VBD was) (VP (VBN {passive}) (PP (IN by) "
        f"{subject}))) (. .))",
    )


def _record(number: int, pair: MadeUp) -> dict[str, Any]:
    """Return a pair as JSON: links and judgments of people who differ, of a system, and gold."""
    without = _LINKS[: number % 6] + _LINKS[number % 6 + 1 :]
    gold = {"sure": _text(_LINKS), "possible": "2-2 1-4"}
    anna = gold
    ben = gold
    if number % 3 == 0:
        anna = {"sure": _text(without), "possible": "2-2"}
    if number % 4 == 0:
        ben = {"sure": _text([*_LINKS, (2, 4)])}
    labels = ["paraphrase", "partial", "none"]
    people = {"anna": anna, "ben": ben, "cleo": anna, "gold": gold}
    annotations = {}
    for k, (name, links) in enumerate(people.items()):
        differ = number * k if number % 5 == 0 else 0
        annotations[name] = links | {"judgment": labels[differ % len(labels)]}
    annotations["gold"]["role"] = "adjudicated"
    annotations["eflomal"] = {"sure": _text(without), "role": "initial"}
    return {
        "id": f"pair{number}",
        "source": pair.source,
        "target": pair.target,
        "attributes": {"genre": ["news", "novel"][number % 2]},
        "annotations": annotations,
    }


def _text(links: Iterable[tuple[int, int]]) -> str:
    """Return links as text, 0-0 1-2."""
    return " ".join(f"{i}-{j}" for i, j in links)


def _pharaoh(links: dict[str, str]) -> str:
    """Return links as a line of Pharaoh."""
    possible = links.get("possible", "").replace("-", "?")
    return f"{links['sure']} {possible}".strip()


def _vectors(words: Iterable[str]) -> list[str]:
    """Return word vectors as text."""
    return [f"{word} {len(word)} {ord(word[0]) % 7} 1.5 {len(set(word))}" for word in sorted(words)]
