"""Options that are declared once: in a dataclass, for Python and for the command line.

Each field is an option: its type has the choices, `option` its default, its help and its range.
`check_options` checks the values, `takes` makes the fields the keywords of a function, and
`alignkit.cli.options` makes the arguments of a command from them. This imports nothing slow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache, wraps
from inspect import signature
from types import NoneType, UnionType
from typing import (
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from alignkit._support.arguments import (
    check_arguments,
    check_attributes,
    check_keywords,
    check_known,
)
from alignkit._support.keywords import with_options
from alignkit.errors import ArgumentError, OptionError

P = ParamSpec("P")
Data = TypeVar("Data")
More = TypeVar("More")
Most = TypeVar("Most")
Made = TypeVar("Made", covariant=True)
Result = TypeVar("Result")


@dataclass(frozen=True)
class About:
    """What is known about an option besides its name, its type and its default.

    Parameters
    ----------
    help : What it does, in a sentence without a full stop.
    group : The title under which the help of the command lists it.
    metavar : What stands for a value in the help of the command.
    choices : The values that the command takes, if the type does not list them.
    least : The least value.
    above, below : Numbers that a value must lie between; None for no limit.
    needs : The option without which this one means nothing.
    opposite : The flag of the command that turns off what is on by default.
    rare : Whether only ``--help-all`` lists it.
    silent : Whether reports do not state it: it changes no result, or the result has it elsewhere.
    implied : Whether the command may leave a required option out, for its input can imply it.
    python : Whether only Python has it, or the command adds it with others.
    """

    help: str
    group: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    above: float | None = None
    below: float | None = None
    needs: str = ""
    opposite: str = ""
    rare: bool = False
    silent: bool = False
    implied: bool = False
    python: bool = False


def about(help: str, **more: Any) -> dict[str, About]:
    """Return the metadata of a field, for a required option: ``field(metadata=about("..."))``."""
    return {"about": About(help, **more)}


def option(default: Any, help: str, **more: Any) -> Any:
    """Return a field with a default; `more` has further attributes of `About`."""
    return field(default=default, metadata=about(help, **more))


@dataclass(frozen=True)
class Option:
    """An option, as its dataclass declares it."""

    name: str
    type: Any
    default: Any  # `dataclasses.MISSING` if it is required
    about: About

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types that its type joins, without None."""
        if get_origin(self.type) not in (Union, UnionType):
            return (self.type,)
        return tuple(part for part in get_args(self.type) if part is not NoneType)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that its type lists; empty for free values."""
        first = self.kinds[0]
        if get_origin(first) is Literal:
            return get_args(first)
        return ()

    @property
    def flag(self) -> str:
        """Its flag on the command line."""
        return self.about.opposite or f"--{self.name.replace('_', '-')}"


def options_of(kind: Any) -> tuple[Option, ...]:
    """Return the options of a dataclass, those of its bases first."""
    return _declared(kind)


@cache
def _declared(kind: type[Any]) -> tuple[Option, ...]:
    """Return the options of a dataclass; their types are known when all modules are."""
    hints = get_type_hints(kind)
    return tuple(
        Option(each.name, hints[each.name], each.default, each.metadata["about"])
        for each in fields(kind)
    )


def stated(options: object) -> dict[str, Any]:
    """Return the values of the options that a report states, by name."""
    every = options_of(type(options))
    return {each.name: getattr(options, each.name) for each in every if not each.about.silent}


# checks
@dataclass(frozen=True)
class DeclaredOptions:
    """Options that are checked when they are made."""

    def __post_init__(self) -> None:
        check_options(self)


def check_options(options: object) -> None:
    """Refuse values of a wrong type, unknown choices, numbers out of range, and what is missing."""
    check_attributes(options)
    for each in options_of(type(options)):
        value = getattr(options, each.name)
        if each.choices and value is not None:
            check_known(each.name.replace("_", " "), value, each.choices)
        if value is not None:
            _check_range(each.name, value, each.about)
        needed = each.about.needs
        if needed and value != each.default and not getattr(options, needed):
            raise OptionError(f"`{each.name}` needs `{needed}`: add it, or leave `{each.name}` out")


def _check_range(name: str, value: Any, limits: About) -> None:
    """Refuse a number that is out of its range."""
    if limits.least is not None and value < limits.least:
        raise OptionError(f"`{name}` must be at least {limits.least}, not {value}")
    if limits.above is None:
        return
    if limits.below is None and not value > limits.above:
        raise OptionError(f"`{name}` must be above {limits.above:g}, not {value}")
    if limits.below is not None and not limits.above < value < limits.below:
        ends = f"{limits.above:g} and {limits.below:g}"
        raise OptionError(f"`{name}` must lie between {ends}, not {value}")


# functions
class _Taking(Protocol[P, Made]):
    """What `takes` returns. Data keeps its types; type checkers know it by place, not by name."""

    @overload
    def __call__(
        self, function: Callable[[Data, Made], Result], /
    ) -> Callable[Concatenate[Data, P], Result]: ...
    @overload
    def __call__(
        self, function: Callable[[Data, More, Made], Result], /
    ) -> Callable[Concatenate[Data, More, P], Result]: ...
    @overload
    def __call__(
        self, function: Callable[[Data, More, Most, Made], Result], /
    ) -> Callable[Concatenate[Data, More, Most, P], Result]: ...
    def __call__(self, function: Any, /) -> Any: ...


def takes(options: Callable[P, Made]) -> _Taking[P, Made]:
    """Make a function of data and of a dataclass of options take the options as keywords.

    The data is one argument, two or three, and the options are the last.

    Signature and docstring then have each option: the entry ``options : ...`` of the docstring
    gives way to one for each.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Sizes:
    ...     least: int = option(1, "the least size", least=1)
    >>> @takes(Sizes)
    ... def long(words, options):
    ...     return [word for word in words if len(word) >= options.least]
    >>> long(["a", "few", "words"], least=3)
    ['few', 'words']
    >>> list(signature(long).parameters)
    ['words', 'least']
    """
    kind: Any = options

    def taking(function: Any) -> Any:
        """Return the function with the options as keywords."""
        # f(words, options) is seen as f(words, *, least=1): the fields replace the last parameter
        plain = signature(function)
        *data, last = plain.parameters
        parameters = [plain.parameters[name] for name in data]
        parameters += signature(kind).parameters.values()
        whole = plain.replace(parameters=parameters)

        @wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            check_keywords(called, named)
            try:
                bound = whole.bind(*given, **named)
            except TypeError as error:
                raise ArgumentError(f"{function.__qualname__}: {error}") from None
            bound.apply_defaults()
            fields_given = bound.arguments
            arguments = {name: fields_given.pop(name) for name in data}
            check_arguments(function, arguments)
            arguments[last] = kind(**fields_given)
            return function(**arguments)

        described: Any = called
        described.__signature__ = whole
        described.__doc__ = with_options(function.__doc__, kind)
        return called

    return cast("_Taking[P, Made]", taking)
