"""The arguments of a command for the options of a dataclass, and back."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import MISSING
from typing import Any, TypeVar, get_origin

from alignkit._support.options import Option, options_of
from alignkit.cli.parser import Parser, number

T = TypeVar("T")


def add_fields(parser: Parser, kind: type) -> dict[str, argparse._ArgumentGroup]:
    """Add the options of a dataclass; return the groups that they are in, by title."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for option in options_of(kind):
        known = option.about
        if known.python:
            continue
        if known.group not in groups:
            groups[known.group] = parser.add_argument_group(known.group)
        groups[known.group].add_argument(option.flag, **_settings(option))
        if known.rare:
            parser.rare |= {option.flag}
    return groups


def made(kind: type[T], given: argparse.Namespace) -> T:
    """Return the options of a dataclass with the values of a command; a wrong one is an error."""
    values = vars(given)
    names = [option.name for option in options_of(kind)]
    return kind(**{name: values[name] for name in names if name in values})


def _settings(option: Option) -> dict[str, Any]:
    """Return what `argparse` needs for an option."""
    known = option.about
    text = known.help
    default = option.default
    settings: dict[str, Any] = {"dest": option.name}
    if default is MISSING:
        settings["required"] = not known.implied
    else:
        settings["default"] = default
    choices = option.choices or known.choices
    if isinstance(default, bool):
        settings |= {"action": "store_const", "const": not default}
        if default:
            text = f"do not {text}"
    elif choices:
        settings["choices"] = choices
    else:
        settings |= {"metavar": known.metavar} | _conversion(option)
    if default and not isinstance(default, bool) and default is not MISSING:
        text = f"{text} (default: {default})"
    settings["help"] = text.replace("%", "%%")
    return settings


def _conversion(option: Option) -> dict[str, Any]:
    """Return how words become a value of an option."""
    if int in option.kinds:
        return {"type": number(option.about.least or 0)}
    if float in option.kinds:
        return {"type": float}
    if any(get_origin(kind) is Sequence for kind in option.kinds):
        return {"nargs": "+"}
    return {}
