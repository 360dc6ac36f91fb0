"""Read plain lists of phrase pairs: tab-separated, or a Moses phrase table.

tsv
    A line a phrase pair: source phrase, tab, target phrase, and no more; or, as ``alignkit phrases
    --table`` writes it, three numbers behind them, which are ignored. No header.
moses
    A line a phrase pair: ``source ||| target ||| scores ...``; what follows the target is ignored.

Both: words are separated by white space, UTF-8 (or another encoding by option), ``.gz`` is
unpacked, line feeds end lines, a byte order mark at the start and carriage returns are taken off.
A line without a phrase on both sides is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from os import PathLike, fspath

from alignkit.arguments import check_arguments
from alignkit.errors import FormatError, OptionError, UnknownNameError
from alignkit.input import CONTROL, MAX_MEGABYTES, bounded_lines, looked_at, open_input


def read_phrase_table(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    max_size: int = MAX_MEGABYTES,
) -> Iterator[tuple[str, str]]:
    """Yield (source phrase, target phrase) line by line, never more than a line in memory.

    Parameters
    ----------
    path
        The file; ``-`` is standard input, ``.gz`` is unpacked.
    format
        ``"tsv"`` or ``"moses"``; None takes moses if the first line contains ``|||``.
    max_size
        The most megabytes of a line, as in `alignkit.formats.ReadOptions`.

    Raises
    ------
    FormatError
        If a line does not hold a phrase on both sides, or the file cannot be read or decoded.
    """
    check_arguments(read_phrase_table, locals())
    if format is not None and format not in PHRASE_TABLE_FORMATS:
        raise UnknownNameError("phrase table format", format, PHRASE_TABLE_FORMATS)
    name = fspath(path)
    parse = PHRASE_TABLE_FORMATS[format] if format is not None else None
    for number, line in _lines(name, encoding, max_size):
        if parse is None:
            parse = PHRASE_TABLE_FORMATS["moses" if "|||" in line else "tsv"]
        phrases = parse(line)
        if isinstance(phrases, str):
            raise FormatError(phrases, name, number)
        yield phrases


def _tsv(line: str) -> tuple[str, str] | str:
    columns = line.split("\t")
    if len(columns) not in (2, 5):
        return (
            "expected 2 tab-separated columns, source and target phrase, "
            f"not {len(columns)}; or 5, as phrases --table writes them"
        )
    return _both(*columns[:2])


def _moses(line: str) -> tuple[str, str] | str:
    fields = line.split("|||", 2)
    if len(fields) < 2:
        return "expected source ||| target ||| scores"
    return _both(fields[0], fields[1])


PHRASE_TABLE_FORMATS: Mapping[str, Callable[[str], tuple[str, str] | str]] = {
    "tsv": _tsv,
    "moses": _moses,
}
"""What makes a phrase pair of a line, or says what is wrong with it."""


def _both(source: str, target: str) -> tuple[str, str] | str:
    source, target = source.strip(), target.strip()
    if not source or not target:
        return f"the {'target' if source else 'source'} phrase is empty"
    return source, target


def _lines(name: str, encoding: str, megabytes: int) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with open_input(name, megabytes) as stream:
            looked_at(stream, name, encoding)
            for number, raw in enumerate(bounded_lines(stream, name, megabytes), start=1):
                line = raw.decode(encoding)
                found = CONTROL.search(line)
                if found is not None:
                    raise FormatError(
                        f"control character {found[0]!r}, which is no text; remove it",
                        name,
                        number,
                        found.start() + 1,
                    )
                yield number, line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as problem:
        raise FormatError(
            f"not {encoding} (byte {problem.object[problem.start]:#04x}); name the right encoding",
            name,
            number,
            problem.start + 1,
        ) from None
    except LookupError:
        raise OptionError(f"unknown encoding {encoding!r}") from None
