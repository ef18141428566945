"""Which answers rest on words that changed: whoever keeps the answers hears of sections that did, and judges them.

A section that changed (docs.nodes) leads to the answers that cited it; an answer that was just given (bot.answers) to its
sections, for one may have changed while it was made. Either way the answer is judged against the pages as they are now, and
what is found is kept with it by compare-and-set: an event that comes twice, late or out of order changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from bot.events import ANSWERS_TOPIC, Ending, load_ending
from bot.model import ChangedSource, ChangeNote, Exchange
from bot.ports import BotStore
from ingest.errors import Conflict
from ingest.events.codec import load_nodes
from ingest.events.topics import NODES
from ingest.events.workers import WORKER_POLICY, WorkerPolicy, Workers, decoded
from ingest.model import NodesEvent
from ingest.ports import Clock, Consumer, EventLog, Located, Record, TreeStore
from ingest.urls import cite_link
from navigator.answer import Answer, Citation, CitedSource, Passage
from navigator.citations.quote_standing import QuoteStanding, quote_standing
from navigator.retrieval.passages import section_link

log = structlog.get_logger()

STALENESS_GROUP = "staleness"
"""Reads what became of sections."""
GIVEN_GROUP = "staleness-answers"
"""Reads which answers were given: members of one group at Kafka would share the partitions of both topics."""
WAIT = timedelta(minutes=15)
"""From the first change of an answer's words until people are told: several edits of an hour's work are one note."""
PARALLEL = 4
"""Records in hand at once."""
_WORST = ("stands", "marked", "stale", "gone")

Parts = Mapping[str, tuple[str, ...]]
"""By section that changed, those that its words went to."""


class Judge:
    """Judges answers as `TreeStore` has the pages now. Raises store errors."""

    def __init__(self, trees: TreeStore) -> None:
        self._trees = trees

    async def changed(self, exchange: Exchange, parts: Parts, at: datetime) -> tuple[ChangedSource, ...]:
        """The exchange's changed sources, those judged anew that the sections of `parts` touch."""
        known = {source.number: source for source in exchange.changed}
        for source in exchange.answer.sources if exchange.answer else ():
            before = known.get(source.number)
            nodes = before.nodes if before else (source.first.node_id,)
            if parts.keys() & set(nodes):
                found = await self._judged(source, exchange.answer, _followed(nodes, parts), at)
                if found is None:
                    known.pop(source.number, None)
                elif before is None or replace(found, at=before.at) != before:
                    known[source.number] = found
        return tuple(known[number] for number in sorted(known))

    async def now(self, exchange: Exchange, at: datetime) -> tuple[ChangedSource, ...]:
        """The same of all its sources, whoever told of a change or not."""
        parts = dict(await self.parts_of(exchange.answer)) if exchange.answer else {}
        return await self.changed(exchange, parts, at)

    async def _judged(
        self, source: CitedSource, answer: Answer | None, nodes: tuple[str, ...], at: datetime
    ) -> ChangedSource | None:
        """None where the section says what it said."""
        located = await self._trees.nodes(nodes)
        now = located.get(nodes[0])
        there = [located[node] for node in nodes if node in located]
        parts = [each.node for each in there if each is not now]
        standings = [
            quote_standing(citation, _read(answer, citation), now.node if now else None, parts)
            for citation in source.citations
        ]
        worst = max(standings, key=lambda each: _WORST.index(each.state)).state
        if worst == "stands":
            return None
        before = "\n".join(dict.fromkeys(each.before for each in standings if each.before))
        after = "\n".join(dict.fromkeys(each.after for each in standings if each.after))
        return ChangedSource(source.number, worst, nodes, at, before, after, _link(there, standings))

    async def parts_of(self, answer: Answer) -> Parts:
        """Of the sections that an answer cited, those to which their words went in the last change of their pages."""
        cited = {citation.node_id for source in answer.sources for citation in source.citations}
        keys = {p.page_key for p in answer.trace.passages if p.node_id in cited}
        stored = [await self._trees.get(key) for key in sorted(keys)]
        told = {change.node: change.parts for each in stored if each for change in each.record.node_changes}
        return {node: told.get(node, ()) for node in cited}


