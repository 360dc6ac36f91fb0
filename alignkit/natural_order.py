"""Natural order of names: a number in a name counts as a number."""

from __future__ import annotations


def natural_key(name: object) -> list[tuple[int, int, str]]:
    """Sort names, or paths, so that numbers in them count as numbers.

    Examples
    --------
    >>> sorted(["v10", "v9", "v1"], key=natural_key)
    ['v1', 'v9', 'v10']
    """
    key: list[tuple[int, int, str]] = []
    number = ""
    for char in f"{name}\0":
        if char.isdecimal() and char.isascii():
            number += char
            continue
        if number:
            digits = number.lstrip("0")  # Python refuses to make a number of thousands of them
            key.append((0, len(digits), digits))
            number = ""
        key.append((1, 0, char))
    return key
