"""Write and read the key of an audit: the origin of each item, which no judge should see."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from alignkit._support.values import FrozenMap
from alignkit.audit.audit import Audit, Item, Origin, Rate, Scale
from alignkit.errors import FormatError, OptionError
from alignkit.io.limits import MAX_MEGABYTES
from alignkit.io.opening import open_input, read_bounded

VERSION = 1

T = TypeVar("T")


def key_text(audit: Audit) -> str:
    """Return the key as JSON, one item per line."""
    head: dict[str, object] = {
        "alignkit": "audit",
        "version": VERSION,
        "kind": audit.kind,
        "signature": audit.signature,
        "seed": audit.seed,
        "judgments": audit.scale.names,
        "columns": audit.columns,
        "marked": audit.marked,
        "origins": {name: vars(item) for name, item in audit.origins.items()},
        "rates": {name: vars(item) for name, item in audit.rates.items()},
    }
    optional = {
        "meanings": audit.scale.meanings,
        "judges": audit.judges,
        "upheld": audit.upheld,
        "by": audit.by,
    }
    head.update((name, value) for name, value in optional.items() if value)
    lines = [f" {_json(name)}: {_json(value)},\n" for name, value in head.items()]
    items = ",\n".join(f"  {_json(_record(item))}" for item in audit.items)
    return f'{{\n{"".join(lines)} "items": [\n{items}\n ]\n}}\n'


def _record(item: Item) -> dict[str, object]:
    """Return an item as the key has it."""
    record: dict[str, object] = {
        "item": item.id,
        "origin": item.origin,
        "cells": item.cells,
        "facts": dict(item.facts),
    }
    if item.judges:
        record["judges"] = item.judges
    return record


def _json(value: object) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)


def read_key(path: str | Path) -> Audit:
    """Read a key made by `key_text`."""
    name = str(path)
    give = "give the key.json that 'alignkit audit' wrote with the sheets"
    with open_input(name) as stream:
        raw = read_bounded(stream, name, MAX_MEGABYTES)
    try:
        key = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise FormatError(f"no key of an audit: not UTF-8 ({problem.reason})", name) from None
    except (ValueError, RecursionError) as problem:
        line = getattr(problem, "lineno", None)
        message = getattr(problem, "msg", "nested too deeply")
        raise FormatError(f"no key of an audit: not JSON ({message}); {give}", name, line) from None
    if not isinstance(key, dict) or key.get("alignkit") != "audit":
        raise FormatError(f"no key of an audit; {give}", name)
    version = key.get("version")
    if version != VERSION:
        raise FormatError(f"this key has version {version!r}; this alignkit reads {VERSION}", name)
    try:
        return _audit(key)
    except KeyError as problem:
        message = f"{problem.args[0]!r} is missing"
    except (TypeError, ValueError, OptionError) as problem:
        message = str(problem)
    raise FormatError(f"damaged key: {message}; use the unchanged file", name)


def _audit(key: Mapping[str, Any]) -> Audit:
    """Return the audit of a key; a damaged key is a KeyError, TypeError or ValueError."""
    columns = _texts(key["columns"])
    audit = Audit(
        kind=_typed(str, key["kind"]),
        items=tuple(_item(row, len(columns)) for row in _typed(list, key["items"])),
        columns=columns,
        marked=_texts(key["marked"]),
        scale=Scale(_texts(key["judgments"]), _texts(key.get("meanings", []))),
        origins=_mapped(_origin, key["origins"]),
        rates=_mapped(_rate, key["rates"]),
        seed=_typed(int, key["seed"]),
        signature=_typed(str, key["signature"]),
        judges=_texts(key.get("judges", [])),
        upheld=_texts(key.get("upheld", [])),
        by=_typed(str, key.get("by", "")),
    )
    _check(audit)
    return audit


def _mapped(read: Callable[[Any], T], rows: Any) -> FrozenMap[str, T]:
    """Return what is read from each row, by the name of the row."""
    return FrozenMap({name: read(row) for name, row in _typed(dict, rows).items()})


def _item(row: Any, width: int) -> Item:
    """Return the item of a row of the key; `width` is the number of its cells."""
    cells = _texts(row["cells"])
    if len(cells) != width:
        raise ValueError(f"item {row['item']!r} has {len(cells)} cells, not {width}")
    facts: FrozenMap[str, object] = FrozenMap(_typed(dict, row["facts"]))
    judges = _texts(row.get("judges", []))
    return Item(_typed(str, row["item"]), _typed(str, row["origin"]), cells, facts, judges)


def _origin(row: Any) -> Origin:
    """Return the origin of a row of the key."""
    about = _typed(str, row["about"])
    return Origin(about, _typed(int, row["population"]), _typed(int, row["drawn"]))


def _rate(row: Any) -> Rate:
    """Return the rate of a row of the key."""
    hits = _typed(int, row["hits"])
    total = _typed(int, row["total"])
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} hits of {total}")
    origin = _typed(str, row["origin"])
    return Rate(hits, total, origin, _texts(row["strict"]), _texts(row["lenient"]))


def _check(audit: Audit) -> None:
    """Check that the names in a key fit together."""
    ids = [item.id for item in audit.items]
    if len(set(ids)) < len(ids):
        raise ValueError("an item occurs twice")
    for item in audit.items:
        if item.origin not in audit.origins:
            raise ValueError(f"item {item.id!r} has an unknown origin {item.origin!r}")
        if not set(item.judges) <= set(audit.judges):
            raise ValueError(f"item {item.id!r} is given to somebody who is not a judge")
    if not set(audit.upheld) <= set(audit.scale.names):
        raise ValueError("an upholding label is not a judgment")
    if audit.upheld and len(audit.origins) != 2:
        raise ValueError(f"{len(audit.origins)} origins are compared, not 2")
    for name, rate in audit.rates.items():
        known = rate.origin in audit.origins
        if not known or not {*rate.strict, *rate.lenient} <= set(audit.scale.names):
            raise ValueError(f"the rate {name!r} names an unknown origin or judgment")


def _texts(texts: Any) -> tuple[str, ...]:
    """Return a list of texts, checked."""
    return tuple(_typed(str, text) for text in _typed(list, texts))


def _typed(kind: type[T], value: Any) -> T:
    """Return a value, checked to be of a type; True and False are no numbers."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{str(value)[:40]!r} is not of type {kind.__name__}")
    return value
