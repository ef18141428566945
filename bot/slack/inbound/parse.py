"""What Slack sends, read as questions. Pure.

`heard` reads an event, `commanded` a slash command, `picked` a message shortcut. What is no question for ritbot gives
None: its own messages and other bots', edits and joins, a mention that was edited in afterwards. Whether a question is
answered is decided elsewhere (bot.slack.inbound.intake): here it is only understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.model import Question, QuestionKind, question_id
from bot.slack.message_text import TOMBSTONE, Payload, forwarded_words, own_words
from bot.slack.render.sanitize import unescaped

SPOKEN_SUBTYPES = frozenset({"", "file_share", "thread_broadcast", "me_message"})
"""Subtypes of a message in which a person says something. A mention is one whatever its subtype: it may stand in a comment on a
canvas or on an item of a list."""
_NOBODYS = frozenset({"bot_message", "message_changed", "message_deleted", TOMBSTONE})
_OTHERS = re.compile(r"<@[A-Z0-9]|<!(?:subteam\^|here|channel|everyone)")
_TO_OTHERS = re.compile(
    rf"\s*+(?:(?:hey|hi|hello|ok|and|so|hallo|hola|salut|ciao)\b[\s,!]*+)?(?:{_OTHERS.pattern})", re.IGNORECASE
)
"""The mention of somebody at the beginning, be it behind a greeting."""
_MENTION = re.compile(r"<@([A-Z0-9]++)(?:\|[^<>]*+)?>")
_LABELLED = re.compile(r"<(?:(?:https?|mailto):[^|<>]*+)\|([^<>]*+)>|<([a-z]++:[^|<>]*+)>|<#[A-Z0-9]++\|([^<>]*+)>")


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A question and what must be known to decide on it. `named`: ritbot is mentioned in it. `to_others`: it begins with
    the mention of someone else, or, in a thread, mentions other people, a group or everybody. `shared`: it was said in a channel that is shared with another company."""

    question: Question
    named: bool
    to_others: bool
    shared: bool


def heard(body: Payload, bot_user: str) -> IncomingMessage | None:
    """An events_api payload (event_callback)."""
    event: Payload = body.get("event") or {}
    kind = str(event.get("type"))
    if kind not in ("app_mention", "message") or "edited" in event or event.get("hidden"):
        return None
    user = _speaker(event)
    if not user or user == bot_user:
        return None
    raw = own_words(event)
    mentions = _MENTION.findall(raw)
    direct = event.get("channel_type") == "im"
    named = bot_user in mentions
    if not named and (kind == "app_mention" or event.get("bot_id")):
        return None
    enterprise, team = workspace(body)
    question = _question(
        {**event, "user": user},
        kind="direct" if direct else "mention" if named else "message",
        team=team,
        text=_with_forwarded(spoken(raw, bot_user), event),
        asker_team=str(event.get("user_team") or event.get("team") or team),
        enterprise=enterprise,
    )
    anywhere = question.thread != question.ts and _OTHERS.search(raw) is not None
    to_others = not named and not direct and (anywhere or _TO_OTHERS.match(raw) is not None)
    return IncomingMessage(question, named, to_others, bool(body.get("is_ext_shared_channel")))


def deleted(body: Payload) -> tuple[str, str] | None:
    """(its conversation, its ts) of a message that was deleted; None for any other event. One that has replies leaves a
    tombstone, to which it was changed."""
    event: Payload = body.get("event") or {}
    left: Payload = event.get("message") or {}
    if event.get("type") == "message" and event.get("subtype") == "message_deleted":
        ts = str(event.get("deleted_ts"))
    elif event.get("subtype") == "message_changed" and left.get("subtype") == TOMBSTONE:
        ts = str(left.get("ts"))
    else:
        return None
    thread = (event.get("previous_message") or left).get("thread_ts") or ts
    return ":".join((workspace(body)[1], str(event.get("channel")), str(thread))), ts


def _speaker(event: Payload) -> str:
    """Who said it; "" where nobody did: an edit, a join, another bot. A workflow speaks for the people who built it."""
    subtype, profile = str(event.get("subtype") or ""), event.get("bot_profile") or {}
    if profile.get("is_workflow_bot") and subtype in {*SPOKEN_SUBTYPES, "bot_message"}:
        return str(event.get("user") or profile.get("user_id") or event.get("bot_id") or "")
    spoken = subtype in SPOKEN_SUBTYPES or (event.get("type") == "app_mention" and subtype not in _NOBODYS)
    return "" if event.get("bot_id") or not spoken else str(event.get("user") or "")


