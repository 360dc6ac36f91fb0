"""Remember which inputs the command that runs has opened, to say where something stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from alignkit.formats import ReadOptions


class Opened(NamedTuple):
    """An input that was opened: its path, its format, and what was declared of it."""

    path: str
    format: str
    options: ReadOptions


_inputs: list[Opened] = []


def remember(path: str, format: str, options: ReadOptions) -> None:
    """Remember an input."""
    _inputs.append(Opened(path, format, options))


def opened() -> list[Opened]:
    """Return the inputs that were opened, each once, in their order."""
    return list({one.path: one for one in _inputs}.values())


def forget() -> None:
    """Forget them: a command begins."""
    _inputs.clear()
