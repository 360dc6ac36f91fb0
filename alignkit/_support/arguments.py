"""Check the arguments of public functions: types of plain values, and strings as sequences.

`check_arguments` compares values with the annotations of a function, as they are written. For
``words: Sequence[str] | None`` the kinds are `Sequence` and `None`, of strings; an annotation with
another kind, such as ``Corpus``, is not checked. The other functions check one value, or several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, wraps
from inspect import Parameter, get_annotations, signature
from itertools import chain
from numbers import Integral, Real
from operator import index
from os import PathLike
from typing import Any, NamedTuple, TypeVar, cast

from alignkit.errors import AlignmentError, ArgumentError, UnknownArgumentError, UnknownNameError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
_SEQUENCES = ("Sequence", "Iterable", "Collection")
# of each kind in annotations: the types of its values, and how errors call them
_KINDS: dict[str, tuple[Any, str]] = {
    "None": (type(None), "None"),
    "str": (str, "a string"),
    "Literal": (str, "a string"),
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
    "bool": (bool, "True or False"),
    "list": (list, "a list"),
    **dict.fromkeys(("Path", "PathLike"), ((str, PathLike), "a path")),
    "tuple": ((tuple, list), "a sequence"),
    "Mapping": (Mapping, "a Mapping"),
    "Callable": (Callable, "a function"),
    **dict.fromkeys(_SEQUENCES, (Iterable, "a sequence")),
}
_SURE: dict[str, tuple[type, ...]] = {
    "None": (type(None),),
    "str": (str,),
    "Literal": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "list": (list,),
    "tuple": (tuple, list),
    "Mapping": (dict,),
    **dict.fromkeys(("Path", "PathLike"), (str,)),
    **dict.fromkeys(_SEQUENCES, (list, tuple)),
}
"""The types of most values of a kind; they need no further look."""

_OF_TEXTS = re.compile(r"(^|\| )((Sequence|Iterable|Collection)\[str\]|tuple\[str, \.)")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")


def check_arguments(
    function: Callable[..., object], given: Mapping[str, Any], *, apart: Collection[str] = ()
) -> None:
    """Check plain values and sequences (``locals()`` of a call) against the annotations.

    Arguments `apart` are left out. NumPy's numbers are numbers; a truth value is no number, and a
    text is no sequence.
    """
    for name, argument in _declared(function).items():
        if name in apart:
            continue
        value = given[name]
        if type(value) not in argument.sure and not argument.takes(value):
            _refuse(name, value, argument.expected)
        if argument.of_texts and isinstance(value, (list, tuple)):
            words(name, value)


def check_attributes(made: object) -> None:
    """Check the attributes of a dataclass against their annotations, like `check_arguments`."""
    for kind in type(made).__mro__:  # annotations are those of a class without its bases
        check_arguments(kind, {name: getattr(made, name) for name in _declared(kind)})


class _Argument(NamedTuple):
    """The kinds of an argument, and whether it holds strings."""

    kinds: list[str]
    of_texts: bool
    sure: frozenset[type]  # types of which every value is of a kind

    def takes(self, value: object) -> bool:
        """Return whether a value is of one of the kinds."""
        return any(_is(value, kind) for kind in self.kinds)

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        expected = " or ".join(_KINDS[kind][1] for kind in self.kinds)
        return f"{expected} of strings" if self.of_texts else expected


@cache
def _declared(function: Callable[..., object]) -> dict[str, _Argument]:
    """Return what is known of each argument with known kinds."""
    declared = {}
    for name, hint in get_annotations(function).items():
        kinds = [part.strip() for part in _without_brackets(str(hint)).split("|")]
        if name != "return" and set(kinds) <= _KINDS.keys():
            sure = chain.from_iterable(_SURE.get(kind, ()) for kind in kinds)
            declared[name] = _Argument(kinds, bool(_OF_TEXTS.search(hint)), frozenset(sure))
    return declared


def _without_brackets(hint: str) -> str:
    """Return an annotation without what is in brackets, from the innermost ones on."""
    shorter = _BRACKETS.sub("", hint)
    return hint if shorter == hint else _without_brackets(shorter)


def _is(value: object, kind: str) -> bool:
    """Return whether a value is of a kind, as annotations name it."""
    if isinstance(value, (str, bytes)) and kind in _SEQUENCES:
        return False
    if isinstance(value, Mapping) and kind == "Sequence":
        return False
    is_truth = type(value).__name__ in ("bool", "bool_")  # Python's or NumPy's
    if is_truth or kind == "bool":
        return is_truth and kind == "bool"
    return isinstance(value, _KINDS[kind][0])


def _refuse(name: str, value: object, expected: str) -> None:
    """Raise the error for a value of another kind."""
    hint = ""
    if isinstance(value, (str, bytes)) and "sequence" in expected:
        hint = ": split the string, or put it into a list"
    raise ArgumentError(f"{name} is {kind_of(value)}; it must be {expected}{hint}")


def check_kind(name: str, value: object, kind: type) -> None:
    """Refuse an argument that is not an instance of a class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[:1] in "AEIOU" else "a"
        _refuse(name, value, "a string" if kind is str else f"{article} {kind.__name__}")


