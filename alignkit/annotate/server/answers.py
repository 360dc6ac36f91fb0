"""Put together what the page gets of a project and of a pair."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from alignkit.formats import FORMATS
from alignkit.labels import DEFAULT, REMARKS, get_scheme

if TYPE_CHECKING:
    from alignkit.annotate.server.opening import Progress
    from alignkit.annotate.store import Store
    from alignkit.annotate.tables.views import PairView

__all__ = ["direction_of", "pair_answer", "project_answer"]

_LANGUAGES = ("source_language", "target_language")


def project_answer(store: Store, annotator: str, progress: Progress | None) -> dict[str, Any]:
    """Return what the page learns when it begins."""
    info = store.project()
    done, pairs = store.progress(annotator)
    return {
        "name": info.name,
        "key": info.key,
        "annotator": annotator,
        "n": info.n,
        "pairs": pairs,
        "done": done,
        "threshold": info.threshold,
        "scheme": _scheme(info.scheme),
        "suggestions": info.suggestions or None,
        "formats": [{"value": key, "name": f"{key}: {about}"} for key, about in FORMATS.items()],
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


def pair_answer(view: PairView, *, preparing: bool) -> bytes:
    """Return a pair as JSON, with the directions of its sides and what else the page asks."""
    more: dict[str, Any] = {
        key: view.attributes[key] for key in _LANGUAGES if key in view.attributes
    }
    more["direction"] = {
        "source": direction_of(view.source),
        "target": direction_of(view.target),
    }
    more["preparing"] = preparing
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
