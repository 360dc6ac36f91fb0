"""Say in the words of the command what the library says in those of Python.

The library names an argument in backquotes, as in "allow more by `max_words`" or "say so by
`partial=True`". A command has options instead: "--max-words", "--partial". `main` puts each error
into the words of the command that ran, and so does who prints a finding.
"""

from __future__ import annotations

import argparse
import re

_QUOTES = "\"'"
_ARGUMENT = re.compile(r"`([a-z][a-z0-9_]*)(?:=([^`\n]*))?`")


def in_words_of(parser: argparse.ArgumentParser | None, message: str) -> str:
    """Return a message with the options of a command in the places of arguments.

    Arguments that are no options of the command stand as they are, without backquotes.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--max-words", type=int), parser.add_argument("--partial")
    >>> in_words_of(parser, "allow more by `max_words`; say so by `partial=True`, not `other=1`")
    'allow more by --max-words; say so by --partial, not other=1'
    """
    options = set() if parser is None else set(parser._option_string_actions)

    def option(match: re.Match[str]) -> str:
        name, value = match.groups()
        flag = f"--{name.replace('_', '-')}"
        if flag not in options:
            return match[0].strip("`")
        return flag if value in (None, "True") else f"{flag} {value.strip(_QUOTES)}"

    return _ARGUMENT.sub(option, message)
