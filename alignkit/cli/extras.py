"""Say what to install where a command needs more than the core of alignkit."""

from __future__ import annotations

from importlib.util import find_spec

from alignkit.errors import AlignkitError

_NEEDS = {"annotate": ("sqlalchemy", "msgspec")}
"""What every command that needs the extra needs of it."""


def require_extra(name: str, *more: str) -> None:
    """Refuse to go on where packages of an extra are missing; `more` names those of one command."""
    missing = [package for package in (*_NEEDS[name], *more) if find_spec(package) is None]
    if missing:
        raise AlignkitError(
            f"this needs more libraries ({', '.join(missing)}); type: "
            f"pip install 'alignkit[{name}]'"
        )
