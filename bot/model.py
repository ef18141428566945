"""The words of a conversation as types: questions, what became of them, channels, installations. Pure.

Everything here is immutable. Slack's ids are strings as Slack writes them: team T…, channel C…, user U…, ts 1.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from ingest.model import node_hash
from navigator.answer import Answer, Passage

QuestionKind = Literal["mention", "message", "direct", "command", "shortcut"]
"""Named in a channel; said in a thread that ritbot is in, or in a channel where it answers questions; said to it alone;
`/ask`, private; "Answer from docs" on someone's message."""
ExchangeState = Literal["waiting", "answering", "done", "stopped", "refused", "failed"]
"""`failed`: what there was to say could not be shown; an answer is kept all the same."""
AnswerMode = Literal["mention", "questions", "off"]
Verdict = Literal["good", "bad"]
Shortfall = Literal["not_found", "bad", "handed_over", "in_part"]
"""How the documentation fell short of a question: it has no answer, the answer was judged bad, a person was asked, or some
claims stand in no section."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a person asked: the value of a record in bot.questions, small and complete.

    `id` is the same however often Slack delivers it: `question_id`. `thread` is the root's ts; a question that opens a
    thread is its own root. A command has none, nor has a shortcut where ritbot is no member: they are answered through
    `response_url`, to the asker alone.
    `instead_of`: the question whose answer this one is to be compared with (Ask again).
    `asker_team` is the asker's own workspace, another one than `team` in a shared channel; `enterprise` is set for an
    organisation-wide installation. `attempt` counts Retry."""

    id: str
    team: str
    channel: str
    user: str
    text: str
    kind: QuestionKind
    asked_at: datetime
    thread: str = ""
    ts: str = ""
    asker_team: str = ""
    enterprise: str = ""
    response_url: str = ""
    attempt: int = 1
    instead_of: str = ""

    @property
    def conversation(self) -> str:
        """The key of its record: questions of one conversation are answered in order. Commands are one each."""
        return ":".join((self.team, self.channel, self.thread or self.id))

    @property
    def private(self) -> bool:
        """Whether its asker alone sees it: a direct message, a command, a shortcut where ritbot is no member."""
        return self.kind in ("direct", "command") or bool(self.response_url)


def question_id(team: str, channel: str, *rest: str) -> str:
    """(team, channel, ts); for a command (team, channel, user, trigger). DESIGN "Events"."""
    return ":".join((team, channel, *rest))


def first_attempt(question_id: str) -> str:
    """The id of a question as it was asked first, whichever attempt at it this is."""
    return question_id.partition(":again-")[0]


@dataclass(frozen=True, slots=True)
class Posted:
    """The message that carries an answer. `streaming` until the stream was stopped. `further`: ts of the messages that
    follow it where one does not hold the answer. `refused`: Slack's word for why the finished answer could not take its
    place; what was missing follows it then. `sent`: messages of a private answer, which have no ts."""

    channel: str
    ts: str
    streaming: bool = False
    further: tuple[str, ...] = ()
    refused: str = ""
    sent: int = 0


@dataclass(frozen=True, slots=True)
class Feedback:
    user: str
    verdict: Verdict
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ChangedSource:
    """A source of an answer that is not as it was read. `number`: the source's; `state`, `before` and `after` as in
    navigator.citations.quote_standing.QuoteStanding. `nodes`: the sections in which its words are looked for, its own first. `link`
    leads to what stands there now, "" where nothing does. `at`: when the page changed."""

    number: int
    state: Literal["marked", "stale", "gone"]
    nodes: tuple[str, ...]
    at: datetime
    before: str = ""
    after: str = ""
    link: str = ""

    @property
    def stale(self) -> bool:
        return self.state != "marked"


