"""Judge sentence pairs as wholes: the schemes of labels, and the views of them."""

from alignkit.labels.scheme import Flag, Judgment, Label, Scheme
from alignkit.labels.schemes import DEFAULT, REMARKS, SCHEMES, get_scheme
from alignkit.labels.views import View, get_view

__all__ = [
    "DEFAULT",
    "REMARKS",
    "SCHEMES",
    "Flag",
    "Judgment",
    "Label",
    "Scheme",
    "View",
    "get_scheme",
    "get_view",
]
