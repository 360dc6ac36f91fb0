"""Align the words of sentence pairs.

The names below are loaded when they are first used: options can be shown without any kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names

if TYPE_CHECKING:
    from alignkit.aligner.aligner import Aligner
    from alignkit.aligner.bitext import Bitext, Side
    from alignkit.aligner.decoding import AlignedLinks
    from alignkit.aligner.parameters import Round
    from alignkit.aligner.refine import Refiner
    from alignkit.aligner.settings import INFERENCES, MODELS, SYMMETRIZATIONS, THRESHOLD, Settings

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

__getattr__, __dir__ = lazy_names(__name__)
