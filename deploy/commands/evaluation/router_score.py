"""`ritbot eval --router`: how well the router of the strategy rdr2 does by itself, on examples that were held out."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deploy.commands.display import page_bar
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.navigation import anthropic_model, is_priced, unpriced
from navigator.evaluation.ledger import Ledger, tokens_of
from navigator.evaluation.report.formats import money, percent
from navigator.evaluation.routing.score import RouterScore, score_router
from navigator.strategies.rdr2.examples import Example, ExamplesError, load_examples

NAMES = {
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
    with page_bar(console, "examples") as bar:
        task = bar.add_task("router", total=len(examples), detail="")

        def show(done: int) -> None:
            bar.update(task, completed=done, detail=f"{tokens_of(ledger.used):,} tokens")

        async with anthropic_model(router) as model:
            workers = wanted.concurrency or settings.evaluation.concurrency
            found = await score_router(model, examples, ledger=ledger, workers=workers, show=show)
    if as_json:
        sys.stdout.write(json.dumps(asdict(found), indent=1) + "\n")
    else:
        _tell(console, found)
    return 0 if found.asked == found.examples else 1


def _examples(path: Path) -> list[Example]:
    try:
        return list(load_examples(path.read_text(encoding="utf-8")))
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text") from None
    except ExamplesError as error:
        raise SettingsError(f"{path}: {error}") from None


def _needs_router_and_prices(settings: Settings, router: Settings, wanted: RouterScoreOptions) -> None:
    if not settings.router.name and settings.model.chosen != "anthropic":
        raise SettingsError(
            "there is no router to score: set router.name (and router.base_url, router.api_key), or a model that routes: "
            "ANTHROPIC_API_KEY or model.api_key"
        )
    if wanted.max_cost is not None and not is_priced(router):
        section = "router" if settings.router.name else "model"
        raise SettingsError(f"{unpriced(router, f'{section}.prices')}, or a ceiling in tokens with --max-tokens")


def _tell(console: Console, found: RouterScore) -> None:
    used = f"{tokens_of(found.usage):,} tokens" + (
        f", {money(found.usage.cost)}" if found.usage.cost is not None else ""
    )
    console.print(Text(f"{found.model}: {found.asked:,} of {found.examples:,} examples, for {used}."), soft_wrap=True)
    table = Table(box=None, show_header=False)
    for name, value in asdict(found.figures).items():
        short, meaning = NAMES[name]
        table.add_row(Text(short, style="bold"), percent(value), Text(meaning, style="dim"))
    console.print(table)
    if found.failed:
        console.print(Text(f"{found.failed} calls failed (the last: {found.reason}).", style="yellow"), soft_wrap=True)
    if found.ended:
        console.print(Text(f"Stopped: {found.ended.rstrip('.')}.", style="yellow"), soft_wrap=True)
