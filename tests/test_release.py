"""What a release needs is whole: the page of the package index, addresses, and the version."""

import configparser
import datetime
import importlib
import inspect
import re
import runpy
import shutil
import subprocess
import sys

import pytest
from console import ROOT

import alignkit
from alignkit._support import addresses
from alignkit.version import __version__

OWN = addresses.REPOSITORY.partition("github.com/")[2]
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
    raw = f"https://raw.githubusercontent.com/{OWN}/v{__version__}/"
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
    lines = text_of("mkdocs.yml").splitlines()
    assert f"repo_url: {addresses.REPOSITORY}" in lines
    assert f"site_url: {addresses.SITE.removesuffix('latest/')}" in lines


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


def test_the_version_stands_once():
    """In one file, from which a release writes it into two others; tests and docs fill it in."""
    script = release_script()
    assert script["problems"](f"v{__version__}", OWN) is not None
    for name, pattern in script["FILLED"].items():
        assert re.findall(pattern, text_of(name))[0][1] == __version__
    written = re.compile(rf"(version|read)[:=\s\"']+{re.escape(__version__)}\b")
    for folder in ("alignkit", "docs", "tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".txt", ".json", ".yaml") and path.is_file():
                named = written.search(path.read_text("utf-8"))
                assert named is None or path.name in ("version.py", "recipe.yaml"), path


def release_script():
    if not (ROOT / ".ci").exists():
        pytest.skip("needs a checkout")
    return runpy.run_path(str(ROOT / ".ci" / "release.py"))


@pytest.fixture
def copied(tmp_path):
    """A copy of the script and of the files that it reads, and a function that runs it."""
    script = release_script()
    names = {".ci/release.py", "SECURITY.md", "setup.cfg", "README.md", *script["FILLED"]}
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copyfile(ROOT / name, tmp_path / name)

    def run(*words):
        command = [sys.executable, tmp_path / ".ci" / "release.py", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return tmp_path, run


def test_a_release_is_checked_before_it_is_published(copied):
    folder, run = copied
    assert run("set", "2.3.4").returncode == 0
    assert '__version__ = "2.3.4"' in (folder / "alignkit" / "version.py").read_text("utf-8")
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    assert f"\n## 2.3.4 ({today})\n" in (folder / "CHANGELOG.md").read_text("utf-8")
    citation = (folder / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: 2.3.4\ndate-released: {today}\n" in citation
    security = folder / "SECURITY.md"
    security.write_text(security.read_text("utf-8").replace(".example", ".org"), "utf-8")
    ran = run("check", "v2.3.4", OWN)
    assert (ran.returncode, ran.stdout) == (0, "v2.3.4 can be published\n"), ran.stderr
    wrong = {
        "tag v2.3.4": ("v2.3.5", OWN),
        f"setup.cfg says {OWN}": ("v2.3.4", "somebody/alignkit"),
    }
    for message, words in wrong.items():
        ran = run("check", *words)
        assert ran.returncode == 1
        assert message in ran.stderr


def test_the_next_version_begins_with_a_part_of_the_changelog(copied):
    folder, run = copied
    old = (folder / "CHANGELOG.md").read_text("utf-8").partition("\n## ")[2]
    assert run("set", "2.4.0.dev0").returncode == 0
    new = (folder / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## 2.4.0.dev0 (unreleased)\n\n## {old}" in new
    assert "the date is 'unreleased'" in run("check", "v2.4.0.dev0", OWN).stderr
    assert run("set", "2.4").returncode == 1


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("CITATION.cff", f"version: {__version__}", "version: 0.1.0", "has another version"),
        ("CHANGELOG.md", rf"## {__version__} (", "## 0.1.0 (", "has another version"),
        ("SECURITY.md", "mail to", "mail to me@here.example, or", "ends in .example"),
    ],
)
def test_what_is_left_to_do_is_named(name, old, new, message, copied):
    folder, run = copied
    run("set", __version__)
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    ran = run("check", f"v{__version__}", OWN)
    assert ran.returncode == 1
    assert f"{name}" in ran.stderr
    assert message in ran.stderr


def test_other_addresses_are_written_everywhere(copied):
    if not shutil.which("git"):
        pytest.skip("needs git")
    folder, run = copied
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    assert run("move", "github.com/us/words", "https://words.org/ak").returncode == 0
    for path in folder.rglob("*.*"):
        if path.is_file() and ".git" not in path.parts:
            text = path.read_text("utf-8")
            assert addresses.REPOSITORY not in text
            assert addresses.SITE not in text
    setup = (folder / "setup.cfg").read_text("utf-8")
    assert "Source = https://github.com/us/words\n" in setup
    assert "Documentation = https://words.org/ak/latest/\n" in setup


def test_the_citation_is_as_it_should_be():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["repository-code"] == addresses.REPOSITORY
    assert citation["url"] == addresses.SITE
    assert str(citation["version"]) == __version__
    datetime.date.fromisoformat(str(citation["date-released"]))


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OTHER_NAMES = {"matplotlib": "matplotlib-base", "lazy_loader": "lazy-loader"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_jobs_end(path):
    """A tag of an action can be moved to other code, a digest cannot."""
    text = path.read_text("utf-8")
    used = re.findall(r"uses: (.+)$", text, re.MULTILINE)
    assert used
    assert [name for name in used if not re.fullmatch(r"\S+@[0-9a-f]{40}  # v[\d.]+", name)] == []
    jobs = pytest.importorskip("yaml").safe_load(text)["jobs"]
    assert [name for name, job in jobs.items() if "timeout-minutes" not in job] == []


def test_only_the_steps_that_publish_get_a_token_of_the_index():
    yaml = pytest.importorskip("yaml")
    if not WORKFLOWS:
        pytest.skip("needs a checkout")
    jobs = yaml.safe_load(text_of(".github/workflows/release.yml"))["jobs"]
    trusted = {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})}
    assert trusted == {"test-index", "publish"}
    for name in trusted:
        assert not any("run" in step for step in jobs[name]["steps"])  # no code of ours
        assert jobs[name]["environment"] in ("testpypi", "pypi")
    assert jobs["publish"]["if"] == "github.event_name == 'push'"


def recipe():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(text_of("docs/contribute/recipe.yaml"))


def test_conda_gets_the_libraries_that_pip_gets():
    config = setup_cfg()
    wanted = config["options"]["install_requires"].split("\n")
    wanted += config["options.extras_require"]["annotate"].split("\n")
    spaced = {re.sub(r"(?=[<>])", " ", line, count=1) for line in wanted if line}
    renamed = set()
    for line in spaced:
        name, _, bounds = line.partition(" ")
        renamed.add(f"{OTHER_NAMES.get(name, name)} {bounds}")
    assert set(recipe()["requirements"]["run"]) == {*renamed, "python >=${{ python_min }}"}
    assert config["options"]["python_requires"] == f">={recipe()['context']['python_min']}"
    (build,) = [line for line in recipe()["requirements"]["host"] if line.startswith("setuptools")]
    assert f'"{build.replace(" ", "")}"' in text_of("pyproject.toml")
    assert recipe()["about"]["homepage"] == addresses.SITE
    assert recipe()["about"]["repository"] == addresses.REPOSITORY


def test_the_recipe_is_rendered():
    builder = pytest.importorskip("rattler_build")
    path = ROOT / "docs" / "contribute" / "recipe.yaml"
    (variant,) = builder.Stage0Recipe.from_file(path).render()
    package = variant.recipe.package
    assert (str(package.name), str(package.version)) == ("alignkit", __version__)
    assert f"alignkit-{__version__}.tar.gz" in str(variant.recipe.to_dict()["source"])
