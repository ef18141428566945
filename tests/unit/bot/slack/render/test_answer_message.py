"""An answer as messages that Slack takes: all of it there, every number with its row, nothing live."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.slack.render import actions
from bot.slack.render.answer_message import LONGER_PRIVATE, MAX_SUMMARY_CHARACTERS, Message, messages, notice
from bot.slack.render.blocks import BlockLimits, path, shortened
from navigator.answer import Answer, CitedSource, Passage, Trace
from navigator.citations.links import gate_of
from tests.unit.bot.slack.made import (
    DOCUMENT,
    NOISE,
    NOW,
    SITE,
    UNSEEN,
    answer,
    dumped,
    fences_closed,
    links,
    live,
    markdown_of,
    passage,
    read,
    refused,
    strings,
)
from tests.unit.navigator.markdown.test_markdown import LONG_CODE

QUESTION = "T1:C1:1700000000.000100"
ROW = re.compile(r"^\[(\d+)\] (?:<([^|>]+)\|([^>]+)>|(.+?)) · checked (.+)$", re.MULTILINE)


def made(given: Answer, limits: BlockLimits = BlockLimits(), **more: Any) -> tuple[Message, ...]:  # noqa: B008
    return messages(given, question_id=QUESTION, now=NOW, limits=limits, **more)


def rows(sent: tuple[Message, ...]) -> list[tuple[int, str, str]]:
    """Number, address, path of each source row."""
    found = [row for message in sent for text in strings(message.blocks) for row in ROW.findall(text)]
    return [(int(number), html.unescape(url), label or bare) for number, url, label, bare, _ in found]


def buttons(sent: tuple[Message, ...]) -> list[str]:
    elements = [e for m in sent for b in m.blocks if b["type"] in ("actions", "context_actions") for e in b["elements"]]
    return [element["action_id"] for element in elements]


def holds(given: Answer, sent: tuple[Message, ...]) -> None:
    """What every answer's messages keep, whatever it says."""
    assert [refused(message) for message in sent] == [None] * len(sent)
    parts = markdown_of(sent)
    assert all(fences_closed(part) for part in parts)
    assert [number for number, _, _ in rows(sent)] == [source.number for source in given.sources]
    assert live([[message.text, message.blocks] for message in sent]) == []
    allowed = gate_of(given).links
    assert {link for part in parts for link in links(part)} <= allowed
    assert {url for _, url, _ in rows(sent) if url} <= allowed
    for message in sent:
        assert 0 < len(UNSEEN.sub("", html.unescape(message.text))) <= MAX_SUMMARY_CHARACTERS + len("Continued: ")
        assert message.blocks


@settings(max_examples=60)
@given(DOCUMENT | NOISE, st.integers(1, 3))
def test_any_answer_is_taken_by_slack_and_nothing_in_it_is_live(text: str, times: int) -> None:
    given = answer("\n\n".join([text] * times))
    holds(given, made(given, person=True, retry=True, private=True))


@settings(max_examples=40)
@given(DOCUMENT, st.integers(1_200, 2_000), st.integers(4, 10))
def test_any_answer_that_fills_several_messages_loses_no_word(text: str, characters: int, times: int) -> None:
    given = answer("\n\n".join([text] * times))
    sent = made(given, BlockLimits(characters=characters, section=600))
    holds(given, sent)
    parts = markdown_of(sent)
    assert all(len(part) <= characters for part in parts)
    if "| h |" not in text:
        assert "".join(map(read, parts)) == read(given.text)


def test_a_short_answer_is_one_message_with_links_rows_and_buttons() -> None:
    given = answer(
        "Use `kubectl scale` [1]. It takes a minute [2].", passages=2, version="2.1", note="These are extracts."
    )
    (message,) = sent = made(given, person=True)
    first, second = (source.first.link for source in given.sources)
    assert message.text == "Use kubectl scale. It takes a minute."
    assert [block["type"] for block in message.blocks] == [
        "markdown",
        "section",
        "context",
        "actions",
        "context_actions",
    ]
    assert markdown_of(sent) == [f"Use `kubectl scale` [[1]]({first}). It takes a minute [[2]]({second})."]
    assert rows(sent) == [
        (1, first, "Acme › Guide › Page 1 › Section 1"),
        (2, second, "Acme › Guide › Page 1 › Section 2"),
    ]
    assert "checked 5 minutes ago" in message.blocks[1]["text"]["text"]
    assert strings(message.blocks[2]) == ["context", "plain_text", "Version 2.1.", "plain_text", "These are extracts."]
    assert buttons(sent) == [actions.SHOW_TRACE, actions.ASK_PERSON, actions.FEEDBACK]


