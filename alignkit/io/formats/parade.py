"""PARADE, pairs of definitions that experts judged [parade].

Specification
-------------
Five tab-separated columns below a line with their names::

    Four-class labels<TAB>Binary labels<TAB>Entity<TAB>Definition1<TAB>Definition2

- The first is 0 to 3. According to the README of the data, it is how many of three experts called
  the definitions paraphrases (scheme parade-votes); in the paper it is a grade (scheme parade). It
  becomes the judgment of the annotator ``parade``, or of one given by the user; the pairs are not
  aligned. Another label is an error or, with ``--lenient-labels``, kept and counted.
- The second, 0 or 1, and the third become the attributes `binary` and `entity`. Contradictions are
  counted: the second should be 1 if the first is 2 or 3.
- Definitions are split at whitespace; quotation marks are text.
- A pair's id is its number, from 1.

The format is read-only.

References
----------
He, Wang, Zhang, Huang & Caverlee 2020, "PARADE: a new dataset for paraphrase identification
requiring computer science domain knowledge", EMNLP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from alignkit.errors import FormatError
from alignkit.io.format import judged_format
from alignkit.io.records import Reading, Record
from alignkit.io.sniffing import Head, Likeness, by_names
from alignkit.model.labels import get_scheme, get_view

_NAME = "parade"
_HEAD = ("four-class labels", "binary labels", "entity", "definition1", "definition2")


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the judged pairs below the heading."""
    for number, (line, text) in enumerate(reading.lines()):
        columns = text.split("\t")
        if number == 0:
            if tuple(column.strip().casefold() for column in columns) != _HEAD:
                message = (
                    "expected a first line with the names of five columns: Four-class "
                    "labels, Binary labels, Entity, Definition1, Definition2"
                )
                raise reading.error(message, line)
            continue
        with reading.refusing(line):
            if len(columns) != len(_HEAD):
                raise FormatError(f"{len(columns)} tab-separated columns; expected {len(_HEAD)}")
            label, binary, entity, first, second = columns
            words = reading.words(first, line), reading.words(second, line)
            record = Record(str(number), line, *words)
            judgment = reading.judged(get_scheme("parade-votes"), label, line)
            if judgment is not None:
                record.annotations[reading.options.name or _NAME] = judgment
            record.attributes = {"binary": binary, "entity": entity}
            expected = get_view("parade-votes", "binary").rows.get(label)
            if expected is not None and binary != expected:
                message = f"pair {record.id!r}: label {label}, but binary label {binary[:40]!r}"
                reading.note("labels contradict", message, line)
            yield record


_LABELS = re.compile(r"[0-3]\t[01]")


def _sniff(head: Head) -> Likeness:
    """Look for the headings, or else for both labels."""
    likeness = by_names(head.headings, set(_HEAD))
    if likeness is Likeness.NO and head.width == len(_HEAD) and _LABELS.match(head.text):
        return Likeness.MAYBE
    return likeness


FORMAT = judged_format(_sniff, _parse, "parade-votes")
