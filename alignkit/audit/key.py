"""Write and read the key of an audit: where each item comes from, which no judge should see."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from alignkit._support.values import FrozenMap
from alignkit.audit.audit import Audit, Item, Origin, Rate, Scale
from alignkit.errors import FormatError, OptionError
from alignkit.io.opening import MAX_MEGABYTES, open_input, read_bounded

VERSION = 1

T = TypeVar("T")


def key_text(audit: Audit) -> str:
    """Return the key as JSON, an item a line."""
    optional = {
        "meanings": audit.scale.meanings,
        "judges": audit.judges,
        "upheld": audit.upheld,
        "by": audit.by,
    }
    head = {
        "alignkit": "audit",
        "version": VERSION,
        "kind": audit.kind,
        "signature": audit.signature,
        "seed": audit.seed,
        "judgments": audit.scale.names,
        "columns": audit.columns,
        "marked": audit.marked,
        "origins": {name: vars(one) for name, one in audit.origins.items()},
        "rates": {name: vars(one) for name, one in audit.rates.items()},
        **{name: value for name, value in optional.items() if value},
    }
    rows = [
        {
            "item": one.id,
            "origin": one.origin,
            "cells": one.cells,
            "facts": dict(one.facts),
            **({"judges": one.judges} if one.judges else {}),
        }
        for one in audit.items
    ]
    lines = [f" {_json(name)}: {_json(value)},\n" for name, value in head.items()]
    items = ",\n".join(f"  {_json(row)}" for row in rows)
    return f'{{\n{"".join(lines)} "items": [\n{items}\n ]\n}}\n'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_key(path: str | Path) -> Audit:
    """Read a key that `key_text` made."""
    name = str(path)
    with open_input(name) as stream:
        raw = read_bounded(stream, name, MAX_MEGABYTES)
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise FormatError(f"no key of an audit: not UTF-8 ({problem.reason})", name) from None
    except (ValueError, RecursionError) as problem:
        line = getattr(problem, "lineno", None)
        message = getattr(problem, "msg", "nested too deep")
        raise FormatError(
            f"no key of an audit: not JSON ({message}); give the key.json that 'alignkit audit' "
            "wrote with the sheets",
            name,
            line,
        ) from None
    if not isinstance(found, dict) or found.get("alignkit") != "audit":
        raise FormatError(
            "no key of an audit; give the key.json that 'alignkit audit' wrote with the sheets",
            name,
        )
    if found.get("version") != VERSION:
        raise FormatError(
            f"a key of version {found.get('version')!r}; this alignkit reads {VERSION}", name
        )
    try:
        return _audit(found)
    except (KeyError, TypeError, ValueError, OptionError) as problem:
        said = f"{problem.args[0]!r} is missing" if isinstance(problem, KeyError) else str(problem)
        raise FormatError(f"a damaged key: {said}; take it as it was written", name) from None


def _audit(found: Mapping[str, Any]) -> Audit:
    columns = _texts(found["columns"])
    audit = Audit(
        kind=_of(str, found["kind"]),
        items=tuple(_item(row, len(columns)) for row in _of(list, found["items"])),
        columns=columns,
        marked=_texts(found["marked"]),
        scale=Scale(_texts(found["judgments"]), _texts(found.get("meanings", []))),
        origins=_named(found["origins"], _origin),
        rates=_named(found["rates"], _rate),
        seed=_of(int, found["seed"]),
        signature=_of(str, found["signature"]),
        judges=_texts(found.get("judges", [])),
        upheld=_texts(found.get("upheld", [])),
        by=_of(str, found.get("by", "")),
    )
    _check(audit)
    return audit


def _item(row: Any, width: int) -> Item:
    cells = _texts(row["cells"])
    if len(cells) != width:
        raise ValueError(f"item {row['item']!r} has {len(cells)} cells, not {width}")
    facts: FrozenMap[str, object] = FrozenMap(_of(dict, row["facts"]))
    judges = _texts(row.get("judges", []))
    return Item(_of(str, row["item"]), _of(str, row["origin"]), cells, facts, judges)


def _origin(found: Any) -> Origin:
    return Origin(_of(str, found["about"]), _of(int, found["population"]), _of(int, found["drawn"]))


def _rate(found: Any) -> Rate:
    counts = _of(int, found["hits"]), _of(int, found["total"])
    if not 0 <= counts[0] <= counts[1]:
        raise ValueError(f"{counts[0]} hits of {counts[1]}")
    return Rate(
        *counts, _of(str, found["origin"]), _texts(found["strict"]), _texts(found["lenient"])
    )


def _check(audit: Audit) -> None:
    ids = [item.id for item in audit.items]
    if len(set(ids)) < len(ids):
        raise ValueError("an item occurs twice")
    for item in audit.items:
        if item.origin not in audit.origins:
            raise ValueError(f"item {item.id!r} is of an unknown origin {item.origin!r}")
        if not set(item.judges) <= set(audit.judges):
            raise ValueError(f"item {item.id!r} is given to somebody who is no judge")
    if not set(audit.upheld) <= set(audit.scale.names):
        raise ValueError("what upholds an item is no judgment")
    if audit.upheld and len(audit.origins) != 2:
        raise ValueError(f"{len(audit.origins)} origins are compared, not 2")
    for name, rate in audit.rates.items():
        known = rate.origin in audit.origins
        if not known or not {*rate.strict, *rate.lenient} <= set(audit.scale.names):
            raise ValueError(f"the rate {name!r} names an origin or a judgment that is not there")


def _named(found: Any, make: Callable[[Any], T]) -> FrozenMap[str, T]:
    return FrozenMap({name: make(value) for name, value in _of(dict, found).items()})


def _texts(found: Any) -> tuple[str, ...]:
    return tuple(_of(str, one) for one in _of(list, found))


def _of(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{str(value)[:40]!r} stands where {kind.__name__} should")
    return value
