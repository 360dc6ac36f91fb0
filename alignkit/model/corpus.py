"""Corpora: ordered sentence pairs, by place, by id and by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, starmap
from typing import Any, Literal, Protocol, overload

from alignkit import errors
from alignkit._support import arguments
from alignkit._support.wording import brief_annotators, how_many
from alignkit.model import coercion
from alignkit.model.annotation import PERIODS, Annotation, period_of
from alignkit.model.labels import Scheme
from alignkit.model.records import RECORDS, annotation_records, link_records, pairs_of_records
from alignkit.model.roles import ROLES
from alignkit.model.sentence_pair import SentencePair, origin_of
from alignkit.model.texts import compared
from alignkit.tables.columns import Cell, Column
from alignkit.tables.table import Table

JUDGMENT = "judgment"  # a name that groups pairs like an attribute: by the judgment
TEXTS = "text on either side"
"""A name that keeps pairs together like an attribute: by the text of a side, in any case."""


class Frame(Protocol):
    """A data frame of pandas or Polars."""

    @property
    def columns(self) -> object:
        """The names of the columns."""


class Corpus:
    """An ordered collection of sentence pairs.

    Parameters
    ----------
    pairs : The sentence pairs.

    Notes
    -----
    If one pass is enough, do not make a corpus; iterate over `alignkit.iterate_pairs` instead. The
    bytes per pair: https://alignkit.github.io/alignkit/latest/formats/memory.html

    Examples
    --------
    >>> from alignkit.model.alignment import Alignment
    >>> pair = SentencePair("1", ("a",), ("b",), {"gold": Alignment.parse("0-0")},
    ...                     {"genre": "news"})
    >>> corpus = Corpus([pair])
    >>> len(corpus), corpus.annotators, corpus.groups("genre")
    (1, ('gold',), {'news': Corpus(1 pair, annotators: gold)})
    """

    __slots__ = ("_aligners", "_pairs", "_places")

    _aligners: tuple[str, ...]  # made when they are first asked for
    _places: dict[str, int]  # of each id; made when a pair is first asked for by its id

    def __init__(self, pairs: Iterable[SentencePair] = ()) -> None:
        self._pairs = tuple(arguments.every("pairs", pairs, SentencePair))

    @classmethod
    def from_texts(
        cls,
        source: Iterable[str | Iterable[str]],
        target: Iterable[str | Iterable[str]],
        /,
        *,
        ids: Iterable[str] | None = None,
        attributes: Mapping[str, Iterable[object]] | None = None,
        judgments: Mapping[str, Iterable[object]] | None = None,
        **annotations: Iterable[coercion.LinksLike],
    ) -> Corpus:
        """Make a corpus from sentences, their attributes, and annotations by name.

        Parameters
        ----------
        source, target : P sentences each: texts (split at white space) or sequences of words.
        ids : P ids of pairs; None numbers them from 1.
        attributes : For each name, P values, converted to text; None: the pair has no such
            attribute.
        judgments : For each annotator, P labels of whole pairs, converted to text; None: not
            judged.
        **annotations : For each annotator, P alignments: an `Alignment`, a text for
            `Alignment.parse` (``"0-0 1?1"``), or a set of links ``(i, j)``, which are sure. None:
            not annotated.

        Raises
        ------
        JoinError : If the lists differ in length; the message names the list.
        AlignmentError : If links cannot be read, or are outside a sentence; the message names the
            pair.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["a b"], ["c d"], gold=["0-0 1?1"], ben=[{(0, 0)}])
        >>> corpus["1"].alignment("ben")
        Alignment('0-0')
        >>> corpus = Corpus.from_texts(["a b"], ["c d"], attributes={"genre": ["news"]},
        ...                            judgments={"ann": ["paraphrase"]}, ann=["0-0"])
        >>> corpus["1"].attributes["genre"], corpus["1"].annotation("ann").judgment
        ('news', 'paraphrase')
        """
        known = annotations, attributes or {}, judgments or {}
        return cls(SentencePair(*row) for row in coercion.rows_of(source, target, ids, *known))

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, object]] | Iterable[Mapping[Hashable, object]],
        *,
        alignments: Sequence[str] = (),
        judgments: Sequence[str] = (),
    ) -> Corpus:
        """Make a corpus from dicts, such as the rows of a table.

        Parameters
        ----------
        records : A record with the key annotator is one annotation (or one link, if it also has i
            and j), as returned by `to_records`; its judgment may be called label. Records with the
            same id are one pair, and links alone give pairs without words. Any other record is one
            pair: id (None: its number, from 1), source and target (texts, split at white space, or
            sequences of words), and the keys named below. Other keys are attributes, as texts.
            None, NaN and NA are missing values, and so is an empty text as a judgment.
        alignments, judgments : Keys with the links, or the judgments, of the annotator with that
            name.

        Raises
        ------
        JoinError, OptionError : If records of one pair differ in words or attributes, an annotator
            annotated it twice, or links have no annotator.
        AlignmentError, ArgumentError, UnknownNameError : If links or words cannot be read, or no
            record has a named key.

        Examples
        --------
        >>> rows = [{"source": "a b", "target": "c d", "gold": "0-0 1?1", "genre": "news"}]
        >>> corpus = Corpus.from_records(rows, alignments=["gold"])
        >>> corpus, corpus.attributes
        (Corpus(1 pair, annotators: gold), ('genre',))
        >>> Corpus.from_records(corpus.to_records(each="annotation")) == corpus
        True
        """
        if hasattr(records, "columns"):
            raise errors.ArgumentError("records is a data frame; use from_dataframe")
        return cls(pairs_of_records(records, alignments, judgments))

    @classmethod
    def from_dataframe(
        cls, df: Frame, *, alignments: Sequence[str] = (), judgments: Sequence[str] = ()
    ) -> Corpus:
        """Make a corpus from the rows of a pandas or Polars DataFrame; see `from_records`.

        Parameters
        ----------
        df : A row for each sentence pair.
        alignments, judgments : As in `from_records`.

        Examples
        --------
        >>> import pandas as pd
        >>> df = pd.DataFrame({"source": ["a b"], "target": ["c d"], "gold": ["0-0"]})
        >>> Corpus.from_dataframe(df, alignments=["gold"])
        Corpus(1 pair, annotators: gold)

        Judgments, with a row each or a column for each annotator; empty cells are missing.

        >>> long = pd.DataFrame({"id": [1, 1], "annotator": ["anna", "ben"], "label": [3, 2]})
        >>> wide = pd.DataFrame({"id": [1, 2], "anna": [3, 0], "ben": [2, None]})
        >>> Corpus.from_dataframe(long).annotators
        ('anna', 'ben')
        >>> Corpus.from_dataframe(wide, judgments=["anna", "ben"])["1"].annotation("ben").judgment
        '2'
        """
        if not hasattr(df, "columns"):
            message = f"df is {arguments.kind_of(df)}; use a DataFrame, or from_records for dicts"
            raise errors.ArgumentError(message)
        frame: Any = df
        if hasattr(frame, "to_dicts"):
            rows = frame.to_dicts()
        else:
            rows = frame.to_dict("records")
        return cls.from_records(rows, alignments=alignments, judgments=judgments)

    @property
    def annotators(self) -> tuple[str, ...]:
        """The names with annotations, in the order of their first use."""
        return tuple(dict.fromkeys(name for pair in self._pairs for name in pair.annotations))

    @property
    def aligners(self) -> tuple[str, ...]:
        """The `annotators` who aligned at least one pair; others only judged."""
        try:
            return self._aligners
        except AttributeError:
            names = (name for pair in self._pairs for name in pair.alignments)
            self._aligners = tuple(dict.fromkeys(names))
            return self._aligners

    @property
    def roles(self) -> dict[str, str]:
        """The role of each of the `annotators`, see `alignkit.model.roles.ROLES`."""
        roles: dict[str, str] = {}
        for pair in self._pairs:
            for name, annotation in pair.annotations.items():
                roles[name] = roles.get(name) or annotation.role
        return {name: role or ROLES[0] for name, role in roles.items()}

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of attributes of pairs, in the order of their first use."""
        return tuple(dict.fromkeys(name for pair in self._pairs for name in pair.attributes))

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pairs, in order."""
        return tuple(pair.id for pair in self._pairs)

    def groups(
        self, attribute: str, *, split: str | None = None, annotators: Sequence[str] | None = None
    ) -> dict[str, Corpus]:
        """Split the corpus by the value of an attribute; pairs without it are under ``""``.

        Parameters
        ----------
        attribute : The name of the attribute; or ``"day"``, ``"week"``, ``"month"`` for the time of
            the annotation, see `group_text`.
        split : The separator of several values in one attribute, such as ``","``. A pair is then in
            the group of each value, so groups overlap. None takes the whole text.
        annotators : The annotators with times that count for day, week and month; None for all.

        Raises
        ------
        UnknownNameError : If no pair has the attribute.
        OptionError : If `split` is empty, or no annotation has a time for the day, week or month.

        Examples
        --------
        >>> genres = {"genre": ["news", "law"]}
        >>> corpus = Corpus.from_texts(["a", "b"], ["x", "y"], attributes=genres)
        >>> {genre: part.ids for genre, part in corpus.groups("genre").items()}
        {'news': ('1',), 'law': ('2',)}
        """
        groups, _ = places_by_value(group_texts(self._pairs, attribute, annotators), split)
        return {value: Corpus([self._pairs[k] for k in places]) for value, places in groups.items()}

    def require(self, *annotators: str) -> None:
        """Check that each name aligned at least one pair.

        Parameters
        ----------
        *annotators : The names.

        Raises
        ------
        UnknownNameError : If one did not; a `NotAlignedError` if it judged pairs.
        OptionError : If the corpus is empty.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", None])
        >>> corpus.require("gold")
        """
        known = self.aligners
        for name in annotators:
            arguments.check_kind("annotators", name, str)
            if name in known:
                continue
            if not self._pairs:
                raise errors.OptionError("the corpus is empty: it has no sentence pairs")
            if name in self.annotators:
                raise errors.NotAlignedError("pairs", name, known)
            raise errors.UnknownNameError("annotator", name, known)

    def annotated_by(self, *annotators: str) -> Corpus:
        """Return the pairs that all these annotators aligned; see `require`.

        Parameters
        ----------
        *annotators : The names.

        Raises
        ------
        UnknownNameError : If one of them aligned no pair.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", None])
        >>> corpus.annotated_by("gold").ids
        ('1',)
        """
        self.require(*annotators)
        return self.filter(lambda pair: pair.aligned_by(*annotators))

    def filter(self, keep: Callable[[SentencePair], bool]) -> Corpus:
        """Return a corpus of the pairs for which `keep` is true.

        Parameters
        ----------
        keep : A function of a sentence pair.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", None])
        >>> corpus.filter(lambda pair: len(pair.source) > 1).ids
        ('1',)
        """
        arguments.check_callable("keep", keep)
        return Corpus(pair for pair in self._pairs if keep(pair))

    def map(self, change: Callable[[SentencePair], SentencePair]) -> Corpus:
        """Return a corpus of the changed pairs.

        Parameters
        ----------
        change : A function that returns the new pair for a sentence pair.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", None])
        >>> corpus.map(lambda pair: pair.transpose())["1"].source
        ('he', 'went')
        """
        arguments.check_callable("change", change)
        return Corpus(map(change, self._pairs))

    def with_roles(self, roles: Mapping[str, str]) -> Corpus:
        """Return the corpus with other roles for some annotators; see `roles`.

        Parameters
        ----------
        roles : The new role of each annotator to change, one of `ROLES`.

        Raises
        ------
        UnknownNameError : If there is no annotator with this name, or no such role.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", None])
        >>> corpus.with_roles({"gold": "adjudicated"}).roles["gold"]
        'adjudicated'
        """
        arguments.check_kind("roles", roles, Mapping)
        for name, role in roles.items():
            arguments.check_known("annotator", name, self.annotators)
            arguments.check_known("role", role, ROLES)

        def changed(name: str, annotation: Annotation) -> tuple[str, Annotation]:
            """Give an annotation its role."""
            if name in roles:
                annotation = replace(annotation, role=roles[name])
            return name, annotation

        return self._annotated(changed)

    def rename(self, names: Mapping[str, str]) -> Corpus:
        """Return the corpus with new names for annotators, given as old name to new name.

        Annotations that started from an alignment name it by its new name.

        Parameters
        ----------
        names : The new name for each old one; annotators that it lacks keep theirs.

        Raises
        ------
        UnknownNameError : If there is no annotator with this name.
        OptionError : If two would have the same name.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", None])
        >>> corpus.rename({"gold": "anna"}).annotators
        ('anna',)
        """
        arguments.check_kind("names", names, Mapping)
        for name in names:
            arguments.check_known("annotator", name, self.annotators)
        after = Counter(names.get(name, name) for name in self.annotators)
        for name, count in after.items():
            if count > 1:
                message = f"two annotators would have the name {name!r}; choose another"
                raise errors.OptionError(message)

        def renamed(name: str, annotation: Annotation) -> tuple[str, Annotation]:
            """Give an annotation, and the one that it started from, their new names."""
            if annotation.start is not None and annotation.start in names:
                annotation = replace(annotation, start=names[annotation.start])
            return names.get(name, name), annotation

        return self._annotated(renamed)

    def _annotated(self, change: Callable[[str, Annotation], tuple[str, Annotation]]) -> Corpus:
        """Return the corpus with other names, or other annotations, in each pair."""

        def changed(pair: SentencePair) -> SentencePair:
            annotations = dict(starmap(change, pair.annotations.items()))
            return replace(pair, annotations=annotations)

        return self.map(changed)

    def transpose(
        self, scheme: Scheme | str | None = None, *, lenient_labels: bool = False
    ) -> Corpus:
        """Return the corpus with source and target exchanged; see `SentencePair.transpose`.

        Parameters
        ----------
        scheme, lenient_labels : As in `SentencePair.transpose`.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["he left", "rain"], ["he went", "rain"], gold=["0-0", None])
        >>> corpus.transpose()["1"].source
        ('he', 'went')
        """
        return self.map(lambda pair: pair.transpose(scheme, lenient_labels=lenient_labels))

    def to_records(
        self, *, each: Literal["link", "annotation"] = "link"
    ) -> list[dict[str, object]]:
        """Return flat dicts, for `pandas.DataFrame`.

        Parameters
        ----------
        each : ``"link"``, with the keys id, the attributes, annotator, i, j, sure, source and
            target (the two words, None if unknown), weight, label. Or ``"annotation"`` (with a
            record for a pair without annotations): id, source and target (the sentences), the
            attributes, annotator, links (an `Alignment`), and the other fields of `Annotation`;
            `from_records` makes the same corpus from these, except trees. These keys replace equal
            attributes.

        Examples
        --------
        >>> corpus = Corpus.from_texts(["a b"], ["x y"], gold=["0-0 1?1"])
        >>> corpus.to_records()[0]["id"]
        '1'
        """
        arguments.check_known("kind of record", each, RECORDS)
        if each == "link":
            return list(link_records(self._pairs))
        return list(annotation_records(self._pairs))

    def to_html(self, *, interlinear: bool = False, title: str = "Alignments") -> str:
        """Return a page in one file: matrices, or, `interlinear`, running text of both sides.

        Parameters
        ----------
        interlinear : Write running text of both sides; else a matrix for each pair.
        title : The heading of the page.

        Examples
        --------
        >>> Corpus.from_texts(["a"], ["b"], gold=["0-0"]).to_html(interlinear=True)[:15]
        '<!DOCTYPE html>'
        """
        from alignkit.show import draw_html, draw_interlinear

        draw = draw_interlinear if interlinear else draw_html
        return "".join(draw(self, title=title))

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[SentencePair]:
        return iter(self._pairs)

    def __contains__(self, pair: object) -> bool:
        if isinstance(pair, str):
            return pair in self._known
        return pair in self._pairs

    @overload
    def __getitem__(self, index: int | str) -> SentencePair: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: int | str | slice) -> SentencePair | Corpus:
        if isinstance(index, str):
            return self._pairs[self._place_of(index)]
        if isinstance(index, slice):
            return Corpus(self._pairs[index])
        if not hasattr(index, "__index__"):
            what = (
                f"index is {arguments.kind_of(index)}; use a place, an id or a slice; for "
                "several ids use alignkit.select_ids(corpus, ids)"
            )
            raise errors.ArgumentError(what)
        return self._pairs[arguments.place("index", index, len(self), "pairs")]

    def _place_of(self, id: str) -> int:
        """Return the place of the pair with this id."""
        place = self._known.get(id)
        if place is None:
            raise errors.UnknownIdError(id, self._known)
        if place < 0:
            places = [k for k, pair in enumerate(self._pairs) if pair.id == id]
            raise errors.RepeatedIdError(
                f"{len(places)} pairs have the id {id[:100]!r}; use the place, e.g. "
                f"corpus[{places[0]}]"
            )
        return place

    @property
    def _known(self) -> dict[str, int]:
        """The place of each id; -1 for ids that repeat."""
        try:
            return self._places
        except AttributeError:
            places: dict[str, int] = {}
            for k, pair in enumerate(self._pairs):
                places[pair.id] = -1 if pair.id in places else k
            self._places = places
            return places

    def __add__(self, other: Corpus) -> Corpus:
        if isinstance(other, Corpus):
            return Corpus(self._pairs + other._pairs)
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Corpus):
            return self._pairs == other._pairs
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._pairs)

    def __repr__(self) -> str:
        return f"Corpus({how_many(len(self), 'pair')}, {brief_annotators(self.annotators)})"

    def _repr_html_(self) -> str:
        return overview(self)._repr_html_()


def group_text(
    pair: SentencePair, attribute: str, annotators: Iterable[str] | None = None
) -> str | None:
    """Return the text by which a pair is grouped, or None."""
    text = pair.attributes.get(attribute)
    if text is not None or attribute not in (*PERIODS, JUDGMENT):
        return text
    names = pair.annotations if annotators is None else annotators
    annotations = {name: pair.annotations[name] for name in names if name in pair.annotations}
    if attribute in PERIODS:
        times = [annotation.when for annotation in annotations.values() if annotation.when]
        if times:
            return period_of(max(times), attribute)
        return None
    if origin_of(pair) is not None:
        return None
    judgments = {}
    for name in sorted(annotations):
        if judgment := annotations[name].judgment:
            judgments[name] = judgment
    if len(set(judgments.values())) > 1:
        return ", ".join(f"{name}: {judgment}" for name, judgment in judgments.items())
    return next(iter(judgments.values()), None)


def group_texts(
    pairs: Collection[SentencePair], attribute: str, annotators: Sequence[str] | None = None
) -> list[str]:
    """Return the `group_text` of each pair, ``""`` if it has none."""
    arguments.check_kind("attribute", attribute, str)
    names = None
    if annotators is not None:
        names = arguments.words("annotators", annotators)
    texts = [group_text(pair, attribute, names) for pair in pairs]
    if texts and all(text is None for text in texts):
        attributes = chain.from_iterable(pair.attributes for pair in pairs)
        raise no_group(attribute, dict.fromkeys(attributes))
    return [text or "" for text in texts]


def no_group(attribute: str, known: Iterable[str], what: str = "attribute") -> errors.AlignkitError:
    """Return the error that no pair has the attribute for grouping."""
    if attribute in PERIODS:
        return errors.OptionError(
            f"no annotation has a time, so there is no {attribute}; projects export times, "
            "and alignkit-jsonl and alignkit-xml keep them"
        )
    if attribute == JUDGMENT:
        return errors.OptionError("no pair is judged")
    return errors.UnknownNameError(what, attribute, known)


def values_of(text: str, split: str | None) -> tuple[str, ...]:
    """Return the different values in the text of an attribute, without surrounding spaces."""
    if split is None:
        return (text,)
    arguments.check_kind("split", split, str)
    if not split:
        raise errors.OptionError("the separator of values is empty; give a text such as ','")
    parts = (part.strip() for part in text.split(split))
    return tuple(dict.fromkeys(filter(None, parts))) or ("",)


def places_by_value(texts: Iterable[str], split: str | None) -> tuple[dict[str, list[int]], int]:
    """Return the places of the texts that have each value, and how many texts have several."""
    values_of("", split)  # refuses a wrong one
    places: dict[str, list[int]] = {}
    several = 0
    for place, text in enumerate(texts):
        values = values_of(text, split)
        several += len(values) > 1
        for value in values:
            places.setdefault(value, []).append(place)
    return places, several


def group_values(pair: SentencePair, attribute: str, separator: str | None) -> tuple[str, ...]:
    """Return the values that keep a pair together with others; see `compared`."""
    if attribute == TEXTS:
        texts = map(" ".join, compared_texts(pair, ignore_case=True) or ())
        return tuple(filter(None, texts))
    text = compared(group_text(pair, attribute) or "").strip()
    return tuple(filter(None, values_of(text, separator)))


def compared_texts(
    pair: SentencePair, *, ignore_case: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the words of both sides in the form for comparison; None without text."""
    if pair.source is None or pair.target is None:
        return None
    source = [compared(word, ignore_case=ignore_case) for word in pair.source]
    target = [compared(word, ignore_case=ignore_case) for word in pair.target]
    return tuple(source), tuple(target)


