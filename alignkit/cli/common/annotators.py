"""What the commands that compare annotators share: their files, and the pages that they write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alignkit.cli.common import inputs, schemes
from alignkit.cli.parser import Group, Options, Parser, add_options, saved_file
from alignkit.errors import OptionError
from alignkit.io.atomic_files import refuse_unwritable

if TYPE_CHECKING:
    from alignkit.model.corpus import Corpus


def add_corpora(parser: Parser) -> None:
    """Add the argument for the files."""
    words = "CORPUS...  files or a folder to read; - is stdin"
    add_options(parser, words, CORPUS="corpus")


def add_joining(group: Group) -> None:
    """Add the options for the names of annotators, and for joining their files."""
    inputs.add_names(group)
    inputs.add_order_argument(group)


def add_page(group: Group) -> None:
    """Add the options for a page, and for all disagreements."""
    add_options(
        group,
        """
        --html FILE  also write a page with tables, plots and disagreements
        --disagreements FILE  write all disagreements as CSV; with the texts and each annotator's
            version (the page shows only the first 180 or 200)
        """,
        html=saved_file,
        disagreements=saved_file,
    )


def check_page(options: Options) -> None:
    """Refuse output files that cannot be written, before any work."""
    files = options.html, options.plot, options.disagreements
    refuse_unwritable(path for path in files if path is not None)


def read_corpora(options: Options) -> Corpus:
    """Read the corpus, or join files of one annotator each, called by the names of the files.

    If the command has a scheme of judgments and none is named, it is that of the formats.
    """
    if len(options.corpus) == 1 and options.in_order:
        raise OptionError("--in-order needs several files, but there is one: leave it out")
    corpus, _ = read_with_base(options, judged="scheme" in options)
    return corpus


def read_with_base(options: Options, *, judged: bool) -> tuple[Corpus, inputs.Input]:
    """Read the corpus as `read_corpora` does, and return its first file too.

    Parameters
    ----------
    judged : Whether to settle the scheme of judgments.
    """
    from alignkit.cli.corpora.merge import merged

    paths = options.corpus
    names = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        raise OptionError("the same file is given twice; give one file for each annotator")
    if len(paths) == 1:
        read = [inputs.Input.of(options, paths[0])]
    else:
        read = []
        for name, path in zip(names, paths, strict=True):
            read.append(inputs.Input.of(options, path, name=name))
    if judged:
        schemes.settle_scheme(options, *read)
    if len(paths) == 1:
        return inputs.named(read[0].corpus(needed=True), options), read[0]
    others = dict(zip(names[1:], read[1:], strict=True))
    corpus = merged(read[0], others, partial=options.partial, ordered=options.in_order)
    own = [name for name in corpus.annotators if name not in others]
    if len(own) == 1 and own[0] not in _named(options):
        corpus = corpus.rename({own[0]: names[0]})
    return inputs.named(corpus, options), read[0]


def _named(options: Options) -> set[str]:
    """Return the names that the command uses."""
    names = set(options.annotators or ())
    names.update(getattr(options, "systems", None) or ())
    names.add(getattr(options, "initial", None))
    names.add(getattr(options, "adjudicated", None))
    return names
