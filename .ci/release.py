"""Prepare and check a release, as docs/contribute/release.md describes it.

python .ci/release.py set 1.0.0         write the version, with today's date
python .ci/release.py set 1.1.0.dev0    begin the next version, with a new part of the changelog
python .ci/release.py check             are the files ready for the version that they name?
python .ci/release.py check v1.0.0 [OWNER/REPOSITORY]    can this tag be published?
python .ci/release.py dry-run 7         write the version of the seventh dry run
python .ci/release.py move github.com/OWNER/REPOSITORY https://SITE/    write other addresses
"""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILLED = {
    "alignkit/version.py": r'(__version__ = ")([^"]+)',
    "CITATION.cff": r"(\nversion: )(\S+)",
    "CHANGELOG.md": r"(\n## )(\d\S+)",
    "docs/contribute/recipe.yaml": r'(\n  version: ")([^"]+)',
}
"""What stands before the version, and the version: all else reads the first of these files, the
others are filled in by `set`."""
OF_RELEASES = {"CITATION.cff", "docs/contribute/recipe.yaml"}
"""Files that name the last release while the next version is being developed."""
DATES = {
    "CITATION.cff": r"(\ndate-released: )(\S+)",
    "CHANGELOG.md": r"(\n## \d\S+ \()([^)]+)",
}
UNFILLED = {
    "SECURITY.md": (r"\S+@\S*\.example\b", "fill in the address that ends in .example"),
    "CITATION.cff": (r"The alignkit developers", "fill in the names of the authors"),
    "setup.cfg": (r"author = The alignkit developers", "fill in the names of the authors"),
}
"""What only the maintainers can fill in, and how `check` asks for it."""


def first(pattern: str, name: str) -> str:
    """Return the second group of the first match in a file."""
    match = re.search(pattern, (ROOT / name).read_text("utf-8"))
    if match is None:
        raise SystemExit(f"{name}: nothing matches {pattern}")
    return match[2]


def replace_first(pattern: str, text: str, name: str) -> None:
    """Replace the second group of the first match in a file."""
    first(pattern, name)
    path = ROOT / name
    changed = re.sub(pattern, rf"\g<1>{text}", path.read_text("utf-8"), count=1)
    path.write_text(changed, "utf-8")


