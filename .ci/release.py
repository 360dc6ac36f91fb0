"""Prepare and check a release, as docs/contribute/release.md describes it.

python .ci/release.py set 1.0.0         write the version, with today's date
python .ci/release.py set 1.1.0.dev0    begin the next version, with a new part of the changelog
python .ci/release.py check v1.0.0 OWNER/REPOSITORY    can this tag be published?
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
DATES = {
    "CITATION.cff": r"(\ndate-released: )(\S+)",
    "CHANGELOG.md": r"(\n## \d\S+ \()([^)]+)",
}
UNFILLED = re.compile(r"\S+@\S*\.example\b")
"""An address that only the maintainers can fill in."""


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


def set_version(version: str) -> None:
    """Write a version, and the date of today; begin a part of the changelog for one to come."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+|\.dev\d+)?", version):
        raise SystemExit(f"{version}: expected a version such as 1.2.0, 1.2.0rc1 or 1.2.0.dev0")
    if ".dev" in version:
        path = ROOT / "CHANGELOG.md"
        before, heading, rest = path.read_text("utf-8").partition("\n## ")
        begun = f"\n## {version} (unreleased)\n{heading}"
        path.write_text(f"{before}{begun}{rest}", "utf-8")
    for name, pattern in FILLED.items():
        replace_first(pattern, version, name)
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for name, pattern in DATES.items():
        if ".dev" not in version:
            replace_first(pattern, today, name)


def problems(tag: str, repository: str) -> list[str]:
    """Return what keeps a tag from being published from a repository."""
    wrong = []
    version = first(FILLED["alignkit/version.py"], "alignkit/version.py")
    if tag != f"v{version}":
        wrong.append(f"the tag is {tag}, the version {version}: tag v{version}")
    for name, pattern in FILLED.items():
        if first(pattern, name) != version:
            wrong.append(f"{name} has another version: run 'python .ci/release.py set {version}'")
    for name, pattern in DATES.items():
        date = first(pattern, name)
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
            wrong.append(f"{name}: the date is {date!r}: run 'python .ci/release.py set {version}'")
    address = first(r"(Source = https://github\.com/)(\S+)", "setup.cfg")
    if address != repository:
        wrong.append(f"this is {repository}, but setup.cfg says {address}: run 'move'")
    if UNFILLED.search((ROOT / "SECURITY.md").read_text("utf-8")):
        wrong.append("SECURITY.md: fill in the address that ends in .example")
    return wrong


def move(repository: str, site: str) -> None:
    """Write other addresses of the repository and of the site into all files that name them."""
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
        case ["check", tag, repository]:
            wrong = problems(tag, repository)
            if wrong:
                raise SystemExit("\n".join(wrong))
            print(f"{tag} can be published")
        case ["move", repository, site]:
            move(repository, site)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