def _with_forwarded(text: str, message: Payload) -> str:
    return "\n\n".join(filter(None, (text, spoken(forwarded_words(message), ""))))


def workspace(body: Payload) -> tuple[str, str]:
    """(enterprise, team) of the installation that an event is for. In a channel shared with other companies the payload's
    own team may be theirs (docs.slack.dev, "Events API", authorizations)."""
    authorized: Payload = next(iter(body.get("authorizations") or ()), {})
    team = authorized.get("team_id") or body.get("team_id")
    return str(authorized.get("enterprise_id") or body.get("enterprise_id") or ""), str(team or "")


def person_of(body: Payload) -> str:
    """The id of whoever pressed, picked or typed; a command names it elsewhere than a button."""
    return str((body.get("user") or {}).get("id") or body.get("user_id"))


def presser(body: Payload, now: datetime) -> Question:
    """Whoever pressed or shared something, as a question without words: who may not ask may not press either."""
    enterprise, team = workspace(body)
    user: Payload = body.get("user") or {}
    team = team or str((body.get("team") or {}).get("id") or user.get("team_id") or "")
    return Question(
        id="",
        team=team,
        channel=str((body.get("channel") or {}).get("id")),
        user=person_of(body),
        text="",
        kind="mention",
        asked_at=now,
        asker_team=str(user.get("team_id") or team),
        enterprise=enterprise,
    )


def commanded(body: Payload, now: datetime) -> Question:
    """A slash command: private, in no thread."""
    team, channel, user = str(body.get("team_id")), str(body.get("channel_id")), str(body.get("user_id"))
    return Question(
        id=question_id(team, channel, user, str(body.get("trigger_id"))),
        team=team,
        channel=channel,
        user=user,
        text=spoken(str(body.get("text") or ""), ""),
        kind="command",
        asked_at=now,
        asker_team=team,
        enterprise=str(body.get("enterprise_id") or ""),
        response_url=str(body.get("response_url") or ""),
    )


def picked(body: Payload) -> Question | None:
    """The shortcut on someone's message: it is the question, asked by whoever picked it, answered in its thread. None
    for a message without words."""
    message: Payload = body.get("message") or {}
    team: Payload = body.get("team") or {}
    enterprise: Payload = body.get("enterprise") or {}
    text = _with_forwarded(spoken(own_words(message), ""), message)
    if not text:
        return None
    event = {
        "user": (body.get("user") or {}).get("id"),
        "channel": (body.get("channel") or {}).get("id"),
        "ts": message.get("ts") or body.get("message_ts"),
        "thread_ts": message.get("thread_ts"),
    }
    question = _question(
        event,
        kind="shortcut",
        team=str(team.get("id") or ""),
        text=text,
        asker_team=str((body.get("user") or {}).get("team_id") or team.get("id") or ""),
        enterprise=str(enterprise.get("id") or ""),
    )
    return replace(question, id=question_id(question.team, question.channel, question.ts, "shortcut"))


def privately(question: Question, body: Payload) -> Question:
    """The same as a command would ask it: answered to whoever picked it alone, in no thread, each time anew."""
    own = question_id(question.team, question.channel, question.user, str(body.get("trigger_id")))
    return replace(question, id=own, thread="", ts="", response_url=str(body.get("response_url") or ""))


def spoken(text: str, bot_user: str) -> str:
    """What a person wrote: without the mention of ritbot, links by their words or address, entities as characters."""

    def mentioned(match: re.Match[str]) -> str:
        return "" if match[1] == bot_user else match[0]

    plain = _LABELLED.sub(lambda match: match[1] or match[2] or f"#{match[3]}", _MENTION.sub(mentioned, text))
    plain = unescaped(plain)
    return re.sub(r"[ \t]+", " ", plain).strip(" \t\n,:") if bot_user else plain.strip()


def _question(
    event: Payload, *, kind: QuestionKind, team: str, text: str, asker_team: str, enterprise: str
) -> Question:
    channel, ts = str(event.get("channel")), str(event.get("ts"))
    return Question(
        id=question_id(team, channel, ts),
        team=team,
        channel=channel,
        user=str(event.get("user")),
        text=text,
        kind=kind,
        asked_at=datetime.fromtimestamp(float(ts), UTC),
        thread=str(event.get("thread_ts") or ts),
        ts=ts,
        asker_team=asker_team,
        enterprise=enterprise,
    )
