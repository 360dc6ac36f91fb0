"""The JSON of the editor Ugarit [ugarit-json].

Specification
-------------
One sentence, with the rules of `alignkit.io.formats.ugarit_xml`::

    {"ugarit_id": "7", "title": "T", "lang1": "AKK", "lang2": "ENG", "url": "...",
     "tokens": {"l1": [{"id": "1-1", "tp": "sen_0", "text": "a", "refs": ["2-1"]}], "l2": [...]}}

Texts wrapped as Python writes bytes, ``b'...'``, are unwrapped and counted. Other texts become
attributes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import filterfalse

from alignkit.errors import FormatError
from alignkit.io.format import Format, kinds
from alignkit.io.formats.ugarit_xml import NumberedWord, numbered_record
from alignkit.io.records import Reading, Record
from alignkit.io.sniffing import matching
from alignkit.io.strict_json import Object, as_text, member, parse_json, texts

_WRAPPED = re.compile(r"""b(['"]).*\1""", re.DOTALL)
_OWN = re.compile(r"tokens|ugarit_id|lang[0-9]+")


def _parse(reading: Reading) -> Iterator[Record]:
    """Yield the one sentence of the file."""
    value = parse_json(reading.text(), reading.path)
    with reading.refusing(1):
        if type(value) is not dict:
            raise FormatError("expected an object")
        tokens: Object = member(value, "tokens", dict)
        names = []
        sides = []
        for key in sorted(key for key in tokens if re.fullmatch(r"l[0-9]", key)):
            language = as_text(value.get(f"lang{key[1:]}")) or key.upper()
            names.append((language, key))
            sides.append([_word(word, reading) for word in member(tokens, key, list)])
        about = {"document": as_text(value.get("ugarit_id")) or ""}
        for key in filterfalse(_OWN.fullmatch, value):
            text = as_text(value[key])
            if text is None:
                reading.note("member left out", f"{key[:40]!r} is not a text")
            else:
                about[key] = _unwrapped(text, reading)
        yield numbered_record(reading, "1", 1, sides, names, about)


def _word(value: object, reading: Reading) -> NumberedWord:
    """Return a word of the file."""
    if not isinstance(value, dict):
        raise FormatError("expected an object for each word")
    text: str = member(value, "text", str)
    refs = texts(value, "refs") if value.get("refs") is not None else []
    return NumberedWord(member(value, "id", str), _unwrapped(text, reading), refs)


def _unwrapped(text: str, reading: Reading) -> str:
    """Return a text that may be written as bytes of Python."""
    if _WRAPPED.fullmatch(text):
        with suppress(ValueError, SyntaxError, AttributeError):
            text = ast.literal_eval(text).decode()
            reading.note("text in b'...'", f"read as {text[:40]!r}")
    return text


_BEGINS = re.compile(r'\{[^\0]*?"tokens"\s*:\s*\{\s*"l[0-9]"\s*:\s*\[')


FORMAT = Format(matching(_BEGINS), _parse, holds=kinds("text"), languages=True, by_id=True)
