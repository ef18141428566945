"""A message as a person reads it: what its blocks say, one after the other, as plain text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.fakes.slack.state import Message

Json = dict[str, Any]


def words(message: Message) -> str:
    """Blocks hide `text`, which then is what notifications and screen readers say."""
    return "\n".join(said(message.blocks)) if message.blocks else message.text


def said(blocks: Sequence[Json]) -> Iterator[str]:
    for block in blocks:
        match block["type"]:
            case "markdown":
                yield block["text"]
            case "header" | "section" | "alert":
                texts = [block.get("text"), *block.get("fields", [])]
                yield from (text["text"] for text in texts if text)
            case "context":
                yield " ".join(element["text"] for element in block["elements"] if "text" in element)
            case "table":
                yield from ("\t".join(_cell(cell) for cell in row) for row in block["rows"])
            case "rich_text":
                yield _spans(block)
            case "task_card":
                details = [_spans(block[name]) for name in ("details", "output") if name in block]
                yield "\n".join([block["title"], *details, *(source["text"] for source in block.get("sources", []))])
            case "plan":
                yield "\n".join([block["title"], *said(block.get("tasks", []))])


def labels(message: Message) -> list[str]:
    """What its buttons say."""
    found: list[str] = []
    for block in message.blocks:
        for element in [*block.get("elements", []), block.get("accessory") or {}]:
            if element.get("type") == "button":
                found.append(element["text"]["text"])
            elif element.get("type") == "feedback_buttons":
                found += [element[name]["text"]["text"] for name in ("positive_button", "negative_button")]
    return found


def _cell(cell: Json) -> str:
    if cell["type"] == "rich_text":
        return _spans(cell)
    return str(cell.get("text") or cell.get("value"))


def _spans(part: Json) -> str:
    if "elements" in part:
        gap = "\n" if part["type"] in ("rich_text", "rich_text_list") else ""
        return gap.join(_spans(element) for element in part["elements"])
    return str(part.get("text") or part.get("url") or part.get("name") or "")
