"""What a release needs is whole: the page of the package index, addresses, and the version."""

import configparser
import importlib
import inspect
import re
import runpy

import pytest
from console import ROOT

import alignkit
from alignkit._support import addresses
from alignkit.version import __version__

SHOWN = re.compile(r"\]\(([^)\s]+)\)")


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def setup_cfg():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


@pytest.fixture(scope="module")
def described():
    """The page of the package index, as setup.py makes it."""
    setuptools = pytest.importorskip("setuptools")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", lambda **_: None)
        patch.chdir(ROOT)
        return runpy.run_path("setup.py")["described"]()


def test_links_on_the_page_of_the_package_index_are_absolute(described):
    places = SHOWN.findall(described)
    assert len(places) > 30
    assert [place for place in places if not place.startswith(("https://", "#"))] == []


def test_these_links_lead_to_files_of_this_version(described):
    blob = f"{addresses.REPOSITORY}/blob/v{__version__}/"
    raw = f"https://raw.githubusercontent.com/alignkit/alignkit/v{__version__}/"
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", described)
    assert len(pictures) == 2
    assert all(place.startswith(raw) for place in pictures)
    places = [place for place in SHOWN.findall(described) if place.startswith((blob, raw))]
    assert len(places) > 30
    for place in places:
        path = place.removeprefix(blob).removeprefix(raw).partition("#")[0]
        assert (ROOT / path).is_file(), place


def test_nothing_else_of_the_readme_changes(described):
    assert SHOWN.sub("](x)", described) == SHOWN.sub("](x)", text_of("README.md"))


def test_addresses_are_the_same_everywhere():
    lines = setup_cfg()["metadata"]["project_urls"].strip().splitlines()
    urls = dict(line.split(" = ") for line in lines)
    assert urls["Source"] == addresses.REPOSITORY
    assert urls["Documentation"] == addresses.SITE
    assert urls["Changelog"].startswith(f"{addresses.REPOSITORY}/blob/main/")
    assert urls["Issues"] == f"{addresses.REPOSITORY}/issues"


def test_all_is_every_extra_that_users_need():
    """The others are for those who change alignkit."""
    extras = setup_cfg()["options.extras_require"]
    for_developers = {"all", "test", "browser", "docs", "dev"}
    wanted = {line for name in set(extras) - for_developers for line in extras[name].split("\n")}
    assert set(extras["all"].split("\n")) == wanted


PAGE = re.compile(rf"{re.escape(addresses.SITE)}([\w/]+)\.html")


def test_links_of_the_package_lead_to_pages_of_the_site():
    named = [
        name
        for path in (ROOT / "alignkit").rglob("*.py")
        for name in PAGE.findall(path.read_text("utf-8"))
    ]
    assert len(named) > 10
    for name in {*named, *re.findall(r'\bpage\("(.+?)"\)', text_of_package())}:
        assert (ROOT / "docs" / f"{name}.md").is_file(), name


def text_of_package():
    return "\n".join(path.read_text("utf-8") for path in (ROOT / "alignkit").rglob("*.py"))


def described_objects():
    """All public functions and classes, and their methods."""
    packages = [alignkit]
    packages += [
        importlib.import_module(f"alignkit.{path.parent.name}")
        for path in (ROOT / "alignkit").glob("*/__init__.pyi")
    ]
    for package in packages:
        for name in package.__all__:
            thing = getattr(package, name)
            yield thing
            if inspect.isclass(thing):
                yield from vars(thing).values()


def test_help_in_python_names_no_file_of_the_repository():
    """Who installed a wheel has no folder docs."""
    texts = [getattr(thing, "__doc__", None) or "" for thing in described_objects()]
    assert len(texts) > 500
    assert [text for text in texts if re.search(r"\bdocs/", text)] == []
