"""Measure how well annotators agree on links of words or phrases, or on judgments of whole pairs.

CORPUS is one file or folder with several annotators, or several files of the same sentence pairs,
one for each annotator. In the second case the name of the file is the name of the annotator.

--initial names the automatic alignment that the annotators started from. C is then the agreement
beyond chance of the article: C = (pi - pi0) / (1 - pi0), where chance edits that alignment. Without
it, chance draws sets of links at random.

For example:
  alignkit agree corpus.xml --annotators anna ben --initial giza --by genre
  alignkit agree corpus.xml --initial giza --adjudicated gold --html report.html
  alignkit agree corpus.jsonl --on judgments --scheme turku --view binary --html page.html
  alignkit agree A.align.txt B.align.txt C.align.txt --format rte --missing-initial empty --csv
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alignkit.agreement.options import CERTAINTY, CHANCE, WHAT, AgreementOptions, JudgmentOptions
from alignkit.cli.common import inputs
from alignkit.cli.common.media import (
    add_groups,
    add_media,
    add_plot,
    check_groups,
    check_plot,
    print_result,
)
from alignkit.cli.common.messages import ProgressBar, json_text, say
from alignkit.cli.corpora.merge import merged
from alignkit.cli.parser import add_options, number, real, saved_file
from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.io.atomic_files import refuse_unwritable, replacing
from alignkit.io.inputs import naming
from alignkit.io.options import ReadOptions
from alignkit.io.text_files import TextFile
from alignkit.model.corpus import Corpus
from alignkit.model.labels import SCHEMES
from alignkit.scoring.link_classes import LANGUAGES, function_words

if TYPE_CHECKING:
    from alignkit.agreement.figures import FigureResult
RARE = (
    "--aggregate --consensus --csv --disagreements --exact-case --function-words --in-order "
    "--chance-samples --markdown --plot-width --split --ties --weights"
)
"""Options that only --help-all shows."""

_TITLES = ("comparison", "agreement beyond chance, C", "intervals and samples")
_OPPOSITES = {"ignore_identical": "--include-identical"}
"""The options that turn off a setting that is on by default."""

_FIELDS: Mapping[str, Field[Any]] = {field.name: field for field in fields(AgreementOptions)}

_SHARED = ("resamples", "confidence")
"""The options of agreement on alignments that also apply to judgments."""

_JUDGMENT_FIELDS: Mapping[str, Field[Any]] = {
    field.name: field
    for field in fields(JudgmentOptions)
    if field.name not in (*_SHARED, "lenient_labels")  # these are declared elsewhere
}
"""The options for judgments only."""

_OTHERS = ("initial", "adjudicated", "systems", "function_words")
"""The options for alignments only, in addition to those of `AgreementOptions`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = "CORPUS...  files or a folder to read; - is stdin"
    add_options(parser, words, CORPUS={"dest": "corpus"})
    group = parser.add_argument_group("annotators")
    add_options(
        group,
        """
        --annotators A...  annotators to compare, two or more (default: all without another role)
        --initial NAME  automatic alignment that the annotators started from; chance edits it
            (default: the one with this role; '' for none)
        --adjudicated NAME  adjudicated version to compare each annotator with (default: the one
            with this role; '' for none)
        --systems NAME...  automatic alignments to compare each annotator with (default: the initial
            one and those with the role system; '' for none)
        """,
    )
    inputs.add_names(group)
    add_groups(group)
    inputs.add_order_argument(group)
    for name, title in zip((WHAT, CHANCE, CERTAINTY), _TITLES, strict=True):
        group = parser.add_argument_group(title)
        for field in _FIELDS.values():
            if field.metadata["group"] == name:
                _add_field(group, field)
    add_options(
        group,
        """
        --seed N  seed of all random draws (default: 12345)
        --workers N  number of threads; does not change the result (default: one for each core)
        --plan W  instead of measuring agreement, print how many pairs in all two annotators must
            annotate to know F1 to within W, such as 0.03 (enough with a probability of about 80%)
        """,
        seed={"type": number(0), "default": 12345},
        workers={"type": number(1)},
        plan={"type": real("a share between 0 and 1", 0, 1)},
    )
    group = parser.add_argument_group("output")
    add_media(group)
    add_options(
        group.add_mutually_exclusive_group(),
        """
        --tables T,T  print only these tables (default: a summary): words, phrases, pairings,
            chance, others, cells, alpha, fleiss, edits, votes,
            cautions
        --all  print all tables, and all warnings in full
        """,
        tables={"type": lambda text: text.split(","), "metavar": "T,T"},
        all={"dest": "tables", "action": "store_const", "const": "all"},
    )
    add_options(
        group,
        """
        --html FILE  also write a page with tables, plots and disagreements
        --disagreements FILE  write all disagreements as CSV; with the texts and each annotator's
            version (the page shows only the first 180 or 200)
        """,
        html={"type": saved_file},
        disagreements={"type": saved_file},
    )
    add_plot(group, "F1 and agreement beyond chance")
    add_options(
        group,
        f"""
        --function-words L...  with --html, separate function words from content words; name the
            languages of source and target, one for both ({", ".join(LANGUAGES.values())}), or files
            of words (default: not separated)
        """,
    )
    group = parser.add_argument_group("judgments of pairs")
    add_options(
        group,
        """
        --on  compare alignments, judgments of whole pairs, or sets of items (default: alignments)
        --chance-samples FILE  with --on sets, sets that annotators could have chosen by chance
        """,
        on={"choices": ("alignments", "judgments", "sets"), "default": "alignments"},
    )
    for field in _JUDGMENT_FIELDS.values():
        _add_field(group, field)
    inputs.add_reading_arguments(parser)


