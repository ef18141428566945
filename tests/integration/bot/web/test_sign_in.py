"""Sign in with Slack: a browser with cookies, ritbot's pages behind a proxy that serves them under a path, and the fake Slack."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from bot.model import Installation
from bot.permalinks.lookup import Permalinks
from bot.slack.inbound.intake import AccessPolicy
from bot.slack.inbound.sign_in import SlackSignIn
from bot.slack.outbound.client import quiet_client
from bot.slack.workspaces import Workspaces
from bot.store.sealing import KeySeal
from bot.store.sqlite import SqliteBotStore
from bot.store.sqlite_editions import SqliteEditions
from bot.web.app import NodeWeb
from bot.web.operating import Operated, OperatorWeb
from bot.web.sign_in import BROWSER_COOKIE, SESSION_COOKIE, SESSION_LASTS, SIGN_IN_LASTS, SlackAccess
from deploy.settings.messages import SettingsError
from deploy.settings.slack import SlackSettings
from deploy.settings.web import WebSettings
from ingest.stores.embedded.trees import SqliteTreeStore
from tests.fakes.exchanges import NOON, SetClock
from tests.fakes.slack import SERVER_ERROR, FakeSlack, Fault

PUBLIC = "https://kb.example.test/docs"
LINK = f"{PUBLIC}/n/d1b4f8f4-e3ba-598c-bf5b-2031877e4e5e?show"
"""Of no section: whoever is let in hears so, with status 404."""


@dataclass
class Pages:
    """Two replicas of ritbot's pages, and a browser. `clock` is that of the pages."""

    slack: FakeSlack
    apps: list[Starlette]
    clock: SetClock
    store: SqliteBotStore
    turn: int = 0
    browser: httpx.AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        self.browser = self.new_browser()

    def new_browser(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            mounts={"https://kb.example.test": httpx.ASGITransport(self._proxied)},
            follow_redirects=True,
            trust_env=False,
        )

    async def _proxied(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Each request to the other replica, without the path under which the pages are served."""
        self.turn += 1
        path = str(scope["path"]).removeprefix("/docs")
        await self.apps[self.turn % 2]({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    async def from_slack(self) -> str:
        """The address at which a browser comes back, before it does."""
        begun = await self.browser.get(LINK, follow_redirects=False)
        return (await self.browser.get(begun.headers["location"], follow_redirects=False)).headers["location"]


@asynccontextmanager
async def pages(
    folder: Path,
    slack: FakeSlack,
    *,
    token: str | None = "",
    guests: bool = False,
    secret: str = "client-secret",
    operators: Sequence[str] = (),
) -> AsyncIterator[Pages]:
    """`token` None: workspaces install the app themselves."""

    async def nothing(*_: object) -> Any:
        return ()

    clock = SetClock()
    slack.sign_in.redirect_urls = {f"{PUBLIC}/web/signed-in"}
    async with (
        SqliteTreeStore(folder / "trees") as trees,
        SqliteEditions(folder / "editions") as editions,
        SqliteBotStore(folder / "bot", KeySeal(["x" * 43 + "="]), clock) as store,
    ):

        def app() -> Starlette:
            workspaces = Workspaces(store, token=slack.bot_token if token == "" else token, base_url=slack.base_url)
            signing_in = SlackSignIn(
                workspaces,
                quiet_client("", slack.base_url),
                AccessPolicy(guests=guests),
                clock,
                client_id=slack.client_id,
                client_secret=slack.client_secret,
            )
            access = SlackAccess(signing_in, clock, public_url=f"{PUBLIC}/", secret=secret)
            sections = NodeWeb(Permalinks(trees, editions, clock), access, clock, PUBLIC)
            operating = OperatorWeb(store, access, clock, Operated(nothing, nothing, nothing, nothing), operators)
            return Starlette(routes=[*sections.routes(), *operating.routes()])

        shown = Pages(slack, [app(), app()], clock, store)
        async with shown.browser:
            yield shown


async def test_whoever_follows_a_link_is_signed_in_by_slack_and_lands_on_it(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        page = await shown.browser.get(LINK)
        assert (str(page.url), page.status_code) == (LINK, 404)
        assert "No such section" in page.text
        [at_slack] = [step.headers["location"] for step in page.history if "/openid/" in step.headers["location"]]
        assert set(parse_qs(urlsplit(at_slack).query)) == {
            "response_type", "scope", "client_id", "redirect_uri", "state", "nonce",
        }  # fmt: skip
        given = [step.headers["set-cookie"] for step in page.history if "set-cookie" in step.headers]
        assert all("HttpOnly;" in cookie and "Path=/docs; SameSite=lax; Secure" in cookie for cookie in given)
        assert {cookie.name for cookie in shown.browser.cookies.jar} == {SESSION_COOKIE}
        calls = len(slack.calls())
        again = await shown.browser.get(LINK)
        assert (again.status_code, again.history) == (404, [])
        assert len(slack.calls()) <= calls + 2  # each replica asks once who that is
        out = await shown.browser.post(f"{PUBLIC}/web/sign-out")
        assert "You are signed out" in out.text
        assert not list(shown.browser.cookies.jar)
        assert (await shown.browser.get(LINK)).history


@pytest.mark.parametrize(
    ("who", "guests", "status"),
    [
        ({}, False, 404),
        ({"guest": "single"}, False, 403),
        ({"guest": "multi"}, False, 403),
        ({"guest": "single"}, True, 404),
        ({"deleted": True}, True, 403),
    ],
)
async def test_whoever_may_not_ask_in_slack_is_not_let_in(
    tmp_path: Path, slack: FakeSlack, who: dict[str, Any], guests: bool, status: int
) -> None:
    person = slack.person("Gil", guest=who.get("guest", ""))
    person.user.deleted = who.get("deleted", False)
    slack.sign_in.browser = person.user
    async with pages(tmp_path, slack, guests=guests) as shown:
        page = await shown.browser.get(LINK)
    assert page.status_code == status
    assert (SESSION_COOKIE in shown.browser.cookies) is (status == 404)


async def test_an_operator_is_known_by_the_id_in_slack_and_not_by_a_name_that_anybody_can_take(
    tmp_path: Path, slack: FakeSlack
) -> None:
    ada = slack.person("Ada").user
    slack.sign_in.browser = ada
    for operator, status in ((ada.id, 200), ("Ada", 403), (slack.person("Bob").user.id, 403)):
        async with pages(tmp_path, slack, operators=[operator]) as shown:
            page = await shown.browser.get(f"{PUBLIC}/web/answers")
            assert (str(page.url), page.status_code) == (f"{PUBLIC}/web/answers", status)
            assert ("Signed in as Ada." in page.text) is (status == 200)


@pytest.mark.parametrize(
    ("teams", "status"), [(("", ""), 403), (("E1", "E1"), 404), (("E1", "E2"), 403), (("E1", ""), 403)]
)
async def test_of_other_workspaces_those_of_the_same_organisation_are_let_in(
    tmp_path: Path, slack: FakeSlack, teams: tuple[str, str], status: int
) -> None:
    own, other = teams
    slack.state.teams[slack.installation.team].enterprise = own
    slack.sign_in.browser = slack.person("Olga", team=slack.team("Other", enterprise=other)).user
    async with pages(tmp_path, slack) as shown:
        assert (await shown.browser.get(LINK)).status_code == status


async def test_where_workspaces_install_the_app_people_of_those_are_let_in(tmp_path: Path, slack: FakeSlack) -> None:
    beta = slack.team("Beta")
    slack.sign_in.browser = slack.person("Bea", team=beta).user
    async with pages(tmp_path, slack, token=None) as shown:
        assert (await shown.browser.get(LINK)).status_code == 403
        token = slack.installation.token
        await shown.store.install(Installation(beta.id, "", token, "U0BOT", (), NOON, "{}"))
        slack.state.users[slack.sign_in.browser.id].team = slack.installation.team  # whose token it is, here
        slack.sign_in.claims = {"https://slack.com/team_id": beta.id}
        assert (await shown.browser.get(LINK)).status_code == 404
        await shown.store.uninstall("", beta.id)
        page = await shown.browser.get(LINK)
        assert page.status_code == 403
        assert SESSION_COOKIE not in shown.browser.cookies  # so that they can come as somebody else


async def test_a_session_ends_and_nobody_else_can_make_one(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        await shown.browser.get(LINK)
        sound = str(shown.browser.cookies[SESSION_COOKIE])
        shown.browser.follow_redirects = False
        held = jwt.decode(sound, options={"verify_signature": False})
        forged = [
            sound[:-2],
            "x" * 5_000,
            jwt.encode(held, "", "none"),
            jwt.encode(held, slack.client_secret.encode().ljust(32, b"\0"), "HS256"),
            (await shown.new_browser().get(LINK, follow_redirects=False)).headers["location"].partition("state=")[2].partition("&")[0],
        ]  # fmt: skip
        for cookie in forged:
            answer = await shown.new_browser().get(
                LINK, headers={"cookie": f"{SESSION_COOKIE}={cookie}"}, follow_redirects=False
            )
            assert answer.status_code == 302
        for passed, status in ((timedelta(0), 404), (SESSION_LASTS - timedelta(seconds=1), 404), (SESSION_LASTS, 302)):
            shown.clock.time = NOON + passed
            assert (await shown.browser.get(LINK)).status_code == status
    async with pages(tmp_path, slack, secret="another") as shown:
        shown.browser.cookies.set(SESSION_COOKIE, sound, "kb.example.test", "/docs")
        assert (await shown.browser.get(LINK, follow_redirects=False)).status_code == 302


async def test_whose_account_is_switched_off_is_let_in_no_more(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        await shown.browser.get(LINK)
        sound = str(shown.browser.cookies[SESSION_COOKIE])
    slack.sign_in.browser.deleted = True
    async with pages(tmp_path, slack) as shown:  # one that has not asked who that is
        shown.browser.cookies.set(SESSION_COOKIE, sound, "kb.example.test", "/docs")
        page = await shown.browser.get(LINK)
    assert page.status_code == 403
    assert "not let in" in page.text


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"state": ""}, 400), ({"state": "x"}, 400), ({"state": "é"}, 400), ({"code": "guessed"}, 403)],
)
async def test_what_slack_did_not_send_is_worth_nothing(
    tmp_path: Path, slack: FakeSlack, changes: dict[str, str], status: int
) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        back = httpx.URL(await shown.from_slack())
        answer = await shown.browser.get(back.copy_merge_params(changes))
        assert (answer.status_code, "open the link again" in answer.text.lower()) == (status, True)
        assert SESSION_COOKIE not in shown.browser.cookies


async def test_nobody_is_signed_in_by_what_another_browser_began(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Mallory").user
    async with pages(tmp_path, slack) as shown:
        back = await shown.from_slack()
        victim = shown.new_browser()
        assert (await victim.get(back)).status_code == 400
        victim.cookies.set(BROWSER_COOKIE, "its own", "kb.example.test", "/docs")
        assert (await victim.get(back)).status_code == 400


async def test_a_sign_in_is_good_once_and_not_for_long(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        back, secret = await shown.from_slack(), dict(shown.browser.cookies)
        assert (await shown.browser.get(back)).status_code == 404
        assert (await shown.browser.get(back)).status_code == 400
        shown.browser.cookies.set(BROWSER_COOKIE, secret[BROWSER_COOKIE], "kb.example.test", "/docs")
        assert (await shown.browser.get(back)).status_code == 403  # Slack takes a code once
        shown.browser.cookies.clear()
        back = await shown.from_slack()
        shown.clock.time += SIGN_IN_LASTS
        assert (await shown.browser.get(back)).status_code == 400


async def test_two_tabs_sign_in_side_by_side(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        shown.browser.follow_redirects = False
        first, second = [(await shown.browser.get(f"{LINK}={tab}")).headers["location"] for tab in (1, 2)]
        shown.browser.follow_redirects = True
        secret = dict(shown.browser.cookies)
        assert str((await shown.browser.get(second)).url) == f"{LINK}=2"
        shown.browser.cookies.set(BROWSER_COOKIE, secret[BROWSER_COOKIE], "kb.example.test", "/docs")
        assert str((await shown.browser.get(first)).url) == f"{LINK}=1"


@pytest.mark.parametrize(
    "path", ["/n//evil.example", "/n/https://evil.example", "/n/%5cevil.example", "/n/@evil.example"]
)
async def test_nobody_is_sent_elsewhere(tmp_path: Path, slack: FakeSlack, path: str) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        page = await shown.browser.get(f"{PUBLIC}{path}")
    assert page.status_code == 400
    assert page.url.host == "kb.example.test"
    assert str(page.url).startswith(f"{PUBLIC}/n/")


async def test_who_says_no_at_slack_is_told_how_to_go_on(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    slack.sign_in.declines = True
    async with pages(tmp_path, slack) as shown:
        page = await shown.browser.get(LINK)
    assert page.status_code == 403
    assert f'<a href="{LINK}">Sign in with Slack</a>' in page.text


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another app"},
        {"iss": "https://evil.example"},
        {"nonce": "of another browser"},
        {"nonce": None},
        {"exp": 1_700_000_000},
        {"iat": 4_000_000_000},
        {"https://slack.com/team_id": None},
        {"https://slack.com/user_id": None},
        {"exp": None},
    ],
    ids=str,
)
async def test_an_id_token_that_is_not_for_this_browser_now_is_worth_nothing(
    tmp_path: Path, slack: FakeSlack, claims: dict[str, Any]
) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    slack.sign_in.claims = claims
    async with pages(tmp_path, slack) as shown:
        page = await shown.browser.get(LINK)
        assert (page.status_code, "did not sign you in" in page.text) == (403, True)
        assert SESSION_COOKIE not in shown.browser.cookies


async def test_slacks_keys_may_change_and_no_other_key_will_do(tmp_path: Path, slack: FakeSlack) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        for key, status in (("key-1", 404), ("key-2", 404)):
            slack.sign_in.key = key
            for _ in shown.apps:
                shown.browser.cookies.clear()
                assert (await shown.browser.get(LINK)).status_code == status
        slack.sign_in.signs_with = "nobody's"
        shown.browser.cookies.clear()
        assert (await shown.browser.get(LINK)).status_code == 403


@pytest.mark.parametrize(
    ("method", "fault", "status"),
    [
        ("openid.connect.token", SERVER_ERROR, 503),
        ("openid.connect.token", Fault(error="bad_redirect_uri"), 403),
        ("auth.test", Fault(error="invalid_auth"), 403),
    ],
)
async def test_trouble_with_slack_is_told_in_plain_words(
    tmp_path: Path, slack: FakeSlack, method: str, fault: Fault, status: int
) -> None:
    slack.sign_in.browser = slack.person("Ada").user
    async with pages(tmp_path, slack) as shown:
        slack.faults.always(method, fault)
        page = await shown.browser.get(LINK)
    assert page.status_code == status
    assert "<h1>" in page.text
    assert "bad_redirect_uri" not in page.text


def test_an_app_in_one_workspace_has_a_client_id_for_those_who_sign_in() -> None:
    app: dict[str, Any] = {"bot_token": "xoxb-1", "signing_secret": "s", "client_id": "1.2", "client_secret": "s"}
    settings = SlackSettings(mode="http", **app)
    assert not settings.several
    settings.check(signs_in=True)
    with pytest.raises(SettingsError, match="set one of them"):
        settings.check()


@pytest.mark.parametrize(
    ("web", "slack", "wrong"),
    [
        ({}, {"client_id": "1.2", "client_secret": "s"}, "web.public_url must be set (RITBOT_WEB__PUBLIC_URL)"),
        ({"public_url": "https://kb.example"}, {"client_id": "1.2"}, "slack.client_secret must be set (RITBOT_SLACK__CLIENT_SECRET)"),
        ({"public_url": "http://kb.example"}, {"client_id": "1.2", "client_secret": "s"}, "must begin with https://"),
        ({"public_url": "https://kb.example"}, {"client_id": "1.2", "client_secret": "s"}, ""),
        ({"public_url": "http://localhost:8080"}, {"client_id": "1.2", "client_secret": "s"}, ""),
    ],
)  # fmt: skip
def test_what_is_not_set_is_named(web: dict[str, Any], slack: dict[str, Any], wrong: str) -> None:
    settings, app = WebSettings(access="slack", **web), SlackSettings(**slack)
    with pytest.raises(SettingsError, match=re.escape(wrong)) if wrong else nullcontext():
        settings.check(app)
