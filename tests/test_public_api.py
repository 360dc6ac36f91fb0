"""The package offers what it names, documents it, and loads nothing before it is used."""

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import GenericAlias

import pytest

import alignkit

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(alignkit.__path__, "alignkit.")
    if not module.name.endswith("__main__")
)


def python(code):
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout


def undocumented(value, name):
    """Yield the name of a class, or of a member, or of a function that has no docstring."""
    if isinstance(value, GenericAlias):  # a class to inspect, before Python 3.11
        return
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return
    if not inspect.getdoc(value):
        yield name
    members = vars(value).items() if inspect.isclass(value) else ()
    for key, member in members:
        offered = inspect.isfunction(member) or isinstance(member, property)
        if offered and not key.startswith("_") and not inspect.getdoc(member):
            yield f"{name}.{key}"


def test_each_name_is_there_and_documented(problems):
    listed = dir(alignkit)
    for name in alignkit.__all__:
        value = getattr(alignkit, name, None)
        if value is None or name not in listed:
            problems.append(f"{name} is not there")
        problems += undocumented(value, name)
        defined = inspect.isclass(value) or inspect.isfunction(value)
        if defined and not value.__module__.startswith("alignkit."):
            problems.append(f"{name} is from {value.__module__}")


def test_there_is_no_other_name_nor_a_module_of_a_functions_name():
    with pytest.raises(AttributeError, match="nonsense"):
        alignkit.nonsense  # noqa: B018
    # importing such a module would put it in the function's place
    assert not {path.stem for path in Path(alignkit.__file__).parent.glob("*.py")} & {
        name for name in alignkit.__all__ if not name.startswith("__")
    }


def test_importing_loads_no_library_and_links_need_no_numpy():
    loaded = json.loads(python("import alignkit, sys, json; print(json.dumps(list(sys.modules)))"))
    heavy = {"numpy", "numba", "networkx", "nltk", "lxml", "scipy", "matplotlib", "argparse"}
    assert not heavy & set(loaded)
    assert not {name for name in loaded if name.startswith("alignkit.")}
    code = "import sys; from alignkit import Alignment, SentencePair, Corpus, Annotation, merge; "
    code += "str(Alignment.parse('0-0').transpose()); print('numpy' in sys.modules)"
    assert python(code) == "False\n"


def test_modules_and_what_packages_export_are_documented(problems):
    for module in MODULES:
        loaded = importlib.import_module(module)
        if not inspect.getdoc(loaded):
            problems.append(module)
        for name in getattr(loaded, "__all__", ()):
            problems += undocumented(getattr(loaded, name), f"{module}.{name}")
