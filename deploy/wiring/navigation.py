"""The composition root, its upper half: models and strategies over open stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.settings.site import WITHOUT_A_MODEL, secret_text
from deploy.wiring.stores import Stores
from ingest.model import Scope
from navigator.agent.ceiling import AnswerBudget, AnswerCeiling
from navigator.agent.prompts import RitBounds
from navigator.answer import Usage
from navigator.extracts.choice import Bounds
from navigator.extracts.model import ExtractiveModel
from navigator.models.prices import PUBLISHED, Prices
from navigator.navigator import Navigator
from navigator.ports import Model
from navigator.question.rewrite import by_model, by_rule
from navigator.question.spelling import with_spelling
from navigator.question.versions import Versions
from navigator.retrieval.lexicon import Lexicon
from navigator.retrieval.passages import ChunkPassages
from navigator.retrieval.retriever import RECIPES, Recipe, Retriever
from navigator.strategies.build import FOR_PEOPLE, StrategyDeps, build
from navigator.strategies.strategy import StrategyBounds

if TYPE_CHECKING:
    from navigator.models.anthropic import AnthropicModel


@asynccontextmanager
async def open_navigator(
    stores: Stores, languages: Sequence[str], *, extracts: bool = False, versions: Versions | None = None
) -> AsyncIterator[Navigator]:
    """The navigator over open stores, with the model that the settings choose, or, with `extracts`, without any.
    `languages` are those of the sites; `versions`: those that a question may name, where others look them up too. Raises
    SettingsError where a strategy is set that needs a model, and there is none."""
    versions = versions or Versions(stores.trees)
    settings = stores.settings.extracting if extracts else stores.settings
    if settings.model.chosen == "extractive":
        deps = strategy_deps(stores, languages)
        lexicon = Lexicon(stores.index, stores.trees, deps.retriever.languages)
        model = ExtractiveModel(stores.embedder, lexicon, Bounds(found=settings.model.extract_threshold))
        understand = with_spelling(by_rule, lexicon, stores.embedder.count)
        strategies = {name: build(name, deps) for name in WITHOUT_A_MODEL}
        if not extracts:
            _need_no_model(settings)
        yield Navigator(
            strategies, model, _rit if extracts else settings.strategy_of, understand, versions, stores.trees
        )
        return
    async with AsyncExitStack() as stack:
        written = await stack.enter_async_context(anthropic_model(settings))
        router = await stack.enter_async_context(anthropic_model(settings.routing)) if settings.router.name else None
        deps = strategy_deps(stores, languages, router)
        strategies = {name: build(name, deps) for name in FOR_PEOPLE}
        ceiling = answer_ceiling(settings)
        yield Navigator(
            strategies, written, settings.strategy_of, by_model(written), versions, stores.trees, ceiling=ceiling
        )


def _rit(scope: Scope) -> str:
    return "rit"


def _need_no_model(settings: Settings) -> None:
    named = {"navigator.strategy": settings.navigator.strategy}
    named |= {f"strategy of the site {site.name}": site.strategy for site in settings.sites if site.strategy}
    wrong = [
        f"{name} is {strategy}, which {why}" for name, strategy in named.items() if (why := settings.why_not(strategy))
    ]
    if wrong:
        raise SettingsError(*wrong)


def strategy_deps(
    stores: Stores,
    languages: Sequence[str],
    router: Model | None = None,
    *,
    recipe: Recipe | None = None,
    bounds: StrategyBounds | None = None,
) -> StrategyDeps:
    """What every strategy stands on, as the settings say; `recipe` and `bounds` in place of theirs."""
    settings = stores.settings
    asked = settings.navigator
    rit_bounds = RitBounds(asked.budget, read_characters=asked.read_characters, outline=settings.retrieval.outline)
    # However few calls there are, one is left to read.
    rit_bounds = replace(rit_bounds, toc_budget=min(rit_bounds.toc_budget, asked.budget - 1))
    notes = stores.notes if settings.retrieval.summaries else None
    retriever = Retriever(
        stores.trees,
        stores.index,
        stores.embedder,
        recipe or recipe_of(settings),
        languages,
        notes,
        describes=settings.retrieval.outline == "outline",
    )
    return StrategyDeps(
        retriever=retriever,
        trees=stores.trees,
        parts=ChunkPassages(stores.trees, stores.sizes, stores.embedder.count, languages),
        rit_bounds=rit_bounds,
        bounds=bounds or StrategyBounds(**settings.strategies.model_dump()),
        router=router,
    )


def answer_ceiling(settings: Settings) -> AnswerCeiling | None:
    """What one answer may cost. Raises SettingsError where a price is not known, or where not even two replies fit: one to
    look something up, one to answer."""
    asked, models = settings.navigator, [(settings, "model.prices")]
    if asked.max_cost is None and asked.max_tokens is None:
        return None
    if settings.router.name:
        models.append((settings.routing, "router.prices"))
    if asked.max_cost is not None and (
        wrong := [f"navigator.max_cost: {unpriced(of, table)}" for of, table in models if not is_priced(of)]
    ):
        raise SettingsError(*(f"{what}, or navigator.max_tokens in its place" for what in wrong))
    prices = {of.model.name: prices_of(of) for of, _ in models}
    ceiling = AnswerCeiling(asked.max_cost, asked.max_tokens, prices, settings.model.max_tokens)
    if not AnswerBudget(ceiling, settings.model.name).possible:
        raise SettingsError(
            "navigator.max_cost or navigator.max_tokens leaves no room for an answer: at the most, two replies of "
            f"model.max_tokens ({settings.model.max_tokens:,}) and what they read take more. Raise it, or lower model.max_tokens"
        )
    return ceiling


def recipe_of(settings: Settings) -> Recipe:
    asked = settings.retrieval
    named = RECIPES[asked.recipe]
    return replace(named, n=asked.n)


def prices_of(settings: Settings) -> Prices | None:
    """What the model's tokens cost. Where the settings name no prices, those published for Anthropic's own endpoint
    hold there, and nowhere else."""
    model = settings.model
    named = model.prices.model_dump(exclude_none=True)
    return Prices(**named) if named else PUBLISHED.get(model.name) if model.base_url is None else None


def is_priced(settings: Settings) -> bool:
    """Whether it is known what a turn of the model costs, at most."""
    prices = prices_of(settings)
    return prices is not None and prices.cost(Usage(1, 1)) is not None


def unpriced(settings: Settings, table: str) -> str:
    """What to say where it is not. `table`: of the settings, in which prices are said."""
    return (
        f"what {settings.model.name} costs is not known, so that dollars are no ceiling: set {table}.input and "
        f"{table}.output"
    )


def anthropic_model(settings: Settings, *, temperature: float | None = None) -> AnthropicModel:
    """Not yet entered. The key goes nowhere but to the endpoint."""
    from navigator.models.anthropic import AnthropicModel  # the SDK takes a second to import

    model = settings.model
    return AnthropicModel(
        api_key=secret_text(model.api_key),
        base_url=model.base_url,
        model=model.name,
        max_tokens=model.max_tokens,
        timeout=model.timeout,
        max_retries=model.retries,
        context_window=model.context_window,
        temperature=temperature,
        citations=model.citations,
        prompt_caching=model.prompt_caching,
        prices=prices_of(settings),
        proxy=secret_text(model.proxy),
        ca_file=str(model.ca_file) if model.ca_file else None,
    )
