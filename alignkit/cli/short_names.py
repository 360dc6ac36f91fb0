"""Call files by short names that tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return for each of some different paths as little of it as tells it from the others.

    The last parts of all paths, as many as that takes; without the endings where these are not
    needed. Where that is not enough, the paths stay as they are.

    Examples
    --------
    >>> short_names(["out/eflomal.align", "out/fast_align.align"])
    {'out/eflomal.align': 'eflomal', 'out/fast_align.align': 'fast_align'}
    >>> list(short_names(["a/x.align", "b/x.align", "c/y.wa"]).values())
    ['a/x', 'b/x', 'c/y']
    >>> list(short_names(["a/x.align", "a/x.wa"]).values())
    ['x.align', 'x.wa']
    """
    pure = [PurePath(path) for path in paths]
    for count in range(1, max((len(path.parts) for path in pure), default=0) + 1):
        named = ["/".join(path.parts[-count:]) for path in pure]
        plain = [
            name[: len(name) - len(path.suffix)] if path.suffix else name
            for name, path in zip(named, pure, strict=True)
        ]
        for short in (plain, named):
            if len(set(short)) == len(paths) and all(short):
                return dict(zip(paths, short, strict=True))
    return {path: path for path in paths}
