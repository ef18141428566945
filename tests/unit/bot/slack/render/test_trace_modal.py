"""The modals, and what is shown while an answer is made: within Slack's limits, marked, neutral."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.outbound.thread_message import MAX_STATUS_CHARACTERS, STARTED, status_text
from bot.slack.render import actions
from bot.slack.render.trace_modal import reason_modal, trace_modal
from navigator.answer import Answer, Step, Trace
from tests.fakes.slack import limits
from tests.unit.bot.slack.made import SITE, answer, live, passage, strings


def refused(view: dict[str, object]) -> limits.Refusal | None:
    return limits.first(limits.VIEW, {"view": view})


def test_the_way_shows_queries_forest_reads_and_cost() -> None:
    given = replace(answer("A [1].", passages=2), sources=answer("A [1].", passages=1).sources)
    view = trace_modal(given, "T1:C1:1.2")
    assert refused(view) is None
    assert view["private_metadata"] == "T1:C1:1.2"
    assert view["callback_id"] == actions.TRACE_VIEW
    said = strings(view["blocks"])
    assert "*How do I scale?*" in said
    assert "*1* · searched for “scaling” · 0.2 s" in said
    assert "```\n  - Guide\n●  1: Section 1\n○  2: Section 2\n```" in said
    read = f"● 1: <{SITE}/guide/1#section-1|Acme › Guide › Page 1 › Section 1>"
    assert any(text.startswith("*2* · read · 0.1 s\n" + read) for text in said)
    assert any(text.startswith("*2 sections read, 1 cited*\n" + read) for text in said)
    assert "2 tool calls in 3 turns · 1,200 tokens in, 300 out · $0.0123 · 4.2 s" in said
    assert "rit · scripted · trace id abc123" in said


def test_a_long_way_is_cut_with_a_note() -> None:
    forest = "\n".join(f"{n}: {'A title that goes on ' * 20}" for n in range(300))
    steps = tuple(Step("get_toc", "Because. " * 500, query="q " * 500, shown=forest) for _ in range(8))
    given = answer("A.", passages=200)
    view = trace_modal(replace(given, trace=replace(given.trace, steps=steps)), "id")
    assert refused(view) is None
    assert "are left out" in strings(view["blocks"][-1])[-1]
    assert any("more lines" in text for text in strings(view["blocks"]))


@pytest.mark.parametrize("steps", [99, 33, 47, 48, 49, 50])
def test_any_number_of_steps_fits(steps: int) -> None:
    given = answer("A.")
    step = Step("read", "Why.", numbers=(1,))
    view = trace_modal(replace(given, trace=replace(given.trace, steps=(step,) * steps)), "id")
    assert refused(view) is None
    assert len(view["blocks"]) <= 100


def test_a_way_without_steps_is_shown_too() -> None:
    assert refused(trace_modal(Answer("", "No.", "failed", trace=Trace()), "id")) is None


WILD = st.sampled_from(
    ["<!channel>", "@here", "https://evil.test/x", "```", "`", "1: ", "\n", " ", "*", "a", "<@U0123ABC>"]
)


@given(st.lists(WILD, max_size=30).map("".join))
def test_nothing_in_the_way_is_live(wild: str) -> None:
    steps = (
        Step("get_toc", wild, query=wild, shown=wild, error=wild),
        Step("read", wild, numbers=(1,), error=None),
    )
    trace = Trace(steps, passages=(replace(passage(1), path=(wild, wild)),))
    view = trace_modal(answer(wild, question=wild, trace=trace), "id")
    assert refused(view) is None
    assert live(view["blocks"]) == []
    assert "evil.test" not in str(view)
    marked_up = [block["text"]["text"] for block in view["blocks"] if block["type"] == "section"]
    assert all(text.count("```") in (0, 2) for text in marked_up)


def test_the_reason_is_asked_for_in_a_modal() -> None:
    view = reason_modal(actions.feedback_value("bad", "T1:C1:1.2"))
    assert refused(view) is None
    assert actions.feedback_of(view["private_metadata"]) == ("bad", "T1:C1:1.2")
    assert view["blocks"][0]["block_id"] == actions.REASON_BLOCK
    assert view["blocks"][0]["element"]["action_id"] == actions.REASON_INPUT


READ = passage(3, title="Autoscaling")


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (Step("get_toc", "", shown="# Guide\n- A\n 1: B (about 12: x)\n  12: C"), "Looking through 2 sections …"),
        (Step("get_toc", "", shown='[{"id": 1, "is_readable": true}, {"id": null, "is_readable": false}]'), "Looking through 1 section …"),
        (Step("get_toc", "", shown="Nothing matches this query. Try other words."), "Trying other words …"),
        (Step("get_toc", "", error="Too often."), "Trying another way …"),
        (Step("pick_page", "", query="ports", shown="1: Ports"), "Looking through 1 section …"),
        (Step("search", "", query="ports", numbers=(3,)), "Reading Page 2 › Autoscaling"),
        (Step("search", "", query="ports"), "Trying other words …"),
        (Step("read", "", numbers=(3,)), "Reading Page 2 › Autoscaling"),
        (Step("read", "", numbers=(3, 4, 5)), "Reading Page 2 › Autoscaling and 2 more"),
        (Step("read", "", numbers=(99,)), "Looking for the right section …"),
    ],
)  # fmt: skip
def test_a_step_as_a_sign_of_life(step: Step, shown: str) -> None:
    assert status_text(step, (READ, passage(4), passage(5))) == shown


@given(st.lists(st.text(max_size=80), max_size=4), st.integers(1, 40))
def test_a_sign_of_life_fits_and_is_neutral(path: list[str], count: int) -> None:
    read = tuple(replace(passage(n), path=(*path, "<!here> https://evil.test")) for n in range(1, count + 1))
    text = status_text(Step("read", "", numbers=tuple(range(1, count + 1))), read)
    assert 0 < len(text) <= MAX_STATUS_CHARACTERS
    assert live(text) == []
    assert "evil" not in text


def test_the_first_sign_fits() -> None:
    assert 0 < len(STARTED) <= MAX_STATUS_CHARACTERS
