"""Formulas once, as TeX: renderers print a formula up to three times (MathML, glyphs, source).

Known are KaTeX, MathJax 2 and 3, MathML with a TeX annotation or alttext, and formula pictures whose alt
text is the source (MediaWiki, Doxygen, Sphinx imgmath).
"""

from __future__ import annotations

from ingest.html.dom import Element, clean

_RENDERED = frozenset("mathjax mathjax_preview mathjax_svg mathjax_display mjx-chtml mathjax_chtml".split())
_WHOLE = frozenset("katex katex-display mwe-math-element".split())
_PICTURES = frozenset(
    "math mwe-math-fallback-image-inline mwe-math-fallback-image-display formulainl formuladsp tex".split()
)
_WRAPPER = "{\\displaystyle"


def formula(element: Element) -> tuple[str, bool] | None:
    """The TeX of a formula and whether it stands on a line of its own; empty TeX for a mere repetition.
    None if the element is no formula."""
    tag = element.tag
    if tag == "math":
        return _source(element), element.get("display") == "block"
    if tag == "script":
        kind = element.get("type")
        return (clean("".join(element.strings())), "mode=display" in kind) if "math/tex" in kind else None
    if tag == "img":
        alt = element.get("alt")
        return (clean(alt), False) if alt and not element.classes.isdisjoint(_PICTURES) else None
    if tag == "mjx-container":
        return _source(element), element.get("display") == "true"
    if not element.classes:
        return None
    if not element.classes.isdisjoint(_WHOLE):
        return _source(element), "katex-display" in element.classes
    return None if element.classes.isdisjoint(_RENDERED) else ("", False)


def _source(element: Element) -> str:
    spelled = ""
    for inner in element.walk():
        if inner.tag == "annotation" and "tex" in inner.get("encoding"):
            return _unwrapped(inner.text)
        if inner.tag == "math" and inner.get("alttext"):
            return _unwrapped(clean(inner.get("alttext")))
        if inner.tag == "math" and not spelled:
            spelled = inner.text
        if inner.tag == "img" and inner.get("alt") and not spelled:
            spelled = clean(inner.get("alt"))
    return _unwrapped(spelled or element.text)


def _unwrapped(tex: str) -> str:
    """Without the wrapper that MediaWiki puts around every formula."""
    if tex.startswith(_WRAPPER) and tex.endswith("}"):
        return tex[len(_WRAPPER) : -1].strip()
    return tex
