"""Open the page in the user's browser without telling the token to others on the machine."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import webbrowser
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from alignkit.annotate.places import own_folder
from alignkit.errors import AlignkitError

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={url}">
<title>alignkit</title>
<p><a href="{url}">Go to the annotation page</a></p>
"""


def open_browser(url: str, *, wait: float = 0.0) -> None:
    """Open a page in the user's browser, if there is one that can be seen.

    Notes
    -----
    The command line of a browser can be read by everybody on the machine, and the token in `url`
    lets in who comes first. So the browser is given a file that only the user may read.
    """
    seen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform not in ("win32", "darwin", "cygwin") and not seen:
        return  # a browser in the terminal cannot show the page
    with contextlib.suppress(AlignkitError, OSError):  # the URL is printed anyway
        page = _written(own_folder() / f"open-{urlsplit(url).port}.html", url)
        thread = threading.Thread(target=_browse, args=[page.as_uri()], daemon=True)
        thread.start()
        thread.join(wait)


def _written(path: Path, url: str) -> Path:
    path.unlink(missing_ok=True)  # of an earlier run, whose token is void
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(number, "w", encoding="utf-8") as stream:
        stream.write(_PAGE.format(url=escape(url)))
    return path


def _browse(page: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(page)
