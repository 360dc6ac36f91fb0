"""Put together what the page gets of a project and of a pair."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from alignkit.annotate.names import ADJUDICATOR
from alignkit.formats import WRITTEN
from alignkit.labels import DEFAULT, REMARKS, get_scheme

if TYPE_CHECKING:
    from alignkit.annotate.gold.docket import Docket
    from alignkit.annotate.gold.view import GoldView
    from alignkit.annotate.names import Visitor
    from alignkit.annotate.server.opening import Progress
    from alignkit.annotate.store import Store
    from alignkit.annotate.tables.views import PairView

_LANGUAGES = ("source_language", "target_language")


def project_answer(store: Store, visitor: Visitor, progress: Progress | None) -> dict[str, Any]:
    """Return what the page learns when it begins; an adjudicator's numbers are of the gold.

    `box` names where the browser keeps what waits, `at` is the path of pairs below ``/api``.
    """
    info = store.project()
    decides = visitor.role == ADJUDICATOR
    done, pairs = store.progress(info.gold if decides else visitor.name, everything=decides)
    return {
        "name": info.name,
        "key": info.key,
        "annotator": visitor.name,
        "role": visitor.role,
        "at": "gold" if decides else "pairs",
        "box": f"alignkit:{info.key}:{visitor.name}{':adjudicator' if decides else ''}",
        "task": info.task,
        "n": info.n,
        "pairs": pairs,
        "done": done,
        "threshold": info.threshold,
        "scheme": _scheme(info.scheme),
        "suggestions": info.suggestions or None,
        "formats": [{"value": key, "name": f"{key}: {about}"} for key, about in WRITTEN.items()],
        "preparing": None if progress is None else progress._asdict(),
    }


def _scheme(name: str) -> dict[str, Any]:
    scheme = get_scheme(name or DEFAULT)
    return {
        "name": scheme.name,
        "labels": [_described(label) for label in scheme.labels],
        "flags": [
            {**_described(flag), "on": list(flag.on), "excludes": list(flag.excludes)}
            for flag in (*scheme.flags, *REMARKS)
        ],
    }


def _described(entry: Any) -> dict[str, str]:
    return {"value": entry.value, "name": entry.name, "about": entry.about}


def gold_answer(store: Store, docket: Docket, k: int) -> bytes:
    """Return a pair with the votes on it as JSON, likewise."""
    from alignkit.annotate.gold.view import gold_view

    return pair_answer(gold_view(store, k, docket))


def pair_answer(view: PairView | GoldView, **more: Any) -> bytes:
    """Return a pair as JSON, with the directions of its sides and what else the page asks."""
    more |= {key: view.attributes[key] for key in _LANGUAGES if key in view.attributes}
    more["direction"] = {"source": direction_of(view.source), "target": direction_of(view.target)}
    return msgspec.json.encode(view)[:-1] + b"," + msgspec.json.encode(more)[1:]


def direction_of(words: Iterable[str]) -> str:
    """Return ``rtl`` where most letters are of scripts written from the right, else ``ltr``.

    Examples
    --------
    >>> direction_of(["hello", "world"]), direction_of(["שלום", "2024"])
    ('ltr', 'rtl')
    """
    right = left = 0
    for word in words:
        for letter in word:
            kind = unicodedata.bidirectional(letter)
            right += kind in ("R", "AL")
            left += kind == "L"
    return "rtl" if right > left else "ltr"
