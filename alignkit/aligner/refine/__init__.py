"""Refine what an aligner thinks of links, by what gold pairs teach.

The names below are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alignkit.aligner.refine.measures import OBJECTIVES
    from alignkit.aligner.refine.priors import Prior
    from alignkit.aligner.refine.refiner import Refiner
    from alignkit.aligner.refine.report import LearningReport

_HOMES = {
    "measures": ("OBJECTIVES",),
    "priors": ("Prior",),
    "refiner": ("Refiner",),
    "report": ("LearningReport",),
}

__all__ = ["OBJECTIVES", "LearningReport", "Prior", "Refiner"]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            found: object = getattr(import_module(f"alignkit.aligner.refine.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'alignkit.aligner.refine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
