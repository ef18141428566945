"""Links that a model wrote: none leaves but what the read sections hold. Pure.

A model may invent an address, or be talked into one by a page. Markdown links keep their words and lose
their targets; a bare address stays only if a section that was read says it, or is it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from navigator.answer import Passage
from navigator.citations.marks import paragraphs

LEFT_OUT = "(link left out)"

_LINK = re.compile(
    r"(?P<ticks>`+).+?(?P=ticks)"
    r"|(?<!\\)!?\[(?P<words>[^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+[\"'][^\"']*[\"'])?\)"
    r"|<(?P<auto>[a-z][a-z0-9+.-]*:[^<>\s]+)>"
    r"|(?P<bare>\b(?:https?|ftp)://[^\s<>()\[\]\"'`]+)",
    re.DOTALL | re.IGNORECASE,
)


def without_foreign_links(text: str, passages: Sequence[Passage]) -> str:
    """The text with no address that is not of a passage; code is left as it is."""
    read = "\n".join(block.text for passage in passages for block in passage.blocks)
    pages = {passage.page_url for passage in passages}

    def kept(match: re.Match[str]) -> str:
        if match["words"] is not None:
            return match["words"]
        address = match["auto"] or match["bare"]
        if address is None:
            return match.group()
        plain = address.rstrip(".,;:!?")
        known = plain in read or plain.partition("#")[0] in pages
        return address if known else LEFT_OUT + address[len(plain) :]

    return "".join(part if code else _LINK.sub(kept, part) for part, code in paragraphs(text))