def run(options: argparse.Namespace) -> None:
    check_groups(options)
    check_plot(options)
    if options.on == "sets" or options.plan is not None:
        _refuse_more(options)
    if options.on == "sets":
        return _on_sets(options)
    if options.chance_samples is not None:
        raise OptionError("--chance-samples is for sets; add --on sets")
    if options.plan is not None:
        return _plan(options)
    if asks_for_judgments(options):
        output = _on_judgments(options)
    else:
        output = _on_alignments(options)
    with replacing("-") as out:
        out.write(output + "\n")


def _refuse_more(options: argparse.Namespace) -> None:
    """Refuse what `agree` does besides, if it is asked for something else than its report."""
    names = ["html", "disagreements", "plot", "by", "tables", "systems", "initial", "adjudicated"]
    if options.on == "sets" and options.plan is not None:
        names += ["plan"]
    if wrong := [name for name in names if getattr(options, name, None)]:
        asked = "--on sets" if options.on == "sets" else "--plan"
        raise OptionError(f"--{wrong[0]} does not go with {asked}: leave it out")


def _on_sets(options: argparse.Namespace) -> None:
    from alignkit.agreement.set_agreement import agree_on_sets

    chosen = {name: value for name, value in typed(options).items() if name != "seed"}
    wrong = [name for name in chosen if name not in (*_SHARED, "normalizer", "aggregate")]
    wrong += [name for name in (*_OTHERS, "html") if getattr(options, name, None)]
    if wrong:
        raise OptionError(f"--{wrong[0].replace('_', '-')} does not apply to sets: leave it out")
    if options.chance_samples is None or len(options.corpus) > 1:
        raise OptionError("--on sets needs one file of sets, and --chance-samples FILE")
    result = agree_on_sets(
        options.corpus[0],
        options.chance_samples,
        annotators=options.annotators,
        seed=options.seed,
        **chosen,
    )
    print_result(result, options)


def _plan(options: argparse.Namespace) -> None:
    from alignkit.agreement.planning import plan_every_two

    chosen = {name: value for name, value in typed(options).items() if name != "seed"}
    wrong = [name for name in chosen if name not in ("ignore_identical", "exact_case")]
    if wrong or options.on != "alignments":
        name = wrong[0].replace("_", "-") if wrong else "on"
        raise OptionError(f"--{name} does not apply to a plan: leave it out")
    plans = plan_every_two(_corpus(options), options.annotators, half_width=options.plan, **chosen)
    print_result(plans, options)


