"""Block Kit to HTML. Pure.

Elements that can be acted on carry data-action (the action id) and data-chosen (what choosing them means); the page's
script sends both. Fields of a modal are named by block id and action id: <… name="block action">.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tests.fakes.slack.person import asks_first
from tests.play.markup import Names, link, markdown, mrkdwn

Json = dict[str, Any]
THUMB = (
    '<svg class="{}" viewBox="0 0 16 16" aria-hidden="true"><path d="M1.5 7h2.7v6.5H1.5zM4.2 7l2.9-5.3c1.1 0 1.8.9 1.6 2'
    'L8.3 6h4.4c.9 0 1.6.9 1.4 1.8l-1 4.4c-.2.8-.9 1.3-1.6 1.3H4.2"/></svg>'
)
THUMB_UP, THUMB_DOWN = THUMB.format("up"), THUMB.format("down")
MARKS = {"pending": "○", "in_progress": "◔", "complete": "✓", "error": "✕"}


def blocks(parts: Sequence[Json], names: Names, errors: Mapping[str, str] | None = None) -> str:
    return "".join(block(part, names, errors or {}) for part in parts)


def block(part: Json, names: Names, errors: Mapping[str, str]) -> str:
    match part["type"]:
        case "markdown":
            return f'<div class="markdown">{markdown(part["text"])}</div>'
        case "section":
            return _section(part, names)
        case "header":
            return f"<h3>{escape(part['text']['text'])}</h3>"
        case "divider":
            return "<hr>"
        case "context":
            inside = " ".join(_context(element, names) for element in part["elements"])
            return f'<div class="context">{inside}</div>'
        case "actions" | "context_actions":
            return f'<div class="{part["type"]}">{"".join(element(one, part) for one in part["elements"])}</div>'
        case "input":
            return _input(part, errors.get(part["block_id"], ""))
        case "table":
            return _table(part, names)
        case "rich_text":
            return f'<div class="rich">{rich(part, names)}</div>'
        case "alert":
            return f'<div class="alert {escape(part.get("level", "default"))}">{text(part["text"], names)}</div>'
        case "task_card":
            return _task(part, names)
        case "plan":
            tasks = "".join(_task(task, names) for task in part.get("tasks", []))
            return f'<details class="plan" open><summary>{escape(part["title"])}</summary>{tasks}</details>'
        case "image":
            return f'<p class="context">{link(part.get("image_url", ""), part["alt_text"])}</p>'
    return ""


def text(words: Json, names: Names) -> str:
    if words["type"] == "mrkdwn":
        return mrkdwn(words["text"], names)
    return escape(words["text"]).replace("\n", "<br>")


def element(one: Json, part: Json) -> str:
    """A button, a menu, a feedback pair."""
    action = f'data-action="{escape(one.get("action_id", ""))}"'
    match one["type"]:
        case "button":
            style = escape(one.get("style", ""))
            label = escape(one["text"]["text"])
            if one.get("url"):
                return f'<a class="button {style}" {action} href="{escape(one["url"])}" target="_blank" rel="noopener">{label}</a>'
            sure = f' data-sure="{escape(asks_first(one))}"' if one.get("confirm") else ""
            return f'<button type="button" class="{style}" {action}{sure}>{label}</button>'
        case "feedback_buttons":
            return "".join(
                f'<button type="button" class="quiet" {action} data-chosen="{escape(button["value"])}">'
                f"{thumb} {escape(button['text']['text'])}</button>"
                for thumb, button in ((THUMB_UP, one["positive_button"]), (THUMB_DOWN, one["negative_button"]))
            )
        case _:
            return _menu(one, action, one.get("placeholder", {}).get("text", "Choose"))


def rich(part: Json, names: Names) -> str:
    inside = "".join(rich(one, names) for one in part.get("elements", []))
    match part["type"]:
        case "rich_text_section":
            return f"<span>{inside}</span>"
        case "rich_text_preformatted":
            return f"<pre><code>{inside}</code></pre>"
        case "rich_text_quote":
            return f"<blockquote>{inside}</blockquote>"
        case "rich_text_list":
            tag = "ol" if part["style"] == "ordered" else "ul"
            items = "".join(f"<li>{rich(one, names)}</li>" for one in part["elements"])
            return f"<{tag}>{items}</{tag}>"
        case "rich_text":
            return inside
    return _styled(_span(part, names), part.get("style", {}))


def _section(part: Json, names: Names) -> str:
    words = text(part["text"], names) if part.get("text") else ""
    fields = "".join(f"<div>{text(field, names)}</div>" for field in part.get("fields", []))
    accessory = part.get("accessory")
    beside = f'<div class="accessory">{element(accessory, part)}</div>' if accessory else ""
    grid = f'<div class="fields">{fields}</div>' if fields else ""
    return f'<div class="section"><div>{words}{grid}</div>{beside}</div>'


def _context(one: Json, names: Names) -> str:
    if one["type"] == "image":
        return escape(one["alt_text"])
    return f"<span>{text(one, names)}</span>"


def _table(part: Json, names: Names) -> str:
    sides = [setting.get("align", "left") if setting else "left" for setting in part.get("column_settings", [])]
    rows = []
    for number, row in enumerate(part["rows"]):
        tag = "td" if number else "th"
        cells = [
            f'<{tag} class="{escape(sides[column]) if column < len(sides) else "left"}">{_cell(cell, names)}</{tag}>'
            for column, cell in enumerate(row)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="wide"><table>{"".join(rows)}</table></div>'


def _cell(cell: Json, names: Names) -> str:
    if cell["type"] == "rich_text":
        return rich(cell, names)
    return escape(str(cell.get("text") or cell.get("value")))


def _task(card: Json, names: Names) -> str:
    details = "".join(f"<div>{rich(card[name], names)}</div>" for name in ("details", "output") if card.get(name))
    sources = " ".join(link(source["url"], source["text"]) for source in card.get("sources", []))
    state = card["status"]
    return (
        f'<div class="task {state}"><span class="mark" title="{state.replace("_", " ")}">{MARKS[state]}</span>'
        f'<div>{escape(card["title"])}<div class="context">{details}{sources}</div></div></div>'
    )


def _span(part: Json, names: Names) -> str:
    match part["type"]:
        case "text":
            return escape(part["text"]).replace("\n", "<br>")
        case "link":
            return link(part["url"], part.get("text", ""))
        case "emoji":
            return f":{escape(part['name'])}:"
        case "user" | "channel" | "usergroup":
            name = part.get("user_id") or part.get("channel_id") or part.get("usergroup_id") or ""
            return f'<span class="mention">{escape(names.get(name, name))}</span>'
        case "broadcast":
            return f'<span class="mention">@{escape(part["range"])}</span>'
    return escape(str(part.get("fallback") or part.get("value") or ""))


def _styled(html: str, style: Mapping[str, bool]) -> str:
    for name, tag in (("code", "code"), ("bold", "strong"), ("italic", "em"), ("strike", "s")):
        if style.get(name):
            html = f"<{tag}>{html}</{tag}>"
    return html


def _menu(one: Json, action: str, label: str) -> str:
    return f'<select {action} aria-label="{escape(label)}"><option value="">{escape(label)}</option>{_options(one)}</select>'


def _options(one: Json) -> str:
    def shown(option: Json) -> str:
        chosen = [one.get("initial_option"), *one.get("initial_options", [])]
        mark = " selected" if any(first and first["value"] == option["value"] for first in chosen) else ""
        return f'<option value="{escape(option["value"])}"{mark}>{escape(option["text"]["text"])}</option>'

    groups = "".join(
        f'<optgroup label="{escape(group["label"]["text"])}">{"".join(map(shown, group["options"]))}</optgroup>'
        for group in one.get("option_groups", [])
    )
    return "".join(map(shown, one.get("options", []))) + groups


def _input(part: Json, error: str) -> str:
    one = part["element"]
    name = f'name="{escape(part["block_id"])} {escape(one.get("action_id", ""))}"'
    need = "" if part.get("optional") else " required"
    label = escape(part["label"]["text"]) + (' <span class="context">optional</span>' if part.get("optional") else "")
    hint = f'<div class="context">{escape(part["hint"]["text"])}</div>' if part.get("hint") else ""
    wrong = f'<div class="error" role="alert">{escape(error)}</div>' if error else ""
    if one["type"] in ("checkboxes", "radio_buttons"):
        return f'<fieldset class="input"><legend>{label}</legend>{_ticks(one, name)}{hint}{wrong}</fieldset>'
    return f'<label class="input">{label}{_field(one, name, need)}{hint}{wrong}</label>'


def _field(one: Json, name: str, need: str) -> str:
    holder = f'placeholder="{escape(one.get("placeholder", {}).get("text", ""))}"'
    start = escape(str(one.get("initial_value", "")))
    match one["type"]:
        case "plain_text_input" if one.get("multiline"):
            return f'<textarea rows="4" {name} {holder}{need}>{start}</textarea>'
        case "plain_text_input":
            return f'<input type="text" {name} {holder} value="{start}"{need}>'
        case "static_select":
            return f'<select {name}{need}><option value=""></option>{_options(one)}</select>'
    return f"<select multiple {name}{need}>{_options(one)}</select>"


def _ticks(one: Json, name: str) -> str:
    kind = "checkbox" if one["type"] == "checkboxes" else "radio"
    chosen = {option["value"] for option in [one.get("initial_option"), *one.get("initial_options", [])] if option}
    return "".join(
        f'<label><input type="{kind}" {name} value="{escape(option["value"])}"'
        f"{' checked' if option['value'] in chosen else ''}> {escape(option['text']['text'])}</label>"
        for option in one["options"]
    )
