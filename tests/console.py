"""Run the console examples of a page: ``$ command`` lines and the output below them."""

import os
import re
import shlex
import subprocess
from pathlib import Path

from command import process
from command import run as run_here

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def page_text(name):
    """Return the text of a page of the documentation, whose folder tests need not know."""
    (path,) = (path for path in DOCS if path.name == name)
    return path.read_text(encoding="utf-8")


def examples(page):
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n")


def run(command, folder, capsys=None, **environment):
    """Run ``alignkit ...``, piped perhaps through ``head -N`` or the system's ``grep``.

    Return what it prints. With capsys it is run in this process, which has to be in the folder.
    """
    command, _, head = command.partition(" | head -")
    command, _, searched = command.partition(" | grep ")
    words = shlex.split(command)
    assert words[0] == "alignkit", command
    if capsys is None:
        ran = process(*words[1:], cwd=folder, env=os.environ | environment)
    else:
        ran = run_here(capsys, *words[1:])
    lines = [line.rstrip() for line in (ran.out + ran.err).splitlines()]
    if searched:
        lines = _grep(searched, lines)
    return "\n".join(lines[: int(head)] if head else lines).rstrip("\n")


def _grep(words, lines):
    ran = subprocess.run(
        ["grep", *shlex.split(words)],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    return ran.stdout.splitlines()


def walk():
    """Return the commands of the walk from two annotators to gold, in their order."""
    return [line.removeprefix("$ ") for line in re.findall(r"^(?:\$ )?alignkit .+$", _walk(), re.M)]


def printed():
    """Return what the walk says that its commands print, where it is not beside the command."""
    return [text.rstrip("\n") for text in re.findall(r"```text\n(.*?)```", _walk(), re.DOTALL)]


def _walk():
    return (
        page_text("projects.md")
        .partition("\n## From two annotators to gold")[2]
        .partition("\n## ")[0]
    )
