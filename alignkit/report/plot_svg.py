"""Fit an image that matplotlib drew into a page: its colours, its names, what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree

COLOURS = {
    "ink": "#1b1b1b",
    "paper": "#fefefe",
    "soft": "#5c5c5c",
    "line": "#d9d9d9",
    "fill": "#d3dbe3",
    "a": "#0060a8",
    "b": "#a84300",
    "mix": "#7b3f98",
}
"""Every colour of a figure, by its name in the style sheet of a page."""

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_NAMES = {colour: f"var(--{name})" for name, colour in COLOURS.items()}
_COLOUR = re.compile("|".join(_NAMES))
_NUMBER = re.compile(r"-?\d+\.\d+")
_UNUSED = re.compile(r"(font(-family|-size)?|stroke-line(join|cap)): [^;]*(; *|$)")

Element = ElementTree.Element


def page_image(
    data: bytes, name: str, title: str, said: str, notes: Mapping[str, Sequence[str]]
) -> str:
    """Return an image for a page."""
    root = ElementTree.fromstring(data)
    box = root.get("viewBox", "")
    places = _used(root)
    image = Element(
        "svg",
        {
            "viewBox": box,
            "role": "img",
            "class": "chart",
            "aria-labelledby": f"{name}-title {name}-said",
        },
    )
    for kind, text in (("title", title), ("desc", said)):
        part = ElementTree.SubElement(
            image, kind, id=f"{name}-{'said' if kind == 'desc' else kind}"
        )
        part.text = text
    for child in root:
        image.extend(list(_cleaned(child, name, places, notes)))
    return ElementTree.tostring(image, encoding="unicode") + "\n"


def _used(root: Element) -> frozenset[str]:
    """Return the names that the image refers to."""
    text = [value for one in root.iter() for value in one.attrib.values()]
    return frozenset(re.findall(r"(?:^|url\()#([\w.-]+)", "\n".join(text), re.MULTILINE))


def _cleaned(
    one: Element, name: str, used: frozenset[str], notes: Mapping[str, Sequence[str]]
) -> Iterator[Element]:
    tag = one.tag.removeprefix(_SVG)
    if tag in ("metadata", "style") or "}" in tag:
        return
    said = notes.get(one.get("id", ""))
    kept = Element(tag, dict(_attributes(one, name, used)))
    kept.text = one.text if tag == "text" else None
    for child in one:
        kept.extend(list(_cleaned(child, name, used, notes)))
    if said is not None:
        shown = [mark for mark in kept.iter() if mark.tag in ("path", "use")]
        marks = [mark for mark in shown if "id" not in mark.attrib]  # else others use its shape
        for mark, text in zip(marks, said, strict=True):
            ElementTree.SubElement(mark, "title").text = text
        _share_style(kept, marks)
    if (tag == "g" and not kept.attrib) or (tag in ("g", "defs") and not len(kept)):
        yield from kept
    else:
        yield kept


def _share_style(group: Element, marks: Sequence[Element]) -> None:
    """Say once what style the marks of a group have: there can be a thousand of them."""
    styles = {mark.get("style", "") for mark in marks}
    if len(marks) > 1 and len(styles) == 1:
        group.set("style", styles.pop())
        for mark in marks:
            del mark.attrib["style"]


def _attributes(one: Element, name: str, used: frozenset[str]) -> Iterator[tuple[str, str]]:
    for key, value in one.attrib.items():
        if key == "id":
            if value in used:
                yield key, f"{name}-{value}"
        elif key == f"{_XLINK}href":
            yield "href", f"#{name}-{value[1:]}"
        elif key == "style":
            told = _UNUSED.sub("", value).strip("; ").replace("url(#", f"url(#{name}-")
            told = _COLOUR.sub(lambda found: _NAMES[found[0]], told)
            if told:
                yield key, told
        elif key == "d":
            yield key, " ".join(_NUMBER.sub(_rounded, value).split())
        elif key in ("fill", "stroke") and value in _NAMES:
            yield "style", f"{key}: {_NAMES[value]}"
        elif key == "transform" and value.startswith("rotate(-0 "):
            continue
        else:
            yield key, _NUMBER.sub(_rounded, value.replace("url(#", f"url(#{name}-"))


def _rounded(found: re.Match[str]) -> str:
    text = f"{float(found[0]):.1f}"
    return "0" if text in ("-0.0", "0.0") else text.removesuffix(".0")
