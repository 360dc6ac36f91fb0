"""A route: who may use it, and one function with the structs of its query, body and answer.

The parameters of the function say what a request holds: `query` is made from the query of the URL,
`sent` from the JSON body, each a struct. The type that it returns is the answer, None an empty one
(204); a function that makes its reply itself names the struct with `gives`. A query or body of
another form is refused with 422, a body that is not JSON with 400.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, get_args, get_type_hints

import msgspec
from starlette.requests import Request

from alignkit.annotate.server.security import RefusedError

T = TypeVar("T")
Answer = TypeVar("Answer", bound=Callable[..., object])

_USUAL = (400, 401, 403, 404, 422, 429, 503)
_OF_BODIES = (408, 413, 415)
_SENTENCES = {
    r"Expected `str` matching regex": "This text has characters that are not possible here.",
    r"Expected `str` of length >= (\d+)": "Use at least {} characters.",
    r"Expected `str` of length <= (\d+)": "Use at most {} characters.",
    r"Expected `(?:int|float)` >= (\S+)": "Give a number that is not below {}.",
    r"Expected `(?:int|float)` <= (\S+)": "Give a number that is not above {}.",
    r"Object missing required field `(\w+)`": "The field {} is missing.",
    r"Object contains unknown field `(\w+)`": "There is no field {} here.",
    r"Expected `(?:str|str \| null)`": "A text is expected here.",
    r"Expected `(?:int|float)(?: \| null)?`": "A number is expected here.",
    r"Expected `bool`": "Yes or no (true or false) is expected here.",
}
"""What messages of the library that checks requests mean to a person."""


@dataclass(frozen=True)
class Entry:
    """A route by its method and path; `may` names what its visitors must be able to do."""

    method: str
    path: str
    may: str
    answer: Callable[..., Any]
    status: int = 200  # of an answer that has a body
    also: tuple[int, ...] = ()  # statuses beside this one and those that its form implies
    gives: Any = None  # the struct of the answer, if the function does not return it
    files: tuple[str, ...] = ()  # the types of bodies that are not JSON
    streams: bool = False  # the function is asynchronous, and reads the body itself

    @cached_property
    def _hints(self) -> dict[str, Any]:
        """The types of the parameters of the function, and of what it returns."""
        return get_type_hints(self.answer)

    @cached_property
    def _returned(self) -> tuple[Any, ...]:
        """The types that the function may return."""
        hint = self._hints["return"]
        return get_args(hint) if isinstance(hint, UnionType) else (hint,)

    @property
    def query(self) -> Any:
        """The struct of the query; None if there is none."""
        return self._hints.get("query")

    @property
    def takes(self) -> Any:
        """The struct of the body, bytes if the function reads it, None if there is none."""
        if self.streams:
            return bytes
        return self._hints.get("sent")

    @property
    def answers_with(self) -> Any:
        """The struct of the answer; None if there is none."""
        for kind in self._returned:
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                return kind
        return self.gives

    @property
    def statuses(self) -> set[int]:
        """All statuses of its answers."""
        codes = {*self.also, *_USUAL}
        if NoneType in self._returned:
            codes.add(204)
        if self._returned != (NoneType,):
            codes.add(self.status)
        if self.takes is not None:
            codes.update(_OF_BODIES)
        return codes

    def arguments(self, request: Request, body: bytes) -> dict[str, Any]:
        """Return the query and the body of a request as the function takes them."""
        arguments = {}
        if self.query is not None:
            arguments["query"] = converted(dict(request.query_params), self.query)
        if self.takes is not None:
            arguments["sent"] = decoded(body, self.takes)
        return arguments


Kind = TypeVar("Kind", bound=Entry)


class Routes(Generic[Kind]):
    """The routes of a module, in the order of its functions: a request gets the first that fits."""

    def __init__(self, kind: type[Kind]) -> None:
        self.entries: list[Kind] = []
        self._kind = kind

    def add(self, method: str, path: str, may: str, **more: Any) -> Callable[[Answer], Answer]:
        """Make a function that of a route; `more` are further fields of its entry."""

        def added(answer: Answer) -> Answer:
            self.entries.append(self._kind(method, path, may, answer, **more))
            return answer

        return added


def decoded(body: bytes, kind: type[T]) -> T:
    """Return the body of a request as a struct."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise _unfit(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RefusedError(400, "the request is not valid JSON") from None


def converted(query: dict[str, str], kind: type[T]) -> T:
    """Return the query of a URL as a struct; all its values are texts, as in ``limit=20``."""
    try:
        return msgspec.convert(query, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _unfit(error) from None


def _unfit(error: msgspec.ValidationError) -> RefusedError:
    """Return the answer to a value of another form; it names the field, if there is one."""
    text, _, where = str(error).partition(" - at `$")
    field = where.strip("`.").partition(".")[0].partition("[")[0]
    for form, sentence in _SENTENCES.items():
        match = re.match(form, text)
        if match:
            return RefusedError(422, sentence.format(*match.groups()), field=field)
    return RefusedError(422, "This value is not possible here.", field=field)