@dataclass(frozen=True, slots=True)
class ChangeNote:
    """What people are told of it in the answer's thread. `due_at`: when something is to be sent, None: nothing is; whoever
    sends it first moves it on, and the others leave it alone until then. `attempts`: how often it was begun. `ts`: of the note
    that was posted: an answer has one. `unsent`: why it will have none."""

    due_at: datetime | None = None
    attempts: int = 0
    ts: str = ""
    unsent: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """What the documentation lacks for a question. `gap`: the id of the group of questions that need the same. `sections`:
    where the answer should have stood, as far as this question shows, the likeliest first."""

    gap: str
    sections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what became of it: the record of the answer log, replaced whole by compare-and-set.

    `owner` holds the lease until `lease_until`; after that another worker may take it over. `stop` is the mark that
    someone pressed Stop, `withdrawn` that the question was deleted: nothing more is said then. `standalone` is the question as it was understood in its conversation. `unshown_since`: when it
    could not be shown for the first time, for a reason that may go by. `changed`: sources that are not as they were read,
    `note` what people are told of that. `handed_over`: a person was asked to answer it. `need`: where it fell short, and to
    which group that belongs."""

    question: Question
    state: ExchangeState = "waiting"
    owner: str = ""
    lease_until: datetime | None = None
    attempts: int = 0
    posted: Posted | None = None
    stop: bool = False
    standalone: str = ""
    answer: Answer | None = None
    feedback: tuple[Feedback, ...] = ()
    begun_at: datetime | None = None
    ended_at: datetime | None = None
    unshown_since: datetime | None = None
    withdrawn: bool = False
    changed: tuple[ChangedSource, ...] = ()
    note: ChangeNote | None = None
    handed_over: bool = False
    need: Need | None = None

    @property
    def asked(self) -> str:
        """The question as it was understood."""
        return self.standalone or self.question.text

    @property
    def shortfall(self) -> Shortfall | None:
        """None where the documentation did not fall short, nobody knows, or the question is not over."""
        answer = self.answer
        if answer is None or not self.over or answer.outcome not in ("answered", "not_found"):
            return None
        if answer.outcome == "not_found":
            return "not_found"
        if any(feedback.verdict == "bad" for feedback in self.feedback):
            return "bad"
        return "handed_over" if self.handed_over else "in_part" if answer.unsupported else None

    @property
    def nodes(self) -> frozenset[str]:
        """The sections whose change may touch what was answered."""
        sources = self.answer.sources if self.answer else ()
        cited = (citation.node_id for source in sources for citation in source.citations)
        return frozenset([*cited, *(node for source in self.changed for node in source.nodes)])

    @property
    def over(self) -> bool:
        return self.state in ("done", "stopped", "refused", "failed")

    def held(self, now: datetime) -> bool:
        """Whether a worker holds the lease."""
        return self.state == "answering" and self.lease_until is not None and now < self.lease_until


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """How ritbot behaves in one channel. `sites` empty: all. `quiet`: in mode "questions" it says nothing where it
    finds nothing. `language` "": the question's. `extracts`: sentences of the pages only, no model.
    `follow_ups`: questions in a thread that it is in need no new mention. `strategy` "": that of the sites. `change_notes`: it says in the thread when words that an answer
    quoted have changed."""

    team: str
    channel: str
    sites: tuple[str, ...] = ()
    mode: AnswerMode = "mention"
    quiet: bool = False
    language: str = ""
    extracts: bool = False
    follow_ups: bool = True
    changed_by: str = ""
    changed_at: datetime | None = None
    strategy: str = ""
    change_notes: bool = True


@dataclass(frozen=True, slots=True)
class Installation:
    """One workspace (or, with `team` "", one organisation) that installed the app. `data` is what the installer needs
    to know again, as JSON; `bot_token` and `data` are encrypted at rest."""

    team: str
    enterprise: str
    bot_token: str
    bot_user: str
    scopes: tuple[str, ...]
    installed_at: datetime
    data: str = "{}"


@dataclass(frozen=True, slots=True)
class Edition:
    """What a section said at one time: `section` as it was read then, whole. It is kept for answers that cite it, and for
    good where a link was made of it (`linked`). `kept_at`: when it was last kept for one of them."""

    section: Passage
    site: str
    kept_at: datetime
    linked: bool = False

    @property
    def title(self) -> str:
        return self.section.path[-1]

    @property
    def whole(self) -> bool:
        """Whether it is all that its hash is of: a long section may have been read in part."""
        return node_hash(self.title, self.section.blocks) == self.section.node_hash

    def after(self, before: Edition | None) -> Edition:
        """Kept once more: it stands where it was kept first, so that a move is seen."""
        if before is None:
            return self
        read = max(before.section.checked_at, self.section.checked_at)
        return Edition(
            replace(before.section, checked_at=read),
            before.site,
            max(before.kept_at, self.kept_at),
            before.linked or self.linked,
        )


def cited_nodes(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """Ids of the nodes that these answers cited, the latest first, each once."""
    ids = (
        source.first.node_id
        for exchange in reversed(tuple(exchanges))
        if exchange.answer
        for source in exchange.answer.sources
    )
    return tuple(dict.fromkeys(ids))
