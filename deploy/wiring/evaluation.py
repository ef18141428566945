"""What an evaluation is made of: who takes part over the open stores, who judges, what there is to find.

A contender's answers count for as long as nothing changes that they depend on: the pages, the notes that a forest shows,
the embedding model, the numbers of search and strategy, the model.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from deploy.settings.messages import SettingsError, did_you_mean
from deploy.settings.root import Settings
from deploy.wiring.navigation import anthropic_model, is_priced, prices_of, recipe_of, strategy_deps, unpriced
from deploy.wiring.stores import Stores
from deploy.wiring.variants import Variant, variants
from ingest.model import Scope, sha256
from ingest.notes import Spent
from ingest.ports import Outline, TreeStore
from navigator.batch.ledger import Ledger, MeteredModel
from navigator.errors import ModelError
from navigator.evaluation.gold import Aliases, Library
from navigator.evaluation.questions import EvalQuestion
from navigator.evaluation.readers import TOP_SECTIONS, OracleReader, RoutedPages, TopReader
from navigator.evaluation.results import Contender, Preprocessing, Ranked
from navigator.evaluation.runner import Candidate, Player
from navigator.models.temperature_zero import TemperatureZeroModel
from navigator.ports import Model
from navigator.strategies.build import FOR_PEOPLE, STRATEGIES, build
from navigator.strategies.strategy import StrategyBounds

READERS = ("top", "oracle")
HELPED_BY_NOTES = ("rit", "pageindex")
"""Strategies that show summaries and titles which a model wrote before."""


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What `ritbot eval` was asked for. `judge` None: where there is a model and a gold answer. `readers`: in the place of
    the model. `blind`: a form is written for people to judge by; `verdicts`: such a form, filled in."""

    questions: Path
    strategies: tuple[str, ...] = FOR_PEOPLE
    sweeps: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    without_structure: bool = False
    out: Path | None = None
    limit: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    judge: bool | None = None
    grades: bool = False
    readers: tuple[str, ...] = ()
    blind: bool = False
    verdicts: Path | None = None
    concurrency: int | None = None

    @property
    def folder(self) -> Path:
        return self.out or Path("eval") / self.questions.stem


def checked_options(settings: Settings, wanted: EvalOptions, questions: Sequence[EvalQuestion]) -> EvalOptions:
    """With what follows from there being a model or none. Raises SettingsError where it cannot be done."""
    for what, names, known in (
        ("strategy", wanted.strategies, tuple(STRATEGIES)),
        ("scripted reader", wanted.readers, READERS),
    ):
        for name in names:
            if name not in known:
                raise SettingsError(
                    f"there is no {what} {name}{did_you_mean(name, known)}; there are {', '.join(known)}"
                )
    _variants(settings, wanted)
    if settings.model.chosen == "extractive" and not wanted.readers:
        wanted = replace(wanted, readers=READERS)
    gold = any(question.answers or question.nuggets for question in questions) or wanted.grades
    if not wanted.readers:
        judge = (gold and wanted.verdicts is None) if wanted.judge is None else wanted.judge
        if judge and not gold:
            raise SettingsError("there is nothing to judge by: no question has an answer or nuggets")
        if wanted.grades and not judge:
            raise SettingsError("--grades asks a judge: leave out --no-judge")
        wanted = replace(wanted, judge=judge)
        if wanted.max_cost is not None:
            _need_prices(settings, wanted)
        return wanted
    if "none" in wanted.strategies:
        raise SettingsError("the strategy none is a model alone: it needs one, and no scripted reader in its place")
    if wanted.judge or wanted.grades or wanted.blind or wanted.verdicts:
        raise SettingsError("scripted readers give no answers to judge: a model must be set, and --reader left out")
    return replace(wanted, judge=False)


def _variants(settings: Settings, wanted: EvalOptions) -> list[Variant]:
    bounds = StrategyBounds(**settings.strategies.model_dump())
    return variants(
        wanted.strategies, recipe_of(settings), bounds, wanted.sweeps, without_structure=wanted.without_structure
    )


def _need_prices(settings: Settings, wanted: EvalOptions) -> None:
    asked = {"model.prices": settings}
    if wanted.judge:
        asked["judge.prices"] = settings.judging
    if settings.router.name and "rdr2" in wanted.strategies:
        asked["router.prices"] = settings.routing
    for table, of in asked.items():
        if not is_priced(of):
            raise SettingsError(f"{unpriced(of, table)}, or a ceiling in tokens with --max-tokens")


@asynccontextmanager
async def metered_model(
    settings: Settings, ledger: Ledger, *, max_output_tokens: int | None = None, cold: bool = False
) -> AsyncIterator[Model]:
    """The model of the settings, kept to the ledger. `max_output_tokens`: of a reply, where the settings allow as many. `cold`:
    at temperature 0 where it takes one. Raises SettingsError."""
    allowed = settings.model.max_tokens
    longest = min(max_output_tokens or allowed, allowed)
    brief = settings.model_copy(update={"model": settings.model.model_copy(update={"max_tokens": longest})})
    async with AsyncExitStack() as stack:
        try:
            model: Model = await stack.enter_async_context(anthropic_model(brief))
            if cold:
                model = TemperatureZeroModel(
                    await stack.enter_async_context(anthropic_model(brief, temperature=0.0)), model
                )
        except ModelError as error:
            raise SettingsError(str(error)) from error
        yield MeteredModel(model, ledger, prices_of(settings), longest)


