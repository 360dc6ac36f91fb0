"""The user's folder for what can be computed again."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def cache_home() -> str:
    """Return the user's cache folder, or ""; XDG ignores paths that are not absolute."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return named
    if os.name == "posix":
        home = os.environ.get("HOME", "")
    else:
        home = os.path.expanduser("~")
    if not os.path.isabs(home) and os.name == "posix":
        import pwd

        with suppress(KeyError):  # the user has no entry
            home = pwd.getpwuid(os.getuid()).pw_dir
    return os.path.join(home, ".cache") if os.path.isabs(home) else ""


def cache_folder() -> Path | None:
    """Return alignkit's own folder in the user's cache folder; None without one."""
    home = cache_home()
    return Path(home, "alignkit") if home else None
