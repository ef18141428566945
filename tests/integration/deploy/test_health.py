"""What a process answers about itself, over real HTTP."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from deploy.serving.health import Health
from deploy.serving.http import serving
from deploy.serving.metrics import EVENTS_WAITING, Metrics
from deploy.settings.messages import SettingsError
from deploy.settings.process import HttpSettings
from ingest.errors import IndexMismatch, StoreUnavailable

ANYWHERE = HttpSettings(port=0)


@pytest.fixture
def health() -> Health:
    return Health(within=0.2, metrics=Metrics())


@pytest.fixture
async def client(health: Health) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(health.app, ANYWHERE) as address, httpx.AsyncClient(base_url=address) as client:
        yield client


async def answers() -> None:
    pass


async def test_a_process_is_alive_before_it_is_ready(health: Health, client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    starting = await client.get("/readyz")
    assert (starting.status_code, starting.json()["status"]) == (503, "starting")
    health.ready({"page trees": answers})
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "checks": {"page trees": "ok"}})


async def test_it_is_not_ready_while_something_does_not_answer_and_says_what_and_why(
    health: Health, client: httpx.AsyncClient
) -> None:
    down = True

    async def log() -> None:
        if down:
            raise StoreUnavailable("Kafka at http://ann:hush@k:9092\n does not answer")

    health.ready({"page trees": answers, "event log": log})
    found = await client.get("/readyz")
    assert found.status_code == 503
    assert found.json() == {
        "status": "not ready",
        "checks": {"page trees": "ok", "event log": "Kafka at http://(hidden)@k:9092 does not answer"},
    }
    assert (await client.get("/healthz")).status_code == 200
    down = False
    assert (await client.get("/readyz")).status_code == 200


async def test_a_check_that_hangs_is_cut_off(health: Health, client: httpx.AsyncClient) -> None:
    async def hangs() -> None:
        await asyncio.Event().wait()

    health.ready({"search index": hangs})
    found = await client.get("/readyz")
    assert (found.status_code, found.json()["checks"]) == (503, {"search index": "no answer within 0.2 seconds"})


async def test_an_error_of_the_code_is_told_by_its_kind_only(health: Health, client: httpx.AsyncClient) -> None:
    async def broken() -> None:
        raise ValueError("the key is sesame")

    health.ready({"search index": broken})
    found = await client.get("/readyz")
    assert found.status_code == 503
    assert found.json()["checks"] == {"search index": "internal error (ValueError); the log says more"}


async def test_a_role_that_died_is_told_and_the_process_is_neither_ready_nor_well(
    health: Health, client: httpx.AsyncClient
) -> None:
    health.ready({"page trees": answers})
    health.died("indexer", IndexMismatch("The index was made by another model"))
    for path in ("/healthz", "/readyz"):
        found = await client.get(path)
        assert (found.status_code, found.json()["roles"]) == (503, {"indexer": "The index was made by another model"})


async def test_a_process_that_ends_is_alive_and_takes_no_more_work(health: Health, client: httpx.AsyncClient) -> None:
    health.ready({"page trees": answers})
    health.ends()
    assert (await client.get("/healthz")).status_code == 200
    assert (await client.get("/readyz")).json()["status"] == "ending"


async def test_what_a_role_mounts_is_there_once_it_is_ready_and_asked_for_again_until_then(
    health: Health, client: httpx.AsyncClient
) -> None:
    early = await client.get("/more")
    assert (early.status_code, early.headers["retry-after"]) == (503, "5")
    health.ready({}, [Route("/more", lambda _: PlainTextResponse("here"))])
    assert (await client.get("/more")).text == "here"
    assert (await client.get("/less")).status_code == 404


async def test_its_numbers_are_there_from_the_start_and_gauges_once_it_is_ready(
    health: Health, client: httpx.AsyncClient
) -> None:
    async def waiting() -> dict[str, float]:
        return {"docs.pages": 7}

    early = await client.get("/metrics")
    assert early.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "ritbot_ready 0.0\n" in early.text
    health.ready({}, gauges={EVENTS_WAITING: waiting})
    text = (await client.get("/metrics")).text
    assert "ritbot_ready 1.0\n" in text
    assert 'ritbot_events_waiting{topic="docs.pages"} 7.0\n' in text
    health.died("indexer", IndexMismatch("The index was made by another model"))
    assert "ritbot_ready 0.0\n" in (await client.get("/metrics")).text


async def test_a_port_that_is_taken_is_told_with_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            SettingsError, match=rf"http\.port: cannot listen at 127\.0\.0\.1:{port} .*RITBOT_HTTP__PORT"
        ):
            async with serving(Health().app, HttpSettings(port=port)):
                pass


async def test_a_host_that_is_not_ours_is_told_with_the_setting() -> None:
    with pytest.raises(SettingsError, match=r"http\.host"):
        async with serving(Health().app, HttpSettings(host="127.0.0.1.1", port=0)):
            pass


async def test_it_listens_at_an_address_of_the_sixth_version() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    async with serving(Health().app, HttpSettings(host="::1", port=0)) as address, httpx.AsyncClient() as client:
        assert address.startswith("http://[::1]:")
        assert (await client.get(f"{address}/healthz")).status_code == 200


async def test_serving_leaves_signals_to_others() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    health = Health()
    async with serving(health.app, ANYWHERE) as address, httpx.AsyncClient() as client:
        await client.get(f"{address}/healthz")
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


async def test_a_call_that_does_not_end_holds_nothing_up_for_long() -> None:
    begun = asyncio.Event()

    async def hangs(_: object) -> PlainTextResponse:
        begun.set()
        await asyncio.Event().wait()
        return PlainTextResponse()

    health = Health()
    health.ready({}, [Route("/hangs", hangs)])
    async with httpx.AsyncClient() as client:
        async with asyncio.timeout(20), serving(health.app, ANYWHERE) as address:
            call = asyncio.create_task(client.get(f"{address}/hangs"))
            await begun.wait()
        await asyncio.gather(call, return_exceptions=True)
