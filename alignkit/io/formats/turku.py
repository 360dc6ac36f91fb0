"""The Turku Paraphrase Corpus, JSON or TSV [turku].

Specification
-------------
A JSON list of objects with at least `label`, `txt1` and `txt2`::

    [{"label": "4<", "txt1": "...", "txt2": "...", "fold": 0, "goeswith": "episode-1",
      "context": {"doc1": "...", "beg1": 10, "end1": 25, "doc2": "...", "beg2": 3, "end2": 15},
      "rewrites": [["...", "..."]]}]

or tab-separated columns below a line with their names, including label, txt1 and txt2::

    label<TAB>source<TAB>lex-similarity<TAB>txt1<TAB>txt2

- `label` is a judgment of the scheme turku, by the annotator ``turku`` or one given by the user;
  the pairs are not aligned. Another label is an error that lists the expected ones or, with
  ``--lenient-labels``, kept and counted; an empty label is then no judgment.
- The texts are not tokenized: they are split at whitespace, as everywhere. Quotation marks are
  text, unless ``--unquote`` removes them: a text in quotation marks loses both, and two in a row
  within it become one.
- A pair's id is its `id`, or its number from 1.
- `rewrites` are pairs of texts that the annotators rewrote to be paraphrases. Each becomes a pair
  ``ID/r1``, ``ID/r2``, ... after its own, with the label 4, with `fold`, `goeswith` and other
  attributes, without the context, and with the attribute `rewrite_of`, which is ID.
- `context` is the origin of the texts; it may be null or missing. Its members become attributes:
  doc1, beg1, ... If ``end - beg`` is not the number of characters of the text, this is counted:
  the documents are not in the corpus.
- `goeswith` is a group of pairs from one document, which belong in the same part of a split.
- Other texts and numbers become attributes.

The format is read-only.

References
----------
Kanerva, Ginter, Chang, Rastas, Skantsi, Kilpeläinen, Kupari, Saarni, Sevón & Tarkka 2021,
"Finnish Paraphrase Corpus", NoDaLiDa.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from alignkit.errors import FormatError
from alignkit.io.format import judged_format
from alignkit.io.records import RawAnnotation, Reading, Record
from alignkit.io.sniffing import Head, Likeness
from alignkit.io.strict_json import JsonText, Object, as_record, as_text, member
from alignkit.model.labels import get_scheme

_NAME = "turku"
_OWN = ("id", "label", "txt1", "txt2", "context", "rewrites")
_NEEDED = ("label", "txt1", "txt2")


def _parse(reading: Reading) -> Iterator[Record]:
    lines = reading.lines(one_line=True)
    for first, beginning in lines:
        if not beginning.strip():
            continue
        every = chain([(first, beginning)], lines)
        if beginning.lstrip().startswith("["):
            yield from _parse_json(reading, reading.joined(every), first)
        else:
            yield from _parse_columns(reading, every)
        return


def _parse_json(reading: Reading, joined: str, first: int) -> Iterator[Record]:
    """Yield the pairs of a JSON list that begins in line `first`."""
    text = JsonText(joined, reading.path, first)
    for number, (line, value) in enumerate(text.elements(), start=1):
        with reading.refusing(line):
            yield from list(_records(reading, value, number, line))
    text.finish()


def _parse_columns(reading: Reading, lines: Iterator[tuple[int, str]]) -> Iterator[Record]:
    """Yield the pairs of tab-separated columns below their names."""
    first, heading = next(lines)
    names = [column.strip() for column in heading.split("\t")]
    if set(_NEEDED) - set(names) or len(set(names)) < len(names):
        message = "expected a JSON list, or a first line with a unique name per column"
        raise reading.error(f"{message}, including {', '.join(_NEEDED)}", first)
    for number, (line, text) in enumerate(lines, start=1):
        columns = text.split("\t")
        with reading.refusing(line):
            if len(columns) != len(names):
                message = f"{len(columns)} tab-separated columns"
                raise FormatError(f"{message}; expected {len(names)}: {', '.join(names)[:200]}")
            value = dict(zip(names, columns, strict=True))
            yield from list(_records(reading, value, number, line))


def _records(reading: Reading, value: Object, number: int, line: int) -> Iterator[Record]:
    """Yield a pair, and the pairs that its annotators rewrote."""
    known = value
    if type(value) is dict:  # the corpus has null for what a pair lacks
        known = {key: each for key, each in value.items() if each is not None or key in _OWN}
    record = as_record(reading, known, number, line, _OWN)
    texts: list[str] = [member(value, key, str) for key in ("txt1", "txt2")]
    label = as_text(value.get("label"))
    if label is None:
        raise FormatError("'label' is missing or not a text; expected a judgment")
    record.source, record.target = _words(reading, texts, line)
    judgment = reading.judged(get_scheme("turku"), label, line)
    if judgment is not None:
        record.annotations[reading.options.name or _NAME] = judgment
    shared = dict(record.attributes)
    context: Object = member(value, "context", dict, {})
    for key, each in context.items():
        said = as_text(each)
        if said is None:
            reading.note("member left out", f"{key[:40]!r} of the context is not a text", line)
        else:
            record.attributes[key] = said
    for side, text in zip("12", texts, strict=True):
        begin = context.get(f"beg{side}")
        end = context.get(f"end{side}")
        if type(begin) is type(end) is int and end - begin != len(text):
            message = f"pair {record.id!r}: end{side} - beg{side} is {end - begin}, but txt{side} "
            message += f"has {len(text)} characters"
            reading.note("context length differs", message, line)
    yield record
    for k, rewrite in enumerate(member(value, "rewrites", list, []), start=1):
        if type(rewrite) is not list or [type(text) for text in rewrite] != [str, str]:
            raise FormatError("a rewrite is not a list of two texts")
        paraphrase = RawAnnotation(judgment="4", aligned=False)
        annotations = {reading.options.name or _NAME: paraphrase}
        attributes = shared | {"rewrite_of": record.id}
        id = f"{record.id}/r{k}"
        source, target = _words(reading, rewrite, line)
        yield Record(id, line, source, target, annotations, attributes)


def _words(reading: Reading, texts: Sequence[str], line: int) -> tuple[list[str], list[str]]:
    """Return the words of both texts, without quotation marks around them if that is asked."""
    first, second = texts
    if reading.options.unquote:
        first = _unquoted(first)
        second = _unquoted(second)
    return reading.words(first, line), reading.words(second, line)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    return text


def _sniff(head: Head) -> Likeness:
    """Look for members or headings, or else for a judgment in the first column."""
    known = set(_NEEDED) & (head.headings | head.members)
    if len(known) > 1:
        return Likeness.SURE
    if known and (known & head.headings or head.text[:1] == "["):
        return Likeness.LIKELY
    first = head.columns
    judged = len(first) > 2 and first[0] in get_scheme("turku").judgments
    if judged and first[1] not in ("0", "1"):  # PARADE's second label
        return Likeness.MAYBE
    return Likeness.NO


_REMARK = "its texts are not tokenized; they are split at whitespace"
FORMAT = judged_format(_sniff, _parse, "turku", remark=_REMARK)
