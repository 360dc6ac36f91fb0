"""Put samples and guidelines into the wheel, from the one place where each is."""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("samples", "guidelines")
# not the projects that lie beside them
SUFFIXES = {".align", ".jsonl", ".md", ".trees", ".tsv", ".txt"}


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


setup(cmdclass={"build_py": BuildWithData})
