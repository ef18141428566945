"""A step of the way in words, whatever the strategy. Pure."""

from __future__ import annotations

from navigator.answer import Step

_DONE = {
    "get_toc": "searched for",
    "search": "searched for",
    "keyword": "looked for the words",
    "entity": "looked for the name",
    "page": "searched one page for",
    "around": "read what stands around",
    "pick_page": "chose a page for",
    "route": "looked through a page for",
    "read": "read",
}


def done(step: Step, query: str) -> str:
    """ "searched for “ports”", "read". `query`: the step's, as it may be shown."""
    said = _DONE.get(step.tool, step.tool)
    return f"{said} “{query}”" if query else said
