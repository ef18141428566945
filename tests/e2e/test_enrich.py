"""`ritbot enrich` as typed: what it refuses, what it says beforehand, killed and begun again, and what answers show then."""

import asyncio
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from deploy.commands.evaluation.batch import DEFAULT_WORKERS
from tests.e2e.commands import environment, indexed, keyed, lay_out, ritbot, site
from tests.e2e.forked import FORKS
from tests.e2e.roles import until
from tests.fakes.annotator import Annotator
from tests.fakes.messages_api import MessagesApi
from tests.fakes.site import html

PRIMING = (
    "To prime the pump, fill it with clean water, open the vent, and wait until no more bubbles come out of it. " * 2
)
MANUAL = "".join(
    f"<p>Step {n}: turn handle {n} by a quarter and write down what gauge {n} shows.</p>" for n in range(80)
)
PAGES = {
    "pumps": html("Pumps", "".join(f"<h2>Pump {n}</h2><p>Pump {n}. {PRIMING}</p>" for n in range(6))),
    "manual": html("Manual", MANUAL),
}
PRICES = {"RITBOT_MODEL__PRICES__INPUT": "1", "RITBOT_MODEL__PRICES__OUTPUT": "5"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(lay_out(tmp_path_factory.mktemp("enrich"), PAGES, site("pumps")))


def test_without_a_model_it_says_how_to_set_one_and_still_what_there_is_to_do(place: Path) -> None:
    refused = ritbot(place, "enrich")
    assert refused.returncode == 2
    assert "set ANTHROPIC_API_KEY or model.api_key" in refused.stderr
    looked = ritbot(place, "enrich", "--dry-run")
    assert looked.returncode == 0
    assert "Long sections without headings: 1, " in looked.stdout
    assert "Sections without a summary: 7, " in looked.stdout
    assert "to write, estimated cost $0.000749." in looked.stdout
    assert ritbot(place, "enrich", "pump").returncode == 2
    assert ritbot(place, "enrich", "--max-cost", "0").returncode == 2


async def test_where_no_price_is_known_it_wants_a_ceiling_in_tokens(place: Path) -> None:
    async with MessagesApi() as api:
        refused = await asyncio.to_thread(ritbot, place, "enrich", env=keyed(api.url))
        assert refused.returncode == 2
        assert (
            "set model.prices.input and model.prices.output, or a ceiling in tokens with --max-tokens" in refused.stderr
        )
        stopped = await asyncio.to_thread(ritbot, place, "enrich", "--max-tokens", "300", env=keyed(api.url))
        assert stopped.returncode == 1
        assert "Stopped: the ceiling is reached. Run the same command again and it goes on." in stopped.stdout
        assert api.requests == []


async def test_killed_half_way_it_goes_on_and_answers_show_what_was_written(place: Path) -> None:
    async with MessagesApi() as api:
        annotator = Annotator(pace=0.3)
        api.always(annotator)
        env = keyed(api.url, **PRICES)
        killed = FORKS.start(place, "enrich", env=environment(**env))
        await until(lambda: len(annotator.asked) >= 4, "four texts are asked for")
        killed.send_signal(signal.SIGKILL)
        await asyncio.to_thread(killed.communicate, 60)
        begun = len(annotator.asked)
        done = await asyncio.to_thread(ritbot, place, "enrich", "--max-cost", "1", env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        asked = annotator.asked
        assert len(asked) - len(set(asked)) <= DEFAULT_WORKERS, (
            "what was under way may be asked again, and nothing else"
        )
        assert asked[0] == "outline Manual"
        assert {f"summary Pump {n}" for n in range(6)} | {"summary Part from 1", "summary Part from 71"} <= set(asked)
        assert begun < len(asked)
        again = await asyncio.to_thread(ritbot, place, "enrich", env=env)
        assert again.returncode == 0
        assert "Sections without a summary: none." in again.stdout
        trace = await ask(place, api, env)
        shown = trace["steps"][0]["shown"]
        assert re.search(r"Part from 1 \[\d+w\] \(All about Part from 1\.; Part from 1\)", shown)
        shown = {path[-1]: node for _, node, path in trace["shown"]}
    tree = ritbot(place, "tree", shown["Manual"])
    assert f"Part from 21   {shown['Part from 21']}   (title by a model)" in tree.stdout
    assert ritbot(place, "index").stdout.count("2 unchanged") == 1
    assert "15 notes" in ritbot(place, "backup", "truth.gz").stderr


async def ask(place: Path, api: MessagesApi, env: dict[str, str]) -> dict[str, Any]:
    api.call("get_toc", {"query": "what does gauge 25 show"})
    api.call("read", {"sections": [1]})
    api.say("NOT_FOUND Nothing.")
    asked = await asyncio.to_thread(ritbot, place, "ask", "What does gauge 25 show?", "--json", env=env)
    trace: dict[str, Any] = json.loads(asked.stdout)["trace"]
    return trace
