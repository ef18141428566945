"""HTML and SVG from Python, escaped by construction: text is text unless it was made here. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

VOID = frozenset({"br", "link", "meta"})
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Markup(str):
    """Made by `element` and `joined` (or written in this package): not escaped again."""

    __slots__ = ()


Child = str | Iterable["Child"] | None
Attribute = str | float | bool | None


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """One element. Attributes: a trailing underscore is dropped, others become hyphens; True is an attribute
    without a value, None and False leave it out; floats are rounded to a tenth."""
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """Children one after the other; None is nothing."""
    return Markup("".join(map(_child, children)))


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return html.escape(_UNSHOWN.sub("\ufffd", child))
    return "".join(map(_child, child))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
    return f' {name}="{html.escape(_UNSHOWN.sub(chr(0xFFFD), text))}"'
