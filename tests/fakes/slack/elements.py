"""The parts that blocks are made of: text objects, buttons, menus, inputs, rich text. Pure; source as in blocks.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.slack.shapes import Check, array, fault, kind, one_of, shape, string, typed, url


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


def select(initial: str, checked: Check, **more: Check) -> Check:
    return shape({}, {**PLACED, initial: checked, **more})


OPTIONS = {"options": array(OPTION, 100), "option_groups": array(GROUP, 100)}
FEW = {"options": array(OPTION, 10)}
IDS = array(string(255), 100)
CHOICES: Mapping[str, Check] = {
    "static_select": select("initial_option", OPTION, **OPTIONS),
    "multi_static_select": select("initial_options", array(OPTION, 100), **OPTIONS, max_selected_items=kind(int)),
    "users_select": select("initial_user", string(255)),
    "multi_users_select": select("initial_users", IDS, max_selected_items=kind(int)),
    "channels_select": select("initial_channel", string(255)),
    "conversations_select": select(
        "initial_conversation", string(255), filter=kind(dict), default_to_current_conversation=kind(bool)
    ),
    "checkboxes": shape(
        FEW,
        {
            **ACTION,
            "initial_options": array(OPTION, 10),
            "focus_on_load": kind(bool),
            "confirm": CONFIRM,
        },
    ),
    "radio_buttons": shape(FEW, {**ACTION, "initial_option": OPTION, "focus_on_load": kind(bool), "confirm": CONFIRM}),
    "datepicker": select("initial_date", string(10)),
}
ACTIONS: Mapping[str, Check] = {
    **CHOICES,
    "button": BUTTON,
    "overflow": shape({"options": array(OPTION, 5)}, {**ACTION, "confirm": CONFIRM}),
}
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
    "number_input": shape(
        {"is_decimal_allowed": kind(bool)},
        {
            **PLACED,
            "initial_value": string(255, 0),
            "min_value": string(255),
            "max_value": string(255),
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
