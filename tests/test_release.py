"""What a release needs is whole: the page of the package index, addresses, and the version."""

import configparser
import datetime
import importlib
import inspect
import os
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


def described_in(folder):
    """The page of the package index, as setup.py makes it."""
    setuptools = pytest.importorskip("setuptools")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setuptools, "setup", lambda **_: None)
        patch.chdir(folder)
        return runpy.run_path(str(ROOT / "setup.py"))["described"]()


@pytest.fixture(scope="module")
def described():
    return described_in(ROOT)


def test_links_on_the_page_of_the_package_index_are_absolute(described):
    places = SHOWN.findall(described)
    assert len(places) > 30
    assert [place for place in places if not place.startswith(("https://", "#"))] == []


def test_these_links_lead_to_files_of_this_version(described):
    tag = "main" if ".dev" in __version__ else f"v{__version__}"
    blob = f"{addresses.REPOSITORY}/blob/{tag}/"
    raw = f"https://raw.githubusercontent.com/{OWN}/{tag}/"
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", described)
    assert len(pictures) == 2
    assert all(place.startswith(raw) for place in pictures)
    places = [place for place in SHOWN.findall(described) if place.startswith((blob, raw))]
    assert len(places) > 30
    for place in places:
        path = place.removeprefix(blob).removeprefix(raw).partition("#")[0]
        assert (ROOT / path).is_file(), place


def test_links_of_a_dry_run_lead_to_main(copied):
    """Its version never gets a tag."""
    folder, run = copied
    run("set", "2.3.4")
    places = SHOWN.findall(described_in(folder))
    assert len([place for place in places if "/v2.3.4/" in place]) > 30
    run("dry-run", "7")
    of_dry_run = SHOWN.findall(described_in(folder))
    assert [place for place in of_dry_run if "/v2.3.4" in place] == []
    assert of_dry_run == [place.replace("/v2.3.4/", "/main/") for place in places]


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


CITED = re.findall(r"\nversion: (\S+)", text_of("CITATION.cff"))[0]
RELEASED = CITED if ".dev" in __version__ else __version__
"""The last release: this version, unless it is one to come."""


def test_no_version_to_come_is_cited():
    assert re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", RELEASED)


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
    """In one file, from which a release writes it into others; tests and docs fill it in."""
    script = release_script()
    for name, pattern in script["FILLED"].items():
        if name in script["OF_RELEASES"]:
            assert re.findall(pattern, text_of(name))[0][1] == RELEASED
        else:
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


