"""A message as people see it in Slack: its own words, and those that were forwarded with it. Pure.

Everything is in Slack's own markup, as `text` of an event is. Blocks hide `text` (docs.slack.dev, "Message payloads"):
where they are more than what a person typed, they are what people see. Fields that are not of the form that Slack
documents are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Payload = Mapping[str, Any]
TOMBSTONE = "tombstone"
"""The subtype of what is left of a deleted message that has replies: words of nobody's."""


def own_words(message: Payload) -> str:
    """What was said: the blocks or the text, with what apps attach to it; the comment of a file where there is none."""
    if message.get("subtype") == TOMBSTONE:
        return ""
    text = str(message.get("text") or "").strip()
    blocks = "\n".join(_lines(message.get("blocks"))).strip()
    built = any(block.get("type") != "rich_text" for block in _dicts(message.get("blocks")))
    said = blocks if blocks and (built or not text) else text
    return "\n".join(filter(None, [said, *_attached(message)])).strip() or "\n".join(_comments(message)).strip()


def forwarded_words(message: Payload) -> str:
    """What others said, in messages that were forwarded with it, and the beginnings of texts that were pasted as files."""
    forwarded = map(_forwarded, filter(_is_forwarded, _dicts(message.get("attachments"))))
    return "\n\n".join(filter(None, [*forwarded, *_pasted(message)]))


def _dicts(value: object) -> list[Payload]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _is_forwarded(attachment: Payload) -> bool:
    return bool(attachment.get("is_share") or attachment.get("is_msg_unfurl"))


def _forwarded(attachment: Payload) -> str:
    inner = [one.get("message") or {} for one in _dicts(attachment.get("message_blocks"))]
    blocks = "\n".join(line for message in inner if isinstance(message, dict) for line in _lines(message.get("blocks")))
    return blocks.strip() or str(attachment.get("text") or attachment.get("fallback") or "").strip()


def _attached(message: Payload) -> Iterator[str]:
    """Attachments in the old form, as other apps send them; not what Slack shows of a link's page."""
    for attachment in _dicts(message.get("attachments")):
        if not _is_forwarded(attachment) and not attachment.get("from_url"):
            fields = [one.get(name) for one in _dicts(attachment.get("fields")) for name in ("title", "value")]
            parts = [attachment.get("pretext"), attachment.get("title"), attachment.get("text"), *fields]
            said = [*(str(part) for part in parts if part), *_lines(attachment.get("blocks"))]
            yield from said or [str(attachment.get("fallback") or "")]


def _pasted(message: Payload) -> Iterator[str]:
    """Slack makes a file ("snippet", "post") of a long text, and shows how it begins."""
    for file in _dicts(message.get("files")):
        if file.get("mode") in ("snippet", "post"):
            yield str(file.get("preview") or "").strip()


def _comments(message: Payload) -> Iterator[str]:
    for file in _dicts(message.get("files")):
        comment = file.get("initial_comment")
        yield str(comment.get("comment") or "") if isinstance(comment, dict) else ""


def _lines(blocks: object) -> Iterator[str]:
    """What each block says."""
    for block in _dicts(blocks):
        match block.get("type"):
            case "rich_text":
                yield from map(_rich, _dicts(block.get("elements")))
            case "context":
                yield " ".join(filter(None, map(_plain, _dicts(block.get("elements")))))
            case "table":
                rows = block.get("rows")
                yield from ("\t".join(map(_rich, _dicts(row))) for row in (rows if isinstance(rows, list) else []))
            case _:
                yield _plain(block)
                yield from map(_plain, _dicts(block.get("fields")))


def _plain(part: Payload) -> str:
    text = part.get("text")
    return _plain(text) if isinstance(text, dict) else str(text or "")


def _rich(element: Payload) -> str:
    """An element of rich text, and what stands in it."""
    match element.get("type"):
        case "user":
            return f"<@{element.get('user_id')}>"
        case "usergroup":
            return f"<!subteam^{element.get('usergroup_id')}>"
        case "broadcast":
            return f"<!{element.get('range')}>"
        case "channel":
            return f"<#{element.get('channel_id')}>"
        case "emoji":
            return f":{element.get('name')}:"
        case "link":
            return str(element.get("text") or element.get("url") or "")
    inner = _dicts(element.get("elements"))
    if not inner:
        return str(element.get("text") or element.get("fallback") or "")  # a date has no text
    apart = "\n" if element.get("type") in ("rich_text", "rich_text_list") else ""
    said = apart.join(map(_rich, inner))
    return "\n".join(f"&gt; {line}" for line in said.split("\n")) if element.get("type") == "rich_text_quote" else said
