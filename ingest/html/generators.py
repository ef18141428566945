"""What a general rule cannot know about some generators' pages. Everything else follows from the markup.

A profile is found by the page's generator meta, or by an id that only this generator writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ingest.html.dom import Element


@dataclass(frozen=True, slots=True)
class Profile:
    """`content`: id of the element that holds the content. `titles` in `titles_in`: classes of a title
    that is no heading element. `sections` with `section_names`: classes of blocks that are sections without a heading
    element, and of their names. `breadcrumbs`: id of a trail that is not called one."""

    generator: str = ""
    marker: str = ""
    content: str = ""
    titles: frozenset[str] = frozenset()
    titles_in: frozenset[str] = frozenset()


_NONE = Profile()
_PROFILES = (
    Profile(generator="doxygen", titles=frozenset({"title"}), titles_in=frozenset({"headertitle"})),
    Profile(marker="apicontent", content="apicontent"),
)


def profile(html: Element) -> Profile:
    """The profile of a page; an empty one for most."""
    made_by = ""
    ids = set()
    for element in html.walk():
        if element.attrs:
            if element.tag == "meta" and element.get("name").lower() == "generator":
                made_by = element.get("content").lower()
            ident = element.attrs.get("id")
            if ident:
                ids.add(ident)
    for candidate in _PROFILES:
        if candidate.generator and made_by.startswith(candidate.generator):
            return candidate
        if candidate.marker and candidate.marker in ids:
            return candidate
    return _NONE
