"""Look at the beginning of an input, and tell what it shows at first sight."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from alignkit.formats.encoding import line_encoding
from alignkit.formats.options import ReadOptions
from alignkit.formats.registry import FORMATS
from alignkit.input import look_ahead

_HEAD = 1 << 19  # bytes that hold the first records
_SHOWN = 512  # characters
_SPACE = "\ufeff \t\r\n\v\f"
_DIGITS = "0123456789"
BEGINS = {
    "alignkit-xml": "<",
    "alignkit-jsonl": "{",
    "naacl": _DIGITS,
    "giza": "#",
    "rte": "#",
    "jacana": "[",
    "edinburgh": "{",
    "jsonl": "{",
    "ists": "<",
    "blinker": _DIGITS,
    "paraphrase-xml": "<",
    "etpc": "<",
}
"""The characters of which a file's first is one, white space aside, where not any will do."""

_WITHOUT_PAIRS = {
    "jacana": re.compile(r"\[\s*\]\s*"),
    "edinburgh": re.compile(r'\{\s*"paraphrases"\s*:\s*\[\s*\]\s*\}\s*'),
    "paraphrase-xml": re.compile(r"(<\?[^<>]*\?>)?\s*<corpus\s*(/>|>\s*</corpus\s*>)\s*"),
}
"""What a corpus without pairs looks like, where it shows the format."""

BY_STEM = ("yawat", "transread")  # of whose files a name without ending is one


@dataclass(frozen=True)
class Sample:
    """Hold the beginning of an input, and what it shows at first sight."""

    path: str
    head: bytes | None  # None where there is no such file, or it is a folder
    more: bool
    first: str
    encoding: str

    @classmethod
    def of(cls, path: str, options: ReadOptions) -> Sample:
        """Look at an input; one that can be read only once can be read afterwards."""
        if path != "-" and (Path(path).is_dir() or not Path(path).exists()):
            return cls(path, None, False, "", options.encoding)
        head, more = look_ahead(path, _HEAD, options.max_size, options.encoding)
        encoding = options.encoding
        line_encoding(encoding)  # refuses what is none
        try:
            text = _decoded(head, encoding, more)
        except UnicodeError:  # of UTF-16 without its mark, not of decoding
            encoding = "latin-1"  # whatever it is, the format shows
            text = _decoded(head, encoding, more)
        if more and "\n" in text:
            text = text[: text.rindex("\n") + 1]
            head = text.encode(encoding, "surrogatepass")
        return cls(path, head, more, text[:4096].lstrip(_SPACE)[:_SHOWN], encoding)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in the file."""
        return self.head is not None and not self.head.strip(b"\xef\xbb\xbf")

    @property
    def mark(self) -> str | None:
        """The one of alignkit's own formats whose mark the file bears, or that of no pairs."""
        if self.first.startswith('{"alignkit"'):
            return "alignkit-jsonl"
        if self.first.startswith("<") and "urn:alignkit:" in self.first:
            return "alignkit-xml"
        if self.more or len(self.head or "") > _SHOWN:
            return None
        found = (name for name, text in _WITHOUT_PAIRS.items() if text.fullmatch(self.first))
        return next(found, None)

    def candidates(self) -> Iterator[str]:
        """Yield the names of the formats that are worth trying."""
        for name in FORMATS:
            if self.head is None and not Path(self.path).exists():
                if name in BY_STEM:
                    yield name
            elif self.head is None or self.first[:1] in BEGINS.get(name, self.first[:1]):
                yield name


def _decoded(head: bytes, encoding: str, more: bool) -> str:
    return codecs.getincrementaldecoder(encoding)().decode(head, final=not more)
