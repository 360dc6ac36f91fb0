"""Align the words of sentence pairs.

The names below are loaded when they are first used: options can be shown without any kernel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alignkit.aligner.aligner import Aligner
    from alignkit.aligner.bitext import Bitext, Side
    from alignkit.aligner.decoding import AlignedLinks
    from alignkit.aligner.parameters import Round
    from alignkit.aligner.refine import Refiner
    from alignkit.aligner.settings import INFERENCES, MODELS, SYMMETRIZATIONS, THRESHOLD, Settings

_HOMES = {
    "aligner": ("Aligner",),
    "bitext": ("Bitext", "Side"),
    "decoding": ("AlignedLinks",),
    "parameters": ("Round",),
    "refine": ("Refiner",),
    "settings": ("INFERENCES", "MODELS", "SYMMETRIZATIONS", "THRESHOLD", "Settings"),
}

__all__ = [
    "INFERENCES",
    "MODELS",
    "SYMMETRIZATIONS",
    "THRESHOLD",
    "AlignedLinks",
    "Aligner",
    "Bitext",
    "Refiner",
    "Round",
    "Settings",
    "Side",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            found: object = getattr(import_module(f"alignkit.aligner.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'alignkit.aligner' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
