"""The arguments of a command for the options of a dataclass, and back.

`alignkit._support.options` has such a dataclass: each field is an `Option`, with a name, a type, a
default, and what else is known `about` it (help, group, range, ...; see `About`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING
from typing import Any, TypeVar, get_origin

from alignkit._support.options import Option, options_of
from alignkit.cli.parser import Group, Options, Parser, number

T = TypeVar("T")


def add_fields(parser: Parser, kind: type) -> dict[str, Group]:
    """Add the options of a dataclass; return the groups that they are in, by title."""
    groups: dict[str, Group] = {}
    for option in options_of(kind):
        about = option.about
        if about.python:  # Python's alone, or added by the command itself
            continue
        if about.group not in groups:
            groups[about.group] = parser.add_argument_group(about.group)
        groups[about.group].add_argument(option.flag, **_settings(option))
        if about.rare:
            parser.rare |= {option.flag}
    return groups


def made(kind: type[T], given: Options) -> T:
    """Return the options of a dataclass with the values of a command; it refuses wrong ones."""
    values = vars(given)
    names = [option.name for option in options_of(kind)]
    return kind(**{name: values[name] for name in names if name in values})


def _settings(option: Option) -> dict[str, Any]:
    """Return what `argparse` needs for an option."""
    about = option.about
    text = about.help
    settings: dict[str, Any] = {"dest": option.name}
    if option.default is MISSING:
        settings["required"] = not about.implied
    else:
        settings["default"] = option.default
    choices = option.choices or about.choices
    if isinstance(option.default, bool):
        settings |= {"action": "store_const", "const": not option.default}
        if option.default:
            text = f"do not {text}"
    elif choices:
        settings["choices"] = choices
    else:
        settings |= {"metavar": about.metavar} | _conversion(option)
    says_default = option.default is not MISSING and not isinstance(option.default, bool)
    if says_default and option.default:  # not None, "" or 0, which mean that the option is off
        text = f"{text} (default: {option.default})"
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
