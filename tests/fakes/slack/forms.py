"""Elements that a person acts on: found in blocks, pressed, filled in. Pure.

What a person chooses is named by its words or by its value, whatever the test finds easier to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]
Chosen = str | Sequence[str] | None


class NotThere(AssertionError):
    """A person looks for something that is not on the screen."""


def elements(blocks: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    """Every element with an action, and the block that it stands in."""
    for block in blocks:
        for element in [*block.get("elements", []), block.get("accessory"), block.get("element")]:
            if isinstance(element, dict) and element.get("action_id"):
                yield block, element


def find(blocks: Sequence[Json], action_id: str) -> tuple[Json, Json]:
    there = []
    for block, element in elements(blocks):
        if element["action_id"] == action_id:
            return block, element
        there.append(element["action_id"])
    raise NotThere(f"There is no {action_id} to press; there is {', '.join(there) or 'nothing'}.")


def asks_first(element: Json) -> str:
    """What stands in the dialog that comes before the press counts; "" where there is none."""
    dialog = element.get("confirm")
    return str(dialog["text"]["text"]) if dialog else ""


def pressed(block: Json, element: Json, chosen: Chosen, now: str) -> Json:
    """The action as block_actions carries it."""
    action: Json = {"type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"]}
    action["action_ts"] = now
    match element["type"]:
        case "button":
            action["text"] = element["text"]
            action |= {"value": element["value"]} if "value" in element else {}
        case "icon_button":
            action |= {"value": element["value"]} if "value" in element else {}
        case "feedback_buttons":
            buttons = [element["positive_button"], element["negative_button"]]
            action |= {key: value for key, value in _option(buttons, chosen).items() if key in ("text", "value")}
        case "overflow":
            action["selected_option"] = _option(element["options"], chosen)
        case _:
            action |= value_of(element, chosen)
    return action


def filled(blocks: Sequence[Json], values: Mapping[str, Chosen]) -> Json:
    """view.state.values: what was entered, else what stood there from the start. By action id or block id.

    Raises NotThere for a field that is not there and for a required one that stays empty."""
    left = dict(values)
    state: Json = {}
    for block, element in elements(blocks):
        if element["type"] in ("button", "overflow", "feedback_buttons", "icon_button"):
            continue
        name = next((one for one in (element["action_id"], block["block_id"]) if one in left), None)
        value = value_of(element, left.pop(name) if name else None, start=name is None)
        if block["type"] == "input" and not block.get("optional") and not _any(value):
            raise NotThere(f"{block['label']['text']} is required and was left empty.")
        state.setdefault(block["block_id"], {})[element["action_id"]] = value
    if left:
        raise NotThere(f"The modal has no field {', '.join(left)}.")
    return state


def value_of(element: Json, chosen: Chosen, *, start: bool = False) -> Json:
    """The value of one element. `start`: as the app filled it in."""
    kind = element["type"]
    value: Json = {"type": kind}
    many = isinstance(chosen, Sequence) and not isinstance(chosen, str)
    match kind:
        case "plain_text_input" | "number_input":
            value["value"] = (element.get("initial_value") if start else chosen) or None
        case "static_select" | "radio_buttons":
            initial = element.get("initial_option")
            value["selected_option"] = initial if start else _option(_all(element), chosen) if chosen else None
        case "multi_static_select" | "checkboxes":
            picked = [chosen] if isinstance(chosen, str) else list(chosen or [])
            initial = element.get("initial_options", [])
            value["selected_options"] = initial if start else [_option(_all(element), one) for one in picked]
        case "datepicker":
            value["selected_date"] = element.get("initial_date") if start else chosen
        case _:
            name = kind.removeprefix("multi_").removesuffix("s_select")
            plural = kind.startswith("multi_")
            initial = element.get(f"initial_{name}s" if plural else f"initial_{name}")
            picked_now: Any = list(chosen) if many and chosen else chosen
            value[f"selected_{name}s" if plural else f"selected_{name}"] = initial if start else picked_now
    return value


def _all(element: Json) -> list[Json]:
    groups = [option for group in element.get("option_groups", []) for option in group["options"]]
    return [*element.get("options", []), *groups]


def _option(options: Sequence[Json], chosen: Chosen) -> Json:
    for option in options:
        if chosen in (option["value"], option["text"]["text"]):
            return option
    words = ", ".join(option["text"]["text"] for option in options)
    raise NotThere(f"There is no {chosen!r} to choose; there is {words}.")


def _any(value: Json) -> bool:
    return any(one for name, one in value.items() if name != "type")
