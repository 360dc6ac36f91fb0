"""Tell the user when the first run compiles the kernels."""

from __future__ import annotations

import sys

__all__ = ["announce"]


def announce() -> None:
    """Say, once and only if so, that kernels are being compiled."""
    from alignkit.jit import announce_compilation

    announce_compilation(_tell)


def _tell() -> None:
    print("alignkit: compiling kernels; this happens once", file=sys.stderr, flush=True)
