"""Sessions, parts and runs: what is found, done and refused without a cluster."""

import pickle
import re
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from refusals import refuses

from alignkit import cluster, errors
from alignkit.cluster.canary import canary
from alignkit.cluster.connecting import check_address
from alignkit.cluster.parts import Part, find_parts, named
from alignkit.cluster.run import Run, RunError
from alignkit.cluster.session import Session, Task
from alignkit.errors import AlignkitError, ArgumentError, FormatError, OptionError, PartsError
from alignkit.io.atomic_files import WriteError


def made(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n", "utf-8")
    return folder


def test_a_star_joins_the_sides_in_the_order_of_numbers(tmp_path):
    made(tmp_path, "b10.fr", "b2.fr", "b2.en", "b10.en", "other.en", "a[1]/x/fr", "a[1]/y/fr")
    parts = find_parts(f"{tmp_path}/b*.fr", f"{tmp_path}/b*.en")
    assert [part.name for part in parts] == ["2", "10"]
    assert parts[0].paths == (f"{tmp_path}/b2.fr", f"{tmp_path}/b2.en")
    assert [part.name for part in find_parts(f"{tmp_path}/a[1]/*/fr")] == ["x", "y"]
    assert find_parts("in.fr", "in.en") == [Part("", ("in.fr", "in.en"))]  # one part
    made(tmp_path, "a*b")
    assert find_parts(f"{tmp_path}/a*b")[0].name == ""


@pytest.mark.parametrize(
    ("names", "patterns", "told"),
    [
        ("1.fr 2.fr 1.en", "*.fr *.en", "2.fr has no counterpart {}/2.en; each part"),
        ("1.fr 1.en 2.en 3.en", "*.fr *.en", "2.en has no counterpart {}/2.fr, and 1 more"),
        ("1.fr", "*.fr in.en", "in.en: give each side a pattern with one *"),
        ("1.fr", "*.* *.fr", "*.*: give each side a pattern with one *"),
        ("1.fr", "*.en *.fr", "*.en: cannot be read: no file matches"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, names, patterns, told):
    made(tmp_path, *names.split())
    given = [f"{tmp_path}/{pattern}" for pattern in patterns.split()]
    refuses((OptionError, errors.FileError), re.escape(told.format(tmp_path)), find_parts, *given)


def test_outputs_are_named_as_the_parts_and_parts_can_be_read_again():
    assert named("out/*.align.gz", "17") == "out/17.align.gz"
    assert named("out.align", "") == "out.align"
    refuses(OptionError, "there are several parts", named, "out.align", "17")
    refuses(OptionError, "^-: ", named, "-", "")
    refuses(OptionError, "^-: ", find_parts, "-", "1.en")


@pytest.mark.parametrize("output", ["t*.tsv", "*"])
def test_what_is_one_file_has_no_star(tmp_path, output):
    made(tmp_path, "1.fr", "1.en", "1.align")
    given = [f"{tmp_path}/*.{side}" for side in ("fr", "en", "align")]
    path, told = f"{tmp_path}/{output}", r"is one file for all parts; give a name without \*"
    texts = {"source": given[0], "target": given[1], "format": "pharaoh"}
    refuses(OptionError, told, cluster.phrases, None, given[2], path, **texts)
    refuses(OptionError, told, cluster.pivot, None, given[0], path)
    refuses(OptionError, told, cluster.train, None, *given[:2], work=f"{tmp_path}/w", save=path)
    assert len(list(tmp_path.iterdir())) == 3


def refuse(number):
    if number % 2:
        raise FormatError("is odd", "in", number)
    return number * 10


def fill(number):
    if number > 3:
        raise WriteError("out: no room")
    return refuse(number)


def test_tasks_fail_one_by_one_or_together():
    tasks = [Task(str(number), (number,)) for number in range(6)]
    assert list(Session().each(refuse, tasks[::2])) == [(0, 0), (1, 20), (2, 40)]
    for function, some, most, kind, told in (
        (refuse, tasks, 1, FormatError, "in:1: is odd"),
        (refuse, tasks, 10, PartsError, r"several parts[^;]*:\n  in:1: is odd\n  in:3.*\n  in:5"),
        (refuse, tasks, 2, PartsError, r"the first 2 are shown:\n  in:1: is odd\n  in:3: is odd$"),
        (refuse, tasks[1:2] * 4, 3, FormatError, "^in:1: is odd$"),  # not once for each part
        (fill, tasks[1:], 10, WriteError, "^out: no room$"),  # of the disk, not of a part
    ):
        refuses(kind, told, list, Session().each(function, some, errors=most))
    with pytest.raises(PartsError) as caught:
        list(Session().each(refuse, tasks, errors=3))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_what_is_no_address_is_refused_and_what_is_missing_is_named(monkeypatch):
    for address in ("local:0", "localhost:8786", "http://here:80", "", "s.txt"):
        refuses(OptionError, "address of a cluster", check_address, address)
    monkeypatch.setattr("alignkit.cluster.connecting.find_spec", lambda name: None)
    refuses(AlignkitError, r"install .*\[cluster\]", check_address, "local:2")


def test_a_canary_tells_what_differs():
    mine = canary()
    assert mine.differs(mine) == ""
    assert "has numpy 1.0" in mine.differs(replace(mine, numpy="1.0"))
    other = replace(mine, bits="0", processor="another one")
    assert "with other bits" in mine.differs(other)
    assert "another one" in mine.differs(other)


def test_a_run_goes_on_with_what_it_is_of_alone(tmp_path):
    what = {"settings": {"threshold": 0.5}, "inputs": {"in/1.fr": "0" * 32}}
    with closing(Run(tmp_path / "work")) as run:
        assert not run.settle(what)
    with closing(Run(tmp_path / "work")) as run:
        assert run.settle(what)
        for other, told in (
            ({"settings": {"threshold": 0.6}}, "settings threshold was 0.5, and is now 0.6"),
            ({"inputs": {**what["inputs"], "in/2.fr": "cd"}}, "inputs in/2.fr is new"),
            ({"inputs": {"in/1.fr": "1" * 32}}, "inputs in/1.fr has changed"),
        ):
            refuses(RunError, f"{told}; give another", run.settle, what | other)


def test_what_a_dead_worker_left_is_swept(tmp_path):
    with closing(Run(tmp_path / "work")) as run:
        run.claim("a/whole", "b/whole")
        mine = made(tmp_path / "work" / "a", f".alignkit-{'0a' * 8}.part", "whole", "x.part")
        made(tmp_path, "else/x", f"c/.alignkit-{'0a' * 8}.part")
        (tmp_path / "work" / "b").rmdir()
        (tmp_path / "work" / "b").symlink_to(tmp_path / "c")
        run.settle({})
    assert sorted(path.name for path in mine.iterdir()) == ["whole", "x.part"]
    assert list((tmp_path / "c").iterdir())


def test_a_folder_that_workers_do_not_see_is_told(tmp_path):
    class Elsewhere(Session):
        def everywhere(self, function, place, token):  # type: ignore[no-untyped-def]
            return {"tcp://far:1": function(f"{place}-far", token)}

    with closing(Run(tmp_path / "work")) as run:
        run.try_workers(Session())
        told = r"worker tcp://far:1: .*folder that all workers see"
        refuses(AlignkitError, told, run.try_workers, Elsewhere())
        run.remove()
    assert not list(tmp_path.iterdir())


def test_arguments_of_a_wrong_type_are_named():
    align = partial(cluster.align, source="a*", target="b*", output="c*", model="m")
    refuses(ArgumentError, "client is 3", align, 3)
    for wrong in ({"source": 3}, {"output": None}, {"model": b"m"}, {"sure": "1"}):
        refuses(ArgumentError, next(iter(wrong)), align, None, **wrong)
    refuses(ArgumentError, "min_count", cluster.phrases, None, "a*", "out", min_count="2")
    refuses(ArgumentError, "second", cluster.pivot, None, "a*", "out", second=3)
    refuses(ArgumentError, "patterns", find_parts, Path())