def git(folder, *words):
    settings = ["-c", "user.name=me", "-c", "user.email=me@here.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def copied(tmp_path):
    """A repository with the script and the files that it reads, and a function that runs it."""
    if not shutil.which("git"):
        pytest.skip("needs git")
    script = release_script()
    names = {".ci/release.py", "SECURITY.md", "setup.cfg", "README.md", *script["FILLED"]}
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "begin")

    def run(*words):
        command = [sys.executable, tmp_path / ".ci" / "release.py", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return tmp_path, run


def replace_in(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def ready(copied):
    """The same with version 2.3.4 and with all that maintainers fill in, committed on main."""
    folder, run = copied
    assert run("set", "2.3.4").returncode == 0
    fillings = [
        ("SECURITY.md", r"@\S+\.example", "@here.org"),
        ("CITATION.cff", r"\nauthors:\n(  .+\n)+", "\nauthors:\n  - name: Ada\n"),
        ("setup.cfg", r"\nauthor = .+", "\nauthor = Ada"),
        ("setup.cfg", r"Status :: .+", "Status :: 5 - Production/Stable"),
    ]
    for name, old, new in fillings:
        path = folder / name
        path.write_text(re.sub(old, new, path.read_text("utf-8")), "utf-8")
    git(folder, "commit", "-q", "-a", "-m", "2.3.4")
    return folder, run


def today():
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def test_a_release_is_checked_before_it_is_published(ready):
    folder, run = ready
    assert '__version__ = "2.3.4"' in (folder / "alignkit" / "version.py").read_text("utf-8")
    assert f"\n## 2.3.4 ({today()})\n" in (folder / "CHANGELOG.md").read_text("utf-8")
    citation = (folder / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: 2.3.4\ndate-released: {today()}\n" in citation
    for words in (["v2.3.4"], ["v2.3.4", OWN]):
        ran = run("check", *words)
        assert (ran.returncode, ran.stdout) == (0, "v2.3.4 can be published\n"), ran.stderr
    wrong = {
        "tag v2.3.4": ("v2.3.5", OWN),
        f"setup.cfg says {OWN}": ("v2.3.4", "somebody/alignkit"),
    }
    for message, words in wrong.items():
        ran = run("check", *words)
        assert ran.returncode == 1
        assert message in ran.stderr


def test_the_files_of_a_release_are_written_and_printed(copied):
    folder, run = copied
    ran = run("set", "2.3.4")
    changed = subprocess.check_output(["git", "diff", "--name-only"], cwd=folder, text=True)
    assert sorted(ran.stdout.splitlines()) == changed.splitlines()
    assert set(changed.splitlines()) == set(release_script()["FILLED"])


def test_only_a_commit_of_main_without_changes_can_be_tagged(ready):
    folder, run = ready
    (folder / "new.txt").write_text("words", "utf-8")
    ran = run("check", "v2.3.4")
    assert (ran.returncode, ran.stderr) == (1, "commit or remove these files:\n?? new.txt\n")
    assert run("check").stdout == "the files are ready for 2.3.4\n"
    git(folder, "switch", "-q", "-c", "branch")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "new")
    ran = run("check", "v2.3.4")
    assert ran.returncode == 1
    assert ran.stderr.startswith("the current commit is not on main: ")
    git(folder, "branch", "-f", "main", "branch")
    assert run("check", "v2.3.4").returncode == 0


def test_main_is_that_of_the_hosted_repository(ready, tmp_path_factory):
    """What was not pushed is not tagged; the workflow has no branch main of its own."""
    folder, run = ready
    hosted = tmp_path_factory.mktemp("hosted")
    git(hosted, "init", "-q", "--bare")
    git(folder, "remote", "add", "origin", str(hosted))
    git(folder, "push", "-q", "origin", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "more")
    assert "the current commit is not on origin/main: " in run("check", "v2.3.4").stderr
    git(folder, "push", "-q", "origin", "main")
    git(folder, "switch", "-q", "--detach")
    git(folder, "branch", "-q", "-D", "main")
    assert run("check", "v2.3.4").returncode == 0


def test_the_date_is_that_of_today_until_there_is_a_tag(ready):
    folder, run = ready
    for name in ("CHANGELOG.md", "CITATION.cff"):
        replace_in(folder / name, today(), "2020-02-29")
    git(folder, "commit", "-q", "-a", "-m", "an old date")
    lines = run("check", "v2.3.4").stderr.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert f"the date is 2020-02-29, today is {today()} (UTC): run " in line
        assert line.endswith("'python .ci/release.py set 2.3.4' again")
    git(folder, "tag", "v2.3.4")
    assert run("check", "v2.3.4").returncode == 0


@pytest.mark.parametrize(
    ("version", "of_dry_run"),
    [
        ("1.0.0", "1.0.0.dev7"),
        ("1.0.0rc1", "1.0.0rc1.dev7"),
        ("1.1.0.dev0", "1.1.0.dev7"),
    ],
)
def test_a_dry_run_has_a_version_of_its_own(version, of_dry_run, copied):
    folder, run = copied
    run("set", version)
    git(folder, "commit", "-q", "-a", "--allow-empty", "-m", version)
    assert run("dry-run", "7").stdout == f"{of_dry_run}\n"
    assert f'__version__ = "{of_dry_run}"\n' in (folder / "alignkit/version.py").read_text("utf-8")
    changed = subprocess.check_output(["git", "diff", "--name-only"], cwd=folder, text=True)
    assert changed == "alignkit/version.py\n"
    assert str(pytest.importorskip("packaging.version").Version(of_dry_run)) == of_dry_run
    (step,) = re.findall(r"run: (.+ dry-run .+)", text_of(".github/workflows/release.yml"))
    assert step == 'python .ci/release.py dry-run "$GITHUB_RUN_NUMBER"'


def test_the_next_version_begins_with_a_part_of_the_changelog(copied):
    folder, run = copied
    old = (folder / "CHANGELOG.md").read_text("utf-8").partition("\n## ")[2]
    ran = run("set", "2.4.0.dev0")
    assert sorted(ran.stdout.splitlines()) == ["CHANGELOG.md", "alignkit/version.py"]
    new = (folder / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## 2.4.0.dev0 (unreleased)\n\n## {old}" in new
    changed = subprocess.check_output(["git", "diff", "--name-only"], cwd=folder, text=True)
    assert sorted(changed.splitlines()) == sorted(ran.stdout.splitlines())
    assert "2.4.0.dev0 is a version to come" in run("check", "v2.4.0.dev0", OWN).stderr
    assert run("set", "2.4").returncode == 1


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("CITATION.cff", "version: 2.3.4", "version: 0.1.0", "has another version"),
        ("CHANGELOG.md", "## 2.3.4 (", "## 0.1.0 (", "has another version"),
        ("CHANGELOG.md", f"({today()})", "(unreleased)", "the date is 'unreleased'"),
        ("SECURITY.md", "mail to", "mail to me@here.example, or", "ends in .example"),
        ("CITATION.cff", "name: Ada", "name: The alignkit developers", "names of the authors"),
        ("setup.cfg", "= Ada", "= The alignkit developers", "names of the authors"),
        ("setup.cfg", "5 - Production/Stable", "4 - Beta", "'Development Status :: 5"),
    ],
)
def test_what_is_left_to_do_is_named(name, old, new, message, ready):
    folder, run = ready
    assert run("check").stdout == "the files are ready for 2.3.4\n"
    replace_in(folder / name, old, new)
    ran = run("check")
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert line.startswith(f"{name}")
    assert message in line


def test_a_candidate_may_be_beta(ready):
    folder, run = ready
    replace_in(folder / "setup.cfg", "5 - Production/Stable", "4 - Beta")
    run("set", "3.0.0rc1")
    assert run("check").stdout == "the files are ready for 3.0.0rc1\n"


def test_other_addresses_are_written_everywhere(copied):
    folder, run = copied
    assert run("move", "github.com/us/words", "https://words.org/ak").returncode == 0
    for path in folder.rglob("*.*"):
        if path.is_file() and ".git" not in path.parts:
            text = path.read_text("utf-8")
            assert addresses.REPOSITORY not in text
            assert addresses.SITE not in text
    setup = (folder / "setup.cfg").read_text("utf-8")
    assert "Source = https://github.com/us/words\n" in setup
    assert "Documentation = https://words.org/ak/latest/\n" in setup


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("us/words", "https://words.org/"), "such as github.com/OWNER/REPOSITORY"),
        (("https://github.com/us/words", "https://words.org/"), "such as github.com/"),
        (("github.com/us/words/", "https://words.org/"), "such as github.com/"),
        (("github.com/us/words", "words.org"), "begins with https://"),
    ],
)
def test_addresses_of_another_form_are_refused(words, message, copied):
    folder, run = copied
    ran = run("move", *words)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert subprocess.check_output(["git", "status", "--porcelain"], cwd=folder) == b""