def today() -> str:
    """Return the date in UTC, which is the same here and on the hosted machine."""
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def set_version(version: str) -> None:
    """Write a version, and the date of today; begin a part of the changelog for one to come."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+|\.dev\d+)?", version):
        raise SystemExit(f"{version}: expected a version such as 1.2.0, 1.2.0rc1 or 1.2.0.dev0")
    to_come = ".dev" in version
    if to_come:
        path = ROOT / "CHANGELOG.md"
        before, heading, rest = path.read_text("utf-8").partition("\n## ")
        begun = f"\n## {version} (unreleased)\n{heading}"
        path.write_text(f"{before}{begun}{rest}", "utf-8")
    for name, pattern in FILLED.items():
        if to_come and name in OF_RELEASES:
            continue
        replace_first(pattern, version, name)
        if name in DATES and not to_come:
            replace_first(DATES[name], today(), name)
        print(name)


def set_dry_run(number: str) -> None:
    """Write a version that no other dry run has: the test index keeps each for good."""
    name = "alignkit/version.py"
    begun = first(FILLED[name], name).partition(".dev")[0]
    version = f"{begun}.dev{int(number)}"
    replace_first(FILLED[name], version, name)
    print(version)


def problems(version: str, date: str | None) -> list[str]:
    """Return what the files lack that name a version to release.

    The changelog and the citation must have the date; None stands for any.
    """
    if ".dev" in version:
        return [f"{version} is a version to come: run 'python .ci/release.py set' with a release"]
    wrong = []
    again = f"run 'python .ci/release.py set {version}'"
    for name, pattern in FILLED.items():
        if first(pattern, name) != version:
            wrong.append(f"{name} has another version: {again}")
    for name, pattern in DATES.items():
        written = first(pattern, name)
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", written):
            wrong.append(f"{name}: the date is {written!r}: {again}")
        elif date not in (None, written):
            wrong.append(f"{name}: the date is {written}, today is {date} (UTC): {again} again")
    for name, (pattern, request) in UNFILLED.items():
        if re.search(pattern, (ROOT / name).read_text("utf-8")):
            wrong.append(f"{name}: {request}")
    final = re.fullmatch(r"[1-9]\d*\.\d+\.\d+", version)
    if final and first(r"(Development Status :: )(\d)", "setup.cfg") != "5":
        wrong.append("setup.cfg: write 'Development Status :: 5 - Production/Stable'")
    return wrong


def git(*words: str) -> str | None:
    """Return what a command of git prints, or None if it fails."""
    ran = subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    return ran.stdout if ran.returncode == 0 else None


def problems_of_the_commit() -> list[str]:
    """Return what keeps the current commit from being tagged."""
    changed = git("status", "--porcelain")
    if changed is None:
        return ["this is no checkout of git, so there is nothing to tag"]
    wrong = []
    if changed:
        wrong.append(f"commit or remove these files:\n{changed.rstrip()}")
    main_branch = "main"
    if git("rev-parse", "--verify", "--quiet", "origin/main") is not None:
        main_branch = "origin/main"
    if git("merge-base", "--is-ancestor", "HEAD", main_branch) is None:
        wrong.append(
            f"the current commit is not on {main_branch}: merge it there, then run "
            "'git switch main && git pull --ff-only'"
        )
    return wrong


def check(tag: str | None = None, repository: str | None = None) -> None:
    """Say whether a tag can be published from a repository; without a tag, look at files alone."""
    version = first(FILLED["alignkit/version.py"], "alignkit/version.py")
    date: str | None = today()
    if tag and git("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}") is not None:
        date = None  # the tag may be older than this run of the workflow
    wrong = problems(version, date)
    if tag:
        if tag != f"v{version}":
            wrong.append(f"the tag is {tag}, the version {version}: tag v{version}")
        wrong += problems_of_the_commit()
    address = first(r"(Source = https://github\.com/)(\S+)", "setup.cfg")
    if repository not in (None, address):
        wrong.append(f"this is {repository}, but setup.cfg says {address}: run 'move'")
    if wrong:
        raise SystemExit("\n".join(wrong))
    if tag:
        print(f"{tag} can be published")
    else:
        print(f"the files are ready for {version}")


def move(repository: str, site: str) -> None:
    """Write other addresses of the repository and of the site into all files that name them."""
    if not re.fullmatch(r"github\.com/[\w.-]+/[\w.-]+", repository):
        raise SystemExit(f"{repository}: expected an address such as github.com/OWNER/REPOSITORY")
    if not re.fullmatch(r"https://\S+", site):
        raise SystemExit(f"{site}: expected an address that begins with https://")
    old_repository = first(r"(Source = https://)(\S+)", "setup.cfg")
    old_site = first(r"(Documentation = )(\S+)latest/", "setup.cfg")
    changes = {
        old_site: f"{site.rstrip('/')}/",
        old_repository: repository,
        old_repository.replace("github.com", "raw.githubusercontent.com"): repository.replace(
            "github.com", "raw.githubusercontent.com"
        ),
    }
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, encoding="utf-8")
    for name in names.split("\0"):
        path = ROOT / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        changed = data
        for old, new in changes.items():
            changed = changed.replace(old.encode(), new.encode())
        if changed != data:
            path.write_bytes(changed)
            print(name)


def main(words: list[str]) -> None:
    """Run a command."""
    match words:
        case ["set", version]:
            set_version(version)
        case ["dry-run", number]:
            set_dry_run(number)
        case ["check", *rest] if len(rest) <= 2:
            check(*rest)
        case ["move", repository, site]:
            move(repository, site)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
