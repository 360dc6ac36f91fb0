"""Put samples and guidelines into the wheel; make the README a page of the package index."""

from __future__ import annotations

import os
import re
from configparser import ConfigParser
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("samples", "guidelines")
# not the projects that lie beside them
SUFFIXES = {".align", ".jsonl", ".md", ".trees", ".tsv", ".txt"}


LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)"
)


def described() -> str:
    """Return README.md with links to the files of this version in the repository.

    The package index shows this text at an address where relative links lead nowhere. A version
    to come has no tag, so its links lead to main.
    """
    config = ConfigParser()
    config.read("setup.cfg", encoding="utf-8")
    urls = config["metadata"]["project_urls"].strip().splitlines()
    repository = dict(line.split(" = ") for line in urls)["Source"]
    code = Path("alignkit", "version.py").read_text("utf-8")
    version = re.findall(r'__version__ = "(.+)"', code)[0]
    tag = "main" if ".dev" in version else f"v{version}"
    raw = repository.replace("github.com", "raw.githubusercontent.com")

    def absolute(link: re.Match[str]) -> str:
        place = f"{repository}/blob/{tag}"
        if link["picture"]:
            place = f"{raw}/{tag}"
        address = f"{place}/{link['path']}{link['anchor'] or ''}"
        return f"{link['picture']}[{link['text']}]({address})"

    return LINK.sub(absolute, Path("README.md").read_text("utf-8"))


class BuildWithData(build_py):
    """Copy the folders into the package; an editable install finds them where they are."""

    def run(self) -> None:
        """Build the package and copy what belongs into it."""
        super().run()
        if not self.editable_mode:
            for source, target in self._copies():
                self.mkpath(os.path.dirname(target))
                self.copy_file(source, target, preserve_mode=False)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return what was made, for those who list or remove it."""
        outputs: list[str] = super().get_outputs(include_bytecode)
        return outputs if self.editable_mode else outputs + [made for _, made in self._copies()]

    def _copies(self) -> list[tuple[str, str]]:
        return [
            (str(path), os.path.join(self.build_lib, "alignkit", path))
            for folder in FOLDERS
            for path in sorted(Path(folder).rglob("*"))
            if path.suffix in SUFFIXES and not any(part.startswith(".") for part in path.parts)
        ]


setup(cmdclass={"build_py": BuildWithData}, long_description=described())
