"""What the site has besides the pages in docs/: the project's own, commands, Python, tutorials."""

from __future__ import annotations

import ast
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from alignkit._support.addresses import REPOSITORY
from alignkit.version import __version__

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent.parent
SAME = [
    path.relative_to(ROOT).as_posix()
    for folder in ("benchmarks", "guidelines")
    for path in sorted(ROOT.joinpath(folder).glob("*.md"))
]
PROJECT = {
    **dict(zip(SAME, SAME, strict=True)),
    "README.md": "index.md",
    "docs/README.md": "pages.md",
    "guidelines/README.md": "guidelines/index.md",
    "samples/README.md": "samples.md",
    "benchmarks/README.md": "benchmarks/index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "LICENSE": "license.md",
    "SECURITY.md": "security.md",
    "CITATION.cff": "citation.md",
}
"""Pages of the repository that have another place on the site."""

PACKAGES = ("", *sorted(path.parent.name for path in ROOT.glob("alignkit/*/__init__.pyi")))
"""The packages whose public names are described."""

LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
SPAN = r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>[^\n]+?)(?<!`)(?P=ticks)(?!`)"
CODE = rf"^ *```.*?^ *```|{SPAN}"
LINK_OR_CODE = re.compile(f"{CODE}|{LINK.pattern}", re.DOTALL | re.MULTILINE)
MATH = re.compile(
    rf"{CODE}|^ {{4}}[^\n]*|\$(?P<block>\$?)(?P<math>[^$]+)\$(?P=block)", re.DOTALL | re.MULTILINE
)
ROW = re.compile(r"^ *\|.*$", re.MULTILINE)
CODE_SPAN = re.compile(SPAN)
MARK = re.compile(r"[^\w\s]|_")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the commands and the packages under Reference."""
    from alignkit.cli.commands import COMMANDS

    reference = next(part["Reference"] for part in config.nav or [] if "Reference" in part)
    names = [f"alignkit.{package}".rstrip(".") for package in PACKAGES]
    reference[:0] = [
        {"Commands": [{name: f"reference/commands/{name}.md"} for name in COMMANDS]},
        {"Python": [{name: f"reference/python/{name}.md"} for name in names]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    made = {site: (ROOT / path).read_text(encoding="utf-8") for path, site in PROJECT.items()}
    for page in ("license.md", "citation.md"):
        made[page] = f"```text\n{made[page]}```\n"
    made |= {f"reference/commands/{name}.md": page for name, page in _commands().items()}
    made |= {f"reference/python/{name}.md": page for name, page in _python().items()}
    from mkdocs.structure.files import File

    for site, text in made.items():
        files.append(File.generated(config, site, content=text))
    for path in sorted((ROOT / "docs" / "tutorials").glob("*.ipynb")):
        files.remove(files.src_uris[f"tutorials/{path.name}"])
        for name, content in _tutorial(path).items():
            files.append(File.generated(config, f"tutorials/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links between pages of the repository to their places on the site."""
    site = page.file.src_uri
    here = {site: path for path, site in PROJECT.items()}.get(site, f"docs/{site}")
    page.edit_url = _edited_at(here)

    def led(match: re.Match[str]) -> str:
        before, target, after = match.groups()[-3:]
        if target is None:  # code
            return match[0]
        path = normpath(join(dirname(here), target))
        place = PROJECT.get(path, path.removeprefix("docs/"))
        place = re.sub(r"\.ipynb$", ".md", place)
        return f"{before}{relpath(place, dirname(site) or '.')}{after}"

    markdown = re.sub(r"(?<=:)VERSION\b", __version__, markdown)
    markdown = LINK_OR_CODE.sub(led, markdown)
    markdown = MATH.sub(_math, markdown)
    return ROW.sub(lambda row: CODE_SPAN.sub(_piped, row[0]), markdown)


def _edited_at(path: str) -> str | None:
    """Return where a page is edited; None for one that is made."""
    for name in (path, re.sub(r"\.md$", ".ipynb", path)):
        if (ROOT / name).is_file():
            return f"{REPOSITORY}/edit/main/{name}"
    return None


def _piped(match: re.Match[str]) -> str:
    """Write code with an escaped | of a table as HTML, for Markdown here keeps the backslash.

    Markdown would read brackets and other marks within the HTML, so they are character references.
    """
    if r"\|" not in match["code"]:
        return match[0]
    code = match["code"].replace(r"\|", "|")
    return f"<code>{MARK.sub(lambda mark: f'&#{ord(mark[0])};', code)}</code>"


def _math(match: re.Match[str]) -> str:
    """Write a formula as MathML, which browsers show by themselves; leave code as it is."""
    if match["math"] is None:
        return match[0]
    from latex2mathml.converter import convert

    return convert(match["math"], display="block" if match["block"] else "inline")


def _commands() -> dict[str, str]:
    """Return a page for each command, as its --help prints it."""
    from alignkit.cli import main
    from alignkit.cli.commands import COMMANDS

    pages = {}
    for name, purpose in COMMANDS.items():
        with redirect_stdout(StringIO()) as printed:
            main([name, "--help"])
        text = printed.getvalue()
        pages[name] = f"# alignkit {name}\n\n{purpose.capitalize()}.\n\n```text\n{text}```\n"
    return pages


def _python() -> dict[str, str]:
    """Return a page for each package: its public names, each described once."""
    pages, known = {}, set()
    for package in PACKAGES:
        name = f"alignkit.{package}".rstrip(".")
        stub = ROOT.joinpath(*name.split("."), "__init__.pyi").read_text(encoding="utf-8")
        lines = [f"# {name}\n"]
        for node in ast.parse(stub).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    path = f"{name}.{node.module}.{alias.name}"
                    link = f"- [`{alias.name}`][{path}]"
                    lines.append(link if path in known else f"::: {path}\n")
                    known.add(path)
        pages[name] = "\n".join(lines)
    return pages


def _tutorial(path: Path) -> dict[str, str | bytes]:
    """Run a notebook, and return its page and the images on it."""
    from nbconvert import MarkdownExporter

    with TemporaryDirectory() as folder:
        notebook = run_notebook(path, folder)
    text, resources = MarkdownExporter().from_notebook_node(
        notebook, resources={"unique_key": path.stem, "output_files_dir": path.stem}
    )
    return {f"{path.stem}.md": text, **resources["outputs"]}


def run_notebook(path: Path, folder: str) -> Any:
    """Run a notebook in a folder; raise where a cell fails.

    The cell that installs alignkit has a tag that nbclient skips; the next copies the samples.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=170, resources={"metadata": {"path": folder}})
    return client.execute()
