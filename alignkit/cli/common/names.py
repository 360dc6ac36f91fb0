"""Options for the names and roles of annotators."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from alignkit.cli.parser import add_options
from alignkit.errors import OptionError
from alignkit.model.annotation import ROLES
from alignkit.model.corpus import Corpus


def add_names(group: argparse._ActionsContainer) -> None:
    """Add --rename and --role."""
    repeated = {"action": "append", "default": []}
    add_options(group, f"""
        --rename OLD=NEW  rename an annotator; repeatable
        --role NAME=ROLE  set the role of an annotator or program: {", ".join(ROLES)}; repeatable
            (default: as in the file)
        """, rename=repeated, role=dict(repeated))  # fmt: skip


def named(corpus: Corpus, options: argparse.Namespace) -> Corpus:
    """Return the corpus with the new names, then with the new roles."""
    if options.rename:
        corpus = corpus.rename(_pairs("--rename", "OLD=NEW", options.rename))
    if options.role:
        corpus = corpus.with_roles(_pairs("--role", "NAME=ROLE", options.role))
    return corpus


def _pairs(flag: str, form: str, texts: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if not (name and value):
            raise OptionError(f"{flag} {text}: expected {form}")
        if name in pairs:
            raise OptionError(f"{flag}: {name!r} occurs twice; name it once")
        pairs[name] = value
    return pairs
