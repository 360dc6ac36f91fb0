"""Imports run one way: no cycle, few rooms above each other, and a public class name only once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

import alignkit

ROOT = Path(alignkit.__file__).parent
HOMES = {
    "numba": {"_support"},
    "lxml": {"io"},
    **{name: {"model"} for name in ("networkx", "nltk")},
    "matplotlib": {"show", "scoring"},
    "jinja2": {"show", "agreement", "rules"},
    **{n: {"annotate"} for n in ("sqlalchemy", "msgspec", "markdown_it", "starlette", "uvicorn")},
    "sklearn": {"identification"},
    **{name: {"align"} for name in ("torch", "transformers", "huggingface_hub")},
    **{name: {"cluster"} for name in ("dask", "distributed")},
}
# a notebook asks an object to draw itself: what draws may know the object
NOTEBOOK = {"_repr_html_", "_repr_svg_", "to_html"}
WORDS = {"found", "one", "told"}


def module_name(path: Path) -> str:
    parts = ("alignkit", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


PATHS = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


class Module(NamedTuple):
    """What the tests ask of a module; its tree is not kept, for all trees together are large."""

    imports: set[str]
    classes: list[str]
    names: set[str]


@cache
def modules() -> dict[str, Module]:
    return {name: look_at(name, ast.parse(path.read_bytes())) for name, path in PATHS.items()}


def look_at(module: str, tree: ast.Module) -> Module:
    classes: list[str] = []
    names: set[str] = set()
    for node in ast.walk(tree):
        names.update(names_given(node))
        if isinstance(node, ast.ClassDef):
            classes.append(node.name)
    return Module(imports_of(module, tree), classes, names)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    waiting = [node]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if not (isinstance(child, ast.FunctionDef) and child.name in NOTEBOOK):
                yield child
                waiting.append(child)


def loaded_by_name(call: ast.Call) -> Iterator[str]:
    """The modules that a call of `import_module` may load."""
    (name,) = call.args
    if isinstance(name, ast.Constant):
        yield name.value
        return
    assert isinstance(name, ast.JoinedStr), ast.unparse(call)
    texts = [part.value if isinstance(part, ast.Constant) else None for part in name.values]
    assert texts[0], ast.unparse(call)  # the rest may be any name without dots
    pattern = "".join(r"[^.]+" if text is None else re.escape(text) for text in texts)
    yield from (known for known in PATHS if re.fullmatch(pattern, known))


def imports_of(module: str, tree: ast.Module) -> set[str]:
    targets: set[str] = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module}: relative import"
            deeper = {f"{node.module}.{alias.name}" for alias in node.names} & PATHS.keys()
            targets.update(deeper or {node.module})
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            targets.update(loaded_by_name(node))
    return targets - {module}


def imports() -> dict[str, set[str]]:
    return {name: module.imports for name, module in modules().items()}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_modules_have_no_cycle() -> None:
    packages = {module_name(path.parent / "__init__.py") for path in ROOT.rglob("__init__.py")}
    graph = {
        module: {name for name in targets if name in PATHS and name not in packages}
        for module, targets in imports().items()
        if module not in packages
    }
    TopologicalSorter(graph).prepare()


def test_rooms_have_no_cycle_and_a_short_chain() -> None:
    graph: dict[str, set[str]] = {}
    for module, targets in imports().items():
        if module != "alignkit":
            rooms = {room(name) for name in targets if name in PATHS and name != "alignkit"}
            graph.setdefault(room(module), set()).update(rooms - {room(module)})
    height: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        height[name] = 1 + max((height[below] for below in graph[name]), default=0)
    assert max(height.values()) <= 11, height


def test_the_package_is_small_enough_to_be_seen_at_once() -> None:
    assert len([entry for entry in ROOT.iterdir() if entry.name != "__pycache__"]) <= 22


def test_a_public_class_name_exists_once() -> None:
    names = Counter(chain.from_iterable(module.classes for module in modules().values()))
    repeated = [name for name, times in names.items() if times > 1]
    assert [name for name in repeated if not name.startswith("_")] == []


def names_given(node: ast.AST) -> Iterator[str]:
    """The names that a statement gives to a variable, a function, a class or an argument."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg


def test_a_private_name_of_a_module_is_used() -> None:
    defined = re.compile(r"^(?:def |class )?(_[a-zA-Z]\w*)(?=[ (:\[])", re.MULTILINE)
    unused = []
    for path in PATHS.values():
        text = path.read_text("utf-8")
        used = Counter(re.findall(r"\w+", text))
        unused += [(path.name, name) for name in defined.findall(text) if used[name] == 1]
    assert not unused


def test_names_say_what_they_hold() -> None:
    for name, module in modules().items():
        assert not WORDS & module.names, name


@pytest.mark.parametrize("library", HOMES)
def test_each_third_party_has_one_home(library: str) -> None:
    assert {
        room(module)
        for module, targets in imports().items()
        if any(name.split(".")[0] == library for name in targets)
    } <= HOMES[library]


def test_kernels_import_nothing_but_kernels() -> None:
    """Numba freezes what a kernel uses; `jit` forgets that when a kernel file changes."""
    for module, targets in imports().items():
        if module.endswith("kernel"):
            used = {name for name in targets if name.startswith("alignkit")}
            assert all(
                name.endswith(("jit", "eights", "kernel", "array_types")) for name in used
            ), module
