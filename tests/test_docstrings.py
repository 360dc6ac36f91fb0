"""Each public function says what it takes; each function and each class shows how it is used.

What a class says of where it is from is true.

That the examples run is tested by doctest, where they stand.
"""

import importlib
import inspect
import pkgutil
import re
from types import GenericAlias

import pytest

import alignkit

PACKAGES = ["alignkit"]
PACKAGES += sorted(
    module.name for module in pkgutil.walk_packages(alignkit.__path__, "alignkit.") if module.ispkg
)

WITHOUT_EXAMPLE = {
    "EncoderUsed": "a saved model holds it, and only its reader makes one",
}
"""Public names that need no example, and why."""

CENTRAL = ("Alignment", "SentencePair", "Corpus", "Aligner")
"""The classes that all users meet; their methods are described like functions."""

SHOWN = (
    *CENTRAL,
    "Comparisons",
    "Friedman",
    "Grammar",
    "Identifier",
    "Link",
    "Overlap",
    "Pairing",
    "PhraseArrays",
    "PhrasePair",
    "Tree",
)
"""The classes of which each method has an example."""

PLAIN_METHODS = {
    "Alignment.packed": "the example of `from_bytes` calls it",
    "Identifier.load": "the example of `save` loads what it saved",
    "Tree.of_brackets": "for readers of trees; users call `parse`",
    "Tree.trusted": "for readers of trees, which have checked the values",
    "SentencePair.trusted": "for readers of formats, which have checked the values",
    "Aligner.load": "the example of `save` loads what it saved",
    "Aligner.with_learned": "for `Refiner`, which learns from gold links",
    "Aligner.gold_record": "for the commands that write links",
    "Aligner.decoder": "for `Refiner`, which learns from the posteriors of gold pairs",
    "Aligner.packed": "for `Refiner`, which keeps the numbers of the words",
}
"""Methods that need no example, because users hardly call them or another shows them, and why."""

SOURCE = re.compile(
    r"(?P<how>Returned by|Made by|Part of|Raised by|The base of) (?P<names>`.*?)\.(?:\s|$)|"
    r"(?P<function>`\S+`) takes the fields as keywords"
)
"""Where a class comes from that users do not make; the names in it are checked."""


def public():
    """Return the public functions and classes by name; of the same name in two rooms, both."""
    named = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            documented = inspect.isclass(value) or inspect.isfunction(value)
            if documented and not isinstance(value, GenericAlias):
                named.setdefault(name, []).append(value)
    return named


PUBLIC = public()


def described(kind):
    for name, values in PUBLIC.items():
        for value in values:
            if kind(value):
                yield name, value, inspect.getdoc(value) or ""


def annotation_of(dotted):
    """Return what a public function, property or field returns or holds, as text; None: unknown."""
    name, _, member = dotted.removeprefix("alignkit.").partition(".")
    if name not in PUBLIC:
        return None
    value = PUBLIC[name][0]
    if member:
        for each in value.__mro__:
            if member in vars(each).get("__annotations__", {}):
                return str(each.__annotations__[member])
        value = inspect.getattr_static(value, member, None)
        for attribute in ("fget", "func", "__func__"):
            value = getattr(value, attribute, value)
    if inspect.isclass(value):
        return " ".join(base.__name__ for base in value.__mro__)
    return str(getattr(value, "__annotations__", {}).get("return"))


def wrong_sources(name, value, text):
    """Yield what is wrong with the sentence that says where a class is from."""
    sentence = SOURCE.search(text.replace("\n", " "))
    if sentence is None:
        return
    typed = sentence["how"] in ("Returned by", "Part of", "The base of")
    bases = {base.__name__ for base in value.__mro__[:-1]}
    for dotted in re.findall(r"`([\w.]+)`", sentence["names"] or sentence["function"]):
        annotation = annotation_of(dotted)
        if annotation is None:
            yield f"{name}: {dotted} is not public"
        elif typed and not bases & words(annotation):
            yield f"{name}: {dotted} is {annotation}"


def words(text):
    return set(re.findall(r"\w+", text))


def test_functions_say_what_they_take(problems):
    for name, function, text in described(inspect.isfunction):
        if inspect.signature(function).parameters and "Parameters\n----------" not in text:
            problems.append(f"{function.__module__}.{name}")


def unnamed(function, text):
    """Return the parameters that the section Parameters does not name."""
    _, _, rest = text.partition("Parameters\n----------\n")
    section = re.split(r"\n\n(?=\S)", rest)[0]
    entries = [
        line.partition(" : ")[0] for line in section.splitlines() if line[:1] not in ("", " ")
    ]
    named = words(" ".join(entries))
    if "**options" in section:
        return set()
    return set(inspect.signature(function).parameters) - named


def test_functions_say_what_each_parameter_is(problems):
    for name, function, text in described(inspect.isfunction):
        if unnamed(function, text):
            problems.append(f"{function.__module__}.{name}: {unnamed(function, text)}")


def test_functions_have_an_example(problems):
    for name, function, text in described(inspect.isfunction):
        if "\n>>> " not in text and name not in WITHOUT_EXAMPLE:
            problems.append(f"{function.__module__}.{name}")


def methods(kinds):
    """Yield the public methods of some classes, with their names."""
    for name in kinds:
        for key, member in vars(PUBLIC[name][0]).items():
            function = getattr(member, "__func__", member)
            if not key.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{key}", function


def has_example(function):
    return "\n>>> " in (inspect.getdoc(function) or "")


def is_whole(function):
    """Return whether a method has an example, and a section of parameters if it takes any."""
    if not has_example(function):
        return False
    takes = set(inspect.signature(function).parameters) - {"self", "cls"}
    return not takes or "Parameters\n----------" in inspect.getdoc(function)


def test_methods_that_all_users_call_say_what_they_take_and_have_an_example(problems):
    problems += [
        name
        for name, function in methods(CENTRAL)
        if name not in PLAIN_METHODS and not is_whole(function)
    ]


def test_methods_of_results_that_users_handle_have_an_example(problems):
    problems += [
        name
        for name, function in methods(SHOWN)
        if name not in PLAIN_METHODS and not has_example(function)
    ]


def test_classes_have_an_example(problems):
    for name, kind, text in described(inspect.isclass):
        if "\n>>> " not in text and name not in WITHOUT_EXAMPLE:
            problems.append(f"{kind.__module__}.{name}")


def test_what_classes_say_of_where_they_are_from_is_true(problems):
    for name, kind, text in described(inspect.isclass):
        problems += wrong_sources(name, kind, text)


def test_exceptions_are_needed():
    functions = dict(methods(SHOWN))
    assert [name for name in PLAIN_METHODS if has_example(functions[name])] == []
    for name in WITHOUT_EXAMPLE:
        for value in PUBLIC[name]:
            text = inspect.getdoc(value)
            assert "\n>>> " not in text
            assert SOURCE.search(text) is None


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("Returned by `aer`.", ["Score: aer is float"]),
        ("Returned by `nothing`.", ["Score: nothing is not public"]),
        ("Returned by `score` and `aer`.", ["Score: aer is float"]),
        ("Part of `Comparisons.scores`.", []),
        ("A score.", []),
    ],
)
def test_a_wrong_source_is_noticed(sentence, wrong):
    (score,) = PUBLIC["Score"]
    assert list(wrong_sources("Score", score, sentence)) == wrong
