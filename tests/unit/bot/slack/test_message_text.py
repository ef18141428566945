"""A message as people see it, in the forms in which Slack and other apps send it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.slack.message_text import forwarded_words, own_words

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "How do I prime?"}}


def rich(*elements: dict[str, Any], kind: str = "rich_text_section") -> dict[str, Any]:
    return {"type": "rich_text", "elements": [{"type": kind, "elements": list(elements)}]}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"text": "", "blocks": [SECTION]}, "How do I prime?"),
        ({"text": "New ticket", "blocks": [SECTION]}, "How do I prime?"),
        ({"text": "Typed <@U1>", "blocks": [rich({"type": "text", "text": "Typed "})]}, "Typed <@U1>"),
        ({"blocks": [rich({"type": "user", "user_id": "U1"}, {"type": "text", "text": " why?"})]}, "<@U1> why?"),
        ({"blocks": [rich({"type": "text", "text": "why?"}, kind="rich_text_quote")]}, "&gt; why?"),
        ({"attachments": [{"title": "Alert", "text": "Pump dry", "fallback": "x"}]}, "Alert\nPump dry"),
        ({"attachments": [{"fallback": "Pump dry"}]}, "Pump dry"),
        ({"text": "Alert", "attachments": [{"blocks": [SECTION]}]}, "Alert\nHow do I prime?"),
        ({"blocks": [SECTION], "attachments": [{"text": "Pump dry"}]}, "How do I prime?\nPump dry"),
        (
            {"text": "See <https://d.test>", "attachments": [{"from_url": "https://d.test", "text": "A page"}]},
            "See <https://d.test>",
        ),
        ({"blocks": [rich({"type": "date", "timestamp": 1, "fallback": "today"})]}, "today"),
        ({"files": [{"initial_comment": {"comment": "what is this?"}}]}, "what is this?"),
        ({"text": "what is this?", "files": [{"id": "F1"}]}, "what is this?"),
        ({"text": "This message was deleted.", "subtype": "tombstone"}, ""),
        ({"text": None, "blocks": "…", "attachments": [None, 3], "files": {}}, ""),
    ],
)
def test_what_was_said(message: dict[str, Any], words: str) -> None:
    assert own_words(message) == words
    assert forwarded_words(message) == ""


def test_a_forwarded_message_is_no_word_of_who_forwarded_it() -> None:
    share = {"is_share": True, "is_msg_unfurl": True, "text": "How do I prime?", "message_blocks": "…"}
    blocks = {"is_msg_unfurl": True, "text": "x", "message_blocks": [{"message": {"blocks": [SECTION]}}]}
    assert own_words({"text": "", "attachments": [share]}) == ""
    assert forwarded_words({"text": "", "attachments": [share, blocks]}) == "How do I prime?\n\nHow do I prime?"
