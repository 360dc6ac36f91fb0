"""A missing library is named with the command that installs it, as alignkit was installed."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from console import ROOT

from alignkit._support import extras


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Pretend that alignkit is in an environment of its own, which `installed` describes."""
    monkeypatch.setattr(extras, "_PROJECT", tmp_path / "lib" / "python")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr(extras.shutil, "which", lambda _: str(tmp_path / "bin" / "pip"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def describe(installer="pip\n", url=None):
        written = {"INSTALLER": installer}
        if url is not None:
            written["direct_url.json"] = json.dumps({"url": url})
        monkeypatch.setattr(extras, "_written", lambda name: written.get(name, ""))
        return tmp_path

    return describe


def test_from_the_package_index(installed):
    installed()
    assert extras.install_command("zstd") == 'pip install "alignkit[zstd]"'


def test_another_pip_comes_first_on_the_path(installed, monkeypatch):
    prefix = installed()
    monkeypatch.setattr(extras.shutil, "which", lambda _: "/usr/bin/pip")
    python = extras._quoted(str(prefix / "bin" / "python"))
    assert extras.install_command("zstd") == f'{python} -m pip install "alignkit[zstd]"'
    monkeypatch.setattr(extras.shutil, "which", lambda _: None)
    assert extras.install_command("zstd").startswith(f"{python} -m pip install ")


def test_from_a_file_or_folder(installed, tmp_path):
    wheel = tmp_path / "a b.whl"
    wheel.touch()
    installed(url=wheel.as_uri())
    assert extras.install_command("zstd") == f'pip install "{wheel}[zstd]"'
    wheel.unlink()
    assert extras.install_command("zstd") == 'pip install "alignkit[zstd]"'


def test_by_uv(installed, monkeypatch):
    prefix = installed(installer="uv\n")
    python = extras._quoted(str(prefix / "bin" / "python"))
    named = f'uv pip install --python {python} "alignkit[zstd]"'
    assert extras.install_command("zstd") == named
    monkeypatch.setenv("VIRTUAL_ENV", str(prefix))
    assert extras.install_command("zstd") == 'uv pip install "alignkit[zstd]"'


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("uv-receipt.toml", 'uv tool install "alignkit[zstd]"'),
        ("pipx_metadata.json", 'pipx install --force "alignkit[zstd]"'),
    ],
)
def test_as_a_tool(file, command, installed):
    (installed(installer="uv\n") / file).touch()
    assert extras.install_command("zstd") == command


def test_a_checkout_is_named(monkeypatch):
    if not (Path(extras.__file__).parents[2] / "setup.cfg").exists():
        pytest.skip("an installed wheel is tested, not a checkout")
    command = extras.install_command("zstd")
    assert f'install -e "{ROOT}[zstd]"' in command
    assert shlex.split(command)[-2:] == ["-e", f"{ROOT}[zstd]"] or os.name == "nt"


def test_all_that_needs_an_extra_says_so_alike(installed):
    installed()
    one = extras.missing_libraries("a thing", ["a"], "zstd")
    two = extras.missing_libraries("a thing", ["a", "b"], "zstd")
    command = 'pip install "alignkit[zstd]"'
    assert one == f"a thing needs one more library (a); run: {command}"
    assert two == f"a thing needs more libraries (a, b); run: {command}"
