"""Say what to install where a command needs more than the core of alignkit."""

from __future__ import annotations

from importlib.util import find_spec

from alignkit.errors import AlignkitError

__all__ = ["require_extra"]

_NEEDS = {"annotate": ("sqlalchemy", "msgspec")}


def require_extra(name: str) -> None:
    """Refuse to go on where the packages of an extra are missing.

    Raises
    ------
    AlignkitError
        If one is; the message says what to type.
    """
    missing = [package for package in _NEEDS[name] if find_spec(package) is None]
    if missing:
        raise AlignkitError(
            f"this needs {' and '.join(missing)}; type: pip install 'alignkit[{name}]'"
        )
