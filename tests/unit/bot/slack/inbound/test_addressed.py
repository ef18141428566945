"""What asks, what only says thanks, and what people say to each other."""

from __future__ import annotations

import pytest

from bot.slack.inbound.addressed import agrees, asks, offers, thanks_only

SAID = (
    "thanks!",
    "that worked, thank you",
    "lol",
    ":+1:",
    "I think it's the firewall again, let me check with ops",
    "ok, I'll do that tomorrow",
    "cc <@U0RASHA>",
    "https://example.com/a?b=c",
    "<https://example.com/?q=1|see this>",
    "when I get back I'll look",
    "which is fine",
    "could be the cache",
    "will do",
    "> what is this?\nyes, that one",
    "really?",
    "wait, what??",
    "??",
    ":question:",
    "I set `a ? b : c` there",
    "```\nwhy?\n```",
    "it is at /x?y=1",
    "what I meant was the other pump",
    "how nice of you",
    "who knows",
    "wer weiß das schon",
    "wie gesagt, morgen",
    "ich schau mir das morgen an",
    "je regarde ça demain",
    "lo miro mañana",
    "как всегда, завтра",
    "明日確認します",
    "我明天看看",
    "내일 볼게요",
    "😂😂",
)


@pytest.mark.parametrize("text", SAID)
def test_what_people_say_to_each_other_asks_nothing(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "and in v2?",
        "thanks! and how do I undo that",
        "can I do this on Windows",
        "what about the seal then",
        "tell me more",
        "wie geht das",
        "給水はどうしますか",
        "这个怎么做？",
        "ok, but why is it red? :thinking_face:",
        "why?",
        "what does `a?b` mean",
        "Как настроить насос",
        "como faço isso no Windows",
        "hoe werkt dat dan",
        "如何给水",
        "어떻게 하나요",
        "펌프는 어디에 있나요",
        "そうなのですか。",
    ],
)
def test_a_question_goes_on_without_a_mention(text: str) -> None:
    assert asks(text)
    assert not thanks_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "that worked, thank you",
        "lol",
        ":+1:",
        "👍🏽",
        "Danke schön",
        "perfect :tada:",
        "спасибо!",
        "muito obrigado",
        "谢谢你！",
        "ありがとうございました",
        "감사합니다 🙏",
        "merci bien",
    ],
)
def test_thanks_need_no_answer(text: str) -> None:
    assert thanks_only(text)


@pytest.mark.parametrize("text", ["", "…", "hello", ":wave:", "pump", "thanks, the pump is dry", "42"])
def test_other_words_are_no_thanks(text: str) -> None:
    assert not thanks_only(text)


@pytest.mark.parametrize(
    ("text", "agreed"),
    [("yes", True), ("Yes, please!", True), ("はい", True), ("", False), ("yes but how", False), ("no", False)],
)
def test_a_yes_is_one_only_where_nothing_else_is_said(text: str, agreed: bool) -> None:
    assert agrees(text) is agreed


@pytest.mark.parametrize(
    ("answer", "offered"),
    [
        ("Grease it. Do you want to know about the seals?", True),
        ("Shall I go on? [1] [2]", True),
        ("**Shall I go on?**", True),
        ("Why? Because it leaks.", False),
        ("", False),
    ],
)
def test_an_answer_that_ends_with_a_question_offers(answer: str, offered: bool) -> None:
    assert offers(answer) is offered
