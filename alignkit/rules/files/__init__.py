"""Read and write rules: one registry of all formats, and the calls that use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, TextIO

from alignkit._support.arguments import check_arguments, each
from alignkit.errors import ArgumentError, FormatError, UnknownFormatError
from alignkit.io.atomic_files import replacing
from alignkit.io.format import check_path
from alignkit.io.opening import MAX_MEGABYTES
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.rules.files.fields import (
    RULE_FORMATS,
    LeftOutError,
    RuleFormat,
    flatten,
    found_format,
    get_rule_format,
    labels_differ,
)
from alignkit.rules.files.notation import parse_rule, rule_text, side_text
from alignkit.rules.grammar import Node, RuleType, Side

__all__ = [
    "RULE_FORMATS",
    "RuleFormat",
    "WrittenRules",
    "get_rule_format",
    "parse_rule",
    "read_rules",
    "rule_lines",
    "rule_text",
    "side_text",
    "write_rules",
]

_KINDS = (
    "pairs", "p_rule", "p_target", "p_source", "lexical_target", "lexical_source", "alignment",
    "examples",
)  # fmt: skip


@dataclass
class WrittenRules:
    """What was written of rules; it grows while they are.

    Attributes
    ----------
    rules
        How many were written.
    left_out
        How many were not, by what they have that the format cannot hold.
    lost
        How many of the written ones have something that the format does not hold: an attribute of
        `RuleType`, or ``"trees"``, nodes below their roots.
    joined
        How many of the written ones have a symbol with the labels of both sides, ``[NP~S]``.
    """

    rules: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    joined: int = 0


def write_rules(
    rules: Iterable[RuleType],
    path: str | PathLike[str] | TextIO,
    format: str = "tsv",
    *,
    joined_labels: bool = True,
) -> WrittenRules:
    """Write rules to a file, a line each.

    Parameters
    ----------
    rules
        A `Grammar`, or rules that come one by one.
    path
        The file, ``-`` for standard output, or an open text stream. A file takes its place when
        all is written.
    format
        One of `RULE_FORMATS`.
    joined_labels
        Whether a symbol whose labels differ between the sides gets both, ``[NP~S]``, in formats
        that hold one (joshua, ppdb). Else rules with such a symbol are left out.

    Raises
    ------
    UnknownNameError
        If there is no such format.
    WriteError
        If the file cannot be written.

    Examples
    --------
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
    is_open = hasattr(path, "write")
    opened: AbstractContextManager[Any] = nullcontext(path) if is_open else replacing(_name(path))
    with opened as stream:
        stream.writelines(rule_lines(rules, format, joined_labels=joined_labels, told=written))
    return written


def rule_lines(
    rules: Iterable[RuleType],
    format: str = "tsv",
    *,
    joined_labels: bool = True,
    told: WrittenRules | None = None,
) -> Iterator[str]:
    """Yield the lines of rules, each with its line feed; `told` counts what is in them.

    See `write_rules`.
    """
    check_arguments(rule_lines, locals(), apart=("rules",))
    return _lines(rules, get_rule_format(format), joined_labels, told or WrittenRules())


def _lines(
    rules: Iterable[RuleType], chosen: RuleFormat, joined: bool, written: WrittenRules
) -> Iterator[str]:
    line, lost = chosen.line, written.lost
    unheld = [name for name in _KINDS if name not in chosen.holds]
    flat = "trees" not in chosen.holds
    joins = flat and "labels" not in chosen.holds
    for rule in each("rules", rules, RuleType):
        try:
            text = line(rule, written.rules + 1, joined)
        except LeftOutError as problem:
            written.left_out[str(problem)] += 1
            continue
        written.rules += 1
        for name in unheld:
            if getattr(rule, name) not in (None, ()):
                lost[name] += 1
        if flat and any(map(_is_deep, rule.rule)):
            lost["trees"] += 1
        written.joined += joins and labels_differ(flatten(rule.rule))
        yield f"{text}\n"


def _is_deep(side: Side) -> bool:
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
    path
        The file (.gz too); ``-`` is standard input.
    format
        One of `RULE_FORMATS`; None finds it from the first line, or from the name.
    encoding
        That of the file.
    max_size
        The most megabytes of a line.

    Raises
    ------
    UnknownNameError
        If there is no such format.
    UnknownFormatError
        If none is named and none is found.
    FormatError
        If the file cannot be read, or does not follow the format; the error tells file, line and
        column.
    """
    check_arguments(read_rules, locals(), apart=("path",))
    name = _name(path)
    file = TextFile(name, ReadOptions(encoding=encoding, max_size=max_size))
    return _read(file, None if format is None else get_rule_format(format))


def _name(path: object) -> str:
    if not isinstance(path, (str, PathLike)):
        raise ArgumentError(f"path is {path!r:.40}; it must be the name of a file")
    check_path(path)
    return str(fspath(path))


def _read(file: TextFile, chosen: RuleFormat | None) -> Iterator[RuleType]:
    number = 0
    for line, text in file.lines():
        if not text or text.isspace():
            continue
        if chosen is None:
            chosen = _chosen(file.path, text)
        try:
            rule = chosen.parse(text, number + 1)
        except FormatError as problem:
            raise FormatError(problem.message, file.path, line, problem.column) from None
        if rule is not None:
            number += 1
            yield rule


def _chosen(path: str, line: str) -> RuleFormat:
    name = found_format(path, line)
    if name is None:
        known = ", ".join(RULE_FORMATS)
        raise UnknownFormatError(f"the format of these rules is not known; name it: {known}", path)
    return get_rule_format(name)
