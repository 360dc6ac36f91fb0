"""Align, train and count beyond one machine, on Dask, with the very bytes that one machine gives.

The names below are loaded when they are first used; nothing outside this room imports Dask.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alignkit.cluster.addresses import ClusterError
    from alignkit.cluster.aligning import align
    from alignkit.cluster.counting import phrases
    from alignkit.cluster.parts import Part, find_parts
    from alignkit.cluster.pivots import pivot
    from alignkit.cluster.session import Session, open_session
    from alignkit.cluster.stages import Trained
    from alignkit.cluster.training import train

_HOMES = {
    "addresses": ("ClusterError",),
    "aligning": ("align",),
    "counting": ("phrases",),
    "pivots": ("pivot",),
    "parts": ("Part", "find_parts"),
    "session": ("Session", "open_session"),
    "stages": ("Trained",),
    "training": ("train",),
}

__all__ = [
    "ClusterError",
    "Part",
    "Session",
    "Trained",
    "align",
    "find_parts",
    "open_session",
    "phrases",
    "pivot",
    "train",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"alignkit.cluster.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'alignkit.cluster' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
