"""Listings: their text as it stands, and the language that their markup names."""

from __future__ import annotations

import re

from ingest.html.dom import Element

_LANGUAGE = re.compile(r"(?:language|lang|highlight|highlight-source|brush:?|sourcecode-)[-:]?([a-z0-9+#._-]+)$")
_NO_LANGUAGE = frozenset(
    "default none text plaintext plain txt notranslate nohighlight nocode wrapper ansi markup-templating".split()
)
_PARTS = frozenset({"code-fold-hint"})
_CALLOUT_MARKS = frozenset("conum co".split())
_MAX_MARK_CHARACTERS = 6


def listing(pre: Element) -> str:
    """The text of a preformatted element: every space, tab and line break, `br` and block borders too.
    Line breaks at the ends are left out, and so are the marks of callouts (AsciiDoc, DocBook) with the blanks before
    them, which would follow a line's last backslash."""
    parts: list[str] = []
    closed = marked = False
    stack: list[Element | str] = list(reversed(pre.children))
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if item is _BORDER:
                if parts and not parts[-1].endswith("\n"):
                    parts.append("\n")
            elif item:
                # a line element's own border stands for the line break that follows it in the source
                parts.append(item.removeprefix("\n") if closed else item)
            closed = item is _BORDER
            marked = marked and item.isspace() and "\n" not in item
        elif _is_callout_mark(item, marked):
            while parts and parts[-1].rstrip(" \t") != parts[-1]:
                parts[-1] = parts[-1].rstrip(" \t")
                if parts[-1]:
                    break
                parts.pop()
            marked = True
        elif item.tag == "br":
            parts.append("\n")
        elif item.tag == "button" or not item.classes.isdisjoint(_PARTS):
            continue
        elif not item.inline:
            stack += [_BORDER, *reversed(item.children), _BORDER]
        else:
            stack.extend(reversed(item.children))
    lines = "".join(parts).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _is_callout_mark(item: Element, follows: bool) -> bool:
    """`follows`: another mark stands directly before; an icon is followed by the number that its style sheet hides."""
    if item.tag == "img":
        return "callouts/" in item.get("src")  # DocBook
    if item.classes.isdisjoint(_CALLOUT_MARKS) and not (follows and item.tag == "b" and not item.attrs):
        return False
    text = item.text
    return len(text) <= _MAX_MARK_CHARACTERS and all(char in "()<>" or char.isnumeric() for char in text)


_BORDER = "".join(["\n", "\n"])
"""Compared by identity: a line border that adds no second line break."""


def language(pre: Element) -> str | None:
    """Named by a class or data attribute of the listing, of the code in it, or of one of two boxes around it."""
    boxes = [pre, *(e for e in pre.elements if e.tag == "code")]
    for above in pre.ancestors():
        if len(boxes) > 3 or above.tag in ("body", "main", "article", "section"):
            break
        boxes.append(above)
    for box in boxes:
        named = box.get("data-lang") or box.get("data-language")
        if named:
            return named.lower()
        found = _in_classes(box)
        if found:
            return found
    return None


def _in_classes(box: Element) -> str | None:
    names = box.get("class").lower().split()
    for position, name in enumerate(names):
        match = _LANGUAGE.match(name)
        if match and match[1] not in _NO_LANGUAGE:
            return match[1]
        if name in ("brush:", "sourcecode") and position + 1 < len(names):
            return names[position + 1].rstrip(";")
    return None
