"""Read and write rules: the registry of all formats, and functions that use it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, TextIO

from alignkit._support.arguments import check_arguments, check_known, each
from alignkit.errors import ArgumentError, FormatError, UnknownFormatError
from alignkit.io.atomic_files import replacing
from alignkit.io.compression import plain_name
from alignkit.io.format import check_path
from alignkit.io.limits import MAX_MEGABYTES
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.texts import split_words
from alignkit.rules.files import fields, jsonl, labelled, moses, tsv, xrs
from alignkit.rules.files.fields import RuleFormat
from alignkit.rules.files.flat_rules import flatten, labels_differ
from alignkit.rules.files.notation import parse_side
from alignkit.rules.grammar import Node, RuleType, Side

RULE_FORMATS = {
    "tsv": "TREE ||| TREE ||| count p(t|s) p(s|t) and more by name; read back equal",
    "jsonl": "JSON, a rule per line; with alignments and examples; read back equal",
    "xrs": "GHKM and ISI: TREE -> STRING ### NAME=VALUE; read back equal",
    "joshua": "Thrax and Joshua: [NP] ||| SOURCE ||| TARGET ||| FEATURES ||| LINKS; flat",
    "moses": "Moses: SOURCE [X] ||| TARGET [NP] ||| SCORES ||| LINKS ||| COUNTS; flat",
    "ppdb": "PPDB: [NP] ||| SOURCE ||| TARGET ||| FEATURES ||| LINKS of all symbols; flat",
}
"""The formats of rules, by name, with a description."""

_FORMATS = {
    "tsv": tsv.FORMAT,
    "jsonl": jsonl.FORMAT,
    "xrs": xrs.FORMAT,
    "joshua": labelled.JOSHUA,
    "moses": moses.FORMAT,
    "ppdb": labelled.PPDB,
}
_ENDINGS = {name: name for name in RULE_FORMATS}
_ENDINGS |= {"ghkm": "xrs", "thrax": "joshua", "grammar": "joshua"}
"""The formats by the endings of file names."""
_ATTRIBUTES = (
    "pairs",
    "p_rule",
    "p_target",
    "p_source",
    "lexical_target",
    "lexical_source",
    "alignment",
    "examples",
)
"""What a rule may have that some formats do not hold; see `WrittenRules.lost`."""


def get_rule_format(name: str) -> RuleFormat:
    """Return a format of rules by its name."""
    check_known("format of rules", name, RULE_FORMATS)
    return _FORMATS[name]


@dataclass
class WrittenRules:
    """The counts of written rules; they grow during writing."""

    rules: int = 0  # written
    left_out: Counter[str] = field(default_factory=Counter)  # by what the format cannot represent
    lost: Counter[str] = field(default_factory=Counter)  # by the lost attribute, or "trees"
    joined: int = 0  # with a symbol that has the labels of both sides, [NP~S]


def write_rules(
    rules: Iterable[RuleType],
    path: str | PathLike[str] | TextIO,
    format: str = "tsv",
    *,
    one_label: bool = False,
) -> WrittenRules:
    """Write rules to a file, one per line.

    Parameters
    ----------
    rules : A `Grammar`, or an iterable of rules.
    path : The file, ``-`` for standard output, or an open text stream. A file is put in place after
        everything is written.
    format : One of `RULE_FORMATS`.
    one_label : Leave out rules with a symbol that has different labels on the two sides, in formats
        with one label (joshua, ppdb). Otherwise such a symbol gets both labels, ``[NP~S]``.

    Raises
    ------
    UnknownNameError : If the format is unknown.
    WriteError : If the file cannot be written.

    Examples
    --------
    >>> from alignkit.rules import parse_rule
    >>> rule = RuleType(parse_rule('NP(x0:DT NN("car")) ||| NP(x0:DT NN("auto"))'), count=2)
    >>> write_rules([rule], "-").rules
    NP(x0:DT NN("car")) ||| NP(x0:DT NN("auto")) ||| 2 - -
    1
    >>> write_rules([rule], "-", "joshua").lost
    [NP] ||| [DT,1] car ||| [DT,1] auto ||| count=2
    Counter({'trees': 1})
    """
    check_arguments(write_rules, locals(), apart=("rules", "path"))
    get_rule_format(format)
    written = WrittenRules()
    opened: AbstractContextManager[Any] = nullcontext(path)
    if not hasattr(path, "write"):
        opened = replacing(_name(path))
    with opened as stream:
        stream.writelines(rule_lines(rules, format, one_label=one_label, written=written))
    return written


def rule_lines(
    rules: Iterable[RuleType],
    format: str = "tsv",
    *,
    one_label: bool = False,
    written: WrittenRules | None = None,
) -> Iterator[str]:
    """Yield the lines of rules with their line feeds, and count in `written`; see `write_rules`."""
    chosen = get_rule_format(format)
    counts = written or WrittenRules()
    lost = [name for name in _ATTRIBUTES if name not in chosen.holds]
    flat = "trees" not in chosen.holds
    joins = flat and "labels" not in chosen.holds
    for rule in each("rules", rules, RuleType):
        try:
            text = chosen.line(rule, counts.rules + 1, not one_label)
        except fields.LeftOutError as problem:
            counts.left_out[str(problem)] += 1
            continue
        counts.rules += 1
        for name in lost:
            if getattr(rule, name) not in (None, ()):
                counts.lost[name] += 1
        if flat and any(map(_has_inner_nodes, rule.rule)):
            counts.lost["trees"] += 1
        if joins and labels_differ(flatten(rule.rule)):
            counts.joined += 1
        yield f"{text}\n"


def _has_inner_nodes(side: Side) -> bool:
    return type(side) is Node and any(type(item) is Node for item in side.children)


def read_rules(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    encoding: str = "utf-8",
    max_size: int = MAX_MEGABYTES,
) -> Iterator[RuleType]:
    """Read rules from a file, one by one.

    Parameters
    ----------
    path : The file (.gz too); ``-`` is standard input.
    format : One of `RULE_FORMATS`; None detects it by the first line, or by the name.
    encoding : The encoding of the file.
    max_size : The maximum size of a line in megabytes.

    Raises
    ------
    UnknownNameError : If the format is unknown.
    UnknownFormatError : If no format is given and none is recognized.
    FormatError : If the file cannot be read or does not follow the format; the error names file,
        line and column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit.rules import parse_rule
    >>> rule = RuleType(parse_rule('NN("car") ||| NN("auto")'), count=2)
    >>> with TemporaryDirectory() as folder:
    ...     path = str(Path(folder, "rules.tsv"))
    ...     written = write_rules([rule], path)
    ...     [(read.rule.target, read.count) for read in read_rules(path)]
    [(Node(label='NN', children=('auto',)), 2.0)]
    """
    check_arguments(read_rules, locals(), apart=("path",))
    file = TextFile(_name(path), ReadOptions(encoding=encoding, max_size=max_size))
    return _read(file, None if format is None else get_rule_format(format))


def _name(path: object) -> str:
    """Return the name of a file, after checking that it is such a name."""
    if not isinstance(path, (str, PathLike)):
        raise ArgumentError(f"path is {path!r:.40}; it must be the name of a file")
    check_path(path)
    return str(fspath(path))


def _read(file: TextFile, chosen: RuleFormat | None) -> Iterator[RuleType]:
    """Yield the rules of a file; its first line with content decides the format if None."""
    number = 0
    for line, text in file.lines():
        if not text or text.isspace():
            continue
        if chosen is None:
            name = detect_rule_format(file.path, text)
            if name is None:
                message = f"the format of these rules is unknown; name one: {', '.join(_FORMATS)}"
                raise UnknownFormatError(message, file.path)
            chosen = _FORMATS[name]
        try:
            rule = chosen.parse(text, number + 1)
        except FormatError as problem:
            raise FormatError(problem.message, file.path, line, problem.column) from None
        if rule is not None:
            number += 1
            yield rule


_OBJECT = re.compile(r'\s*\{\s*["}]')  # a label may begin with a brace
_LABEL = re.compile(r"\[\S+\]", re.ASCII)
_LIKE_PPDB = re.compile(r"(?<!\S)(PPDB|-logp\(|Abstract=|AGigaSim=|CharLogCR=)")


def detect_rule_format(path: str, line: str) -> str | None:
    """Return the format of a file, given its name and its first line with content."""
    named = _ENDINGS.get(plain_name(path).rpartition(".")[2].lower())
    written = _format_of_line(line)
    if written is None or {written, named} == {"joshua", "ppdb"}:
        return named
    return written


def _format_of_line(line: str) -> str | None:
    """Return the format that a line looks like."""
    if _OBJECT.match(line):
        return "jsonl"
    left, arrow, _ = line.partition(" -> ")
    if xrs.is_head(line) or (arrow and _can(parse_side, left)):
        return "xrs"
    parts = fields.split_fields(line)
    if len(parts) < 3:
        return None
    if _LABEL.fullmatch(parts[0]):
        features = " ".join(parts[3:4])
        if len(parts) == 6 or _LIKE_PPDB.search(features):
            return "ppdb"
        return "joshua"
    if _can(parse_side, parts[0]) and _can(parse_side, parts[1]):
        return "tsv"
    if all(_can(fields.plain_float, word) for word in split_words(parts[2])):
        return "moses"
    return None


def _can(read: Callable[[str], object], text: str) -> bool:
    """Return whether a text can be read."""
    try:
        read(text)
    except (FormatError, ValueError):
        return False
    return True
