"""Write the links of the parts that a training was of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from alignkit.aligner.decoding import decode, likelihoods_by
from alignkit.aligner.pieces import Pieces
from alignkit.aligner.settings import THRESHOLD
from alignkit.cluster.parts import Part, one_file, outputs_of, refuse_replacing
from alignkit.cluster.plan import Plan
from alignkit.cluster.steps import decoder_of, workers_of
from alignkit.formats.pharaoh_lines import format_lines
from alignkit.output import apart, replacing, replacing_bytes
from alignkit.texts import score_lines

__all__ = ["Links", "Outputs", "write_links"]


@dataclass(frozen=True)
class Links:
    """Say which links are written; see `Aligner.align_bitext`."""

    symmetrize: str = "posterior"
    threshold: float | None = None
    sure: float | None = None
    probabilities: bool = False


@dataclass(frozen=True)
class Outputs:
    """Say what is written of each part.

    Parameters
    ----------
    links, scores
        Paths with one ``*`` for the links and the log-likelihoods; None: not written.
    how
        Which links.
    """

    links: str | None = None
    scores: str | None = None
    how: Links = Links()

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

    def check(self, parts: Sequence[Part], save: str | None) -> None:
        """Refuse what cannot be written, or would be written over.

        Raises
        ------
        AlignkitError
            If there is such a path.
        """
        paths = [path for files in self.files(parts) for path in files if path is not None]
        if save is not None:
            paths.append(one_file(save))
        refuse_replacing(paths, parts)


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
    found = decode(
        decoder,
        workers,
        symmetrization=how.symmetrize,
        threshold=THRESHOLD if how.threshold is None else how.threshold,
        sure=how.sure,
    )
    arrays = found.arrays if pieces is None else pieces.joined(found.arrays, text)
    links, scores = files
    with apart(), ExitStack() as stack:
        if links is not None:
            out = stack.enter_context(replacing_bytes(links, text=True))
            weights = found.probabilities if how.probabilities else None
            out.write(format_lines(arrays, probabilities=weights))
        if scores is not None:
            likelihoods = likelihoods_by(decoder, workers)
            if pieces is not None:
                likelihoods = pieces.added(likelihoods, len(text))
            stack.enter_context(replacing(scores)).write(score_lines(likelihoods))
    return len(arrays.links)
