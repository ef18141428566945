"""The shapes of Block Kit: which fields a block takes, which it needs, how long each may be. Pure.

`block_faults` and `view_faults` yield what is wrong, worded and addressed as Slack does:
"must be less than 3001 characters [json-pointer:/blocks/0/text/text]". Sources: slack_sdk's models (their max_length
constants), docs.slack.dev "Block Kit" and errors quoted in public issues. Block types that ritbot has no use for
(video, file, call, card, carousel, container) are unknown here and refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fakes.slack.elements import (
    ACTION,
    ACTIONS,
    CONFIRM,
    FEEDBACK,
    IMAGE,
    INPUTS,
    RICH,
    plain,
    text,
    unique_actions,
)
from tests.fakes.slack.shapes import Check, array, fault, kind, one_of, shape, string, typed, url

BLOCK = {"block_id": string(255)}
RICH_TEXT = shape({"elements": array(typed(RICH), 1000)}, BLOCK)
CELL = typed(
    {
        "raw_text": shape({"text": string(10_000)}),
        "raw_number": shape({"value": kind(object)}, {"text": string(255)}),
        "rich_text": RICH_TEXT,
    }
)
SOURCE = typed({"url": shape({"url": url(), "text": string(1000)})})
TASK = {
    "task_id": string(255),
    "title": string(3000),
    "status": one_of("pending", "in_progress", "complete", "error"),
}
TASK_CARD = shape(TASK, {**BLOCK, "details": RICH_TEXT, "output": RICH_TEXT, "sources": array(SOURCE, 100, 0)})


def section(value: Any, where: str) -> Iterator[str]:
    texts = {"text": text(3000), "fields": array(text(2000), 10)}
    accessory = typed({**ACTIONS, "image": IMAGE})
    yield from shape({}, {**BLOCK, **texts, "accessory": accessory, "expand": kind(bool)})(value, where)
    if not value.get("text") and not value.get("fields"):
        yield fault("missing required field: text", where)


EVERYWHERE: Mapping[str, Check] = {
    "section": section,
    "divider": shape({}, BLOCK),
    "image": shape(
        {"alt_text": string(2000)}, {**BLOCK, "image_url": url(), "slack_file": kind(dict), "title": plain(2000)}
    ),
    "actions": shape({"elements": unique_actions(array(typed(ACTIONS), 25))}, BLOCK),
    "context": shape({"elements": array(typed({"image": IMAGE, "plain_text": plain(3000), "mrkdwn": text(3000, "mrkdwn")}), 10)}, BLOCK),
    "header": shape({"text": plain(150)}, {**BLOCK, "level": one_of(1, 2, 3, 4)}),
    "rich_text": RICH_TEXT,
    "alert": shape({"text": text(3000)}, {**BLOCK, "level": one_of("default", "info", "warning", "error", "success")}),
    "input": shape(
        {"label": plain(2000), "element": typed(INPUTS)},
        {**BLOCK, "hint": plain(2000), "optional": kind(bool), "dispatch_action": kind(bool)},
    ),
}  # fmt: skip
IN_MESSAGES: Mapping[str, Check] = {
    **EVERYWHERE,
    "markdown": shape({"text": string(12_000)}, BLOCK),
    "context_actions": shape(
        {
            "elements": unique_actions(
                array(
                    typed(
                        {
                            "feedback_buttons": shape(
                                {"positive_button": FEEDBACK, "negative_button": FEEDBACK}, ACTION
                            ),
                            "icon_button": shape(
                                {"icon": one_of("trash"), "text": plain(75)},
                                {
                                    **ACTION,
                                    "value": string(2000),
                                    "confirm": CONFIRM,
                                    "accessibility_label": string(75),
                                    "visible_to_user_ids": array(string(255), 10),
                                },
                            ),
                        }
                    ),
                    5,
                )
            )
        },
        BLOCK,
    ),
    "table": shape({"rows": array(array(CELL, 20), 100)}, {**BLOCK, "column_settings": array(kind(dict), 20, 0)}),
    "task_card": TASK_CARD,
    "plan": shape({"title": string(3000)}, {**BLOCK, "tasks": array(typed({"task_card": TASK_CARD}), 100, 0)}),
}


def block_faults(blocks: Sequence[Any], where: str = "/blocks") -> Iterator[str]:
    """What is wrong with the blocks of a message, how many they are aside."""
    yield from _each(blocks, IN_MESSAGES, where)


def view_faults(view: Any, where: str = "/view") -> Iterator[str]:
    """What is wrong with a modal or a Home tab."""
    if not isinstance(view, dict):
        yield fault("must be an object", where)
        return
    blocks = array(lambda value, at: iter(()), 100, 0)
    optional = {
        "private_metadata": string(3000, 0),
        "callback_id": string(255, 0),
        "external_id": string(255, 0),
    }
    flags = {"clear_on_close": kind(bool), "notify_on_close": kind(bool)}
    modal = shape(
        {"title": plain(24), "blocks": blocks}, {**optional, **flags, "submit": plain(24), "close": plain(24)}
    )
    yield from typed({"modal": modal, "home": shape({"blocks": blocks}, optional)})(view, where)
    parts = view.get("blocks")
    if isinstance(parts, list):
        yield from _each(parts, EVERYWHERE, f"{where}/blocks")
        inputs = [one for one in parts if isinstance(one, dict) and one.get("type") == "input"]
        if view.get("type") == "modal" and inputs and not view.get("submit"):
            yield fault("missing required field: submit", where)


def _each(blocks: Sequence[Any], known: Mapping[str, Check], where: str) -> Iterator[str]:
    check = typed(known)
    ids: set[str] = set()
    for index, block in enumerate(blocks):
        at = f"{where}/{index}"
        yield from check(block, at)
        block_id = block.get("block_id") if isinstance(block, dict) else None
        if block_id in ids:
            yield fault(f'`block_id` "{block_id}" already exists for another block', f"{at}/block_id")
        ids |= {block_id} if block_id else set()
