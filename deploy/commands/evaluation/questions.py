"""`ritbot questions`: let the model propose questions about a site, each with what answers it, for a person to check."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from deploy.commands.command_line import (
    Config,
    DryRun,
    Folder,
    Version,
    console,
    needs_index,
    positive,
    run,
    settings_of,
)
from deploy.commands.display import say, tell_interrupted
from deploy.commands.evaluation.batch import (
    DEFAULT_WORKERS,
    batch_bar,
    ledger_of,
    need_model,
    need_prices,
    questions_in,
    spent,
    tell_end,
    unreadable,
)
from deploy.serving.answer_source import check_scope
from deploy.settings.known_sites import KnownSites, known_sites
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.wiring.evaluation import metered_model
from deploy.wiring.navigation import prices_of, strategy_deps
from deploy.wiring.stores import Stores, open_stores
from ingest.counted import counted
from ingest.errors import SiteUnusable
from navigator.answer import Usage
from navigator.batch.ledger import Ledger
from navigator.batch.runner import Progress
from navigator.evaluation.proposing.checks import REFUSALS
from navigator.evaluation.proposing.material import KIND_SHARES, Material
from navigator.evaluation.proposing.question_file import QuestionsFile
from navigator.evaluation.proposing.run import (
    TOO_MANY,
    KnownQuestions,
    ProposalPlan,
    Proposing,
    accepted,
    plan_proposals,
    refused,
)
from navigator.evaluation.proposing.seeds import Sample, Seeds, sample
from navigator.evaluation.questions import EvalQuestion, QuestionsError
from navigator.evaluation.report.formats import money

DEFAULT_PROPOSE_DOLLARS = 2.0
"""Of a run where nothing else is said."""
MAX_PROPOSAL_TOKENS = 2_048
"""What a reply may take; a proposal takes a few hundred."""
MAX_PLANNED_MATERIALS = 20
"""That the plan is made from."""
MIN_SAMPLED_PAGES, SAMPLED_PAGES_PER_QUESTION = 1_000, 20
"""Of a site with more pages than both, a sample is looked at."""


def command(
    site: Annotated[str, typer.Argument(help="The site's name.")],
    out: Annotated[Path, typer.Option(help="The file that they are added to.")] = Path("questions.jsonl"),
    count: Annotated[int, typer.Option(min=1, help="Proposed questions that the file shall hold.")] = 50,
    examples: Annotated[
        Path | None, typer.Option(help="Questions by people; else those that people wrote or checked in the file.")
    ] = None,
    version: Version = None,
    seed: Annotated[int, typer.Option(help="Another number: other sections.")] = 0,
    max_cost: Annotated[
        float | None, typer.Option(help="US dollars that this run may cost; else 2, where prices are known.")
    ] = None,
    dry_run: DryRun = False,
    config: Config = None,
    folder: Folder = None,
) -> None:
    settings = settings_of(config, folder)
    positive(max_cost, "--max-cost")
    needs_index(settings)
    wanted = ProposeOptions(site, out, count, examples, version, seed, max_cost, dry_run)
    raise typer.Exit(run(propose(settings, wanted, console)))


@dataclass(frozen=True, slots=True)
class ProposeOptions:
    site: str
    out: Path = Path("questions.jsonl")
    count: int = 50
    examples: Path | None = None
    version: str | None = None
    seed: int = 0
    max_cost: float | None = None
    dry_run: bool = False


async def propose(settings: Settings, wanted: ProposeOptions, console: Console) -> int:
    """0: the file has as many proposed questions as wanted, or a dry run; 1: it has fewer; 130: interrupted. Raises
    IngestError, SettingsError, OSError."""
    known = known_sites(settings, settings.index.folder)
    known.need(wanted.site)
    if not wanted.dry_run:
        need_model(settings, "questions")
        if wanted.max_cost is not None:
            need_prices(settings, "leave --max-cost out")
    examples = questions_in(wanted.examples) if wanted.examples else []
    try:
        with QuestionsFile(wanted.out, look_only=wanted.dry_run) as file:
            if file.torn:
                torn = f"{wanted.out} ended in the middle of a line, which was taken away: {file.torn}…"
                say(console, torn, "yellow")
            async with open_stores(settings, "ritbot questions") as stores:
                return await _ProposeRun(stores, known, wanted, file, examples, console).run()
    except QuestionsError as error:
        raise unreadable(wanted.out, error) from None


class _ProposeRun:
    """One run over open stores and an open file."""

    def __init__(
        self,
        stores: Stores,
        known: KnownSites,
        wanted: ProposeOptions,
        file: QuestionsFile,
        examples: Sequence[EvalQuestion],
        console: Console,
    ) -> None:
        self._stores = stores
        self._known = known
        self._wanted = wanted
        self._file = file
        self._examples = examples or [q for q in file.questions if q.checked or not q.synthetic]
        self._console = console
        self._prices = prices_of(stores.settings)

    async def run(self) -> int:
        wanted = self._wanted
        missing = wanted.count - self._proposed
        if missing <= 0:
            self._say(
                f"{wanted.out} holds {_questions(self._proposed)} that a model wrote already; for more, raise --count."
            )
            return 0
        pages = await self._sample(missing)
        seeds = self._seeds(pages)
        first = await self._first(seeds.all(), min(missing, MAX_PLANNED_MATERIALS))
        if not first:
            self._say(self._no_more(pages))
            return 1
        self._announce(plan_proposals(missing, first, self._examples, self._prices))
        if wanted.dry_run:
            return 0
        try:
            progress, ledger = await self._propose(seeds.all(), missing)
        except asyncio.CancelledError:
            return tell_interrupted(self._console)
        self._tell(progress, ledger.used, pages)
        return 0 if self._proposed >= wanted.count else 1

    @property
    def _proposed(self) -> int:
        return sum(question.synthetic for question in self._file.questions)

    async def _sample(self, missing: int) -> Sample:
        """Raises SiteUnusable where there is no page, or where it is not clear of which version."""
        wanted = self._wanted
        scope = self._known.scope([wanted.site], wanted.version)
        await check_scope(self._stores, scope)
        most = max(MIN_SAMPLED_PAGES, SAMPLED_PAGES_PER_QUESTION * missing)
        pages = await sample(self._stores.trees, wanted.site, scope, most, wanted.seed)
        if not pages.live:
            raise SiteUnusable(f"{wanted.site} has no page. Run: ritbot index {wanted.site}")
        if len(pages.versions) > 1:
            raise SettingsError(
                f"{wanted.site} has the versions {', '.join(pages.versions)}: name one with --version, or set "
                "default_version for the site"
            )
        return pages

    def _seeds(self, pages: Sample) -> Seeds:
        scope = self._known.scope([self._wanted.site], self._wanted.version)
        retriever = strategy_deps(self._stores, self._known.languages()).retriever
        return Seeds(self._stores.trees, retriever, scope, pages.keys, self._wanted.seed)

    async def _first(self, materials: AsyncGenerator[Material], count: int) -> list[Material]:
        """What would be asked about first."""
        found: list[Material] = []
        async with aclosing(materials):
            async for material in materials:
                if not self._file.asked(material):
                    found.append(material)
                if len(found) == count:
                    break
        return found

    async def _propose(self, materials: AsyncIterator[Material], missing: int) -> tuple[Progress, Ledger]:
        settings = self._stores.settings
        ledger = ledger_of(settings, self._wanted.max_cost or DEFAULT_PROPOSE_DOLLARS)

        def told(progress: Progress) -> tuple[int, str]:
            return accepted(progress), f"{refused(progress)} refused · {spent(ledger.used)}"

        with batch_bar(self._console, "questions", missing, told) as show:
            async with metered_model(settings, ledger, max_output_tokens=MAX_PROPOSAL_TOKENS) as model:
                proposing = Proposing(
                    model,
                    ledger,
                    KnownQuestions(self._stores.embedder),
                    self._file,
                    count=self._wanted.count,
                    examples=self._examples,
                    workers=DEFAULT_WORKERS,
                    show=show,
                )
                return await proposing.run(materials), ledger

    def _announce(self, plan: ProposalPlan) -> None:
        cost = "at a price that is not known" if plan.cost is None else f"about {money(plan.cost)}"
        self._say(
            f"{_questions(plan.questions)} to be found: about {plan.proposals} proposals in {plan.calls:,} model calls, "
            f"{plan.input_tokens:,} tokens to read and {plan.output_tokens:,} to write, {cost}."
        )

    def _tell(self, progress: Progress, used: Usage, pages: Sample) -> None:
        kinds = ", ".join(f"{count} {kind}" for kind in KIND_SHARES if (count := progress.outcomes[kind]))
        of_kinds = f" ({kinds})" if kinds else ""
        self._say(f"{progress.done} proposed, {accepted(progress)} accepted{of_kinds}, for {spent(used)}.")
        for check, told in REFUSALS.items():
            if count := progress.outcomes[check]:
                self._say(f"  {count} refused: {told}")
        too_many = "Give examples, take another model, or look at the pages."
        tell_end(self._console, progress, too_many if progress.ended == TOO_MANY else "")
        if not progress.ended and self._proposed < self._wanted.count:
            self._say(self._no_more(pages))
        if self._proposed:
            checked = sum(question.synthetic and question.checked for question in self._file.questions)
            self._say(
                f"{self._wanted.out} holds {_questions(self._proposed)} that a model wrote (synthetic), {checked} of them "
                'checked. Check each by hand: set "checked" to true, correct or delete it.'
            )

    def _no_more(self, pages: Sample) -> str:
        looked = (
            f"{len(pages.keys):,} of its {counted(pages.live, 'page')}" if len(pages.keys) < pages.live else "its pages"
        )
        return f"{self._wanted.site} gives no more: no section of {looked} is left that says enough for a question."

    def _say(self, line: str) -> None:
        say(self._console, line)


def _questions(count: int) -> str:
    return counted(count, "question")
