"""Report how far annotators agree, on words and on phrases.

CORPUS is one file or folder that holds several annotators, or several files of the same sentence
pairs, one an annotator, who is then called by the name of the file.

With --initial, the automatic alignment that the annotators started from, the report has the
article's agreement beyond chance: C = (pi - pi0) / (1 - pi0).

For example:
  alignkit agree corpus.xml --annotators anna ben --initial giza --by genre
  alignkit agree corpus.xml --initial giza --adjudicated gold --html report.html
  alignkit agree A.align.txt B.align.txt C.align.txt --format rte --missing-initial empty --csv
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.cli.agree_options import CHANCE_OPTIONS, add_options
from alignkit.cli.choice import naming
from alignkit.cli.inputs import Input, add_reading_arguments, reading_options
from alignkit.cli.kernels import announce
from alignkit.cli.merge import merged
from alignkit.cli.progress import Progress
from alignkit.corpus import Corpus
from alignkit.errors import OptionError
from alignkit.output import replacing

if TYPE_CHECKING:
    from alignkit.agreement import FullAgreement
    from alignkit.agreement.corrected_settings import CorrectedSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "corpus", metavar="CORPUS", nargs="+", help="files or a folder to read; - is stdin"
    )
    add_options(parser)
    add_reading_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    announce()
    from alignkit.agreement import full_agreement
    from alignkit.cli.agree_output import agreement_output

    settings = _settings(options)  # a wrong option is told before anything is read
    corpus = _corpus(options)
    done = _Done()
    with naming(*options.corpus), Progress("sampling", done.fraction, None) as progress:
        full = full_agreement(
            corpus,
            options.annotators,
            settings=settings,
            include_identical=options.include_identical,
            adjudicated=options.adjudicated,
            systems=options.system,
            by=options.by,
            workers=options.workers,
            rng=options.seed,
            progress=lambda *counts: done.tell(progress, *counts),
        )
    output = agreement_output(full, corpus, options)
    if options.html:
        _draw(full, corpus, options.html)
    with replacing("-") as out:
        out.write(output + "\n")
    return 0


def _settings(options: argparse.Namespace) -> CorrectedSettings | None:
    """Return the settings of the agreement beyond chance; None where nothing asks for it."""
    from alignkit.agreement.corrected_settings import CorrectedSettings

    given = {name: getattr(options, name) for name in CHANCE_OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    if not given and options.adjudicated is None and options.html is None:
        return None
    return CorrectedSettings(**given, include_identical=options.include_identical)


class _Done:
    """Remember how much is done."""

    def __init__(self) -> None:
        self._share: float | None = None

    def fraction(self) -> float | None:
        return self._share

    def tell(self, progress: Progress, done: int, total: int) -> None:
        self._share = done / total
        progress.step(256)


def _draw(full: FullAgreement, corpus: Corpus, path: str) -> None:
    from alignkit.report.agreement_page import draw_agreement

    title = f"Agreement of {' and '.join(full.report.annotators[:2])}"
    initial = full.settings.initial if full.settings else None
    page = draw_agreement(corpus, full.results, title=title, initial=initial, report=full.report)
    with replacing(path) as out:
        out.writelines(page)


def _corpus(options: argparse.Namespace) -> Corpus:
    paths = options.corpus
    if len(paths) == 1:
        return Input(paths[0], options.format, reading_options(options)).corpus()
    names = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        raise OptionError("the same file is named twice; give one file for each annotator")
    inputs = {
        name: Input(path, options.format, reading_options(options, name=name))
        for name, path in zip(names, paths, strict=True)
    }
    first, *others = names
    return merged(
        inputs[first],
        {name: inputs[name] for name in others},
        partial=options.partial,
        ordered=options.in_order,
    )
