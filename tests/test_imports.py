"""Imports run one way, from the faces to the core, without a cycle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import alignkit

ROOT = Path(alignkit.__file__).parent

# what shows a result as a table stands below the results, which print themselves
TABLES = {
    "report.characters",
    "report.columns",
    "report.medium",
    "report.table",
    "report.table_csv",
    "report.table_html",
    "report.table_latex",
    "report.table_markdown",
    "report.table_text",
}

# cli -> report -> doctor, agreement -> scoring, formats -> ... -> alignment -> errors
LAYERS = [
    {"kernel_cache"},
    {
        "brief",
        "errors",
        "version",
        "frozen",
        "jit",
        "jsonable",
        "natural_order",
        "signals",
        "visible",
        "word_graph",
    },
    {"apportioning", "limits", "arguments", "parallel", "tokenization"},
    {"alignment", "input", "labels", "moment", *TABLES},
    {"annotation", "output", "phrase_pair", "trees", "vectors"},
    {"plain", "sentence_pair"},
    {"labels.rewrites"},
    {"corpus", "arrays"},
    {
        "choice",
        "join",
        "in_step",
        "labels.label_counts",
        "labels.label_matrix",
        "labels.training_rows",
        "pairings",
        "corpus_counts",
        "nltk_bridge",
        "overview",
        "phrase_kernel",
        "symmetrize_kernel",
    },
    {"leaks"},
    {"phrases", "selection", "symmetrization"},
    {"aligner", "formats"},
    {"tables", "texts"},
    {"cluster"},
    {"scoring"},
    {"rules"},
    {"agreement", "doctor"},
    {"report"},
    {"annotate", "audit", "profiles"},
    {"annotate.log"},
    {"annotate.tables"},
    {"annotate.store"},
    {"annotate.assignment", "annotate.replay", "annotate.replay_share"},
    {"annotate.exchange"},
    {"annotate.gold", "annotate.learning", "annotate.pull"},
    {"annotate.dashboard"},
    {"annotate.server"},
    {"cli"},
    {"__main__", ""},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# results that print or draw themselves load what draws, when they are asked to
UPWARD = {
    "annotate.pull.result": {"annotate.pull.tables"},
}
SHOWN = {  # openly, in a method
    "agreement.judgments.result": {
        "alignkit.agreement.show.media",
        "alignkit.agreement.judgments.show",
    },
    "agreement.result": {
        "alignkit.agreement.show.media",
        "alignkit.agreement.show.page",
    },
    "corpus": {"alignkit.model.corpus"},
    "sentence_pair": {"alignkit.model.phrases", "alignkit.show.html"},
}
# one of many of the same kind, by its name in a table
BY_NAME = {
    "cli.main": {"cli."},
    "formats.registry": {"formats."},
    "rules.files.registry": {"rules.files."},
    "jit": {"numba.np.arraymath"},
}
HOMES = {
    "numba": {"jit", "kernel_cache"},
    "lxml": {"formats"},
    "networkx": {"alignment", "sentence_pair", "word_graph"},
    "nltk": {"nltk_bridge", "tokenization", "trees"},
    "matplotlib": {"report"},
    "jinja2": {"report"},
    "sqlalchemy": {"annotate"},
    "msgspec": {"annotate"},
    "markdown_it": {"annotate"},
    "starlette": {"annotate"},
    "uvicorn": {"annotate"},
    "dask": {"cluster"},
    "distributed": {"cluster"},
}


def module_name(path: Path) -> str:
    parts = ("alignkit", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            deeper = {f"{node.module}.{alias.name}" for alias in node.names} & set(MODULES)
            found.update(deeper or {node.module})
    return found


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def rank(module: str) -> int:
    name = module.removeprefix("alignkit.")
    while name not in RANK and "." in name:
        name = name.rpartition(".")[0]
    return RANK.get(name, -1)


@pytest.mark.parametrize("module", [name for name in MODULES if name != "alignkit"])
def test_a_module_imports_only_from_below(module: str) -> None:
    mine = room(module)
    assert mine in RANK, f"{module} has no layer: give it one above"
    for target in imports(MODULES[module]) - shown(module):
        if target.startswith("alignkit"):
            lower = rank(target) < rank(module)
            beside = room(target) == mine and rank(target) == rank(module)
            assert lower or beside, f"{module} imports {target}"


def shown(module: str) -> set[str]:
    return SHOWN.get(module.removeprefix("alignkit."), set())


def shown_by(path: Path) -> set[str]:
    """Return what a module loads by a name that it spells out."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            (name,) = node.args
            first = name.values[0] if isinstance(name, ast.JoinedStr) else name
            assert isinstance(first, ast.Constant)
            found.add(f"{first.value}".removeprefix("alignkit."))
    return found


def test_what_goes_up_when_it_is_asked_to_is_known() -> None:
    found = {
        name.removeprefix("alignkit."): loaded
        for name, path in MODULES.items()
        if path.name != "__init__.py" and (loaded := shown_by(path))
    }
    assert found == UPWARD | BY_NAME


def test_there_is_no_cycle() -> None:
    graph = {
        name: imports(path) & set(MODULES) - {name} - shown(name)
        for name, path in MODULES.items()
        if name != "alignkit"
    }
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("library", HOMES)
def test_each_third_party_has_one_home(library: str) -> None:
    users = {
        room(name)
        for name, path in MODULES.items()
        if any(target.split(".")[0] == library for target in imports(path))
    }
    assert users <= HOMES[library]


def test_kernels_import_nothing_but_kernels() -> None:
    """Numba freezes what a kernel uses; `alignkit._support.jit` forgets that when a kernel file changes."""
    for name, path in MODULES.items():
        if name.endswith("kernel"):
            used = {target for target in imports(path) if target.startswith("alignkit")}
            assert all(target.endswith(("jit", "kernel")) for target in used), name
