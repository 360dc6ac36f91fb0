"""The parsers of the command line: short usage, one-line errors, help of any width."""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from math import inf
from typing import Any, NoReturn

from alignkit.cli.common.messages import tell_raw, visible_lines
from alignkit.errors import UnknownNameError

Options = argparse.Namespace
"""The values of the arguments of a command."""
Group = argparse._ActionsContainer
"""What takes arguments: a parser, or a group in its help."""


class _Formatter(argparse.HelpFormatter):
    """Wrap paragraphs to the terminal's width, and keep indented lines unchanged."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)
        self._action_max_length = 18  # argparse forgets the indent of commands

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Break the paragraphs of a description into lines."""
        paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
        return "\n\n".join(self._filled(part, width, indent) for part in paragraphs) + "\n"

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Break the help of an option into lines."""
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    @staticmethod
    def _filled(paragraph: str, width: int, indent: str) -> str:
        """Break a paragraph into lines up to its first indented line; keep the rest."""
        plain: list[str] = []
        rest = paragraph.split("\n")
        while rest and not rest[0].startswith(" "):
            plain.append(rest.pop(0))
        filled = textwrap.fill(
            " ".join(plain),
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
        return "\n".join([filled, *(indent + line for line in rest)]).strip("\n")


_RARE = """
    --alpha --attribute --band --base --bom --both-orders --concentration --confidence
    --control-least --debug --diagonal --download --drop-function-tags --drop-identical
    --drop-out-of-range --drop-repeated --drop-traces --encoder-layer --encoding --estimate
    --evidence-source --evidence-target --fertility --fix-source --fix-target --floor --folder --hmm
    --hyp-base --hyp-encoding --hyp-transpose --ibm1 --ibm2 --include-identical --inference
    --jump-smoothing --keep-case --kinds --languages --leave-out --lenient-labels --lenient-trees
    --link-weights --loose --lower-is-better --max-depth --max-nodes --max-ratio --max-size
    --max-variables --max-words --memory --name --no-agree --no-evidence --no-text --null --partial
    --prior --prune --quiet --raw --ref-base --ref-encoding --ref-transpose --resamples --rewrites
    --seed --separator --spelling --stem --stem-weight --strict-trees --text-ids --to-base --to-ids
    --to-source --to-target --to-transpose --to-weights --token --token-separators --transpose
    --tree-format --tree-name --trials --unescape --unquote --vector-weight --wait --work