def check_known(kind: str, name: str, known: Collection[str]) -> None:
    """Refuse an unknown name; the error lists the known ones."""
    if name not in known:
        raise UnknownNameError(kind, name, known)


@cache
def keywords_of(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of the arguments that can be given by name."""
    by_place = Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD
    every = signature(function).parameters.values()
    return tuple(x.name for x in every if x.kind not in by_place and x.name != "self")


def check_keywords(
    function: Callable[..., object], given: Iterable[str], more: Iterable[str] = ()
) -> None:
    """Refuse keywords that are neither arguments of a function nor among its options."""
    known = dict.fromkeys([*keywords_of(function), *more])
    for name in given:
        if name not in known:
            raise UnknownArgumentError(function.__qualname__, name, known)


def naming_keywords(function: F) -> F:
    """Return the function with errors that suggest a keyword instead of an unknown one."""

    @wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        try:
            return function(*args, **given)
        except TypeError:
            check_keywords(function, given)
            raise

    return cast("F", called)


def check_callable(name: str, value: object) -> None:
    """Refuse an argument that cannot be called."""
    if not callable(value):
        _refuse(name, value, "a function")


def each(name: str, values: Iterable[T], kind: type[T]) -> Iterator[T]:
    """Yield values; refuse any that is not an instance of the class."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} is {kind_of(values)}; it must hold {kind.__name__} objects")
    for k, value in enumerate(values):
        if not isinstance(value, kind):
            check_kind(f"{name}[{k}]", value, kind)
        yield value


def every(name: str, values: Iterable[T], kind: type[T]) -> tuple[T, ...]:
    """Return the values after checking that all are instances of the class."""
    if isinstance(values, Iterator):
        values = tuple(values)
    if type(values) is tuple and set(map(type, values)) <= {kind}:  # fast, without subclasses
        return values
    return tuple(each(name, values, kind))


def whole_number(name: str, value: object) -> int:
    """Return a Python or NumPy integer as an int."""
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        _refuse(name, value, "a whole number")
        raise


def place(name: str, value: object, count: int, what: str) -> int:
    """Return an index below `count`; negative ones count from the end, as in a list."""
    k = whole_number(name, value)
    if not -count <= k < count:
        raise IndexError(f"{name} is {k}, but there are {count} {what}")
    return k % count


def words(name: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a sentence."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        _refuse(name, value, "a sequence of strings")
    texts = tuple(value)
    try:
        "".join(texts)  # the fastest way to see that all are texts
    except TypeError:
        for k, text in enumerate(texts):
            check_kind(f"{name}[{k}]", text, str)
    return texts


def kind_of(value: object) -> str:
    """Describe a value in a few words."""
    if value is None or isinstance(value, (Integral, Real)):
        return str(value)[:40]
    if isinstance(value, str):
        return f"the string {value[:40]!r}"
    kind = type(value).__name__
    return f"{'an' if kind[:1] in 'AEIOUaeiou' else 'a'} {kind}"


MOST = 2**31 - 1
"""Maximum number of links, words, sentence pairs or word pairs: what 32 bits can count."""


def check_count(what: str, count: int) -> None:
    """Refuse more items than the arrays can hold, before a number overflows."""
    if count > MOST:
        raise AlignmentError(
            f"{count} {what} are more than the maximum of {MOST}: split the corpus, and "
            "process the parts one by one"
        )
