"""The database of a lab."""

from __future__ import annotations


class LabDatabase:
    """The connections to a lab's database, and the clock."""
