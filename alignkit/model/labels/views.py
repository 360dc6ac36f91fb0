"""Look at the judgments of a scheme more or less closely: a view maps them to fewer labels.

`full` keeps every label with all its flags, and every scheme has it. The others of turku:

- `base+subsumption`: without the flags i and s;
- `base`: without any flag;
- `binary`: 1 and 2 are no paraphrases (``0``), 3 and 4 are (``1``);
- `strict`: i as 2, ``<`` and ``>`` as 3, of two the lower; s is dropped;
- `retrieval`: without i and s, ``<`` and ``>`` as one label, ``4<>``.

`binary` of parade and parade-votes: 2 and 3 are paraphrases; of paraphrase: only that label.

References
----------
Kanerva et al. (2021), Finnish Paraphrase Corpus, NoDaLiDa; He et al. (2020), PARADE, EMNLP.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from alignkit._support.arguments import check_kind
from alignkit._support.values import FrozenMap
from alignkit.errors import UnknownNameError
from alignkit.model.labels.schemes import Judgment, Scheme, get_scheme


@dataclass(frozen=True, slots=True)
class View:
    """A way to look at the judgments of a scheme.

    Parameters
    ----------
    name
        The name.
    labels
        All labels of the view, used or not.
    order
        The labels from low to high; None where they have no order, or only some of them.
    scheme
        The scheme whose judgments are looked at.
    rows
        For each judgment of the scheme the label of the view; None where it is not scored.
    """

    name: str
    labels: tuple[str, ...]
    order: tuple[str, ...] | None
    scheme: Scheme
    rows: FrozenMap[str, str | None]

    def of(self, judgment: str) -> str | None:
        """Return the label of a judgment; None where it is not scored, such as ``x`` of turku.

        Examples
        --------
        >>> view = get_view("turku", "strict")
        >>> view.of("4<"), view.of("4<i"), view.of("4s"), view.of("x")
        ('3', '2', '4', None)
        """
        if judgment not in self.rows:
            self.scheme.parse(judgment)  # says what is wrong with it
        return self.rows[judgment]


def get_view(scheme: Scheme | str, name: str = "full") -> View:
    """Return a view of a scheme.

    Examples
    --------
    >>> get_view("turku", "base+subsumption").labels
    ('1', '2', '3', '4', '4<', '4>')
    >>> get_view("turku", "retrieval").order
    ('1', '2', '3', '4<>', '4')
    """
    if isinstance(scheme, str):
        scheme = get_scheme(scheme)
    check_kind("scheme", scheme, Scheme)
    check_kind("name", name, str)
    rule, order = _RULES.get((scheme.name, name), (None, None))
    if name not in scheme.views or (rule is None and name != "full"):
        raise UnknownNameError(f"view of {scheme.name}", name, scheme.views)
    rows: dict[str, str | None] = {}
    for judgment in scheme.judgments:
        apart = scheme.parse(judgment)
        scored = apart.label not in scheme.unscored
        rows[judgment] = (rule(apart) if rule else judgment) if scored else None
    if rule is None and not scheme.flags:
        order = scheme.order
    labels = tuple(dict.fromkeys(label for label in rows.values() if label is not None))
    return View(name, order if order else labels, order, scheme, FrozenMap(rows))


def _without_deviation(judgment: Judgment) -> str:
    return judgment.label + "".join(flag for flag in judgment.flags if flag in "<>")


def _base(judgment: Judgment) -> str:
    return judgment.label


def _strict(judgment: Judgment) -> str:
    if "i" in judgment.flags:
        return "2"
    return "3" if {"<", ">"} & set(judgment.flags) else judgment.label


def _retrieval(judgment: Judgment) -> str:
    return "4<>" if {"<", ">"} & set(judgment.flags) else judgment.label


def _one_of(*labels: str) -> Callable[[Judgment], str]:
    return lambda judgment: str(int(judgment.label in labels))


_Order = tuple[str, ...]
_BINARY = ("0", "1")
_RULES: dict[tuple[str, str], tuple[Callable[[Judgment], str], _Order | None]] = {
    ("turku", "base+subsumption"): (_without_deviation, None),
    ("turku", "base"): (_base, ("1", "2", "3", "4")),
    ("turku", "binary"): (_one_of("3", "4"), _BINARY),
    ("turku", "strict"): (_strict, ("1", "2", "3", "4")),
    ("turku", "retrieval"): (_retrieval, ("1", "2", "3", "4<>", "4")),
    ("parade", "binary"): (_one_of("2", "3"), _BINARY),
    ("parade-votes", "binary"): (_one_of("2", "3"), _BINARY),
    ("binary", "binary"): (_one_of("1"), _BINARY),
    ("paraphrase", "binary"): (_one_of("paraphrase"), _BINARY),
}
