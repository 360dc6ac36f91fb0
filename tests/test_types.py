"""What type checkers see: every option has its name and type, and the examples type-check."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import alignkit
from alignkit.align import Aligner
from alignkit.identification import Identifier

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "docs" / "types_example.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DATA_BY_NAME = {"Corpus.from_texts"}  # its annotations, by the names that users choose
_IMPORT = re.compile(r"from (alignkit\.[\w.]*\w) import ")
_UNPACK = re.compile(r"Unpack\[(\w+)\]$")


# the signatures at run time
def exported() -> dict[str, Callable[..., object]]:
    """Return the functions and methods that packages export or pages import, by name."""
    functions = {}
    for module in pkgutil.walk_packages(alignkit.__path__, "alignkit."):
        if module.ispkg and not module.name.startswith("alignkit.cli"):
            package = importlib.import_module(module.name)
            for name in getattr(package, "__all__", ()):
                functions.update(functions_of(getattr(package, name), name))
    for page in PAGES:
        for name in _IMPORT.findall(page.read_text(encoding="utf-8")):
            for key, value in vars(importlib.import_module(name)).items():
                if not key.startswith("_") and getattr(value, "__module__", "") == name:
                    functions.update(functions_of(value, key))
    for name in alignkit.__all__:
        functions.update(functions_of(getattr(alignkit, name), name))
    return functions


def functions_of(value: object, name: str) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield a function, or the public methods of a class."""
    if inspect.isfunction(value):
        yield name, value
    if not inspect.isclass(value) or not value.__module__.startswith("alignkit"):
        return
    for key, member in vars(value).items():
        plain = getattr(member, "__func__", member)
        if inspect.isfunction(plain) and (key == "__init__" or not key.startswith("_")):
            yield f"{name}.{key}", plain


def test_every_option_of_a_public_function_has_a_name(problems):
    functions = exported()
    assert len(functions) > 250
    for name, function in functions.items():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD and name not in DATA_BY_NAME:
                problems.append(f"{name} hides options behind **{parameter.name}")
            if re.match(r"Any\b", str(parameter.annotation)):
                problems.append(f"{name}: {parameter.name} may be anything")


def keywords_seen(function: Callable[..., object]) -> dict[str, str]:
    """Return the options of ``**options: Unpack[KEYWORDS]`` with their types, by name."""
    hints = inspect.unwrap(function).__annotations__
    for hint in hints.values():
        named = _UNPACK.match(str(hint))
        if named:
            kind = inspect.unwrap(function).__globals__[named[1]]
            return {name: of_text(hint) for name, hint in kind.__annotations__.items()}
    return {}


def of_text(hint: object) -> str:
    """Return an annotation as it stands in the source."""
    text = getattr(hint, "__forward_arg__", None) or str(hint)
    return text.replace("str | PathLike[str]", "str").replace("'", '"')


UNPACKING = {name: function for name, function in exported().items() if keywords_seen(function)}


def test_type_checkers_see_the_options_that_the_function_has(problems):
    assert {"read_corpus", "aer", "Aligner.train", "retrieve", "profile_rows"} <= UNPACKING.keys()
    for name, function in UNPACKING.items():
        plain = inspect.unwrap(function)
        own = plain.__code__.co_varnames[: plain.__code__.co_argcount]
        own += plain.__code__.co_varnames[len(own) : len(own) + plain.__code__.co_kwonlyargcount]
        shown = {
            each.name: of_text(each.annotation)
            for each in inspect.signature(function).parameters.values()
            if each.kind is inspect.Parameter.KEYWORD_ONLY and each.name not in own
        }
        seen = keywords_seen(function)
        for option in sorted(shown.keys() | seen.keys()):
            if shown.get(option) != seen.get(option):
                problems.append(f"{name}: {option}: {shown.get(option)} or {seen.get(option)}")


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (alignkit.score, {"corpus", "hypothesis", "reference"}),
        (alignkit.kappa, set()),
        (alignkit.alpha, set()),
        (alignkit.fleiss, set()),
        (alignkit.C, set()),
        (Aligner.align, {"self", "source", "target"}),
    ],
)
def test_overloads_name_the_options_that_the_signature_shows(function, data):
    stub = overloads_of(inspect.unwrap(function))
    shown = {
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert stub - data == shown


def overloads_of(function: Callable[..., object]) -> set[str]:
    """Return the names of options in the overloads of a function, as its source has them."""
    module = sys.modules[function.__module__]
    names = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, ast.FunctionDef) or node.name != function.__name__:
            continue
        if "overload" not in [getattr(each, "id", "") for each in node.decorator_list]:
            continue
        names |= {each.arg for each in node.args.kwonlyargs}
        if node.args.kwarg is not None and node.args.kwarg.annotation is not None:
            kind = _UNPACK.match(ast.unparse(node.args.kwarg.annotation))
            assert kind is not None
            names |= vars(module)[kind[1]].__annotations__.keys()
    return names


