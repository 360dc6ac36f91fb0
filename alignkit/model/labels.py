"""Judgments of whole sentence pairs: the schemes of labels, and their views.

A view maps the judgments of a scheme to fewer labels. Every scheme has the view `full`, which keeps
every label with all its flags. The other views of turku:

- `base+subsumption`: without the flags i and s;
- `base`: without any flag;
- `binary`: 1 and 2 are not paraphrases (``0``), 3 and 4 are (``1``);
- `strict`: i becomes 2; ``<``, ``>`` and s become 3, since rephrasing keeps meaning and style;
- `retrieval`: without i and s; ``<`` and ``>`` become one label, ``4<>``.

In `binary` of parade and parade-votes, 2 and 3 are paraphrases; of paraphrase, only that label.

A scheme of one's own (`get_scheme`) is a range of whole numbers (``0-3``), a list of labels
(``no,partly,yes``), or an object as `Scheme.to_json` returns it. Its only view is `full`.

References
----------
Kanerva et al. (2021), Finnish Paraphrase Corpus, NoDaLiDa: `turku`.

He, Wang, Zhang, Huang & Caverlee (2020), PARADE: A New Dataset for Paraphrase Identification
Requiring Computer Science Domain Knowledge, EMNLP: `parade`, `parade-votes`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

from alignkit._support.arguments import check_kind, check_known, words
from alignkit._support.values import FrozenMap
from alignkit.errors import FileError, FormatError, OptionError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a scheme."""

    value: str  # what files hold
    name: str  # what a page shows
    about: str  # what it means, in a sentence


@dataclass(frozen=True, slots=True)
class Flag:
    """A short mark next to a label."""

    value: str  # these three as of a label
    name: str
    about: str
    on: tuple[str, ...] = ()  # the labels that it may stand on; empty: all, and no label at all
    excludes: tuple[str, ...] = ()  # the flags that it cannot stand beside


