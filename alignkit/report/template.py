"""Load the templates of pages: what they print is escaped, and shows its hidden characters."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from alignkit.visible import visible

if TYPE_CHECKING:
    from jinja2 import Template


def page_template(name: str, **functions: Callable[..., Any]) -> Template:
    """Load a template that lies in this package."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        """Let no hidden character of a name act; what is HTML already stays."""
        return value if isinstance(value, Markup) else visible(str(value))

    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=shown)
    environment.filters["markup"] = Markup
    environment.filters["table"] = lambda table: Markup(table.show("html"))
    environment.filters.update(functions)
    environment.globals.update(functions)
    return environment.from_string(page_file(name))


def page_file(name: str) -> str:
    """Return the text of a file of this package."""
    return files("alignkit.report").joinpath(name).read_text(encoding="utf-8")
