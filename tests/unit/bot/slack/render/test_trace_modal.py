"""The modals, and what is shown while an answer is made: within Slack's limits, marked, neutral."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Verdict
from bot.slack.outbound.thread_message import MAX_STATUS_CHARACTERS, STARTED, status_text
from bot.slack.render import actions
from bot.slack.render.trace_modal import escalation_modal, reason_modal, trace_modal
from navigator.answer import Answer, Step, Trace
from tests.fakes.slack import limits
from tests.unit.bot.slack.made import SITE, answer, live, passage, strings


def refused(view: dict[str, object]) -> limits.Refusal | None:
    return limits.first(limits.VIEW, {"view": view})


def test_how_it_was_found_reads_like_a_short_story_with_each_thing_once() -> None:
    given = replace(answer("A [1].", passages=2), sources=answer("A [1].", passages=1).sources)
    again = (Step("get_toc", "Once more.", query="scaling", shown="1: x"), Step("read", "", numbers=(2,)))
    given = replace(given, trace=replace(given.trace, steps=(*given.trace.steps, *again)))
    view = trace_modal(given, "T1:C1:1.2")
    assert refused(view) is None
    assert (view["private_metadata"], view["callback_id"]) == ("T1:C1:1.2", actions.TRACE_VIEW)
    assert [block["text"]["text"] for block in view["blocks"] if block["type"] == "section"] == [
        "*How do I scale?*",
        "Searched for “scaling”, and looked at 2 sections",
        f"Read 2 sections:\n• <{SITE}/guide/1#section-1|Acme › Guide › Page 1 › Section 1> · in the answer\n"
        f"• <{SITE}/guide/1#section-2|Acme › Guide › Page 1 › Section 2>",
        "*Answered* from 1 of the 2 sections read.",
    ]
    assert view["blocks"][-1]["elements"][0]["value"] == "more:T1:C1:1.2"


def test_the_details_show_reasoning_forest_and_cost() -> None:
    given = replace(answer("A [1].", passages=2), sources=answer("A [1].", passages=1).sources)
    view = trace_modal(given, "T1:C1:1.2", details=True)
    assert refused(view) is None
    said = strings(view["blocks"])
    assert "Searched for “scaling”, and looked at 2 sections · 0.2 s" in said
    assert "Where is it?" in said
    assert "```\n  - Guide\n●  1: Section 1\n○  2: Section 2\n```" in said
    assert "2 tool calls in 3 turns · 1,200 tokens in, 300 out · $0.0123 · 4.2 s" in said
    assert "rit · scripted · trace id abc123" in said
    assert view["blocks"][-1]["elements"][0]["value"] == "less:T1:C1:1.2"


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ((Step("search", "", query="x", numbers=(1, 2)),), "Searched for “x”, and read 2 sections:"),
        ((Step("keyword", "", query="a b", numbers=(1,)),), "Looked for the words “a b”, and read 1 section:"),
        ((Step("route", "", query="x", shown="1: a"),), "Looked through a page for “x”, and looked at 1 section"),
        ((), "Had at hand, from before:"),
    ],
)
def test_every_strategy_has_its_story(steps: tuple[Step, ...], told: str) -> None:
    given = answer("A [1].", passages=2)
    view = trace_modal(replace(given, trace=replace(given.trace, steps=steps)), "id")
    assert any(text.startswith(told) for text in strings(view["blocks"]))
    assert "\n".join(strings(view["blocks"])).count("Section 2>") == 1


def test_a_long_way_is_cut_with_a_note() -> None:
    forest = "\n".join(f"{n}: {'A title that goes on ' * 20}" for n in range(300))
    steps = tuple(Step("get_toc", "Because. " * 500, query="q " * 500, shown=forest) for _ in range(8))
    given = answer("A.", passages=200)
    view = trace_modal(replace(given, trace=replace(given.trace, steps=steps)), "id", details=True)
    assert refused(view) is None
    assert "are left out" in strings(view["blocks"][-2])[-1]
    assert any("more lines" in text for text in strings(view["blocks"]))


@pytest.mark.parametrize("steps", [99, 33, 47, 48, 49, 50])
def test_any_number_of_steps_fits(steps: int) -> None:
    given = answer("A.")
    step = Step("get_toc", "Why.", query="x")
    view = trace_modal(replace(given, trace=replace(given.trace, steps=(step,) * steps)), "id", details=True)
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
    view = trace_modal(answer(wild, question=wild, trace=trace), "id", details=True)
    assert refused(view) is None
    assert live(view["blocks"]) == []
    assert "evil.test" not in str(view)
    marked_up = [block["text"]["text"] for block in view["blocks"] if block["type"] == "section"]
    assert all(text.count("```") in (0, 2) for text in marked_up)


@pytest.mark.parametrize(("verdict", "choice"), [("bad", "It is out of date"), ("good", "It was quick")])
def test_what_fits_the_thumb_is_asked_in_a_modal(verdict: Verdict, choice: str) -> None:
    view = reason_modal(actions.feedback_value(verdict, "T1:C1:1.2"))
    assert refused(view) is None
    assert actions.feedback_of(view["private_metadata"]) == (verdict, "T1:C1:1.2")
    kinds, words = view["blocks"]
    assert choice in strings(kinds)
    assert (kinds["block_id"], kinds["element"]["action_id"]) == (actions.REASON_CHOICE,) * 2
    assert (words["block_id"], words["element"]["action_id"]) == (actions.REASON_BLOCK, actions.REASON_INPUT)
    assert kinds["optional"]
    assert words["optional"]


def test_before_a_person_is_asked_it_is_said_who_will_see_what() -> None:
    press = {"container": {"thread_ts": "1.2"}, "channel": {"id": "C1"}, "response_url": "u"}
    view = escalation_modal(actions.escalation_value("T1:C1:1.2", press), whom="<!subteam^S1>", in_thread=True)
    assert refused(view) is None
    assert "where everyone sees it" in strings(view)[-1] + " ".join(strings(view))
    question, again = actions.escalation_of({"view": view, "user": {"id": "U1"}})
    assert question == "T1:C1:1.2"
    assert {name: again[name] for name in press} == press


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
