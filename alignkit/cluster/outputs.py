"""Write the links of the parts that a training was of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from alignkit.aligner.decoding import decode, likelihoods_by
from alignkit.aligner.pieces import Pieces
from alignkit.aligner.settings import THRESHOLD
from alignkit.cluster.parts import Part, one_file, outputs_of, refuse_replacing
from alignkit.cluster.plan import Plan
from alignkit.cluster.run import FileState, state_of
from alignkit.cluster.steps import decoder_of, workers_of
from alignkit.formats.pharaoh_lines import format_lines
from alignkit.output import WriteError, apart, replacing, replacing_bytes
from alignkit.texts import score_lines


@dataclass(frozen=True)
class Links:
    """Which links are written; see `Aligner.align_bitext`."""

    symmetrize: str = "posterior"
    threshold: float | None = None
    sure: float | None = None
    probabilities: bool = False


@dataclass(frozen=True)
class Outputs:
    """What is written of each part."""

    links: str | None = None
    scores: str | None = None
    how: Links = Links()  # which links

    @property
    def some(self) -> bool:
        """Whether anything is written."""
        return self.links is not None or self.scores is not None

    def called(self, name: Callable[[str], str]) -> Outputs:
        """Return them with other names."""
        links, scores = (path and name(path) for path in (self.links, self.scores))
        return replace(self, links=links, scores=scores)

    def files(self, parts: Sequence[Part]) -> list[tuple[str | None, str | None]]:
        """Return where links and scores of each part go."""
        nothing: list[str | None] = [None] * len(parts)
        links = nothing if self.links is None else outputs_of(self.links, parts)
        scores = nothing if self.scores is None else outputs_of(self.scores, parts)
        return list(zip(links, scores, strict=True))

    @contextmanager
    def naming_written(self, parts: Sequence[Part]) -> Iterator[None]:
        """Let an error of writing say which outputs took their places before it."""
        before = {path: _state(path) for pair in self.files(parts) for path in pair if path}
        try:
            yield
        except WriteError as problem:
            paths = [path for path, state in before.items() if _state(path) != state]
            if not paths:
                raise
            more = f" and {len(paths) - 3:,} more" if len(paths) > 3 else ""
            text = f"{problem}; written before it: {', '.join(paths[:3])}{more}"
            raise WriteError(text) from None

    def check(self, parts: Sequence[Part], save: str | None, *read: str) -> None:
        """Refuse what cannot be written, or would be written over."""
        paths = [path for files in self.files(parts) for path in files if path is not None]
        if save is not None:
            paths.append(one_file(save))
        refuse_replacing(paths, [*parts, Part("", read)])


def _state(path: str) -> FileState | None:
    return state_of(path) if os.path.isfile(path) else None


def write_links(
    plan: Plan,
    number: int,
    done: int,
    jumping: bool,
    files: tuple[str | None, str | None],
    how: Links,
) -> int:
    """Align a part by what was learned in `done` rounds; return how many links there are."""
    text, decoder = decoder_of(plan, number, done, jumping)
    workers = workers_of(plan.threads)
    pieces = Pieces.of(text)
    decoded = decode(
        decoder,
        workers,
        symmetrization=how.symmetrize,
        threshold=THRESHOLD if how.threshold is None else how.threshold,
        sure=how.sure,
    )
    arrays = decoded.arrays if pieces is None else pieces.joined(decoded.arrays, text)
    links, scores = files
    with apart(), ExitStack() as stack:
        if links is not None:
            out = stack.enter_context(replacing_bytes(links, text=True))
            weights = decoded.probabilities if how.probabilities else None
            out.write(format_lines(arrays, probabilities=weights))
        if scores is not None:
            likelihoods = likelihoods_by(decoder, workers)
            if pieces is not None:
                likelihoods = pieces.added(likelihoods, len(text))
            stack.enter_context(replacing(scores)).write(score_lines(likelihoods))
    return len(arrays.links)
