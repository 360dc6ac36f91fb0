"""Methods that compute each result once, like `functools.cached_property` for attributes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def cached_method(method: F) -> F:
    """Keep what a method returns for each of its arguments, in the object that it belongs to."""
    place = f"{method.__name__}()"

    @wraps(method)
    def called(self: object, *arguments: Hashable) -> Any:
        results = vars(self).setdefault(place, {})
        if arguments not in results:
            results[arguments] = method(self, *arguments)
        return results[arguments]

    return cast("F", called)
