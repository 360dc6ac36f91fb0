"""Check arguments at the boundary: what a public function declares is what it takes.

`check_arguments` compares what was given with the annotations of the function, once for a call;
the other checks are for what is called too often for that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from numbers import Integral, Real
from operator import index
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from alignkit.errors import ArgumentError

T = TypeVar("T")


class _Expected(NamedTuple):
    """Say what an argument may be: a test, its words, and what the elements may be, if any."""

    accepts: Callable[[Any], bool]
    words: str
    element: _Expected | None = None
    several: bool = False


def check_arguments(
    function: Callable[..., object], given: Mapping[str, Any], *, apart: Collection[str] = ()
) -> None:
    """Compare the arguments of a call, as ``locals()`` has them at its start, with annotations.

    Numbers of NumPy are numbers; truth is no number; ranges are for the function to check. What has
    no annotation, or one that tells nothing (``Any``), passes, and so do those named in `apart`,
    which are checked elsewhere.
    """
    for name, expected in _declared(function):
        if name not in apart:
            _check(name, given[name], expected)


def check_attributes(made: object) -> None:
    """Compare the attributes of a dataclass with their annotations, as `check_arguments` does."""
    kind: Callable[..., object] = type(made)
    for name, expected in _declared(kind):
        _check(name, getattr(made, name), expected)


def check_kind(name: str, value: object, kind: type) -> None:
    """Refuse an argument that is not of a class."""
    if not isinstance(value, kind):
        raise ArgumentError(f"{name} is {kind_of(value)}; it must be {_named(kind)}")


def check_callable(name: str, value: object) -> None:
    """Refuse an argument that cannot be called."""
    if not callable(value):
        raise ArgumentError(f"{name} is {kind_of(value)}; it must be a function")


def each(name: str, values: Iterable[T], kind: type[T]) -> Iterator[T]:
    """Give values one by one, and refuse what is not of a class."""
    if not _is_iterable(values):
        raise ArgumentError(f"{name} is {kind_of(values)}; it must hold {kind.__name__} objects")
    return _each(name, values, kind)


def every(name: str, values: Iterable[T], kind: type[T]) -> tuple[T, ...]:
    """Return all values, once it is known that they are of a class; see `each`."""
    found = tuple(values) if _is_iterable(values) else None
    if found is None or not set(map(type, found)) <= {kind}:  # fast; subclasses are looked at
        return tuple(each(name, values if found is None else found, kind))
    return found


def _each(name: str, values: Iterable[T], kind: type[T]) -> Iterator[T]:
    for k, value in enumerate(values):
        if not isinstance(value, kind):
            check_kind(f"{name}[{k}]", value, kind)
        yield value


def whole_number(name: str, value: object) -> int:
    """Return a whole number, of NumPy or not."""
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(f"{name} is {kind_of(value)}; it must be a whole number") from None


def place(name: str, value: object, count: int, what: str) -> int:
    """Return a place among so many, counted from the end where negative, as in a list."""
    k = whole_number(name, value)
    if not -count <= k < count:
        raise IndexError(f"{name} is {k}, but there are {count} {what}")
    return k + count if k < 0 else k


def words(name: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a sentence."""
    if not isinstance(value, (str, bytes)):
        try:
            found = tuple(value)
            "".join(found)  # the fastest way to see that all are texts
            return found
        except TypeError:
            pass
    _check(name, value, _WORDS)
    _check(name, found, _WORDS)
    raise ArgumentError(f"{name} cannot be gone through")  # its own iterator failed


def _check(name: str, value: Any, expected: _Expected) -> None:
    if expected.several:
        for k, one in enumerate(value):
            _check(f"{name}[{k}]", one, expected._replace(several=False))
        return
    if not expected.accepts(value):
        hint = ""
        if isinstance(value, (str, bytes)) and "sequence" in expected.words:
            hint = ": split the text, or put it into a list"
        raise ArgumentError(f"{name} is {kind_of(value)}; it must be {expected.words}{hint}")
    if expected.element is not None and hasattr(value, "__len__") and not isinstance(value, str):
        accepts = expected.element.accepts
        for k, one in enumerate(value):
            if not accepts(one):
                _check(f"{name}[{k}]", one, expected.element)


