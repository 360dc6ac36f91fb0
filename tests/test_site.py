"""The site is built without a warning, runs its tutorials and asks nothing of the network."""

import json
import os
import re
import subprocess
import sys
from html import unescape
from importlib.util import module_from_spec, spec_from_file_location
from types import SimpleNamespace

import pytest
from console import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_no_output(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_pip_install(path):
    """It runs where nothing is there but Python; the site skips this cell, and runs the others."""
    _, install, samples, *_ = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert install["source"] == ["%pip install -q alignkit"]
    assert install["metadata"]["tags"] == ["skip-execution"]
    assert samples["source"][-1] == "!{sys.executable} -m alignkit samples samples"


@pytest.mark.slow
def test_the_site_is_built(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", tmp_path]
    built = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING -" not in built.stderr
    pages = {
        path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8")
        for path in tmp_path.rglob("*.html")
    }
    assert {
        "index.html",
        "reference/commands/agree.html",
        "start/gallery.html",
        "pages.html",
    } <= set(pages)
    assert "stands apart" in pages["tutorials/agreement.html"]  # its cells ran
    assert "13 files copied to samples" in pages["tutorials/agreement.html"]
    python = pages["reference/python/alignkit.html"]
    assert 'id="alignkit.agreement.question.agree"' in python
    assert "missing_initial" in python  # an option, of which the source of agree says nothing
    assert "kappa" in (tmp_path / "search" / "search_index.js").read_text(encoding="utf-8")
    repository = "https://github.com/alignkit/alignkit"
    assert f"{repository}/edit/main/docs/agree/agreement.md" in pages["agree/agreement.html"]
    assert f"{repository}/edit/main/CONTRIBUTING.md" in pages["contributing.html"]
    assert f"{repository}/edit/main/docs/tutorials/compare.ipynb" in pages["tutorials/compare.html"]
    assert "/edit/main" not in pages["reference/commands/agree.html"]  # it is made
    assert "VERSION" not in pages["start/tour.html"]
    for name, text in pages.items():
        assert 'data-md-component="source"' not in text  # which would ask for stars
        loaded = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)', text)
        loaded += re.findall(r'<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+(https?:[^"]+)', text)
        assert not loaded, f"{name} loads {loaded}"


def hooks():
    path = ROOT / "docs" / "site" / "hooks.py"
    spec = spec_from_file_location("site_hooks", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CODE = [
    "[VBD][VBD] \\|\\|\\| [NP][NP]",
    "i j [S\\|P] [confidence]",
    "*a* _b_ \\| <i> &amp; ![x](y) $z$",
    "a `tick` \\| {b}",
    "[link](../README.md) \\| c",
    "[plain][plain] and [text](other.md)",
]


@pytest.mark.parametrize("code", CODE)
def test_code_of_a_table_is_printed_as_it_stands(code):
    """Brackets and other marks of Markdown within code are characters, whatever stands around."""
    markdown = pytest.importorskip("markdown")
    ticks = "``" if "`" in code else "`"
    text = f"| a | b |\n|---|---|\n| {ticks}{code}{ticks} | c |\n\n[plain]: wrong.md\n"
    page = SimpleNamespace(file=SimpleNamespace(src_uri="formats/formats.md"))
    made = markdown.markdown(
        hooks().on_page_markdown(text, page, None, None), extensions=["tables"]
    )
    (shown,) = re.findall("<td><code>(.*?)</code></td>", made, re.DOTALL)
    assert unescape(shown) == code.replace("\\|", "|")


def test_links_within_code_are_left_alone():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="formats/formats.md"))
    text = "`[a](../../README.md)` and [b](../../README.md)\n\n```\n[c](../../README.md)\n```\n"
    made = hooks().on_page_markdown(text, page, None, None)
    assert made == text.replace("[b](../../README.md)", "[b](../index.md)")