class Judgment(NamedTuple):
    """A parsed judgment: its label, and its flags in the order of the scheme."""

    label: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme of judgments of whole sentence pairs.

    The text of a judgment in `alignkit.Annotation` is its label followed by its flags, in the order
    of the scheme: ``4<i``.
    """

    name: str  # in the table of schemes
    about: str  # what is judged
    labels: tuple[Label, ...]  # all of them, used or not
    order: tuple[str, ...] | None = None  # from low to high, of those values that have an order
    flags: tuple[Flag, ...] = ()  # those that are written behind the label
    source: str = ""  # where the scheme comes from; empty for alignkit's own
    exchanged: tuple[tuple[str, str], ...] = ()  # labels or flags that change places, see `flip`
    unscored: tuple[str, ...] = ()  # labels of skipped pairs: they are counted, and never scored
    views: tuple[str, ...] = ("full",)  # the names of its views; see `get_view`

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the labels."""
        return tuple(label.value for label in self.labels)

    @property
    def text(self) -> str:
        """What `get_scheme` makes the same scheme from: its name or, if necessary, JSON."""
        if self.name in SCHEMES or self._is_listed():
            return self.name
        from json import dumps

        return dumps(self.to_json(), ensure_ascii=False)

    def _is_listed(self) -> bool:
        """Return whether the name alone, a range or a list of labels, makes the scheme."""
        try:
            return _listed_scheme(self.name) == self
        except OptionError:  # the name of a scheme from JSON, such as 0-500, which is no list
            return False

    def to_json(self) -> dict[str, Any]:
        """Return the scheme for JSON, without its views; `get_scheme` and ``--scheme`` read it."""
        record = asdict(self)
        del record["views"]
        return record

    def as_nominal(self) -> Scheme:
        """Return the same labels without their order."""
        if self.order is None:
            return self
        if self.name in SCHEMES:
            raise OptionError(
                f"the labels of {self.name} have an order in each of its views: `nominal` is for a "
                "scheme of your own"
            )
        name = self.name
        if self._is_listed():
            name = _NOMINAL + ",".join(self.values)
        return replace(self, name=name, order=None)

    @property
    def judgments(self) -> tuple[str, ...]:
        """Every possible judgment: each label, alone and with all combinations of flags."""
        names = [flag.value for flag in self.flags]
        judgments = []
        for label in self.values:
            for size in range(len(names) + 1):
                choices = combinations(names, size)
                fitting = [flags for flags in choices if self._fits(label, flags)]
                judgments += [label + "".join(flags) for flags in fitting]
        return tuple(judgments)

    @property
    def expected(self) -> str:
        """A description of valid judgments, for errors."""
        parts = [f"one of {', '.join(self.values)}"]
        for places in dict.fromkeys(flag.on for flag in self.flags):
            names = [flag.value for flag in self.flags if flag.on == places]
            where = f"only on {', '.join(places)}" if places else "on any"
            parts.append(f"then flags {where}, in this order: {', '.join(names)}")
        for flag, other in combinations(self.flags, 2):
            if other.value in flag.excludes or flag.value in other.excludes:
                parts.append(f"{flag.value} and {other.value} exclude each other")
        return "; ".join(parts)

    def parse(self, text: str, path: str = "", line: int | None = None) -> Judgment:
        """Parse the text of a judgment: ``4<i`` is the label 4 with the flags < and i."""
        check_kind("text", text, str)
        for label in filter(text.startswith, self.values):
            rest = text.removeprefix(label)
            flags = []
            for flag in self.flags:
                if rest.startswith(flag.value):
                    rest = rest.removeprefix(flag.value)
                    flags.append(flag.value)
            if not rest and self._fits(label, flags):
                return Judgment(label, tuple(flags))
        raise self._refusal(text, path, line)

    def canonical(self, label: str, flags: Iterable[str] = ()) -> str:
        """Return a judgment as text: ``4>s`` for 4, s and ``>``."""
        check_kind("label", label, str)
        chosen = set(words("flags", flags))
        known = [flag.value for flag in self.flags if flag.value in chosen]
        strange = sorted(chosen - set(known))
        if label not in self.values or strange or not self._fits(label, known):
            raise self._refusal(label + "".join(known + strange))
        return label + "".join(known)

    def flip(self, judgment: str) -> str:
        """Return the judgment for exchanged source and target: ``4<i`` for ``4>i``."""
        other = dict(self.exchanged) | {second: first for first, second in self.exchanged}
        label, flags = self.parse(judgment)
        flipped_flags = [other.get(flag, flag) for flag in flags]
        return self.canonical(other.get(label, label), flipped_flags)

    def take_apart(self, judgment: str, flags: Iterable[str] = ()) -> Judgment:
        """Return the label and all flags of an annotation, as separate choices on a page."""
        beside = tuple(sorted(words("flags", flags)))
        try:
            label, within = self.parse(judgment)
        except FormatError:
            return Judgment(judgment, beside)
        return Judgment(label, within + tuple(flag for flag in beside if flag not in within))

    def put_together(self, label: str, flags: Iterable[str] = ()) -> tuple[str, frozenset[str]]:
        """Return judgment and flags of an annotation; flags that do not fit stay separate."""
        chosen = frozenset(words("flags", flags))
        within = chosen & {flag.value for flag in self.flags}
        try:
            return self.canonical(label, within), chosen - within
        except FormatError:
            return label, chosen

    def _fits(self, label: str, flags: Sequence[str]) -> bool:
        """Return whether all these flags may stand on a label, and beside each other."""
        for flag in self.flags:
            if flag.value not in flags:
                continue
            if flag.on and label not in flag.on:
                return False
            if not set(flag.excludes).isdisjoint(flags):
                return False
        return True

    def _refusal(self, text: str, path: str = "", line: int | None = None) -> FormatError:
        """Return the error for a text that is no judgment of the scheme."""
        message = f"{text[:40]!r} is not a judgment of {self.name}; expected {self.expected}"
        return FormatError(message, path, line)


DEFAULT = "paraphrase"

