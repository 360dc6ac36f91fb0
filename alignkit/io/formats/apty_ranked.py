"""APTY's ranked paraphrases, JSON of preferences [apty-ranked].

Specification
-------------
A JSON list of records; each prefers one paraphrase of a text to another::

    [{"meta": {"id": 7, "annotators": ["a", "b"], "APT": "Addition/Deletion"}, "original": "...",
      "chosen": {"id": "7-1", "text": "...", "ranks": [1, 2]},
      "rejected": {"id": "7-2", "text": "...", "ranks": [3, 3]}}]

- Each different text `id` becomes a pair (original, text) with that id; its attributes are
  `rank_group`, the id of the record's `meta`, `apt`, and `preferred_to`, the ids of the texts that
  were rejected for it, divided by tabs.
- The rank by an annotator, 1 (best) to 5, becomes the judgment of ``apty-ANNOTATOR`` in the scheme
  rank.
- Ranks or texts of an id that differ between records, and numbers of ranks and annotators that
  differ, are errors.

The format is read-only.

References
----------
Meier, Wahle, Lima Ruas & Gipp 2024, "Towards human understanding of paraphrase types in large
language models".
"""

from __future__ import annotations

from collections.abc import Iterator

from alignkit.errors import FormatError
from alignkit.io.format import judged_format
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.sniffing import Head, Likeness, by_names
from alignkit.io.strict_json import JsonText, Object, as_text, member, numbered


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield each text once, with its ranks and the texts that it was preferred to."""
    text = JsonText(reading.text(), reading.path)
    kept: dict[str, Record] = {}
    for number, (line, value) in enumerate(text.elements(), start=1):
        with reading.refusing(line):
            with numbered("record", number):
                better, worse = _both(reading, value, line, kept)
            before = better.attributes.get("preferred_to", "").split("\t")
            ids = dict.fromkeys(filter(None, (*before, worse.id)))
            better.attributes["preferred_to"] = "\t".join(ids)
    text.finish()
    yield from kept.values()


def _both(reading: Reading, value: Object, line: int, kept: dict[str, Record]) -> list[Record]:
    """Return the chosen and the rejected text; those seen before must be the same."""
    if type(value) is not dict:
        raise FormatError("expected an object with meta, original, chosen and rejected")
    if "data" in value or "prompt" in value:
        raise FormatError(
            "is an export of Label Studio, or preferences without ranks; neither is read"
        )
    meta = member(value, "meta", dict)
    original = member(value, "original", str)
    group = as_text(meta.get("id"))
    names = list(map(as_text, member(meta, "annotators", list)))
    if group is None or None in names or len(set(names)) < len(names):
        raise FormatError("meta needs an id and a list of different annotators")
    both = []
    for side in ("chosen", "rejected"):
        said = member(value, side, dict)
        id = as_text(said.get("id"))
        text = member(said, "text", str)
        ranks = said.get("ranks")
        if id is None:
            raise FormatError(f"{side} has no id")
        if type(ranks) is not list or len(ranks) != len(names):
            has = len(ranks) if type(ranks) is list else "no"
            raise FormatError(f"{side} has {has} ranks by {len(names)} annotators")
        if any(type(rank) is not int or not 1 <= rank <= 5 for rank in ranks):
            raise FormatError(f"{side} has ranks {str(ranks)[:40]}; expected numbers from 1 to 5")
        record = Record(id, line, reading.words(original, line), reading.words(text, line))
        for name, rank in zip(names, ranks, strict=True):
            record.annotations[f"apty-{name}"] = RawAnnotation(judgment=str(rank), aligned=False)
        attributes = {"rank_group": group, "apt": as_text(meta.get("APT"))}
        record.attributes = {name: value for name, value in attributes.items() if value}
        known = kept.setdefault(id, record)
        same_words = known.source == record.source and known.target == record.target
        if not same_words or known.annotations != record.annotations:
            raise FormatError(f"text {id!r} has other words or ranks in line {known.line}")
        both.append(known)
    return both


def _sniff(head: Head) -> Likeness:
    """Look for members that no other format has together."""
    return by_names(head.members, {"original", "chosen", "rejected", "ranks"})


FORMAT = judged_format(_sniff, _parse, "rank", ", annotators")
