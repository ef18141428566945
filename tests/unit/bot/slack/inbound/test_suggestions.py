"""Suggested questions: worded by the kind of title, and of what people asked what is fit for others."""

from __future__ import annotations

import pytest

from bot.slack.inbound.suggestions import is_instruction, question_about, question_of


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Rotate the signing keys", "How do I rotate the signing keys?"),
        ("How to deploy", "How do I deploy?"),
        ("Installing on Linux", "How do I go about installing on Linux?"),
        ("1.2 Back up and restore", "How do I back up and restore?"),
        ("Getting started with ritbot", "How do I get started?"),
        ("What is a node", "What is a node?"),
        ("Can I use it offline?", "Can I use it offline?"),
        ("Kubernetes vs. Nomad", "What is the difference between Kubernetes and Nomad?"),
        ("Socket Mode", "What is Socket Mode?"),
        ("gc.auto", "What is gc.auto?"),
        ("Limits", "What are the limits?"),
        ("Search index", "What is the search index?"),
        ("Search the index", "How do I search the index?"),
        ("Troubleshooting", "What do I do when something does not work?"),
        ("给水", "给水?"),
    ],
)
def test_a_title_becomes_the_question_that_it_invites_to_ask(title: str, question: str) -> None:
    assert question_about(title) == question


@pytest.mark.parametrize(
    "title", ["", "Overview", "Index", "FAQ", "Release 2.1", "What an answer shows", "<T>", "foo()", "1.2", "A" * 90]
)
def test_a_title_that_only_structures_invites_to_nothing(title: str) -> None:
    assert question_about(title) == ""


def test_what_one_does_is_told_apart_from_what_there_is() -> None:
    assert [is_instruction(title) for title in ("Install it", "Using it", "Log file", "Socket Mode", "String")] == [
        True, True, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "question"),
    [
        ("how do I prime a pump", "How do I prime a pump?"),
        ("What does evil.com do?", "What does evil․com do?"),
        ("can <@U0ADA> do it?", ""),
        ("how?\nlog: x", ""),
        ("thanks!", ""),
        ("how " + "very " * 30 + "long?", ""),
    ],
)
def test_what_people_asked_is_suggested_where_it_is_fit_for_others(asked: str, question: str) -> None:
    assert question_of(asked) == question
