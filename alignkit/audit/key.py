"""Write and read the key of an audit: the origin of each item, which no judge should see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from alignkit._support.values import FrozenMap
from alignkit.audit.audit import Audit, Item, Origin, Rate, Scale
from alignkit.errors import FormatError, OptionError
from alignkit.io.opening import MAX_MEGABYTES, open_input, read_bounded

VERSION = 1

T = TypeVar("T")


def key_text(audit: Audit) -> str:
    """Return the key as JSON, one item per line."""
    optional = {"meanings": audit.scale.meanings, "judges": audit.judges, "upheld": audit.upheld}
    head = {
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
        **{name: value for name, value in (*optional.items(), ("by", audit.by)) if value},
    }
    rows = [
        {
            "item": item.id,
            "origin": item.origin,
            "cells": item.cells,
            "facts": dict(item.facts),
            **({"judges": item.judges} if item.judges else {}),
        }
        for item in audit.items
    ]
    lines = [f" {_json(name)}: {_json(value)},\n" for name, value in head.items()]
    items = ",\n".join(f"  {_json(row)}" for row in rows)
    return f'{{\n{"".join(lines)} "items": [\n{items}\n ]\n}}\n'


def _json(value: object) -> str:
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
    if (version := key.get("version")) != VERSION:
        raise FormatError(f"this key has version {version!r}; this alignkit reads {VERSION}", name)
    try:
        return _audit(key)
    except (KeyError, TypeError, ValueError, OptionError) as problem:
        if isinstance(problem, KeyError):
            said = f"{problem.args[0]!r} is missing"
        else:
            said = str(problem)
        raise FormatError(f"damaged key: {said}; use the unchanged file", name) from None


def _audit(key: Mapping[str, Any]) -> Audit:
    columns = _texts(key["columns"])
    audit = Audit(
        kind=_of(str, key["kind"]),
        items=tuple(_item(row, len(columns)) for row in _of(list, key["items"])),
        columns=columns,
        marked=_texts(key["marked"]),
        scale=Scale(_texts(key["judgments"]), _texts(key.get("meanings", []))),
        origins=FrozenMap({name: _origin(x) for name, x in _of(dict, key["origins"]).items()}),
        rates=FrozenMap({name: _rate(x) for name, x in _of(dict, key["rates"]).items()}),
        seed=_of(int, key["seed"]),
        signature=_of(str, key["signature"]),
        judges=_texts(key.get("judges", [])),
        upheld=_texts(key.get("upheld", [])),
        by=_of(str, key.get("by", "")),
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


def _origin(row: Any) -> Origin:
    return Origin(_of(str, row["about"]), _of(int, row["population"]), _of(int, row["drawn"]))


def _rate(row: Any) -> Rate:
    counts = _of(int, row["hits"]), _of(int, row["total"])
    if not 0 <= counts[0] <= counts[1]:
        raise ValueError(f"{counts[0]} hits of {counts[1]}")
    return Rate(*counts, _of(str, row["origin"]), _texts(row["strict"]), _texts(row["lenient"]))


def _check(audit: Audit) -> None:
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
    return tuple(_of(str, text) for text in _of(list, texts))


def _of(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{str(value)[:40]!r} is not of type {kind.__name__}")
    return value
