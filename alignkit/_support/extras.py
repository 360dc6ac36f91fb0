"""What to say if the libraries of an extra are missing, and the command that installs them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_PROJECT = Path(__file__).parent.parent.parent


def missing_libraries(user: str, libraries: Sequence[str], extra: str) -> str:
    """Return the message that something ("a cluster") needs libraries, which an extra brings."""
    more = "one more library" if len(libraries) == 1 else "more libraries"
    return f"{user} needs {more} ({', '.join(libraries)}); run: {install_command(extra)}"


def install_command(extra: str) -> str:
    """Return the command that adds an extra, such as ``annotate``, in the way that alignkit came.

    That is by pip, uv or pipx, from the package index, a file, or the folder of the sources.
    """
    source = _source()
    wanted = f'"{source.place}[{extra}]"'  # quotes of all shells, those of Windows too
    if source.editable:
        wanted = f"-e {wanted}"
    if Path(sys.prefix, "uv-receipt.toml").is_file():
        return f"uv tool install {wanted}"
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return f"pipx install --force {wanted}"
    if source.installer == "uv":
        return f"uv pip install{_uv_target()} {wanted}"
    return f"{_pip()} install {wanted}"


class _Source(NamedTuple):
    """What alignkit was installed from: a name or a path for pip, and by which program."""

    place: str
    editable: bool
    installer: str


def _source() -> _Source:
    """Find out what alignkit was installed from."""
    if (_PROJECT / "setup.cfg").is_file():
        return _Source(str(_PROJECT), True, _installer())
    written = _written("direct_url.json")
    file = _file(json.loads(written)["url"]) if written else ""
    return _Source(file or "alignkit", False, _installer())


def _file(url: str) -> str:
    """Return the path of a URL; empty if there is no such file or folder."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(url)
    path = url2pathname(parts.path)
    return path if parts.scheme == "file" and os.path.exists(path) else ""


def _installer() -> str:
    """Return the name of the program that installed alignkit, such as pip or uv."""
    return _written("INSTALLER").strip()


def _written(name: str) -> str:
    """Return what the installation says in a file of its metadata; empty without it."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution("alignkit").read_text(name) or ""
    except PackageNotFoundError:
        return ""


def _pip() -> str:
    """Return pip's name: short if the first pip on PATH is that of this Python."""
    first = shutil.which("pip")
    if first is not None and os.path.dirname(first) == os.path.dirname(sys.executable):
        return "pip"
    return f"{_quoted(sys.executable)} -m pip"


def _uv_target() -> str:
    """Return the option with this Python, which uv needs outside an active environment."""
    if os.environ.get("VIRTUAL_ENV") == sys.prefix:
        return ""
    return f" --python {_quoted(sys.executable)}"


def _quoted(path: str) -> str:
    """Return a path as a word of a shell."""
    if os.name == "nt":
        return f'"{path}"' if " " in path else path
    return shlex.quote(path)
