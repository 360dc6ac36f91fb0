"""Where the project is: its repository, and the site with the documentation."""

from __future__ import annotations

REPOSITORY = "https://github.com/alignkit/alignkit"
SITE = "https://alignkit.github.io/alignkit/latest/"


def page(name: str) -> str:
    """Return the address of a page of the documentation, named as in docs/ without its ending.

    Examples
    --------
    >>> page("start/install")
    'https://alignkit.github.io/alignkit/latest/start/install.html'
    """
    return f"{SITE}{name}.html"
