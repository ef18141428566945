"""`ritbot answers`: what people asked and what they were told, listed, exported, and one shown whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from bot import codec
from bot.events import outcome
from bot.gaps.as_questions import as_questions
from bot.model import Exchange
from bot.ports import BotStore
from bot.terminal.answer_view import print_answer, print_trace
from bot.terminal.console import print_json_text
from deploy.commands.command_line import Config, Folder, console, errors, fail, no_index, run, settings_of
from deploy.settings.root import Settings
from deploy.wiring.bot_store import open_bot_store
from ingest.counted import counted
from navigator.evaluation.questions import dump_question

MAX_ROW_CHARACTERS = 100
_AGO = re.compile(r"(\d{1,4}) ?(m|h|d|w|minutes?|hours?|days?|weeks?)( ago)?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def command(
    since: Annotated[str | None, typer.Option(help="Asked since: a date, or how long ago (12h, 7d).")] = None,
    channel: Annotated[str | None, typer.Option(help="Asked in the channel of this id.")] = None,
    user: Annotated[str | None, typer.Option(help="Asked by the person of this id.")] = None,
    show: Annotated[str | None, typer.Option(metavar="ID", help="The whole way of one answer.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Export: everything, one JSON object a line.")] = False,
    questions: Annotated[
        bool,
        typer.Option(
            "--as-questions", help="Export those that people found good as questions for `ritbot eval`, one a line."
        ),
    ] = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    if no_index(settings):
        fail(f"There is no data folder at {settings.index.folder}, so no answer either.", 3)
    now = datetime.now(UTC)
    if show is not None:
        raise typer.Exit(run(show_answer(settings, show, console, now, as_json=as_json)))
    try:
        wanted = AnswerFilter(asked_since(since, now) if since else None, channel, user)
    except ValueError as error:
        fail(str(error))
    if questions:
        raise typer.Exit(run(export_questions(settings, wanted, errors)))
    work = export_answers(settings, wanted) if as_json else list_answers(settings, wanted, console)
    raise typer.Exit(run(work))


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Which exchanges: asked since, in a channel, by a person; all by default."""

    since: datetime | None = None
    channel: str | None = None
    user: str | None = None

    async def of(self, store: BotStore) -> AsyncIterator[Exchange]:
        async for exchange in store.exchanges(self.since):
            question = exchange.question
            if self.channel in (None, question.channel) and self.user in (None, question.user):
                yield exchange


def asked_since(text: str, now: datetime) -> datetime:
    """ "7d", "12 hours", a date or a time in ISO 8601 (UTC where it names no zone). Raises ValueError."""
    try:
        if match := _AGO.fullmatch(text.strip()):
            return now - timedelta(**{_UNITS[match[2][0]]: int(match[1])})
        at = datetime.fromisoformat(text.strip())
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{text!r} is no time: name a date (2026-05-01) or how long ago (12h, 7d)") from None


async def list_answers(settings: Settings, wanted: AnswerFilter, console: Console) -> int:
    """A row an exchange, oldest first, as they come; 1 where there is none."""
    outcomes: Counter[str] = Counter()
    cost = 0.0
    async with open_bot_store(settings) as store:
        async for exchange in wanted.of(store):
            print_row(console, exchange)
            outcomes[outcome(exchange) or exchange.state] += 1
            cost += (exchange.answer and exchange.answer.trace.usage.cost) or 0.0
    if not outcomes:
        console.print("There is no answer yet, or none that you asked for.")
        return 1
    counts = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    total = outcomes.total()
    console.print(f"{total} question{'' if total == 1 else 's'}: {counts}; ${cost:.2f}.")
    return 0


async def export_answers(settings: Settings, wanted: AnswerFilter) -> int:
    """An exchange a line, whole, as JSON on standard output."""
    async with open_bot_store(settings) as store:
        async for exchange in wanted.of(store):
            _write(exchange)
    return 0


async def export_questions(settings: Settings, wanted: AnswerFilter, console: Console) -> int:
    """A question a line on standard output, how many on `console`; 1 where there is none."""
    async with open_bot_store(settings) as store:
        made = list(as_questions([exchange async for exchange in wanted.of(store) if exchange.feedback]))
    for question in made:
        print_json_text(dump_question(question))
    console.print(f"{counted(len(made), 'answer')} that people found good.")
    return 0 if made else 1


async def show_answer(settings: Settings, question_id: str, console: Console, now: datetime, *, as_json: bool) -> int:
    """The whole way of one; 1 where there is none of that id."""
    async with open_bot_store(settings) as store:
        kept = await store.exchange(question_id)
    if kept is None:
        console.print(f"There is no question {question_id}. Its id stands in the list: ritbot answers", soft_wrap=True)
        return 1
    exchange = kept.exchange
    if as_json:
        _write(exchange)
        return 0
    print_row(console, exchange)
    if len(printable_line(exchange.question.text)) > MAX_ROW_CHARACTERS:
        console.print(Padding(Text(printable_line(exchange.question.text)), (1, 0, 0, 2)))
    if exchange.standalone:
        console.print(Padding(Text(f"understood as: {printable_line(exchange.standalone)}", style="dim"), (0, 0, 0, 2)))
    _print_feedback(console, exchange)
    if exchange.answer:
        print_answer(console, exchange.answer, now, changed=[source.number for source in exchange.changed])
        print_trace(console, exchange.answer)
    return 0


def _write(exchange: Exchange) -> None:
    print_json_text(codec.dump_exchange(exchange).decode())


def print_row(console: Console, exchange: Exchange) -> None:
    """When, who, where, what, what became of it, which sections."""
    question, answer = exchange.question, exchange.answer
    usage = answer.trace.usage if answer else None
    verdicts = Counter(feedback.verdict for feedback in exchange.feedback)
    facts = [
        (outcome(exchange) or exchange.state).replace("_", " "),
        *(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())),
        *([f"${usage.cost:.4f}"] if usage and usage.cost is not None else []),
        *([f"{answer.trace.seconds:.1f} s"] if answer else []),
    ]
    when = f"{question.asked_at.astimezone(UTC):%Y-%m-%d %H:%M}"
    who = printable_line(f"{question.user or 'someone'} in {question.channel}")
    head = Text.assemble((when, "bold"), f"  {who}  ", (printable_line(question.id), "dim"))
    console.print(head, soft_wrap=True)
    console.print(Text(f"  {_shortened(printable_line(question.text))}"), soft_wrap=True)
    console.print(Text(f"  {' · '.join(facts)}", style="dim"), soft_wrap=True)
    changed = {each.number for each in exchange.changed}
    for source in answer.sources if answer else ():
        since = " · changed since" if source.number in changed else ""
        console.print(Text(f"  [{source.number}] {' › '.join(source.first.path)}{since}", style="dim"), soft_wrap=True)


def _print_feedback(console: Console, exchange: Exchange) -> None:
    for each in exchange.feedback:
        reason = f": {printable_line(each.reason)}" if each.reason else ""
        console.print(
            Text(f"  {printable_line(each.user) or 'someone'} found it {each.verdict}{reason}"), soft_wrap=True
        )


def printable_line(text: str) -> str:
    """On one line, and without what would command a terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_ROW_CHARACTERS else text[: MAX_ROW_CHARACTERS - 1] + "…"
