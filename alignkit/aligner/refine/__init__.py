"""Refine what an aligner thinks of links, by what gold pairs teach.

The names below are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from alignkit.lazy import lazy_names

if TYPE_CHECKING:
    from alignkit.aligner.refine.measures import OBJECTIVES
    from alignkit.aligner.refine.priors import Prior
    from alignkit.aligner.refine.refiner import Refiner
    from alignkit.aligner.refine.report import LearningReport

__all__ = ["OBJECTIVES", "LearningReport", "Prior", "Refiner"]

__getattr__, __dir__ = lazy_names(__name__)