def _followed(nodes: Iterable[str], parts: Parts) -> tuple[str, ...]:
    """The sections, and those to which their words went."""
    return tuple(dict.fromkeys([*nodes, *(part for node in nodes for part in parts.get(node, ()))]))


def _read(answer: Answer | None, citation: Citation) -> Passage | None:
    """The passage that was cited; a long section is read in several."""
    passages = answer.trace.passages if answer else ()
    of = [p for p in passages if (p.node_id, p.node_hash) == (citation.node_id, citation.node_hash)]
    return next((p for p in of if p.at <= citation.block < p.at + len(p.blocks)), None)


def _link(there: Iterable[Located], standings: Iterable[QuoteStanding]) -> str:
    """To the words that stand there now, else to the section."""
    for after in [words for each in standings for words in each.after.split("\n") if words]:
        for each in there:
            if after in each.node.text:
                return cite_link(section_link(each.page, each.node.id), after, after)
    return next((section_link(each.page, each.node.id) for each in there), "")


class Staleness:
    """The service: any number may run side by side. `wait`: from the first change of an answer's words until people are told."""

    def __init__(
        self,
        events: EventLog,
        store: BotStore,
        judge: Judge,
        clock: Clock,
        *,
        wait: timedelta = WAIT,
        patience: WorkerPolicy = WORKER_POLICY,
    ) -> None:
        self._store = store
        self._judge = judge
        self._clock = clock
        self._wait = wait
        self._workers = [
            Workers(events, topic, group, self._settle, parallel=PARALLEL, patience=patience)
            for topic, group in ((NODES, STALENESS_GROUP), (ANSWERS_TOPIC, GIVEN_GROUP))
        ]

    def stop(self) -> None:
        """`run` takes no more records, lets those in hand finish within the grace, and ends."""
        for workers in self._workers:
            workers.stop()

    async def run(self) -> None:
        """Until `stop`. Raises RecordTooLarge where the log holds what cannot be read: nothing is skipped then."""
        try:
            async with asyncio.TaskGroup() as group:
                for workers in self._workers:
                    group.create_task(workers.run())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _settle(self, consumer: Consumer, record: Record) -> None:
        """Bring the record to an end, acknowledged or dead, or leave it to whoever takes it next."""
        load: Callable[[bytes | None], NodesEvent | Ending] = load_nodes if record.topic == NODES else load_ending
        said = await decoded(consumer, record, load)
        if said is None:
            return
        await (self._section_changed(said) if isinstance(said, NodesEvent) else self._answer_given(said))
        await consumer.acknowledge(record)

    async def _section_changed(self, event: NodesEvent) -> None:
        parts = {change.node: change.parts for change in event.changes}
        async for question in self._store.citing(parts):
            await self._judge_again(question, parts, event.at)

    async def _answer_given(self, ending: Ending) -> None:
        kept = await self._store.exchange(ending.question) if ending.cited else None
        if kept and kept.exchange.answer:
            parts = await self._judge.parts_of(kept.exchange.answer)
            await self._judge_again(ending.question, parts, self._clock.now())

    async def _judge_again(self, question: str, parts: Parts, at: datetime) -> None:
        while kept := await self._store.exchange(question):
            exchange = kept.exchange
            changed = await self._judge.changed(exchange, parts, at)
            if changed == exchange.changed:
                return
            try:
                await self._store.keep(replace(exchange, changed=changed, note=self._note(exchange)), kept.revision)
            except Conflict:
                continue
            log.info("answer_judged", question=question, states=[source.state for source in changed])
            return

    def _note(self, exchange: Exchange) -> ChangeNote | None:
        """Due after a while, counted from the first change. A private answer has no thread to tell it in."""
        note = exchange.note or ChangeNote()
        if exchange.question.response_url:
            return None
        return replace(note, due_at=note.due_at or self._clock.now() + self._wait)