REMARKS = (
    Flag("unsure", "Unsure", "The annotator doubts the judgment or the links."),
    Flag("typing-error", "Typing error", "A word is misspelt, missing or doubled."),
    Flag("bad-split", "Bad split", "The words or the sentences are divided at a wrong place."),
)
"""Flags that can be used with any judgment or none; they are not part of its text."""

_SCHEMES = (
    Scheme(
        "paraphrase",
        "Whether the two sentences say the same thing; for translations, whether one translates "
        "the other.",
        (
            Label(
                "paraphrase", "Paraphrase", "Both say the same, in other words or another language."
            ),
            Label("partial", "Partly", "They share the main message, but one says more, or other."),
            Label("none", "Not one", "They do not say the same, however alike they look."),
        ),
        order=("none", "partial", "paraphrase"),
        views=("full", "binary"),
    ),
    Scheme(
        "turku",
        "How close two texts are in meaning: the labels of the Turku Paraphrase Corpus.",
        (
            Label("1", "1 unrelated", "The texts have nothing to do with each other."),
            Label("2", "2 related", "They are about the same, but are no paraphrases."),
            Label("3", "3 in context", "Paraphrases where they stand, but not in general."),
            Label("4", "4 paraphrase", "Paraphrases in every context, or nearly every one."),
            Label("x", "x skip", "Not judged, for example because a text is broken."),
        ),
        order=("1", "2", "3", "4"),
        flags=(
            Flag("<", "< first more general", "Text 1 says less than text 2.", ("4",), (">",)),
            Flag(">", "> second more general", "Text 2 says less than text 1.", ("4",), ("<",)),
            Flag("i", "i minor deviation", "They differ in a small thing, as in number.", ("4",)),
            Flag("s", "s style", "They differ in tone or style.", ("4",)),
        ),
        source="Kanerva et al. 2021",
        exchanged=(("<", ">"),),
        unscored=("x",),
        views=("full", "base+subsumption", "base", "binary", "strict", "retrieval"),
    ),
    Scheme(
        "parade",
        "How close two definitions are in meaning, in four grades; 2 and 3 count as paraphrases.",
        (
            Label("0", "0", "The lowest grade: no paraphrase at all."),
            Label("1", "1", "Low: counts as no paraphrase."),
            Label("2", "2", "High: counts as a paraphrase."),
            Label("3", "3", "The highest grade: a full paraphrase."),
        ),
        order=("0", "1", "2", "3"),
        source="He et al. 2020, the paper",
        views=("full", "binary"),
    ),
    Scheme(
        "parade-votes",
        "How many of three experts called two definitions paraphrases; 2 and 3 are a majority.",
        (
            Label("0", "0 of 3", "No expert calls them paraphrases."),
            Label("1", "1 of 3", "One expert calls them paraphrases."),
            Label("2", "2 of 3", "Two experts call them paraphrases."),
            Label("3", "3 of 3", "All three experts call them paraphrases."),
        ),
        order=("0", "1", "2", "3"),
        source="He et al. 2020, the data",
        views=("full", "binary"),
    ),
    Scheme(
        "binary",
        "Whether two texts are paraphrases.",
        (
            Label("0", "No paraphrase", "They do not say the same."),
            Label("1", "Paraphrase", "They say the same."),
        ),
        order=("0", "1"),
        views=("full", "binary"),
    ),
    Scheme(
        "rank",
        "The rank of a text among several for the same source; equal ranks are allowed.",
        (
            Label("1", "1 best", "The best of the texts, or equal to it."),
            Label("2", "2", "The second."),
            Label("3", "3", "The third."),
            Label("4", "4", "The fourth."),
            Label("5", "5", "The fifth."),
        ),
        order=("5", "4", "3", "2", "1"),
        source="Meier et al. 2024",
        views=("full", "best"),
    ),
    Scheme(
        "entailment",
        "What follows from what: whether one sentence must be true if the other one is true.",
        (
            Label("equivalence", "Equivalence", "Each follows from the other."),
            Label(
                "forward", "Forward", "The target follows from the source, but not the other way."
            ),
            Label(
                "reverse", "Reverse", "The source follows from the target, but not the other way."
            ),
            Label("contradiction", "Contradiction", "They cannot both be true."),
            Label("neutral", "Neutral", "Neither follows from the other, nor excludes it."),
        ),
        exchanged=(("forward", "reverse"),),
    ),
)

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in _SCHEMES}
"""All schemes by name; `DEFAULT` is the default of the annotation page."""


