"""What the fake Slack refuses: one over each limit; and takes: just within it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.slack import Clock, limits
from tests.fakes.slack.limits import A_MINUTE, BURST, Rates

Json = dict[str, Any]


def plain(size: int) -> Json:
    return {"type": "plain_text", "text": "a" * size}


def mrkdwn(size: int) -> Json:
    return {"type": "mrkdwn", "text": "a" * size}


def section(size: int = 5) -> Json:
    return {"type": "section", "text": mrkdwn(size)}


def markdown(size: int) -> Json:
    return {"type": "markdown", "text": "a" * size}


def button(**more: Any) -> Json:
    return {"type": "button", "text": plain(4), "action_id": "a", **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def feedback(text: int = 4, value: int = 4) -> Json:
    one = {"text": plain(text), "value": "v" * value}
    element = {"type": "feedback_buttons", "action_id": "f", "positive_button": one, "negative_button": one}
    return {"type": "context_actions", "elements": [element]}


def feedbacks(many: int) -> Json:
    [element] = feedback()["elements"]
    return {"type": "context_actions", "elements": [{**element, "action_id": str(n)} for n in range(many)]}


def table(rows: int = 1, columns: int = 1, size: int = 1) -> Json:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "a" * size}] * columns] * rows}


def menu(options: int = 1, text: int = 1, value: int = 1) -> Json:
    made = [{"text": plain(text), "value": str(n).rjust(value, "v")} for n in range(options)]
    return actions({"type": "static_select", "action_id": "s", "placeholder": plain(5), "options": made})


def entry(label: int = 5) -> Json:
    element = {"type": "plain_text_input", "action_id": "i"}
    return {"type": "input", "label": plain(label), "element": element}


def modal(**more: Any) -> Json:
    return {"type": "modal", "title": plain(5), "blocks": [section()], **more}


BLOCK_SIZES: list[tuple[Any, int, str]] = [
    (section, 3000, "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"),
    (lambda n: {"type": "header", "text": plain(n)}, 150, "must be less than 151 characters"),
    (lambda n: {"type": "context", "elements": [mrkdwn(3)] * n}, 10, "no more than 10 items allowed"),
    (markdown, 12_000, "must be less than 12001 characters [json-pointer:/blocks/0/text]"),
    (lambda n: actions(button(text=plain(n))), 75, "must be less than 76 characters"),
    (lambda n: actions(button(value="v" * n)), 2000, "must be less than 2001 characters"),
    (lambda n: actions(button(action_id="v" * n)), 255, "must be less than 256 characters"),
    (lambda n: actions(button(url="https://a.example/".ljust(n, "a"))), 3000, "must be less than 3001 characters"),
    (lambda n: actions(button(), block_id="b" * n), 255, "must be less than 256 characters"),
    (lambda n: actions(*[button(action_id=str(i)) for i in range(n)]), 25, "no more than 25 items allowed"),
    (feedbacks, 5, "no more than 5 items allowed [json-pointer:/blocks/0/elements]"),
    (lambda n: feedback(text=n), 75, "must be less than 76 characters"),
    (lambda n: feedback(value=n), 2000, "must be less than 2001 characters"),
    (lambda n: table(rows=n), 100, "no more than 100 items allowed [json-pointer:/blocks/0/rows]"),
    (lambda n: table(columns=n), 20, "no more than 20 items allowed [json-pointer:/blocks/0/rows/0]"),
    (menu, 100, "no more than 100 items allowed"),
    (lambda n: menu(text=n), 75, "must be less than 76 characters"),
    (lambda n: menu(value=n), 150, "must be less than 151 characters"),
    (entry, 2000, "must be less than 2001 characters"),
]


@pytest.mark.parametrize(("made", "most", "message"), BLOCK_SIZES)
def test_a_block_may_be_as_large_as_the_limit_and_no_larger(made: Any, most: int, message: str) -> None:
    assert limits.malformed_blocks({"blocks": [made(most)]}) is None
    refusal = limits.malformed_blocks({"blocks": [made(most + 1)]})
    assert refusal is not None
    assert refusal.error == "invalid_blocks"
    assert any(message in one and one.startswith("[ERROR] ") for one in refusal.messages)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"type": "video"}, "unsupported type: video [json-pointer:/blocks/0/type]"),
        ({"text": "a"}, "missing required field: type [json-pointer:/blocks/0]"),
        ({"type": "section"}, "missing required field: text [json-pointer:/blocks/0]"),
        ({"type": "section", "text": mrkdwn(0)}, "must be more than 0 characters"),
        ({"type": "section", "text": "bare"}, "must be an object [json-pointer:/blocks/0/text]"),
        ({"type": "header", "text": mrkdwn(3)}, "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]"),
        ({**section(), "colour": "red"}, "invalid additional property: colour [json-pointer:/blocks/0]"),
        (actions(), "must be at least 1 item [json-pointer:/blocks/0/elements]"),
        (actions(button(), button()), '`action_id` "a" already exists for another element'),
        (actions(button(style="green")), "must be one of: primary, danger"),
        (actions(button(url="javascript:alert(1)")), "must be a valid URL"),
        (actions({"type": "plain_text_input", "action_id": "i"}), "unsupported type: plain_text_input"),
        (table(size=0), "must be more than 0 characters [json-pointer:/blocks/0/rows/0/0/text]"),
        ({"type": "table"}, "missing required field: rows"),
        ({"type": "markdown", "text": 3}, "must be a string"),
        ({"type": "task_card", "task_id": "1", "title": "t", "status": "done"}, "must be one of: pending"),
    ],
)
def test_a_malformed_block_is_refused_with_where_it_is_wrong(block: Json, message: str) -> None:
    refusal = limits.malformed_blocks({"blocks": [block]})
    assert refusal is not None
    assert any(message in one for one in refusal.messages)


def test_two_blocks_of_the_same_id_are_refused() -> None:
    twice = [{**section(), "block_id": "b"}] * 2
    refusal = limits.malformed_blocks({"blocks": twice})
    assert refusal is not None
    assert "`block_id`" in refusal.messages[0]


RICH = {
    "type": "rich_text",
    "elements": [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": "a", "style": {"bold": True}}]},
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "code"}]},
        {
            "type": "rich_text_list",
            "style": "bullet",
            "elements": [{"type": "rich_text_section", "elements": [{"type": "link", "url": "https://a.example"}]}],
        },
    ],
}


@pytest.mark.parametrize(
    "block",
    [
        RICH,
        {"type": "divider"},
        {"type": "table", "rows": [[RICH, {"type": "raw_text", "text": " "}]], "column_settings": [{"align": "right"}]},
        {"type": "task_card", "task_id": "1", "title": "t", "status": "complete", "sources": [{"type": "url", "url": "https://a.example", "text": "a"}]},
        {"type": "plan", "title": "Plan", "tasks": []},
        {"type": "section", "fields": [mrkdwn(2)], "accessory": button()},
    ],
)  # fmt: skip
def test_what_the_bot_may_want_to_show_is_taken(block: Json) -> None:
    assert limits.malformed_blocks({"blocks": [block]}) is None


def refused(rules: Any, **arguments: Any) -> str:
    refusal = limits.first(rules, arguments)
    return refusal.error if refusal else ""


@pytest.mark.parametrize(
    ("rules", "within", "over", "error"),
    [
        (limits.POST, {"text": "a" * 40_000}, {"text": "a" * 40_001}, "msg_too_long"),
        (limits.POST, {"text": "a"}, {"text": ""}, "no_text"),
        (limits.POST, {"blocks": [section()]}, {"blocks": "[]"}, "invalid_blocks_format"),
        (limits.POST, {"markdown_text": "a" * 12_000}, {"markdown_text": "a" * 12_001}, "msg_too_long"),
        (limits.POST, {"markdown_text": "a"}, {"markdown_text": "a", "text": "a"}, "markdown_text_conflict"),
        (limits.POST, {"blocks": [section()] * 50}, {"blocks": [section()] * 51}, "invalid_blocks"),
        (limits.POST, {"blocks": [table(), section()]}, {"blocks": [table(), table()]}, "invalid_blocks"),
        (limits.POST, {"blocks": [table(100, 1, 100)]}, {"blocks": [table(99, 1, 102)]}, "invalid_blocks"),
        (limits.POST, {"blocks": [markdown(6000)] * 2}, {"blocks": [markdown(6001)] * 2}, "msg_blocks_too_long"),
        (
            limits.POST,
            {"blocks": [markdown(12_000), section(1200)]},
            {"blocks": [markdown(12_000), section(1201)]},
            "msg_blocks_too_long",
        ),
        (limits.UPDATE, {"text": "é" * 2000}, {"text": "é" * 2001}, "msg_too_long"),
        (limits.RESPONSE, {"blocks": [section(3000)] * 10}, {"text": "a" * 40_001}, "msg_too_long"),
        (limits.APPEND, {"markdown_text": "a" * 12_000}, {"markdown_text": "a" * 12_001}, "msg_too_long"),
        (limits.APPEND, {"markdown_text": "a"}, {"chunks": []}, "no_text"),
        (
            limits.APPEND,
            {"chunks": [{"type": "markdown_text", "text": "a" * 6000}] * 2},
            {"chunks": [{"type": "markdown_text", "text": "a" * 6001}] * 2},
            "msg_too_long",
        ),
        (
            limits.APPEND,
            {"chunks": [{"type": "task_update", "id": "1", "title": "t", "status": "complete"}]},
            {"chunks": [{"type": "task_update", "id": "1", "title": "t", "status": "finished"}]},
            "invalid_chunks",
        ),
        (limits.APPEND, {"chunks": [{"type": "plan_update", "title": "t"}]}, {"chunks": [{"type": "step"}]}, "invalid_chunks"),
        (
            limits.APPEND,
            {"chunks": [{"type": "blocks", "blocks": [section()]}]},
            {"chunks": [{"type": "blocks", "blocks": [section(3001)]}]},
            "invalid_blocks",
        ),
        (limits.STOP, {"blocks": [section()]}, {"blocks": [section(3001)]}, "invalid_blocks"),
        (limits.VIEW, {"view": modal(title=plain(24))}, {"view": modal(title=plain(25))}, "invalid_arguments"),
        (limits.VIEW, {"view": modal(submit=plain(24))}, {"view": modal(submit=plain(25))}, "invalid_arguments"),
        (limits.VIEW, {"view": modal(private_metadata="a" * 3000)}, {"view": modal(private_metadata="a" * 3001)}, "invalid_arguments"),
        (limits.VIEW, {"view": modal(blocks=[section()] * 100)}, {"view": modal(blocks=[section()] * 101)}, "invalid_arguments"),
        (limits.VIEW, {"view": modal(blocks=[entry()], submit=plain(2))}, {"view": modal(blocks=[entry()])}, "invalid_arguments"),
        (limits.VIEW, {"view": modal()}, {"view": modal(blocks=[markdown(3)])}, "invalid_arguments"),
        (limits.VIEW, {"view": modal(blocks=[section(3000)] * 80)}, {"view": modal(blocks=[section(3000)] * 90)}, "view_too_large"),
        ((limits.many_loading_messages,), {"loading_messages": ["a"] * 10}, {"loading_messages": ["a"] * 11}, "invalid_arguments"),
        (
            (limits.malformed_prompts,),
            {"prompts": [{"title": "t", "message": "m"}] * 4},
            {"prompts": [{"title": "t", "message": "m"}] * 5},
            "invalid_arguments",
        ),
        ((limits.unknown_session_status,), {"status": "processing"}, {"status": "thinking"}, "invalid_arguments"),
    ],
)  # fmt: skip
def test_one_over_a_limit_of_a_call_is_refused(rules: Any, within: Json, over: Json, error: str) -> None:
    assert refused(rules, **within) == ""
    assert refused(rules, **over) == error


def test_a_channel_takes_a_burst_of_posts_and_then_one_a_second() -> None:
    clock = Clock()
    rates = Rates(clock, on=True)
    assert [rates.take("T1", "chat.postMessage", "C1") for _ in range(BURST)] == [None] * BURST
    wait = rates.take("T1", "chat.postMessage", "C1")
    assert wait is not None
    assert rates.take("T1", "chat.postMessage", "C2") is None
    clock.advance(wait)
    assert rates.take("T1", "chat.postMessage", "C1") is None


def test_appends_of_all_channels_of_a_workspace_are_counted_together() -> None:
    clock = Clock()
    rates = Rates(clock, on=True)
    most = A_MINUTE["chat.appendStream"]
    assert all(rates.take("T1", "chat.appendStream", f"C{n}") is None for n in range(most))
    assert rates.take("T1", "chat.appendStream", "C999") is not None
    assert rates.take("T2", "chat.appendStream", "C1") is None
    clock.advance(60)
    assert rates.take("T1", "chat.appendStream", "C1") is None


def test_rates_can_be_switched_off() -> None:
    rates = Rates(Clock(), on=False)
    assert {rates.take("T1", "chat.startStream", "C1") for _ in range(100)} == {None}
