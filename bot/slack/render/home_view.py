"""The Home tab: what ritbot answers from and how fresh it is, what one asked lately, what one may ask, settings, help. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.events import outcome
from bot.freshness import ago
from bot.model import Exchange
from bot.slack.render import actions, blocks
from bot.slack.render.answer_message import HELP
from bot.slack.render.blocks import Block, shortened
from bot.slack.render.sanitize import escaped, plain_line

MAX_SITES_SHOWN = 30
MAX_ASKED_CHARACTERS = 120
OUTCOMES = {
    "answered": "answered",
    "not_found": "nothing found",
    "greeting": "greeted",
    "failed": "failed",
    "stopped": "stopped",
    "refused": "not answered",
    None: "being answered",
}


@dataclass(frozen=True, slots=True)
class SiteFreshness:
    """`pages` that are live; `more`: there are more than were counted. `checked_at`: the oldest page's last check."""

    name: str
    pages: int
    checked_at: datetime | None
    more: bool = False


def home_view(
    sites: Sequence[SiteFreshness],
    recent: Sequence[Exchange],
    suggested: Sequence[str],
    *,
    now: datetime,
    conversation: str,
) -> Block:
    """The view for views.publish. `recent`: one's own, the latest first. `conversation`: with ritbot alone, whose settings
    the button opens."""
    made = [_headed("What I answer from", [_site(site, now) for site in sites[:MAX_SITES_SHOWN]] or ["Nothing yet."])]
    made.append(_headed("What you asked lately", [_asked(one, now) for one in recent] or ["Nothing yet."]))
    if suggested:
        made.append(_headed("What you might ask", [f"• {escaped(one)}" for one in suggested]))
    made.append(
        _headed("Settings", ["Write `/ritbot settings` in a channel to see or change how I behave there, or here:"])
    )
    made.append(blocks.buttons([blocks.button(actions.HOME_SETTINGS, "Settings of our conversation", conversation)]))
    made.append(_headed("Help", [*HELP, "• “Answer from docs”, in the menu of any message, answers that message."]))
    return {"type": "home", "blocks": made}


def closed_home(why: str) -> Block:
    """For whoever may not ask."""
    return {"type": "home", "blocks": [blocks.plain_section(why)]}


def _headed(title: str, lines: Sequence[str]) -> Block:
    return next(blocks.sections(["\n".join([f"*{title}*", *lines])[: blocks.LIMITS.section]]))


def _site(site: SiteFreshness, now: datetime) -> str:
    pages = f"{'more than ' if site.more else ''}{site.pages:,} page{'' if site.pages == 1 else 's'}"
    checked = f", checked {ago(site.checked_at, now)}" if site.checked_at else ""
    return f"• {escaped(plain_line(site.name))}: {pages}{checked}"


def _asked(exchange: Exchange, now: datetime) -> str:
    question = exchange.question
    words = escaped(shortened(plain_line(question.text), MAX_ASKED_CHARACTERS)) or "(no words)"
    where = (
        "" if question.kind == "direct" else ", for you alone" if question.response_url else f", <#{question.channel}>"
    )
    return f"• {words} · {OUTCOMES[outcome(exchange)]} {ago(question.asked_at, now)}{where}"
