"""Say on what a benchmark runs."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

__all__ = ["load", "machine"]


def machine(packages: Iterable[str]) -> str:
    """Name the machine, Python, those of the packages that are installed, and the load."""
    versions = ", ".join(filter(None, map(_versioned, packages)))
    python = f"{platform.python_implementation()} {platform.python_version()}"
    where = f"{os.cpu_count()} CPUs, {platform.system()} {platform.machine()}"
    return f"{where}, {python}, {versions}; load before: {load()}"


def _versioned(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def load() -> str:
    """Return the load of the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