def _on_alignments(options: argparse.Namespace) -> str:
    from alignkit.agreement.question import agree
    from alignkit.agreement.report import check_tables

    AgreementOptions(**typed(options))  # a wrong option is an error before anything is read
    check_tables(options.tables if isinstance(options.tables, list) else ())
    if isinstance(options.tables, list) and (options.json or options.csv):
        flag = "--json" if options.json else "--csv"
        raise OptionError(f"{flag} always has all tables: leave out --tables or {flag}")
    _refuse_unwritable(options)
    if len(options.corpus) == 1 and options.in_order:
        raise OptionError("--in-order needs several files, but there is one: leave it out")
    if options.function_words is not None and options.html is None:
        raise OptionError("--function-words needs a page; add --html FILE")
    if len(options.function_words or ()) > 2:
        raise OptionError("--function-words takes one language for both sides, or two")
    words = options.function_words and function_words(*options.function_words)
    corpus = _corpus(options)
    done: list[float] = []

    def step(count: int, total: int) -> None:
        done[:] = [count / total]
        progress.step(256)

    bar = ProgressBar("sampling", lambda: done[0] if done else None, None)
    chosen = typed(options) | {"initial": options.initial, "adjudicated": options.adjudicated}
    with naming(*options.corpus), bar as progress:
        agreement = agree(
            corpus,
            options.annotators,
            **_shared(options),
            **chosen,
            systems=[] if options.systems == [""] else options.systems,
            progress=step,
        )
    output = _output(agreement, options)
    if options.html:
        from alignkit.agreement.page import draw_agreement_page

        page = draw_agreement_page(agreement, function_words=words)
        with replacing(options.html) as out:
            out.writelines(page)
    if options.disagreements:
        from alignkit.agreement.disagreements import differences_csv, disagreements

        pairings = agreement.of("annotators")
        differ = (disagreements(agreement.corpus, two.first, two.second) for two in pairings)
        with replacing(options.disagreements) as out:
            out.write(differences_csv(agreement.corpus, differ) + "\n")
    if options.plot:
        say(agreement.plot(options.plot, options.plot_width or "column").caption)
    return output


def _on_judgments(options: argparse.Namespace) -> str:
    from alignkit.agreement.judgments import result
    from alignkit.agreement.question import agree

    chosen = given(options)
    lines: dict[str, int] = {}
    if "groups" in chosen:
        chosen["groups"], lines = _groups(options.groups)
    if "scheme" in chosen:
        JudgmentOptions(**chosen)  # a wrong option is an error before anything is read
    _refuse_unwritable(options)
    corpus = _corpus(options)
    chosen["scheme"] = options.scheme
    with naming(*options.corpus):
        try:
            asked = _shared(options) | chosen
            agreement = agree(corpus, options.annotators, on="judgments", **asked)
        except UnknownNameError as error:  # of an annotator in the file of groups, at its line
            if error.name not in lines or error.name in (options.annotators or ()):
                raise
            raise FormatError(str(error), options.groups, lines[error.name]) from None
    if options.html:
        with replacing(options.html) as out:
            out.write(agreement.to_html())
    if options.plot:
        figure = result.judgment_plot(agreement)
        figure.save(options.plot, options.plot_width or "column")
        say(figure.caption)
    if options.disagreements:
        with replacing(options.disagreements) as out:
            out.write(result.disagreements_table(agreement).csv() + "\n")
    return _output(agreement, options)


def _refuse_unwritable(options: argparse.Namespace) -> None:
    files = options.html, options.plot, options.disagreements
    refuse_unwritable(path for path in files if path is not None)


def _shared(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ("by", "split", "seed", "workers")}


def _output(agreement: FigureResult, options: argparse.Namespace) -> str:
    from alignkit.agreement.report import COMMAND, draw_report
    from alignkit.agreement.result import Agreement

    if options.json:
        return json_text(agreement.to_json())
    if options.csv:
        return agreement.csv()
    if not isinstance(agreement, Agreement):
        return agreement.show(options.medium)
    label = "agreement"
    if len(options.corpus) == 1 and (stem := Path(options.corpus[0]).name.split(".")[0]):
        label += f"-{stem}"
    medium = options.medium
    tables = options.tables
    return draw_report(agreement, agreement.answer, medium, tables, label, COMMAND)


