"""A small immutable mapping, and results as JSON."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(Mapping[K, V]):
    """A small immutable mapping that keeps the order of its keys."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        if isinstance(items, FrozenMap):
            known = items._items
        else:
            known = tuple(dict(items).items())
        self._items: tuple[tuple[K, V], ...] = known

    @classmethod
    def of_one(cls, key: K, value: V) -> FrozenMap[K, V]:
        """Return a map with one entry, quickly."""
        self = cls.__new__(cls)
        self._items = ((key, value),)
        return self

    def __getitem__(self, key: K) -> V:
        for name, value in self._items:
            if name == key:
                return value
        raise KeyError(key)

    def items(self) -> ItemsView[K, V]:
        """Return the pairs of key and value."""
        return _Items(self)

    def __iter__(self) -> Iterator[K]:
        return (name for name, _ in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __or__(self, other: Mapping[K, V]) -> FrozenMap[K, V]:
        return FrozenMap({**self, **other})

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap) and self._items == other._items:
            return True
        return isinstance(other, Mapping) and dict(self._items) == dict(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._items))

    def __repr__(self) -> str:
        return f"FrozenMap({dict(self._items)!r})"


class _Items(ItemsView[K, V]):
    """Iterate over the entries without looking up each key."""

    __slots__ = ()

    _mapping: FrozenMap[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return iter(self._mapping._items)


def named_json(value: object, names: Iterable[str]) -> dict[str, object]:
    """Return some attributes of a result as JSON values."""
    return {name: jsonable(getattr(value, name)) for name in names}


def jsonable(value: object) -> object:
    """Return a result as dicts, lists, numbers and strings; NaN and infinity become None."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "tolist"):  # an array, or a number of NumPy
        return jsonable(value.tolist())
    if isinstance(value, float) and not isfinite(value):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): jsonable(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(part) for part in value]
    return value


def nested(flat: Mapping[str, object]) -> dict[str, object]:
    """Return a mapping with dotted names as nested mappings."""
    tree: dict[str, object] = {}
    for name, value in flat.items():
        *path, last = name.split(".")
        place = tree
        for part in path:
            inner = place.setdefault(part, {})
            if isinstance(inner, dict):
                place = inner
        place[last] = value
    return tree