def test_each_row_has_the_link_that_stays_where_there_is_one() -> None:
    given = answer("Use it [1].", passages=1)
    first = given.sources[0].first
    stays = f"https://kb.example/x/n/{first.node_id}@{first.node_hash[:12]}"
    (message,) = made(given, public_url="https://kb.example/x/")
    assert message.blocks[1]["text"]["text"].endswith(f" · <{stays}|permalink>")
    assert "permalink" not in str(made(given))
    lower = replace(given, sources=(CitedSource(1, (replace(first, block=3),)),))
    (message,) = made(lower, public_url="https://kb.example/x")
    assert f"<{stays}?at=3|permalink>" in message.blocks[1]["text"]["text"]


def test_two_sections_of_one_page_are_two_rows_with_their_own_anchors() -> None:
    one, two = (url for _, url, _ in rows(made(answer("A [1]. B [2].", passages=2))))
    assert one.startswith(f"{SITE}/guide/1#section-1:~:text=")
    assert two.startswith(f"{SITE}/guide/1#section-2:~:text=")


@pytest.mark.parametrize("count", [15, 60])
def test_many_sources_fit(count: int) -> None:
    given = answer(
        "\n\n".join(f"Claim number {n} is well supported [{n}]." for n in range(1, count + 1)), passages=count
    )
    sent = made(given)
    holds(given, sent)
    assert len(rows(sent)) == count
    assert [link for part in markdown_of(sent) for link in links(part)] == [s.first.link for s in given.sources]


def test_a_long_code_block_a_table_and_a_link_over_the_border_are_all_there() -> None:
    """Issue "Slack", test 2; situations 11, 12, 13."""
    before = "Words before the link. " * 129
    table = "| Key | Value |\n|---|---|\n" + "\n".join(f"| key {n} | `value {n}` [3] |" for n in range(30))
    text = f"{before}Then {SITE}/guide/1#section-1 goes on [1].\n\n{LONG_CODE}\n\nAs said [2].\n\n{table}\n\n{table}"
    assert before.rfind("") < 3_000 < text.index(" goes on")
    given = answer(text)
    sent = made(given)
    holds(given, sent)
    parts = markdown_of(sent)
    shown = [link for part in parts for link in links(part)]
    assert f"{SITE}/guide/1#section-1" in shown
    assert {source.first.link for source in given.sources} <= set(shown)
    assert "".join(map(read, parts)) == read(text)
    assert len(sent) == 3
    assert sum("```python" in part for part in parts) == 1


def test_code_longer_than_a_message_is_reopened_in_the_next() -> None:
    given = answer("Run it [1]:\n\n" + LONG_CODE.replace("step", "a much longer remark about the step number"))
    sent = made(given)
    holds(given, sent)
    first, *_, last = parts = markdown_of(sent)
    assert first.endswith("\n```")
    assert last.startswith("```python\n")
    assert "".join(map(read, parts)) == read(given.text)


def test_rows_go_on_in_a_further_message_where_the_text_fills_the_first() -> None:
    given = answer("word " * 2_300 + "[1]")
    first, second = sent = made(given)
    holds(given, sent)
    assert [block["type"] for block in first.blocks] == ["markdown"]
    assert second.blocks[0]["type"] == "section"
    assert second.text == "Sources of the answer to “How do I scale?”"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("Set `replicas: 3` in the file. Then apply it.", "Set replicas: 3 in the file. Then apply it."),
        ("# Scaling\n\nYou scale **up** with one command, which takes the number. More later.",
         "You scale up with one command, which takes the number."),
        ("Yes. It is on by default since version 2, and cannot be turned off.", "Yes. It is on by default since version 2, and cannot be turned off."),
        ("```sh\nkubectl get pods\n```", "kubectl get pods"),
        ("- a < b & c > d\n- more", "a &lt; b &amp; c &gt; d more"),
        ("Extracts, word for word:\n\n**Guide › Scaling** [1]\n\nScale [2][1] it.", "Scale it."),
        ("word " * 60, shortened("word " * 60, MAX_SUMMARY_CHARACTERS)),
        ("https://evil.test", "(link left out)"),
        ("<!channel> look", "‹!channel&gt; look"),
    ],
)  # fmt: skip
def test_text_is_the_answers_first_sentence(text: str, summary: str) -> None:
    """Situations 9 and 14."""
    (message,) = made(answer(text))
    assert message.text == summary
    assert len(message.text.encode()) < 4_000


