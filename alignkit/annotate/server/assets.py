"""Hold the page's own files in a table: nothing that a client says is a path."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from string import ascii_letters
from typing import NamedTuple

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_COMMENT = re.compile(rb"(^|\s)//\s[^\"'`]*$|^//.*$|^/\*.*\*/$")
_TEXT = re.compile(
    rb"""("(?:[^"\\]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|`[^`]*`)*\})*`)"""
)
_SPACED = re.compile(
    rb" ?(=>|===?|!==?|&&|\|\||[][=,{}():;?!<>*%]|(?<= )/(?= )) ?|(?<![+-]) ([+-]) (?![+-])"
)
_DECLARED = re.compile(rb"^((?:export )?|for \(|[^\"`]*\bfor \()const ")
_FOLDER = Path(__file__).parent / "page"


class Asset(NamedTuple):
    """Hold a file: its bytes, its kind, and a tag that changes with it."""

    body: bytes
    kind: str
    tag: str


def load_assets(folder: Path = _FOLDER) -> dict[str, Asset]:
    """Read the files of a page, by name."""
    table = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in _KINDS:
            body = _sent(path)
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            table[path.name] = Asset(body, _KINDS[path.suffix], tag)
    return table


def _sent(path: Path) -> bytes:
    """Return what a browser gets of a file."""
    body = path.read_bytes()
    if path.suffix == ".css":
        return squeeze(body).replace(b"\n", b"")
    if path.suffix == ".js":
        return join(map(tighten, map(declare, shorten(squeeze(body)).splitlines())))
    if path.suffix == ".html":
        return body.replace(b">\n<", b"><")  # elements on lines of their own stand apart anyhow
    return body


def squeeze(text: bytes) -> bytes:
    r"""Leave out what a file has for its readers: comments, and white space before lines.

    No text or comment in it may have several lines; `tests/test_annotate_assets.py` looks.

    Examples
    --------
    >>> squeeze(b"// adds\nconst add = (a, b) => {\n\treturn a + b // of numbers\n}\n")
    b'const add = (a, b) => {\nreturn a + b\n}\n'
    """
    lines = (_COMMENT.sub(b"", line.strip()) for line in text.splitlines())
    return b"".join(line + b"\n" for line in lines if line)


def shorten(text: bytes) -> bytes:
    r"""Give the private members of classes short names, which nothing outside a file can know.

    Examples
    --------
    >>> shorten(b"class Two {\n#first = 1\nasync #second() {}\nsum() {return this.#first}\n}\n")
    b'class Two {\n#a = 1\nasync #b() {}\nsum() {return this.#a}\n}\n'
    """
    names = list(dict.fromkeys(re.findall(rb"^(?:async )?#(\w+)", text, re.M)))
    short = {name: ascii_letters[at].encode() for at, name in enumerate(names)}
    return re.sub(
        rb"(^|^async |\.)#(\w+)",
        lambda found: found[1] + b"#" + short.get(found[2], found[2]),
        text,
        flags=re.M,
    )


def declare(line: bytes) -> bytes:
    """Declare by ``let``, which is shorter, what a line begins with or a loop runs through.

    Examples
    --------
    >>> declare(b"export const add = 1"), declare(b"for (const one of all) {")
    (b'export let add = 1', b'for (let one of all) {')
    >>> declare(b'say("const")')
    b'say("const")'
    """
    return _DECLARED.sub(rb"\1let ", line)


def tighten(line: bytes) -> bytes:
    r"""Leave out spaces around the operators of a line of JavaScript, where it is plain.

    Texts stay as they are, and so does a line that may hold a pattern or what is hard to tell.

    Examples
    --------
    >>> tighten(b'const pad = (a, b = " = ") => a + b')
    b'const pad=(a,b=" = ")=>a+b'
    >>> tighten(b"const told = `${a} = ${ b }` + c, d = /[ ,] = /")
    b'const told = `${a} = ${ b }` + c, d = /[ ,] = /'
    """
    parts = _TEXT.split(line)
    if any(re.search(rb"[\"'`\\]|/(?! )|(?<! )/", code) for code in parts[::2]):
        return line
    for at in range(0, len(parts), 2):
        code = _SPACED.sub(rb"\1\2", parts[at])
        code = code.lstrip(b" ") if at else code
        parts[at] = code if at == len(parts) - 1 else code.rstrip(b" ")
    return b"".join(parts)


def join(lines: Iterable[bytes]) -> bytes:
    r"""Join lines of JavaScript, without their ends where a bracket or comma says as much.

    Examples
    --------
    >>> join([b"const add=(a,b)=>{", b"return a+b", b"}", b"add(1,2)"])
    b'const add=(a,b)=>{return a+b}\nadd(1,2)\n'
    """
    text, plain = b"", True  # whether the last line has no comment
    for line in lines:
        joined = plain and (text[-1:] in b"{(,[" or line[:1] in b"})]")
        text += line if joined else b"\n" + line
        plain = b"//" not in line
    return text + b"\n"
