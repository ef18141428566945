"""Whether the words that a link lands on still stand on its page: the text fragment of a citation's link. Pure.

https://wicg.github.io/scroll-to-text-fragment/: `#anchor:~:text=[prefix-,]start[,end][,-suffix]`, several with `&text=`.
What stands around the words only tells places apart, and is left out of account.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from ingest.model import Node

_DIRECTIVE = ":~:"


def linked_words(url: str) -> list[tuple[str, ...]]:
    """(first words, last words) or (words,) of each text that the link names; none for any other link."""
    _, found, directives = url.partition(_DIRECTIVE)
    texts = [each.removeprefix("text=") for each in directives.split("&") if each.startswith("text=")] if found else []
    return [words for each in texts if (words := _words(each))]


def _words(text: str) -> tuple[str, ...]:
    parts = [part for part in text.split(",") if part and not part.endswith("-") and not part.startswith("-")]
    return tuple(_plain(unquote(part)) for part in parts[:2])


def words_stand(words: tuple[str, ...], nodes: Iterable[Node]) -> bool:
    """As a browser compares them: whatever their case and white space, the last behind the first."""
    page = " ".join(_plain(f"{node.title} {node.text}") for node in nodes)
    place = 0
    for part in words:
        place = page.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
