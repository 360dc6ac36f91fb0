"""The options of `alignkit agree`; most are made from the fields of the library's options.

Options that were not typed are not in the namespace. So typed options that contradict each other
are an error, but defaults never are.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from alignkit.agreement.options import AgreementOptions, JudgmentOptions
from alignkit.cli.common.inputs import add_names, add_order_argument
from alignkit.cli.common.media import add_groups, add_media, add_plot
from alignkit.cli.parser import add_options, number, saved_file
from alignkit.errors import OptionError
from alignkit.model.labels import SCHEMES
from alignkit.scoring.link_classes import LANGUAGES

_GROUPS = {
    "what": "comparison",
    "chance": "agreement beyond chance, C",
    "certainty": "intervals and samples",
}
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


def declare_options(parser: argparse.ArgumentParser) -> None:
    """Declare all options except those for reading."""
    group = parser.add_argument_group("annotators")
    add_options(group, """
        --annotators A...  annotators to compare, two or more (default: all without another role)
        --initial NAME  automatic alignment that the annotators started from; chance edits it
            (default: the one with this role; '' for none)
        --adjudicated NAME  adjudicated version to compare each annotator with (default: the one
            with this role; '' for none)
        --systems NAME...  automatic alignments to compare each annotator with (default: the initial
            one and those with the role system; '' for none)
        """)  # fmt: skip
    add_names(group)
    add_groups(group)
    add_order_argument(group)
    for name, title in _GROUPS.items():
        group = parser.add_argument_group(title)
        for field in _FIELDS.values():
            if field.metadata["group"] == name:
                _add_field(group, field)
    add_options(group, """
        --seed N  seed of all random draws (default: 12345)
        --workers N  number of threads; does not change the result (default: one for each core)
        """, seed={"type": number(0), "default": 12345}, workers={"type": number(1)})  # fmt: skip
    group = parser.add_argument_group("output")
    add_media(group)
    add_options(group.add_mutually_exclusive_group(), """
        --tables T,T  print only these tables (default: a summary): words, phrases, pairings,
            chance, others, cells, alpha, fleiss, edits, cautions
        --all  print all tables, and all warnings in full
        """, tables={"type": lambda text: text.split(","), "metavar": "T,T"},
        all={"dest": "tables", "action": "store_const", "const": "all"})  # fmt: skip
    add_options(group, """
        --html FILE  also write a page with tables, plots and disagreements
        --disagreements FILE  write all disagreements as CSV; with the texts and each annotator's
            version (the page shows only the first 180 or 200)
        """, html={"type": saved_file}, disagreements={"type": saved_file})  # fmt: skip
    add_plot(group, "F1 and agreement beyond chance")
    add_options(group, f"""
        --function-words L...  with --html, separate function words from content words; name the
            languages of source and target, one for both ({', '.join(LANGUAGES.values())}), or files
            of words (default: not separated)
        """)  # fmt: skip
    group = parser.add_argument_group("judgments of pairs")
    add_options(group, """
        --on  compare alignments, or judgments of whole pairs (default: alignments)
        """, on={"choices": ("alignments", "judgments"), "default": "alignments"})  # fmt: skip
    for field in _JUDGMENT_FIELDS.values():
        _add_field(group, field)


_MORE = {
    "scheme": f" (default: that of the format): {', '.join(SCHEMES)}",
    "groups": "; each line of the file has an annotator, a tab and the group",
}
"""What the help of the command adds to the library's text for an option."""


def _add_field(group: argparse._ArgumentGroup, option: Field[Any]) -> None:
    default, choices = option.default, option.metadata["choices"]
    text = option.metadata["help"] + _MORE.get(option.name, "")
    settings: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS}
    if isinstance(default, bool):
        settings |= {"action": "store_const", "const": not default}
        text = f"do not {text}" if default else text
    elif option.name == "scheme" or choices:
        settings["choices"] = choices or tuple(SCHEMES)
    else:
        number_type = float if "float" in str(option.type) else str
        settings["type"] = number(1) if isinstance(default, int) else number_type
        settings["metavar"] = option.metadata["metavar"]
    if option.name == "view":
        settings["nargs"] = "+"
    if default and not isinstance(default, bool) and "(default" not in text:
        text = f"{text} (default: {default})"
    flag = _OPPOSITES.get(option.name, f"--{option.name.replace('_', '-')}")
    group.add_argument(flag, help=text.replace("%", "%%"), **settings)


# what was typed
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
    wrong += ["tables"] if isinstance(options.tables, list) else []  # --all has all of them
    if wrong:
        flag = wrong[0].replace("_", "-")
        hint = ": name the adjudicated version with --consensus" if flag == "adjudicated" else ""
        raise OptionError(
            f"--{flag} is for alignments{hint}; leave it out, or leave out --on judgments"
        )
    return True
