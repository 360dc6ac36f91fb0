"""Read docstrings that put a parameter and its description on one line."""

import re

import griffe

COMPACT = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (?=[^a-z])", re.MULTILINE)


class Compact(griffe.Extension):
    """Put the description below the name, where numpydoc expects it."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = COMPACT.sub(r"\1\n    ", obj.docstring.value)