"""
RARE = frozenset(_RARE.split())
"""The options that only --help-all shows, in all commands; fields say it themselves."""


class _HelpAll(argparse.Action):
    """Print the help with every option."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: Any, *_: object) -> None:
        parser.everything = True
        parser.print_help()
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Parse the words of a command; report a wrong one briefly, without listing all options."""

    everything = False  # whether the help has all options
    rare: frozenset[str] = frozenset()  # options that --help leaves out here
    groups: Mapping[str, Mapping[str, str]] | None = None  # of commands, at the top

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)
        self.add_argument("--help-all", action=_HelpAll, help="show all options and exit")

    def format_help(self) -> str:
        """Return the short help (purpose, common options, three examples), or the full help."""
        if self.groups:
            return self._help_of_groups()
        if self.everything or self._subparsers:
            return super().format_help()
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, [])
        formatter.add_text((self.description or "").partition("\n\n")[0])
        rare = RARE | self.rare
        common = [x for x in self._actions if not rare.intersection(x.option_strings)]
        formatter.start_section("options")
        formatter.add_arguments([_brief(action) for action in common])
        formatter.end_section()
        formatter.add_text("\n".join((self.epilog or "").partition("\n\n")[0].split("\n")[:4]))
        rest = len(self._actions) - len(common)
        formatter.add_text(
            f"'{self.prog} --help-all' explains more, and lists {rest} more options."
        )
        return formatter.format_help()

    def _help_of_groups(self) -> str:
        """Return the help of `alignkit`: a line for each group of commands, or for each command."""
        formatter = self._get_formatter()
        formatter.add_usage(f"{self.prog} COMMAND [options]", [], [])
        formatter.add_text(self.description)
        lines = []
        for group, commands in (self.groups or {}).items():
            if self.everything:
                lines += [
                    f"  {group}:",
                    *(f"    {name:16}{text}" for name, text in commands.items()),
                ]
            else:
                lines.append(f"  {group:13}{', '.join(commands)}")
        formatter.add_text("\n".join(["commands:", *lines]))
        formatter.start_section("options")
        formatter.add_arguments(x for x in self._actions if x.option_strings)
        formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def shorten_usage(self) -> None:
        """Show only required arguments in the usage line."""
        needed = []
        for action in self._actions:
            if action.option_strings and action.required:
                name = action.option_strings[-1]
                needed.append(f"{name} {action.metavar or name.strip('-').upper()}")
        places = [_place(action) for action in self._actions if not action.option_strings]
        self.usage = " ".join(["%(prog)s", *places, *needed, "[options]"])

    def outputs(self, options: Options) -> dict[str, str]:
        """Return the files and folders to write, by argument."""
        paths = {}
        for action in self._actions:
            path = getattr(options, action.dest, None)
            if action.type in (output, output_file, saved_file) and path is not None:
                paths[action.dest] = path
        return paths

    @property
    def replaces(self) -> bool:
        """Whether the output may replace the corpus that was read."""
        return any(action.type is output for action in self._actions)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message, on stderr with hidden characters escaped."""
        if file is None or file is sys.stderr:
            tell_raw(visible_lines(message))
        else:
            file.write(message)  # argparse itself forgives a full disk

    def place_late_word(self, options: Options, words: Sequence[str]) -> Sequence[str]:
        """Use a leftover word for an optional positional argument; return the other words."""
        places = (action for action in self._actions if not action.option_strings)
        optional = (action for action in places if action.nargs == "?")
        free = [action for action in optional if getattr(options, action.dest) is None]
        if len(words) != 1 or len(free) != 1 or (words[0].startswith("-") and words[0] != "-"):
            return words
        setattr(options, free[0].dest, words[0])
        return []

    def refuse_unknown(self, words: Sequence[str], hint: str = "", before: str = "") -> NoReturn:
        """Report an unknown option and a similar one, or an unexpected word; exit code 2."""
        word = words[0].partition("=")[0]
        if word.startswith("-"):
            from difflib import get_close_matches

            known = [name for action in self._actions for name in action.option_strings]
            near = get_close_matches(word, known, n=1)
            if near and not hint:
                hint = f"did you mean {near[0]}?"
            self.error(f"unknown option {word}{f'; {hint}' if hint else ''}")
        switch = self._option_string_actions.get(before)
        if not hint and switch is not None and switch.nargs == 0:
            if "-o" in self._option_string_actions:
                file = "; for a file use -o FILE"
            else:
                file = ""
            hint = f"{before} takes no value{file}"
        hint = hint or _ANOTHER.get(self.prog, "")
        self.error(f"unexpected argument '{words[0]}'{f'; {hint}' if hint else ''}")

    def error(self, message: str) -> NoReturn:
        """Print the error and end with exit code 2."""
        usage = self.format_usage().strip()
        self.exit(2, f"alignkit: error: {message}\n{usage}\ntry '{self.prog} --help'\n")


_ANOTHER = {
    "alignkit score": "give further systems with --compare",
    "alignkit merge": "write --add before each NAME=FILE",
}
"""What to do with a further word, by command."""


def _place(action: argparse.Action) -> str:
    """Return a positional argument as the usage line shows it."""
    name = str(action.metavar)
    if action.nargs == "?":
        return f"[{name}]"
    return f"{name} [{name} ...]" if action.nargs == "+" else name


def _brief(action: argparse.Action) -> argparse.Action:
    """Return an action with short help: no default, no long choices, no second clause."""
    brief = copy(action)
    brief.help = re.split(r" \(|; |(?<!e\.g)\. ", action.help or "", maxsplit=1)[0]
    if len(brief.help) > 130:
        brief.help = brief.help.partition(": ")[0]
    name = action.metavar or action.dest.upper()
    if action.choices and len(",".join(map(str, action.choices))) > 24:
        brief.choices = None
        brief.metavar = name
    if action.nargs == "+" and action.option_strings:
        brief.nargs = None
        brief.metavar = f"{name}..."
    return brief


