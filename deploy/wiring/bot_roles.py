"""The two roles that talk to people, Slack's listeners and the answer workers, over what a process has opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import get_args
from zoneinfo import ZoneInfo

from bot.answering.quota import Quota
from bot.answering.service import ANSWER_GROUP, AnsweringLimits, AnswerService
from bot.events import QUESTIONS_TOPIC
from bot.gaps.asking_again import WAIT, AskingAgain, AskingLimits, GapChanges
from bot.gaps.digest import Digests, DigestTime
from bot.gaps.grouping import EVERY_SECONDS, Grouping
from bot.model import ChannelSettings, Question
from bot.permalinks.lookup import Permalinks
from bot.ports import BotStore, Delivery, Editions, Gaps
from bot.slack.app_sharing import AppSharing
from bot.slack.inbound.app import Background, make_app
from bot.slack.inbound.checking import Checking
from bot.slack.inbound.citing import Citing
from bot.slack.inbound.gap_states import GapStates
from bot.slack.inbound.home import Home
from bot.slack.inbound.http_mode import routes
from bot.slack.inbound.intake import AccessPolicy, Intake
from bot.slack.inbound.interactions import Interactions
from bot.slack.inbound.oauth import installer
from bot.slack.inbound.settings_modal import SettingsModal
from bot.slack.inbound.socket_mode import Socket
from bot.slack.outbound.client import quiet_client
from bot.slack.outbound.delivery import SlackDelivery
from bot.slack.outbound.digest_message import DigestMessages
from bot.slack.outbound.rate_limiter import RateLimiter
from bot.slack.workspaces import NEEDED_SCOPES, Workspaces
from bot.staleness.judging import Judge, Staleness
from bot.staleness.notes import ChangeNotes, NotePolicy
from deploy.serving.health import Check
from deploy.serving.roles import Role, SlackRoles
from deploy.settings.known_sites import KnownSites
from deploy.settings.messages import SettingsError
from deploy.settings.root import Settings
from deploy.settings.site import StrategyName, secret_text
from deploy.wiring.bot_store import gap_owners, open_bot_store, open_editions, open_gaps, retention
from deploy.wiring.navigation import is_priced, open_navigator
from deploy.wiring.permalinks import finder, open_permalinks
from deploy.wiring.stores import Stores, SystemClock
from ingest.events.workers import WorkerPolicy
from ingest.model import Scope
from ingest.ports import EventLog, TreeStore
from navigator.agent.run import Listener
from navigator.answer import Answer
from navigator.navigator import Navigator
from navigator.question.rewrite import Earlier
from navigator.question.versions import Versions

NO_KEY = (
    "bot.keys must be set where workspaces install the app, for their tokens are kept under it (RITBOT_BOT__KEYS); make"
    " a key with: openssl rand -base64 32 | tr '+/' '-_'"
)
BUTTON_DRAIN_SECONDS = 10.0
"""Seconds that buttons pressed may take when the process ends."""
NOTES_EVERY_SECONDS = 15.0
"""Between two looks at what is due to be said of answers whose sections changed."""
NO_PRICES = (
    "answers.daily_cost is set, and what the model costs is not known: set model.prices.input and "
    "model.prices.output, or leave answers.daily_cost out"
)


class Channels:
    """How ritbot behaves in a channel: what was set there, else what the settings file says."""

    def __init__(self, store: BotStore, settings: Settings) -> None:
        self._store = store
        self._slack = settings.slack
        self._stale = settings.stale

    async def __call__(self, team: str, channel: str) -> ChannelSettings:
        slack = self._slack
        return await self._store.channel(team, channel) or ChannelSettings(
            team,
            channel,
            mode=slack.answer_mode,
            quiet=slack.quiet,
            follow_ups=slack.follow_ups,
            change_notes=self._stale.notes,
        )


class Asker:
    """Implements bot.answering.service.Ask over two navigators: one with the model of the settings, one without any."""

    def __init__(self, written: Navigator, extracts: Navigator, known: KnownSites) -> None:
        self._written = written
        self._extracts = extracts
        self._known = known

    def __call__(
        self, question: Question, settings: ChannelSettings, earlier: Sequence[Earlier], listener: Listener | None
    ) -> Awaitable[Answer]:
        navigator = self._extracts if settings.extracts else self._written
        scope = _scope(self._known, settings)
        return navigator.ask(
            question.text, scope, listener, earlier=earlier, language=settings.language, strategy=settings.strategy
        )


@asynccontextmanager
async def open_workspaces(settings: Settings, store: BotStore) -> AsyncIterator[Workspaces]:
    """One for the process, its token checked. Raises BotError where Slack does not take the token, SettingsError where
    workspaces install the app and there is no key for their tokens."""
    slack = settings.slack
    if slack.bot_token is None and settings.bot.keys is None:
        raise SettingsError(NO_KEY)
    workspaces = Workspaces(
        store,
        token=secret_text(slack.bot_token),
        base_url=slack.api_url,
        proxy=secret_text(slack.proxy),
    )
    await workspaces.check()
    yield workspaces


def slack_delivery(settings: Settings, store: BotStore, workspaces: Workspaces) -> SlackDelivery:
    """One for the process: it counts what Slack is called."""
    clock = SystemClock()
    return SlackDelivery(
        workspaces.client_of,
        RateLimiter(),
        clock,
        person=settings.slack.person is not None,
        sharing=AppSharing(store, clock),
        proxy=secret_text(settings.slack.proxy),
        public_url=settings.web.public_url or "",
    )


@asynccontextmanager
async def open_answering(
    stores: Stores, events: EventLog, store: BotStore, delivery: Delivery, known: KnownSites
) -> AsyncIterator[AnswerService]:
    """The service that answers what was asked. Raises SettingsError."""
    settings, languages = stores.settings, known.languages()
    answers, quota, clock = settings.answers, _quota(settings), SystemClock()
    versions = Versions(stores.trees)
    async with (
        open_editions(settings) as editions,
        open_navigator(stores, languages, versions=versions) as written,
        open_navigator(stores, languages, extracts=True, versions=versions) as extracts,
    ):
        yield AnswerService(
            events,
            store,
            delivery,
            Asker(written, extracts, known),
            clock,
            settings_of=Channels(store, settings),
            keep_cited=partial(
                Permalinks(stores.trees, editions, clock).keep_cited, linked=settings.web.public_url is not None
            ),
            bounds=AnsweringLimits(
                parallel=answers.parallel,
                timeout=answers.timeout,
                quota=quota,
                retry=WorkerPolicy(attempts=3),
            ),
        )


def answer_role(service: AnswerService) -> Role:
    return Role("answers", service.run, service.stop)


def staleness_roles(
    stores: Stores, events: EventLog, store: BotStore, delivery: Delivery, *, every: float = NOTES_EVERY_SECONDS
) -> list[Role]:
    """Whoever keeps the answers judges them when their sections change, and says so where they were given."""
    settings, clock = stores.settings, SystemClock()
    stale = settings.stale
    judging = Staleness(events, store, Judge(stores.trees), clock, wait=stale.wait)
    notes = ChangeNotes(
        store,
        delivery,
        clock,
        settings_of=Channels(store, settings),
        policy=NotePolicy(stale.quiet, ZoneInfo(stale.time_zone), stale.per_day),
        every=every,
    )
    return [Role("staleness", judging.run, judging.stop), Role("change notes", notes.run, notes.stop)]


def gap_roles(
    stores: Stores,
    events: EventLog,
    store: BotStore,
    gaps: Gaps,
    service: AnswerService,
    workspaces: Workspaces,
    *,
    every: float = EVERY_SECONDS,
    wait: timedelta = WAIT,
) -> list[Role]:
    """Whoever keeps the answers finds out what the documentation lacks, asks again where it changed, and tells owners."""
    settings, clock = stores.settings, SystemClock()
    limits = AskingLimits(settings.gaps.ask_again_per_day, settings.answers.daily_cost)
    grouping = Grouping(store, gaps, stores.trees, stores.embedder, clock, every=every)
    changes = GapChanges(events, gaps, clock, wait=wait)
    digests = Digests(
        store,
        gaps,
        DigestMessages(workspaces.client_of, RateLimiter(), clock),
        clock,
        owners=gap_owners(settings),
        may_quote=workspaces.asked_in_public,
        time=DigestTime(settings.gaps.weekday, ZoneInfo(settings.stale.time_zone)),
        every=10 * every,
    )
    asking = AskingAgain(store, gaps, service.ask_again, clock, limits, every=every)
    return [
        Role("gaps", grouping.run, grouping.stop),
        Role("gap changes", changes.run, changes.stop),
        Role("gaps asked again", asking.run, asking.stop),
        Role("gap digests", digests.run, digests.stop),
    ]


@asynccontextmanager
async def open_listening(
    settings: Settings,
    events: EventLog,
    store: BotStore,
    gaps: Gaps,
    workspaces: Workspaces,
    trees: TreeStore,
    permalinks: Permalinks,
    known: KnownSites,
) -> AsyncIterator[SlackRoles]:
    """What listens to Slack; its role raises BotError where Slack does not take the app token."""
    slack, clock, channels = settings.slack, SystemClock(), Channels(store, settings)
    intake = Intake(
        events,
        store,
        channels,
        AccessPolicy(slack.shared_channels, slack.guests),
        is_guest=workspaces.is_guest,
        is_outsider=workspaces.is_outsider,
    )

    async def scope_of(team: str, channel: str) -> Scope:
        return _scope(known, await channels(team, channel))

    background = Background()
    client = quiet_client("", slack.api_url, secret_text(slack.proxy))
    over_socket = slack.mode == "socket"
    public_url = settings.web.public_url or ""
    app = make_app(
        workspaces=workspaces,
        client=client,
        intake=intake,
        interactions=Interactions(store, intake, clock, person=slack.person or "", public_url=public_url),
        citing=Citing(permalinks, intake, scope_of, clock, public_url=public_url),
        home=Home(store, trees, intake, clock, sites=lambda: sorted(known.sites)),
        settings=SettingsModal(
            store,
            channels,
            clock,
            sites=sorted(known.sites),
            strategies=get_args(StrategyName) if settings.model.chosen != "extractive" else (),
            managers=slack.managers,
        ),
        checking=Checking(store, trees, Judge(trees), intake, clock),
        gap_states=GapStates(store, gaps, intake, clock, workspaces.asked_in_public),
        background=background,
        clock=clock,
    )
    try:
        if over_socket:
            token = secret_text(slack.app_token) or ""
            socket = Socket(app, token, sharing=AppSharing(store, clock), proxy=secret_text(slack.proxy))
            yield SlackRoles([Role("slack", socket.run, socket.stop)], checks={"slack": socket.check})
        else:
            installing = None
            if slack.client_id is not None and slack.several:
                secret = secret_text(slack.client_secret) or ""
                installing = installer(
                    store, clock, client, client_id=slack.client_id, client_secret=secret, scopes=NEEDED_SCOPES
                )
            yield SlackRoles(routes=routes(app, secret_text(slack.signing_secret) or "", installing))
    finally:
        await background.drain(BUTTON_DRAIN_SECONDS)


@asynccontextmanager
async def open_talking(stores: Stores, events: EventLog, known: KnownSites) -> AsyncIterator[SlackRoles]:
    """Both roles in one process. Raises BotError, SettingsError."""
    settings = stores.settings
    settings.slack.check(signs_in=settings.web.signs_in)
    async with (
        open_bot_store(settings) as store,
        open_editions(settings) as editions,
        open_gaps(settings) as gaps,
        open_workspaces(settings, store) as workspaces,
        open_permalinks(settings, stores.trees, finder(stores.index.words, known.languages())) as permalinks,
        open_listening(settings, events, store, gaps, workspaces, stores.trees, permalinks, known) as listening,
        open_answering(
            stores, events, store, delivery := slack_delivery(settings, store, workspaces), known
        ) as service,
    ):
        told = [
            *staleness_roles(stores, events, store, delivery),
            *gap_roles(stores, events, store, gaps, service, workspaces),
        ]
        roles = [*listening.roles, answer_role(service), *told, retention_role(settings, store, editions, gaps)]
        yield SlackRoles(roles, listening.routes, {**answering_checks(events, store, workspaces), **listening.checks})


def retention_role(settings: Settings, store: BotStore, editions: Editions, gaps: Gaps) -> Role:
    keeping = retention(settings, store, editions, gaps)
    return Role("retention", keeping.run, keeping.stop)


def answering_checks(events: EventLog, store: BotStore, workspaces: Workspaces) -> dict[str, Check]:
    """What both roles need."""
    return {
        "questions": lambda: events.lag(QUESTIONS_TOPIC, ANSWER_GROUP),
        "bot store": lambda: store.channel("any", "any"),
        "slack token": workspaces.check,
    }


def _scope(known: KnownSites, settings: ChannelSettings) -> Scope:
    """Where a channel looks."""
    return known.scope(
        [site for site in settings.sites if site in known.sites], None
    )  # one may have been removed since


def _quota(settings: Settings) -> Quota:
    """Raises SettingsError for a ceiling on costs that cannot be counted."""
    answers, model = settings.answers, settings.model
    if answers.daily_cost and model.chosen == "anthropic" and not is_priced(settings):
        raise SettingsError(NO_PRICES)
    return Quota(answers.per_user, answers.per_channel, answers.daily_cost)
