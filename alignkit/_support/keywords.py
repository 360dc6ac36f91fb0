"""Options as keywords of a function: what `inspect` and `help` show of them.

`alignkit._support.options` declares options. A function that takes a dataclass of other options,
such as `Aligner.train`, needs this module alone.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields
from inspect import Parameter, signature
from typing import Any, TypeVar

from alignkit._support.arguments import check_keywords, keywords_of

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])


def takes_options(
    *kinds: Callable[..., object], without: Collection[str] = (), **defaults: object
) -> Callable[[F], F]:
    """Show the fields of dataclasses in the signature of a function with ``**options``.

    Of another function, its keyword-only arguments are shown.

    For functions whose data have defaults or take several forms, so that `takes` cannot type them.
    Type checkers see a `TypedDict` with the same names and types: ``**options: Unpack[...]``.

    Parameters
    ----------
    without : Fields that the function does not take.
    **defaults : Where the function has another default than the dataclass.
    """
    named: dict[str, Parameter] = {}
    for kind in kinds:
        for name, each in signature(kind).parameters.items():
            of_data = not isinstance(kind, type) and each.kind is not Parameter.KEYWORD_ONLY
            if of_data or name in without or name in named:
                continue
            default = defaults.get(name, each.default)
            annotation = str(each.annotation)
            if default is None and "None" not in annotation:  # it follows from the data
                annotation += " | None"
            named[name] = Parameter(
                name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )

    def decorate(function: F) -> F:
        """Set the signature that `inspect` and `help` show."""
        shown = signature(function)
        *others, _ = shown.parameters.values()
        vars(function)["__signature__"] = shown.replace(parameters=[*others, *named.values()])
        for kind in kinds:
            if isinstance(kind, type):
                function.__doc__ = with_options(function.__doc__, kind)
        return function

    return decorate


# the entry `options : ...` of a docstring, with the lines below it that are further indented
_ENTRY = re.compile(r"^( *)options : .*\n(?:\1 +\S.*\n)*", re.MULTILINE)


def with_options(text: str | None, kind: type) -> str | None:
    """Return a docstring with an entry for each option instead of one for all."""
    if text is None:  # Python leaves docstrings out
        return None
    return _ENTRY.sub(lambda match: "".join(_entries(match[1], kind)), text)


def _entries(indent: str, kind: Any) -> Iterator[str]:
    """Yield the entry of each option in a docstring."""
    for each in fields(kind):
        help = each.metadata["about"].help
        entry = f"{each.name} : {help[:1].upper()}{help[1:]}."
        more = f"{indent}    "
        yield textwrap.fill(entry, 100, initial_indent=indent, subsequent_indent=more) + "\n"


def options_given(
    kind: Callable[..., T], function: Callable[..., object], given: Mapping[str, Any]
) -> T:
    """Return options of a kind, given as the keywords of a function; refuse unknown ones."""
    check_keywords(function, given, keywords_of(kind))
    return kind(**given)
