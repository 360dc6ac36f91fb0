"""The bodies of replies: a project, a pair, a concordance, and a download."""

from __future__ import annotations

import re
import shutil
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from contextvars import Context
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from alignkit.annotate.exporting import exported_work
from alignkit.annotate.project import conversion, pair_lists, queries
from alignkit.annotate.project.names import ADJUDICATOR, NO_SCHEME, Visitor
from alignkit.annotate.project.store import Store
from alignkit.annotate.training_answers import TrainingSummary, TrainingTurn, summary
from alignkit.io.format import losses_in_words
from alignkit.io.formats import WRITTEN, get_format
from alignkit.io.reading import write_corpus
from alignkit.model.alignment import SIDES, Alignment
from alignkit.model.labels import DEFAULT, REMARKS, Flag, Label, get_scheme
from alignkit.model.sentence_pair import SentencePair

if TYPE_CHECKING:
    from alignkit.annotate.adjudication.gold_view import GoldView
    from alignkit.annotate.server.opening import OpeningProgress

_ENDINGS = {
    "alignkit-xml": ".xml",
    "alignkit-jsonl": ".jsonl",
    "jsonl": ".jsonl",
    "paraphrase-xml": ".xml",
    "ugarit-xml": ".xml",
    "pharaoh": ".align",
    "naacl": ".wa",
    "ists": ".wa",
    "giza": ".A3",
    "rte": ".A3",
    "multimwa": ".tsv",
    "xlwa": ".tsv",
    "one-line": ".txt",
    "jacana": ".json",
    "edinburgh": ".json",
    "alpheios": ".json",
    "scripture": ".json",
    "pud": ".json",
}
"""The endings of downloaded files; other formats are folders, or have endings of their own."""
_LANGUAGES = ("source_language", "target_language")


class SchemeChoices(Struct):
    """What annotators can say of a pair."""

    name: str
    labels: tuple[Label, ...]
    flags: tuple[Flag, ...]


class ProjectAnswer(Struct):
    """The first data for a page."""

    name: str
    key: str
    annotator: str
    role: str
    at: str  # where the page's pairs are: pairs, or gold
    box: str  # the name of the page's outbox
    task: str
    n: int
    pairs: int
    done: int
    threshold: float
    doubt: float
    scheme: SchemeChoices
    formats: list[dict[str, str]]
    preparing: dict[str, Any] | None  # text and share, while suggestions are made
    training: TrainingSummary | None  # what the annotator has to pass first


def project_answer(
    store: Store, visitor: Visitor, progress: OpeningProgress | None
) -> ProjectAnswer:
    """Return the first data for the page; for an adjudicator the numbers are those of gold."""
    info = store.project()
    decides = visitor.role == ADJUDICATOR
    name = info.gold if decides else visitor.name
    done = 0
    pairs = info.pairs
    if name in info.annotators:
        done, pairs = store.progress(name, everything=decides)
    to_pass = None
    if name in info.annotators and not decides:
        with store.reading() as conn:
            to_pass = summary(conn, name)
    box = f"alignkit:{info.key}:{visitor.name}"
    if decides:
        box += ":adjudicator"
    return ProjectAnswer(
        name=info.name,
        key=info.key,
        annotator=visitor.name,
        role=visitor.role,
        at="gold" if decides else "pairs",
        box=box,
        task=info.task,
        n=info.n,
        pairs=pairs,
        done=done,
        threshold=info.threshold,
        doubt=info.doubt,
        scheme=_scheme_choices(info.scheme),
        formats=[{"value": key, "name": f"{key}: {about}"} for key, about in WRITTEN.items()],
        preparing=None if progress is None else progress._asdict(),
        training=to_pass,
    )


def _scheme_choices(name: str) -> SchemeChoices:
    """Return what the page offers for judging a pair."""
    if name == NO_SCHEME:
        return SchemeChoices(name, (), ())
    scheme = get_scheme(name or DEFAULT)
    return SchemeChoices(scheme.name, scheme.labels, (*scheme.flags, *REMARKS))


def turn_answer(turn: TrainingTurn) -> bytes:
    """Return a training pair as JSON; its document is as `pair_answer` makes it."""
    pair = turn.pair
    if pair is None:
        return msgspec.json.encode(turn)
    document = msgspec.Raw(pair_answer(pair))
    return msgspec.json.encode(msgspec.structs.asdict(turn) | {"pair": document})


def pair_answer(view: queries.PairView | GoldView, **more: Any) -> bytes:
    """Return a pair as JSON, with the directions of its sides and more values."""
    more |= {key: view.attributes[key] for key in _LANGUAGES if key in view.attributes}
    more["direction"] = {"source": direction_of(view.source), "target": direction_of(view.target)}
    return msgspec.json.encode(view)[:-1] + b"," + msgspec.json.encode(more)[1:]