def test_all_tests_are_run_in_whole_length_if_asked_for(tmp_path):
    """.ci/run takes the variables of alignkit away, and gives this one back to its last step."""
    if not (ROOT / ".ci").exists() or not shutil.which("bash"):
        pytest.skip("needs a checkout and bash")
    text = text_of(".ci/run")
    begin = text[: text.index("export PIP_COMPILE")]
    begin += "env | grep -c ALIGNKIT_ || true\nrun() { echo ${ALIGNKIT_FULL-unset}; }\n"
    script = tmp_path / ".ci" / "run"
    script.parent.mkdir()
    script.write_text(begin + text[text.index("workers=") :], "utf-8")
    for full, in_last_step in (("1", "1"), ("", "unset")):
        environment = {**os.environ, "ALIGNKIT_FULL": full}
        printed = subprocess.check_output(["bash", script], env=environment, text=True)
        assert printed == f"0\n{in_last_step}\n"


def test_the_citation_is_as_it_should_be():
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["repository-code"] == addresses.REPOSITORY
    assert citation["url"] == addresses.SITE
    assert str(citation["version"]) == RELEASED
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
    assert (str(package.name), str(package.version)) == ("alignkit", RELEASED)
    assert f"alignkit-{RELEASED}.tar.gz" in str(variant.recipe.to_dict()["source"])