OWN = "or your own: 0-3, no,partly,yes (low to high), nominal:a,b,c (no order), a JSON file"
"""What a scheme may be besides a name of `SCHEMES`, for messages and help."""

_NOMINAL = "nominal:"
_RANGE = re.compile(r"(-?[0-9]{1,4})-(-?[0-9]{1,4})")
_MOST_LABELS = 101  # as of 0-100
_LONGEST_LABEL = 60
_MOST_CHARACTERS = 1_000_000  # of a file with a scheme
_WHAT_LABELS = f"labels are different texts of 1 to {_LONGEST_LABEL} characters in one line"


def get_scheme(name: str = DEFAULT) -> Scheme:
    """Return a scheme: one of `SCHEMES` by its name, or one's own.

    Parameters
    ----------
    name : A name; or a range of whole numbers; or labels from low to high, separated by commas; or
        JSON as `Scheme.to_json` returns it. ``nominal:`` before a range or labels: without order.

    Raises
    ------
    UnknownNameError : If there is no such scheme.
    OptionError : If labels or JSON are not valid.

    Examples
    --------
    >>> get_scheme("0-3").order
    ('0', '1', '2', '3')
    >>> get_scheme("no,partly,yes").values, get_scheme("nominal:no,partly,yes").order
    (('no', 'partly', 'yes'), None)
    """
    check_kind("scheme", name, str)
    if name.lstrip().startswith("{"):
        return _scheme_of_json(name)
    own = _listed_scheme(name)
    if own is not None:
        return own
    if name not in SCHEMES:
        raise UnknownNameError("scheme", name, [*SCHEMES, OWN])
    return SCHEMES[name]


def open_scheme(name: str | os.PathLike[str]) -> Scheme:
    """Return a scheme, see `get_scheme`, or the one in a JSON file.

    Raises
    ------
    FormatError : If the file is no scheme. A `FileError` if it cannot be read.
    """
    path = os.fspath(name)
    is_text = path in SCHEMES or path.lstrip().startswith("{")
    if is_text or not (path.endswith(".json") or os.path.isfile(path)):
        return get_scheme(path)
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read(_MOST_CHARACTERS + 1)
    except OSError as problem:
        raise FileError.of(problem, path) from None
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8; expected a scheme as JSON", path) from None
    if len(text) > _MOST_CHARACTERS:
        raise FormatError(f"has more than {_MOST_CHARACTERS:,} characters; is it a scheme?", path)
    try:
        return _scheme_of_json(text)
    except OptionError as error:
        raise FormatError(str(error), path) from None


def _listed_scheme(text: str) -> Scheme | None:
    """Return the scheme of a range or a list of labels; None for any other text."""
    listed = text.removeprefix(_NOMINAL)
    ends = _RANGE.fullmatch(listed)
    if ends is not None:
        first = int(ends[1])
        last = int(ends[2])
        step = 1 if first < last else -1
        if abs(last - first) >= _MOST_LABELS:
            raise OptionError(f"the scheme {text} has more than {_MOST_LABELS} labels")
        values = tuple(map(str, range(first, last + step, step)))
    elif "," in listed:
        values = tuple(label.strip() for label in listed.split(","))
        listed = ",".join(values)
    else:
        return None
    ordered = not text.startswith(_NOMINAL)
    labels = tuple(Label(value, value, "") for value in values)
    _check_labels(labels)
    return Scheme(
        listed if ordered else _NOMINAL + ",".join(values),
        "The labels that this project chose.",
        labels,
        order=values if ordered else None,
    )