def test_help_and_a_type_checker_agree_about_identifier_train():
    parameters = inspect.signature(Identifier.train).parameters
    assert parameters["strengths"].annotation == "Sequence[float]"
    assert parameters["strengths"].default == (0.01, 0.1, 1.0)


# the examples under the checkers
def mypy(folder: Path, *more: str) -> dict[tuple[str, int], str]:
    """Return the errors of mypy in the files of a folder, by file and line."""
    settings = folder / "mypy.ini"
    settings.write_text("[mypy]\nfollow_imports = silent\nignore_missing_imports = true\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), *more]
    command += [f"--cache-dir={folder.parent / 'mypy'}", "--no-error-summary", "--no-pretty"]
    ran = subprocess.run(
        [*command, *map(str, sorted(folder.glob("*.py")))],
        env={"MYPYPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ran.stderr, ran.stderr
    errors = {}
    for path, line, text in re.findall(r"^(.*?):(\d+): error: (.*)$", ran.stdout, re.MULTILINE):
        errors[Path(path).name, int(line)] = text
    return errors


def pyright(folder: Path, mode: str) -> dict[tuple[str, int], str]:
    """Return the errors of pyright in the files of a folder, by file and line."""
    beside = Path(sys.executable).with_name("pyright")
    if beside.exists():
        command: str | None = str(beside)
    else:
        command = shutil.which("pyright")
    if command is None:
        pytest.skip("pyright is not installed (pip install pyright)")
    settings = {"extraPaths": [str(ROOT)], "typeCheckingMode": mode}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    ran = subprocess.run(
        [command, "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True,
        text=True,
        check=False,
    )
    start = ran.stdout.find("{")
    if start < 0:
        pytest.skip(f"pyright does not run here: {ran.stderr[-200:]}")
    report = json.loads(ran.stdout[start:])
    assert report["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py")))
    errors = {}
    for each in report["generalDiagnostics"]:
        if each["severity"] == "error":
            line = each["range"]["start"]["line"] + 1
            errors[Path(each["file"]).name, line] = each["message"]
    return errors


def checked(checker: str, folder: Path, *, strict: bool) -> dict[tuple[str, int], str]:
    """Return the errors of a checker in the files of a folder."""
    if checker == "pyright":
        return pyright(folder, "strict" if strict else "standard")
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    if strict:
        return mypy(folder, "--strict")
    return mypy(folder, "--check-untyped-defs", "--allow-redefinition")


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_checkers_find_exactly_the_wrong_calls(checker, tmp_path):
    folder = tmp_path / "example"
    folder.mkdir()
    shutil.copy(EXAMPLE, folder)
    lines = EXAMPLE.read_text().splitlines()
    wrong = {k for k, line in enumerate(lines, 1) if line.endswith("  # wrong")}
    assert len(wrong) == 10
    errors = checked(checker, folder, strict=True)
    assert {line for _, line in errors} == wrong, errors


def page_of(path: Path) -> str:
    """Return the examples of a page as a program, each on the line where the page has it."""
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(path.read_text(encoding="utf-8")):
        if example.options.get(doctest.SKIP):
            continue
        lines += [""] * (example.lineno - len(lines))
        lines += example.source.rstrip("\n").split("\n")
    return "\n".join(lines) + "\n" if lines else ""


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_examples_of_all_pages_type_check(checker, tmp_path, problems):
    folder = tmp_path / "pages"
    folder.mkdir()
    pages = {}
    for path in PAGES:
        program = page_of(path)
        if program:
            name = f"page_{path.stem}.py".replace("-", "_")
            assert name not in pages
            pages[name] = path.relative_to(ROOT)
            (folder / name).write_text(program, encoding="utf-8")
    assert {"page_README.py", "page_python.py"} <= pages.keys()
    for (name, line), text in checked(checker, folder, strict=False).items():
        problems.append(f"{pages[name]}:{line}: {text.splitlines()[0]}")
