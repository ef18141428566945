"""What is different in an answer that was asked for again. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from navigator.answer import Answer, Citation

MAX_SECTIONS_NAMED = 3
"""Of the sections of one kind; of more it is said how many."""
SAME = "This is what I answered before."


def difference(before: Answer, now: Answer) -> str:
    """In a few words, by the sections that the answers rest on; "" where there is nothing to compare."""
    if now.outcome not in ("answered", "not_found"):
        return ""
    if before.text == now.text:
        return SAME
    old, new = _cited(before), _cited(now)
    changed = [new[node] for node in new if node in old and new[node].node_hash != old[node].node_hash]
    kinds = {
        "says something else now": changed,
        "is cited for the first time": [new[node] for node in new if node not in old],
        "is cited no more": [old[node] for node in old if node not in new],
    }
    told = [f"{_named(citations)} {what}" for what, citations in kinds.items() if citations]
    return f"Different from before: {'; '.join(told)}." if told else "Different from before: in its words alone."


def _cited(answer: Answer) -> dict[str, Citation]:
    return {source.first.node_id: source.first for source in answer.sources}


def _named(citations: Iterable[Citation]) -> str:
    titles = [f"“{citation.path[-1] if citation.path else citation.page_url}”" for citation in citations]
    more = len(titles) - MAX_SECTIONS_NAMED
    return ", ".join(titles[:MAX_SECTIONS_NAMED]) + (f" and {more} more" if more > 0 else "")