def _scheme_of_json(text: str) -> Scheme:
    """Return the scheme that a JSON object describes, as `Scheme.to_json` returns it."""
    from json import loads

    try:
        record = loads(text)
    except (ValueError, RecursionError) as problem:
        raise OptionError(f"the scheme is not valid JSON ({problem})") from None
    if not isinstance(record, dict) or "labels" not in record:
        raise OptionError('a scheme is a JSON object with "name" and "labels", a list')
    record.pop("views", None)
    known = ("name", "about", "labels", "order", "flags", "source", "exchanged", "unscored")
    for key in record:
        check_known("key of a scheme", key, known)
    try:
        labels = tuple(_label_of(label) for label in record["labels"])
        unscored = _texts(record.get("unscored", ()))
        scored = tuple(label.value for label in labels if label.value not in unscored)
        order = record.get("order", scored)
        scheme = Scheme(
            _text(record.get("name", "own")),
            _text(record.get("about", "")),
            labels,
            order=None if order is None else _texts(order),
            flags=tuple(_flag_of(flag) for flag in record.get("flags", ())),
            source=_text(record.get("source", "")),
            exchanged=tuple(_couple(couple) for couple in record.get("exchanged", ())),
            unscored=unscored,
        )
    except (TypeError, ValueError, KeyError, AttributeError):
        raise OptionError(
            "a scheme has texts, lists of texts, labels and flags (with value, name, about), as "
            "Scheme.to_json writes them"
        ) from None
    return _checked(scheme)


def _checked(scheme: Scheme) -> Scheme:
    """Return a scheme that was read; refuse labels, an order or a name that cannot be."""
    if scheme.name in SCHEMES:
        if replace(scheme, views=SCHEMES[scheme.name].views) != SCHEMES[scheme.name]:
            raise OptionError(f"{scheme.name} is a scheme of alignkit: give yours another name")
        return SCHEMES[scheme.name]
    _check_labels(scheme.labels)
    flags = [flag.value for flag in scheme.flags]
    if not all(flags) or len(flags) > len(set(flags)):
        raise OptionError("the flags of a scheme are different texts, not empty")
    values = set(scheme.values)
    strange = [label for label in (*(scheme.order or ()), *scheme.unscored) if label not in values]
    if strange:
        raise OptionError(f"{strange[0]!r} in the order or unscored is no label of the scheme")
    scored = values - set(scheme.unscored)
    if scheme.order is not None and sorted(scheme.order) != sorted(scored):
        raise OptionError(
            "the order of a scheme has each of its scored labels once, from low to high; for "
            "labels without an order, it is null"
        )
    known = {*values, *flags}
    for couple in scheme.exchanged:
        for name in couple:
            check_known("label or flag to exchange", name, sorted(known))
    return scheme


def _check_labels(labels: Sequence[Label]) -> None:
    """Refuse fewer than two labels, too many, equal ones, and texts that are no labels."""
    values = [label.value for label in labels]
    for value in values:
        fits = 0 < len(value) <= _LONGEST_LABEL and value == value.strip()
        if not fits or not value.isprintable():
            raise OptionError(f"{value[:_LONGEST_LABEL]!r} is no label: {_WHAT_LABELS}")
        if values.count(value) > 1:
            raise OptionError(f"the label {value!r} is twice in the scheme: {_WHAT_LABELS}")
    if not 1 < len(values) <= _MOST_LABELS:
        raise OptionError(f"a scheme has 2 to {_MOST_LABELS} labels, not {len(values)}")


def _text(value: object) -> str:
    """Return a text of a JSON object; other values are an error."""
    if not isinstance(value, str):
        raise TypeError
    return value


def _texts(values: Any) -> tuple[str, ...]:
    """Return the texts of a list in a JSON object; other values are an error."""
    if isinstance(values, str):
        raise TypeError
    return tuple(map(_text, values))


def _couple(values: Any) -> tuple[str, str]:
    """Return two labels or flags that change places."""
    first, second = _texts(values)
    return first, second


