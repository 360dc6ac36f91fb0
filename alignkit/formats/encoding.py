"""Encodings: how lines are decoded, and errors of bytes that cannot be."""

from __future__ import annotations

import codecs

from alignkit.errors import OptionError

_OF_HOSTS = ("idna", "punycode")  # for names of hosts, not for text


def line_encoding(encoding: str) -> tuple[str, bool]:
    """Return the encoding that lines are decoded by, and whether the file must be recoded first."""
    try:
        name = codecs.lookup(encoding).name
        usable = "a\n".encode(name).decode(name) == "a\n"
        holds_ascii(name)  # which those for nothing (undefined) fail
    except (LookupError, ValueError):
        usable = False
    if not usable or name in _OF_HOSTS:
        raise OptionError(f"unknown encoding {encoding!r}")
    return ("utf-8", True) if name.startswith(("utf-16", "utf-32")) else (encoding, False)


def holds_ascii(encoding: str) -> bool:
    """Return whether a byte below 128 is always the character of that number."""
    ascii = bytes(range(128))
    return ascii.decode(encoding, "replace") == ascii.decode("ascii")


def not_encoded(encoding: str, raw: bytes, problem: UnicodeDecodeError) -> str:
    """Return in words which byte is not of the declared encoding."""
    byte = raw[problem.start]
    return f"not {encoding} (byte {byte:#04x}); name the right encoding by `encoding`"
