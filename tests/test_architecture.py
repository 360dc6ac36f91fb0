"""The page `architecture.md` names the files that there are, and its tree names all modules."""

import re
from pathlib import Path

import pytest
from console import ROOT, page_text

import alignkit
from alignkit.cli.commands import COMMANDS

PACKAGE = Path(alignkit.__file__).parent
FILE = re.compile(r"(?<![\w*/])[\w/-]+\.(?:py|js|html)\b")
FOLDER = re.compile(r"^( {0,6})(\w+)/ +")
REMARK = re.compile(r" \([^()]*\)")
SCRIPTS = "alignkit/annotate/server/page"


def tree():
    """Return what the tree says of each folder, by its path."""
    _, _, rest = page_text("architecture.md").partition("```text\n")
    text, _, _ = rest.partition("\n```")
    said, folders = {}, []
    for line in text.splitlines():
        folder = FOLDER.match(line)
        if folder:
            folders[len(folder[1]) // 2 :] = [folder[2]]
        said.setdefault("/".join(folders), []).append(FOLDER.sub("", line, count=1).strip())
    return {place: " ".join(lines) for place, lines in said.items()}


def modules_named(said):
    """Return the modules that are listed behind the colon; what is in brackets is about them."""
    _, _, listed = REMARK.sub("", said).partition(": ")
    return {name.strip() for name in re.split("[,;]", listed)} - {""}


def follows_a_rule(path):
    """Whether a module need not be named: its name follows from a rule that the page states."""
    name = path.stem
    if path.suffix == ".js":
        return path.with_suffix(".html").exists()
    if name.startswith("__"):
        return True
    if name.endswith("_kernel"):
        return path.with_name(f"{name.removesuffix('_kernel')}.py").exists()
    if path.parent.parent.name == "cli":
        return name.split("_")[0] in COMMANDS
    is_format = path.parent.name in ("formats", "files")
    return is_format and "\nFORMAT = " in path.read_text(encoding="utf-8")


def test_the_files_that_the_page_names_exist():
    paths = [path.relative_to(ROOT) for path in ROOT.glob("tests/*.py")]
    paths += [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.*")]
    files = {"/".join(path.parts[k:]) for path in paths for k in range(len(path.parts))}
    for name in FILE.findall(page_text("architecture.md")):
        assert name in files or "NAME" in name, f"the architecture names {name}"


def test_the_tree_has_the_folders_of_the_package():
    folders = {path.parent for path in PACKAGE.rglob("__init__.py")}
    folders = {path.relative_to(PACKAGE.parent).as_posix() for path in folders}
    assert tree().keys() == folders | {SCRIPTS}


@pytest.mark.parametrize("folder", tree())
def test_the_tree_names_the_modules_of_a_folder(folder):
    paths = [*(ROOT / folder).glob("*.js" if folder == SCRIPTS else "*.py")]
    there = {path.stem for path in paths}
    named = modules_named(tree()[folder]) - {"types.d.ts"}
    assert named <= there, f"{folder} has no {sorted(named - there)}"
    unnamed = {path.stem for path in paths if not follows_a_rule(path)} - named
    assert not unnamed, f"name {sorted(unnamed)} in the tree of architecture.md, not in brackets"
