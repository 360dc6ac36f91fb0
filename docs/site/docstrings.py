"""Read docstrings that put a parameter and its description on one line, and add options."""

import re
from importlib import import_module
from inspect import getdoc, signature

import griffe

COMPACT = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (?=[^a-z])", re.MULTILINE)


class Compact(griffe.Extension):
    """Put the description below the name, where numpydoc expects it."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrite the docstring of an object."""
        if isinstance(obj, griffe.Function):
            decorators = [str(each.value) for each in obj.decorators]
            if any(text.startswith("takes(") for text in decorators):
                _add_options(obj)
        if obj.docstring:
            obj.docstring.value = COMPACT.sub(r"\1\n    ", obj.docstring.value)


def _add_options(function: griffe.Function) -> None:
    """Give a function the parameters that `takes` makes of the options."""
    module, _, name = function.path.rpartition(".")
    made = getattr(import_module(module), name)
    function.docstring.value = getdoc(made)
    parameters = []
    for each in signature(made).parameters.values():
        default = None if each.default is each.empty else repr(each.default)
        kind = griffe.ParameterKind(each.kind.description)
        parameters.append(
            griffe.Parameter(each.name, annotation=each.annotation, kind=kind, default=default)
        )
    function.parameters = griffe.Parameters(*parameters)