def add_options(group: Group, table: str, /, **more: Any) -> None:
    """Add the options of a table: flags and a placeholder, two spaces, and the help.

    An option without a placeholder or `choices` is a switch; ``A...`` takes several words.
    Indented lines continue the help above. `more` has further `argparse` settings, by the name of
    the option; a function alone is the type, a tuple the choices, and a text the name of the value.

    Examples
    --------
    >>> parser = Parser()
    >>> add_options(parser, '''
    ...     IN  file to read
    ...     -o, --output FILE  file to write
    ...     --ids ID...  the pairs
    ...         of these ids
    ...     --prefix  put the name of the file before each id
    ...     ''', IN="input", output={"default": "-"})
    >>> parser.parse_args(["a.align", "--ids", "1", "2"])
    Namespace(input='a.align', output='-', ids=['1', '2'], prefix=False)
    """
    for entry in re.split(r"\n(?=\S)", textwrap.dedent(table).strip()):
        head, _, text = entry.partition("  ")
        words = head.replace(",", "").split()
        flags = [word for word in words if word.startswith("-")]
        placeholder = "" if words[-1] in flags else words[-1]
        name = max(flags, key=len) if flags else placeholder
        own = _own_settings(more.get(name.strip("-.").replace("-", "_"), {}))
        settings: dict[str, Any] = {"help": " ".join(text.split()).replace("%", "%%")}
        if placeholder:
            settings["metavar"] = placeholder.removesuffix("...")
            settings |= {"nargs": "+"} if placeholder.endswith("...") else {}
        elif "choices" not in own:
            settings["action"] = "store_true"
        group.add_argument(*flags, **settings | own)


def _own_settings(own: Any) -> dict[str, Any]:
    """Return the settings of an option, which a type, choices or a name alone stand for."""
    if isinstance(own, tuple):
        return {"choices": own}
    if isinstance(own, str):
        return {"dest": own}
    if callable(own):
        return {"type": own}
    return dict(own)


def option_values(options: Options, *names: str) -> dict[str, Any]:
    """Return the values of some options, by name."""
    return {name: getattr(options, name) for name in names}


def given_flag(options: Options, *names: str) -> str:
    """Return the flag of the first of some options that is given, else ""."""
    for name in names:
        if getattr(options, name):
            return f"--{name.replace('_', '-')}"
    return ""


def format_name(formats: Mapping[str, str]) -> Callable[[str], str]:
    """Return a checker of format names; its error lists the known ones."""

    def checked(name: str) -> str:
        if name not in formats:
            raise argparse.ArgumentTypeError(str(UnknownNameError("format", name, formats)))
        return name

    return checked


def number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a checker of whole numbers from `least` to `most`."""
    if most is None:
        expected = f"{least} or more"
    else:
        expected = f"{least} to {most}"

    def checked(text: str) -> int:
        with suppress(ValueError):
            value = int(text) if len(text) < 19 else least - 1
            if value >= least and (most is None or value <= most):
                return value
        raise argparse.ArgumentTypeError(f"expected a whole number, {expected}, not {text[:40]!r}")

    return checked


def real(expected: str, least: float, most: float = inf, hint: str = "") -> Callable[[str], float]:
    """Return a checker of finite numbers from `least` to `most`."""

    def checked(text: str) -> float:
        with suppress(ValueError):
            if least <= (value := float(text)) <= most and value < inf:
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, not {text[:40]!r}{hint}")

    return checked


def annotator_name(text: str) -> str:
    """Check that a name can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not UTF-8") from None
    return text


def output_file(path: str) -> str:
    """Check the name of an output file before any work."""
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path} is a folder; name a file")
    return output(path)


def saved_file(path: str) -> str:
    """Check the name of an output file that cannot be standard output."""
    if path == "-":
        raise argparse.ArgumentTypeError("needs the name of a file")
    return output_file(path)


def output(path: str) -> str:
    """Check the name of an output file or folder."""
    if not path:
        raise argparse.ArgumentTypeError("the name of the output is empty")
    return path
