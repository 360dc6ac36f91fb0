"""Judge sentence pairs as wholes: the schemes of labels."""

from alignkit.labels.scheme import Flag, Judgment, Label, Scheme
from alignkit.labels.schemes import DEFAULT, REMARKS, SCHEMES, get_scheme

__all__ = [
    "DEFAULT",
    "REMARKS",
    "SCHEMES",
    "Flag",
    "Judgment",
    "Label",
    "Scheme",
    "get_scheme",
]
