"""Every page of the documentation is two clicks from the README, in the index, and on the site."""

import re
import shlex
from importlib.util import module_from_spec, spec_from_file_location
from os.path import normpath
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command import process
from console import DOCS, ROOT

INDEX = ROOT / "docs" / "README.md"
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
OTHERS = [
    path
    for folder in ("", "benchmarks", "guidelines", "samples")
    for path in sorted((ROOT / folder).glob("*.md"))
]
PAGES = [*DOCS, *OTHERS, *TUTORIALS, ROOT / "LICENSE", ROOT / "CITATION.cff"]
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
GALLERY = ROOT / "docs" / "start" / "gallery.md"
FIGURE = re.compile(r"\]\((\.\./figures/[^)]+)\)\n\n```sh\nalignkit (.+)\n```")


def text_of(page):
    """Return the text of a page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def links(page):
    """Return where the links of a page lead to: (file, anchor or None)."""
    targets = LINK.findall(text_of(page))
    return [(target(page, name) if name else page, anchor) for name, anchor in targets]


def target(page, name):
    return Path(normpath(page.parent / name))


def pages_linked(page):
    return {path for path, _ in links(page) if path in PAGES}


def test_each_page_is_two_clicks_from_the_readme():
    readme = ROOT / "README.md"
    first = pages_linked(readme)
    second = {path for page in first if page.suffix == ".md" for path in pages_linked(page)}
    missing = set(PAGES) - first - second - {readme}
    assert not missing, f"{sorted(map(str, missing))}: add a line to docs/README.md"


def test_the_index_has_each_page():
    missing = set(PAGES) - pages_linked(INDEX) - {INDEX}
    assert not missing, f"{sorted(map(str, missing))}: add a line to docs/README.md"


def test_the_index_begins_with_the_tutorials():
    order = [path for path, _ in links(INDEX) if path in PAGES]
    assert set(order[: len(TUTORIALS)]) == set(TUTORIALS)


def test_the_navigation_of_the_site_has_each_page():
    _, _, nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    named = re.findall(r"(\S+\.md)$", nav, re.MULTILINE)
    places = hooks().PROJECT
    wanted = []
    for page in PAGES:
        path = page.relative_to(ROOT).as_posix()
        on_site = places.get(path, path.removeprefix("docs/"))
        wanted.append(on_site.replace(".ipynb", ".md"))
    assert sorted(named) == sorted(wanted)


def hooks():
    spec = spec_from_file_location("site_hooks", ROOT / "docs" / "site" / "hooks.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_names_of_pages_are_unique():
    """Issues and people name pages without their folders."""
    names = [page.name for page in DOCS if page != INDEX]
    assert len(names) == len(set(names))


def anchors(page):
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in headings}


@pytest.mark.parametrize("page", [*DOCS, *OTHERS], ids=lambda page: page.name)
def test_links_lead_to_headings(page):
    for path, anchor in links(page):
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path), f"{page}: {path}#{anchor}"


@pytest.mark.parametrize("kind", ["pictures", "figures"])
def test_pictures_are_shown(kind):
    folder = ROOT / "docs" / kind
    shown = {path for page in [*DOCS, *OTHERS] for path, _ in links(page) if path.parent == folder}
    assert shown == set(folder.iterdir())


def drawn():
    """Run the commands of the gallery; yield the file of each figure, and what it should hold."""
    for name, command in FIGURE.findall(GALLERY.read_text(encoding="utf-8")):
        path = target(GALLERY, name)
        with TemporaryDirectory() as folder:
            Path(folder, "samples").symlink_to(ROOT / "samples")
            ran = process(*shlex.split(command), cwd=folder)
            assert ran.code == 0, ran.err
            yield path, Path(folder, path.name).read_text(encoding="utf-8")


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg)


def marks(svg):
    """Return where the marks of a plot are, rounded: Matplotlib's versions differ in digits."""
    found = re.findall(r'<use [^>]*\bx="([\d.]+)" y="([\d.]+)"', svg)
    return [(round(float(x)), round(float(y))) for x, y in found]


@pytest.mark.slow
def test_figures_of_the_gallery_are_current():
    """If one is not: PYTHONPATH=. python tests/test_docs.py"""
    seen = set()
    for path, svg in drawn():
        seen.add(path)
        kept = path.read_text(encoding="utf-8")
        assert texts(kept) == texts(svg), path
        assert marks(kept) == marks(svg), path
    assert seen == set((ROOT / "docs" / "figures").iterdir())


if __name__ == "__main__":
    for path, svg in drawn():
        path.write_text(svg, encoding="utf-8")
