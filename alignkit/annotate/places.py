"""Where projects live: beside their corpus, and that of the samples."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from alignkit.annotate.errors import ProjectError
from alignkit.errors import OptionError


def own_folder() -> Path:
    """Return the folder of the user's data, made where there is none."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    else:
        named = os.environ.get("XDG_DATA_HOME", "")
        base = named if os.path.isabs(named) else os.path.join(home, ".local", "share")
    folder = Path(base) / "alignkit"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise OptionError(
            f"{folder}: cannot be made: {problem.strerror}; say by --project where to work"
        ) from None
    return folder


def project_beside(path: str) -> str:
    """Return where the project of a corpus is: in the same folder, its name with ``.alignkit``."""
    if path == "-":
        raise ProjectError("a corpus from standard input has no place; name one by --project")
    return path.rstrip("/" + os.sep) + ".alignkit"