def test_text_differs_from_answer_to_answer_even_where_nothing_was_found() -> None:
    texts = {
        made(answer("The same words.", outcome=outcome, question=question))[0].text
        for outcome in ("not_found", "failed")
        for question in ("How do I scale?", "What is a pod?")
    }
    assert len(texts) == 4


def test_where_nothing_was_found_the_nearest_sections_are_offered_and_not_cited() -> None:
    near = (passage(1), passage(2))
    given = answer("I found nothing in the documentation that answers this.", 2, "not_found", nearest=near)
    (message,) = sent = made(given, person=True)
    holds(given, sent)
    shown = message.blocks[1]["text"]["text"]
    assert "do not answer this" in shown.split("\n")[0]
    assert shown.split("\n")[1] == f"• <{SITE}/guide/1#section-1|Acme › Guide › Page 1 › Section 1>"
    assert message.text == "I found nothing about “How do I scale?”"
    assert buttons(sent) == [actions.SHOW_TRACE, actions.ASK_PERSON, actions.FEEDBACK]


def test_a_greeting_says_what_ritbot_can_do_and_cites_nothing() -> None:
    given = Answer("hello", "Hello! Ask me something.", "greeting")
    (message,) = sent = made(given, person=True)
    holds(given, sent)
    assert buttons(sent) == []
    assert rows(sent) == []
    assert "Hello! Ask me something." in strings(message.blocks)
    assert any("/ask" in text for text in strings(message.blocks))


def test_a_failure_says_why_with_a_trace_id_and_retry() -> None:
    """Situation 15."""
    given = Answer("How?", "The model did not answer in time. <!channel>", "failed", trace_id="abc123")
    (message,) = sent = made(given, retry=True, person=True)
    holds(given, sent)
    assert message.blocks[0]["text"]["text"].startswith("I could not answer this. The model did not answer in time.")
    assert "Trace id abc123" in strings(message.blocks)
    assert buttons(sent) == [actions.RETRY, actions.ASK_PERSON]
    assert message.text.startswith("I could not answer “How?”: The model did not answer in time.")


def test_a_private_answer_can_be_shared() -> None:
    assert actions.SHARE in buttons(made(answer("A [1]."), private=True))
    assert actions.SHARE not in buttons(made(answer("A [1].")))


def test_a_private_answer_that_is_too_long_ends_with_its_sources_and_says_where_the_rest_is() -> None:
    text = "\n\n".join(f"Paragraph {number} says so [1]." for number in range(200))
    sent = made(answer(text), BlockLimits(characters=2_000), private=True, most=4)
    assert len(sent) == 4
    assert LONGER_PRIVATE in dumped(sent)
    assert [number for number, *_ in rows(sent)] == [source.number for source in answer(text).sources]
    assert actions.SHARE in buttons(sent)
    assert "Paragraph 0 " in dumped(sent[:1])
    assert "Paragraph 199 " not in dumped(sent)


def test_what_people_have_seen_is_left_out() -> None:
    sent = made(answer("Seen & *known* [1].\n\nNew [2]."), shown="Seen &amp; *known*.")
    assert len(markdown_of(sent)) == 1
    assert "Seen" not in markdown_of(sent)[0]
    assert "New" in markdown_of(sent)[0]
    assert sent[0].text == "Continued: New."


def test_unsupported_claims_are_told() -> None:
    given = answer("A [1].", unsupported=tuple(f"Claim {n} @here. {'word ' * 100}" for n in range(8)))
    sent = made(given)
    holds(given, sent)
    shown = strings(sent[-1].blocks)
    assert "Not supported by any section that I read:" in shown
    assert sum("Claim" in text for text in shown) == 5
    assert "and 3 more" in shown


def test_an_empty_answer_is_still_a_message() -> None:
    given = answer("", passages=0)
    (message,) = made(given)
    assert refused(message) is None
    assert message.text == "The answer to “How do I scale?”"


def test_titles_and_questions_are_words_only() -> None:
    wild = "<!channel> & | https://evil.test [x](y) @here > \n" * 3
    cited = replace(passage(1, title=wild), path=(wild, wild))
    given = answer("Nothing.", 0, "not_found", question=wild, nearest=(cited,), note=wild, version=wild)
    sent = made(given)
    holds(given, sent)
    assert not any("evil.test" in text for text in strings([m.blocks for m in sent]))


