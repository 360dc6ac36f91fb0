"""Hold the version, the only number that a release changes."""

from __future__ import annotations

__version__ = "0.1.0"
