"""How dense the code of the package is, room by room: tokens, tokens a statement, folded ones.

A room is a folder of the package. Tokens are names, operators, numbers and strings as Python's
tokenize counts them; a statement ends where tokenize reports NEWLINE; docstrings are none. Counts
of conditional expressions, packed assignments (`a, b = x, y`) and comprehensions are for 1,000
lines.

    python -m benchmarks.house [FOLDER]
"""

import argparse
import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
HEADER = (
    f"{'room':<34}{'files':>6}{'lines':>8}{'tokens':>9}{'mean':>7}{'median':>8}{'90%':>6}"
    f"{'fmt':>5}{'if-else':>9}{'packed':>8}{'compr.':>8}"
)


@dataclass
class Room:
    """What is counted in the files of one folder."""

    files: int = 0
    lines: int = 0
    tokens: int = 0
    statements: list[int] = field(default_factory=list)  # the tokens of each
    pragmas: int = 0
    conditional: int = 0
    packed: int = 0
    comprehensions: int = 0

    def add(self, other: "Room") -> None:
        """Add the counts of another room."""
        self.files += other.files
        self.lines += other.lines
        self.tokens += other.tokens
        self.statements += other.statements
        self.pragmas += other.pragmas
        self.conditional += other.conditional
        self.packed += other.packed
        self.comprehensions += other.comprehensions

    def row(self, name: str) -> str:
        """Return the counts as a row of the table."""
        sizes = np.array(self.statements or [0])
        per_thousand = 1000 / max(self.lines, 1)
        mean = self.tokens / len(sizes)
        return (
            f"{name:<34}{self.files:>6}{self.lines:>8,}{self.tokens:>9,}{mean:>7.1f}"
            f"{np.median(sizes):>8.0f}{np.quantile(sizes, 0.9):>6.0f}{self.pragmas:>5}"
            f"{self.conditional * per_thousand:>9.1f}{self.packed * per_thousand:>8.1f}"
            f"{self.comprehensions * per_thousand:>8.1f}"
        )


def room_of(path: Path) -> Room:
    """Count one file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    room = Room(files=1, lines=text.count("\n"))
    room.pragmas = text.count("# fmt" + ":")
    docstrings = _docstrings(tree)
    room.statements = list(_statements(text, docstrings))
    room.tokens = sum(room.statements) + len(docstrings)
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            room.conditional += 1
        elif isinstance(node, COMPREHENSIONS):
            room.comprehensions += 1
        elif isinstance(node, ast.Assign):
            room.packed += _is_packed(node)
    return room


def _is_packed(node: ast.Assign) -> bool:
    return isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def _docstrings(tree: ast.Module) -> set[tuple[int, int]]:
    """Return where the docstrings begin."""
    places = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.body and ast.get_docstring(node, clean=False) is not None:
            places.add((node.body[0].lineno, node.body[0].col_offset))
    return places


def _statements(text: str, docstrings: set[tuple[int, int]]) -> Iterator[int]:
    """Yield the number of tokens of each statement."""
    size = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if size:
                yield size
            size = 0
        elif token.type in COUNTED and token.start not in docstrings:
            size += 1


def rooms(folder: Path) -> dict[str, Room]:
    """Return the rooms of a package, by the names of their folders."""
    counted: dict[str, Room] = {}
    for path in sorted(folder.rglob("*.py")):
        name = str(path.parent.relative_to(folder.parent))
        counted.setdefault(name, Room()).add(room_of(path))
    return counted


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("alignkit"))
    counted = rooms(parser.parse_args().folder.resolve())
    whole = Room()
    print(HEADER)
    for name, room in counted.items():
        print(room.row(name))
        whole.add(room)
    print(whole.row("all"))


if __name__ == "__main__":
    main()