def test_an_address_with_signs_that_end_a_link_is_escaped() -> None:
    section = replace(passage(1), link=f"{SITE}/a?b=1&c=2#f(x|y>z)")
    given = answer("A [1].", 0)
    given = replace(given, sources=(CitedSource(1, (section.cite(0),)),), trace=Trace(passages=(section,)))
    (message,) = sent = made(given)
    assert refused(message) is None
    assert rows(sent)[0][1].startswith(f"{SITE}/a?b=1&c=2#f(x%7Cy%3Ez):~:text=")


def test_pages_of_a_folder_are_named_and_not_linked() -> None:
    section = replace(passage(1), link="file:///docs/a.html#x", page_url="file:///docs/a.html")
    given = replace(
        answer("A [1].", 0), sources=(CitedSource(1, (section.cite(0),)),), trace=Trace(passages=(section,))
    )
    sent = made(given)
    assert markdown_of(sent) == ["A [1]."]
    assert rows(sent) == [(1, "", "Acme › Guide › Page 1 › Section 1")]


def test_the_question_as_it_was_understood_is_shown() -> None:
    sent = made(answer("Nothing.", 0, "not_found", question="and in v2?", understood="How do I scale in v2?"))
    assert "Understood as: How do I scale in v2?" in strings(sent[0].blocks)
    assert sent[0].text == "I found nothing about “How do I scale in v2?”"


def test_a_long_path_loses_its_middle() -> None:
    titles = [f"A rather long title number {n}" for n in range(9)]
    assert path(["Acme", "Guide"]) == "Acme › Guide"
    cut = path(titles)
    assert cut.startswith(titles[0])
    assert cut.endswith(titles[-1])
    assert "› … ›" in cut
    assert len(cut) <= 125
    assert path(["x" * 500]) == "x" * 59 + "…"
    assert path([]) == "(no title)"


def test_a_notice_is_one_plain_message() -> None:
    """Situation 15."""
    message = notice("Stopped, as you asked. @channel", question_id=QUESTION, retry=True, trace_id="abc")
    assert refused(message) is None
    assert live([message.text, message.blocks]) == []
    assert buttons((message,)) == [actions.RETRY]
    assert [block["type"] for block in notice("Done.").blocks] == ["section"]


def test_feedback_carries_verdict_and_question() -> None:
    (message,) = made(answer("A [1]."))
    element = message.blocks[-1]["elements"][0]
    assert actions.feedback_of(element["positive_button"]["value"]) == ("good", QUESTION)
    assert actions.feedback_of(element["negative_button"]["value"]) == ("bad", QUESTION)


@pytest.mark.parametrize("value", ["", "good", "good:", "fine:T1:C1:1"])
def test_other_values_are_no_feedback(value: str) -> None:
    with pytest.raises(ValueError, match="feedback"):
        actions.feedback_of(value)


def test_every_passage_may_be_long_and_odd() -> None:
    odd: tuple[Passage, ...] = tuple(
        replace(passage(n), path=("Ünïcode & <b>" * 20, "日本語" * 40, f"S{n}"), link=f"{SITE}/{'x' * 2_500}#{n}")
        for n in range(1, 20)
    )
    given = answer("Many [1].", 0)
    given = replace(given, sources=tuple(CitedSource(p.number, (p.cite(0),)) for p in odd), trace=Trace(passages=odd))
    sent = made(given)
    assert [refused(message) for message in sent] == [None] * len(sent)
    assert len(rows(sent)) == 19


def test_of_extracts_the_words_come_first_and_each_path_stands_once() -> None:
    first, second = (" › ".join(passage(number).path) for number in (1, 2))
    text = (
        f"Extracts from the documentation, word for word:\n\n**{first}** [1]\n\nScale it with care.\n\n```sh\nscale\n```"
        f"\n\n**{second}** [2]\n\n- Wait.\n- Look again."
    )
    given = answer(text, passages=2)
    (message,) = sent = made(given)
    one, two = (f"[[{source.number}]]({source.first.link})" for source in given.sources)
    assert message.text == "Scale it with care."
    assert markdown_of(sent) == [f"Scale it with care.\n\n```sh\nscale\n```\n\n{one}\n\n- Wait.\n- Look again. {two}"]
    assert dumped(sent).count(first) == dumped(sent).count(second) == 1
    assert "Extracts from the documentation, word for word." in strings(message.blocks)


def test_a_notification_says_what_a_table_says() -> None:
    title = " › ".join(passage(1).path)
    (message,) = made(
        answer(f"**{title}** [1]\n\nWhat the codes mean:\n\n| Code | Meaning |\n|-|-|\n| E42 | Empty |", passages=1)
    )
    assert message.text == "What the codes mean: Code Meaning E42 Empty"
