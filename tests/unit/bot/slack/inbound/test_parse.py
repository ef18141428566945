"""What Slack sends, read as questions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.slack.inbound.parse import commanded, deleted, heard, picked, spoken, workspace

BOT = "UBOT"


def event(
    text: str = "<@UBOT> How do I scale?", *, body: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    said = {"type": "message", "user": "U1", "text": text, "ts": "5.000100", "channel": "C1", "channel_type": "channel"}
    return {"type": "event_callback", "team_id": "T1", "event": {**said, **fields}, **(body or {})}


def test_a_mention_opens_its_own_thread() -> None:
    found = heard(event(), BOT)
    assert found
    question = found.question
    assert (question.id, question.thread, question.conversation) == ("T1:C1:5.000100", "5.000100", "T1:C1:5.000100")
    assert (question.text, question.kind, question.user) == ("How do I scale?", "mention", "U1")
    assert question.asked_at == datetime.fromtimestamp(5.0001, UTC)
    assert found.named
    assert not found.to_others
    assert not found.shared


def test_both_events_of_a_mention_are_one_question() -> None:
    both = [heard(event(type=kind), BOT) for kind in ("app_mention", "message")]
    assert both[0] == both[1]


def test_a_reply_belongs_to_its_root() -> None:
    found = heard(event("and in v2?", thread_ts="1.000100"), BOT)
    assert found
    assert (found.question.thread, found.question.kind, found.named) == ("1.000100", "message", False)


def test_what_is_said_to_it_alone_needs_no_name() -> None:
    found = heard(event("How do I scale?", channel_type="im"), BOT)
    assert found
    assert found.question.kind == "direct"


@pytest.mark.parametrize(
    "fields",
    [
        {"bot_id": "B2"},
        {"user": BOT},
        {"user": ""},
        {"edited": {"ts": "6"}},
        {"hidden": True},
        {"subtype": "channel_join"},
        {"subtype": "message_changed"},
        {"subtype": "document_comment_root", "text": "How?"},
        {"type": "app_mention", "bot_id": "B2"},
        {"type": "reaction_added"},
        {"type": "app_mention", "text": "<@U2> hello"},
    ],
)
def test_what_is_no_question_is_none(fields: dict[str, Any]) -> None:
    assert heard(event(**fields), BOT) is None


def test_words_for_someone_else_are_told_apart_from_words_about_someone_else() -> None:
    named = {text: heard(event(text), BOT) for text in ("<@U2> can you?", "can <@U2> do it?", "<@U2> <@UBOT> how?")}
    assert [found.to_others for found in named.values() if found] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "thread", "others"),
    [
        ("hey <@U2> how do I?", "", True),
        ("Hi, <!subteam^S1> who did this?", "", True),
        ("<!here> who did this?", "", True),
        ("how do I? cc <@U2>", "", False),
        ("how do I? cc <@U2>", "1.000100", True),
        ("hey <@UBOT> and <@U2>, how?", "1.000100", False),
    ],
)
def test_words_that_call_others_are_theirs(text: str, thread: str, others: bool) -> None:
    found = heard(event(text, **({"thread_ts": thread} if thread else {})), BOT)
    assert found
    assert found.to_others is others


def test_a_deleted_message_is_known_by_its_tombstone_too() -> None:
    before = {"ts": "5.000100", "thread_ts": "1.000100"}
    gone = {"subtype": "message_deleted", "deleted_ts": "5.000100", "previous_message": before}
    changed = {"subtype": "message_changed", "previous_message": {"ts": "5.000100"}}
    assert deleted(event(**gone)) == ("T1:C1:1.000100", "5.000100")
    left = {"subtype": "tombstone", "ts": "5.000100"}
    assert deleted(event(**changed, message=left)) == ("T1:C1:5.000100", "5.000100")
    assert deleted(event(**changed, message={"ts": "5.000100", "text": "edited"})) is None


def test_a_question_is_for_the_installation_that_the_event_was_sent_to() -> None:
    """In a shared channel the payload's own team may be the other company's."""
    body = {
        "team_id": "T2",
        "enterprise_id": "E2",
        "is_ext_shared_channel": True,
        "authorizations": [{"enterprise_id": None, "team_id": "T1", "is_enterprise_install": False}],
    }
    found = heard(event(user_team="T2", body=body), BOT)
    assert found
    assert found.shared
    assert (found.question.team, found.question.asker_team) == ("T1", "T2")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"team_id": "T1"}, ("", "T1")),
        ({"team_id": "T1", "enterprise_id": "E1", "authorizations": []}, ("E1", "T1")),
        ({"team_id": "T1", "authorizations": [{"enterprise_id": "E1", "team_id": None}]}, ("E1", "T1")),
        ({"team_id": "T2", "authorizations": [{"enterprise_id": "E1", "team_id": "T1"}]}, ("E1", "T1")),
        ({}, ("", "")),
    ],
)
def test_the_workspace_of_an_event(body: dict[str, Any], expected: tuple[str, str]) -> None:
    assert workspace(body) == expected


def test_a_command_is_private_and_each_its_own_conversation() -> None:
    body = {
        "team_id": "T1",
        "channel_id": "C1",
        "user_id": "U1",
        "trigger_id": "9.8",
        "text": " How? ",
        "response_url": "u",
    }
    question = commanded(body, datetime(2026, 5, 1, tzinfo=UTC))
    assert (question.id, question.text, question.response_url) == ("T1:C1:U1:9.8", "How?", "u")
    assert question.conversation == "T1:C1:T1:C1:U1:9.8"


def test_the_shortcut_asks_with_anothers_words_in_that_thread() -> None:
    body: dict[str, Any] = {"team": {"id": "T1"}, "channel": {"id": "C1"}, "user": {"id": "U1", "team_id": "T1"}}
    message = {"text": "no idea how", "ts": "5.000100", "thread_ts": "1.000100", "user": "U2"}
    question = picked({**body, "message": message, "enterprise": {"id": "E1"}})
    assert question
    assert (question.user, question.thread, question.enterprise) == ("U1", "1.000100", "E1")
    assert question.id == "T1:C1:5.000100:shortcut"
    assert picked({**body, "message": {**message, "text": "  "}}) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<@UBOT>: how  do I?", "how do I?"),
        ("<@UBOT|ritbot>, how?", "how?"),
        ("ask <@U2> about it", "ask <@U2> about it"),
        ("see <https://a.example/x|the page> and <https://b.example>", "see the page and https://b.example"),
        ("in <#C1|general>", "in #general"),
        ("if a &lt; b &amp;&amp; c &gt; d", "if a < b && c > d"),
        ("&amp;lt;", "&lt;"),
    ],
)
def test_what_a_person_wrote_is_read_without_slacks_marks(written: str, read: str) -> None:
    assert spoken(written, BOT) == read
