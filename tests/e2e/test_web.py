"""Links to sections as people follow them: `ritbot web`, `ritbot serve`, and a browser."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from pathlib import Path

from playwright.async_api import expect

from bot.permalinks.permalink import Permalink
from tests.e2e.commands import lay_out, ritbot
from tests.e2e.roles import get, is_ready, running, until
from tests.fakes.docsite import DocSite
from tests.fakes.site import html
from tests.fakes.slack import FakeSlack
from tests.play.browser import chromium

QUESTION = "How often should I rotate the signing keys?"


def cited(folder: Path, question: str) -> Permalink:
    """The first section that an answer cites."""
    done = ritbot(folder, "ask", "--json", question)
    assert done.returncode == 0, done.stderr
    citation = json.loads(done.stdout)["sources"][0]["citations"][0]
    return Permalink(citation["node_id"], citation["node_hash"])


async def test_sections_are_shown_beside_what_holds_the_folder_and_in_a_browser(pumpkin: Path) -> None:
    link = cited(pumpkin, QUESTION)
    node, named = link.node, link.path
    found = ritbot(pumpkin, "cite", "rotate", "signing", "keys")
    assert found.stdout.startswith("Signing keys › Rotating keys\nhttps://pumpkin.example/docs/keys.html#rotate")
    assert ritbot(pumpkin, "cite", "xyzzy").returncode == 1
    with running(pumpkin, "web") as role:
        await until(lambda: is_ready(role), "ready", role)
        landed = await get(role, f"/n/{node}")
        assert landed.status_code == 302
        assert landed.headers["location"].startswith("https://pumpkin.example/docs/keys.html#rotate:~:text=")
        assert (await get(role, "/n/nonsense")).status_code == 400
        async with chromium() as browser:
            for width in (1280, 390):
                page = await browser.new_page(viewport={"width": width, "height": 900})
                complaints: list[str] = []
                page.on("console", lambda message: complaints.append(message.text))  # noqa: B023  # asked for in this round
                await page.goto(f"{role.address}/n/{node}?show")
                await expect(page.get_by_role("heading", level=1)).to_have_text("Rotating keys")
                await expect(page.get_by_text("Rotate the signing keys once a year")).to_be_visible()
                await expect(page.get_by_label("Link to this text")).to_have_value(f"{role.address}{named}")
                await page.get_by_role("button", name="Copy link").press("Enter")
                await expect(page.get_by_role("status")).not_to_be_empty()
                assert await page.evaluate("document.documentElement.scrollWidth") <= width
                assert [text for text in complaints if "lipboard" not in text] == []
                await page.close()
        assert role.end(signal.SIGTERM) == 0


async def test_serve_shows_them_where_it_is_said_where_people_reach_it(pumpkin: Path) -> None:
    link = cited(pumpkin, QUESTION)
    with running(pumpkin, "serve", env={"RITBOT_WEB__PUBLIC_URL": "https://kb.example/docs/"}) as role:
        await until(lambda: is_ready(role), "ready", role)
        assert f"https://kb.example/docs{link.path}" in (await get(role, f"/n/{link.node}?show")).text
        found = await asyncio.to_thread(ritbot, pumpkin, "cite", "rotate", "signing", "keys", "--json")
        assert json.loads(found.stdout)[0]["permalink"] == f"https://kb.example/docs{link.path}"
        assert role.end(signal.SIGTERM) == 0
    assert any("https://kb.example/docs/n/ID" in line for line in role.output)
    with running(pumpkin, "serve") as role:
        await until(lambda: is_ready(role), "ready", role)
        assert (await get(role, link.path)).status_code == 404
        assert role.end(signal.SIGTERM) == 0


async def test_people_sign_in_with_slack_and_out_again(pumpkin: Path, slack: FakeSlack) -> None:
    """A process of its own that knows Slack by its settings alone; a browser, and the fake Slack in between."""
    link = cited(pumpkin, QUESTION)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    public_url = f"http://127.0.0.1:{port}"
    slack.sign_in.redirect_urls = {f"{public_url}/web/signed-in"}
    env = {
        "RITBOT_HTTP__PORT": str(port),
        "RITBOT_WEB__PUBLIC_URL": public_url,
        "RITBOT_WEB__ACCESS": "slack",
        "RITBOT_SLACK__BOT_TOKEN": slack.bot_token,
        "RITBOT_SLACK__API_URL": slack.base_url,
        "RITBOT_SLACK__CLIENT_ID": slack.client_id,
        "RITBOT_SLACK__CLIENT_SECRET": slack.client_secret,
    }
    with running(pumpkin, "web", env=env) as role:
        await until(lambda: is_ready(role), "ready", role)
        async with chromium() as browser:
            page = await browser.new_page(viewport={"width": 390, "height": 900})
            slack.sign_in.browser = slack.person("Gil", guest="single").user
            await page.goto(f"{public_url}/n/{link.node}?show")
            await expect(page.get_by_role("heading", level=1)).to_have_text("You are not let in")
            slack.sign_in.browser = slack.person("Ada").user
            await page.goto(f"{public_url}/n/{link.node}?show")
            await expect(page.get_by_role("heading", level=1)).to_have_text("Rotating keys")
            assert page.url == f"{public_url}/n/{link.node}?show"
            await expect(page.get_by_text("Signed in as Ada.")).to_be_visible()
            assert await page.evaluate("document.cookie") == ""
            await page.get_by_role("button", name="Sign out").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("You are signed out")
            assert await page.context.cookies() == []
        assert role.end(signal.SIGTERM) == 0
    logged = " ".join(map(str, role.events))
    assert "signed_in" in logged
    assert slack.client_secret not in logged


async def test_operators_see_what_ritbot_does_in_a_browser_and_with_the_keyboard(pumpkin: Path) -> None:
    env = {"RITBOT_WEB__ACCESS": "proxy", "RITBOT_WEB__OPERATORS": '["ada"]'}
    with running(pumpkin, "web", env=env) as role:
        await until(lambda: is_ready(role), "ready", role)
        assert (await get(role, "/web/sites")).status_code == 403
        async with chromium() as browser:
            for width in (1280, 390):
                page = await browser.new_page(
                    viewport={"width": width, "height": 900},
                    extra_http_headers={"X-Forwarded-User": "ada"},
                    java_script_enabled=False,
                )
                await page.goto(f"{role.address}/web/answers")
                await expect(page.get_by_text("Nobody has asked anything yet.")).to_be_visible()
                for title in ("Stale answers", "Sites", "Events"):
                    await page.get_by_role("link", name=title).press("Enter")
                    await expect(page.get_by_role("heading", level=1)).to_have_text(title)
                    await expect(page.get_by_role("link", name=title)).to_have_attribute("aria-current", "page")
                    main = await page.get_by_role("main").bounding_box()
                    assert main
                    assert main["width"] <= width
                await expect(page.get_by_text("every event could be handled")).to_be_visible()
                await page.close()
        assert role.end(signal.SIGTERM) == 0


async def test_a_browser_lands_on_the_words_through_the_link(pumpkin: Path) -> None:
    """The words stand far down a long page; what the browser shows then is they."""
    async with DocSite() as docs:
        filler = "".join(f"<p>Nothing of interest stands in line {n}.</p>" for n in range(200))
        docs.pages["/keys.html"] = html(
            "Keys",
            f"{filler}<h2 id='rotate'>Rotating keys</h2><p>Rotate the signing keys once a year with pumpkin-keys rotate.</p>{filler}",
        )
        folder = lay_out(pumpkin / "landing", {}, '[index]\nfolder = "data"\n')
        done = await asyncio.to_thread(ritbot, folder, "index", docs.url("/keys.html"), "--allow-private")
        assert done.returncode == 0, done.stdout
        link = await asyncio.to_thread(cited, folder, QUESTION)
        with running(folder, "web") as role:
            await until(lambda: is_ready(role), "ready", role)
            async with chromium() as browser:
                page = await browser.new_page()
                await page.goto(f"{role.address}{link.path}")
                await expect(page.get_by_text("Rotate the signing keys once a year")).to_be_in_viewport()
                assert page.url.startswith(docs.url("/keys.html#rotate"))
            assert role.end(signal.SIGTERM) == 0
