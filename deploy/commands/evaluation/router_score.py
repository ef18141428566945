"""`ritbot eval --router`: how well the router of the strategy rdr2 does by itself, on examples that were held out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.terminal.console import print_json
from deploy.commands.display import say
from deploy.commands.evaluation.batch import DEFAULT_WORKERS, batch_bar, need_prices, spent, tell_end, text_in
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.evaluation import metered_model
from ingest.counted import counted
from navigator.batch.ledger import Ledger
from navigator.batch.runner import Progress
from navigator.evaluation.report.formats import percent
from navigator.evaluation.routing.score import RouterScore, score_router
from navigator.strategies.rdr2.examples import Example, ExamplesError, load_examples

FIGURES = {
    "ans_f1": ("ANS-F1", "blocks selected, against those of the examples"),
    "exp_precision": ("EXP-PRE", "headings unfolded that the examples unfold too"),
    "ref_accuracy": ("REF-ACC", "replies that refuse where the examples do, and only there"),
    "expelled": ("Expelled", "lines of a reply that do not count"),
    "collapsed": ("Collapsed", "replies without an action"),
}


@dataclass(frozen=True, slots=True)
class RouterScoreOptions:
    examples: Path
    limit: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    concurrency: int | None = None


async def score(settings: Settings, wanted: RouterScoreOptions, console: Console, *, as_json: bool) -> int:
    """0: every example was asked; 1: something is left. Raises SettingsError, OSError."""
    router = settings.routing if settings.router.name else settings
    examples = _examples(wanted.examples)[: wanted.limit]
    _needs_router_and_prices(settings, router, wanted)
    ledger = Ledger(dollars=wanted.max_cost, tokens=wanted.max_tokens)
    with batch_bar(console, "examples", len(examples), lambda p: (p.done + p.failed, spent(ledger.used))) as show:
        async with metered_model(router, ledger) as model:
            workers = wanted.concurrency or DEFAULT_WORKERS
            found = await score_router(model, examples, workers=workers, show=show)
    if as_json:
        print_json(asdict(found))
    else:
        _tell(console, found)
    return 0 if found.asked == found.examples else 1


def _examples(path: Path) -> list[Example]:
    try:
        return list(load_examples(text_in(path)))
    except ExamplesError as error:
        raise SettingsError(f"{path}: {error}") from None


def _needs_router_and_prices(settings: Settings, router: Settings, wanted: RouterScoreOptions) -> None:
    if not settings.router.name and settings.model.chosen != "anthropic":
        raise SettingsError(
            "there is no router to score: set router.name (and router.base_url, router.api_key), or a model that routes: "
            "ANTHROPIC_API_KEY or model.api_key"
        )
    if wanted.max_cost is not None:
        table = "router.prices" if settings.router.name else "model.prices"
        need_prices(router, "a ceiling in tokens with --max-tokens", table)


def _tell(console: Console, found: RouterScore) -> None:
    say(console, f"{found.model}: {found.asked:,} of {counted(found.examples, 'example')}, for {spent(found.usage)}.")
    table = Table(box=None, show_header=False)
    for name, value in asdict(found.figures).items():
        short, meaning = FIGURES[name]
        table.add_row(Text(short, style="bold"), percent(value), Text(meaning, style="dim"))
    console.print(table)
    tell_end(console, Progress(failed=found.failed, failure=found.reason, ended=found.ended))
