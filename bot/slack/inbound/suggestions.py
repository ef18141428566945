"""Questions that ritbot suggests: what was asked and answered in public before, else what titles of sections invite to ask.

A title is an invitation where it says something that one does ("Rotate the keys", "Installing on Linux"), asks already, or
names a thing; the question is worded by that. What only structures a documentation (Overview, Index, FAQ) suggests nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from bot.ports import BotStore
from bot.slack.inbound.addressed import asks
from bot.slack.render.sanitize import plain_line
from ingest.ports import Outline, TreeStore

IsPublic = Callable[[str], Awaitable[bool]]
"""Whether everybody in the workspace may read a channel."""
ASKED_WITHIN = timedelta(days=30)
MAX_EXCHANGES_SEEN = 2_000
"""Of those that were asked in that time."""
MAX_CHANNELS_SEEN = 8
"""Channels of which Slack is asked whether they are public."""
MAX_PAGES_SEEN = 2_000
"""Of a large site no more are looked at for their titles."""
MAX_SUGGESTED_CHARACTERS = 75
"""Of a question: what a button holds."""
_VERBS = frozenset(
    "add allow apply ask assign attach authenticate back backup build call change check choose clean clone collect commit compare"
    " compile configure connect convert copy create customize debug define delete deploy disable download edit enable enrich"
    " evaluate export extend find fix force format get give handle implement import improve index initialize inspect install"
    " integrate invite join keep launch let limit list load log look make manage measure merge migrate monitor move open order"
    " organize parse pass patch play print protect publish pull push query read rebuild recover reduce release reload remove"
    " rename render reorder repair replace report request reset resize resolve restart restore retry return roll rollback"
    " rotate route run save scale schedule search secure see select send serve set setup share show sign sort specify split"
    " start stop store stream switch sync tag take test trace track train transfer translate trigger troubleshoot try tune"
    " turn uninstall unlock update upgrade upload use validate verify view watch work write".split()
)
_NOUNS_TOO = frozenset(
    "access ask backup build call change check display export filter form format force get index import launch limit list load log"
    " look match measure monitor order pass patch play process query range release repair report request reset run sample schedule"
    " search set setup share sort split start store stream support switch tag test trace track transfer turn update upgrade"
    " upload use view watch work".split()
)
"""Verbs with which a title of two words may name a thing, too: Search index."""
_STRUCTURE = frozenset(
    "overview introduction index contents faq glossary reference changelog license licence about home welcome documentation docs"
    " manual guide guides appendix summary notes credits contributing roadmap history examples example tutorials tutorial misc"
    " miscellaneous other more resources links support contact search untitled api preface acknowledgments bibliography".split()
)
_NO_GERUNDS = frozenset("string thing everything something nothing spring bring during".split())
_ASKING = frozenset("is are do does can could should will to if about".split())
_START = re.compile(r"(?:getting started|get started|quick ?start|first steps|where to begin)\b", re.IGNORECASE)
_TROUBLE = re.compile(r"(?:troubleshooting|common (?:problems|errors)|known issues)$", re.IGNORECASE)
_HOW_TO = re.compile(r"how[ -]to ", re.IGNORECASE)
_VERSUS = re.compile(r"([^.]{2,40}) (?:vs\.?|versus) ([^.]{2,40})", re.IGNORECASE)
_NUMBER = re.compile(r"(?:chapter )?(?:\d{1,4}(?:\.\d{1,4}){0,6}[.:)]?|[IVX]{1,8}[.:)]) ", re.IGNORECASE)
_NO_TITLE = re.compile(r"[<>{}=|]|\(\)")


def question_about(title: str) -> str:
    """A question that somebody might ask whom this title catches; "" where it invites none."""
    words = _bare(title)
    first = words.split(" ")[0].lower()
    if (
        not any(map(str.isalpha, words))
        or _NO_TITLE.search(words)
        or words.lower() in _STRUCTURE
        or first in ("release", "what's")
    ):
        return ""
    return _short_enough(_worded(words, first))


def is_instruction(title: str) -> bool:
    """Whether the title says something that one does: these are the questions that people have most."""
    words = _bare(title)
    first = words.split(" ")[0].lower()
    return bool(_HOW_TO.match(words) or _START.match(words)) or _is_order(words, first) or _is_gerund(first)


def question_of(text: str) -> str:
    """What somebody asked, as a suggestion; "" where it is none for others: too long, not one line, about people."""
    words = plain_line(text)
    if "\n" in text.strip() or "<" in text or "＠" in words or not asks(words):
        return ""
    question = words[0].upper() + words[1:]
    return _short_enough(question if question[-1] in "?？" else f"{question}?")


def _bare(title: str) -> str:
    """Without its number, and the sign of its link."""
    words = plain_line(title)
    number = _NUMBER.match(words)
    return words[number.end() if number else 0 :].strip(" .:–—-¶#")


def _worded(words: str, first: str) -> str:
    if words.endswith(("?", "？")):
        return words
    if _START.match(words):
        return "How do I get started?"
    if _TROUBLE.match(words):
        return "What do I do when something does not work?"
    if how := _HOW_TO.match(words):
        return f"How do I {_lowered(words[how.end() :])}?"
    if versus := _VERSUS.fullmatch(words):
        return f"What is the difference between {versus[1]} and {versus[2]}?"
    if first in ("how", "why", "what", "when", "where", "which", "who"):
        asking = words.split(" ")[1:2]
        return f"{words}?" if asking and asking[0].lower() in _ASKING else ""
    if not words.isascii():
        return f"{words}?"
    if _is_order(words, first):
        return f"How do I {_lowered(words)}?"
    if _is_gerund(first) and " " in words:
        return f"How do I go about {_lowered(words)}?"
    if len(words.split()) > 5:
        return f"What should I know about “{words}”?"
    if _is_plural(words):
        return (
            f"What are {'the ' if first.istitle() or (words.istitle() and ' ' not in words) else ''}{_lowered(words)}?"
        )
    named = _lowered(words)
    return f"What is {'the ' if ' ' in words and named.islower() else ''}{named}?"


def _is_order(words: str, first: str) -> bool:
    return first in _VERBS and words.count(" ") >= (2 if first in _NOUNS_TOO else 1)


def _short_enough(question: str) -> str:
    return question if len(question) <= MAX_SUGGESTED_CHARACTERS else ""


def _lowered(words: str) -> str:
    """Without the capital of a title; of a name it stays."""
    first, _, rest = words.partition(" ")
    is_name = not first.istitle() or (
        rest[:1].isupper() and first.lower() not in _VERBS and not _is_gerund(first.lower())
    )
    return words if is_name else words[0].lower() + words[1:]


def _is_gerund(word: str) -> bool:
    return len(word) >= 5 and word.endswith("ing") and word not in _NO_GERUNDS


def _is_plural(words: str) -> bool:
    last = words.split(" ")[-1].lower()
    return last.endswith("s") and not last.endswith(("ss", "us", "is")) and " of " not in words


async def asked_before(store: BotStore, team: str, now: datetime, is_public: IsPublic, most: int) -> list[str]:
    """What was asked in public channels and answered, what was asked most often first, then the newest. Raises
    StoreUnavailable."""
    times: Counter[str] = Counter()
    newest: dict[str, str] = {}
    public: dict[str, bool] = {}
    seen = 0
    async for exchange in store.exchanges(now - ASKED_WITHIN):
        asked, answer = exchange.question, exchange.answer
        seen += 1
        if seen > MAX_EXCHANGES_SEEN:
            break
        if asked.team != team or asked.kind not in ("mention", "message") or not answer or answer.outcome != "answered":
            continue
        question = question_of(exchange.standalone or asked.text)
        if not question or any(given.verdict == "bad" for given in exchange.feedback):
            continue
        if asked.channel not in public:
            public[asked.channel] = len(public) < MAX_CHANNELS_SEEN and await is_public(asked.channel)
        if public[asked.channel]:
            key = question.casefold()
            times[key] += 1
            newest.pop(key, None)
            newest[key] = question
    latest_first = {key: -position for position, key in enumerate(newest)}
    return [newest[key] for key in sorted(newest, key=lambda key: (-times[key], latest_first[key]))[:most]]


async def from_titles(trees: TreeStore, most: int) -> list[str]:
    """What titles of sections invite to ask: instructions first, then things, from another part of the documentation each
    time. Raises StoreUnavailable."""
    keys: list[str] = []
    async for state in trees.scan():
        if state.state == "live":
            keys.append(state.key)
        if len(keys) >= MAX_PAGES_SEEN:
            break
    places, outlines = await trees.place(keys), await trees.outlines(keys)
    parts: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for key, outline in outlines.items():
        trail = [place.title for place in places.get(key, ())]
        parts[(*trail, outline.title)[1 if trail else 0]] += _invitations(outline)
    chosen: list[str] = []
    queues = [sorted(found) for found in sorted(parts.values(), key=lambda found: (-len(found), found[:1]))]
    while len(chosen) < most and any(queues):
        ranked = sorted((queue for queue in queues if queue), key=lambda queue: queue[0][0])
        for queue in ranked[: most - len(chosen)]:
            if (question := queue.pop(0)[2]) not in chosen:
                chosen.append(question)
    return chosen[:most]


def _invitations(outline: Outline) -> Sequence[tuple[int, int, str]]:
    """(rank, depth, question) of the page's titles that invite to ask one; the best is the lowest."""
    titles = [(0, outline.title), *((heading.level, heading.title) for heading in outline.headings if heading.readable)]
    found = [(0 if is_instruction(title) else 1, level, question_about(title)) for level, title in titles]
    return [one for one in dict.fromkeys(found) if one[2]]