def _label_of(value: Any) -> Label:
    """Return a label of a JSON object: its text, or an object with value, name and about."""
    if isinstance(value, str):
        return Label(value, value, "")
    text = _text(value["value"])
    return Label(text, _text(value.get("name", text)), _text(value.get("about", "")))


def _flag_of(value: Mapping[str, Any]) -> Flag:
    """Return a flag of a JSON object."""
    texts = _label_of(value)
    places = _texts(value.get("on", ()))
    return Flag(texts.value, texts.name, texts.about, places, _texts(value.get("excludes", ())))


@dataclass(frozen=True, slots=True)
class View:
    """A mapping of the judgments of a scheme to labels."""

    name: str
    labels: tuple[str, ...]  # all of them, used or not
    order: tuple[str, ...] | None  # from low to high; None where they have no order, or only some
    scheme: Scheme
    rows: FrozenMap[str, str | None]  # of each judgment the label; None where it is not scored

    def of(self, judgment: str) -> str | None:
        """Return the label of a judgment; None if it is not scored, such as ``x`` of turku."""
        if judgment not in self.rows:
            self.scheme.parse(judgment)  # says what is wrong with it
        return self.rows[judgment]


def get_view(scheme: Scheme | str, name: str = "full") -> View:
    """Return a view of a scheme."""
    if isinstance(scheme, str):
        scheme = get_scheme(scheme)
    check_kind("scheme", scheme, Scheme)
    check_kind("name", name, str)
    rule, ranked = _RULES.get((scheme.name, name), (None, ""))
    if name not in scheme.views or (rule is None and name != "full"):
        raise UnknownNameError(f"view of {scheme.name}", name, scheme.views)
    rows: dict[str, str | None] = {}
    for judgment in scheme.judgments:
        parsed = scheme.parse(judgment)
        if parsed.label in scheme.unscored:
            rows[judgment] = None
        elif rule is None:
            rows[judgment] = judgment
        else:
            rows[judgment] = rule(parsed)
    if rule is None and not scheme.flags:
        order = scheme.order
    else:
        order = tuple(ranked.split()) or None
    labels = tuple(dict.fromkeys(label for label in rows.values() if label is not None))
    return View(name, order or labels, order, scheme, FrozenMap(rows))


def _subsumption(judgment: Judgment) -> str:
    """Return the label with its flags ``<`` and ``>``."""
    return judgment.label + "".join(flag for flag in judgment.flags if flag in "<>")


def _base(judgment: Judgment) -> str:
    """Return the label without flags."""
    return judgment.label


def _retrieval(judgment: Judgment) -> str:
    """Return the label without flags; one label for both directions of subsumption."""
    if {"<", ">"} & set(judgment.flags):
        return "4<>"
    return judgment.label


def _strict(judgment: Judgment) -> str:
    """Return the label; flags make a 4 a 2 or a 3."""
    if "i" in judgment.flags:
        return "2"
    if {"<", ">", "s"} & set(judgment.flags):
        return "3"
    return judgment.label


def _any_of(*labels: str) -> Callable[[Judgment], str]:
    """Return a rule: 1 for these labels, 0 for all others."""
    return lambda judgment: str(int(judgment.label in labels))


_RULES: dict[tuple[str, str], tuple[Callable[[Judgment], str], str]] = {
    ("turku", "base+subsumption"): (_subsumption, ""),
    ("turku", "base"): (_base, "1 2 3 4"),
    ("turku", "binary"): (_any_of("3", "4"), "0 1"),
    ("turku", "strict"): (_strict, "1 2 3 4"),
    ("turku", "retrieval"): (_retrieval, "1 2 3 4<> 4"),
    ("parade", "binary"): (_any_of("2", "3"), "0 1"),
    ("parade-votes", "binary"): (_any_of("2", "3"), "0 1"),
    ("binary", "binary"): (_any_of("1"), "0 1"),
    ("rank", "best"): (_any_of("1"), "0 1"),
    ("paraphrase", "binary"): (_any_of("paraphrase"), "0 1"),
}
"""The label of a judgment, and the labels from low to high if ordered, by scheme and view."""