async def candidates(
    stack: AsyncExitStack,
    stores: Stores,
    wanted: EvalOptions,
    languages: Sequence[str],
    scope: Scope,
    outlines: Mapping[str, Outline],
    aliases: Aliases,
    ledger: Ledger,
) -> list[Candidate]:
    """Everyone who takes part; models are opened in the stack and keep to the ledger. Raises IngestError, SettingsError."""
    settings = stores.settings
    router, players = None, _readers(stores, outlines, aliases, wanted.readers)
    if not wanted.readers:
        model = await stack.enter_async_context(metered_model(settings, ledger))
        players = {"": lambda question: model}
        if settings.router.name:
            router = await stack.enter_async_context(metered_model(settings.routing, ledger))
    state = await _state(stores, languages, scope)
    found = []
    for variant in _variants(settings, wanted):
        deps = strategy_deps(stores, languages, router, recipe=variant.recipe, bounds=variant.bounds)
        strategy = build(variant.strategy, deps)
        for reader, player in players.items():
            made_from = sha256(state, repr(variant), repr(deps.rit_bounds), *_who(settings, variant, reader))
            contender = _read_by(variant.contender, reader)
            found.append(Candidate(contender, strategy, player, made_from, told_gold=reader == "oracle"))
    return found


def _readers(
    stores: Stores, outlines: Mapping[str, Outline], aliases: Aliases, names: Sequence[str]
) -> dict[str, Player]:
    pages, library = RoutedPages(outlines, stores.trees), Library(outlines, aliases)
    known: dict[str, Player] = {
        "top": lambda question: TopReader(pages),
        "oracle": lambda question: OracleReader(pages, library.resolve(question).nodes),
    }
    return {name: known[name] for name in names}


def _read_by(contender: Contender, reader: str) -> Contender:
    return replace(contender, label=f"{contender.label}, {reader} reader", reader=reader) if reader else contender


def _who(settings: Settings, variant: Variant, reader: str) -> tuple[str, ...]:
    """Who chooses and answers. A model is its name, wherever it is served."""
    if reader:
        return (reader, str(TOP_SECTIONS))
    asked = [settings.model, settings.routing.model] if variant.strategy == "rdr2" else [settings.model]
    return tuple(model.name for model in asked)


async def _state(stores: Stores, languages: Sequence[str], scope: Scope) -> str:
    """What answers depend on in the stores; changes with any page in scope."""
    states = stores.trees.scan()
    pages = [
        f"{s.key} {s.changed_at.isoformat()} {s.chunks} {s.parser_version} {s.analyser_version}"
        async for s in states
        if s.state == "live" and scope.holds(s.site, s.version)
    ]
    retrieval = stores.settings.retrieval
    notes = sorted((kind, total.found) for kind, total in (await stores.notes.totals()).items())
    shown = [sorted(languages), retrieval.outline, notes if retrieval.summaries else None]
    return sha256(stores.embedder.name, repr(shown), *sorted(pages))


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What a report needs of the index beside the answers. `ranked`: plain retrieval, as it is set."""

    outlines: Mapping[str, Outline]
    aliases: Aliases
    ranked: tuple[Ranked, ...]
    preprocessing: tuple[Preprocessing, ...]
    language: str


async def index_facts(
    stores: Stores,
    languages: Sequence[str],
    scope: Scope,
    questions: Sequence[EvalQuestion],
    outlines: Mapping[str, Outline],
    aliases: Aliases,
) -> IndexFacts:
    retriever = strategy_deps(stores, languages).retriever
    found = [Ranked(q.id, tuple((await retriever.search(q.question, scope)).scores)) for q in questions]
    return IndexFacts(outlines, aliases, tuple(found), await _preprocessing(stores), languages[0])


async def outlines_in(stores: Stores, scope: Scope) -> Mapping[str, Outline]:
    """The live pages in scope, by key."""
    states = stores.trees.scan()
    return await stores.trees.outlines(
        [s.key async for s in states if s.state == "live" and scope.holds(s.site, s.version)]
    )


async def gold_aliases(stores: Stores, questions: Sequence[EvalQuestion], outlines: Mapping[str, Outline]) -> Aliases:
    """Of the pages on which the questions name an anchor that is no section's own."""
    return await aliases_of(stores.trees, Library(outlines).without_section(questions))


async def aliases_of(trees: TreeStore, keys: Iterable[str]) -> Aliases:
    """Outlines hold no aliases: each page is read."""
    found: dict[str, dict[str, str]] = {}
    for key in sorted(set(keys)):
        stored = await trees.get(key)
        if stored is not None and stored.record.page is not None:
            found[key] = {alias: node.id for node in reversed(stored.record.page.nodes) for alias in node.aliases}
    return found


async def _preprocessing(stores: Stores) -> tuple[Preprocessing, ...]:
    """What `ritbot enrich` has used, for the strategies whose model sees its work."""
    totals = (await stores.notes.totals()).values() if stores.settings.retrieval.summaries else ()
    spent = sum((total.spent for total in totals), Spent())
    cost = None if spent.unpriced else spent.cost
    tokens = spent.input_tokens + spent.output_tokens
    return tuple(Preprocessing(name, tokens, cost) for name in HELPED_BY_NOTES) if tokens else ()