_ROWS = 20


def overview(corpus: Corpus) -> Table:
    """Return a table with a row for each of the first twenty annotators."""
    counts: dict[str, Counter[str]] = {}
    for pair in corpus:
        for name, annotation in pair.annotations.items():
            count = counts.setdefault(name, Counter())
            if annotation.alignment is None:
                count["judged only"] += 1
                continue
            _, is_sure = annotation.alignment.packed()
            sure = sum(is_sure)
            count["pairs"] += 1
            count["sure"] += sure
            count["possible"] += len(annotation.alignment) - sure
    names = ["pairs", "sure", "possible"]
    if any(count["judged only"] for count in counts.values()):
        names.append("judged only")
    columns = [Column("annotator"), *(Column(name, "count") for name in names)]
    rows: list[list[Cell]] = []
    for annotator, count in islice(counts.items(), _ROWS):
        rows.append([annotator, *(count[name] for name in names)])
    left = len(counts) - len(rows)
    note = f"and {left} more; alignkit.count_corpus counts all" if left else ""
    return Table(_contents(corpus), columns, rows, note)


def _contents(corpus: Corpus) -> str:
    """Return how many pairs and words a corpus has."""
    text = how_many(len(corpus), "sentence pair")
    bare = sum(not pair.has_text for pair in corpus)
    if bare == len(corpus):
        return f"{text}, words unknown" if bare else text
    source = sum(len(pair.source or ()) for pair in corpus)
    target = sum(len(pair.target or ()) for pair in corpus)
    text += f", {source} source and {target} target words"
    if bare:
        text += f" ({bare} pairs without words)"
    return text
