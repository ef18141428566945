"""The shapes of Block Kit: which fields a block takes, which it needs, how long each may be. Pure.

`block_faults` and `view_faults` yield what is wrong, worded and addressed as Slack does:
"must be less than 3001 characters [json-pointer:/blocks/0/text/text]". Sources: slack_sdk's models (their max_length
constants), docs.slack.dev "Block Kit" and errors quoted in public issues. Blocks and elements that ritbot has no use for
(video, file, call, card, carousel, container; date, time and number pickers, menus of people and channels) are unknown
here and refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Check = Callable[[Any, str], Iterator[str]]
"""What is wrong with a value that stands at a JSON pointer."""


def fault(words: str, where: str) -> str:
    return f"{words} [json-pointer:{where}]"


def string(most: int, least: int = 1) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield fault("must be a string", where)
        elif len(value) > most:
            yield fault(f"must be less than {most + 1} characters", where)
        elif len(value) < least:
            yield fault(f"must be more than {least - 1} characters", where)

    return check


def url(most: int = 3000) -> Check:
    sized = string(most)

    def check(value: Any, where: str) -> Iterator[str]:
        yield from sized(value, where)
        if isinstance(value, str) and not value.startswith(("http://", "https://", "mailto:", "slack://")):
            yield fault("must be a valid URL", where)

    return check


def one_of(*values: Any) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if value not in values:
            yield fault(f"must be one of: {', '.join(map(str, values))}", where)

    return check


def kind(python: type) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, python) or (python is int and isinstance(value, bool)):
            yield fault(f"must be a valid {python.__name__}", where)

    return check


def array(item: Check, most: int, least: int = 1) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield fault("must be an array", where)
            return
        if len(value) > most:
            yield fault(f"no more than {most} items allowed", where)
        if len(value) < least:
            yield fault(f"must be at least {least} item{'s' * (least != 1)}", where)
        for index, one in enumerate(value):
            yield from item(one, f"{where}/{index}")

    return check


def shape(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with exactly these fields. `type` was looked at by `typed`."""
    fields = {"type": kind(str), **required, **(optional or {})}

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield fault("must be an object", where)
            return
        for name in required:
            if value.get(name) is None:
                yield fault(f"missing required field: {name}", where)
        for name, one in value.items():
            if name not in fields:
                yield fault(f"invalid additional property: {name}", where)
            elif one is not None:
                yield from fields[name](one, f"{where}/{name}")

    return check


def typed(shapes: Mapping[str, Check]) -> Check:
    """An object whose `type` says which shape it has."""

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield fault("must be an object", where)
        elif "type" not in value:
            yield fault("missing required field: type", where)
        elif value["type"] not in shapes:
            yield fault(f"unsupported type: {value['type']}", f"{where}/type")
        else:
            yield from shapes[value["type"]](value, where)

    return check


# --- what blocks are made of: text objects, buttons, menus, inputs, rich text


def text(most: int, *kinds: str) -> Check:
    """A text object. Its words are at most `most` characters long."""
    plain = shape({"text": string(most)}, {"emoji": kind(bool)})
    mrkdwn = shape({"text": string(most)}, {"verbatim": kind(bool)})
    known = {"plain_text": plain, "mrkdwn": mrkdwn}
    return typed({name: known[name] for name in kinds or known})


def plain(most: int) -> Check:
    return text(most, "plain_text")


def unique_actions(elements: Check) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        yield from elements(value, where)
        seen: set[str] = set()
        for index, one in enumerate(value if isinstance(value, list) else []):
            action = one.get("action_id") if isinstance(one, dict) else None
            if action in seen:
                yield fault(f'`action_id` "{action}" already exists for another element', f"{where}/{index}/action_id")
            seen |= {action} if action else set()

    return check


ACTION = {"action_id": string(255)}
CONFIRM = shape(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": one_of("primary", "danger")},
)
OPTION = shape({"text": text(75), "value": string(150)}, {"description": text(75), "url": url()})
GROUP = shape({"label": plain(75), "options": array(OPTION, 100)})
PLACED = {**ACTION, "placeholder": plain(150), "focus_on_load": kind(bool), "confirm": CONFIRM}

BUTTON = shape(
    {"text": plain(75)},
    {
        **ACTION,
        "url": url(),
        "value": string(2000),
        "style": one_of("primary", "danger"),
        "confirm": CONFIRM,
        "accessibility_label": string(75),
    },
)
FEEDBACK = shape({"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)})
IMAGE = shape({"alt_text": string(2000)}, {"image_url": url(), "slack_file": kind(dict)})


MENU = {"options": array(OPTION, 100), "option_groups": array(GROUP, 100)}
FEW = {"options": array(OPTION, 10)}
FEW_MORE = {**ACTION, "focus_on_load": kind(bool), "confirm": CONFIRM}
CHOICES: Mapping[str, Check] = {
    "static_select": shape({}, {**PLACED, **MENU, "initial_option": OPTION}),
    "multi_static_select": shape(
        {}, {**PLACED, **MENU, "initial_options": array(OPTION, 100), "max_selected_items": kind(int)}
    ),
    "checkboxes": shape(FEW, {**FEW_MORE, "initial_options": array(OPTION, 10)}),
    "radio_buttons": shape(FEW, {**FEW_MORE, "initial_option": OPTION}),
}
ACTIONS: Mapping[str, Check] = {**CHOICES, "button": BUTTON}
INPUTS: Mapping[str, Check] = {
    **CHOICES,
    "plain_text_input": shape(
        {},
        {
            **{name: PLACED[name] for name in ("action_id", "placeholder", "focus_on_load")},
            "initial_value": string(3000, 0),
            "multiline": kind(bool),
            "min_length": kind(int),
            "max_length": kind(int),
            "dispatch_action_config": kind(dict),
        },
    ),
}
STYLE = {"style": kind(dict)}
SPANS: Mapping[str, Check] = {
    "text": shape({"text": string(12_000)}, STYLE),
    "link": shape({"url": url()}, {"text": string(12_000), "unsafe": kind(bool), **STYLE}),
    "emoji": shape({"name": string(255)}, {"unicode": kind(str), "skin_tone": kind(int), **STYLE}),
    "user": shape({"user_id": string(255)}, STYLE),
    "usergroup": shape({"usergroup_id": string(255)}, STYLE),
    "channel": shape({"channel_id": string(255)}, STYLE),
    "broadcast": shape({"range": one_of("here", "channel", "everyone")}, STYLE),
    "date": shape({"timestamp": kind(int), "format": kind(str)}, {"url": url(), "fallback": kind(str), **STYLE}),
    "color": shape({"value": kind(str)}, STYLE),
}
SPAN_LIST = {"elements": array(typed(SPANS), 1000, 0)}
SECTION_OF_TEXT = shape(SPAN_LIST)
RICH: Mapping[str, Check] = {
    "rich_text_section": SECTION_OF_TEXT,
    "rich_text_preformatted": shape(SPAN_LIST, {"border": kind(int), "language": kind(str)}),
    "rich_text_quote": shape(SPAN_LIST, {"border": kind(int)}),
    "rich_text_list": shape(
        {"elements": array(typed({"rich_text_section": SECTION_OF_TEXT}), 1000), "style": one_of("bullet", "ordered")},
        {"indent": kind(int), "offset": kind(int), "border": kind(int)},
    ),
}


# --- blocks and views

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
    """What is wrong with a modal, or a Home tab."""
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
