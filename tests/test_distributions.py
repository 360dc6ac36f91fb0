"""The distributions: the source holds all that git tracks, the wheel the package and its data."""

import configparser
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).parent.parent
BY_ITSELF = {"LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.cfg", "setup.py"}
STRAY = [
    "tests/__pycache__/old.pyc",
    "tests/.cache/old.py",
    "tests/.old.swp",
    "docs/old.md~",
    "old/old.py",
    "build/lib/alignkit/old.py",
    "samples/.old.md",
    "samples/paraphrases.jsonl.alignkit",
    "samples/paraphrases.jsonl.alignkit-wal",
]
PACKED = ("samples/", "guidelines/")  # folders at the top that the wheel holds within the package


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("needs git and a clone")
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, encoding="utf-8")
    return [one for one in names.split("\0") if one[:1] not in ("", ".") and (ROOT / one).exists()]


def test_the_manifest_covers_every_file(tracked: list[str]) -> None:
    lines = [line.split() for line in (ROOT / "MANIFEST.in").read_text("utf-8").splitlines()]
    folders = {name for word, *names in lines if word == "graft" for name in names}
    folders |= {names[0] for word, *names in lines if word == "recursive-include"}
    files = {name for word, *names in lines if word == "include" for name in names}
    assert {name for name in tracked if "/" not in name} == files | BY_ITSELF
    assert {name.partition("/")[0] for name in tracked if "/" in name} == folders


def test_the_package_data_covers_every_file(tracked: list[str]) -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    data = {
        path.relative_to(ROOT).as_posix()
        for package, patterns in config["options.package_data"].items()
        for pattern in patterns.replace(",", " ").split()
        for path in ROOT.glob(f"{package.replace('*', 'alignkit.**').replace('.', '/')}/{pattern}")
    }
    assert data == {n for n in tracked if n.startswith("alignkit/") and not n.endswith(".py")}


def test_the_oldest_versions_are_the_lowest_that_setup_allows() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    wanted = [config["options"]["install_requires"]]
    wanted += [extras[name] for name in ("annotate", "postgres", "cluster", "completion")]
    wanted.append(extras["zstd"].partition(";")[0])
    lines = "\n".join(wanted).replace("[binary]", "").split()
    lowest = dict(line.partition(",")[0].split(">=") for line in lines)  # without upper bounds
    lines = (ROOT / "tests" / "oldest.txt").read_text("utf-8").splitlines()
    oldest = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {n: Version(v) for n, v in oldest.items()} == {n: Version(v) for n, v in lowest.items()}


@pytest.fixture(scope="module")
def built(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build.env", reason="needs the package `build` (extra: test)")
    copy, folder = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("dist")
    for name in [*tracked, *STRAY]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if name in STRAY:
            (copy / name).touch()
        else:
            shutil.copyfile(ROOT / name, copy / name)
    ran = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, copy],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


@pytest.mark.slow
def test_the_source_distribution_holds_what_git_tracks(tracked: list[str], built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        held = {file.name.partition("/")[2]: read(packed, file) for file in packed if file.isfile()}
    made = {name for name in held if name.startswith("alignkit.egg-info/")} | {"PKG-INFO"}
    assert set(held) - made == set(tracked)
    for name in set(tracked) - {"setup.cfg"}:  # setuptools adds a section to it
        assert held[name] == (ROOT / name).read_bytes(), name


def read(packed: tarfile.TarFile, file: tarfile.TarInfo) -> bytes:
    stream = packed.extractfile(file)
    assert stream is not None
    return stream.read()


@pytest.mark.slow
def test_the_wheel_holds_the_package_with_samples_and_guidelines(
    tracked: list[str], built: Path
) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    places = {n: n for n in tracked if n.startswith("alignkit/")}
    places |= {f"alignkit/{n}": n for n in tracked if n.startswith(PACKED)}
    with zipfile.ZipFile(wheel) as packed:
        held = {n: packed.read(n) for n in packed.namelist() if ".dist-info/" not in n}
    assert set(held) == set(places)
    for name, place in places.items():
        assert held[name] == (ROOT / place).read_bytes(), name


@pytest.mark.slow
def test_an_unpacked_wheel_finds_samples_and_guidelines(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from alignkit import read_corpus\n"
        "from alignkit._support.shipped import guidelines, samples\n"
        "print(samples(), guidelines(), sep='\\n')\n"
        "print(len(read_corpus(samples() / 'paraphrases.jsonl', format='alignkit-jsonl')))"
    )
    told = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, encoding="utf-8")
    package = tmp_path / "alignkit"
    assert told.split() == [str(package / "samples"), str(package / "guidelines"), "64"]
