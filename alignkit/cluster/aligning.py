"""Align the parts of a corpus with a saved model; each part has its own output."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from alignkit._support.arguments import check_arguments
from alignkit.align.encoder.encoding_counts import EncodingCounts
from alignkit.align.known_words import KnownWords
from alignkit.align.model_files import check_head
from alignkit.align.settings import LONGEST_PIECE, Symmetrization
from alignkit.cluster.connecting import open_session
from alignkit.cluster.encoding import PartEncoder, counts_from
from alignkit.cluster.part_facts import check_parts, digest_of, inputs_of, refuse_long, text_facts
from alignkit.cluster.part_outputs import LinkOutput, PartOutputs
from alignkit.cluster.parts import Part, find_parts
from alignkit.cluster.run import Done, running
from alignkit.cluster.session import Connection, OnProgress, Session, Task
from alignkit.errors import AlignerError, OptionError
from alignkit.io.atomic_files import apart, replacing, replacing_bytes
from alignkit.io.options import ReadOptions

if TYPE_CHECKING:
    from alignkit.align.aligner import Aligner
    from alignkit.align.bitext import Bitext
    from alignkit.align.decoders import AlignedLinks
    from alignkit.align.encoder.transformer import Encoder


@dataclass(frozen=True)
class _AligningPlan:
    """What all tasks of a run share."""

    how: LinkOutput
    model: str  # its file
    digest: str  # of the file, when the run began
    learned: bool  # whether to use the refinement from gold links
    encoder: PartEncoder | Literal[False] | None  # as of `Aligner.load`
    reading: ReadOptions
    threads: int | None  # of a task

    def contents(self, inputs: Mapping[str, str], outputs: Iterable[str]) -> dict[str, Any]:
        """Return what the run is about: another one cannot continue it."""
        settings = {**vars(self.how), "learned": self.learned, "encoding": self.reading.encoding}
        if self.encoder:
            settings["encoder"] = [self.encoder.used.digest, self.encoder.used.layer]
        return {
            "command": "align",
            "model": self.digest,
            "settings": settings,
            "inputs": inputs,
            "outputs": list(map(os.path.abspath, outputs)),
        }


_PROGRAM = 230_000_000  # bytes of Python, its libraries, the kernels, and some thousand lines
_UNPACKED = 3  # times the file of a model
_SMALLER = "train a smaller model with `prune`"


@dataclass(frozen=True)
class Aligned:
    """The numbers of aligned pairs, words and links, and what the model knows.

    `calibrated` says whether the probabilities of links are; see `Aligner.calibrated`.
    """

    pairs: int = 0
    empty: int = 0
    cut: int = 0
    source_words: int = 0
    target_words: int = 0
    links: int = 0
    sure: int = 0
    known_words: KnownWords = field(default_factory=KnownWords)
    encoding: EncodingCounts | None = None  # what the encoder did, if there is one
    calibrated: bool = False


def align(
    client: Connection,
    source: str,
    target: str,
    output: str,
    *,
    model: str,
    scores: str | None = None,
    symmetrize: Symmetrization = "posterior",
    threshold: float | None = None,
    sure: float | None = None,
    probabilities: bool = False,
    encoder: Encoder | str | os.PathLike[str] | Literal[False] | None = None,
    work: str | None = None,
    wait: float | None = None,
    progress: OnProgress | None = None,
) -> Aligned:
    """Align the parts of a corpus with a saved model.

    Parameters
    ----------
    client : A Dask client, an address as in `open_session`, or None for only this process.
    source, target, output : Paths with one ``*``, for the same text in all: the words, and the
        links in Pharaoh format.
    model : The file of a trained model.
    scores : A path like `output`, for the log-likelihoods of both directions.
    symmetrize, threshold, sure, probabilities : Which links to write, as in `Aligner.align_bitext`;
        whether to add their probabilities.
    encoder : As in `Aligner.load`, a folder that all workers see; a function cannot be sent to
        them.
    work : A folder for temporary files; None: one next to the output, removed at the end.
    wait : Seconds to wait for workers; as in `open_session`.
    progress : Called with the amount done, the total, and a description.

    Raises
    ------
    AlignkitError : If something cannot be read, written, or computed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from alignkit import Aligner
    >>> aligner = Aligner.train([("das haus", "the house"), ("das buch", "the book")])
    >>> with TemporaryDirectory() as folder:
    ...     model, german, english, links = (str(Path(folder, name)) for name in "mget")
    ...     aligner.save(model)
    ...     _ = Path(german).write_text("das buch", "utf-8")
    ...     _ = Path(english).write_text("the book", "utf-8")
    ...     align(None, german, english, links, model=model).links
    2
    """
    check_arguments(align, locals())
    with open_session(client, wait=wait) as session:
        parts = find_parts(source, target)
        how = LinkOutput(symmetrize, threshold, sure, probabilities)
        outputs = PartOutputs(output, scores, how)
        return align_parts(
            session, parts, model, outputs, encoder=encoder, work=work, progress=progress
        )


def align_parts(
    session: Session,
    parts: Sequence[Part],
    model: str,
    outputs: PartOutputs,
    *,
    learned: bool = True,
    encoder: Encoder | str | os.PathLike[str] | Literal[False] | None = None,
    reading: ReadOptions | None = None,
    threads: int | None = None,
    work: str | None = None,
    progress: OnProgress | None = None,
) -> Aligned:
    """Align parts in a session; see `align`. `learned`: use the refinement from gold links."""
    reading = reading or ReadOptions()
    outputs.check(parts, None, model)
    digest = digest_of(model)
    opened: PartEncoder | Literal[False] | None = None
    if encoder is None or encoder is False:
        opened = encoder
    else:
        opened = PartEncoder.of(encoder, session, threads)
    aligner = load_model(model, digest, learned, opened)  # now, to refuse a file that is no model
    beside = outputs.links or ""
    parts = [part.called(session.path) for part in parts]
    outputs = outputs.called(session.path)
    files = outputs.files(parts)
    plan = _AligningPlan(
        how=outputs.how,
        model=session.path(model),
        digest=digest,
        learned=learned,
        encoder=opened,
        reading=reading,
        threads=threads or session.threads,
    )
    with running(work, beside) as run:
        run.try_workers(session)
        find = partial(text_facts, options=reading)
        facts = check_parts(session, parts, find, run=run, progress=progress)
        run.settle(plan.contents(inputs_of(parts, facts), outputs.paths(parts)))
        memory = memory_of(plan.model) + (opened.memory if opened else 0)
        tasks = {}
        for k in sorted(range(len(parts)), key=lambda k: -facts[k].words):
            part = parts[k]
            tasks[part.key] = Task(str(part), (part.paths, files[k], plan), memory, _SMALLER)
        words = {part.key: fact.words for part, fact in zip(parts, facts, strict=True)}
        done: list[str] = []

        def report(key: str) -> None:
            done.append(key)
            if progress is not None:
                aligned = sum(words[key] for key in done)
                text = f"{len(done):,} of {len(parts):,} parts aligned"
                progress(aligned, sum(words.values()), text)

        with outputs.naming_written(parts):
            values = run.do(session, "aligned", _align_part, tasks, report)
    return _added(values.values(), aligner.calibrated)


def _added(values: Iterable[dict[str, Any]], calibrated: bool) -> Aligned:
    """Add up the values of the tasks."""
    total: Counter[str] = Counter()
    known_words = KnownWords()
    encoding: EncodingCounts | None = None
    for numbers in values:
        known_words += KnownWords(**numbers.pop("known_words", {}))
        if "encoding" in numbers:
            encoding = (encoding or EncodingCounts()) + counts_from(numbers.pop("encoding"))
        total.update(numbers)
    return Aligned(**total, known_words=known_words, encoding=encoding, calibrated=calibrated)


def memory_of(model: str) -> int:
    """Return about how many bytes it takes to align a part."""
    return _PROGRAM + _UNPACKED * check_head(model)


def _align_part(paths: Sequence[str], outputs: tuple[str, str | None], plan: _AligningPlan) -> Done:
    """Align a part, some lines at a time; the value of the task has the fields of `Aligned`."""
    from alignkit.align.numbered_texts import lines_of, numbered, score_lines
    from alignkit.io.link_lines import format_lines

    aligner = load_model(plan.model, plan.digest, plan.learned, plan.encoder)
    casefold = aligner.parameters.casefold
    written = aligner.encoder is not None
    how = plan.how
    reading = plan.reading
    threads = plan.threads
    links_path, scores_path = outputs
    # the aligner is kept from part to part, and counts what its encoder did in all of them
    before = replace(aligner.encoding) if aligner.encoding is not None else None
    total: Counter[str] = Counter()
    known = KnownWords()
    with apart(), ExitStack() as stack:
        out = stack.enter_context(replacing_bytes(links_path))
        scores = None
        if scores_path is not None:
            scores = stack.enter_context(replacing(scores_path))
        for lines in lines_of(list(paths), reading, format=None, whole=False):
            bitext = numbered(lines, casefold=casefold, threads=threads, written=written)
            for side, path in ((bitext.source, paths[0]), (bitext.target, paths[-1])):
                refuse_long(side.lengths.tolist(), lines.first, path, reading)
            links = aligner.align_bitext(
                bitext,
                symmetrize=how.symmetrize,
                threshold=how.threshold,
                sure=how.sure,
                threads=threads,
            )
            known += aligner.known_words(bitext)
            weights = links.probabilities if how.probabilities else None
            out.write(format_lines(links.arrays, probabilities=weights))
            if scores is not None:
                scores.write(score_lines(aligner.scores(bitext, threads=threads)))
            total.update(_numbers_of(bitext, links))
    numbers = {**total, "known_words": asdict(known)}
    if before is not None and aligner.encoding is not None:
        numbers["encoding"] = asdict(aligner.encoding - before)
    return Done(numbers, [path for path in outputs if path is not None])


def _numbers_of(bitext: Bitext, links: AlignedLinks) -> dict[str, int]:
    """Return the numbers of some aligned pairs, by the fields of `Aligned`."""
    source = bitext.source.lengths
    target = bitext.target.lengths
    cut = (source > LONGEST_PIECE) | (target > LONGEST_PIECE)
    return {
        "pairs": len(source),
        "empty": bitext.empty,
        "cut": int(cut.sum()),
        "source_words": int(source.sum()),
        "target_words": int(target.sum()),
        "links": len(links.arrays.links),
        "sure": int(links.arrays.sure.sum()),
    }


@lru_cache(maxsize=1)
def load_model(
    path: str, digest: str, learned: bool, encoder: PartEncoder | Literal[False] | None = None
) -> Aligner:
    """Return the aligner of a model file; it is kept for the next part."""
    from alignkit.align.aligner import Aligner

    if digest_of(path) != digest:
        raise AlignerError(f"{path}: is not the model with which this run began")
    opened = encoder.encoder() if isinstance(encoder, PartEncoder) else encoder
    aligner = Aligner.load(path, encoder=opened)
    refinement = aligner.parameters.learned
    if learned and refinement is not None and refinement.lessons.evidence:
        raise OptionError(
            f"{path}: was learned with evidence of other systems, which parts cannot have; "
            "add --no-learned to align without what was learned"
        )
    if learned:
        return aligner
    return aligner.with_learned(None)
