"""Tell the user when the first run compiles the kernels."""

from __future__ import annotations

from alignkit.cli.messages import say

__all__ = ["announce"]


def announce(*, spare_scipy: bool = False) -> None:
    """Say, once and only if so, that kernels are being compiled.

    With `spare_scipy`, numba is loaded without it; see `alignkit.jit.load_without_scipy`.
    """
    from alignkit.jit import announce_compilation, load_without_scipy

    if spare_scipy:
        load_without_scipy()
    announce_compilation(_tell)


def _tell() -> None:
    from alignkit.kernel_cache import can_keep

    then = "they are kept for later runs"
    if not can_keep():
        then = "no folder was found to keep them in: name one of yours in XDG_CACHE_HOME"
    say(f"compiling kernels; {then}")