@cache
def _declared(function: Callable[..., object]) -> tuple[tuple[str, _Expected], ...]:
    """Return the arguments that can be checked, by name."""
    import inspect  # takes 10 ms, and commands do without

    hints = get_type_hints(function)
    hints.pop("return", None)
    found = {name: _expected(hint) for name, hint in hints.items()}
    if not isinstance(function, type):
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                found[name] = None
            elif parameter.kind is inspect.Parameter.VAR_POSITIONAL and (one := found[name]):
                found[name] = one._replace(several=True)
    return tuple((name, expected) for name, expected in found.items() if expected is not None)


def _expected(hint: Any) -> _Expected | None:
    """Return what a type hint asks for; None where it tells nothing."""
    if hint is Any:
        return None
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        parts = [_expected(one) for one in args]
        known = [one for one in parts if one is not None]
        if len(known) < len(parts):
            return None
        return _Expected(_any_of(known), " or ".join(one.words for one in known), _element(known))
    base = origin or hint
    if hasattr(base, "__value__"):  # an alias with a name of its own, as NDArray since numpy 2.5
        return _expected(base.__value__)
    if base is _CALLABLE:
        return _Expected(callable, "a function")
    if not isinstance(base, type) or getattr(base, "_is_protocol", False):
        return None
    if base.__name__ == "ndarray":
        return _Expected(_is_array, "an array of numbers")
    if base in _GONE_THROUGH:
        accepts, said = _GONE_THROUGH[base]
        element = _expected(args[0]) if args else None
        return _Expected(accepts, f"{said} of {_plural(element)}" if element else said, element)
    if base is tuple and args and args[-1] is not Ellipsis:
        return _Expected(_tuple_of([_expected(one) for one in args]), f"a tuple of {len(args)}")
    return _Expected(lambda value: isinstance(value, base), _named(base))


def _any_of(parts: list[_Expected]) -> Callable[[Any], bool]:
    return lambda value: any(one.accepts(value) for one in parts)


def _element(parts: list[_Expected]) -> _Expected | None:
    """Return what the elements may be, where one part alone has any."""
    elements = [one.element for one in parts if one.element is not None]
    return elements[0] if len(elements) == 1 else None


def _tuple_of(parts: list[_Expected | None]) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        return (
            isinstance(value, (tuple, list))
            and len(value) == len(parts)
            and all(p is None or p.accepts(v) for p, v in zip(parts, value, strict=True))
        )

    return accepts


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _is_sequence(value: Any) -> bool:
    return _is_iterable(value) and hasattr(value, "__getitem__") and not isinstance(value, Mapping)


def _is_truth(value: Any) -> bool:
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))


def _is_array(value: Any) -> bool:
    return type(value).__name__ == "ndarray" and value.dtype.kind in "biuf"


_PLAIN: dict[Any, _Expected] = {
    NoneType: _Expected(lambda value: value is None, "None"),
    str: _Expected(lambda value: isinstance(value, str), "a text"),
    int: _Expected(
        lambda value: isinstance(value, Integral) and not _is_truth(value), "a whole number"
    ),
    float: _Expected(lambda value: isinstance(value, Real) and not _is_truth(value), "a number"),
    bool: _Expected(_is_truth, "True or False"),
}
_CALLABLE = get_origin(Callable[..., object])
_GONE_THROUGH: dict[Any, tuple[Callable[[Any], bool], str]] = {
    Sequence: (_is_sequence, "a sequence"),
    Iterable: (_is_iterable, "a sequence"),
    Collection: (_is_iterable, "a sequence"),
    list: (lambda value: isinstance(value, list), "a list"),
}
_WORDS = _Expected(_is_iterable, "a sequence of texts", _PLAIN[str])


def _plural(element: _Expected) -> str:
    return {"a text": "texts", "a number": "numbers", "a whole number": "whole numbers"}.get(
        element.words, f"{element.words.removeprefix('a ').removeprefix('an ')} objects"
    )


def _named(kind: type) -> str:
    article = "an" if kind.__name__[:1] in "AEIOU" else "a"
    return f"{article} {kind.__name__}"


def kind_of(value: object) -> str:
    """Say what a value is."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the one text {value[:40]!r}"
    if isinstance(value, (Integral, Real)):
        return str(value)[:40]
    article = "an" if type(value).__name__[:1] in "AEIOUaeiou" else "a"
    return f"{article} {'set' if isinstance(value, Set) else type(value).__name__}"
