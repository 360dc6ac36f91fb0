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


@pytest.mark.parametrize("name", alignkit.__all__)
def test_each_name_is_there_and_documented(name):
    value = getattr(alignkit, name)
    assert name in dir(alignkit)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value)
        assert value.__module__.startswith("alignkit.")


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


@pytest.mark.parametrize("module", MODULES)
def test_a_module_and_what_a_package_exports_are_documented(module):
    loaded = importlib.import_module(module)
    assert inspect.getdoc(loaded)
    for name in getattr(loaded, "__all__", ()):
        value = getattr(loaded, name)
        if isinstance(value, GenericAlias):  # a class to inspect, before Python 3.11
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{module}.{name}"
        for key, member in vars(value).items() if inspect.isclass(value) else ():
            if key[0] != "_" and (inspect.isfunction(member) or isinstance(member, property)):
                assert inspect.getdoc(member), f"{module}.{name}.{key}"
