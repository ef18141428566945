"""When a person is asked instead: a message that pings them with what was asked, answered and read. Pure."""

from __future__ import annotations

from bot.model import Exchange
from bot.slack.render import blocks
from bot.slack.render.answer_message import Message
from bot.slack.render.blocks import shortened
from bot.slack.render.markdown import parse
from bot.slack.render.sanitize import escaped, plain

QUESTION = 1_000
ANSWER = 1_200
READ = 8
"""So many of the sections that were read are listed."""


def escalation(exchange: Exchange, *, group: str, asked_by: str) -> Message:
    """The one message of ritbot's that mentions anybody: the group that the settings name and the person who pressed."""
    question, answer = exchange.question, exchange.answer
    asked = shortened(plain(exchange.standalone or question.text), QUESTION)
    who = f"<!subteam^{group}>" if group.startswith("S") else f"<@{group}>"
    made = [
        blocks.section(f"{who} <@{asked_by}> asks for a person's help."),
        blocks.section(f"*Question*\n{escaped(asked)}"),
    ]
    if answer is not None:
        said = " ".join(plain(piece.plain) for piece in parse(answer.text))
        made.append(blocks.section(f"*What I answered*\n{escaped(shortened(said, ANSWER)) or 'Nothing.'}"))
        read = [f"• {blocks.link(p.link, blocks.path(p.path))}" for p in answer.trace.passages[:READ]]
        if read:
            made.append(blocks.section("\n".join(["*What I read*", *read])))
    return Message(escaped(shortened(f"A person's help is asked for: {asked}", 150)), tuple(made))
