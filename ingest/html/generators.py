"""What a general rule cannot know about some generators' pages. Everything else follows from the markup.

A profile is found by the page's generator meta, or by an id or a box that only this generator writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ingest.html.dom import Dom, Element
from ingest.html.sections.anchors import Targets


@dataclass(frozen=True, slots=True)
class Signature:
    """Elements that are headings where an id or name in them begins with one of `names`. `tag`: "" for any."""

    tag: str
    level: int
    css_class: str = ""
    names: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Profile:
    """`generator`: how the generator's name in the meta tag begins. `marker`: an id, a class, or the title of a link in the head,
    that gives it away. `content`: id or class of the element that holds the content. `title`: class of an element, and of the box around
    it, that shows the page's title without being a heading. `headings`: classes of blocks that are headings, with
    their levels; `older`: those of earlier versions, on pages without the others. `signature`: what else is a heading; `box`: class of the boxes that each has one of these and what belongs to it."""

    generator: str = ""
    marker: str = ""
    content: str = ""
    title: tuple[str, str] | None = None
    headings: Mapping[str, int] = field(default_factory=dict)
    older: Mapping[str, int] = field(default_factory=dict)
    signature: Signature | None = None
    box: str = ""


_NONE = Profile()
_PROFILES = (
    Profile(
        generator="doxygen",
        content="contents",
        title=("title", "headertitle"),
        headings={"memtitle": 3},
        older={"memproto": 3},
    ),
    Profile(marker="apicontent", content="apicontent"),  # Node.js
    Profile(marker="class-metadata", headings={"method-heading": 4}),  # RDoc
    Profile(marker="package-header", signature=Signature("p", 5, "src"), box="top"),  # Haddock
    Profile(generator="odoc", headings={"spec": 5}),
    Profile(
        marker="rktpn", signature=Signature("", 5, "rforeground", ("(def", "(form", "(meth", "(constructor"))
    ),  # Scribble
    Profile(marker="nroffsh", headings={"nroffip": 5}),  # roffit
    Profile(
        marker="Index of values", signature=Signature("pre", 5, names=("VAL", "TYPE", "EXCEPTION", "METHOD"))
    ),  # ocamldoc
)


def profile(tree: Dom, targets: Targets) -> Profile:
    """The profile of a page; an empty one for most."""
    titles = {e.get("title") for e in tree.tagged("link")}
    makers = [e.get("content").lower() for e in tree.tagged("meta") if e.get("name").lower() == "generator"]
    shown = frozenset[str]().union(*{element.classes for element in tree.elements})
    for candidate in _PROFILES:
        if (
            (candidate.title and set(candidate.title) <= shown)
            or (candidate.generator and any(maker.startswith(candidate.generator) for maker in makers))
            or (candidate.marker and (candidate.marker in targets or candidate.marker in titles | shown))
        ):
            early = candidate.older and shown.isdisjoint(candidate.headings)
            return replace(candidate, headings=candidate.older) if early else candidate
    return _NONE


def shown_title(tree: Dom, known: Profile) -> Element | None:
    """The element that shows the page's title, where the profile names one."""
    if known.title is None:
        return None
    name, box = known.title
    for element in tree.elements:
        if name in element.classes and element.parent is not None and box in element.parent.classes:
            return element
    return None