# what is read
def _corpus(options: argparse.Namespace) -> Corpus:
    paths = options.corpus
    if len(paths) == 1:
        read = inputs.Input(paths[0], options.format, inputs.reading_options(options))
        if options.on == "judgments":
            inputs.settle_scheme(options, read)
        return inputs.named(read.corpus(needed=True), options)
    names = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) < len(names):
        raise OptionError("the same file is given twice; give one file for each annotator")
    first, *others = (
        inputs.Input(path, options.format, inputs.reading_options(options, name=name))
        for name, path in zip(names, paths, strict=True)
    )
    if options.on == "judgments":
        inputs.settle_scheme(options, first, *others)
    more = dict(zip(names[1:], others, strict=True))
    corpus = merged(first, more, partial=options.partial, ordered=options.in_order)
    asked = {options.initial, options.adjudicated, *(options.annotators or ())}
    own = [name for name in corpus.annotators if name not in names[1:]]
    if len(own) == 1 and own[0] not in asked.union(options.systems or ()):
        corpus = corpus.rename({own[0]: names[0]})
    return inputs.named(corpus, options)


def _groups(path: str) -> tuple[dict[str, str], dict[str, int]]:
    """Read the group of each annotator, and the line that says so."""
    groups: dict[str, str] = {}
    places: dict[str, int] = {}
    for row, line in TextFile(path, ReadOptions()).lines():
        cells = line.split("\t")
        if cells != [""]:
            if len(cells) != 2 or not all(cells) or cells[0] in groups:
                expected = "expected an annotator, a tab and the group, each annotator once"
                raise FormatError(expected, path, row)
            groups[cells[0]], places[cells[0]] = cells[1], row
    return groups, places


# the options
_MORE = {
    "scheme": f" (default: that of the format): {', '.join(SCHEMES)}",
    "groups": "; each line of the file has an annotator, a tab and the group",
}
"""What the help of the command adds to the library's text for an option."""


def _add_field(group: argparse._ArgumentGroup, option: Field[Any]) -> None:
    default = option.default
    choices = option.metadata["choices"]
    text = option.metadata["help"] + _MORE.get(option.name, "")
    settings: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS}
    if isinstance(default, bool):
        settings |= {"action": "store_const", "const": not default}
        text = f"do not {text}" if default else text
    elif option.name == "scheme" or choices:
        settings["choices"] = choices or tuple(SCHEMES)
    else:
        number_type = float if "float" in str(option.type) else str
        if isinstance(default, int):
            settings["type"] = number(1)
        else:
            settings["type"] = number_type
        settings["metavar"] = option.metadata["metavar"]
    if option.name == "view":
        settings["nargs"] = "+"
    if default and not isinstance(default, bool) and "(default" not in text:
        text = f"{text} (default: {default})"
    flag = _OPPOSITES.get(option.name, f"--{option.name.replace('_', '-')}")
    group.add_argument(flag, help=text.replace("%", "%%"), **settings)


# what was typed: other options are not in the namespace, so that only typed ones can contradict
def typed(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `AgreementOptions` that were typed."""
    return {name: value for name, value in vars(options).items() if name in _FIELDS}


def given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `JudgmentOptions` that were typed."""
    names = (*_JUDGMENT_FIELDS, *_SHARED, "lenient_labels")
    return {name: getattr(options, name) for name in names if hasattr(options, name)}


def asks_for_judgments(options: argparse.Namespace) -> bool:
    """Return whether judgments are compared; refuse options that do not apply."""
    if options.on == "alignments":
        wrong = [name for name in _JUDGMENT_FIELDS if hasattr(options, name)]
        if wrong:
            raise OptionError(f"--{wrong[0]} is for judgments; add --on judgments")
        return False
    wrong = [name for name in typed(options) if name not in _SHARED]
    wrong += [name for name in _OTHERS if getattr(options, name, None)]
    # --all has all of them
    if isinstance(options.tables, list):
        wrong += ["tables"]
    if wrong:
        flag = wrong[0].replace("_", "-")
        if flag == "adjudicated":
            hint = ": name the adjudicated version with --consensus"
        else:
            hint = ""
        raise OptionError(
            f"--{flag} is for alignments{hint}; leave it out, or leave out --on judgments"
        )
    return True
