"""What kind of words a link joins, and the lists of function words."""

import re

import pytest
from command import PARAPHRASES, run
from refusals import refuses

from alignkit import read_corpus, write_corpus
from alignkit.agreement.disagreements import SHAPES, disagreements
from alignkit.errors import OptionError
from alignkit.scoring.link_classes import fold, function_words, word_kinds
from alignkit.show.names import LANGUAGES

# a sentence in each language: the words of its closed classes, and of its open ones
SENTENCES = {
    "dutch": ("zij hebben het niet aan de in van", "kinderen school boeken gelezen huis"),
    "english": ("they have not the to of in", "children school books read house"),
    "french": ("ils n' ont pas les à la de dans l'", "enfants école livres lu maison"),
    "german": ("sie haben nicht die in der von dem", "Kinder Schule Bücher gelesen Haus"),
    "italian": ("loro non hanno i a la di nella l'", "bambini scuola libri letto casa"),
    "portuguese": ("eles não têm os na a de para", "crianças escola livros lido casa"),
    "romanian": ("ei nu au în la de pe și", "copii școală cărți citit casă"),
    "spanish": ("ellos no han los en la de para", "niños escuela libros leído casa"),
}


@pytest.mark.parametrize("language", LANGUAGES.values())
def test_each_list_has_closed_classes_alone(language):
    known = function_words(language).source
    closed, opened = SENTENCES[language]
    assert {fold(word) for word in closed.split()} <= known
    assert not {fold(word) for word in opened.split()} & known
    assert all(word == fold(word) and not re.search(r"[\d\s]", word) for word in known)
    assert 150 < len(known) < 600


def test_a_language_has_a_name_and_a_code_and_each_side_its_own():
    for code, name in LANGUAGES.items():
        assert function_words(code) == function_words(name.upper())
    both = function_words("fr", "en")
    assert both.source == function_words("french").target != both.target
    known = function_words("french", "english")
    assert "function word" in word_kinds("on", "dog", known)
    assert "function word" not in word_kinds("the", "chien", known)
    assert "function word" in word_kinds("L\u2019", "dog", known)
    assert word_kinds("\u015fi", "x", function_words("ro")) == ("function word",)  # with a cedilla


def test_words_of_a_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\ufeffDA # yes\n\n# no\nne\n", encoding="utf-8")
    assert function_words(str(path)).source == {"da", "ne"}
    path.write_text("# none\n")
    refuses(OptionError, "has no words", function_words, str(path))
    path.write_bytes(b"\xff")
    refuses(OptionError, "cannot be read", function_words, "en", str(path))
    with pytest.raises(OptionError, match="'klingon' is not a file"):
        function_words("klingon")


def test_without_lists_the_kinds_that_need_them_are_left_out():
    paraphrases = read_corpus(PARAPHRASES, format="alignkit-jsonl")
    found = disagreements(paraphrases, "anna", "ben")
    assert list(found.kinds) == ["identical", "punctuation", *SHAPES]
    told = disagreements(paraphrases, "anna", "ben", function_words=function_words("en"))
    assert told.kinds["function word"].links + told.kinds["content words"].links > 0
    assert {kind: told.kinds[kind] for kind in found.kinds} == dict(found.kinds)


def test_the_page_tells_them_only_where_it_knows_the_language(capsys, tmp_path):
    page, few = tmp_path / "page.html", tmp_path / "few.jsonl"
    write_corpus(list(read_corpus(PARAPHRASES))[:4], few)
    given = "agree", few, "--annotators", "anna", "ben", "--bootstrap", "none", "--html", page
    for language in ([], ["en"]):
        run(capsys, *given, *(["--function-words", *language] if language else []))
        assert ("function word" in page.read_text()) == bool(language)
    run(capsys, *given, "--function-words", "klingon").failed("nor a language alignkit knows")
    run(capsys, *given, "--function-words", "en", "fr", "de").failed("one language")
    run(capsys, *given[:-2], "--function-words", "en").failed("add --html")
