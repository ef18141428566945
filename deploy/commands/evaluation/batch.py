"""What the commands that ask a model about many things say and want alike: a model, a ceiling, a bar, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from deploy.commands.display import AGAIN, page_bar, say
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.navigation import is_priced, unpriced
from ingest.counted import counted
from navigator.answer import Usage
from navigator.batch.ledger import Ledger
from navigator.batch.runner import Progress, Show
from navigator.evaluation.questions import EvalQuestion, QuestionsError, load_questions
from navigator.evaluation.report.formats import money

DEFAULT_RUN_DOLLARS = 5.0
"""Of a run whose command line names no other ceiling."""
DEFAULT_WORKERS = 4
"""Questions under way side by side where the command line says nothing; seconds a question are measured at this."""


def need_model(settings: Settings, command: str) -> None:
    """Raises SettingsError where none is set."""
    if settings.model.chosen != "anthropic":
        raise SettingsError(
            f"ritbot {command} needs a language model, and none is set: set ANTHROPIC_API_KEY or model.api_key, and leave "
            "model.provider at auto or anthropic"
        )


def need_prices(settings: Settings, instead: str, table: str = "model.prices") -> None:
    """Raises SettingsError where none are known; `instead`: what else can be done."""
    if not is_priced(settings):
        raise SettingsError(f"{unpriced(settings, table)}, or {instead}")


def ledger_of(settings: Settings, dollars: float, tokens: int | None = None) -> Ledger:
    """Bound by dollars where the model's prices are known."""
    return Ledger(dollars=dollars if is_priced(settings) else None, tokens=tokens)


def text_in(path: Path) -> str:
    """Raises SettingsError, OSError."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is no text in UTF-8") from None


def questions_in(path: Path) -> list[EvalQuestion]:
    """Raises SettingsError with everything that is wrong in the file, and OSError."""
    try:
        return load_questions(text_in(path))
    except QuestionsError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: QuestionsError) -> SettingsError:
    return SettingsError(*(f"{path}:{line}: {what}" for line, what in error.mistakes))


@contextmanager
def batch_bar(
    console: Console, unit: str, total: int, told: Callable[[Progress], tuple[int, str]], done: int = 0
) -> Iterator[Show]:
    """A bar over a batch. `told` says how many of `total` are done, `done` at the beginning, and a word on them."""
    with page_bar(console, unit) as bar:
        task = bar.add_task("asked", total=total, completed=done, detail="")

        def show(progress: Progress) -> None:
            completed, detail = told(progress)
            bar.update(task, completed=completed, detail=detail)

        yield show


def spent(used: Usage) -> str:
    tokens = f"{used.tokens:,} tokens"
    return tokens if used.cost is None else f"{tokens}, {money(used.cost)}"


def tell_end(console: Console, progress: Progress, also: str = "") -> None:
    """What failed, and why the run ended before all was done; `also`: what to do about it."""
    if progress.failed:
        say(
            console,
            f"  {counted(progress.failed, 'call')} failed (the last: {progress.failure}).".replace(".).", ")."),
            "yellow",
        )
    if progress.ended:
        say(console, f"Stopped: {progress.ended.rstrip('.')}. {also or AGAIN}", "yellow")