def direction_of(words: Iterable[str]) -> str:
    """Return ``rtl`` if most letters belong to right-to-left scripts, else ``ltr``."""
    kinds = Counter(map(unicodedata.bidirectional, "".join(words)))
    return "rtl" if kinds["R"] + kinds["AL"] > kinds["L"] else "ltr"


_MOST_PAIRS = 2000  # that are searched
_MOST_WORDS = 100_000
_MOST_LINES = 100  # that are sent


class OwnConcordance(Struct):
    """The counterparts of a word in somebody's pairs, its lines, and how many are left out."""

    counterparts: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    total: int
    not_annotated: int
    not_searched: int


def own_concordance(
    store: Store, name: str, word: str, side: Literal["source", "target"]
) -> OwnConcordance:
    """Return the counterparts of a word in somebody's pairs, lines, and how many are left out."""
    from alignkit.corpora.concordance import concordance  # seldom asked

    with store.reading() as conn:
        account = queries.account_of(conn, name)
        searched = pair_lists.PairList(conn, account).queue(0, _MOST_PAIRS, word)
        ids = {row.k: row.id for row in searched.pairs}
        # a pair without words comes first: without links, too, the concordance knows the annotator
        pairs = [SentencePair("0", (), (), {name: Alignment()})]
        words = 0
        for k in ids:
            own = pair_lists.own_pair(conn, k, name)
            row = own.pair
            words += len(row.source) + len(row.target)
            if words > _MOST_WORDS:
                break
            annotations = {}
            annotation = conversion.annotation_of(own.stream.state)
            if annotation is not None:
                annotations[name] = annotation
            pairs.append(SentencePair(str(k), row.source, row.target, annotations))
    result = concordance(pairs, word, side=side, ignore_case=True, context=4)
    counterparts, lines = (table.to_records() for table in result.tables())
    for line in lines:
        k = int(str(line["id"]))
        line["k"] = k
        line["id"] = ids[k]
    return OwnConcordance(
        counterparts,
        lines[:_MOST_LINES],
        total=len(lines),
        not_annotated=sum(result.left_out.values()),
        not_searched=searched.total - (len(pairs) - 1),
    )


class Download(NamedTuple):
    """An open file, the name to save it under, and its type."""

    file: IO[bytes]
    name: str
    kind: str


def download(store: Store, annotator: str, format: str) -> Download:
    """Write the work of an annotator so far, on all their pairs."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{store.project().name}-{annotator}").strip("-.")
    pairs = exported_work(store, annotator=annotator, assigned=True)
    return packed(pairs, format, stem[:80] or "export")


def file_name(stem: str, format: str) -> str:
    """Return the name of the file in which a format is downloaded."""
    return stem + _ENDINGS.get(format, "")


def text_name(stem: str, side: str) -> str:
    """Return the name of the file in which the words of a side are downloaded."""
    return f"{stem}.{side}.txt"


def packed(
    pairs: Iterable[SentencePair], format: str, stem: str, more: Mapping[str, Iterable[str]] = {}
) -> Download:
    """Write pairs in a format, and more files by their names; several come in an archive."""
    texts: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        root = Path(folder) / "out"
        root.mkdir()
        if get_format(format).text_beside:
            for side in SIDES:
                texts[side] = str(root / text_name(stem, side))
        out = root / file_name(stem, format)
        alone = Context()  # no part of what the command itself writes, which waits for its end
        lost = alone.run(write_corpus, pairs, str(out), format=format, **texts)
        if lost:
            note = [f"Format {format} cannot represent:", *losses_in_words(lost)]
            (root / "NOT-EXPORTED.txt").write_text("\n".join((*note, "")), encoding="utf-8")
        for name, lines in more.items():
            with (root / name).open("w", encoding="utf-8") as file:
                file.writelines(lines)
        return pack(root, stem)


def pack(root: Path, stem: str) -> Download:
    """Return the file in a folder, or an archive of all that is in it."""
    file = TemporaryFile()  # noqa: SIM115 - it outlives the folder
    places = sorted(path for path in root.rglob("*") if path.is_file())
    if len(places) == 1 and places[0].parent == root:
        with places[0].open("rb") as source:
            shutil.copyfileobj(source, file)
        name = places[0].name
        kind = "application/octet-stream"
    else:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for place in places:
                archive.write(place, place.relative_to(root))
        name = f"{stem}.zip"
        kind = "application/zip"
    file.seek(0)
    return Download(file, name, kind)
