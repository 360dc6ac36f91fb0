"""The cheat sheet is one page of commands that run as they stand."""

import re
import shlex

import pytest
from command import made
from console import page_text

BLOCKS = re.findall(
    r"(<!-- needs a browser -->\n)?```sh\n(.*?)```", page_text("cheat_sheet.md"), re.S
)


def commands(blocks):
    return [shlex.split(line, comments=True)[1:] for text in blocks for line in text.splitlines()]


def test_each_job_has_ten_lines_at_most():
    assert len(BLOCKS) == 6
    assert all(len(text.splitlines()) <= 10 for _, text in BLOCKS)


def test_commands_in_the_browser_have_arguments_that_exist():
    from alignkit.cli.commands import parser_of

    words = commands([text for marker, text in BLOCKS if marker])
    assert len(words) >= 5
    for command in words:
        parser_of(command).parse_args(command)


@pytest.mark.slow
def test_the_commands_run_in_their_order(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made(capsys, "samples")
    words = commands([text for marker, text in BLOCKS if not marker])
    assert len(words) >= 25
    for command in words:
        made(capsys, *command)
