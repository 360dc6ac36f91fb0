"""Align, train and count beyond one machine, on Dask, with the very bytes that one machine gives.

The names below are loaded when they are first used; nothing outside this room imports Dask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names

if TYPE_CHECKING:
    from alignkit.cluster.addresses import ClusterError
    from alignkit.cluster.aligning import align
    from alignkit.cluster.counting import phrases
    from alignkit.cluster.parts import Part, find_parts
    from alignkit.cluster.pivots import pivot
    from alignkit.cluster.session import Session, open_session
    from alignkit.cluster.stages import Trained
    from alignkit.cluster.training import train

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

__getattr__, __dir__ = lazy_names(__name__)
