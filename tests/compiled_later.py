"""Run the commands of the goldens and of the pages; print the kernels that are compiled meanwhile.

``python tests/compiled_later.py`` in any folder: a line for each kernel and the types of its
arguments, after what the commands print. `python compiled_later.py rehearsals` instead runs the
commands of `alignkit compile`, and prints the kernels that are called.
"""

import contextlib
import io
import os
import shlex
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from numba.core import event

from alignkit._support.jit import Kernel
from alignkit.cli import main
from alignkit.cli.kernels.rehearsal import REHEARSALS, rehearse, write_files

ON_A_CLUSTER = [
    "align 'part*.source' 'part*.target' -o 'part*.align' --save parts.model --work work",
    "phrases 'part*.gold' --source 'part*.source' --target 'part*.target' --table -o parts.tsv",
    "pivot parts.tsv -o pivots.tsv",
]
"""Commands whose kernels are compiled by workers: what they compile is a file more."""


class Listener(event.Listener):
    """The kernels of alignkit that were compiled."""

    def __init__(self):
        self.compiled = []

    def on_start(self, event):
        function = getattr(event.data["dispatcher"], "py_func", None)
        if str(getattr(function, "__module__", "")).startswith("alignkit."):
            name = f"{function.__module__}.{function.__qualname__}"
            self.compiled.append(f"{name} {event.data.get('args')}")

    def on_end(self, event):
        pass


def commands():
    """Return the words of the commands of the goldens and the pages; write what they need here."""
    import test_goldens
    from test_pages import EXAMPLES, FILES, PAGES

    test_goldens.inputs()
    for page in PAGES:
        for name, text in FILES.findall(page.read_text(encoding="utf-8")):
            Path(name).write_text(text, encoding="utf-8")
    yield from (words.split() for words in test_goldens.CASES.values())
    for _, command, _ in EXAMPLES:
        yield shlex.split(command.partition(" | ")[0])[1:]
    if find_spec("distributed") is not None:
        write_files()
        yield from (shlex.split(f"{words} --cluster local:1") for words in ON_A_CLUSTER)


def later():
    """Return the kernels that these commands compile."""
    listener = Listener()
    event.register("numba:compile", listener)
    for words in commands():
        raw = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with contextlib.redirect_stdout(raw):
            main([*words, "--quiet"])
    return listener.compiled


def called_by(kernel):
    """Return the kernels that a kernel names."""
    names = kernel.py_func.__code__.co_names
    values = [kernel.py_func.__globals__.get(name) for name in names]
    for module in [value for value in values if isinstance(value, ModuleType)]:
        values += [getattr(module, name, None) for name in names]
    return [value for value in values if isinstance(value, Kernel)]


def called():
    """Return the kernels that the rehearsals call, or that such kernels call."""
    start = os.getcwd()
    for name in REHEARSALS:
        os.mkdir(name)
        os.chdir(name)
        assert rehearse(name, main) == 0, name
        os.chdir(start)
    kernels = {
        f"{value.py_func.__module__}.{value.py_func.__qualname__}": value
        for module in list(sys.modules.values())
        for value in vars(module).values()
        if isinstance(value, Kernel) and value.py_func.__module__.startswith("alignkit.")
    }
    waiting = [kernel for kernel in kernels.values() if kernel.compiled.signatures]
    reached = set()
    while waiting:
        kernel = waiting.pop()
        if kernel in reached:
            continue
        reached.add(kernel)
        waiting += called_by(kernel)
    return [name for name, kernel in kernels.items() if kernel in reached]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with contextlib.redirect_stdout(io.StringIO()):
            names = called() if sys.argv[1:] == ["rehearsals"] else later()
        os.chdir("/")
    for name in sorted(set(names)):
        print(name)
